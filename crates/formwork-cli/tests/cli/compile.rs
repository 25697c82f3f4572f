//! `formwork compile`: what it says, and what it refuses.

use serde_json::Value;

use crate::{file, formwork, tokenizer};

const SCHEMA: &str = r#"{"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]}"#;

#[test]
fn says_what_compiling_took() {
    let folder = tempfile::tempdir().unwrap();
    let (schema, tokens) = (file(folder.path(), "s.json", SCHEMA), tokenizer(folder.path()));
    let done = formwork(&["compile", "--schema", &schema, "--tokenizer", &tokens], b"");
    assert_eq!((done.status, done.stderr.as_str()), (Some(0), ""));
    for (name, said) in [
        ("constraint", schema.as_str()),
        ("vocabulary", "266 tokens"),
        ("compile", " ms"),
        // {"  n  ":  Ġ  1  }
        ("shortest", "6 tokens"),
        ("tables", "bytes of at most 536,870,912"),
        ("masks", "bytes of at most 134,217,728"),
    ] {
        let line = done.stdout.lines().find(|line| line.starts_with(name));
        assert!(line.is_some_and(|line| line.contains(said)), "{name}: {}", done.stdout);
    }
}

#[test]
fn says_it_in_json() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = tokenizer(folder.path());
    let schema = file(folder.path(), "s.json", r#"{"type": "string", "format": "no-such", "maxLenght": 3}"#);
    let done = formwork(&["compile", "--schema", &schema, "--tokenizer", &tokens, "--json"], b"");
    assert_eq!((done.status, done.stderr.as_str()), (Some(0), ""));
    let said: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(said["shortest_completion_tokens"], 2, "{said}");
    assert_eq!(said["tables"]["limit"], 1 << 29);
    assert!(said["tables"]["bytes"].as_u64() > Some(0) && said["states"].as_u64() > Some(0), "{said}");
    assert!(said["compile_us"].is_number() && said["masks"] == 1 && said["undecided"] == 0, "{said}");
    assert_eq!(said["warnings"].as_array().map(Vec::len), Some(2), "{said}");

    let done = formwork(&["compile", "--regex", "[a-c]{2,4}", "--tokenizer", &tokens, "--json"], b"");
    let said: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!((&said["shortest_completion_tokens"], &said["tables"]["limit"]), (&2.into(), &Value::Null));
}

#[test]
fn warnings_go_beside_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = tokenizer(folder.path());
    let schema = file(folder.path(), "s.json", r#"{"type": "string", "maxLenght": 3}"#);
    let done = formwork(&["compile", "--schema", &schema, "--tokenizer", &tokens], b"");
    assert_eq!(done.status, Some(0));
    assert!(done.stderr.starts_with(&format!("formwork: warning: {schema}: ")), "{}", done.stderr);
}

#[test]
fn refuses_what_has_no_text() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = tokenizer(folder.path());
    let never = file(folder.path(), "never.json", r#"{"type": "string", "minLength": 2, "maxLength": 1}"#);
    let done = formwork(&["compile", "--schema", &never, "--tokenizer", &tokens], b"");
    assert!(done.refused().contains("no value can satisfy the schema"));
    let done = formwork(&["compile", "--schema", &never, "--tokenizer", &tokens, "--json"], b"");
    let said: Value = serde_json::from_str(&done.stderr).unwrap();
    assert_eq!((done.status, &said["error"]["code"]), (Some(2), &"unsatisfiable".into()));
    let done = formwork(&["compile", "--tokenizer", &tokens], b"");
    assert!(done.refused().starts_with("there is nothing to compile"));
}
