//! Hugging Face's `tokenizer.json`: the bytes of every token, read from the model's table and the decoder's rules.

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::byte_level;
use crate::entry::TokenEntry;
use crate::error::Error;

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    added_tokens: Vec<AddedToken>,
    #[serde(default)]
    normalizer: Value,
    #[serde(default)]
    pre_tokenizer: Value,
    #[serde(default)]
    decoder: Value,
    model: Option<Model>,
}

#[derive(Deserialize)]
struct AddedToken {
    id: u32,
    content: String,
    #[serde(default)]
    special: bool,
}

#[derive(Deserialize)]
struct Model {
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    byte_fallback: bool,
    unk_token: Option<String>,
    unk_id: Option<u32>,
    continuing_subword_prefix: Option<String>,
    end_of_word_suffix: Option<String>,
    vocab: Option<Table>,
}

/// Tokens with their ids: an object of ids by token, or a list of token and score by id.
struct Table(Vec<(String, u32)>);

impl<'de> Deserialize<'de> for Table {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TableVisitor;

        impl<'de> Visitor<'de> for TableVisitor {
            type Value = Table;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object of token ids, or a list of tokens with scores")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Table, A::Error> {
                let mut rows = Vec::new();
                while let Some(row) = map.next_entry()? {
                    rows.push(row);
                }
                Ok(Table(rows))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Table, A::Error> {
                let mut rows = Vec::new();
                while let Some((token, IgnoredAny)) = seq.next_element::<(String, IgnoredAny)>()? {
                    let id = u32::try_from(rows.len()).map_err(serde::de::Error::custom)?;
                    rows.push((token, id));
                }
                Ok(Table(rows))
            }
        }

        deserializer.deserialize_any(TableVisitor)
    }
}

/// How a token's name in the file becomes bytes.
enum Spelling {
    /// Each character is a byte of the GPT-2 table.
    ByteLevel,
    /// Replacements, and `<0xHH>` for single bytes.
    Pieces { replacements: Vec<(String, String)> },
}

/// The rows of the vocabulary that a `tokenizer.json` describes; `file` names it in errors.
pub(crate) fn read(json: &[u8], file: &str) -> Result<Vec<TokenEntry>, Error> {
    let parsed: File = serde_json::from_slice(json).map_err(|e| Error::json(file, &e))?;
    let model =
        parsed.model.ok_or_else(|| Error::incomplete(file, "there is no `model`: this is not a tokenizer.json"))?;
    let table = model.vocab.ok_or_else(|| Error::incomplete(file, "the model has no `vocab`"))?;
    match model.kind.as_deref() {
        None | Some("BPE" | "Unigram") => {}
        Some(kind) => return Err(Error::unsupported(file, "model", kind)),
    }
    for (part, text) in [
        ("continuing_subword_prefix", &model.continuing_subword_prefix),
        ("end_of_word_suffix", &model.end_of_word_suffix),
    ] {
        if let Some(text) = text.as_ref().filter(|t| !t.is_empty()) {
            return Err(Error::unsupported(file, part, text));
        }
    }
    let stages = Stages {
        decoders: flatten(&parsed.decoder, "decoders"),
        pre_tokenizers: flatten(&parsed.pre_tokenizer, "pretokenizers"),
        normalizers: flatten(&parsed.normalizer, "normalizers"),
    };
    let spelling = stages.spelling(model.byte_fallback, file)?;

    let mut rows = Rows::new(table.0.len() + parsed.added_tokens.len());
    for (name, id) in table.0 {
        let unknown = model.unk_token.as_ref() == Some(&name) || model.unk_id == Some(id);
        let entry = if unknown { TokenEntry::Special(name) } else { TokenEntry::Text(spelling.bytes(&name)) };
        rows.put(id, entry, file)?;
    }
    for token in parsed.added_tokens {
        let entry = if token.special {
            TokenEntry::Special(token.content)
        } else {
            TokenEntry::Text(spelling.added_bytes(token.content))
        };
        rows.put(token.id, entry, file)?;
    }
    Ok(rows.entries)
}

struct Rows {
    entries: Vec<TokenEntry>,
    /// Ids further on are a mistake in the file, not a hole: tables this sparse don't exist.
    most: usize,
}

impl Rows {
    fn new(named: usize) -> Self {
        Self { entries: Vec::with_capacity(named), most: named.saturating_mul(4) + 65_536 }
    }

