//! Everything that can go wrong here, in words for the person who has to act on it.

use std::path::{Path, PathBuf};

use formwork_automaton::{LimitKind, TokenId};

/// What went wrong; [`Error::code`] is stable, the text is for people.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error {
    kind: Box<Kind>,
}

/// Stable names of the failures, one per kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Code {
    /// A tokenizer file could not be read.
    UnreadableFile,
    /// A tokenizer file is not what it should be: truncated, malformed, or of another kind.
    MalformedFile,
    /// A tokenizer of a kind that is not supported.
    UnsupportedTokenizer,
    /// Ids, names or sizes that do not fit together.
    InconsistentVocabulary,
    /// An id beyond the vocabulary.
    UnknownToken,
    /// A token, or text, that the constraint does not allow here.
    NotAllowed,
    /// End of sequence where the constraint is not complete.
    NotComplete,
    /// Something after the end of sequence.
    Finished,
    /// No token can follow although the constraint is not complete.
    DeadEnd,
    /// More steps to take back than were taken.
    RollbackTooFar,
    /// Text that no tokens of the vocabulary spell.
    Unspellable,
    /// An automaton built for a vocabulary with shorter tokens.
    WrongHorizon,
    /// Rows of another length than the vocabulary's masks have, or matchers of different vocabularies.
    WrongShape,
    /// Some matchers of a batch have no mask.
    RowsWithoutMask,
    /// A draft whose nodes make no tree.
    MalformedDraft,
    /// A file with precomputed masks could not be read.
    UnreadableArtefact,
    /// A file that holds no precomputed masks.
    NotArtefact,
    /// Precomputed masks of another version of Formwork.
    ArtefactVersion,
    /// Precomputed masks that are truncated or changed.
    DamagedArtefact,
    /// Precomputed masks of another constraint, or of other options.
    WrongConstraint,
    /// Precomputed masks of another tokenizer.
    WrongTokenizer,
    /// An automaton whose states can't be told from one process to another.
    NoFingerprint,
}

impl Code {
    /// The code as a string that stays the same from version to version.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UnreadableFile => "unreadable_file",
            Self::MalformedFile => "malformed_file",
            Self::UnsupportedTokenizer => "unsupported_tokenizer",
            Self::InconsistentVocabulary => "inconsistent_vocabulary",
            Self::UnknownToken => "unknown_token",
            Self::NotAllowed => "not_allowed",
            Self::NotComplete => "not_complete",
            Self::Finished => "finished",
            Self::DeadEnd => "dead_end",
            Self::RollbackTooFar => "rollback_too_far",
            Self::Unspellable => "unspellable",
            Self::WrongHorizon => "wrong_horizon",
            Self::WrongShape => "wrong_shape",
            Self::RowsWithoutMask => "rows_without_mask",
            Self::MalformedDraft => "malformed_draft",
            Self::UnreadableArtefact => "unreadable_artefact",
            Self::NotArtefact => "not_artefact",
            Self::ArtefactVersion => "artefact_version",
            Self::DamagedArtefact => "damaged_artefact",
            Self::WrongConstraint => "wrong_constraint",
            Self::WrongTokenizer => "wrong_tokenizer",
            Self::NoFingerprint => "no_fingerprint",
        }
    }
}

