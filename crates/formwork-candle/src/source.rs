//! Which model is meant: a file, a hub id, or the default.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::model_cache::ModelCache;
use crate::pull::Progress;

/// Which model is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// The default model, SmolLM2-135M-Instruct.
    Default,
    /// A GGUF file on this machine.
    Path(PathBuf),
    /// A file on the model hub.
    Hub {
        /// `OWNER/NAME`.
        repository: String,
        /// The file in it; `None` where it has only one that fits.
        file: Option<String>,
    },
}

impl Source {
    /// Reads a model's name as people write it: `default`, a path, or `OWNER/NAME[:FILE]`. What exists as a file, ends in
    /// `.gguf`, or starts as a path does (`/`, `.`, `~`) is a path.
    ///
    /// ```
    /// use formwork_candle::Source;
    ///
    /// assert_eq!(Source::parse("default")?, Source::Default);
    /// assert_eq!(Source::parse("models/tiny.gguf")?, Source::Path("models/tiny.gguf".into()));
    /// assert_eq!(
    ///     Source::parse("owner/tiny-GGUF:tiny.Q8_0.gguf")?,
    ///     Source::Hub { repository: "owner/tiny-GGUF".into(), file: Some("tiny.Q8_0.gguf".into()) },
    /// );
    /// assert_eq!(Source::parse("a model").unwrap_err().code(), "bad_model_name");
    /// # Ok::<(), formwork_candle::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The text is none of these.
    pub fn parse(text: &str) -> Result<Self> {
        if text == "default" {
            return Ok(Self::Default);
        }
        if text.is_empty() {
            return Err(Error::source_name(text, "it is empty"));
        }
        if let Some((repository, file)) = text.split_once(':')
            && is_hub_id(repository)
            && !file.is_empty()
        {
            return Ok(Self::Hub { repository: repository.to_owned(), file: Some(file.to_owned()) });
        }
        let path = Path::new(text);
        let looks_like_path =
            text.starts_with(['/', '.', '~']) || path.extension().is_some_and(|e| e.eq_ignore_ascii_case("gguf"));
        if looks_like_path || path.is_file() {
            return Ok(Self::Path(path.to_owned()));
        }
        if is_hub_id(text) {
            return Ok(Self::Hub { repository: text.to_owned(), file: None });
        }
        Err(Error::source_name(text, "there is no such file"))
    }

    /// Where the model's file is on this machine; fetches it into the cache first where it isn't there yet.
    ///
    /// # Errors
    ///
    /// The file is neither here nor to be had. A path is taken at its word: opening it will tell.
    pub fn locate(&self, cache: &ModelCache, progress: &mut dyn FnMut(Progress)) -> Result<PathBuf> {
        match self {
            Self::Default => cache.pull_default(progress),
            Self::Path(path) => Ok(path.clone()),
            Self::Hub { repository, file } => crate::pull::from_hub(cache, repository, file.as_deref(), progress),
        }
    }
}

/// As [`Source::parse`] reads it.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Path(path) => path.display().fmt(f),
            Self::Hub { repository, file: None } => f.write_str(repository),
            Self::Hub { repository, file: Some(file) } => write!(f, "{repository}:{file}"),
        }
    }
}

/// `OWNER/NAME`, in the hub's characters.
fn is_hub_id(text: &str) -> bool {
    let is_name = |part: &str| {
        !part.is_empty()
            && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
            && !part.starts_with(['.', '-'])
    };
    matches!(text.split_once('/'), Some((owner, name)) if is_name(owner) && is_name(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart() {
        let path = |text: &str| Source::Path(PathBuf::from(text));
        for text in ["./model", "/tmp/model", "~/m", "a/b/c.gguf", "x.GGUF", "Cargo.toml"] {
            assert_eq!(Source::parse(text).unwrap(), path(text));
        }
        assert_eq!(
            Source::parse("owner/name").unwrap(),
            Source::Hub { repository: "owner/name".to_owned(), file: None }
        );
        for text in ["", "nonsense", "a/b/c", "owner/name:", "-x/y"] {
            assert_eq!(Source::parse(text).unwrap_err().code(), "bad_model_name", "{text}");
        }
    }

    #[test]
    fn a_name_reads_as_it_was_written() {
        for text in ["default", "./m.gguf", "owner/name", "owner/name:a/b.gguf"] {
            assert_eq!(Source::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_path_needs_no_cache() {
        let cache = ModelCache::new("/nonexistent");
        let source = Source::parse("./m.gguf").unwrap();
        let found = source.locate(&cache, &mut |_| {}).unwrap();
        assert_eq!(found, PathBuf::from("./m.gguf"));
    }
}
