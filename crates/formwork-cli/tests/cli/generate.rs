//! `formwork generate` and `formwork model`: what needs no model, and what does where one is in the cache.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::{Done, file, formwork, run, tokenizer};

/// Runs where no model is and none can be fetched.
fn without_model(args: &[&str]) -> Done {
    let folder = tempfile::tempdir().unwrap();
    run(
        Command::new(env!("CARGO_BIN_EXE_formwork")).args(args).env("FORMWORK_CACHE", folder.path()).env("PATH", ""),
        b"",
    )
}

#[test]
fn requests_that_cannot_be_served_need_no_model() {
    let folder = tempfile::tempdir().unwrap();
    let good = file(folder.path(), "good.json", "{\"type\": \"integer\"}");
    let broken = file(folder.path(), "broken.json", "{\n  \"type\": integer\n}");
    let never = file(
        folder.path(),
        "never.json",
        "{\"properties\": {\"a\": {\"type\": \"string\", \"minLength\": 2, \"maxLength\": 1}}, \"required\": [\"a\"], \"type\": \"object\"}",
    );
    let not = file(folder.path(), "not.json", r#"{"pattern": "(a)\\1"}"#);
    let array = file(folder.path(), "array.json", "[]");
    let nowhere = file(folder.path(), "nowhere.json", "{\"$ref\": \"#/$defs/x\"}");
    let binary = folder.path().join("binary.json");
    std::fs::write(&binary, b"{\"\xff\"").unwrap();
    let binary = binary.display().to_string();
    let empty = format!("@{}", file(folder.path(), "empty.txt", " \n"));
    let cases: &[(&[&str], &str)] = &[
        (&["--schema", &broken], "is not JSON at line 2, column 11"),
        (&["--schema", &never], "no value can satisfy the schema at /properties/a"),
        (&["--schema", &not], "the pattern at /pattern can't be used: back-references"),
        (&["--schema", &array], "is an array, but must be an object or a boolean"),
        (&["--schema", &nowhere], "`$ref` at /$ref points to \"#/$defs/x\""),
        (&["--schema", &binary], "is not UTF-8 at byte 2"),
        (&["--schema", "/no/such.json"], "/no/such.json can't be read: no such file or directory"),
        (&["--regex", "[a"], "the regular expression can't be read"),
        (&["--regex", "a[a&&b]"], "no text matches the regular expression"),
        (&["--gbnf", &good], "`gbnf` constraints are not supported yet; use --schema or --regex"),
        (&["--lark", &good], "`lark` constraints are not supported yet; use --schema or --regex"),
        (&["--schema", &good, "--regex", "a"], "cannot be used with"),
        (&["--regex", "a", "--whitespace", "compact"], "--whitespace is an option of a JSON Schema"),
        (&["--schema", &good, "--whitespace", "tight"], "the option `whitespace` is not valid"),
        (&["--schema", &good, "--limits", "depth"], "--limits depth is not NAME=VALUE"),
        (&["--schema", &good, "--temperature", "-1"], "unexpected argument '-1'"),
        (&["--schema", &good, "--temperature=-1"], "`temperature` is -1, but must be"),
        (&["--schema", &good, "--top-p", "1.5"], "`top_p` is 1.5, but must be a number from 0 to 1"),
        (&["--schema", &good, "--order", "top_k,topp"], "unknown stage `topp`"),
        (&["--schema", &good, "--preset", "ollama"], "--preset ollama is no engine"),
        (&["--schema", &good, "--logit-bias", "a"], "--logit-bias a is not ID=BIAS"),
        (&["--schema", &good, "--n", "0"], "--n 0 asks for nothing"),
        (&["--schema", &good, "--report", "/no/such/report.json"], "the report /no/such/report.json can't be written"),
        (&["--schema", &good, "--model", "no model"], "\"no model\" names no model"),
        (&["--schema", &good, "--model", "./no.gguf"], "there is no file ./no.gguf"),
        (&["--schema", &good, "--model", &good], "is not a GGUF model file"),
    ];
    for (flags, said) in cases {
        let args: Vec<&str> = ["generate", "--prompt", "p"].iter().chain(*flags).copied().collect();
        let done = without_model(&args);
        let sentence = done.refused();
        assert!(sentence.contains(said), "{flags:?}: {sentence}");
    }
    for (prompt, said) in
        [("", "the prompt given by --prompt is empty"), (&empty, "is empty"), ("@/no/such", "can't be read")]
    {
        let done = without_model(&["generate", "--schema", &good, "--prompt", prompt]);
        assert!(done.refused().contains(said), "{}", done.stderr);
    }
    let done = without_model(&["generate", "--schema", &good]);
    assert!(done.refused().contains("--prompt"), "{}", done.stderr);
}

#[test]
fn errors_come_as_json_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let not = file(folder.path(), "not.json", r#"{"pattern": "(a)\\1"}"#);
    let done = without_model(&["generate", "--prompt", "p", "--schema", &not, "--json"]);
    assert_eq!((done.status, done.stdout.as_str()), (Some(2), ""));
    let error: Value = serde_json::from_str(&done.stderr).unwrap();
    assert_eq!(
        (&error["error"]["code"], &error["error"]["pointer"]),
        (&json!("regex_back_reference"), &json!("/pattern"))
    );
}

#[test]
fn artefacts_that_do_not_belong_are_refused_without_a_model() {
    let folder = tempfile::tempdir().unwrap();
    let (schema, tokens) = (file(folder.path(), "s.json", PERSON), tokenizer(folder.path()));
    let artefact = folder.path().join("s.artefact").display().to_string();
    let made = formwork(&["compile", "--schema", &schema, "--tokenizer", &tokens, "-o", &artefact], b"");
    assert_eq!(made.status, Some(0), "{}", made.stderr);
    let good = std::fs::read(&artefact).unwrap();
    let other = file(folder.path(), "other.json", "{\"type\": \"integer\"}");
    let refused = |flags: &[&str], said: &str| {
        let args = [&["generate", "--prompt", "p", "--artefact", &artefact], flags].concat();
        let sentence = without_model(&args).refused().to_owned();
        assert!(sentence.contains(&artefact) && sentence.contains(said), "{flags:?}: {sentence}");
    };
    refused(&["--schema", &other], "was made for another constraint");
    refused(&["--schema", &schema, "--whitespace", "compact"], "or for other options");
    refused(&["--regex", "a"], "was made for another constraint");
    let changed = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] ^= byte;
        std::fs::write(&artefact, bytes).unwrap();
    };
    changed(16, 8);
    refused(&["--schema", &schema], "was made by Formwork 8.1.0");
    changed(good.len() - 1, 1);
    refused(&["--schema", &schema], "its checksum doesn't fit its content");
    std::fs::write(&artefact, &good[..good.len() - 1]).unwrap();
    refused(&["--schema", &schema], "is damaged: it ends after");
    std::fs::write(&artefact, "{}").unwrap();
    refused(&["--schema", &schema], "is no artefact of `formwork compile`; give the file");
    std::fs::remove_file(&artefact).unwrap();
    refused(&["--schema", &schema], "can't be read: no such file or directory");
    let done = without_model(&["generate", "--prompt", "p", "--artefact", &artefact]);
    assert!(done.refused().contains("--schema"), "{}", done.stderr);
}

