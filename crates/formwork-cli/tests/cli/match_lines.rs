//! `formwork match`.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::{formwork, tokenizer};

/// Answers to requests, each of them one line.
fn answers(flags: &[&str], requests: &[Value]) -> Vec<Value> {
    let lines = requests.iter().map(Value::to_string).collect::<Vec<_>>().join("\n") + "\n";
    let args: Vec<&str> = std::iter::once("match").chain(flags.iter().copied()).collect();
    let done = formwork(&args, lines.as_bytes());
    assert_eq!((done.status, done.stderr.as_str()), (Some(0), ""));
    let answers: Vec<Value> = done.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), requests.len());
    answers
}

fn answer(flags: &[&str], request: Value) -> Value {
    answers(flags, &[request]).remove(0)
}

#[test]
fn verdicts() {
    let got =
        answer(&[], json!({"id": "a", "schema": {"type": "integer", "minimum": 10}, "texts": ["10", "9", "1.5", ""]}));
    assert_eq!(
        got,
        json!({
            "id": "a",
            "compiled": true,
            "texts": [
                {"complete": true, "rejected_at": null},
                {"complete": false, "rejected_at": null},
                {"complete": false, "rejected_at": 1},
                {"complete": false, "rejected_at": null},
            ],
            "narrowed": [],
            "undecided": 0,
        })
    );
    let got = answer(&[], json!({"id": null, "regex": "é+", "texts": ["éé", "éa"]}));
    assert_eq!(got["texts"], json!([{"complete": true, "rejected_at": null}, {"complete": false, "rejected_at": 2}]));
}

#[test]
fn options_are_applied() {
    let schema = json!({"type": "array", "items": {"type": "null"}});
    let texts = json!(["[null,null]", "[null, null]"]);
    let got = answer(&[], json!({"schema": schema, "options": {"whitespace": "compact"}, "texts": texts}));
    assert_eq!(got["texts"][0]["complete"], true);
    assert_eq!(got["texts"][1]["rejected_at"], 6);
    let got = answer(&[], json!({"schema": schema, "options": {"white": 1}, "texts": texts}));
    assert_eq!((&got["compiled"], &got["error"]["code"]), (&json!(false), &json!("invalid_option")));
}

#[test]
fn trailing_blanks_pass_under_flexible_whitespace() {
    let texts = json!(["[] ", "[]  ", "[]   ", "[] x", "[] \n", "1 "]);
    let schema = json!({"type": ["array", "integer"]});
    let got = answer(&[], json!({"schema": schema, "options": {"whitespace": {"flexible": 2}}, "texts": texts}));
    let verdicts: Vec<(&Value, &Value)> =
        got["texts"].as_array().unwrap().iter().map(|t| (&t["complete"], &t["rejected_at"])).collect();
    let whole = (&json!(true), &json!(null));
    assert_eq!(verdicts, [whole, whole, (&json!(false), &json!(4)), (&json!(false), &json!(3)), whole, whole]);
    let got = answer(&[], json!({"schema": schema, "texts": ["[] "]}));
    assert_eq!(got["texts"][0]["rejected_at"], 2);
}

#[test]
fn completions() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "string", "minLength": 2}}, "required": ["n"], "additionalProperties": false});
    let got = answer(
        &["--complete"],
        json!({"schema": schema, "texts": ["", "{\"n\": \"é", "{\"n\": 1}", "{\"n\": \"ab\"}"]}),
    );
    for (text, verdict) in
        ["", "{\"n\": \"é", "{\"n\": 1}", "{\"n\": \"ab\"}"].iter().zip(got["texts"].as_array().unwrap())
    {
        let at = usize::try_from(verdict["completion_at"].as_u64().unwrap()).unwrap();
        let whole = format!("{}{}", &text[..at], verdict["completion"].as_str().unwrap());
        let again = answer(&[], json!({"schema": schema, "texts": [whole]}));
        assert_eq!(again["texts"][0]["complete"], true, "{whole}");
    }
    // The accepted prefix ends inside a character: the completion goes on from where that one begins.
    let got = answer(&["--complete"], json!({"regex": "ab|aé", "texts": ["aè"]}));
    assert_eq!(got["texts"][0], json!({"complete": false, "rejected_at": 2, "completion": "b", "completion_at": 1}));
}

