//! How text is split before byte-pair merging, by the name that a GGUF file gives (`tokenizer.ggml.pre`).
//!
//! A wrong split gives tokens that the model has hardly seen, without any error; so a name that is not in the table is
//! refused. The rules are those of each family's `tokenizer.json`.

use tokenizers::pre_tokenizers::PreTokenizerWrapper;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::tokenizer::SplitDelimiterBehavior;

use crate::error::{Error, Result};

/// The names of ways to split text that are supported, as a GGUF file's `tokenizer.ggml.pre` gives them.
pub const SUPPORTED_PRE_TOKENIZERS: &[&str] = &[
    "smollm",
    "starcoder",
    "gpt-2",
    "llama-bpe",
    "llama3",
    "llama-v3",
    "qwen2",
    "deepseek-r1-qwen",
    "tekken",
    "gpt-4o",
];

const LLAMA3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const QWEN2: &str =
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const TEKKEN: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const GPT4O: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// How one family of tokenizers treats text.
pub(super) struct Rules {
    pub(super) splitter: PreTokenizerWrapper,
    /// Text is brought into Unicode's composed form (NFC) first.
    pub(super) composes: bool,
    /// A piece that is a token already is not merged up from its bytes.
    pub(super) ignores_merges: bool,
    /// A prompt opens with the model's first token, unless the file says otherwise.
    pub(super) adds_bos: bool,
}

/// The rules with this name.
pub(super) fn rules(name: &str) -> Result<Rules> {
    // Neither puts a blank before the text: candle's own default does, and `{` would become ` {`.
    let bytes = || ByteLevel::new(false, true, false);
    let bytes_after_gpt2_split = || ByteLevel::new(false, true, true);
    let plain = |splitter| Rules { splitter, composes: false, ignores_merges: false, adds_bos: false };
    Ok(match name {
        "smollm" | "starcoder" => {
            plain(Sequence::new(vec![Digits::new(true).into(), bytes_after_gpt2_split().into()]).into())
        }
        "gpt-2" => plain(bytes_after_gpt2_split().into()),
        "llama-bpe" | "llama3" | "llama-v3" => {
            Rules { ignores_merges: true, adds_bos: true, ..plain(split_then(LLAMA3, bytes())?) }
        }
        "qwen2" | "deepseek-r1-qwen" => Rules { composes: true, ..plain(split_then(QWEN2, bytes())?) },
        "tekken" => Rules { ignores_merges: true, adds_bos: true, ..plain(split_then(TEKKEN, bytes())?) },
        "gpt-4o" => plain(split_then(GPT4O, bytes())?),
        other => return Err(Error::pre_tokenizer(other)),
    })
}

fn split_then(pattern: &str, bytes: ByteLevel) -> Result<PreTokenizerWrapper> {
    let split = Split::new(SplitPattern::Regex(pattern.to_owned()), SplitDelimiterBehavior::Isolated, false)
        .map_err(|e| Error::tokenizer(e.to_string()))?;
    Ok(Sequence::new(vec![split.into(), bytes.into()]).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokenizers::tokenizer::{OffsetReferential, OffsetType, PreTokenizedString, PreTokenizer};

    fn split(name: &str, text: &str) -> Vec<String> {
        let mut pieces = PreTokenizedString::from(text);
        rules(name).unwrap().splitter.pre_tokenize(&mut pieces).unwrap();
        pieces
            .get_splits(OffsetReferential::Original, OffsetType::Byte)
            .into_iter()
            .map(|(piece, _, _)| piece.replace('\u{120}', " "))
            .collect()
    }

    #[test]
    fn no_name_puts_a_blank_before_the_text() {
        for name in SUPPORTED_PRE_TOKENIZERS {
            assert_eq!(split(name, "{}")[0], "{}", "{name}");
        }
    }

    #[test]
    fn digits_are_grouped_as_the_family_does() {
        assert_eq!(split("smollm", "in 1234"), ["in", " ", "1", "2", "3", "4"]);
        assert_eq!(split("gpt-2", "in 1234"), ["in", " 1234"]);
        assert_eq!(split("llama-bpe", "in 1234"), ["in", " ", "123", "4"]);
        assert_eq!(split("qwen2", "in 1234"), ["in", " ", "1", "2", "3", "4"]);
        assert_eq!(split("gpt-4o", "aB c"), ["a", "B", " c"]);
    }

    #[test]
    fn an_unknown_name_is_refused_by_name() {
        let error = rules("falcon").err().unwrap();
        assert_eq!(error.code(), "unsupported_pre_tokenizer");
        assert!(error.to_string().contains("\"falcon\""));
        assert!(error.help().unwrap().contains("smollm"));
    }
}
