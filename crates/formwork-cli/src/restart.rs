//! Starts the program anew where the model runtime needs other settings than the environment has.

/// Replaces this process by one with the runtime's thread settings, unless it has them; the settings of the person stay.
#[cfg(unix)]
pub(crate) fn with_thread_settings() {
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    let settings = formwork::candle::thread_settings();
    if settings.is_empty() {
        return;
    }
    if let Ok(program) = std::env::current_exe() {
        // Returns only where it fails, and then the program just goes on, slower.
        let _ = Command::new(program).args(std::env::args_os().skip(1)).envs(settings).exec();
    }
}

/// Elsewhere a process can't be replaced, and the settings are the person's affair.
#[cfg(not(unix))]
pub(crate) fn with_thread_settings() {}
