//! Masks of JSON Schema, where tables and stand-ins take the place of steps: each equals the naive one.

use std::sync::Arc;

use formwork_automaton::{Fill, JsonAutomaton, Spelling, TokenId};
use formwork_grammar::{Escapes, Limits, Numbers, PropertyOrder, SchemaOptions, Whitespace, parse_schema};
use formwork_mask::{CompiledConstraint, TokenEntry, Vocabulary, oracle};

use crate::vocabularies::{Random, real};

/// Tokens that begin in one key and end in another, with the same text or not, among single bytes.
pub(crate) fn keyed() -> Vocabulary {
    let mut entries: Vec<TokenEntry> = (0..=255_u8).map(|byte| TokenEntry::Text(vec![byte])).collect();
    let texts = [
        "a",
        "b",
        "ab",
        "abc",
        "xyz",
        "na",
        "name",
        "é",
        "a\"",
        "name\"",
        "x\":",
        "a\":1",
        "ab\":\"",
        "\"a",
        "{\"a\"",
        "{\"x",
        ",\"a\":",
        "\",\"",
        "\":\"",
        "a\":1,\"a",
        "a\":1,\"a\"",
        "a\":1,\"b\"",
        "x\":\"\",\"x\":",
        "x\":\"\",\"y\":",
        "\"x\":\"\",\"x\":",
        "{\"a\":1,\"a\":",
        "{\"x\":0,\"x\"",
        "a\\n",
        "k\\n\"",
        "\\n",
        "\\n\"",
        "x\\n\":",
        "a\n",
        "é\"",
        "\"é",
        "\u{e9}\":",
        "123",
        "1,",
        "12]",
        "abcdefghijklmnop",
        "abcdefghijklmnop\"",
        "}",
        "\"}",
        "\"}}",
        "]}",
    ];
    entries.extend(texts.iter().map(|text| TokenEntry::Text(text.as_bytes().to_vec())));
    entries.push(TokenEntry::Text(vec![b'a', 0xC3]));
    entries.push(TokenEntry::Text(vec![b'a', 0xC3, b'"']));
    let eos = u32::try_from(entries.len()).unwrap();
    entries.push(TokenEntry::Special("<|end|>".to_owned()));
    Vocabulary::from_tokens(entries, &[eos]).unwrap()
}

pub(crate) const SCHEMAS: [&str; 22] = [
    r#"{"type": "object"}"#,
    r#"{"type": "object", "properties": {"a": true, "ab": {"type": "integer"}, "name": {"type": "string"}, "k\n": true, "é": true}}"#,
    r#"{"type": "object", "properties": {"a": true, "name": true}, "additionalProperties": false}"#,
    r#"{"type": "object", "patternProperties": {"^a": {"type": "integer"}}, "additionalProperties": {"type": "string"}}"#,
    r#"{"type": "object", "properties": {"ab": true}, "patternProperties": {"^na": {"type": "integer"}}, "additionalProperties": {"type": "string"}}"#,
    r#"{"type": "object", "patternProperties": {"^(a|é|\n)": {"type": "integer"}, "^.b": {"type": "null"}, "^k.$": {"maximum": 3}}}"#,
    r#"{"type": "object", "propertyNames": {"maxLength": 3}, "maxProperties": 3}"#,
    r#"{"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string", "minLength": 1}}}}"#,
    r#"{"type": "array", "uniqueItems": true, "items": {"type": "string"}}"#,
    r#"{"type": "array", "items": {"type": "string", "pattern": "^[a-z]+$"}}"#,
    r#"{"type": "array", "items": {"type": "string", "pattern": "^[a-z]{2,5}( [a-z]+)*$"}}"#,
    r#"{"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 40}}"#,
    r#"{"type": "array", "items": {"type": "string", "maxLength": 6}}"#,
    r#"{"type": "array", "items": {"type": "string", "pattern": "^[a-zé]*$", "minLength": 2, "maxLength": 18}}"#,
    r#"{"type": "array", "items": {"type": "string", "pattern": "^[a-z0-9]+([._-][a-z0-9]+)*$"}}"#,
    r#"{"type": "array", "items": {"type": "string", "pattern": "^[a-z0-9]+(-[a-z0-9]+)*(\\.[a-z0-9]+)*@[a-z]+\\.(com|org)$"}}"#,
    r#"{"type": "array", "items": {"type": "string", "pattern": "^[^<>]+(<[^<>]*>)?$", "minLength": 2}}"#,
    r#"{"type": "array", "items": {"type": "string", "pattern": "^\\S+( \\S+)*$"}}"#,
    r#"{"type": "array", "items": {"type": "string", "pattern": "^[^ .]+( [^ .]*[a-z])*\\.?$"}}"#,
    r#"{"type": "object", "required": ["a", "b"], "properties": {"a": {"type": "string", "pattern": "^/.*[^/]$"}, "b": {"type": "string", "pattern": "é"}}}"#,
    r#"{"type": "array", "items": {"type": "string", "pattern": "^[A-Za-z_]\\w*( \\w+)? ?$", "maxLength": 400}}"#,
    r#"{"anyOf": [{"type": "object", "properties": {"a": {"const": "x"}}}, {"type": "array", "items": {"not": {"const": "a"}}}]}"#,
];

