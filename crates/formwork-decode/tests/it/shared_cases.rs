//! The `stop` cases among `cases/open.jsonl`: known faults of other engines, not to be repeated.

use std::ops::ControlFlow;
use std::path::PathBuf;

use formwork_decode::{FinishReason, GenerateRequest, Hooks, StopConditions, generate};
use serde_json::Value;

use crate::toy::{Tokens, script};

#[expect(clippy::print_stderr, reason = "a skipped check must be seen")]
fn cases() -> Option<Vec<Value>> {
    let folder = std::env::var_os("FORMWORK_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let path = folder.join("cases/open.jsonl");
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("SKIPPED: the shared cases are not at {}; set FORMWORK_SHARED to their folder", path.display());
        return None;
    };
    let cases = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    Some(cases.filter(|case| case["kind"] == "stop").collect())
}

/// Streams these pieces, one token each, and gives what was shown, piece by piece, and how it ended.
fn stream(pieces: &[Vec<u8>], stop: &[String], max_tokens: usize) -> (Vec<String>, FinishReason, usize) {
    let mut vocabulary = pieces.to_vec();
    vocabulary.push(Vec::new());
    let tokens = Tokens::new(&vocabulary);
    let order: Vec<usize> = (0..pieces.len()).collect();
    let stop = StopConditions::default().strings(stop);
    let request = GenerateRequest::new([]).seed(0).stop(stop).max_tokens(max_tokens);
    let mut shown = Vec::new();
    let mut on_text = |delta: &str| {
        shown.push(delta.to_owned());
        ControlFlow::Continue(())
    };
    let hooks = Hooks::new().on_text(&mut on_text);
    let done = generate(&request, script(&tokens, &order), None, &tokens, hooks).unwrap();
    assert_eq!(shown.concat(), done.text, "streamed and whole text are equal");
    (shown, done.finish_reason, done.usage.completion_tokens)
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|s| s.as_str().unwrap().to_owned()).collect()
}

fn from_hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()
}

fn check_stops(case: &Value) {
    let stop = strings(&case["input"]["stop"]);
    let runs = case["input"]["runs"].as_array().unwrap();
    for (run, expected) in runs.iter().zip(case["expected"].as_array().unwrap()) {
        let pieces: Vec<_> = strings(run).into_iter().map(String::into_bytes).collect();
        let (shown, reason, _) = stream(&pieces, &stop, 100);
        let reason = if reason == FinishReason::StopString { "stop" } else { "eos" };
        assert_eq!(serde_json::json!([shown.concat(), reason]), *expected, "{run}");
    }
}

fn check_utf8(case: &Value) {
    let pieces = |name: &str| -> Vec<_> { strings(&case["input"][name]).iter().map(|hex| from_hex(hex)).collect() };
    let (shown, _, _) = stream(&pieces("token_bytes_hex"), &[], 100);
    assert_eq!(shown.concat(), case["expected"].as_str().unwrap());
    assert!(!shown.concat().contains('\u{fffd}'));
    let truncated = pieces("truncated_run_hex");
    let (shown, reason, _) = stream(&truncated, &[], truncated.len());
    assert_eq!((shown.concat().as_str(), reason), ("A\u{fffd}", FinishReason::MaxTokens));
}

#[test]
fn every_stop_case() {
    for case in cases().unwrap_or_default() {
        match case["id"].as_str().unwrap() {
            "stop-prefix-held-back" => check_stops(&case),
            "utf8-split-across-tokens" => check_utf8(&case),
            other => panic!("nothing here checks the case {other}"),
        }
    }
}

#[test]
fn only_what_may_become_a_stop_is_held() {
    let pieces = ["one", " <", "e", "nd", "ing", "> <end", ">two"].map(|p| p.as_bytes().to_vec());
    let (shown, reason, used) = stream(&pieces, &["<end>".into()], 100);
    assert_eq!(shown, ["one", " ", "<ending", "> "]);
    assert_eq!((reason, used), (FinishReason::StopString, 7));
}

#[test]
fn a_held_tail_is_shown_once_at_the_end() {
    let pieces = ["x<", "en"].map(|p| p.as_bytes().to_vec());
    let (shown, reason, _) = stream(&pieces, &["<end>".into()], 100);
    assert_eq!((shown, reason), (vec!["x".to_owned(), "<en".to_owned()], FinishReason::Eos));
}

#[test]
fn characters_wait_for_their_last_byte() {
    let pieces = [vec![b'a', 0xc3], vec![0xa9, 0xf0], vec![0x9f, 0x98], vec![0x80]];
    let (shown, _, _) = stream(&pieces, &[], 100);
    assert_eq!(shown, ["a", "é", "😀"]);
}
