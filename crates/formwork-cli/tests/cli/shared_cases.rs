//! The reference cases of JSON Schemas and regular expressions that are not part of the repository.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::formwork;

fn shared(file: &str) -> Option<PathBuf> {
    let root = std::env::var_os("FORMWORK_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let path = root.join(file);
    if path.is_file() {
        return Some(path);
    }
    eprintln!("SKIPPED: {} is not there (FORMWORK_SHARED names the folder)", path.display());
    None
}

#[test]
fn open_cases_are_right_or_refused() {
    let Some(path) = shared("cases/open.jsonl") else { return };
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = String::new();
    let mut cases = Vec::new();
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let constraint = match case["kind"].as_str() {
            Some("json_schema") => "schema",
            Some("regex") => "regex",
            _ => continue,
        };
        // Flexible whitespace, any order and any spelling of strings: what is rejected then is rejected for its content.
        let options = json!({"whitespace": {"flexible": 4}, "property_order": "any", "escapes": "any"});
        let options = if constraint == "schema" { options } else { json!({}) };
        let texts: Vec<&Value> =
            case["accept"].as_array().unwrap().iter().chain(case["reject"].as_array().unwrap()).collect();
        lines.push_str(
            &json!({"id": case["id"], constraint: case["input"], "options": options, "texts": texts}).to_string(),
        );
        lines.push('\n');
        cases.push(case);
    }
    let done = formwork(&["match", "--complete"], lines.as_bytes());
    assert_eq!((done.status, done.stderr.as_str()), (Some(0), ""));
    let mut faults = Vec::new();
    let mut right = 0;
    for (line, case) in done.stdout.lines().zip(&cases) {
        let answer: Value = serde_json::from_str(line).unwrap();
        if answer["compiled"] == false {
            eprintln!("{} refused: {}", case["id"], answer["error"]["message"]);
            if answer["error"]["code"] != "unsupported_keyword" {
                faults.push(format!("{}: {}", case["id"], answer["error"]));
            }
            continue;
        }
        right += 1;
        let accepted = case["accept"].as_array().unwrap().len();
        for (index, verdict) in answer["texts"].as_array().unwrap().iter().enumerate() {
            if verdict["complete"] != (index < accepted) {
                faults.push(format!("{}: text {index}: {verdict}", case["id"]));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(right > 8, "only {right} cases were decided");
}