/// A schema's constraint, with blanks and the schema's order.
pub(crate) fn of_schema(schema: &str, vocabulary: &Vocabulary) -> CompiledConstraint {
    in_order(schema, vocabulary, PropertyOrder::Schema)
}

fn in_order(schema: &str, vocabulary: &Vocabulary, order: PropertyOrder) -> CompiledConstraint {
    with_options(
        schema,
        vocabulary,
        &SchemaOptions::default().whitespace(Whitespace::Flexible(1)).property_order(order),
    )
}

fn with_options(schema: &str, vocabulary: &Vocabulary, options: &SchemaOptions) -> CompiledConstraint {
    let longest_token = u32::try_from(vocabulary.longest_token()).unwrap();
    let spelling = Spelling { longest_token, ..Spelling::default() };
    let automaton = JsonAutomaton::new(parse_schema(schema, options).unwrap(), options, spelling).unwrap();
    CompiledConstraint::new(Arc::new(automaton), vocabulary).unwrap()
}

fn check(vocabulary: &Vocabulary, walks: u64, steps: usize) {
    for schema in SCHEMAS {
        for order in [PropertyOrder::Schema, PropertyOrder::Any] {
            walk(&in_order(schema, vocabulary, order), schema, walks, steps);
        }
    }
}

/// Holds the masks of random walks against the naive ones.
fn walk(constraint: &CompiledConstraint, schema: &str, walks: u64, steps: usize) {
    walk_from(constraint, schema, 0..walks, steps);
}

fn walk_from(constraint: &CompiledConstraint, schema: &str, seeds: std::ops::Range<u64>, steps: usize) {
    for seed in seeds {
        let mut random = Random::new(seed);
        let mut matcher = constraint.matcher();
        for _ in 0..steps {
            let at = matcher.steps();
            assert_eq!(oracle::differences(&mut matcher), [], "{schema}, seed {seed}, after {at} tokens");
            let allowed: Vec<_> = matcher.mask().unwrap().iter().collect();
            // Longer tokens rather than one of the many bytes.
            let long: Vec<_> = allowed.iter().copied().filter(|id| id.index() > 255).collect();
            let from = if long.is_empty() || random.below(3) == 0 { &allowed } else { &long };
            matcher.advance(from[random.below(from.len())]).unwrap();
            if matcher.is_finished() {
                break;
            }
        }
    }
}

