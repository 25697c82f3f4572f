//! Masks computed ahead of time: the same as those computed on the way, found in another process, and refused where they don't belong.

use std::sync::Arc;

use formwork_automaton::{JsonAutomaton, RegexAutomaton, Spelling};
use formwork_grammar::{PropertyOrder, Regex, SchemaOptions, Whitespace, parse_schema};
use formwork_mask::{Artefact, Bound, Code, CompiledConstraint, PrecomputeLimits, Vocabulary, oracle, precompute};

use crate::json::keyed;
use crate::vocabularies::Random;

const THIS: [u8; 32] = [7; 32];

fn compile(schema: &str, options: &SchemaOptions, vocabulary: &Vocabulary) -> CompiledConstraint {
    let longest_token = u32::try_from(vocabulary.longest_token()).unwrap();
    let spelling = Spelling { longest_token, ..Spelling::default() };
    let automaton = JsonAutomaton::new(parse_schema(schema, options).unwrap(), options, spelling).unwrap();
    CompiledConstraint::new(Arc::new(automaton), vocabulary).unwrap()
}

/// A small artefact, as bytes, and the constraint it belongs to.
fn small() -> (Vec<u8>, CompiledConstraint) {
    let schema = r#"{"type": "object", "properties": {"a": {"enum": [1, 2]}, "name": {"type": "boolean"}}}"#;
    let compiled = compile(schema, &SchemaOptions::default(), &keyed());
    let masks = precompute(&compiled, &PrecomputeLimits::default(), &mut |_| {}).unwrap();
    (masks.to_bytes(&compiled, &THIS), compiled)
}

/// Schemas whose states are few.
const FINITE: [&str; 6] = [
    r#"{"type": "object", "properties": {"a": true, "name": true}, "additionalProperties": false, "maxProperties": 1}"#,
    r##"{"type": "object", "properties": {"a": {"$ref": "#/$defs/p"}, "name": {"$ref": "#/$defs/p"}}, "additionalProperties": false,
        "$defs": {"p": {"type": "object", "properties": {"x": {"type": "string"}, "y": {"type": "integer"}}, "additionalProperties": false}}}"##,
    r#"{"type": "array", "items": {"type": "string", "pattern": "^[a-z]{2,5}( [a-z]+)*$"}, "maxItems": 3}"#,
    r#"{"type": "array", "items": {"type": "string", "maxLength": 6}}"#,
    r#"{"type": "object", "properties": {"a": {"format": "date", "type": "string"}, "ab": {"type": "number", "multipleOf": 0.05}}, "required": ["a"], "additionalProperties": false}"#,
    r#"{"anyOf": [{"type": "object", "properties": {"a": {"const": "x"}}, "required": ["a"], "additionalProperties": false}, {"type": "array", "items": {"enum": ["a", "abc", 12]}}]}"#,
];

#[test]
fn a_generation_computes_no_mask() {
    let vocabulary = keyed();
    for schema in FINITE {
        for order in [PropertyOrder::Schema, PropertyOrder::Any] {
            let options = SchemaOptions::default().whitespace(Whitespace::Compact).property_order(order);
            let compiled = compile(schema, &options, &vocabulary);
            let limits = PrecomputeLimits::default().states(if schema.contains("true") { 4_000 } else { 40_000 });
            let masks = precompute(&compiled, &limits, &mut |_| {}).unwrap();
            let whole = masks.bound().is_none();
            assert!(whole || schema.contains("true"), "{schema}: {masks:?}");
            assert_eq!(masks.covered() == masks.total(), whole, "{schema}");
            let artefact = Artefact::from_bytes(masks.to_bytes(&compiled, &THIS), "a").unwrap();
            assert_eq!(artefact.masks(), masks.masks());
            // Another automaton, whose ids are handed out in another order.
            let other = compile(schema, &options, &vocabulary);
            let loaded = other.with_artefact(artefact, &THIS).unwrap();
            for seed in 0..12 {
                let mut random = Random::new(seed);
                let (mut matcher, mut plain) = (loaded.matcher(), other.matcher());
                for _ in 0..40 {
                    assert_eq!(oracle::differences(&mut matcher), [], "{schema}, seed {seed}");
                    let allowed: Vec<_> = matcher.mask().unwrap().iter().collect();
                    assert_eq!(allowed, plain.mask().unwrap().iter().collect::<Vec<_>>());
                    let token = allowed[random.below(allowed.len())];
                    matcher.advance(token).unwrap();
                    plain.advance(token).unwrap();
                    if matcher.is_finished() {
                        break;
                    }
                }
            }
            let (stats, without) = (loaded.cache_stats(), other.cache_stats());
            assert!(!whole || stats.computed == 0, "{schema}: {stats:?}");
            assert!(stats.loaded > 0 && without.loaded == 0 && without.computed > 0, "{schema}: {stats:?}");
        }
    }
}

