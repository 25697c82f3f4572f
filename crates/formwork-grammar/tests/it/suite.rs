//! Every schema of the official JSON-Schema-Test-Suite is read as it is meant, but for the cases listed here.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use formwork_grammar::{Draft, Format, SchemaOptions, schema_from_value};
use serde_json::Value;

use crate::evaluate::is_valid;

/// Draft, file and test of what is judged otherwise, with the reason.
const OTHERWISE: &[(&str, &str, &str, &str)] = &[
    ("draft7", "optional/content.json", "an invalid JSON document", CONTENT),
    ("draft7", "optional/content.json", "an invalid base64 string (% is not a valid character)", CONTENT),
];

const CONTENT: &str = "like formats, content is read here and judged by its automaton";

/// The group that is refused, and why.
const REFUSED: &str = "draft7 optional/content.json \"validation of binary-encoded media type documents\": `contentMediaType` at \
    /contentMediaType is not supported: JSON inside Base64 has no practical automaton";

#[expect(clippy::print_stderr, reason = "a skipped check must be seen")]
fn shared() -> Option<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let shared = std::env::var_os("FORMWORK_SHARED").map_or_else(|| root.join("../shared"), PathBuf::from);
    if shared.join("data").is_dir() {
        return Some(shared);
    }
    eprintln!("SKIPPED: {} has no folder data; FORMWORK_SHARED names the one that has", shared.display());
    None
}

#[test]
fn every_schema_of_the_official_suite_is_read_as_it_is_meant() {
    let Some(shared) = shared() else { return };
    let remotes = std::fs::read_to_string(shared.join("data/json_schema_suite_remotes.json")).unwrap();
    let remotes: serde_json::Map<String, Value> = serde_json::from_str(&remotes).unwrap();
    let options = remotes.into_iter().fold(SchemaOptions::default(), |o, (uri, document)| o.document(uri, document));
    let suite = std::fs::File::open(shared.join("data/json_schema_suite.jsonl.xz")).unwrap();
    let (mut groups, mut refused, mut otherwise) = (0, Vec::new(), BTreeSet::new());
    for line in BufReader::new(xz2::read::XzDecoder::new(suite)).lines() {
        groups += 1;
        let case: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let text = |name: &str| case[name].as_str().unwrap();
        let (draft, file, group) = (text("draft"), text("file"), text("group"));
        // What formats say is not decided here.
        let formats = file.starts_with("optional/format");
        let options = options
            .clone()
            .draft(Draft::from_name(draft.trim_start_matches("draft")).unwrap())
            .format(if formats { Format::Enforce } else { Format::Annotate });
        let schema = match schema_from_value(&case["schema"], &options) {
            Ok(schema) => schema,
            Err(error) => {
                refused.push(format!("{draft} {file} {group:?}: {error}"));
                continue;
            }
        };
        for test in case["tests"].as_array().unwrap().iter().filter(|_| !formats) {
            if is_valid(&schema, &test["data"]) != test["valid"].as_bool().unwrap() {
                otherwise.insert(format!("{draft} {file}: {}", test["description"].as_str().unwrap()));
            }
        }
    }
    assert!(groups > 1_500, "only {groups} groups");
    assert_eq!(refused, [REFUSED]);
    let listed: BTreeSet<String> =
        OTHERWISE.iter().map(|(draft, file, test, _)| format!("{draft} {file}: {test}")).collect();
    assert_eq!(otherwise, listed);
}
