//! Which tokens end a sequence: what the files beside a tokenizer say, or the names that models commonly use.

use std::path::Path;

use formwork_automaton::TokenId;
use rustc_hash::FxHashMap;
use serde_json::Value;

use crate::error::Error;

const WELL_KNOWN: [&str; 12] = [
    "</s>",
    "<|endoftext|>",
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end_of_text|>",
    "<eos>",
    "<end_of_turn>",
    "<|return|>",
    "<|end|>",
    "<|eot|>",
    "<turn|>",
];

/// Those of the well-known names that the vocabulary has: as special tokens, or else as text (Gemma's `</s>` is the HTML tag, its
/// `<eos>` is special).
pub(crate) fn well_known(names: &FxHashMap<String, TokenId>, is_special: impl Fn(TokenId) -> bool) -> Vec<TokenId> {
    let found: Vec<TokenId> = WELL_KNOWN.iter().filter_map(|&name| names.get(name).copied()).collect();
    let special: Vec<TokenId> = found.iter().copied().filter(|&id| is_special(id)).collect();
    if special.is_empty() { found } else { special }
}

/// What the files in the tokenizer's folder name; empty where there are none or they name none.
pub(crate) fn beside(folder: &Path, names: &FxHashMap<String, TokenId>) -> Result<Vec<TokenId>, Error> {
    let mut found = Vec::new();
    for file in ["tokenizer_config.json", "special_tokens_map.json", "generation_config.json"] {
        let Some(config) = load(&folder.join(file))? else {
            continue;
        };
        if let Some(id) = named(config.get("eos_token")).and_then(|name| names.get(name)) {
            found.push(*id);
        }
        found.extend(ids(config.get("eos_token_id")));
    }
    Ok(found)
}

/// The parsed file, where it exists.
fn load(path: &Path) -> Result<Option<Value>, Error> {
    let json = match std::fs::read(path) {
        Ok(json) => json,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(Error::unreadable(path, e)),
    };
    let value = serde_json::from_slice(&json).map_err(|e| Error::json(&path.display().to_string(), &e))?;
    Ok(Some(value))
}

/// A token's name: a string, or an object with the string as `content`.
fn named(token: Option<&Value>) -> Option<&str> {
    let token = token?;
    token.as_str().or_else(|| token.get("content")?.as_str())
}

/// One id, or a list of ids.
fn ids(value: Option<&Value>) -> Vec<TokenId> {
    let list = match value {
        Some(Value::Array(list)) => list.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    list.iter().filter_map(|id| id.as_u64().and_then(|id| u32::try_from(id).ok()).map(TokenId::new)).collect()
}
