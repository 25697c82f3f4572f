//! Vocabularies that lack bytes: what needs them is not offered, and where nothing is left, compiling names the character.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use formwork_automaton::{
    Automaton, ByteSet, CompileError, Frames, JsonAutomaton, RegexAutomaton, Spelling, State, Step, Symbol,
};
use formwork_grammar::{Escapes, Limits, Numbers, PropertyOrder, Regex, SchemaOptions, Whitespace, schema_from_value};
use serde_json::{Value, json};

fn compact() -> SchemaOptions {
    SchemaOptions::default().whitespace(Whitespace::Compact)
}

fn without(missing: &str) -> Spelling {
    let mut spelling = Spelling::default();
    missing.bytes().for_each(|byte| spelling.alphabet.remove(byte));
    spelling
}

fn compile(schema: &Value, options: &SchemaOptions, spelling: Spelling) -> Result<JsonAutomaton, CompileError> {
    JsonAutomaton::new(schema_from_value(schema, options).unwrap(), options, spelling)
}

fn step(automaton: &JsonAutomaton, seq: &mut Frames, state: State, byte: u8) -> Option<State> {
    match automaton.step(seq, state, Symbol::Byte(byte)) {
        Step::To(next) => Some(next),
        Step::Dead | Step::Limit(_) => None,
    }
}