#[test]
fn equal_the_oracle_whatever_other_constraints_have_found() {
    // Enough tokens with escapes, quotes and digits that what they have in common is kept.
    let escapes = "nbt/u\"\\".chars().flat_map(|a| "ab0\"\\:".chars().map(move |b| format!("\\{a}{b}")));
    let texts: Vec<String> = escapes.flat_map(|escape| [format!("\"{escape}"), format!("x{escape}"), escape]).collect();
    let numbers = (0..100).map(|number| format!("1{number}"));
    let mut entries: Vec<TokenEntry> = (0..=u8::MAX).map(|byte| TokenEntry::Text(vec![byte])).collect();
    entries.extend(texts.into_iter().chain(numbers).map(|text| TokenEntry::Text(text.into_bytes())));
    let eos = u32::try_from(entries.len()).unwrap();
    entries.push(TokenEntry::Special("<|end|>".to_owned()));
    let vocabulary = Vocabulary::from_tokens(entries, &[eos]).unwrap();
    for escapes in [Escapes::Canonical, Escapes::Any, Escapes::Canonical] {
        for numbers in [Numbers::Plain, Numbers::Any] {
            for whitespace in [Whitespace::Compact, Whitespace::Spaced, Whitespace::Flexible(2)] {
                let options = SchemaOptions::default().whitespace(whitespace).escapes(escapes).numbers(numbers);
                for schema in &SCHEMAS[..9] {
                    walk(&with_options(schema, &vocabulary, &options), schema, 3, 12);
                }
                let numbers = r#"{"type": "array", "items": {"type": ["number", "null"], "multipleOf": 0.5}}"#;
                walk(&with_options(numbers, &vocabulary, &options), numbers, 3, 12);
            }
        }
    }
}

#[test]
fn equal_the_oracle_where_tokens_hold_two_keys() {
    check(&keyed(), 20, 20);
}

#[test]
fn equal_the_oracle_with_a_real_tokenizer() {
    if let Some(path) = real("llama3_2") {
        check(&Vocabulary::from_tokenizer_json(path).unwrap(), 1, 6);
    }
}

/// Tokens cut from texts of JSON: they end values and keys, and begin others, several at once.
fn structured() -> Vocabulary {
    fn value(random: &mut Random, depth: usize, out: &mut String) {
        const LEAVES: [&str; 12] =
            ["1", "-2", "30", "true", "null", "\"\"", "\"a\"", "\"x\"", "\"k\"", "\"\\n\"", "[]", "{}"];
        const KEYS: [&str; 7] = ["", "a", "k", "x", "ax", "q\\n", "é"];
        const GAPS: [&str; 5] = ["", "", "", " ", "\n"];
        let gap = GAPS[random.below(GAPS.len())];
        let shape = if depth == 0 { 2 } else { random.below(3) };
        if shape == 2 {
            return out.push_str(LEAVES[random.below(LEAVES.len())]);
        }
        out.push_str(["{", "["][shape]);
        for member in 0..=random.below(3) {
            if member > 0 {
                out.push(',');
            }
            out.push_str(gap);
            if shape == 0 {
                let key = KEYS[random.below(KEYS.len())];
                out.extend(["\"", key, "\":", gap]);
            }
            value(random, depth - 1, out);
        }
        out.push_str(["}", "]"][shape]);
    }
    let mut random = Random::new(5);
    let mut texts = std::collections::BTreeSet::new();
    while texts.len() < 4000 {
        let mut text = String::new();
        value(&mut random, 4, &mut text);
        for _ in 0..4 {
            let from = random.below(text.len());
            let to = (from + 2 + random.below(13)).min(text.len());
            texts.extend(text.get(from..to).filter(|cut| cut.len() > 1).map(str::to_owned));
        }
    }
    let mut entries: Vec<TokenEntry> = (0..=u8::MAX).map(|byte| TokenEntry::Text(vec![byte])).collect();
    entries.extend(texts.into_iter().map(|text| TokenEntry::Text(text.into_bytes())));
    let eos = u32::try_from(entries.len()).unwrap();
    entries.push(TokenEntry::Special("<|end|>".to_owned()));
    Vocabulary::from_tokens(entries, &[eos]).unwrap()
}

