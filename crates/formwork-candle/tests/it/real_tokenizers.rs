//! Real tokenizers, where they are at hand: one built from GGUF metadata must agree with the `tokenizer.json` it is of.

use std::collections::HashMap;
use std::path::PathBuf;

use candle_core::quantized::GgmlDType;
use candle_core::quantized::gguf_file::Value;
use formwork_candle::{ModelFile, Tokenizer};

use crate::tiny::{Tiny, texts};

const TEXTS: &[&str] = &[
    "Hello, world!",
    "{\"id\": 12345, \"tags\": [\"a\", \"b\"], \"ok\": true}",
    "  leading and  double spaces ",
    "line\nline\n\nline\r\n\ttab",
    "It's we'RE I'LL they'd 1234567 3.14159",
    "naïve café — Ünïcödé ΑΒΓ привет",
    "東京とパリ 안녕하세요 مرحبا",
    "emoji 🙂👩‍👩‍👧 done",
    "snake_case CamelCase HTTPServer x=y+z; // comment",
    "https://example.org/a/b?c=d&e=f",
    "    indented\n        code()\n",
    "e\u{301} composed é",
    "a",
];

/// A tokenizer's parts as a GGUF file has them.
struct Parts {
    tokens: Vec<String>,
    kinds: Vec<i32>,
    merges: Vec<(String, String)>,
}

fn tokenizer_json(name: &str) -> Option<PathBuf> {
    let dir = std::env::var_os("FORMWORK_TOKENIZERS").map_or_else(
        || {
            let home = std::env::var_os("HOME").unwrap_or_default();
            PathBuf::from(home).join(".cache/formwork-tokenizers")
        },
        PathBuf::from,
    );
    let path = dir.join(name).join("tokenizer.json");
    if !path.is_file() {
        eprintln!("SKIPPED: there is no {}", path.display());
        return None;
    }
    Some(path)
}

fn parts(path: &PathBuf) -> Parts {
    let json: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let vocab = json["model"]["vocab"].as_object().unwrap();
    let added = json["added_tokens"].as_array().unwrap();
    let id_of = |id: &serde_json::Value| usize::try_from(id.as_u64().unwrap()).unwrap();
    let len = vocab.values().chain(added.iter().map(|a| &a["id"])).map(|id| id_of(id) + 1).max().unwrap();
    let mut tokens: Vec<String> = (0..len).map(|id| format!("[unused {id}]")).collect();
    let mut kinds = vec![5; len];
    for (token, id) in vocab {
        tokens[id_of(id)].clone_from(token);
        let is_byte = token.len() == 6 && token.starts_with("<0x") && token.ends_with('>');
        kinds[id_of(id)] = if is_byte { 6 } else { 1 };
    }
    for token in added {
        let id = id_of(&token["id"]);
        tokens[id] = String::from(token["content"].as_str().unwrap());
        kinds[id] = if token["special"].as_bool().unwrap() { 3 } else { 4 };
    }
    let merges = json["model"]["merges"].as_array().unwrap();
    let merges = merges
        .iter()
        .map(|merge| match merge.as_str() {
            Some(text) => text.split_once(' ').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap(),
            None => (merge[0].as_str().unwrap().to_owned(), merge[1].as_str().unwrap().to_owned()),
        })
        .collect();
    Parts { tokens, kinds, merges }
}

fn from_gguf(tiny: &Tiny) -> Tokenizer {
    let dir = tempfile::tempdir().unwrap();
    let path = tiny.write(dir.path());
    ModelFile::open(path).unwrap().tokenizer().unwrap()
}

fn with_tokens(parts: &Parts) -> Tiny {
    Tiny::new(GgmlDType::Q8_0)
        .set("tokenizer.ggml.tokens", texts(&parts.tokens))
        .set("tokenizer.ggml.token_type", Value::Array(parts.kinds.iter().map(|&k| Value::I32(k)).collect()))
}

fn check_agree(name: &str, built: &Tokenizer, original: &Tokenizer) {
    for text in TEXTS {
        assert_eq!(built.encode(text).unwrap(), original.encode(text).unwrap(), "{name}: {text:?}");
    }
}

fn check_byte_level(name: &str, pre: &str) {
    let Some(path) = tokenizer_json(name) else { return };
    let parts = parts(&path);
    let merges: Vec<String> = parts.merges.iter().map(|(a, b)| format!("{a} {b}")).collect();
    let tiny = with_tokens(&parts).text("tokenizer.ggml.pre", pre).set("tokenizer.ggml.merges", texts(&merges));
    let original = Tokenizer::from_tokenizer_json(&path).unwrap();
    check_agree(name, &from_gguf(&tiny), &original);
}

/// Scores as `SentencePiece` gives them: minus the rank of the merge that first makes the piece.
fn check_sentencepiece(name: &str, prefix: bool) {
    let Some(path) = tokenizer_json(name) else { return };
    let parts = parts(&path);
    let mut ranks = HashMap::new();
    for (rank, (a, b)) in parts.merges.iter().enumerate() {
        ranks.entry(format!("{a}{b}")).or_insert(rank);
    }
    #[expect(clippy::cast_precision_loss, reason = "ranks are below 2²⁴")]
    let score = |token: &String| -(ranks.get(token).copied().unwrap_or(1 << 22) as f32);
    let scores = parts.tokens.iter().map(|t| Value::F32(score(t))).collect();
    let mut parts = parts;
    if let Some(id) = parts.tokens.iter().position(|t| t == "<unk>") {
        parts.kinds[id] = 2;
    }
    let tiny = with_tokens(&parts)
        .text("tokenizer.ggml.model", "llama")
        .set("tokenizer.ggml.scores", Value::Array(scores))
        .set("tokenizer.ggml.add_space_prefix", Value::Bool(prefix));
    let original = Tokenizer::from_tokenizer_json(&path).unwrap();
    check_agree(name, &from_gguf(&tiny), &original);
}

#[test]
fn qwen2() {
    check_byte_level("qwen2_5", "qwen2");
}

#[test]
fn llama3() {
    check_byte_level("llama3_2", "llama-bpe");
}

#[test]
fn mistral_nemo() {
    check_byte_level("mistral_nemo", "tekken");
}

#[test]
fn gpt_oss() {
    check_byte_level("gptoss", "gpt-4o");
}

#[test]
fn llama2() {
    check_sentencepiece("llama2", true);
}

#[test]
fn gemma3() {
    check_sentencepiece("gemma3", false);
}
