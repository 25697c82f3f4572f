//! Files that are not what they should be: one sentence each, no panic, no memory on a file's word.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use candle_core::quantized::GgmlDType;
use candle_core::quantized::gguf_file::Value;
use formwork_candle::{Device, Error, LoadedModel, ModelFile};
use proptest::prelude::*;

use crate::tiny::{CONTEXT, HIDDEN, Tiny, ids, tokens};

fn open(tiny: &Tiny) -> Result<LoadedModel, Error> {
    let dir = tempfile::tempdir().unwrap();
    LoadedModel::open(tiny.write(dir.path()), Device::Cpu)
}

fn open_bytes(bytes: &[u8]) -> Result<LoadedModel, Error> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("model.gguf");
    fs::write(&path, bytes).unwrap();
    LoadedModel::open(path, Device::Cpu)
}

fn tiny_bytes() -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    fs::read(Tiny::new(GgmlDType::Q8_0).write(dir.path())).unwrap()
}

#[track_caller]
fn check_refused(result: Result<LoadedModel, Error>, code: &str, says: &str) {
    let error = result.expect_err("refused");
    assert_eq!(error.code(), code, "{error}");
    let text = error.to_string();
    assert!(text.contains(says), "{text}");
    assert!(!text.contains('\n') && !text.ends_with('.'), "{text}");
}

#[test]
fn a_whole_file_tells_about_itself() {
    let loaded = open(&Tiny::new(GgmlDType::Q8_0)).unwrap();
    let file = &loaded.file;
    assert_eq!(file.name(), "Tiny");
    assert_eq!(file.architecture(), "llama");
    assert_eq!(file.context_len().unwrap(), CONTEXT);
    assert_eq!(file.dtype(), "Q8_0");
    assert_eq!(file.eos_ids(), ids(&[2, 0]));
    assert_eq!(loaded.model.vocab_size(), tokens().len());
    assert_eq!(loaded.model.context_len(), CONTEXT);
}

#[test]
fn a_truncated_file_is_refused_wherever_it_ends() {
    let bytes = tiny_bytes();
    let lens = (1..12_000).step_by(7).chain((12_000..bytes.len()).step_by(999));
    // The last 31 bytes may be padding.
    for len in lens.chain([bytes.len() - 32]) {
        let error = open_bytes(&bytes[..len]).expect_err("refused");
        let expected = if len < 4 { "not_gguf" } else { "truncated_file" };
        assert_eq!(error.code(), expected, "{len} bytes: {error}");
    }
    check_refused(open_bytes(&bytes[..9_000]), "truncated_file", "is truncated");
}