#[derive(Debug, thiserror::Error)]
enum Kind {
    #[error("cannot read {}", path.display())]
    Unreadable { path: PathBuf, source: std::io::Error },
    #[error("{file}:{line}:{column}: {message}")]
    Malformed { file: String, line: usize, column: usize, message: String },
    #[error("{file}: {message}")]
    Incomplete { file: String, message: String },
    #[error("{file}: the {part} is of kind {kind:?}, which is not supported")]
    Unsupported { file: String, part: &'static str, kind: String },
    #[error("{message}")]
    Inconsistent { message: String },
    #[error("token {token} is not in the vocabulary, which has {len} rows")]
    UnknownToken { token: TokenId, len: usize },
    #[error("token {token} ({text}) is not allowed here: {}", refusal(*offset, *limit))]
    TokenNotAllowed { token: TokenId, text: String, offset: usize, limit: Option<LimitKind> },
    #[error("the byte at offset {offset} ({byte}) is not allowed there{}", bound(*limit))]
    ByteNotAllowed { byte: String, offset: usize, limit: Option<LimitKind> },
    #[error("token {token} ({text}) ends the sequence, but the text is not complete here")]
    NotComplete { token: TokenId, text: String },
    #[error("nothing can follow the end of the sequence")]
    Finished,
    #[error("no token of the vocabulary can come next, although the text is not complete{}", bound(*limit))]
    DeadEnd { limit: Option<LimitKind> },
    #[error("cannot take back {asked} steps: only {taken} were taken")]
    RollbackTooFar { asked: usize, taken: usize },
    #[error("no tokens of the vocabulary spell {text}")]
    Unspellable { text: String },
    #[error(
        "the constraint was compiled for tokens of at most {horizon} bytes, but the vocabulary has one of {longest}"
    )]
    WrongHorizon { horizon: u32, longest: usize },
    #[error("there are {given} words for masks, but {rows} rows of {words} words take {}", rows * words)]
    RowWords { given: usize, rows: usize, words: usize },
    #[error("the vocabulary of matcher {index} has {len} rows, but that of matcher 0 has {first}")]
    OtherVocabulary { index: usize, len: usize, first: usize },
    #[error("{} of {of} rows have no mask{}", failed.len(), first(failed))]
    RowsWithoutMask { failed: Vec<(usize, Error)>, of: usize },
    #[error("the draft has {tokens} tokens, but its tree has {nodes} nodes")]
    DraftLength { tokens: usize, nodes: usize },
    #[error("node {node} of the draft has node {parent} as its parent, which does not come before it")]
    DraftParent { node: usize, parent: usize },
    #[error("node {node} of the draft: {source}")]
    DraftNode {
        node: usize,
        #[source]
        source: Error,
    },
    #[error("the artefact {} can't be read", path.display())]
    UnreadableArtefact { path: PathBuf, source: std::io::Error },
    #[error("{file} is no artefact of `formwork compile`")]
    NotArtefact { file: String },
    #[error("the artefact {file} was made by Formwork {made}, and this is Formwork {this}")]
    ArtefactVersion { file: String, made: String, this: String },
    #[error("the artefact {file} is damaged: {message}")]
    DamagedArtefact { file: String, message: String },
    #[error("the artefact {file} was made for another constraint, or for other options")]
    WrongConstraint { file: String },
    #[error("the artefact {file} was made for another tokenizer")]
    WrongTokenizer { file: String },
    #[error("the masks of this constraint can't be kept: its automaton has no fingerprints")]
    NoFingerprint,
}

fn refusal(offset: usize, limit: Option<LimitKind>) -> String {
    match offset {
        0 => format!("it cannot begin{}", bound(limit)),
        n => format!("it cannot be continued after its first {n} bytes{}", bound(limit)),
    }
}

fn first(failed: &[(usize, Error)]) -> String {
    failed.first().map_or_else(String::new, |(row, error)| format!("; the first is row {row}: {error}"))
}

fn bound(limit: Option<LimitKind>) -> String {
    match limit {
        None => String::new(),
        Some(LimitKind::Depth) => ", because containers would be nested deeper than the limit `depth`".into(),
        Some(LimitKind::TableBytes) => ", because the tables are at the limit `table_bytes`".into(),
        Some(other) => format!(", because of the limit {other:?}"),
    }
}

impl Error {
    fn new(kind: Kind) -> Self {
        Self { kind: Box::new(kind) }
    }

    /// Which failure this is.
    pub fn code(&self) -> Code {
        match &*self.kind {
            Kind::Unreadable { .. } => Code::UnreadableFile,
            Kind::Malformed { .. } | Kind::Incomplete { .. } => Code::MalformedFile,
            Kind::Unsupported { .. } => Code::UnsupportedTokenizer,
            Kind::Inconsistent { .. } => Code::InconsistentVocabulary,
            Kind::UnknownToken { .. } => Code::UnknownToken,
            Kind::TokenNotAllowed { .. } | Kind::ByteNotAllowed { .. } => Code::NotAllowed,
            Kind::NotComplete { .. } => Code::NotComplete,
            Kind::Finished => Code::Finished,
            Kind::DeadEnd { .. } => Code::DeadEnd,
            Kind::RollbackTooFar { .. } => Code::RollbackTooFar,
            Kind::Unspellable { .. } => Code::Unspellable,
            Kind::WrongHorizon { .. } => Code::WrongHorizon,
            Kind::RowWords { .. } | Kind::OtherVocabulary { .. } => Code::WrongShape,
            Kind::RowsWithoutMask { .. } => Code::RowsWithoutMask,
            Kind::DraftLength { .. } | Kind::DraftParent { .. } => Code::MalformedDraft,
            Kind::DraftNode { source, .. } => source.code(),
            Kind::UnreadableArtefact { .. } => Code::UnreadableArtefact,
            Kind::NotArtefact { .. } => Code::NotArtefact,
            Kind::ArtefactVersion { .. } => Code::ArtefactVersion,
            Kind::DamagedArtefact { .. } => Code::DamagedArtefact,
            Kind::WrongConstraint { .. } => Code::WrongConstraint,
            Kind::WrongTokenizer { .. } => Code::WrongTokenizer,
            Kind::NoFingerprint => Code::NoFingerprint,
        }
    }