/// The bytes that may come after a text; each leads to a state whose witness the automaton reads to an end.
fn next(automaton: &JsonAutomaton, text: &str) -> String {
    let mut seq = Frames::new();
    let mut state = automaton.start(&mut seq);
    for byte in text.bytes() {
        state = step(automaton, &mut seq, state, byte).unwrap_or_else(|| panic!("{text} is refused"));
    }
    let mut bytes = Vec::new();
    for byte in 0..=u8::MAX {
        let mark = seq.mark();
        if let Some(to) = step(automaton, &mut seq, state, byte) {
            bytes.push(byte);
            finish(automaton, &mut seq, to);
        }
        seq.truncate(mark);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads the witness; its bytes.
fn finish(automaton: &JsonAutomaton, seq: &mut Frames, mut state: State) -> Vec<u8> {
    let witness = automaton.witness(seq, state).bytes().unwrap();
    for &byte in &witness {
        let shown = String::from_utf8_lossy(&witness);
        state = step(automaton, seq, state, byte).unwrap_or_else(|| panic!("the witness {shown:?} is refused"));
    }
    assert!(automaton.is_accepting(seq, state), "{:?} is no end", String::from_utf8_lossy(&witness));
    witness
}

/// Compiling is refused, and the message names the character.
#[track_caller]
fn names(schema: &Value, missing: &str, character: char) {
    names_with(schema, &compact(), missing, character);
}

#[track_caller]
fn names_with(schema: &Value, options: &SchemaOptions, missing: &str, character: char) {
    let error = compile(schema, options, without(missing)).expect_err("a text without the character");
    assert_eq!((error.code(), error.is_unsatisfiable()), ("unspellable", false), "{schema}: {error}");
    let expected = format!(
        "the vocabulary can't spell {character:?} (U+{:04X}), which every text of the constraint needs",
        u32::from(character)
    );
    assert_eq!(error.to_string(), expected, "{schema}");
}

/// Compiling works, and these bytes can come first.
#[track_caller]
fn begins(schema: &Value, missing: &str, first: &str) {
    let automaton = compile(schema, &compact(), without(missing)).unwrap_or_else(|e| panic!("{schema}: {e}"));
    assert_eq!(next(&automaton, ""), first, "{schema}");
}

#[test]
fn a_byte_that_every_text_needs_is_named() {
    let object = json!({"type": "object", "properties": {"a": {"type": "null"}}, "required": ["a"]});
    let pair = json!({"type": "array", "minItems": 2});
    names(&json!({"type": "string"}), "\"", '"');
    names(&json!({"enum": ["x", "y"]}), "\"", '"');
    names(&json!({"type": "object"}), "{", '{');
    names(&json!({"type": "object"}), "}", '}');
    names(&json!({"type": "array"}), "[", '[');
    names(&json!({"type": "array"}), "]", ']');
    names(&object, "\"", '"');
    names(&object, ":", ':');
    names(&json!({"type": "object", "required": ["a", "b"]}), ",", ',');
    names(&pair, ",", ',');
    names(&json!({"const": [{"a": [1, 2]}]}), ",", ',');
    names(&json!({"const": null}), "u", 'u');
    names(&json!({"const": true}), "r", 'r');
    names(&json!({"const": false}), "s", 's');
    names(&json!({"const": -1}), "-", '-');
    names(&json!({"type": "number", "exclusiveMaximum": 0}), "-", '-');
    names(&json!({"const": 0.5}), ".", '.');
    names(&json!({"type": "number", "exclusiveMinimum": 1, "exclusiveMaximum": 2}), ".", '.');
    names(&json!({"const": 7}), "7", '7');
    names(&json!({"const": "a\nb"}), "\\", '\\');
    names(&json!({"const": "a\nb"}), "n", 'n');
    names(&json!({"const": "\""}), "\\", '\\');
    names(&json!({"const": "\u{1f}"}), "u", 'u');
    names(&json!({"const": "\u{1f}"}), "f", 'f');
    names(&json!({"const": {"\t": 1}}), "t", 't');
    names_with(&object, &SchemaOptions::default(), " ", ' ');
    names_with(&pair, &SchemaOptions::default(), " ", ' ');
    names_with(&pair, &SchemaOptions::default().whitespace(Whitespace::Indent(0)), "\n", '\n');
}

#[test]
fn a_byte_that_only_one_text_needs_is_named_as_such() {
    let error = compile(&json!({"enum": [10, 222]}), &compact(), without("12")).unwrap_err();
    assert_eq!(error.code(), "unspellable");
    assert_eq!(
        error.to_string(),
        "the vocabulary can't spell any text of the constraint; the shortest one needs '1' (U+0031)"
    );
    // A contradiction stays one, whatever the vocabulary lacks.
    let error =
        compile(&json!({"type": "string", "minLength": 2, "maxLength": 1}), &compact(), without("\"")).unwrap_err();
    assert_eq!(error.code(), "unsatisfiable");
}

#[test]
fn alternatives_that_remain_are_offered_alone() {
    let either = json!({"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 1}]});
    begins(&either, "\"", "123456789");
    begins(&json!({"enum": [true, false, null]}), "r", "fn");
    begins(&json!({"enum": [true, false, null]}), "l", "t");
    begins(&json!(true), "\"[", "-0123456789fnt{");
    begins(&json!(true), "}]el-0", "\"123456789");
    begins(&json!({"type": ["object", "array"]}), "]", "{");
    begins(&json!({"type": "integer", "minimum": -2, "maximum": 9}), "-3", "012456789");
    let tree = json!({"anyOf": [{"type": "null"}, {"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]}]});
    begins(&tree, ":", "n");
    begins(&json!({"anyOf": [{"const": "a\n"}, {"const": "b"}], "type": "string"}), "\\", "\"");
}

/// What may follow a text.
#[track_caller]
fn follows(schema: &Value, options: &SchemaOptions, missing: &str, text: &str, expected: &str) {
    let automaton = compile(schema, options, without(missing)).unwrap_or_else(|e| panic!("{schema}: {e}"));
    assert_eq!(next(&automaton, text), expected, "{schema} after {text}");
}

#[test]
fn inside_containers() {
    let items = json!({"type": "array", "items": {"const": true}});
    follows(&items, &compact(), "", "[true", ",]");
    follows(&items, &compact(), ",", "[true", "]");
    follows(&items, &SchemaOptions::default(), " ", "[true", "]");
    follows(&items, &SchemaOptions::default().whitespace(Whitespace::Indent(1)), " ", "[", "]");
    follows(&items, &SchemaOptions::default().whitespace(Whitespace::Indent(1)), "\n", "[", "]");
    follows(&items, &SchemaOptions::default().whitespace(Whitespace::Flexible(1)), " \t\n", "[true", "\r,]");
    let object = json!({"type": "object", "properties": {"a": {"const": true}, "b": {"const": null}}, "additionalProperties": false});
    follows(&object, &compact(), "\"", "{", "}");
    follows(&object, &compact(), ":", "{", "}");
    follows(&object, &SchemaOptions::default(), " ", "{", "}");
    follows(&object, &compact(), ",", "{\"", "ab");
    follows(&object, &compact(), ",", "{\"a\":true", "}");
    follows(&object, &compact(), "r", "{\"", "b");
    follows(&object, &compact(), "b", "{\"a\":true", "}");
    follows(&json!({"type": "object"}), &compact(), ":", "{", "}");
}

#[test]
fn one_member_where_no_comma_can_be_spelled() {
    let schema = json!({"type": "object", "properties": {"a": {"const": true}, "b": {"const": null}, "c": {"const": false}}, "required": ["b"]});
    for order in [PropertyOrder::Schema, PropertyOrder::Any] {
        let options = compact().property_order(order);
        follows(&schema, &options, ",", "{", "\"");
        follows(&schema, &options, ",", "{\"", "b");
        follows(&schema, &options, ",", "{\"b\":null", "}");
    }
    let either = json!({"type": "object", "properties": {"a": {"const": true}, "b": {"const": null}}, "additionalProperties": false,
        "anyOf": [{"required": ["a"]}, {"required": ["b"], "properties": {"b": true}}, {"required": ["a", "b"]}]});
    follows(&either, &compact(), ",", "{", "\"");
    follows(&either, &compact(), ",", "{\"", "ab");
    follows(&either, &compact(), ",", "{\"a\":true", "}");
}

#[test]
fn inside_strings() {
    let text = json!({"type": "string", "maxLength": 3});
    let after_slash =
        |missing: &str, options: &SchemaOptions| next(&compile(&text, options, without(missing)).unwrap(), "\"\\");
    assert_eq!(after_slash("", &compact()), "\"\\bfnrtu");
    assert_eq!(after_slash("u", &compact()), "\"\\bfnrt");
    assert_eq!(after_slash("0", &compact()), "\"\\bfnrt");
    assert_eq!(after_slash("nt", &compact()), "\"\\bfru");
    follows(&text, &compact(), "1", "\"\\u00", "0");
    follows(&json!({"type": "string", "pattern": "^\n$"}), &compact(), "u", "\"\\", "n");
    let any = compact().escapes(Escapes::Any);
    follows(&json!({"const": "A"}), &any, "", "\"\\", "u");
    follows(&json!({"const": "A"}), &any, "4", "\"", "A");
    follows(&json!({"enum": ["A", "q"]}), &any, "4", "\"\\u00", "7");
    follows(&json!({"const": "A"}), &any, "A", "\"", "\\");
    follows(&json!({"const": "/"}), &any, "u", "\"\\", "/");
}

#[test]
fn witnesses_are_spelled_with_what_there_is() {
    let any = compact().escapes(Escapes::Any);
    let witness = |schema: &Value, missing: &str| {
        let automaton = compile(schema, &any, without(missing)).unwrap();
        let mut seq = Frames::new();
        let start = automaton.start(&mut seq);
        String::from_utf8(finish(&automaton, &mut seq, start)).unwrap()
    };
    assert_eq!(witness(&json!({"const": "q"}), "q"), "\"\\u0071\"");
    // The first bytes are missing: nothing is begun raw that could not be ended.
    let spelling = Spelling {
        alphabet: ByteSet::all().iter().filter(|b| *b != 0xC3 && *b != 0xF0).collect(),
        ..Spelling::default()
    };
    let automaton = compile(&json!({"const": "é😀"}), &any, spelling).unwrap();
    assert_eq!(next(&automaton, "\""), "\\");
    assert_eq!(
        automaton.witness(&Frames::new(), automaton.start(&mut Frames::new())).bytes().unwrap(),
        b"\"\\u00e9\\ud83d\\ude00\""
    );
    assert_eq!(witness(&json!({"const": {"\n": "/"}}), "n"), "{\"\\u000a\":\"/\"}");
    // Keys that are new without a digit to number them.
    let schema = json!({"type": "object", "additionalProperties": {"type": "null"}});
    let automaton = compile(&schema, &compact(), without("0123456789")).unwrap();
    assert!(next(&automaton, "{\"\":null,\"a\":null").contains(','));
    assert!(next(&automaton, "{\"\":null,\"a\":null,").contains('"'));
    // Without any character, there is no second key.
    let alphabet: ByteSet = b"{}\":,nul".iter().copied().collect();
    let spelling = Spelling { alphabet, ..Spelling::default() };
    next(&compile(&schema, &compact(), spelling).unwrap(), "{");
}

#[test]
fn regular_expressions() {
    let compile =
        |pattern: &str, missing: &str| RegexAutomaton::new(&Regex::parse_rust(pattern).unwrap(), without(missing));
    assert!(compile("a|b", "a").is_ok());
    let error = compile("x[a-c]+", "x").unwrap_err();
    assert_eq!(error.code(), "unspellable");
    assert_eq!(error.to_string(), "the vocabulary can't spell 'x' (U+0078), which every text of the constraint needs");
    assert_eq!(compile("[a&&b]", "a").unwrap_err().code(), "empty_regex");
}

#[test]
fn distinct_numbers_without_a_digit() {
    let items = json!({"type": "number", "minimum": -3.5, "maximum": -2.25});
    let schema = json!({"type": "array", "minItems": 1, "uniqueItems": true, "items": items});
    let mut limits = Limits::default();
    limits.digits = 6;
    let options = compact().numbers(Numbers::Any).limits(limits);
    let automaton = compile(&schema, &options, without("1")).unwrap();
    let text = "[-3E0,-0.0030";
    for at in 0..=text.len() {
        next(&automaton, &text[..at]);
    }
}

#[test]
fn numbers_beyond_the_table_are_no_dead_end() {
    let schema = json!({
        "type": "array", "minItems": 2, "uniqueItems": true,
        "contains": {"type": "number", "minimum": 0, "maximum": 0.25}, "minContains": 0,
        "prefixItems": [{"type": "number", "multipleOf": 12345.6}],
    });
    let mut limits = Limits::default();
    limits.digits = 6;
    // What the plan takes for a number that is not counted has fewer parts than what is read, and so more of them in a table.
    let automaton = compile(&schema, &compact().limits(limits), without(".")).unwrap();
    let text = "[-0,1";
    for at in 0..=text.len() {
        next(&automaton, &text[..at]);
    }
    assert!(automaton.undecided() > 0);
    // A number within the table may be as long as it is.
    let schema = json!({"type": "number", "minimum": 0, "multipleOf": 12345.6, "maximum": 61728});
    follows(&schema, &compact().limits(limits), ".", "6172", "8");
}
