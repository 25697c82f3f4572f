//! Every schema of the official JSON-Schema-Test-Suite is read, or refused for a reason listed here.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use formwork_grammar::{Draft, SchemaOptions, schema_from_value};
use serde_json::Value;

/// Draft, file, group and code of the schemas that are refused, with the reason.
const REFUSED: &[(&str, &str, &str, &str, &str)] = &[];

fn shared() -> Option<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let shared = std::env::var_os("FORMWORK_SHARED").map_or_else(|| root.join("../shared"), PathBuf::from);
    if shared.is_dir() {
        return Some(shared);
    }
    println!("SKIPPED: {} isn't there; set FORMWORK_SHARED to the folder with data/", shared.display());
    None
}

#[test]
fn every_schema_of_the_official_suite_is_read() {
    let Some(shared) = shared() else { return };
    let remotes = std::fs::read_to_string(shared.join("data/json_schema_suite_remotes.json")).unwrap();
    let remotes: serde_json::Map<String, Value> = serde_json::from_str(&remotes).unwrap();
    let mut options = SchemaOptions::default();
    for (uri, document) in remotes {
        options = options.document(uri, document);
    }
    let suite = std::fs::File::open(shared.join("data/json_schema_suite.jsonl.xz")).unwrap();
    let mut expected: BTreeMap<String, &str> =
        REFUSED.iter().map(|(draft, file, group, code, _)| (format!("{draft} {file} {group}"), *code)).collect();
    let (mut groups, mut wrong) = (0, Vec::new());
    for line in BufReader::new(xz2::read::XzDecoder::new(suite)).lines() {
        let case: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let text = |name: &str| case[name].as_str().unwrap();
        let (draft, file, group) = (text("draft"), text("file"), text("group"));
        let options = options.clone().draft(Draft::from_name(draft.trim_start_matches("draft")).unwrap());
        let found = schema_from_value(&case["schema"], &options).err();
        let listed = expected.remove(&format!("{draft} {file} {group}"));
        if found.as_ref().map(formwork_grammar::Error::code) != listed {
            wrong.push(format!("{draft} {file} {group:?}: {found:?}, expected {listed:?}"));
        }
        groups += 1;
    }
    assert!(groups > 1_000, "only {groups} groups");
    assert!(expected.is_empty(), "listed but not in the suite: {expected:?}");
    assert!(wrong.is_empty(), "{} of {groups}:\n{}", wrong.len(), wrong.join("\n"));
}