    fn put(&mut self, id: u32, entry: TokenEntry, file: &str) -> Result<(), Error> {
        let index = id as usize;
        if index >= self.most {
            return Err(Error::incomplete(file, format!("id {id} is far beyond the number of tokens in the file")));
        }
        if index >= self.entries.len() {
            self.entries.resize(index + 1, TokenEntry::Unused);
        }
        self.entries[index] = entry;
        Ok(())
    }
}

/// The processing stages, sequences laid flat.
struct Stages<'a> {
    decoders: Vec<&'a Value>,
    pre_tokenizers: Vec<&'a Value>,
    normalizers: Vec<&'a Value>,
}

impl Stages<'_> {
    fn spelling(&self, byte_fallback: bool, file: &str) -> Result<Spelling, Error> {
        let byte_level = self.decoders.iter().chain(&self.pre_tokenizers).any(|stage| kind(stage) == "ByteLevel");
        let mut replacements = Vec::new();
        for decoder in &self.decoders {
            match kind(decoder) {
                "ByteLevel" | "ByteFallback" | "Fuse" | "Strip" => {}
                "Metaspace" => replacements.push((metaspace(decoder), " ".into())),
                "Replace" => match (
                    decoder.pointer("/pattern/String").and_then(Value::as_str),
                    decoder.get("content").and_then(Value::as_str),
                ) {
                    (Some(from), Some(to)) if !from.is_empty() => {
                        replacements.push((from.into(), to.into()));
                    }
                    _ => {
                        return Err(Error::unsupported(file, "decoder", "Replace with a regular expression"));
                    }
                },
                other => return Err(Error::unsupported(file, "decoder", other)),
            }
        }
        if byte_level {
            return Ok(Spelling::ByteLevel);
        }
        if replacements.is_empty() {
            let marks_spaces = self.pre_tokenizers.iter().any(|stage| kind(stage) == "Metaspace")
                || self.normalizers.iter().any(|stage| stage.get("content").and_then(Value::as_str) == Some("▁"));
            if marks_spaces {
                replacements.push(("▁".into(), " ".into()));
            }
        }
        if replacements.is_empty() && !byte_fallback {
            let kind = self.decoders.first().or(self.pre_tokenizers.first()).map_or("none", |stage| kind(stage));
            return Err(Error::unsupported(file, "decoder", kind));
        }
        Ok(Spelling::Pieces { replacements })
    }
}

impl Spelling {
    fn bytes(&self, name: &str) -> Vec<u8> {
        match self {
            Self::ByteLevel => byte_level::decode(name).unwrap_or_else(|| name.as_bytes().to_vec()),
            Self::Pieces { replacements } => piece_bytes(name, replacements),
        }
    }

    /// The bytes of a token added to the model's table: its content, as people write it.
    fn added_bytes(&self, content: String) -> Vec<u8> {
        match self {
            Self::ByteLevel => content.into_bytes(),
            Self::Pieces { replacements } => piece_bytes(&content, replacements),
        }
    }
}

/// The bytes of a SentencePiece-style token.
pub(crate) fn piece_bytes(name: &str, replacements: &[(String, String)]) -> Vec<u8> {
    if let Some(byte) = fallback_byte(name) {
        return vec![byte];
    }
    let text = replacements.iter().fold(name.to_owned(), |text, (from, to)| text.replace(from.as_str(), to));
    text.into_bytes()
}

/// The byte that `<0xHH>` stands for.
fn fallback_byte(name: &str) -> Option<u8> {
    let digits = name.strip_prefix("<0x")?.strip_suffix('>')?;
    let hex = digits.len() == 2 && digits.bytes().all(|b| b.is_ascii_hexdigit());
    hex.then(|| u8::from_str_radix(digits, 16).ok()).flatten()
}

fn kind(stage: &Value) -> &str {
    stage.get("type").and_then(Value::as_str).unwrap_or("unnamed")
}

fn metaspace(stage: &Value) -> String {
    let mark = stage.get("replacement").or_else(|| stage.get("str_rep"));
    mark.and_then(Value::as_str).unwrap_or("▁").to_owned()
}

/// A stage, or the stages of a sequence (whose list is called `list`).
fn flatten<'a>(stage: &'a Value, list: &str) -> Vec<&'a Value> {
    match stage {
        Value::Null => Vec::new(),
        _ if kind(stage) == "Sequence" => match stage.get(list).and_then(Value::as_array) {
            Some(stages) => stages.iter().flat_map(|s| flatten(s, list)).collect(),
            None => Vec::new(),
        },
        _ => vec![stage],
    }
}
