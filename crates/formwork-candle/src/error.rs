//! The crate's one error: what failed, where, and the way out, in words for the person at the keyboard.

use std::fmt;
use std::path::{Path, PathBuf};

use formwork_automaton::TokenId;

/// Why a model, tokenizer or prompt can't be used.
///
/// `Display` is one plain sentence. [`Error::code`] is for programs, [`Error::help`] is the way out, where there is one.
///
/// ```
/// let error = formwork_candle::ModelFile::open("no-such.gguf").unwrap_err();
/// assert_eq!(error.code(), "file_not_found");
/// assert_eq!(error.to_string(), "there is no file no-such.gguf");
/// ```
#[derive(thiserror::Error)]
#[error(transparent)]
pub struct Error(Box<Kind>);

/// The crate's `Result`.
pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
enum Kind {
    #[error("there is no file {}", path.display())]
    FileNotFound { path: PathBuf },
    #[error("{action} {} failed", path.display())]
    Io { action: &'static str, path: PathBuf, source: std::io::Error },
    #[error("{} is not a GGUF model file: {found}", path.display())]
    NotGguf { path: PathBuf, found: String },
    #[error("{} is truncated: {detail}", path.display())]
    Truncated { path: PathBuf, detail: String },
    #[error("{} has a damaged header: {detail}", path.display())]
    BadHeader { path: PathBuf, detail: String },
    #[error("{} has no metadata entry {key}, or not as a {expected}", path.display())]
    Metadata { path: PathBuf, key: String, expected: &'static str },
    #[error("{} holds a model of the architecture \"{name}\", which is not supported", path.display())]
    Architecture { path: PathBuf, name: String },
    #[error("{} uses {what}, which is not supported", path.display())]
    Unsupported { path: PathBuf, what: String },
    #[error("the tensor {tensor} in {}: {detail}", path.display())]
    Tensor { path: PathBuf, tensor: String, detail: String },
    #[error("the tokenizer splits text in a way named \"{name}\", which is not supported")]
    PreTokenizer { name: String },
    #[error("the tokenizer can't be used: {detail}")]
    Tokenizer { detail: String },
    #[error("the model's chat template can't be used: {detail}")]
    Template { detail: String },
    #[error("the prompt is empty: a model needs at least one token to go on from")]
    EmptyPrompt,
    #[error("{} not fit the model's context of {context} tokens", those_do(*position, *added))]
    ContextFull { position: usize, added: usize, context: usize },
    #[error("the token id {id} is outside the model's vocabulary of {vocab_size} tokens")]
    TokenOutOfRange { id: TokenId, vocab_size: usize },
    #[error("the sequence can't be cut to {len} tokens: it has only {position}")]
    TruncateBeyond { len: usize, position: usize },
    #[error("the computation failed on {device}")]
    Compute { device: String, source: Box<candle_core::Error> },
    #[cfg(not(feature = "cuda"))]
    #[error("this build has no support for {device}")]
    DeviceNotBuilt { device: String },
    #[error("\"{text}\" names no model: {detail}")]
    Source { text: String, detail: String },
    #[cfg(not(feature = "hub"))]
    #[error("this build can't fetch \"{id}\" from the model hub")]
    HubNotBuilt { id: String },
    #[cfg(feature = "hub")]
    #[error("fetching {id} from the model hub failed: {detail}")]
    Hub { id: String, detail: String },
    #[error("the default model can't be fetched: {detail}")]
    Pull { detail: String, model: PathBuf },
    #[error(
        "{} is not the file it should be: its SHA-256 is {found}, expected {expected}",
        path.display()
    )]
    Checksum { path: PathBuf, found: String, expected: String },
    #[error("there is no folder to keep models in: neither FORMWORK_CACHE, XDG_CACHE_HOME nor HOME is set")]
    NoCacheDir,
}

/// "5 tokens do", or "3 more tokens after 7 do".
fn those_do(position: usize, added: usize) -> String {
    match (position, added) {
        (0, 1) => "1 token does".to_owned(),
        (0, _) => format!("{added} tokens do"),
        (_, 1) => format!("1 more token after {position} does"),
        _ => format!("{added} more tokens after {position} do"),
    }
}

