//! The token tables in a GGUF file's metadata.

use formwork_mask::GgufTokens;

use crate::error::{Error, Result};
use crate::gguf::Metadata;

/// Kinds of tokens, as GGUF numbers them; 1 is a normal one.
pub(crate) const UNKNOWN: i32 = 2;
pub(crate) const CONTROL: i32 = 3;
pub(crate) const USER_DEFINED: i32 = 4;
pub(crate) const UNUSED: i32 = 5;
pub(crate) const BYTE: i32 = 6;

/// The token tables of a GGUF file, with one kind for each token.
pub(crate) fn read_tables(metadata: &Metadata, eos: Vec<u32>) -> Result<GgufTokens> {
    let path = metadata.path();
    let model = metadata.require_text("tokenizer.ggml.model")?.to_owned();
    let key = "tokenizer.ggml.tokens";
    let tokens = metadata
        .texts(key)
        .filter(|tokens| !tokens.is_empty() && u32::try_from(tokens.len()).is_ok())
        .ok_or_else(|| Error::metadata(path, key, "list of texts"))?
        .to_vec();
    let key = "tokenizer.ggml.token_type";
    let token_types = match metadata.ints(key) {
        // Without kinds every token is a normal one.
        None => vec![1; tokens.len()],
        Some(kinds) => {
            let kinds: Option<Vec<i32>> = kinds.iter().map(|&kind| i32::try_from(kind).ok()).collect();
            kinds
                .filter(|kinds| kinds.len() == tokens.len())
                .ok_or_else(|| Error::metadata(path, key, "list of one kind for each token"))?
        }
    };
    Ok(GgufTokens { model, tokens, token_types, eos })
}
