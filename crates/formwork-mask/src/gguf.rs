//! Token tables as GGUF files carry them.

use crate::byte_level;
use crate::entry::TokenEntry;
use crate::error::Error;
use crate::tokenizer_json::piece_bytes;

/// The token tables of a GGUF file, as plain data; reading the file is the caller's affair.
///
/// ```
/// use formwork_mask::{GgufTokens, Vocabulary};
/// use formwork_automaton::TokenId;
/// let vocabulary = Vocabulary::from_gguf(GgufTokens {
///     model: "gpt2".into(),
///     tokens: vec!["Ġyes".into(), "<|im_end|>".into()],
///     token_types: vec![1, 3],
///     eos: vec![1],
/// })?;
/// assert_eq!(vocabulary.bytes(TokenId::new(0)), Some(&b" yes"[..]));
/// # Ok::<(), formwork_mask::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct GgufTokens {
    /// `tokenizer.ggml.model`: `gpt2` (byte-level) or `llama` (`SentencePiece`).
    pub model: String,
    /// `tokenizer.ggml.tokens`.
    pub tokens: Vec<String>,
    /// `tokenizer.ggml.token_type`; empty where the file has none.
    pub token_types: Vec<i32>,
    /// `tokenizer.ggml.eos_token_id` and its kin (`eot_token_id` …); empty: the well-known names are tried.
    pub eos: Vec<u32>,
}

// The values of `tokenizer.ggml.token_type`.
const UNKNOWN: i32 = 2;
const CONTROL: i32 = 3;
const USER_DEFINED: i32 = 4;
const UNUSED: i32 = 5;

/// The rows of the vocabulary that the tables describe.
pub(crate) fn read(tables: GgufTokens) -> Result<Vec<TokenEntry>, Error> {
    let byte_level = match tables.model.as_str() {
        "gpt2" => true,
        "llama" => false,
        other => {
            return Err(Error::unsupported("tokenizer.ggml.model", "tokenizer", other));
        }
    };
    if !tables.token_types.is_empty() && tables.token_types.len() != tables.tokens.len() {
        return Err(Error::inconsistent(format!(
            "the GGUF metadata has {} tokens but {} token types",
            tables.tokens.len(),
            tables.token_types.len()
        )));
    }
    let spaces = [("▁".to_owned(), " ".to_owned())];
    let types = tables.token_types.into_iter().map(Some).chain(std::iter::repeat(None));
    let entries = tables.tokens.into_iter().zip(types).map(|(name, kind)| match kind {
        Some(UNKNOWN | CONTROL) => TokenEntry::Special(name),
        Some(UNUSED) => TokenEntry::Unused,
        Some(USER_DEFINED) if byte_level => TokenEntry::Text(name.into_bytes()),
        _ if byte_level => TokenEntry::Text(byte_level::decode(&name).unwrap_or_else(|| name.into_bytes())),
        _ => TokenEntry::Text(piece_bytes(&name, &spaces)),
    });
    Ok(entries.collect())
}