#[test]
fn the_default_models_place() {
    let done = without_model(&["model", "path"]);
    assert_eq!(done.status, Some(1));
    assert!(Path::new(done.stdout.trim_end()).extension().is_some_and(|e| e == "gguf"));
    assert!(done.stderr.contains("`formwork model pull` fetches it"));
}

/// Whether the default model is in the cache; says so loudly where it is not.
fn has_model() -> bool {
    let there = formwork(&["model", "path"], b"").status == Some(0);
    if !there {
        eprintln!("SKIPPED: the default model is not in the cache (`formwork model pull` fetches it)");
    }
    there
}

const PERSON: &str = r#"{"type": "object", "properties": {"name": {"type": "string", "maxLength": 20}, "age": {"type": "integer", "minimum": 0, "maximum": 120}}, "required": ["name", "age"], "additionalProperties": false}"#;

#[test]
fn text_alone_on_standard_output_and_a_report() {
    if !has_model() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let schema = file(folder.path(), "schema.json", PERSON);
    let report = folder.path().join("report.json");
    let args =
        ["generate", "--schema", &schema, "--prompt", "Ada, 36", "--seed", "3", "--max-tokens", "60", "--report"];
    let args: Vec<&str> = args.into_iter().chain([report.to_str().unwrap()]).collect();
    let done = formwork(&args, b"");
    assert_eq!((done.status, done.stderr.as_str()), (Some(0), ""));
    let value: Value = serde_json::from_str(&done.stdout).unwrap();
    assert!(value["name"].is_string() && value["age"].is_u64());
    let report: Value = serde_json::from_slice(&std::fs::read(&report).unwrap()).unwrap();
    assert_eq!(report["text"].as_str(), Some(done.stdout.trim_end_matches('\n')));
    assert_eq!((&report["finish_reason"], &report["parse"]["status"]), (&json!("grammar"), &json!("ok")));
    assert_eq!(report["validation"]["status"], "valid");
    assert_eq!(report["reproduce"]["seed"], 3);
    assert_eq!(report["reproduce"]["model"]["sha256"].as_str().unwrap().len(), 64);
    assert_eq!(formwork(&args, b"").stdout, done.stdout, "the same seed gives the same text");
    let streamed: Vec<&str> = args.iter().copied().chain(["--stream"]).collect();
    assert_eq!(formwork(&streamed, b"").stdout, done.stdout, "streaming gives the same text");
}