#[test]
fn ends_of_counters_are_found_that_no_token_feels_at_the_beginning() {
    let schema = r#"{"type": "array", "items": {"type": "string", "minLength": 60, "maxLength": 62}, "maxItems": 40}"#;
    let options = SchemaOptions::default().whitespace(Whitespace::Compact);
    let compiled = compile(schema, &options, &keyed());
    let masks = precompute(&compiled, &PrecomputeLimits::default(), &mut |_| {}).unwrap();
    assert_eq!(masks.bound(), None);
    let artefact = Artefact::from_bytes(masks.to_bytes(&compiled, &THIS), "a").unwrap();
    let loaded = compile(schema, &options, &keyed()).with_artefact(artefact, &THIS).unwrap();
    let mut matcher = loaded.matcher();
    let items = vec![format!("\"{}\"", "ab".repeat(31)); 40];
    for byte in format!("[{}]", items.join(",")).bytes() {
        matcher.mask().unwrap();
        matcher.advance_bytes(&[byte]).unwrap();
    }
    assert!(matcher.is_finished() && loaded.cache_stats().computed == 0, "{:?}", loaded.cache_stats());
}

#[test]
fn bounds_end_an_exploration_and_are_named() {
    let tree = r##"{"type": "object", "properties": {"a": {"type": "array", "items": {"$ref": "#"}}}, "additionalProperties": false}"##;
    let compiled = compile(tree, &SchemaOptions::default(), &keyed());
    let mut shown = 0;
    let masks = precompute(&compiled, &PrecomputeLimits::default().states(500), &mut |_| shown += 1).unwrap();
    assert_eq!((masks.bound(), masks.states()), (Some(Bound::States), 500));
    assert!(masks.covered() < masks.total() && shown > 0, "{masks:?}");
    let masks = precompute(&compiled, &PrecomputeLimits::default().bytes(2_000), &mut |_| {}).unwrap();
    assert_eq!(masks.bound(), Some(Bound::Bytes));
    assert!((2_000..8_000).contains(&masks.bytes()), "{}", masks.bytes());
    // What is nested little comes first.
    let artefact = Artefact::from_bytes(masks.to_bytes(&compiled, &THIS), "a").unwrap();
    let loaded = compiled.with_artefact(artefact, &THIS).unwrap();
    let mut matcher = loaded.matcher();
    for byte in br#"{"a""# {
        matcher.mask().unwrap();
        matcher.advance_bytes(&[*byte]).unwrap();
    }
    assert_eq!(loaded.cache_stats().computed, 0);
}

#[test]
fn masks_that_depend_on_data_are_counted_apart() {
    let schema = r#"{"type": "object", "additionalProperties": {"type": "null"}}"#;
    let compiled = compile(schema, &SchemaOptions::default(), &keyed());
    let masks = precompute(&compiled, &PrecomputeLimits::default(), &mut |_| {}).unwrap();
    assert!(masks.dynamic() > 0 && masks.covered() == masks.total(), "{masks:?}");
}

