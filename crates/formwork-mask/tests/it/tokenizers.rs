//! Reading tokenizers: small files made here, broken ones, and real ones.

use formwork_automaton::TokenId;
use formwork_mask::{Code, GgufTokens, TokenEntry, Vocabulary};
use proptest::prelude::*;

use crate::vocabularies::real;

const BYTE_LEVEL: &str = r#"{
  "added_tokens": [
    {"id": 4, "content": "<|im_end|>", "special": true},
    {"id": 6, "content": "<tool é>", "special": false}
  ],
  "normalizer": {"type": "NFC"},
  "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Split"}, {"type": "ByteLevel"}]},
  "decoder": {"type": "ByteLevel"},
  "model": {"type": "BPE", "vocab": {"a": 0, "Ġb": 1, "Ã": 2, "Ċ": 3}, "merges": [["a", "b"]]}
}"#;

const PIECES: &str = r#"{
  "added_tokens": [{"id": 0, "content": "<unk>", "special": true}, {"id": 1, "content": "</s>", "special": true}, {"id": 6, "content": "▁▁", "special": false}],
  "pre_tokenizer": null,
  "decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
  "model": {"type": "BPE", "byte_fallback": true, "unk_token": "<unk>", "vocab": {"<unk>": 0, "</s>": 1, "<0x0A>": 2, "▁the": 3, "é": 4, "<0xZZ>": 5}, "merges": []}
}"#;

fn texts(vocabulary: &Vocabulary) -> Vec<Option<Vec<u8>>> {
    vocabulary.ids().map(|id| vocabulary.bytes(id).map(<[u8]>::to_vec)).collect()
}

#[expect(clippy::unnecessary_wraps, reason = "as the vocabulary gives it")]
fn text(t: &str) -> Option<Vec<u8>> {
    Some(t.as_bytes().to_vec())
}

#[test]
fn byte_level() {
    let vocabulary = Vocabulary::from_tokenizer_json_bytes(BYTE_LEVEL.as_bytes()).unwrap();
    assert_eq!(texts(&vocabulary), [text("a"), text(" b"), Some(vec![0xc3]), text("\n"), None, None, text("<tool é>")]);
    assert_eq!(vocabulary.special("<|im_end|>"), Some(TokenId::new(4)));
    assert_eq!(vocabulary.eos(), [TokenId::new(4)]);
    assert!(!vocabulary.is_special(TokenId::new(5)));
    let has = |byte: u8| vocabulary.single_bytes()[usize::from(byte / 64)] >> (byte % 64) & 1 == 1;
    assert!(has(b'a') && has(0xc3) && has(b'\n') && !has(b'b'));
    assert_eq!(vocabulary.longest_token(), "<tool é>".len());
}

#[test]
fn pieces() {
    let vocabulary = Vocabulary::from_tokenizer_json_bytes(PIECES.as_bytes()).unwrap();
    assert_eq!(texts(&vocabulary), [None, None, text("\n"), text(" the"), text("é"), text("<0xZZ>"), text("  ")]);
    assert_eq!(vocabulary.eos(), [TokenId::new(1)]);
}

#[test]
fn unigram() {
    let json = r#"{"decoder": {"type": "Metaspace", "replacement": "▁"},
        "model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["▁a", -1.5e-3], ["<0x41>", -2]]}}"#;
    let vocabulary = Vocabulary::from_tokenizer_json_bytes(json.as_bytes()).unwrap();
    assert_eq!(texts(&vocabulary), [None, text(" a"), text("A")]);
    assert_eq!(vocabulary.eos(), []);
}

