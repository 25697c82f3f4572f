//! A byte-level BPE tokenizer from a GGUF file's tokens and merges.

use tokenizers::decoders::byte_level::ByteLevel as ByteLevelDecoder;
use tokenizers::models::bpe::{BPE, Vocab};
use tokenizers::normalizers::unicode::NFC;
use tokenizers::{AddedToken, Tokenizer};

use formwork_mask::GgufTokens;

use super::{USER_DEFINED, is_control, pre_tokenizer};
use crate::error::{Error, Result};
use crate::gguf::Metadata;

/// The tokenizer, and whether prompts open with the model's first token unless the file says otherwise.
pub(super) fn build(metadata: &Metadata, tokens: &GgufTokens) -> Result<(Tokenizer, bool)> {
    let path = metadata.path();
    let key = "tokenizer.ggml.pre";
    let rules = pre_tokenizer::rules(metadata.require_text(key)?)?;
    let key = "tokenizer.ggml.merges";
    let merges = metadata
        .texts(key)
        .ok_or_else(|| Error::metadata(path, key, "list of texts"))?
        .iter()
        .map(|merge| match merge.split_once(' ') {
            Some((left, right)) => Ok((left.to_owned(), right.to_owned())),
            None => Err(Error::tokenizer(format!("\"{merge}\" is no merge"))),
        })
        .collect::<Result<Vec<_>>>()?;
    let wrong = |e: tokenizers::Error| Error::tokenizer(e.to_string());
    let model = BPE::builder()
        .vocab_and_merges(text_tokens(tokens), merges)
        .ignore_merges(rules.ignores_merges)
        .build()
        .map_err(wrong)?;
    let mut tokenizer = Tokenizer::new(model);
    if rules.composes {
        tokenizer.with_normalizer(Some(NFC)).map_err(wrong)?;
    }
    tokenizer.with_pre_tokenizer(Some(rules.splitter));
    tokenizer.with_decoder(Some(ByteLevelDecoder::new(true, true, true)));
    tokenizer.add_tokens(user_defined(tokens)).map_err(wrong)?;
    Ok((tokenizer, rules.adds_bos))
}

/// The tokens that text can make, with their ids. Control tokens are kept out of the model's sight, so that no text can
/// make one.
pub(super) fn text_tokens(tokens: &GgufTokens) -> Vocab {
    let mut vocab = Vocab::default();
    for (id, (text, &kind)) in (0_u32..).zip(tokens.tokens.iter().zip(&tokens.token_types)) {
        if !is_control(kind) {
            vocab.entry(text.clone()).or_insert(id);
        }
    }
    vocab
}

/// The tokens that are found in text before it is split.
pub(super) fn user_defined(tokens: &GgufTokens) -> Vec<AddedToken> {
    tokens
        .tokens
        .iter()
        .zip(&tokens.token_types)
        .filter(|&(text, &kind)| kind == USER_DEFINED && !text.is_empty())
        .map(|(text, _)| AddedToken::from(text.clone(), false).normalized(false))
        .collect()
}