#[test]
fn an_expression_has_an_artefact_too() {
    let vocabulary = keyed();
    let regex = Regex::parse_rust("[a-c]{2,5}(é|x)*").unwrap();
    let compile = || {
        let spelling = Spelling { longest_token: 64, ..Spelling::default() };
        CompiledConstraint::new(Arc::new(RegexAutomaton::new(&regex, spelling).unwrap()), &vocabulary).unwrap()
    };
    let compiled = compile();
    let masks = precompute(&compiled, &PrecomputeLimits::default(), &mut |_| {}).unwrap();
    let artefact = Artefact::from_bytes(masks.to_bytes(&compiled, &THIS), "a").unwrap();
    let loaded = compile().with_artefact(artefact, &THIS).unwrap();
    let mut matcher = loaded.matcher();
    for byte in "abcéx".bytes() {
        assert_eq!(oracle::differences(&mut matcher), []);
        matcher.advance_bytes(&[byte]).unwrap();
    }
    assert_eq!(loaded.cache_stats().computed, 0);
}

#[test]
fn what_does_not_belong_is_refused() {
    let (bytes, compiled) = small();
    let artefact = Artefact::from_bytes(bytes.clone(), "a.fw").unwrap();
    let error = compiled.with_artefact(artefact.clone(), &[8; 32]).unwrap_err();
    assert_eq!((error.code(), error.code().as_str()), (Code::WrongConstraint, "wrong_constraint"));
    let other = compiled.vocabulary().with_eos(&[0]).unwrap();
    let other = CompiledConstraint::new(compiled.automaton(), &other).unwrap();
    let error = other.with_artefact(artefact.clone(), &THIS).unwrap_err();
    assert_eq!((error.code(), error.code().as_str()), (Code::WrongTokenizer, "wrong_tokenizer"));
    assert!(error.to_string().contains("a.fw") && error.help().is_some());
    // A model may have more rows than its tokenizer has tokens.
    let padded = compiled.vocabulary().padded_to(compiled.vocabulary().len() + 40).unwrap();
    let padded = CompiledConstraint::new(compiled.automaton(), &padded).unwrap();
    assert!(padded.with_artefact(artefact, &THIS).is_ok());
    for (at, foreign) in [(8, 99), (16, b'9')] {
        let mut bytes = bytes.clone();
        bytes[at] = foreign;
        let error = Artefact::from_bytes(bytes, "a.fw").unwrap_err();
        assert_eq!(error.code(), Code::ArtefactVersion, "{error}");
    }
}

#[test]
fn what_is_damaged_is_refused() {
    let (bytes, _) = small();
    let refusal = |bytes: Vec<u8>| Artefact::from_bytes(bytes, "a.fw").map(|_| ()).unwrap_err();
    for len in (0..bytes.len()).filter(|len| *len < 300 || len % 97 == 0) {
        let error = refusal(bytes[..len].to_vec());
        let wanted = if len < 8 { Code::NotArtefact } else { Code::DamagedArtefact };
        assert_eq!(error.code(), wanted, "{len}: {error}");
    }
    for at in (0..bytes.len()).filter(|at| *at < 300 || at % 89 == 0) {
        for bit in [1, 0x80] {
            let mut bytes = bytes.clone();
            bytes[at] ^= bit;
            let error = refusal(bytes);
            assert!(error.to_string().contains("a.fw"), "{at}: {error}");
        }
    }
    let mut longer = bytes.clone();
    longer.push(0);
    assert_eq!(refusal(longer).code(), Code::DamagedArtefact);
    let mut huge = bytes;
    huge[104..116].fill(0xFF);
    let error = refusal(huge);
    assert!(error.code() == Code::DamagedArtefact && error.to_string().contains("sections"), "{error}");
}

#[test]
fn files_are_read_only_as_far_as_they_are_artefacts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.fw");
    let (bytes, _) = small();
    std::fs::write(&path, &bytes).unwrap();
    assert_eq!(Artefact::open(&path).unwrap().len(), bytes.len());
    std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
    assert_eq!(Artefact::open(&path).unwrap_err().code(), Code::DamagedArtefact);
    assert_eq!(Artefact::open(folder.path().join("no")).unwrap_err().code(), Code::UnreadableArtefact);
    assert_eq!(Artefact::open(folder.path()).unwrap_err().code(), Code::UnreadableArtefact);
    // A file without an end.
    if cfg!(target_os = "linux") {
        assert_eq!(Artefact::open("/dev/zero").unwrap_err().code(), Code::NotArtefact);
    }
}
