//! candle's threads: how many, and how long they wait for work by spinning.

/// Turns that a thread spins before it sleeps: some microseconds, about the time between two matrix products.
const SPIN_LIMIT: &str = "100";

/// The environment variables that candle should find and that are not set yet, with their values: none, once they are.
/// What the person has set stays.
///
/// candle reads how many threads to use and how long they spin for work when it first computes, and its own choices suit
/// a machine that does nothing else: a thread for each core it sees, whatever share of them a container may use, and
/// 25,000 turns of spinning. Where the cores are busy, threads that wait for each other by spinning use up the very time
/// that the others need: 2 tokens a second instead of 7 on two cores with a load of 9. Spinning briefly costs nothing on
/// idle cores.
///
/// A library must not change the environment, and nothing else reaches candle, so a program starts itself anew, before
/// the first model computes:
///
/// ```no_run
/// use std::os::unix::process::CommandExt;
/// use std::process::Command;
///
/// let settings = formwork_candle::thread_settings();
/// if !settings.is_empty() {
///     let program = std::env::current_exe()?;
///     // Replaces this process; returns only where that fails, and then the program just goes on, slower.
///     let _ = Command::new(program).args(std::env::args_os().skip(1)).envs(settings).exec();
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn thread_settings() -> Vec<(&'static str, String)> {
    missing_settings(&|name| std::env::var_os(name).is_some(), threads())
}

fn missing_settings(is_set: &dyn Fn(&str) -> bool, threads: usize) -> Vec<(&'static str, String)> {
    [("CANDLE_BARRIER_POOL_SPIN_LIMIT", SPIN_LIMIT.to_owned()), ("RAYON_NUM_THREADS", threads.to_string())]
        .into_iter()
        .filter(|(name, _)| !is_set(name))
        .collect()
}

/// One thread for each core that this process may use: hardware threads that share a core share its arithmetic too.
fn threads() -> usize {
    let allowed = std::thread::available_parallelism().map_or(1, usize::from);
    allowed.min(num_cpus::get_physical()).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_stays() {
        let settings = missing_settings(&|_| false, 3);
        assert_eq!(
            settings,
            [("CANDLE_BARRIER_POOL_SPIN_LIMIT", "100".to_owned()), ("RAYON_NUM_THREADS", "3".to_owned()),]
        );
        let settings = missing_settings(&|name| name == "RAYON_NUM_THREADS", 3);
        assert_eq!(settings.len(), 1);
        assert!(missing_settings(&|_| true, 3).is_empty());
    }

    #[test]
    fn there_is_at_least_one_thread() {
        assert!(threads() >= 1);
    }
}
