//! Why a command could not do what was asked, and which exit status says so.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::output::Status;
use crate::sentence;

/// What went wrong, with its place and a way out.
#[derive(Debug)]
pub(crate) struct Error(Box<Kind>);

#[derive(Debug, thiserror::Error)]
enum Kind {
    #[error("{0}")]
    Usage(String),
    #[error("{} can't be read", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("standard input can't be read")]
    Stdin(#[source] io::Error),
    #[error("the output can't be written")]
    Stdout(#[source] io::Error),
    #[error("the output was closed before all of it was written")]
    Closed,
    #[error("the constraint")]
    Constraint { file: Option<PathBuf>, error: formwork::Error },
    #[cfg(not(feature = "model"))]
    #[error("{} is a GGUF file, which this build can't read", path.display())]
    GgufNotBuilt { path: PathBuf },
    #[error("{} is not UTF-8 at byte {at}", path.display())]
    NotUtf8 { path: PathBuf, at: usize },
    #[error("`{0}` constraints are not supported yet")]
    UnsupportedConstraint(&'static str),
    #[cfg(feature = "model")]
    #[error("the prompt {0}")]
    Prompt(String),
    #[error("the {what} {} can't be written", path.display())]
    Unwritable { what: &'static str, path: PathBuf, source: io::Error },
    #[cfg(feature = "model")]
    #[error("Ctrl-C can't be answered")]
    Interrupt(#[source] ctrlc::Error),
    #[cfg(feature = "model")]
    #[error("the sampling parameters")]
    Sampling(formwork::sample::Error),
    #[cfg(feature = "model")]
    #[error("the model")]
    Model(formwork::candle::Error),
    #[cfg(feature = "model")]
    #[error("the generation")]
    Decode(formwork::decode::Error),
}

impl Error {
    fn new(kind: Kind) -> Self {
        Self(Box::new(kind))
    }

    /// A stable name of the failure, for programs.
    pub(crate) fn code(&self) -> &'static str {
        match &*self.0 {
            Kind::Usage(_) => "usage",
            Kind::Unreadable { .. } | Kind::Stdin(_) => "unreadable_file",
            Kind::Stdout(_) | Kind::Closed => "unwritable_output",
            Kind::Constraint { error, .. } => error.code(),
            #[cfg(not(feature = "model"))]
            Kind::GgufNotBuilt { .. } => "model_not_built",
            Kind::NotUtf8 { .. } => "not_utf8",
            Kind::UnsupportedConstraint(_) => "unsupported_constraint",
            #[cfg(feature = "model")]
            Kind::Prompt(_) => "bad_prompt",
            Kind::Unwritable { what: "artefact", .. } => "unwritable_artefact",
            Kind::Unwritable { .. } => "unwritable_report",
            #[cfg(feature = "model")]
            Kind::Interrupt(_) => "interrupt",
            #[cfg(feature = "model")]
            Kind::Sampling(error) => error.code(),
            #[cfg(feature = "model")]
            Kind::Model(error) => error.code(),
            #[cfg(feature = "model")]
            Kind::Decode(error) => error.code(),
        }
    }

    /// The exit status for the failure: the one place that decides it.
    pub(crate) fn exit_status(&self) -> Status {
        match self.code() {
            "unwritable_output" => Status::Incomplete,
            _ => Status::Refused,
        }
    }

    /// What to do about it, where there is a way out.
    fn help(&self) -> Option<String> {
        let fixed = match &*self.0 {
            Kind::Constraint { error, .. } => error.help(),
            #[cfg(not(feature = "model"))]
            Kind::GgufNotBuilt { .. } => Some("give a tokenizer.json, or build with the feature `model`"),
            Kind::UnsupportedConstraint(_) => Some("use --schema or --regex"),
            #[cfg(feature = "model")]
            Kind::Prompt(said) if said.ends_with("is empty") => Some("say what the model is to write"),
            #[cfg(feature = "model")]
            Kind::Prompt(_) => Some("save it as UTF-8"),
            #[cfg(feature = "model")]
            Kind::Sampling(error) => error.help(),
            #[cfg(feature = "model")]
            Kind::Model(error) => return error.help(),
            #[cfg(feature = "model")]
            Kind::Decode(error) => return error.help(),
            _ => None,
        };
        fixed.map(str::to_owned)
    }

    /// The failure as one sentence: what, where, why, what to do.
    pub(crate) fn sentence(&self) -> String {
        let said = match &*self.0 {
            // An option stands in a flag, not in the file.
            Kind::Constraint { file: Some(file), error } if error.code() != "invalid_option" => {
                format!("{}: {}", file.display(), sentence::of(error))
            }
            Kind::Constraint { error, .. } => sentence::of(error),
            #[cfg(feature = "model")]
            Kind::Sampling(error) => sentence::of(error),
            #[cfg(feature = "model")]
            Kind::Model(error) => sentence::of(error),
            #[cfg(feature = "model")]
            Kind::Decode(error) => sentence::of(error),
            kind => sentence::of(kind),
        };
        sentence::with_help(said, self.help().as_deref())
    }

    /// The failure for machines: one line of JSON.
    pub(crate) fn json(&self) -> String {
        let mut body = serde_json::json!({"code": self.code(), "message": self.sentence()});
        if let Kind::Constraint { error, .. } = &*self.0 {
            if let Some(pointer) = error.pointer() {
                body["pointer"] = pointer.into();
            }
            if let Some((line, column)) = error.line_column() {
                body["line"] = line.into();
                body["column"] = column.into();
            }
        }
        serde_json::json!({"error": body}).to_string()
    }

    pub(crate) fn usage(sentence: impl Into<String>) -> Self {
        Self::new(Kind::Usage(sentence.into()))
    }

    pub(crate) fn unreadable(path: &Path, source: io::Error) -> Self {
        Self::new(Kind::Unreadable { path: path.to_owned(), source })
    }

    pub(crate) fn stdin(source: io::Error) -> Self {
        Self::new(Kind::Stdin(source))
    }

    pub(crate) fn stdout(source: io::Error) -> Self {
        Self::new(match source.kind() {
            // Its reader has gone, as `head` does once it has seen enough.
            io::ErrorKind::BrokenPipe => Kind::Closed,
            _ => Kind::Stdout(source),
        })
    }

    /// What the library says about a constraint, and the file that it stands in.
    pub(crate) fn constraint(file: Option<&Path>, error: impl Into<formwork::Error>) -> Self {
        Self::new(Kind::Constraint { file: file.map(Path::to_owned), error: error.into() })
    }

    pub(crate) fn not_utf8(path: &Path, at: usize) -> Self {
        Self::new(Kind::NotUtf8 { path: path.to_owned(), at })
    }

    pub(crate) fn unsupported_constraint(kind: &'static str) -> Self {
        Self::new(Kind::UnsupportedConstraint(kind))
    }

    pub(crate) fn unwritable(what: &'static str, path: &Path, source: io::Error) -> Self {
        Self::new(Kind::Unwritable { what, path: path.to_owned(), source })
    }

    #[cfg(not(feature = "model"))]
    pub(crate) fn gguf_not_built(path: &Path) -> Self {
        Self::new(Kind::GgufNotBuilt { path: path.to_owned() })
    }
}

#[cfg(feature = "model")]
impl Error {
    /// `said` goes on after "the prompt".
    pub(crate) fn prompt(said: String) -> Self {
        Self::new(Kind::Prompt(said))
    }

    pub(crate) fn interrupt(source: ctrlc::Error) -> Self {
        Self::new(Kind::Interrupt(source))
    }

    pub(crate) fn sampling(error: formwork::sample::Error) -> Self {
        Self::new(Kind::Sampling(error))
    }

    pub(crate) fn model(error: formwork::candle::Error) -> Self {
        Self::new(Kind::Model(error))
    }

    pub(crate) fn decode(error: formwork::decode::Error) -> Self {
        Self::new(Kind::Decode(error))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence())
    }
}

impl std::error::Error for Error {}
