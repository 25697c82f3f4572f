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

#[test]
fn computes_masks_ahead_of_time_and_keeps_them() {
    let folder = tempfile::tempdir().unwrap();
    let (schema, tokens) = (file(folder.path(), "s.json", SCHEMA), tokenizer(folder.path()));
    let output = folder.path().join("s.artefact").display().to_string();
    let flags = ["compile", "--schema", &schema, "--tokenizer", &tokens, "--precompute", "-o", &output];
    let json = [&flags[..], &["--json"]].concat();
    let done = formwork(&json, b"");
    assert_eq!((done.status, done.stderr.as_str()), (Some(0), ""));
    let said: Value = serde_json::from_str(&done.stdout).unwrap();
    let found = &said["precomputed"];
    assert!(found["covered"].as_u64() > Some(20), "{said}");
    // The few tokens that the keys used so far decide are read anew.
    assert!(found["dynamic"] == 0 && found["masks"].as_u64() > Some(0), "{said}");
    assert_eq!((&found["limit"], &found["max_states"]), (&(64 << 20).into(), &100_000.into()), "{said}");
    let first = std::fs::read(&output).unwrap();
    assert_eq!(said["artefact"]["bytes"], first.len(), "{said}");

    let done = formwork(&flags, b"");
    assert_eq!(done.status, Some(0), "{}", done.stderr);
    for said in ["precomputed", "mask keys", "bytes of at most 67,108,864", "states of at most 100,000", "read in"] {
        assert!(done.stdout.contains(said), "{said}: {}", done.stdout);
    }
    assert!(std::fs::read(&output).unwrap() == first, "the same constraint gives the same bytes");
}

#[test]
fn bounds_on_what_is_computed_ahead_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = tokenizer(folder.path());
    let tree = r##"{"type": "object", "properties": {"a": {"type": "array", "items": {"$ref": "#"}}}}"##;
    let schema = file(folder.path(), "tree.json", tree);
    let said = |flags: &[&str]| -> Value {
        let flags =
            [&["compile", "--schema", &schema, "--tokenizer", &tokens, "--precompute", "--json"], flags].concat();
        let done = formwork(&flags, b"");
        assert_eq!(done.status, Some(0), "{}", done.stderr);
        serde_json::from_str::<Value>(&done.stdout).unwrap()["precomputed"].clone()
    };
    let found = said(&["--max-states", "300"]);
    assert_eq!((&found["bound"], &found["states"]), (&"states".into(), &300.into()), "{found}");
    assert!(found["covered"].as_u64() < found["total"].as_u64(), "{found}");
    assert_eq!(said(&["--max-bytes", "3000"])["bound"], "bytes");
}

#[test]
fn an_artefact_that_cannot_be_written_is_said_first() {
    let folder = tempfile::tempdir().unwrap();
    let (schema, tokens) = (file(folder.path(), "s.json", SCHEMA), tokenizer(folder.path()));
    let output = folder.path().join("no/s.artefact").display().to_string();
    let done = formwork(&["compile", "--schema", &schema, "--tokenizer", &tokens, "-o", &output], b"");
    assert_eq!(done.refused(), format!("the artefact {output} can't be written: no such file or directory"));
}