/// Schemas that differ in what may follow a value, a key or a comma.
const STRUCTURES: [&str; 16] = [
    "true",
    r#"{"type": ["object", "array", "string"]}"#,
    r#"{"properties": {"a": {"type": "string"}, "k": {"type": "array", "items": {"type": "integer"}}}}"#,
    r#"{"properties": {"a": {"type": "string"}, "k": {"type": "array"}}, "required": ["k"], "additionalProperties": false}"#,
    r#"{"type": "object", "additionalProperties": {"type": "object", "properties": {"q\n": true}, "additionalProperties": {"type": "object", "properties": {"a": true, "x": {"type": "string"}}, "additionalProperties": false}}}"#,
    r#"{"type": "object", "properties": {"a": {"type": "object", "properties": {"k": {"type": "string"}}, "additionalProperties": false}, "x": {"type": "integer", "minimum": 0}}, "additionalProperties": false}"#,
    r#"{"type": "object", "properties": {"": {"type": "string"}, "a": {"type": ["string", "null"]}, "é": true}, "additionalProperties": false}"#,
    r#"{"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string", "minLength": 1}, "x": {"type": "string", "minLength": 2}}}}"#,
    r#"{"type": "array", "minItems": 2, "maxItems": 3, "items": {"type": "array", "maxItems": 2, "items": {"type": "string"}}}"#,
    r#"{"type": "array", "uniqueItems": true, "items": {"type": "array", "items": {"type": "string"}}}"#,
    r#"{"type": "object", "maxProperties": 2, "additionalProperties": {"type": "string"}}"#,
    r#"{"type": "object", "minProperties": 2, "additionalProperties": {"type": ["string", "number"], "maxLength": 5}}"#,
    r#"{"type": "object", "patternProperties": {"^a": {"type": "string"}, "x$": {"type": "array", "items": {"type": "string"}}}}"#,
    r#"{"anyOf": [{"type": "object", "properties": {"a": {"const": "x"}}, "required": ["a", "k"]}, {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a", "x"]}]}"#,
    r#"{"type": "object", "properties": {"a": {"enum": ["", "a", [], {}, 1]}, "k": {"type": "boolean"}, "q\n": {"type": "object"}}, "required": ["q\n"], "additionalProperties": false}"#,
    r##"{"type": "object", "properties": {"a": {"$ref": "#"}, "k": {"type": "array", "items": {"$ref": "#"}}, "x": {"type": "string"}}, "additionalProperties": false}"##,
];

#[test]
fn equal_the_oracle_where_tokens_hold_structure() {
    let vocabulary = structured();
    let spaces = [Whitespace::Flexible(2), Whitespace::Compact, Whitespace::Spaced, Whitespace::Indent(1)];
    for (seed, whitespace) in (0..).zip(spaces) {
        for escapes in [Escapes::Canonical, Escapes::Any] {
            for order in [PropertyOrder::Schema, PropertyOrder::Any] {
                let options = SchemaOptions::default().whitespace(whitespace).escapes(escapes).property_order(order);
                for schema in STRUCTURES {
                    let constraint = with_options(schema, &vocabulary, &options);
                    walk_from(&constraint, schema, 8 * seed..8 * seed + 4, 14);
                }
            }
        }
    }
}

/// Tokens of few characters, so many that the masks of counted patterns take long to compute; some are longer than states can be near
/// each other.
fn crowded() -> Vocabulary {
    let mut random = Random::new(11);
    let mut entries: Vec<TokenEntry> = (0..=u8::MAX).map(|byte| TokenEntry::Text(vec![byte])).collect();
    let mut texts = std::collections::BTreeSet::new();
    let mut add = |count: usize, chars: &str, least: usize, most: usize| {
        let chars: Vec<char> = chars.chars().collect();
        for _ in 0..count {
            let length = least + random.below(most - least);
            texts.insert((0..length).map(|_| chars[random.below(chars.len())]).collect::<String>());
        }
    };
    add(9000, "ab_-", 2, 12);
    add(2000, "ab_-. @é\n", 2, 9);
    add(600, "aa_. \",:n\\", 2, 8);
    add(60, "a_", 20, 48);
    add(40, "aaaaa. @\"", 20, 48);
    for run in 12..60 {
        texts.insert("a".repeat(run));
    }
    let two_keys =
        ["\":1,\"a\"", "a\":1,\"a\":", "ab\":1,\"aab\":1", "\": 1,\"a\"", "\":1,\"", "\":\"", "b\":1}", "\":1,\"ab"];
    texts.extend(two_keys.map(String::from));
    entries.extend(texts.into_iter().map(|text| TokenEntry::Text(text.into_bytes())));
    let eos = u32::try_from(entries.len()).unwrap();
    entries.push(TokenEntry::Special("<|end|>".to_owned()));
    Vocabulary::from_tokens(entries, &[eos]).unwrap()
}