#[test]
fn constraints_that_are_refused() {
    let requests = [
        (
            json!({"schema": {"properties": {"a": {"pattern": "(a)\\1"}}}}),
            "regex_back_reference",
            json!("/properties/a/pattern"),
        ),
        (json!({"schema": {"type": "strnig"}}), "invalid_keyword", json!("/type")),
        (json!({"schema": {"$ref": "#/$defs/a"}}), "unresolved_reference", json!("/$ref")),
        (json!({"schema": "text"}), "not_a_schema", json!("")),
        (json!({"regex": "[a"}), "regex_syntax", json!(null)),
        (json!({"gbnf": "root ::= \"a\""}), "unsupported_constraint", json!(null)),
        (json!({"lark": "start: \"a\""}), "unsupported_constraint", json!(null)),
    ];
    for (request, code, pointer) in requests {
        let got = answer(&[], request.clone());
        assert_eq!(got["compiled"], false, "{request}");
        assert_eq!((&got["error"]["code"], &got["error"]["pointer"]), (&json!(code), &pointer), "{request}");
        assert!(!got["error"]["message"].as_str().unwrap().is_empty());
        assert!(got.get("texts").is_none());
    }
    let got = answer(&[], json!({"regex": "ab[c"}));
    assert_eq!((&got["error"]["line"], &got["error"]["column"]), (&json!(1), &json!(3)));
}

#[test]
fn contradictions_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let file = tokenizer(folder.path());
    let request = json!({"id": 1, "schema": {"type": "object", "properties": {"a": false}, "required": ["a"]}, "texts": ["{}", ""]});
    let got = answer(&["--tokenizer", &file, "--oracle", "--complete"], request);
    assert_eq!(got["compiled"], true);
    assert_eq!(got["unsatisfiable"]["pointer"], "/properties/a");
    assert!(got["unsatisfiable"]["message"].as_str().unwrap().starts_with("no value can satisfy"));
    for verdict in got["texts"].as_array().unwrap() {
        assert_eq!(
            *verdict,
            json!({"complete": false, "rejected_at": 0, "completion": null, "completion_at": 0, "mask_rejected_at": 0, "eos_allowed": false, "eos_early": 0, "mask_errors": 0})
        );
    }
}

#[test]
fn masks_agree_with_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let file = tokenizer(folder.path());
    let schema = json!({"type": "object", "properties": {"a": {"type": ["boolean", "null"]}, "b": {"type": "array", "items": {"const": 12}}}, "additionalProperties": false});
    let texts = json!(["{\"a\": true, \"b\": [12, 12]}", "{}", "{\"a\": nul", "{\"a\": 12}", "{\"b\": [12]} "]);
    let got = answer(&["--tokenizer", &file, "--oracle"], json!({"schema": schema, "texts": texts}));
    for verdict in got["texts"].as_array().unwrap() {
        assert_eq!((&verdict["eos_early"], &verdict["mask_errors"]), (&json!(0), &json!(0)), "{verdict}");
        assert_eq!(verdict["eos_allowed"], verdict["complete"], "{verdict}");
        assert_eq!(verdict["mask_rejected_at"].is_null(), verdict["rejected_at"].is_null(), "{verdict}");
    }
    // {" a ": ␣ 12: the fifth token is the one that can't come.
    assert_eq!(got["texts"][3]["mask_rejected_at"], 4);
}

#[test]
fn text_that_no_token_spells() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokenizer.json");
    let tokenizer = json!({
        "added_tokens": [{"id": 3, "content": "</s>", "special": true}],
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false},
        "decoder": {"type": "ByteLevel"},
        "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "\"": 2}, "merges": []},
    });
    std::fs::write(&path, tokenizer.to_string()).unwrap();
    let file = path.display().to_string();
    let got = answer(&["--tokenizer", &file], json!({"regex": "[a-c]{3}", "texts": ["aba", "abc"]}));
    assert_eq!(
        got["texts"][0],
        json!({"complete": true, "rejected_at": null, "mask_rejected_at": null, "eos_allowed": true, "eos_early": 0})
    );
    assert_eq!(
        got["texts"][1],
        json!({"complete": true, "rejected_at": null, "mask_rejected_at": 2, "eos_allowed": false, "eos_early": 0})
    );
    // Emptied by the vocabulary: refused, naming the character.
    let got = answer(&["--tokenizer", &file], json!({"schema": {"const": "c"}, "texts": []}));
    assert_eq!((&got["compiled"], &got["error"]["code"]), (&json!(false), &json!("unspellable")));
}