#[test]
fn several_texts_and_reports_as_lines() {
    if !has_model() {
        return;
    }
    let args = ["generate", "--regex", "[a-z]{3,6}", "--prompt", "-", "--n", "2", "--json", "--seed", "1"];
    let done = formwork(&args, "Name a pet.".as_bytes());
    assert_eq!(done.status, Some(0), "{}", done.stderr);
    let reports: Vec<Value> = done.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(reports.len(), 2);
    for report in &reports {
        let text = report["text"].as_str().unwrap();
        assert!((3..=6).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_lowercase()), "{text:?}");
        assert_eq!(report["parse"]["status"], "not_applicable");
    }
}

#[test]
fn with_an_artefact_no_mask_is_computed_and_the_tokens_are_the_same() {
    if !has_model() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (schema, tokens) = (file(folder.path(), "schema.json", PERSON), tokenizer(folder.path()));
    let artefact = folder.path().join("schema.artefact").display().to_string();
    let made = formwork(&["compile", "--schema", &schema, "--precompute", "-o", &artefact], b"");
    assert_eq!(made.status, Some(0), "{}", made.stderr);
    let args = ["generate", "--schema", &schema, "--prompt", "Ada, 36", "--seed", "3", "--max-tokens", "60", "--json"];
    let report = |flags: &[&str]| -> Value {
        let done = formwork(&[&args[..], flags].concat(), b"");
        assert_eq!(done.status, Some(0), "{}", done.stderr);
        serde_json::from_str(&done.stdout).unwrap()
    };
    let (with, without) = (report(&["--artefact", &artefact]), report(&[]));
    assert_eq!(with["reproduce"]["output_ids"], without["reproduce"]["output_ids"]);
    assert_eq!(with["usage"]["masks_computed"], 0, "{}", with["usage"]);
    assert!(without["usage"]["masks_computed"].as_u64() > Some(0), "{}", without["usage"]);

    let made = formwork(&["compile", "--schema", &schema, "--tokenizer", &tokens, "-o", &artefact], b"");
    assert_eq!(made.status, Some(0), "{}", made.stderr);
    let done = formwork(&[&args[..], &["--artefact", &artefact]].concat(), b"");
    assert_eq!((done.status, done.stdout.as_str()), (Some(2), ""));
    assert!(done.stderr.contains("was made for another tokenizer"), "{}", done.stderr);
}

#[test]
fn a_cut_text_is_incomplete() {
    if !has_model() {
        return;
    }
    let done = formwork(&["generate", "--prompt", "Tell me a long story.", "--max-tokens", "3", "--seed", "1"], b"");
    assert_eq!(done.status, Some(1));
    assert!(!done.stdout.is_empty());
    assert_eq!(done.stderr, "formwork: the text was cut after 3 tokens; raise --max-tokens for more\n");
}

#[test]
fn budgets_and_prompts_that_do_not_fit() {
    if !has_model() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let schema = file(folder.path(), "schema.json", PERSON);
    let done = formwork(&["generate", "--schema", &schema, "--prompt", "p", "--max-tokens", "2"], b"");
    assert!(done.refused().contains("the shortest text that the constraint allows needs"), "{}", done.stderr);
    let long = format!("@{}", file(folder.path(), "long.txt", &"word ".repeat(20_000)));
    let done = formwork(&["generate", "--schema", &schema, "--prompt", &long], b"");
    assert!(done.refused().contains("fit the model's context"), "{}", done.stderr);
}

#[cfg(unix)]
#[test]
fn an_interrupted_generation_leaves_a_report() {
    if !has_model() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.json");
    let mut child = Command::new(env!("CARGO_BIN_EXE_formwork"))
        .args(["generate", "--prompt", "Tell me a long story.", "--stream"])
        .args(["--max-tokens", "2000", "--min-tokens", "1500", "--report"])
        .arg(&report)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The first text is there: it is generating.
    let mut first = [0];
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let report: Value = serde_json::from_slice(&std::fs::read(&report).unwrap()).unwrap();
    assert_eq!(report["finish_reason"], "cancelled");
}