#[test]
fn a_foreign_file_is_refused() {
    check_refused(open_bytes(b""), "not_gguf", "it is empty");
    check_refused(open_bytes(b"PK\x03\x04 and so on"), "not_gguf", "starts with \"PK\\x03\\x04\"");
    check_refused(open_bytes(b"\x08\0\0\0\0\0\0\0{\"a\":1}"), "not_gguf", "is not a GGUF model file");
    check_refused(open_bytes(b"GGUF\0\0\0\x03\0\0\0\0\0\0\0\0\0\0\0\0"), "unsupported_model", "big-endian");
    check_refused(open_bytes(b"GGUF\x09\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), "unsupported_model", "version 9");
    let dir = tempfile::tempdir().unwrap();
    let missing = LoadedModel::open(dir.path().join("none.gguf"), Device::Cpu);
    check_refused(missing, "file_not_found", "there is no file");
    let folder = LoadedModel::open(dir.path(), Device::Cpu).err().unwrap();
    assert_eq!(folder.path(), Some(Path::new(dir.path())));
}

#[test]
fn another_architecture_is_refused_by_name() {
    let tiny = Tiny::new(GgmlDType::Q8_0).text("general.architecture", "rwkv7");
    check_refused(open(&tiny), "unsupported_architecture", "\"rwkv7\"");
    let tiny = Tiny::new(GgmlDType::Q8_0).unset("general.architecture");
    check_refused(open(&tiny), "missing_metadata", "general.architecture");
}

#[test]
fn settings_that_change_the_model_are_refused_by_name() {
    let tiny = || Tiny::new(GgmlDType::Q8_0);
    for (tiny, says) in [
        (tiny().number("llama.expert_count", 8), "a mixture of experts"),
        (tiny().text("llama.rope.scaling.type", "yarn"), "\"yarn\""),
        (tiny().number("llama.rope.dimension_count", 8), "a rotation of 8"),
        (tiny().number("llama.attention.head_count_kv", 3), "over 3 key heads"),
        (tiny().set("llama.rope.freq_base", Value::F32(f32::NAN)), "rotation base NaN"),
    ] {
        check_refused(open(&tiny), "unsupported_model", says);
    }
    for key in ["llama.attention.head_count", "llama.context_length"] {
        check_refused(open(&tiny().number(key, 0)), "missing_metadata", key);
        check_refused(open(&tiny().unset(key)), "missing_metadata", key);
    }
}

#[test]
fn tensors_must_be_there_and_fit() {
    let mut tiny = Tiny::new(GgmlDType::Q8_0);
    tiny.matrix("blk.1.attn_k", [HIDDEN, HIDDEN], GgmlDType::Q8_0);
    check_refused(open(&tiny), "bad_tensor", "its shape is [64, 64], not [32, 64]");
    let mut tiny = Tiny::new(GgmlDType::Q8_0);
    tiny.tensors.remove("blk.1.ffn_down.weight");
    check_refused(open(&tiny), "bad_tensor", "blk.1.ffn_down.weight");
    let mut tiny = Tiny::new(GgmlDType::Q8_0);
    tiny.matrix("blk.0.attn_q_norm", [HIDDEN, HIDDEN], GgmlDType::Q8_0);
    check_refused(open(&tiny), "unsupported_model", "blk.0.attn_q_norm.weight");
    let tiny = Tiny::new(GgmlDType::Q8_0).number("llama.block_count", u32::MAX);
    check_refused(open(&tiny), "bad_tensor", "blk.2.attn_q.weight");
    let mut tiny = Tiny::new(GgmlDType::Q8_0);
    tiny.matrix("token_embd", [5, HIDDEN], GgmlDType::Q8_0);
    check_refused(open(&tiny), "bad_tokenizer", "logits for 5");
}

#[test]
fn a_header_is_not_taken_at_its_word() {
    let head = |tensors: u64, entries: u64, rest: &[u8]| {
        let mut bytes = b"GGUF\x03\0\0\0".to_vec();
        bytes.extend(tensors.to_le_bytes());
        bytes.extend(entries.to_le_bytes());
        bytes.extend(rest);
        bytes
    };
    let entry = |value_type: u32, rest: &[u8]| {
        let mut bytes = 1_u64.to_le_bytes().to_vec();
        bytes.push(b'k');
        bytes.extend(value_type.to_le_bytes());
        bytes.extend(rest);
        bytes
    };
    let huge = u64::MAX.to_le_bytes();
    let strings = [&8_u32.to_le_bytes()[..], &(1_u64 << 60).to_le_bytes()].concat();
    let nested = [&9_u32.to_le_bytes()[..], &0_u64.to_le_bytes()].concat();
    for (bytes, code) in [
        (head(u64::MAX, 0, &[]), "truncated_file"),
        (head(0, u64::MAX, &[]), "truncated_file"),
        (head(0, 1, &[0xff; 40]), "bad_header"),
        (head(0, 1, &entry(8, &huge)), "truncated_file"),
        (head(0, 1, &entry(9, &strings)), "truncated_file"),
        (head(0, 1, &entry(9, &nested)), "bad_header"),
        (head(0, 1, &entry(77, &[0; 9])), "bad_header"),
    ] {
        let error = open_bytes(&bytes).expect_err("refused");
        assert_eq!(error.code(), code, "{error}");
    }
    let tiny = Tiny::new(GgmlDType::Q8_0).number("general.alignment", 0);
    check_refused(open(&tiny), "bad_header", "an alignment of 0 bytes");
}

#[test]
fn a_file_without_a_template_gets_plain_text_and_says_so() {
    let loaded = open(&Tiny::new(GgmlDType::Q8_0).unset("tokenizer.chat_template")).unwrap();
    let messages = [formwork_candle::Message::system("Be brief."), formwork_candle::Message::user("Hello")];
    let prompt = loaded.render_chat(&messages, true).unwrap();
    assert_eq!(prompt.text(), "Be brief.\n\nHello");
    assert_eq!(prompt.warning, Some(formwork_candle::PromptWarning::NoChatTemplate));
}

#[test]
fn a_prompt_is_there_and_fits() {
    let loaded = open(&Tiny::new(GgmlDType::Q8_0)).unwrap();
    let user = formwork_candle::Message::user;
    assert_eq!(loaded.plain_prompt("").unwrap_err().code(), "empty_prompt");
    assert_eq!(loaded.render_chat(&[], true).unwrap_err().code(), "empty_prompt");
    assert_eq!(loaded.render_chat(&[user("  ")], true).unwrap_err().code(), "empty_prompt");
    let error = loaded.plain_prompt("x".repeat(CONTEXT + 1)).unwrap_err();
    assert_eq!(error.code(), "context_full");
    assert!(error.help().unwrap().contains("shorten"));
}

#[test]
fn the_sum_of_a_file_is_known() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("abc");
    let tiny = Tiny::new(GgmlDType::Q8_0).write(dir.path());
    let sum = ModelFile::open(&tiny).unwrap().sha256().unwrap();
    fs::rename(&tiny, &path).unwrap();
    assert_eq!(ModelFile::open(&path).unwrap().sha256().unwrap(), sum);
    assert_eq!(sum.len(), 64);
}

static TINY: LazyLock<Vec<u8>> = LazyLock::new(tiny_bytes);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// A damaged file opens or is refused; nothing panics, whatever the damage.
    #[test]
    fn damage_never_panics(
        damage in proptest::collection::vec((0_usize..16_000, any::<u8>()), 1..4),
    ) {
        let mut bytes = TINY.clone();
        for (at, byte) in damage {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        if let Ok(mut loaded) = open_bytes(&bytes) {
            let _ = loaded.tokenizer.encode("the hello {\"a\": 1}");
            let _ = loaded.render_chat(&[formwork_candle::Message::user("hello")], true);
            let _ = loaded.model.forward(&ids(&[1, 2, 3]));
        }
    }
}