/// Schemas of which each character of a string, or of a key, leads to a state of its own.
const COUNTED: [&str; 12] = [
    r#"{"type": "array", "items": {"type": "string", "pattern": "^[a-z0-9_-]{1,70}$"}}"#,
    r#"{"type": "array", "items": {"type": "string", "pattern": "^[a-z0-9_-]{30,60}$"}}"#,
    r#"{"type": "array", "items": {"type": "string", "pattern": "^(?:\\S+\\s+){0,40}\\S+$", "maxLength": 150}}"#,
    r#"{"type": "array", "items": {"type": "string", "pattern": "^([a-z]{1,40}[-_.]){0,9}[a-z_]{1,50}(@[a-z]+)?$", "minLength": 3, "maxLength": 90}}"#,
    r#"{"type": "array", "items": {"type": "string", "pattern": "^[^@]{2,80}@[^@]{2,80}$"}}"#,
    r#"{"type": "array", "uniqueItems": true, "items": {"type": "string", "pattern": "^[a-z0-9_-]{1,70}$"}}"#,
    r#"{"type": "object", "patternProperties": {"^[a-z0-9_-]{1,60}$": {"enum": [1, "a"]}}, "additionalProperties": false}"#,
    r#"{"type": "object", "properties": {"aa": {"const": 2}}, "patternProperties": {"^a[a-z0-9_-]{1,60}$": {"enum": [1, "a"]}, "^[a-y.]{3,90}$": {"type": "integer"}}}"#,
    r#"{"type": "object", "propertyNames": {"pattern": "^[a-z_.]{1,64}(é|@)?$", "maxLength": 50}, "additionalProperties": {"const": "a"}}"#,
    r#"{"type": "object", "properties": {"ab": {"const": 2}, "a_": true}, "patternProperties": {"^[a-z][a-z0-9_]*$": {"enum": [1, "a"]}}, "additionalProperties": false}"#,
    r#"{"type": "object", "properties": {"\nx": {"const": 2}, "\"": true}, "patternProperties": {"^[a-z0-9_-]+$": {"enum": [1, "a"]}}, "additionalProperties": false}"#,
    r#"{"type": "object", "required": ["aab"], "patternProperties": {"^(a-)?[a-z0-9é]+([.-][a-z0-9]+)*$": {"enum": [1, "a"]}, "^a+$": {"type": "integer"}}, "additionalProperties": false}"#,
];

#[test]
fn equal_the_oracle_where_states_are_near_each_other() {
    let vocabulary = crowded();
    for schema in COUNTED {
        for escapes in [Escapes::Canonical, Escapes::Any] {
            let options = SchemaOptions::default().whitespace(Whitespace::Flexible(1)).escapes(escapes);
            walk(&with_options(schema, &vocabulary, &options), schema, 2, 30);
        }
    }
}

#[test]
fn equal_the_oracle_where_keys_loop() {
    let vocabulary = crowded();
    for schema in &COUNTED[6..] {
        for escapes in [Escapes::Canonical, Escapes::Any] {
            let options = SchemaOptions::default().whitespace(Whitespace::Flexible(1)).escapes(escapes);
            let constraint = with_options(schema, &vocabulary, &options);
            // The first walks are what finding out about near states may cost.
            for round in 0..2 {
                for used in ["", "\"aaab\":1,", "\"aab\":1,\"aa_b\":1,\"aaaa\":1,", "\"ab\":2,\"aab\":1,\"a\":1,"] {
                    for key in ["", "a", "aa", "aab", "aaa", "x", "ab", "xx", "xa", "aa_", "aaaaaaaaaaaaaaaa"] {
                        let mut matcher = constraint.matcher();
                        let text = format!("{{{used}\"{key}");
                        if matcher.advance_bytes(text.as_bytes()).is_ok() {
                            assert_eq!(oracle::differences(&mut matcher), [], "{schema}, {text}, round {round}");
                        }
                    }
                }
            }
        }
    }
}