#[test]
fn walks_are_whole_and_repeatable() {
    let schema = json!({"type": "array", "items": {"enum": ["a", 1, null]}, "maxItems": 4});
    let request = json!({"schema": schema, "walks": 40, "seed": 5});
    let got = answer(&[], request.clone());
    assert_eq!(got["texts"], json!([]));
    let walks = got["walks"].as_array().unwrap();
    assert_eq!(walks.len(), 40);
    assert!(got.get("walk_errors").is_none());
    let again = answer(&[], json!({"schema": schema, "texts": walks}));
    assert!(again["texts"].as_array().unwrap().iter().all(|t| t["complete"] == true));
    assert_eq!(answer(&[], request)["walks"], got["walks"]);
    assert_ne!(answer(&[], json!({"schema": schema, "walks": 40, "seed": 6}))["walks"], got["walks"]);
    // Endless texts are closed after 300 tokens.
    let got = answer(&[], json!({"regex": "a*b", "walks": 3}));
    assert!(got["walks"].as_array().unwrap().iter().all(|w| w.as_str().unwrap().ends_with('b')));
}

#[test]
fn malformed_lines_are_answered() {
    let lines = "{\"id\": 1, \"schema\": {}, \"texts\": [\"1\"]}\n\nnonsense\n{\"id\": 2, \"texts\": []}\n{\"id\": 3, \"regex\": \"a\", \"texts\": [\"a\"]}";
    let mut input = lines.as_bytes().to_vec();
    input.extend(b"\n\xff\xfe\n");
    let done = formwork(&["match"], &input);
    assert_eq!((done.status, done.stderr.as_str()), (Some(0), ""));
    let answers: Vec<Value> = done.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let compiled: Vec<(&Value, &Value)> = answers.iter().map(|a| (&a["id"], &a["compiled"])).collect();
    let (yes, no, none) = (json!(true), json!(false), Value::Null);
    assert_eq!(compiled, [(&json!(1), &yes), (&none, &no), (&json!(2), &no), (&json!(3), &yes), (&none, &no)]);
    assert_eq!(
        answers[1]["error"],
        json!({"code": "malformed_request", "line": 3, "column": 2, "message": "line 3 is not JSON at column 2: expected ident"})
    );
}

#[test]
fn lenient_keywords_and_warnings_are_listed() {
    let schema = json!({"type": "string", "pattern": "(a)\\1", "minimun": 3});
    let request = json!({"schema": schema, "options": {"lenient": true}, "texts": ["\"b\""], "note": 1});
    let got = answer(&[], request);
    assert_eq!(got["texts"][0]["complete"], true);
    assert_eq!(got["relaxed"][0]["pointer"], "/pattern");
    let messages: Vec<&str> =
        got["warnings"].as_array().unwrap().iter().map(|w| w["message"].as_str().unwrap()).collect();
    assert_eq!(
        messages,
        [
            "the request's field `note` is unknown and ignored",
            "`minimun` is no keyword and is ignored; did you mean `minimum`?"
        ]
    );
}

#[test]
fn a_reader_that_leaves_ends_it_with_a_sentence() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_formwork"))
        .arg("match")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let line = "{\"regex\": \"a\", \"texts\": [\"a\"]}\n";
    stdin.write_all(line.as_bytes()).unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut answer = String::new();
    // Each line is answered at once.
    stdout.read_line(&mut answer).unwrap();
    assert!(answer.starts_with("{\"id\":null,\"compiled\":true"));
    drop(stdout);
    let _ = stdin.write_all(line.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(said, "formwork: the output was closed before all of it was written\n");
}