    /// What to do about it, where there is a way out.
    pub fn help(&self) -> Option<&'static str> {
        match &*self.kind {
            Kind::Unreadable { .. } => Some("give the path of a tokenizer.json file"),
            Kind::Malformed { .. } | Kind::Incomplete { .. } => Some(
                "give a whole tokenizer.json as Hugging Face publishes it; a partial download or a Git LFS pointer is not one",
            ),
            Kind::Unsupported { .. } => Some(
                "byte-level BPE and SentencePiece-style tokenizers are supported; others can be given as a list of byte strings",
            ),
            Kind::WrongHorizon { .. } => Some("compile the constraint for this vocabulary"),
            Kind::RowWords { .. } => Some("give each matcher a row of as many words as `Vocabulary::row_words` says"),
            Kind::OtherVocabulary { .. } => {
                Some("pad the vocabularies to one length with `Vocabulary::padded_to`, or fill them in two batches")
            }
            Kind::RowsWithoutMask { .. } => Some("take sequences that have ended out of the batch; `rows` lists them"),
            Kind::DraftParent { .. } => Some("list parents before their children"),
            Kind::NotArtefact { .. } => Some("give the file that `formwork compile --precompute -o FILE` wrote"),
            Kind::ArtefactVersion { .. } | Kind::DamagedArtefact { .. } => {
                Some("make it again with `formwork compile --precompute -o FILE`")
            }
            Kind::WrongConstraint { .. } => Some(
                "give the schema and the options that it was made with, or make it again with `formwork compile --precompute -o FILE`",
            ),
            Kind::WrongTokenizer { .. } => {
                Some("make one for this tokenizer with `formwork compile --precompute -o FILE`")
            }
            Kind::DeadEnd { .. } => Some("take back the last token with `rollback`, or raise the limit that is named"),
            _ => None,
        }
    }

    /// For a refused token or text: how many of its bytes could be read.
    pub fn byte_offset(&self) -> Option<usize> {
        match &*self.kind {
            Kind::TokenNotAllowed { offset, .. } | Kind::ByteNotAllowed { offset, .. } => Some(*offset),
            _ => None,
        }
    }

    /// The token that the error is about.
    pub fn token(&self) -> Option<TokenId> {
        match &*self.kind {
            Kind::UnknownToken { token, .. }
            | Kind::TokenNotAllowed { token, .. }
            | Kind::NotComplete { token, .. } => Some(*token),
            Kind::DraftNode { source, .. } => source.token(),
            _ => None,
        }
    }

    /// The rows of a batch that have no mask, counted from 0, in order, each with the reason; empty for all other errors.
    pub fn rows(&self) -> &[(usize, Error)] {
        match &*self.kind {
            Kind::RowsWithoutMask { failed, .. } => failed,
            _ => &[],
        }
    }

    /// The node of a draft that the error is about, counted from 0.
    pub fn node(&self) -> Option<usize> {
        match &*self.kind {
            Kind::DraftParent { node, .. } | Kind::DraftNode { node, .. } => Some(*node),
            _ => None,
        }
    }

    /// Line and column in the file named by the text, counted from 1.
    pub fn place(&self) -> Option<(usize, usize)> {
        match &*self.kind {
            Kind::Malformed { line, column, .. } => Some((*line, *column)),
            _ => None,
        }
    }

    pub(crate) fn unreadable(path: &Path, source: std::io::Error) -> Self {
        Self::new(Kind::Unreadable { path: path.into(), source })
    }

    pub(crate) fn json(file: &str, error: &serde_json::Error) -> Self {
        let text = error.to_string();
        let message = match text.rsplit_once(" at line ") {
            Some((message, _)) => message.to_owned(),
            None => text,
        };
        let message = if error.is_eof() { format!("the file ends too early ({message})") } else { message };
        Self::malformed(file, error.line(), error.column(), message)
    }

    pub(crate) fn malformed(file: &str, line: usize, column: usize, message: impl Into<String>) -> Self {
        Self::new(Kind::Malformed { file: file.into(), line, column, message: message.into() })
    }

    pub(crate) fn incomplete(file: &str, message: impl Into<String>) -> Self {
        Self::new(Kind::Incomplete { file: file.into(), message: message.into() })
    }

    pub(crate) fn unsupported(file: &str, part: &'static str, kind: &str) -> Self {
        Self::new(Kind::Unsupported { file: file.into(), part, kind: kind.into() })
    }

    pub(crate) fn inconsistent(message: impl Into<String>) -> Self {
        Self::new(Kind::Inconsistent { message: message.into() })
    }

    pub(crate) fn unknown_token(token: TokenId, len: usize) -> Self {
        Self::new(Kind::UnknownToken { token, len })
    }

    pub(crate) fn token_not_allowed(token: TokenId, text: String, offset: usize, limit: Option<LimitKind>) -> Self {
        Self::new(Kind::TokenNotAllowed { token, text, offset, limit })
    }

    pub(crate) fn byte_not_allowed(byte: u8, offset: usize, limit: Option<LimitKind>) -> Self {
        let byte = match byte {
            b' '..=b'~' => format!("`{}`", char::from(byte)),
            _ => format!("0x{byte:02X}"),
        };
        Self::new(Kind::ByteNotAllowed { byte, offset, limit })
    }

    pub(crate) fn not_complete(token: TokenId, text: String) -> Self {
        Self::new(Kind::NotComplete { token, text })
    }

    pub(crate) fn finished() -> Self {
        Self::new(Kind::Finished)
    }

    pub(crate) fn dead_end(limit: Option<LimitKind>) -> Self {
        Self::new(Kind::DeadEnd { limit })
    }

    pub(crate) fn rollback_too_far(asked: usize, taken: usize) -> Self {
        Self::new(Kind::RollbackTooFar { asked, taken })
    }

    pub(crate) fn unspellable(text: String) -> Self {
        Self::new(Kind::Unspellable { text })
    }

    pub(crate) fn unreadable_artefact(path: &Path, source: std::io::Error) -> Self {
        Self::new(Kind::UnreadableArtefact { path: path.into(), source })
    }

    pub(crate) fn not_artefact(file: &str) -> Self {
        Self::new(Kind::NotArtefact { file: file.into() })
    }

    pub(crate) fn artefact_version(file: &str, made: String, this: String) -> Self {
        Self::new(Kind::ArtefactVersion { file: file.into(), made, this })
    }

    pub(crate) fn damaged_artefact(file: &str, message: String) -> Self {
        Self::new(Kind::DamagedArtefact { file: file.into(), message })
    }

    pub(crate) fn wrong_constraint(file: &str) -> Self {
        Self::new(Kind::WrongConstraint { file: file.into() })
    }

    pub(crate) fn wrong_tokenizer(file: &str) -> Self {
        Self::new(Kind::WrongTokenizer { file: file.into() })
    }

    pub(crate) fn no_fingerprint() -> Self {
        Self::new(Kind::NoFingerprint)
    }

    pub(crate) fn wrong_horizon(horizon: u32, longest: usize) -> Self {
        Self::new(Kind::WrongHorizon { horizon, longest })
    }

    pub(crate) fn row_words(given: usize, rows: usize, words: usize) -> Self {
        Self::new(Kind::RowWords { given, rows, words })
    }

    pub(crate) fn other_vocabulary(index: usize, len: usize, first: usize) -> Self {
        Self::new(Kind::OtherVocabulary { index, len, first })
    }

    pub(crate) fn rows_without_mask(failed: Vec<(usize, Self)>, of: usize) -> Self {
        Self::new(Kind::RowsWithoutMask { failed, of })
    }

    pub(crate) fn draft_length(tokens: usize, nodes: usize) -> Self {
        Self::new(Kind::DraftLength { tokens, nodes })
    }

    pub(crate) fn draft_parent(node: usize, parent: usize) -> Self {
        Self::new(Kind::DraftParent { node, parent })
    }

    pub(crate) fn draft_node(node: usize, source: Self) -> Self {
        Self::new(Kind::DraftNode { node, source })
    }
}
