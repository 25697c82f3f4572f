//! Why case files can't be used.

use std::fmt;
use std::path::{Path, PathBuf};

/// A case file that can't be read, or says something that no case may say.
#[derive(Debug)]
pub struct Error(Box<Kind>);

#[derive(Debug, thiserror::Error)]
enum Kind {
    #[error("{} can't be read: {source}", path.display())]
    Unreadable { path: PathBuf, source: std::io::Error },
    #[error("{file} is not a case file: {source}")]
    Malformed { file: String, source: toml::de::Error },
    #[error("{file}, case {name:?}: {reason}")]
    Contradiction { file: String, name: String, reason: &'static str },
}

impl Error {
    pub(crate) fn unreadable(path: &Path, source: std::io::Error) -> Self {
        Self(Box::new(Kind::Unreadable { path: path.to_owned(), source }))
    }

    pub(crate) fn malformed(file: &str, source: toml::de::Error) -> Self {
        Self(Box::new(Kind::Malformed { file: file.to_owned(), source }))
    }

    pub(crate) fn contradiction(file: &str, name: &str, reason: &'static str) -> Self {
        Self(Box::new(Kind::Contradiction { file: file.to_owned(), name: name.to_owned(), reason }))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Error {}
