//! A SentencePiece-style tokenizer (BPE by scores, byte fallback, `▁` for spaces) from a GGUF file's tokens and scores.

use std::cmp::Reverse;
use std::collections::HashMap;

use tokenizers::decoders::byte_fallback::ByteFallback;
use tokenizers::decoders::fuse::Fuse;
use tokenizers::decoders::sequence::Sequence as DecoderSequence;
use tokenizers::decoders::strip::Strip;
use tokenizers::models::bpe::BPE;
use tokenizers::normalizers::NormalizerWrapper;
use tokenizers::normalizers::prepend::Prepend;
use tokenizers::normalizers::replace::Replace;
use tokenizers::normalizers::utils::Sequence;
use tokenizers::{DecoderWrapper, Tokenizer};

use formwork_mask::GgufTokens;

use super::bpe::{text_tokens, user_defined};
use super::{BYTE, UNKNOWN, is_control};
use crate::error::{Error, Result};
use crate::gguf::Metadata;

const SPACE: &str = "▁";

pub(super) fn build(metadata: &Metadata, tokens: &GgufTokens) -> Result<Tokenizer> {
    let key = "tokenizer.ggml.scores";
    let scores = metadata
        .floats(key)
        .filter(|scores| scores.len() == tokens.tokens.len())
        .ok_or_else(|| Error::metadata(metadata.path(), key, "list of one score for each token"))?;
    let wrong = |e: tokenizers::Error| Error::tokenizer(e.to_string());
    let mut vocab = text_tokens(tokens);
    let mut builder = BPE::builder().byte_fallback(true).fuse_unk(true);
    let unknown = (0_u32..).zip(&tokens.token_types).find(|&(_, &kind)| kind == UNKNOWN);
    if let Some((id, _)) = unknown {
        let text = tokens.tokens[id as usize].clone();
        vocab.insert(text.clone(), id);
        builder = builder.unk_token(text);
    }
    let model = builder.vocab_and_merges(vocab, merges(tokens, scores)).build().map_err(wrong)?;
    let mut tokenizer = Tokenizer::new(model);
    let prefixes = metadata.flag("tokenizer.ggml.add_space_prefix").unwrap_or(true);
    let mut normalizers: Vec<NormalizerWrapper> = Vec::new();
    let mut decoders: Vec<DecoderWrapper> = Vec::new();
    if prefixes {
        normalizers.push(Prepend::new(SPACE.to_owned()).into());
    }
    normalizers.push(Replace::new(" ", SPACE).map_err(wrong)?.into());
    decoders.push(Replace::new(SPACE, " ").map_err(wrong)?.into());
    decoders.push(ByteFallback::new().into());
    decoders.push(Fuse::new().into());
    if prefixes {
        decoders.push(Strip::new(' ', 1, 0).into());
    }
    tokenizer.with_normalizer(Some(Sequence::new(normalizers))).map_err(wrong)?;
    tokenizer.with_decoder(Some(DecoderSequence::new(decoders)));
    tokenizer.add_tokens(user_defined(tokens)).map_err(wrong)?;
    Ok(tokenizer)
}

/// The merges that the scores imply: every split of a token into two tokens, the best-scored token first.
fn merges(tokens: &GgufTokens, scores: &[f32]) -> Vec<(String, String)> {
    let pieces: HashMap<&str, f32> = tokens
        .tokens
        .iter()
        .zip(&tokens.token_types)
        .zip(scores)
        .filter(|&((_, &kind), _)| !is_control(kind) && kind != BYTE)
        .map(|((text, _), &score)| (text.as_str(), score))
        .collect();
    let mut found = Vec::new();
    for text in &tokens.tokens {
        let Some(&score) = pieces.get(text.as_str()) else {
            continue;
        };
        for (at, _) in text.char_indices().skip(1) {
            let (left, right) = text.split_at(at);
            if pieces.contains_key(left) && pieces.contains_key(right) {
                found.push((score, left, right));
            }
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| Reverse(a.1.len()).cmp(&Reverse(b.1.len()))));
    found.into_iter().map(|(_, left, right)| (left.to_owned(), right.to_owned())).collect()
}