impl Error {
    fn new(kind: Kind) -> Self {
        Self(Box::new(kind))
    }

    /// A stable name of the failure, in `snake_case`; new ones may be added.
    pub fn code(&self) -> &'static str {
        match *self.0 {
            Kind::FileNotFound { .. } => "file_not_found",
            Kind::Io { .. } => "io",
            Kind::NotGguf { .. } => "not_gguf",
            Kind::Truncated { .. } => "truncated_file",
            Kind::BadHeader { .. } => "bad_header",
            Kind::Metadata { .. } => "missing_metadata",
            Kind::Architecture { .. } => "unsupported_architecture",
            Kind::Unsupported { .. } => "unsupported_model",
            Kind::Tensor { .. } => "bad_tensor",
            Kind::PreTokenizer { .. } => "unsupported_pre_tokenizer",
            Kind::Tokenizer { .. } => "bad_tokenizer",
            Kind::Template { .. } => "bad_chat_template",
            Kind::EmptyPrompt => "empty_prompt",
            Kind::ContextFull { .. } => "context_full",
            Kind::TokenOutOfRange { .. } => "token_out_of_range",
            Kind::TruncateBeyond { .. } => "truncate_beyond_end",
            Kind::Compute { .. } => "compute",
            #[cfg(not(feature = "cuda"))]
            Kind::DeviceNotBuilt { .. } => "device_not_built",
            Kind::Source { .. } => "bad_model_name",
            #[cfg(not(feature = "hub"))]
            Kind::HubNotBuilt { .. } => "hub_not_built",
            #[cfg(feature = "hub")]
            Kind::Hub { .. } => "hub",
            Kind::Pull { .. } => "pull_failed",
            Kind::Checksum { .. } => "checksum_mismatch",
            Kind::NoCacheDir => "no_cache_dir",
        }
    }

    /// What to do about it, as one sentence without a full stop; `None` where the message says it all.
    pub fn help(&self) -> Option<String> {
        match &*self.0 {
            Kind::NotGguf { .. } => Some("pass a model in GGUF format (version 2 or 3)".to_owned()),
            Kind::Truncated { .. } | Kind::Checksum { .. } => Some("fetch the file again".to_owned()),
            Kind::Architecture { .. } => Some("pass a model of the llama family (architecture \"llama\")".to_owned()),
            Kind::PreTokenizer { .. } => {
                Some(format!("supported are {}", crate::tokenizer::SUPPORTED_PRE_TOKENIZERS.join(", ")))
            }
            Kind::ContextFull { .. } => Some("shorten the prompt or ask for fewer tokens".to_owned()),
            #[cfg(not(feature = "cuda"))]
            Kind::DeviceNotBuilt { .. } => Some("build with the feature \"cuda\", or use the CPU".to_owned()),
            Kind::Source { .. } => {
                Some("pass a path to a GGUF file, a hub id OWNER/NAME[:FILE], or \"default\"".to_owned())
            }
            #[cfg(not(feature = "hub"))]
            Kind::HubNotBuilt { .. } => {
                Some("build with the feature \"hub\", or pass a path to a GGUF file".to_owned())
            }
            Kind::Pull { model, .. } => Some(format!(
                "connect to the network and try again, copy the GGUF file to {}, or pass --model PATH",
                model.display()
            )),
            Kind::NoCacheDir => Some("set FORMWORK_CACHE to a folder, or pass --model PATH".to_owned()),
            _ => None,
        }
    }

    /// The file the failure is about, where it is about one.
    pub fn path(&self) -> Option<&Path> {
        match &*self.0 {
            Kind::FileNotFound { path }
            | Kind::Io { path, .. }
            | Kind::NotGguf { path, .. }
            | Kind::Truncated { path, .. }
            | Kind::BadHeader { path, .. }
            | Kind::Metadata { path, .. }
            | Kind::Architecture { path, .. }
            | Kind::Unsupported { path, .. }
            | Kind::Tensor { path, .. }
            | Kind::Checksum { path, .. } => Some(path),
            _ => None,
        }
    }

    pub(crate) fn io(action: &'static str, path: &Path, source: std::io::Error) -> Self {
        let path = path.to_owned();
        Self::new(match source.kind() {
            std::io::ErrorKind::NotFound => Kind::FileNotFound { path },
            _ => Kind::Io { action, path, source },
        })
    }

    pub(crate) fn not_gguf(path: &Path, found: impl Into<String>) -> Self {
        Self::new(Kind::NotGguf { path: path.to_owned(), found: found.into() })
    }

    pub(crate) fn truncated(path: &Path, detail: impl Into<String>) -> Self {
        Self::new(Kind::Truncated { path: path.to_owned(), detail: detail.into() })
    }

    pub(crate) fn bad_header(path: &Path, detail: impl Into<String>) -> Self {
        Self::new(Kind::BadHeader { path: path.to_owned(), detail: detail.into() })
    }

    pub(crate) fn metadata(path: &Path, key: &str, expected: &'static str) -> Self {
        Self::new(Kind::Metadata { path: path.to_owned(), key: key.to_owned(), expected })
    }

    pub(crate) fn architecture(path: &Path, name: &str) -> Self {
        Self::new(Kind::Architecture { path: path.to_owned(), name: name.to_owned() })
    }

    pub(crate) fn unsupported(path: &Path, what: impl Into<String>) -> Self {
        Self::new(Kind::Unsupported { path: path.to_owned(), what: what.into() })
    }

    pub(crate) fn tensor(path: &Path, tensor: &str, detail: impl Into<String>) -> Self {
        Self::new(Kind::Tensor { path: path.to_owned(), tensor: tensor.to_owned(), detail: detail.into() })
    }

    pub(crate) fn pre_tokenizer(name: &str) -> Self {
        Self::new(Kind::PreTokenizer { name: name.to_owned() })
    }

    pub(crate) fn tokenizer(detail: impl Into<String>) -> Self {
        Self::new(Kind::Tokenizer { detail: detail.into() })
    }

    pub(crate) fn template(detail: impl Into<String>) -> Self {
        Self::new(Kind::Template { detail: detail.into() })
    }

    pub(crate) fn empty_prompt() -> Self {
        Self::new(Kind::EmptyPrompt)
    }

    pub(crate) fn context_full(position: usize, added: usize, context: usize) -> Self {
        Self::new(Kind::ContextFull { position, added, context })
    }

    pub(crate) fn token_out_of_range(id: TokenId, vocab_size: usize) -> Self {
        Self::new(Kind::TokenOutOfRange { id, vocab_size })
    }

    pub(crate) fn truncate_beyond(len: usize, position: usize) -> Self {
        Self::new(Kind::TruncateBeyond { len, position })
    }

    pub(crate) fn compute(device: crate::Device, source: candle_core::Error) -> Self {
        Self::new(Kind::Compute { device: device.to_string(), source: Box::new(source) })
    }

    #[cfg(not(feature = "cuda"))]
    pub(crate) fn device_not_built(device: crate::Device) -> Self {
        Self::new(Kind::DeviceNotBuilt { device: device.to_string() })
    }

    pub(crate) fn source_name(text: &str, detail: impl Into<String>) -> Self {
        Self::new(Kind::Source { text: text.to_owned(), detail: detail.into() })
    }

    #[cfg(not(feature = "hub"))]
    pub(crate) fn hub_not_built(id: &str) -> Self {
        Self::new(Kind::HubNotBuilt { id: id.to_owned() })
    }

    #[cfg(feature = "hub")]
    pub(crate) fn hub(id: &str, detail: impl Into<String>) -> Self {
        Self::new(Kind::Hub { id: id.to_owned(), detail: detail.into() })
    }

    pub(crate) fn pull(detail: impl Into<String>, model: &Path) -> Self {
        Self::new(Kind::Pull { detail: detail.into(), model: model.to_owned() })
    }

    pub(crate) fn checksum(path: &Path, found: &str, expected: &str) -> Self {
        Self::new(Kind::Checksum { path: path.to_owned(), found: found.to_owned(), expected: expected.to_owned() })
    }

    pub(crate) fn no_cache_dir() -> Self {
        Self::new(Kind::NoCacheDir)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
