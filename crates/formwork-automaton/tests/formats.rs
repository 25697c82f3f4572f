//! The languages of the string formats: own cases, the official suite's, and random texts that a validator must accept.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use formwork_automaton::{ByteSet, Lang, LangLimits, Langs};
use formwork_grammar::StringFormat;
use serde_json::{Value, json};

fn langs() -> Langs {
    Langs::new(ByteSet::all(), LangLimits::default())
}

fn lang(langs: &Langs, format: StringFormat) -> Lang {
    langs.format(format).unwrap_or_else(|e| panic!("{}: {e}", format.name()))
}

/// Drafts in which all formats are checked by the validator.
fn validator(format: StringFormat) -> jsonschema::Validator {
    jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .should_validate_formats(true)
        .build(&json!({"format": format.name()}))
        .expect("a schema with one format is valid")
}

#[test]
fn names_are_read_back() {
    for format in StringFormat::ALL {
        assert_eq!(StringFormat::from_name(format.name()), Some(format));
    }
}

/// `FORMWORK_SHARED`, or `../shared` from the project's root.
fn suite() -> Option<String> {
    let shared = std::env::var_os("FORMWORK_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let path = shared.join("data/json_schema_suite.jsonl.xz");
    let Ok(packed) = std::fs::File::open(&path) else {
        eprintln!("SKIPPED: the official suite is not at {}; set FORMWORK_SHARED to its folder", path.display());
        return None;
    };
    match Command::new("xz").arg("-dc").stdin(packed).stderr(Stdio::inherit()).output() {
        Ok(output) if output.status.success() => Some(String::from_utf8(output.stdout).expect("the suite is UTF-8")),
        other => {
            eprintln!("SKIPPED: `xz -dc` could not unpack {}: {other:?}", path.display());
            None
        }
    }
}

/// Right, wrongly accepted, wrongly refused.
#[derive(Default)]
struct Tally {
    right: usize,
    accepted: Vec<String>,
    refused: Vec<String>,
}

#[test]
fn official_suite() {
    let Some(suite) = suite() else { return };
    let langs = langs();
    let mut tallies: BTreeMap<StringFormat, Tally> = BTreeMap::new();
    for line in suite.lines() {
        let group: Value = serde_json::from_str(line).expect("each line is JSON");
        if !group["file"].as_str().is_some_and(|file| file.starts_with("optional/format/")) {
            continue;
        }
        let Some(schema) = group["schema"].as_object() else { continue };
        let Some(format) = schema.get("format").and_then(Value::as_str).and_then(StringFormat::from_name) else {
            continue;
        };
        if schema.keys().any(|key| !matches!(key.as_str(), "$schema" | "$comment" | "format")) {
            continue;
        }
        let lang = lang(&langs, format);
        let tally = tallies.entry(format).or_default();
        for test in group["tests"].as_array().into_iter().flatten() {
            let Some(text) = test["data"].as_str() else { continue };
            let case = || format!("{} {:?} ({})", group["draft"], text, test["description"]);
            match (langs.contains(lang, text), test["valid"].as_bool()) {
                (true, Some(false)) => tally.accepted.push(case()),
                (false, Some(true)) => tally.refused.push(case()),
                _ => tally.right += 1,
            }
        }
    }
    let mut wrong = Vec::new();
    let mut report = Vec::new();
    for (format, tally) in &tallies {
        let (right, refused) = (tally.right, tally.refused.len());
        let _ = writeln!(report, "{:24}{right:5} right {refused:4} narrowed", format.name());
        wrong.extend(tally.accepted.iter().map(|case| format!("{} accepts {case}", format.name())));
        if format.narrowed().is_none() {
            wrong.extend(tally.refused.iter().map(|case| format!("{} refuses {case}", format.name())));
        } else {
            for case in &tally.refused {
                let _ = writeln!(report, "    left out: {case}");
            }
        }
    }
    eprintln!("{}", String::from_utf8_lossy(&report));
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(tallies.len(), StringFormat::ALL.len(), "every format is in the suite");
    assert_eq!(langs.undecided(), 0);
}

/// A small generator of its own, so that a failure can be met again.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % bound
    }
}

/// Walks at random through live states, then takes the shortest way out.
fn sample(langs: &Langs, lang: Lang, random: &mut Random) -> String {
    let mut state = langs.start(lang).expect("no format is empty");
    let mut bytes = Vec::new();
    let length = [3, 12, 40, 120][random.below(4)];
    loop {
        if langs.is_accepting(state) && (bytes.len() >= length || random.below(12) == 0) {
            break;
        }
        let ways: Vec<(u8, _)> = if bytes.len() < length {
            (0..=u8::MAX).filter_map(|byte| Some((byte, langs.step(state, byte)?))).collect()
        } else {
            langs.shortest_next(state).into_iter().filter_map(|byte| Some((byte, langs.step(state, byte)?))).collect()
        };
        if ways.is_empty() {
            assert!(
                langs.is_accepting(state),
                "a live state goes on or accepts: {:?}",
                String::from_utf8_lossy(&bytes)
            );
            break;
        }
        let (byte, next) = ways[random.below(ways.len())];
        bytes.push(byte);
        state = next;
    }
    String::from_utf8(bytes).expect("texts are UTF-8")
}

/// Without the crate's `idna` feature the validator passes every text as `idn-hostname` and `idn-email`; `regex` and the rest
/// are checked in full.
#[test]
fn samples_are_valid() {
    let langs = langs();
    let mut random = Random(0x5EED);
    let mut wrong = Vec::new();
    for format in StringFormat::ALL {
        let lang = lang(&langs, format);
        let validator = validator(format);
        for _ in 0..300 {
            let text = sample(&langs, lang, &mut random);
            assert!(langs.contains(lang, &text));
            if !validator.is_valid(&json!(text)) {
                wrong.push(format!("{}: {text:?}", format.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{} refused:\n{}", wrong.len(), wrong.join("\n"));
}
