//! What stops a benchmark.

use std::error::Error as _;
use std::path::{Path, PathBuf};

/// What stops a benchmark: files, flags, engines; wrong answers don't, they are counted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("cannot read {}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("cannot write {}", path.display())]
    Write { path: PathBuf, source: std::io::Error },
    #[error("{}:{line}: {message}", path.display())]
    Line { path: PathBuf, line: usize, message: String },
    #[error("{0}")]
    Vocabulary(#[from] formwork_mask::Error),
    #[error("the engine {engine} cannot be set up: {message}")]
    Engine { engine: String, message: String },
    #[error("{0}")]
    Other(String),
}

impl Error {
    pub(crate) fn read(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| Self::Read { path: path.into(), source }
    }

    pub(crate) fn write(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| Self::Write { path: path.into(), source }
    }

    pub(crate) fn engine(engine: &str, message: impl std::fmt::Display) -> Self {
        Self::Engine { engine: engine.into(), message: message.to_string() }
    }

    /// Writes the error and what caused it to stderr.
    #[expect(clippy::print_stderr, reason = "a program may")]
    pub(crate) fn print(&self) {
        match self.source() {
            Some(source) => eprintln!("error: {self}: {source}"),
            None => eprintln!("error: {self}"),
        }
    }
}