/// A string of which every text leads to a state of its own.
const HOSTILE: &str = r#"{"type": "array", "items": {"type": "string", "pattern": "^[ab]*a[ab]{24}$"}}"#;

/// The hostile schema's constraint, with tables that are soon full.
pub(crate) fn hostile(vocabulary: &Vocabulary) -> CompiledConstraint {
    let mut limits = Limits::default();
    limits.table_bytes = 4 << 20;
    let options = SchemaOptions::default().whitespace(Whitespace::Compact).limits(limits);
    let schema = parse_schema(HOSTILE, &options).unwrap();
    let spelling = Spelling { longest_token: 20, ..Spelling::default() };
    CompiledConstraint::new(Arc::new(JsonAutomaton::new(schema, &options, spelling).unwrap()), vocabulary).unwrap()
}

/// Reads random texts of the hostile schema until the tables are full, and what is then allowed to its end. Now and then, a mask is held
/// against the naive one.
pub(crate) fn fill_tables(compiled: &CompiledConstraint, random: &mut Random) {
    let vocabulary = compiled.vocabulary();
    let eos = vocabulary.eos()[0];
    let mut matcher = compiled.matcher();
    let mut text = Vec::new();
    let mut full = false;
    while !matcher.is_finished() {
        let allowed: Vec<_> = matcher.mask().unwrap().iter().collect();
        full |= matcher.automaton().fill() == Fill::Full;
        assert!(full || text.len() < 1 << 20, "the tables were never full");
        if !full && random.below(50) == 0 {
            let naive = oracle::mask(&matcher);
            // Unless the tables have become full meanwhile.
            assert!(naive.iter().eq(allowed.iter().copied()) || matcher.automaton().fill() == Fill::Full);
        }
        // The array is not closed before the tables are full.
        let ends = |t: &TokenId| *t == eos || vocabulary.bytes(*t) == Some(b"]");
        let (end, more): (Vec<_>, Vec<_>) = allowed.into_iter().partition(ends);
        let from = if (full || more.is_empty()) && !end.is_empty() { end } else { more };
        let token = from[random.below(from.len())];
        text.extend_from_slice(vocabulary.bytes(token).unwrap_or_default());
        matcher.advance(token).unwrap();
    }
    assert!(matcher.automaton().heap_bytes() < 5 << 20, "{}", matcher.automaton().heap_bytes());
    assert!(full && text.ends_with(b"]") && matcher.is_accepting());
}

#[test]
fn full_tables_end_the_text_and_new_sequences_begin_afresh() {
    let compiled = hostile(&keyed());
    let mut random = Random::new(7);
    for _ in 0..4 {
        fill_tables(&compiled, &mut random);
    }
}

#[test]
fn differ_where_keys_match_other_patterns() {
    let vocabulary = keyed();
    let schema = r#"{"type": "object", "patternProperties": {"^a": {"type": "integer"}}, "additionalProperties": {"type": "string"}}"#;
    let options = SchemaOptions::default().whitespace(Whitespace::Compact);
    let automaton = JsonAutomaton::new(parse_schema(schema, &options).unwrap(), &options, Spelling::default()).unwrap();
    let constraint = CompiledConstraint::new(Arc::new(automaton), &vocabulary).unwrap();
    for text in ["{\"a", "{\"b", "{\"xa", "{\"ab", "{\"a\":1,\"b", "{\"a\":1,\"ac", "{\"b\":\"\",\"a"] {
        let mut matcher = constraint.matcher();
        matcher.advance_bytes(text.as_bytes()).unwrap();
        assert_eq!(oracle::differences(&mut matcher), [], "{text}");
    }
}