#[test]
fn ends_of_sequence_come_from_the_files_beside() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, json: &str| std::fs::write(folder.path().join(name), json).unwrap();
    let load = || Vocabulary::from_tokenizer_json(folder.path().join("tokenizer.json"));
    let ids = |v: &Vocabulary| v.eos().iter().map(|id| id.get()).collect::<Vec<_>>();
    write("tokenizer.json", BYTE_LEVEL);
    assert_eq!(ids(&load().unwrap()), [4]);
    write("tokenizer_config.json", r#"{"eos_token": {"content": "<tool é>"}}"#);
    assert_eq!(ids(&load().unwrap()), [6]);
    // What ends a sequence is no text.
    assert!(load().unwrap().is_special(TokenId::new(6)));
    write("generation_config.json", r#"{"eos_token_id": [4, 6]}"#);
    assert_eq!(ids(&load().unwrap()), [4, 6]);
    write("generation_config.json", r#"{"eos_token_id": 400}"#);
    assert_eq!(load().unwrap_err().code(), Code::UnknownToken);
    write("generation_config.json", "{");
    assert_eq!(load().unwrap_err().code(), Code::MalformedFile);
}

#[test]
fn broken_files_are_refused_in_a_sentence() {
    let error = |json: &str| Vocabulary::from_tokenizer_json_bytes(json.as_bytes()).unwrap_err();
    let cut = error(&PIECES[..300]);
    assert_eq!(cut.code(), Code::MalformedFile);
    assert_eq!(cut.place().map(|(line, _)| line), Some(4));
    assert!(cut.to_string().starts_with("tokenizer.json:4:") && cut.to_string().contains("ends too early"), "{cut}");

    assert_eq!(error("{}").to_string(), "tokenizer.json: there is no `model`: this is not a tokenizer.json");
    assert_eq!(error(r#"{"model": {}}"#).to_string(), "tokenizer.json: the model has no `vocab`");
    assert_eq!(
        error(r#"{"model": {"type": "WordPiece", "vocab": {"a": 0}}}"#).to_string(),
        "tokenizer.json: the model is of kind \"WordPiece\", which is not supported"
    );
    assert_eq!(
        error(r#"{"model": {"type": "BPE", "vocab": {"a": 0}}, "decoder": {"type": "CTC"}}"#).to_string(),
        "tokenizer.json: the decoder is of kind \"CTC\", which is not supported"
    );
    assert_eq!(error(r#"{"model": {"type": "BPE", "vocab": {"a": 0}}}"#).code(), Code::UnsupportedTokenizer);
    assert_eq!(
        error(r#"{"decoder": {"type": "ByteLevel"}, "model": {"vocab": {"a": 4000000000}}}"#).code(),
        Code::MalformedFile
    );
    assert_eq!(error("version https://git-lfs.github.com/spec/v1\n").code(), Code::MalformedFile);

    let missing = Vocabulary::from_tokenizer_json("/nowhere/tokenizer.json").unwrap_err();
    assert_eq!(missing.to_string(), "cannot read /nowhere/tokenizer.json");
    assert!(missing.help().is_some());
}

#[test]
fn gguf() {
    let tables = GgufTokens {
        model: "llama".into(),
        tokens: ["<unk>", "<s>", "</s>", "<0x0A>", "▁the", "x"].map(String::from).to_vec(),
        token_types: vec![2, 3, 3, 6, 1, 5],
        eos: vec![2],
    };
    let vocabulary = Vocabulary::from_gguf(tables.clone()).unwrap();
    assert_eq!(texts(&vocabulary), [None, None, None, text("\n"), text(" the"), None]);
    assert_eq!(vocabulary.eos(), [TokenId::new(2)]);
    let other = GgufTokens { model: "bert".into(), ..tables.clone() };
    assert_eq!(Vocabulary::from_gguf(other).unwrap_err().code(), Code::UnsupportedTokenizer);
    let short = GgufTokens { token_types: vec![1], ..tables };
    assert_eq!(Vocabulary::from_gguf(short).unwrap_err().code(), Code::InconsistentVocabulary);
}

#[test]
fn fingerprints_tell_vocabularies_apart() {
    let a = Vocabulary::from_tokens(vec![TokenEntry::Text(b"a".to_vec()), TokenEntry::Special("</s>".into())], &[1])
        .unwrap();
    let same = Vocabulary::from_tokens(vec![TokenEntry::Text(b"a".to_vec()), TokenEntry::Special("</s>".into())], &[1])
        .unwrap();
    assert_eq!(a.fingerprint(), same.fingerprint());
    assert_ne!(a.fingerprint(), a.with_eos(&[]).unwrap().fingerprint());
    // Rows without a token are no part of it.
    assert_eq!(a.fingerprint(), a.padded_to(3).unwrap().fingerprint());
    assert_eq!(a.padded_to(1).unwrap_err().code(), Code::InconsistentVocabulary);
    assert_eq!(a.with_eos(&[7]).unwrap_err().code(), Code::UnknownToken);
    assert!(a.with_eos(&[0]).unwrap().is_special(TokenId::new(0)));
}

#[test]
fn real_tokenizers() {
    let expect = [
        ("llama3_2", 128_256, vec![128_009], " the", 279),
        ("qwen2_5", 151_665, vec![151_645], " the", 279),
        ("gemma3", 262_145, vec![106], " the", 506),
        ("llama2", 32_000, vec![2], " the", 272),
    ];
    for (name, len, eos, word, id) in expect {
        let Some(path) = real(name) else { continue };
        let vocabulary = Vocabulary::from_tokenizer_json(path).unwrap();
        assert_eq!(vocabulary.len(), len, "{name}");
        assert_eq!(vocabulary.eos().iter().map(|id| id.get()).collect::<Vec<_>>(), eos, "{name}");
        assert_eq!(vocabulary.bytes(TokenId::new(id)), Some(word.as_bytes()), "{name}");
        let bytes: u32 = vocabulary.single_bytes().iter().map(|w| w.count_ones()).sum();
        assert!(bytes >= 243, "{name}: {bytes}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(json in ".{0,200}") {
        let _ = Vocabulary::from_tokenizer_json_bytes(json.as_bytes());
    }

    #[test]
    fn any_cut_is_refused(at in 0..PIECES.len()) {
        let at = (0..=at).rev().find(|&i| PIECES.is_char_boundary(i)).unwrap_or(0);
        let error = Vocabulary::from_tokenizer_json_bytes(&PIECES.as_bytes()[..at]).unwrap_err();
        prop_assert_eq!(error.code(), Code::MalformedFile);
    }
}
