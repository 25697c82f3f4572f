//! JSON Schema constraints: what they accept, byte by byte, and that no prefix is a dead end.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use formwork_automaton::{Automaton, Frames, JsonAutomaton, Spelling, State, Step, Symbol};
use formwork_grammar::{Escapes, Limits, Numbers, PropertyOrder, SchemaOptions, Whitespace, schema_from_value};
use serde_json::{Value, json};

/// Reads a text to its end, or to the first byte that is not allowed.
fn read(automaton: &JsonAutomaton, text: &str) -> Result<(Frames, State), usize> {
    let mut seq = Frames::new();
    let mut state = automaton.start(&mut seq);
    for (at, byte) in text.bytes().enumerate() {
        match automaton.step(&mut seq, state, Symbol::Byte(byte)) {
            Step::To(next) => state = next,
            Step::Dead | Step::Limit(_) => return Err(at),
        }
    }
    Ok((seq, state))
}

fn compile(schema: &Value, options: &SchemaOptions) -> JsonAutomaton {
    let checked = schema_from_value(schema, options).unwrap_or_else(|e| panic!("{schema}: {e}"));
    JsonAutomaton::new(checked, options, Spelling::default()).unwrap_or_else(|e| panic!("{schema}: {e}"))
}

/// Follows the witness from a state, and gives the whole text.
fn finish(automaton: &JsonAutomaton, mut seq: Frames, mut state: State, text: &str) -> Vec<u8> {
    let witness = automaton.witness(&seq, state);
    let mut whole = text.as_bytes().to_vec();
    for symbol in witness.symbols {
        let Symbol::Byte(byte) = symbol else { panic!("a special token in JSON") };
        whole.push(byte);
        match automaton.step(&mut seq, state, symbol) {
            Step::To(next) => state = next,
            other => panic!("{:?} after {text:?}: {other:?}", String::from_utf8_lossy(&whole)),
        }
    }
    assert!(automaton.is_accepting(&seq, state), "{:?} is not whole", String::from_utf8_lossy(&whole));
    whole
}

/// Holds a schema against whole texts, its own witnesses at every prefix, and the `jsonschema` crate.
fn check_with(schema: &Value, options: &SchemaOptions, accepts: &[&str], rejects: &[&str]) {
    let automaton = compile(schema, options);
    let validator = jsonschema::validator_for(schema).unwrap();
    for text in accepts {
        let (seq, state) = read(&automaton, text).unwrap_or_else(|at| panic!("{schema}: {text} is rejected at {at}"));
        assert!(automaton.is_accepting(&seq, state), "{schema}: {text} is not complete");
        assert!(validator.is_valid(&serde_json::from_str(text).unwrap()), "{schema}: the validator rejects {text}");
        for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
            let (seq, state) = read(&automaton, &text[..at]).unwrap();
            let whole = finish(&automaton, seq, state, &text[..at]);
            let value: Value = serde_json::from_slice(&whole)
                .unwrap_or_else(|e| panic!("{schema}: {:?}: {e}", String::from_utf8_lossy(&whole)));
            assert!(validator.is_valid(&value), "{schema}: {text}: the witness {value} is not valid");
        }
    }
    for text in rejects {
        let complete = read(&automaton, text).is_ok_and(|(seq, state)| automaton.is_accepting(&seq, state));
        assert!(!complete, "{schema}: {text} is accepted");
    }
}

fn check(schema: &Value, accepts: &[&str], rejects: &[&str]) {
    check_with(schema, &SchemaOptions::default().whitespace(Whitespace::Compact), accepts, rejects);
}

fn unsatisfiable(schema: &Value, pointer: &str) {
    let options = SchemaOptions::default();
    let checked = schema_from_value(schema, &options).unwrap();
    let error = JsonAutomaton::new(checked, &options, Spelling::default()).unwrap_err();
    assert_eq!((error.code(), error.pointer()), ("unsatisfiable", Some(pointer)), "{schema}: {error}");
}

#[test]
fn scalars_by_type() {
    check(&json!({"type": "null"}), &["null"], &["nul", "true", "0", "nulll"]);
    check(&json!({"type": "boolean"}), &["true", "false"], &["null", "True"]);
    check(&json!({"type": "integer"}), &["0", "-1", "120"], &["-0", "01", "1.0", "1e2", "-", ""]);
    check(&json!({"type": "number"}), &["0", "-0.5", "12.25", "1e5", "1E-7"], &[".5", "1.", "00", "1e", "+1", "1e999"]);
    check(&json!({"type": ["string", "null"]}), &["\"\"", "null", "\"é\\n\\\"\""], &["\"", "1", "\"\t\"", "\"\\x\""]);
    check(
        &json!(true),
        &["{}", "[]", "1", "\"x\"", "{\"a\":[null,{\"b\":[]}]}"],
        &["", "{", "[1,]", "{\"a\":1,}", "{1:2}"],
    );
}

#[test]
fn numbers_between_bounds() {
    check(
        &json!({"type": "integer", "minimum": -12, "maximum": 120}),
        &["-12", "-9", "-1", "0", "7", "99", "100", "119", "120"],
        &["-13", "-20", "-100", "121", "130", "200", "1200"],
    );
    check(
        &json!({"type": "number", "exclusiveMinimum": 0}),
        &["0.1", "1", "0.001", "12.5", "0.05", "100", "0.10"],
        &["0", "0.0", "-0", "-0.0", "-0.5", "0.000", "-1", "00.1", ".5"],
    );
    check(
        &json!({"type": "number", "minimum": 1.5, "maximum": 1.75}),
        &["1.5", "1.50", "1.6", "1.75", "1.7", "1.7499"],
        &["1", "1.4", "1.751", "2", "1.49", "-1.6", "15"],
    );
    check(
        &json!({"type": "number", "exclusiveMinimum": -0.5, "exclusiveMaximum": 0.25}),
        &["-0.4", "0", "-0.49", "0.2", "0.249", "-0.0"],
        &["-0.5", "0.25", "-0.50", "1", "-1", "0.3"],
    );
    check(&json!({"const": 1.5}), &["1.5", "1.50"], &["1", "1.51", "2", "15"]);
    check(&json!({"enum": [1, 10, 2.5]}), &["1", "10", "2.5", "1.0"], &["2", "100", "0", "11"]);
    unsatisfiable(&json!({"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 2}), "");
    unsatisfiable(&json!({"type": "integer", "const": 1.5}), "");
}

#[test]
fn strings_by_length_pattern_and_set() {
    check(
        &json!({"type": "string", "maxLength": 2}),
        &["\"\"", "\"é中\"", "\"😀😀\"", "\"\\n\\\"\""],
        &["\"abc\"", "\"😀😀😀\""],
    );
    check(
        &json!({"type": "string", "minLength": 2}),
        &["\"ab\"", "\"\\n\\n\"", "\"😀😀\""],
        &["\"a\"", "\"😀\"", "\"\""],
    );
    check(
        &json!({"type": "string", "pattern": "^[a-z]+$", "maxLength": 3}),
        &["\"abc\"", "\"z\""],
        &["\"abcd\"", "\"AB\"", "\"\"", "\"a1\""],
    );
    check(
        &json!({"type": "string", "pattern": "\\S"}),
        &["\"a\"", "\"  x \"", "\"[é\""],
        &["\"\"", "\"   \"", "\"\\t \\n\""],
    );
    check(
        &json!({"enum": ["open", "opened", "shut", "a\"b", "\n", 3, null]}),
        &["\"open\"", "\"opened\"", "\"shut\"", "\"a\\\"b\"", "\"\\n\"", "3", "null"],
        &["\"ope\"", "\"opene\"", "\"\"", "4", "\"n\""],
    );
    unsatisfiable(&json!({"type": "string", "pattern": "^a{3}$", "maxLength": 2}), "");
    unsatisfiable(&json!({"type": "string", "minLength": 3, "maxLength": 2}), "");
}

#[test]
fn every_escape_where_asked_for() {
    let any = SchemaOptions::default().escapes(Escapes::Any);
    check_with(
        &json!({"enum": ["A/", "é", "😀", "\u{1}"]}),
        &any,
        &["\"A/\"", "\"\\u0041\\/\"", "\"\\u00e9\"", "\"\\u00E9\"", "\"\\ud83d\\ude00\"", "\"😀\"", "\"\\u0001\""],
        &["\"\\u0042/\"", "\"\\ud83d\"", "\"\\ude00\"", "\"\\ud83d\\ud83d\"", "\"\u{1}\""],
    );
    check_with(
        &json!({"type": "string"}),
        &any,
        &["\"\\ud83d\\ude00\"", "\"\\u0000\""],
        &["\"\\ud83dx\"", "\"\\udc00\""],
    );
    let canonical = SchemaOptions::default();
    check_with(
        &json!({"type": "string"}),
        &canonical,
        &["\"\\u0001\"", "\"/\""],
        &["\"\\u0041\"", "\"\\/\"", "\"\\u000a\"", "\"\\u001F\""],
    );
}

#[test]
fn arrays_by_items_and_count() {
    check(
        &json!({"type": "array", "items": {"type": "integer"}}),
        &["[]", "[1]", "[1,2]"],
        &["[1,]", "[\"a\"]", "[", "[,1]"],
    );
    check(
        &json!({"items": {"type": "null"}, "minItems": 2, "maxItems": 3, "type": "array"}),
        &["[null,null]", "[null,null,null]"],
        &["[]", "[null]", "[null,null,null,null]"],
    );
    check(
        &json!({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": false}),
        &["[]", "[1]", "[1,\"a\"]"],
        &["[\"a\"]", "[1,2]", "[1,\"a\",3]"],
    );
    check(
        &json!({"type": "array", "prefixItems": [{"const": 1}], "items": {"type": "array", "maxItems": 0}, "minItems": 2}),
        &["[1,[]]", "[1,[],[]]"],
        &["[1]", "[1,[[]]]"],
    );
    unsatisfiable(&json!({"type": "array", "items": false, "minItems": 1}), "/items");
    unsatisfiable(&json!({"type": "array", "minItems": 2, "maxItems": 1}), "");
}

#[test]
fn objects_by_keys() {
    let person = json!({"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
        "required": ["name"], "additionalProperties": false});
    check(
        &person,
        &["{\"name\":\"a\"}", "{\"name\":\"a\",\"age\":3}"],
        &["{}", "{\"age\":3}", "{\"name\":\"a\",\"x\":1}", "{\"age\":1,\"name\":\"b\"}", "{\"name\":1}"],
    );
    check(
        &json!({"type": "object", "properties": {"k": {"type": "integer"}}}),
        &["{}", "{\"k\":1}", "{\"b\":\"x\"}", "{\"k\":1,\"b\":\"x\"}", "{\"kb\":\"x\"}", "{\"kk\":[1]}", "{\"\":null}"],
        &["{\"k\":\"wrong\"}", "{\"k\":1.5}", "{\"b\":1,\"k\":null}", "{\"b\":1,\"b\":2}", "{\"k\":1,\"k\":2}"],
    );
    check(
        &json!({"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x", "y"]}),
        &["{\"x\":\"1\",\"y\":\"2\"}", "{\"x\":\"1\",\"y\":{\"z\":[]}}", "{\"x\":\"1\",\"z\":0,\"y\":2}"],
        &["{\"x\":\"1\"}", "{\"y\":\"2\"}", "{}", "{\"x\":1,\"y\":2}"],
    );
    let any = SchemaOptions::default().property_order(PropertyOrder::Any).whitespace(Whitespace::Compact);
    check_with(
        &person,
        &any,
        &["{\"age\":1,\"name\":\"b\"}", "{\"name\":\"b\",\"age\":1}"],
        &["{\"age\":1}", "{\"age\":1,\"age\":2,\"name\":\"b\"}"],
    );
    check(
        &json!({"const": {"a": [1, {"b": null}], "c": "x"}}),
        &["{\"a\":[1,{\"b\":null}],\"c\":\"x\"}"],
        &["{\"a\":[1,{\"b\":null}]}", "{\"a\":[2,{\"b\":null}],\"c\":\"x\"}"],
    );
    unsatisfiable(&json!({"type": "object", "properties": {"a": false}, "required": ["a"]}), "/properties/a");
    unsatisfiable(
        &json!({"type": "object", "required": ["a"], "additionalProperties": false}),
        "/additionalProperties",
    );
}

#[test]
fn a_key_is_compared_decoded() {
    let any = SchemaOptions::default().escapes(Escapes::Any).whitespace(Whitespace::Compact);
    check_with(
        &json!({"type": "object", "properties": {"k": {"type": "integer"}}}),
        &any,
        &["{\"\\u006b\":1}", "{\"\\u006bk\":\"x\"}"],
        &["{\"\\u006b\":\"wrong\"}", "{\"a\":1,\"\\u0061\":2}", "{\"k\":1,\"\\u006b\":2}"],
    );
}

#[test]
fn combinations() {
    check(
        &json!({"type": "object", "properties": {"label": {"type": "string"}, "shift": {"type": "string"}, "count": {"type": "integer"}},
            "additionalProperties": false, "anyOf": [{"required": ["shift"]}, {"required": ["count"]}]}),
        &["{\"label\":\"k\",\"shift\":\"ctrl\"}", "{\"count\":3}", "{\"shift\":\"alt\",\"count\":2}"],
        &["{\"label\":\"k\"}", "{}", "{\"shift\":\"c\",\"zzz\":1}", "42", "{\"count\":\"3\"}", "[]"],
    );
    let tagged = json!({"anyOf": [
        {"type": "object", "properties": {"kind": {"const": "a"}, "x": {"type": "integer"}}, "required": ["kind", "x"]},
        {"type": "object", "properties": {"kind": {"const": "b"}, "x": {"type": "string"}}, "required": ["kind", "x"]}]});
    check(
        &tagged,
        &["{\"kind\":\"a\",\"x\":1}", "{\"kind\":\"b\",\"x\":\"1\"}"],
        &["{\"kind\":\"a\",\"x\":\"1\"}", "{\"kind\":\"c\",\"x\":1}", "{\"kind\":\"a\"}"],
    );
    check(
        &json!({"anyOf": [{"type": "array", "items": {"type": "integer"}, "maxItems": 1}, {"type": "array", "items": {"type": "number"}, "minItems": 2}]}),
        &["[]", "[1]", "[1,2]", "[1.5,2]", "[1,2.5]"],
        &["[1.5]", "[\"a\"]"],
    );
    check(
        &json!({"allOf": [{"properties": {"a": {"minimum": 3}}}, {"properties": {"a": {"type": "integer"}}, "required": ["a"], "type": "object"}]}),
        &["{\"a\":3}", "{\"a\":40,\"b\":[]}"],
        &["{\"a\":2}", "{\"a\":3.5}", "{}", "{\"a\":\"x\"}"],
    );
    check(
        &json!({"anyOf": [{"type": "string", "maxLength": 2}, {"type": "string", "pattern": "^x"}]}),
        &["\"ab\"", "\"xyz\"", "\"x\""],
        &["\"abc\""],
    );
    check(
        &json!({"anyOf": [{"type": "integer"}, {"type": "number", "minimum": 10}]}),
        &["1", "-5", "10.5", "11"],
        &["1.5", "-5.5"],
    );
}

#[test]
fn recursion() {
    let tree = json!({"$ref": "#/$defs/node", "$defs": {"node": {"type": "object", "properties": {"v": {"type": "integer"},
        "kids": {"type": "array", "items": {"$ref": "#/$defs/node"}}}, "required": ["v", "kids"], "additionalProperties": false}}});
    check(
        &tree,
        &[
            "{\"v\":1,\"kids\":[]}",
            "{\"v\":1,\"kids\":[{\"v\":2,\"kids\":[]},{\"v\":3,\"kids\":[{\"v\":4,\"kids\":[]}]}]}",
        ],
        &["{\"v\":1}", "{\"v\":1,\"kids\":[1]}"],
    );
    let list = json!({"anyOf": [{"type": "null"}, {"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"], "additionalProperties": false}]});
    check(&list, &["null", "{\"next\":null}", "{\"next\":{\"next\":null}}"], &["{}", "{\"next\":1}"]);
    unsatisfiable(
        &json!({"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]}),
        "/properties/next",
    );
}

#[test]
fn blanks() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}, "b": {"type": "object"}}});
    check_with(
        &schema,
        &SchemaOptions::default(),
        &["{\"a\": [1, 2], \"b\": {}}", "{}"],
        &["{\"a\":[1]}", "{ }", "{\"a\": [1,2]}"],
    );
    check_with(
        &schema,
        &SchemaOptions::default().whitespace(Whitespace::Indent(2)),
        &["{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {}\n}", "{}", "{\n  \"a\": []\n}"],
        &["{\"a\": [1]}", "{\n}", "{\n  \"a\": [1]\n}", "{\n   \"a\": []\n}"],
    );
    check_with(
        &schema,
        &SchemaOptions::default().whitespace(Whitespace::Flexible(3)),
        &["{\"a\":[1,2]}", " { \"a\" :\t[ 1 , 2 ] }", "{\n\n\n\"a\":[]}", "{   }"],
        &["{    }", "{\"a\": [1] } ", "{\"a\":[1]}\n"],
    );
}

#[test]
fn messages_name_the_place_once() {
    let said = |schema: Value| {
        let options = SchemaOptions::default();
        let error = JsonAutomaton::new(schema_from_value(&schema, &options).unwrap(), &options, Spelling::default());
        error.unwrap_err().to_string()
    };
    assert_eq!(said(json!(false)), "no value can satisfy the schema");
    assert_eq!(
        said(json!({"type": "array", "items": false, "minItems": 1})),
        "no value can satisfy the schema at /items"
    );
    assert_eq!(
        said(json!({"type": "string", "pattern": "(?<=a(?=b))c"})),
        "the pattern at /pattern can't be used: a look-behind may not look at what follows it"
    );
}

#[test]
fn a_vocabulary_that_lacks_bytes() {
    let options = SchemaOptions::default();
    let mut spelling = Spelling::default();
    spelling.alphabet.remove(0xF0);
    let compile = |schema: Value| JsonAutomaton::new(schema_from_value(&schema, &options).unwrap(), &options, spelling);
    let error = compile(json!({"const": "a😀"})).unwrap_err();
    assert_eq!(error.code(), "unspellable");
    assert!(error.to_string().contains("'😀' (U+1F600)"), "{error}");
    let automaton = compile(json!({"enum": ["a😀", "b"]})).unwrap();
    assert_eq!(read(&automaton, "\"a").err(), Some(1));
    assert_eq!(compile(json!({"type": "object", "required": ["😀"]})).unwrap_err().code(), "unspellable");
}

#[test]
fn more_counted_forms_than_are_combined() {
    let counted = |form: Value| json!({"contains": form, "minContains": 0, "maxContains": 1});
    for wide in [0, 8] {
        let mut all: Vec<Value> = (1..=8).map(|n| counted(json!({ "const": n }))).collect();
        all.insert(wide, counted(json!({"minimum": 0})));
        let mut schema = json!({"type": "array", "items": {"type": "integer", "minimum": 0}, "allOf": all});
        check(&schema, &["[]"], &["[3,3]", "[3,4]", "[30,4]"]);
        // Two items would both be counted.
        schema["minItems"] = json!(2);
        let options = SchemaOptions::default();
        let checked = schema_from_value(&schema, &options).unwrap();
        assert!(JsonAutomaton::new(checked, &options, Spelling::default()).is_err(), "{schema}");
    }
}

#[test]
fn distinct_items_of_which_none_is_counted() {
    let short = json!({"oneOf": [{"type": "string", "maxLength": 2}]});
    let items = json!({"type": "string", "minLength": 2, "maxLength": 3});
    let schema = json!({
        "minItems": 2, "type": "array", "uniqueItems": true, "items": items, "contains": short, "minContains": 0, "maxContains": 0,
    });
    check(&schema, &[r#"["abc","abd"]"#], &[r#"["abc","abc"]"#, r#"["ab","abc"]"#, "[]", r#"["abc"]"#]);

    let schema =
        json!({"minItems": 2, "type": "array", "uniqueItems": true, "items": {"type": "string", "pattern": "\\n"}});
    check(&schema, &[r#"["\n","a\n"]"#], &[r#"["\n","\n"]"#, r#"["\n"]"#, "[]"]);
    // However long they are.
    let schema =
        json!({"minItems": 2, "type": "array", "uniqueItems": true, "items": {"type": "string", "minLength": 9_000}});
    check(&schema, &[], &["[]"]);
    let automaton = compile(&schema, &SchemaOptions::default());
    let (seq, state) = read(&automaton, "[").unwrap();
    finish(&automaton, seq, state, "[");
}

#[test]
fn items_that_differ_from_many_near_ones() {
    let item = json!({"type": "array", "minItems": 1, "prefixItems": [{"type": "string", "maxLength": 1}]});
    let schema = json!({"type": "array", "uniqueItems": true, "contains": item, "minContains": 2});
    let options = SchemaOptions::default().whitespace(Whitespace::Flexible(2));
    check_with(&schema, &options, &[r#"[[""],[ "a"]]"#], &[r#"[[""],[""]]"#]);
    // More than are tried one after another.
    let mut texts: Vec<String> = (b'!'..=b'~').map(|c| json!([char::from(c).to_string()]).to_string()).collect();
    texts.extend((0..300_u32).filter_map(|n| char::from_u32(0x100 + n)).map(|c| json!([c.to_string()]).to_string()));
    let closed =
        json!({"type": "array", "minItems": 1, "maxItems": 1, "prefixItems": [{"type": "string", "maxLength": 1}]});
    for item in [&item, &closed] {
        let schema = json!({"type": "array", "uniqueItems": true, "items": item, "minItems": texts.len() + 2});
        let automaton = compile(&schema, &options);
        let text = format!("[{},[", texts.join(","));
        let (seq, state) = read(&automaton, &text).unwrap();
        finish(&automaton, seq, state, &text);
    }
}

#[test]
fn distinct_items_that_hold_each_other() {
    // Two different values are needed for a second one.
    let array = json!({"type": "array", "uniqueItems": true, "contains": {"$ref": "#"}, "minContains": 2});
    let schema = json!({"anyOf": [array, {"type": "null"}]});
    check(&schema, &["null"], &["[", "[null,[null]]"]);
    let schema = json!({"anyOf": [array, {"type": "boolean"}]});
    check(&schema, &["true", "[true,0,false]", "[[true,false],true]"], &["[true,0]", "[[true],true]"]);
}

#[test]
fn distinct_objects_with_more_keys_than_are_named() {
    let item = json!({"type": "object", "required": ["b", "é"], "additionalProperties": {"const": null}});
    let mut schema = json!({"type": "array", "uniqueItems": true, "contains": item, "minContains": 2});
    let texts = [
        r#"[{"b":null,"é":null},{"b":null,"é":null,"x":null}]"#,
        r#"[{"b":null,"é":null},{"a":null,"é":null,"b":null}]"#,
    ];
    let rejects = [r#"[{"b":null,"é":null},{"b":null,"é":null}]"#];
    check(&schema, &texts, &rejects);
    // With numbers before them, of which there are enough to be looked at instead.
    schema["unevaluatedItems"] = json!({"not": {"multipleOf": 0.01}});
    check_with(&schema, &SchemaOptions::default().whitespace(Whitespace::Flexible(2)), &texts, &rejects);
}

#[test]
fn numbers_that_are_only_watched_whatever_is_spelled() {
    let schema = json!({"type": "array", "minItems": 1, "contains": {"multipleOf": 12345.6}, "minContains": 0, "maxContains": 0, "prefixItems": [{"not": {"multipleOf": 0.01}}]});
    let options = SchemaOptions::default();
    let mut spelling = Spelling::default();
    for byte in b"a-e5" {
        spelling.alphabet.remove(*byte);
    }
    let automaton = JsonAutomaton::new(schema_from_value(&schema, &options).unwrap(), &options, spelling).unwrap();
    for text in ["[0.3970", "[0.39701234", "[123"] {
        let (seq, state) = read(&automaton, text).unwrap();
        finish(&automaton, seq, state, text);
    }
}

#[test]
fn a_second_value_that_costs_more_than_the_array_seems_to() {
    let schema = json!({"type": "array", "uniqueItems": true, "contains": {"enum": [null, {"a": {"ab": null}}]}, "minContains": 2});
    check(&schema, &[r#"[null,{"a":{"ab":null}}]"#], &["[null,null]", "[null]"]);
    let empty = json!({"type": "object", "maxProperties": 0});
    let rest = json!({"type": "array", "minItems": 1, "items": {"enum": [[null, null]]}});
    let schema = json!({"type": "array", "minItems": 2, "uniqueItems": true, "contains": empty, "minContains": 0, "unevaluatedItems": rest});
    let twice = json!({"not": {"not": {"$ref": "#/$defs/a"}}, "$defs": {"a": schema}});
    for schema in [schema, twice] {
        check(&schema, &["[[[null,null]],{}]", "[{},[[null,null]]]"], &["[{},{}]", "[{}]"]);
    }
}

#[test]
fn distinct_values_of_one_alternative_beside_many_of_another() {
    let recursive = json!({"oneOf": [{"$ref": "#"}, {"type": "object"}]});
    let schema = json!({
        "type": "array", "uniqueItems": true, "contains": recursive, "minContains": 1, "prefixItems": [true, true], "unevaluatedItems": {"enum": [null]},
    });
    check(&schema, &["[{}]", "[1,[{}]]", r#"[{},{"a":[]},null]"#], &["[1,2]", "[1,1,{}]"]);
}

#[test]
fn an_empty_array_is_held_against_one_that_begins() {
    let schema = json!({
        "type": "array", "minItems": 1, "uniqueItems": true, "contains": {"enum": [[]]}, "minContains": 1, "unevaluatedItems": {"type": "object"},
    });
    check(&schema, &["[[]]", "[[],{}]", "[{},[]]"], &["[[],[", "[{},{}", "[{}]"]);
}

#[test]
fn distinct_values_of_forms_that_hold_each_other_in_great_numbers() {
    let inner = json!({"type": "array", "minItems": 2, "uniqueItems": true, "contains": {"const": 0}, "minContains": 0, "items": {"$ref": "#"}});
    let number = json!({"type": "number", "minimum": 0.25, "maximum": 2});
    let first = json!({"type": "integer", "minimum": 0, "maximum": 4});
    let schema = json!({
        "type": "array", "contains": number, "minContains": 1, "maxContains": 1, "prefixItems": [first, inner], "items": {"type": "integer", "minimum": -46, "maximum": -41},
    });
    check(&schema, &["[2]", "[2,[[1],[2]]]"], &["[2,[[1]]]", "[2,[[1],[1]]]", "[0]"]);
}

#[test]
fn distinct_values_that_are_hard_to_find_or_are_none() {
    let item =
        json!({"type": "array", "contains": {"type": "null"}, "minContains": 2, "prefixItems": [{"type": "string"}]});
    let schema = json!({"type": "array", "uniqueItems": true, "contains": true, "minContains": 2, "items": item});
    let text = r#"[["",null,null],["a",null,null]]"#;
    check(&schema, &[text], &[r#"[["",null,null],["",null,null]]"#, r#"[["",null,null]]"#]);
    let recursive = json!({"type": "array", "uniqueItems": true, "contains": {"$ref": "#"}, "minContains": 2});
    check(&json!({"anyOf": [{"enum": [[]]}, recursive]}), &["[]"], &["[1", "[[],"]);
}

#[test]
fn a_new_item_beside_one_that_is_owed() {
    let schema =
        json!({"type": "array", "uniqueItems": true, "contains": {"const": false}, "minContains": 1, "maxContains": 1});
    check(
        &schema,
        &["[false]", "[null,1,false]", "[false,null,[null]]"],
        &["[null,null,false]", "[null,1]", "[false,false]"],
    );
    // Nothing else begins so.
    let twice = json!({"not": {"not": {"$ref": "#/$defs/a"}}, "$defs": {"a": schema}});
    for schema in [schema, twice] {
        let automaton = compile(&schema, &SchemaOptions::default().whitespace(Whitespace::Compact));
        for (text, at) in [("[null,n", 6), ("[1,null,n", 8), ("[false,f", 7), ("[true,t", 6)] {
            assert_eq!(read(&automaton, text).err(), Some(at), "{schema}: {text}");
        }
    }
}

#[test]
fn a_repeated_number_has_no_more_digits_than_its_first() {
    let mut limits = Limits::default();
    limits.digits = 6;
    let distinct = json!({"type": "array", "uniqueItems": true});
    for (schema, text) in [
        (json!({ "not": distinct }), "[92E08,9200000"),
        (json!({ "not": distinct }), "[797e05,797"),
        (json!({ "not": distinct }), "[[0,{\"a\":825085.596424E7}],[0,{\"a\":825085"),
        // The first item has room for more.
        (json!({"not": distinct, "prefixItems": [{"minimum": 100_000_000}]}), "[123456789,"),
        (json!({"not": distinct, "prefixItems": [{"minimum": 100_000_000}]}), "["),
    ] {
        for numbers in [Numbers::Plain, Numbers::Any] {
            let options = SchemaOptions::default().whitespace(Whitespace::Compact).numbers(numbers).limits(limits);
            let automaton = compile(&schema, &options);
            let validator = jsonschema::validator_for(&schema).unwrap();
            for at in 0..=text.len() {
                let Ok((seq, state)) = read(&automaton, &text[..at]) else { break };
                let whole = finish(&automaton, seq, state, &text[..at]);
                assert!(validator.is_valid(&serde_json::from_slice(&whole).unwrap()), "{schema}: {text}");
            }
        }
    }
}

#[test]
fn distinct_numbers_that_the_vocabulary_spells() {
    let counted = json!({"not": {"multipleOf": 2}});
    let zero = json!({"type": "number", "minimum": 0, "maximum": 0});
    let schema = json!({
        "type": "array", "minItems": 1, "uniqueItems": true, "contains": counted, "minContains": 0, "maxContains": 0, "unevaluatedItems": zero,
    });
    let options = SchemaOptions::default().whitespace(Whitespace::Compact).numbers(Numbers::Any);
    let mut spelling = Spelling::default();
    spelling.alphabet.remove(b'1');
    let automaton = JsonAutomaton::new(schema_from_value(&schema, &options).unwrap(), &options, spelling).unwrap();
    for (text, dead) in [("[0,", 2), ("[-0.00e9,", 8)] {
        assert_eq!(read(&automaton, text).err(), Some(dead), "{text}");
        let (seq, state) = read(&automaton, &text[..dead]).unwrap();
        finish(&automaton, seq, state, &text[..dead]);
    }
}

#[test]
fn a_condition_that_nothing_hangs_on_says_nothing() {
    let recursive =
        json!({"oneOf": [{"$ref": "#"}, {"type": "string", "minLength": 1}, {"enum": [[1, 2], ["é", null]]}]});
    let schema = json!({
        "type": "array", "minItems": 2, "maxItems": 3, "uniqueItems": true, "contains": {"type": "array"}, "minContains": 2, "items": {"if": recursive},
    });
    check(&schema, &["[[],[0]]", "[[],1,[[]]]", "[[],[[1],[2]]]"], &["[[],[]]", "[[],1]", "[[],[1],[2],[3]]"]);
    // Unless somebody asks what it has evaluated.
    let schema = json!({"type": "object", "if": {"properties": {"a": {"const": 1}}, "required": ["a"]}, "unevaluatedProperties": false});
    check(&schema, &["{}", r#"{"a":1}"#], &[r#"{"a":2}"#, r#"{"b":1}"#]);
}

#[test]
fn multiples_of_a_long_number_without_a_digit() {
    let number = json!({"type": "number", "multipleOf": 12345.6});
    let counted = json!({"type": "number", "minimum": 0.5, "maximum": 1});
    let array =
        json!({"type": "array", "minItems": 1, "contains": counted, "minContains": 0, "prefixItems": [number.clone()]});
    let mut spelling = Spelling::default();
    spelling.alphabet.remove(b'0');
    for (schema, text) in [(number, ""), (array.clone(), "["), (json!({ "oneOf": [array] }), "[61")] {
        let options = SchemaOptions::default().whitespace(Whitespace::Compact);
        let automaton = JsonAutomaton::new(schema_from_value(&schema, &options).unwrap(), &options, spelling).unwrap();
        let (seq, state) = read(&automaton, text).unwrap();
        let whole = finish(&automaton, seq, state, text);
        assert!(jsonschema::is_valid(&schema, &serde_json::from_slice(&whole).unwrap()), "{schema}");
    }
}

#[test]
fn a_repeated_item_is_one_that_may_stand_there() {
    let distinct = json!({"type": "array", "uniqueItems": true, "prefixItems": [{"$ref": "#/$defs/a"}]});
    let schema = json!({"oneOf": [{"enum": [[null, false, null]]}, distinct]});
    for schema in [json!({"$ref": "#/$defs/a"}), json!({"not": {"not": {"$ref": "#/$defs/a"}}})].map(|root| {
        let mut root = root;
        root["$defs"] = json!({ "a": schema });
        root
    }) {
        check(&schema, &["[null,false,null]", "[[],1]"], &["[null,null,null]", "[null,false]", "[[],[]]"]);
    }
}

#[test]
fn an_item_leaves_those_after_it_their_values() {
    let first = json!({"oneOf": [{"enum": [{}]}, {"type": "number", "minimum": 0.75, "maximum": 1}]});
    let schema = json!({"type": "array", "minItems": 2, "uniqueItems": true, "prefixItems": [first, {"enum": [{}]}]});
    check(&schema, &["[1,{}]", "[0.75,{}]"], &["[{},{}]", "[{", "[{}"]);
    assert_eq!(read(&compile(&schema, &SchemaOptions::default()), "[{").err(), Some(1));
    let number = json!({"type": "number", "minimum": -1.5, "maximum": -1});
    let schema = json!({
        "type": "array", "uniqueItems": true, "contains": number, "minContains": 2, "prefixItems": [true, {"type": "integer"}], "maxItems": 2,
    });
    for numbers in [Numbers::Plain, Numbers::Any] {
        let options = SchemaOptions::default().whitespace(Whitespace::Compact).numbers(numbers);
        check_with(&schema, &options, &["[-1.5,-1]", "[-1.25,-1]"], &["[-1,-1]", "[-1,", "[-1E", "[-2,-1]"]);
    }
}

#[test]
fn a_number_goes_on_where_it_would_repeat_another() {
    let short = json!({"type": "array", "uniqueItems": true, "prefixItems": [true], "maxItems": 1});
    let schema = json!({"type": "array", "minItems": 2, "maxItems": 3, "uniqueItems": true, "contains": short, "minContains": 2});
    let options = SchemaOptions::default().whitespace(Whitespace::Flexible(2));
    check_with(&schema, &options, &["[[4], 85187.182884, [41]]", "[[4],[]]"], &["[[4],[4]]", "[[4],1]"]);
}

#[test]
fn long_alternatives_are_not_listed() {
    let long = |letter: &str| format!("^({letter}|{}){{900}}$", "c".repeat(150));
    let schema = json!({
        "properties": {"a": {"pattern": long("a")}, "b": {"pattern": long("b")}},
        "patternProperties": {long("d"): false},
        "required": ["a", "b"],
    });
    let checked = schema_from_value(&schema, &SchemaOptions::default()).expect("the schema is well formed");
    let automaton =
        JsonAutomaton::new(checked, &SchemaOptions::default(), Spelling::default()).expect("the schema can be met");
    assert!(read(&automaton, "{\"a\": \"aaccc").is_ok());
    assert!(read(&automaton, "{\"a\": \"ab").is_err());
}

#[test]
fn an_item_that_may_equal_another_is_completed() {
    let distinct = json!({"type": "array", "minItems": 1, "uniqueItems": true});
    let schema = json!({
        "type": "array", "minItems": 1, "maxItems": 3, "prefixItems": [{"not": {"$ref": "#/$defs/d"}}, {"type": "integer", "minimum": 12}],
        "contains": {"type": "array", "minItems": 2, "maxItems": 3}, "minContains": 2, "unevaluatedItems": {"$ref": "#/$defs/d"},
        "$defs": {"d": distinct},
    });
    let options = SchemaOptions::default().whitespace(Whitespace::Flexible(2));
    let valid = ["[[92,{},{}],12,[0,1]]", "[[{}, 92, {}],12,[0,1]]", "[[\"a\",[],\"a\"],12,[0,1]]"];
    check_with(&schema, &options, &valid, &["[[92,{}]", "[[92,{},1]", "[[92,{},{}],12,[0]]"]);
}

#[test]
fn an_item_is_counted_as_it_was_planned_where_alternatives_are_cut_off() {
    let zero = json!({"type": "number", "minimum": 0, "maximum": 0});
    let schema = json!({
        "type": "array", "minItems": 2, "prefixItems": [{"type": "array"}], "unevaluatedItems": {"$ref": "#"},
        "contains": {"oneOf": [zero, {"enum": [[null, null]]}, {"$ref": "#"}]}, "minContains": 1, "maxContains": 1,
    });
    let options = SchemaOptions::default().whitespace(Whitespace::Compact);
    check_with(&schema, &options, &["[[],0]"], &["[[],1]", "[[],[]]", "[0"]);
}

#[test]
fn values_too_long_to_be_written_are_left_out() {
    let limited = |schema: &Value| {
        let checked = schema_from_value(schema, &SchemaOptions::default()).unwrap();
        JsonAutomaton::new(checked, &SchemaOptions::default(), Spelling::default()).unwrap_err().to_string()
    };
    let too_long = [
        (json!({"type": "string", "minLength": 3_000_000_000_u32}), "\""),
        (json!({"type": "array", "minItems": 3_000_000_000_u32}), "["),
        (
            json!({"type": "array", "prefixItems": [{"type": "string", "minLength": 3_000_000_000_u32}], "minItems": 1}),
            "[",
        ),
        (json!({"type": "object", "minProperties": 10_002_000_000_u64}), "{"),
        (json!({"type": "object", "propertyNames": {"pattern": "^a"}, "minProperties": 3_000_000_000_u32}), "{"),
        (
            json!({"type": "object", "required": ["a"], "properties": {"a": {"minItems": 90_000_000, "type": "array"}}}),
            "{",
        ),
        (
            json!({"type": "object", "required": ["a", "b"], "additionalProperties": {"type": "string", "minLength": 9_000_000}}),
            "{",
        ),
    ];
    for (schema, first) in too_long {
        assert!(limited(&schema).contains("`shortest_text`"), "{schema}: {}", limited(&schema));
        // Beside another value they are not begun: what is begun can be completed.
        let either = json!({"anyOf": [{"type": "null"}, schema]});
        let automaton = compile(&either, &SchemaOptions::default());
        assert_eq!(read(&automaton, first).err(), Some(0), "{either}");
        let mut seq = Frames::new();
        let start = automaton.start(&mut seq);
        assert_eq!(finish(&automaton, seq, start, ""), b"null");
        assert!(automaton.undecided() > 0, "{either}");
        // A complement stays what it is.
        let not = json!({"type": ["string", "array", "object"], "not": either});
        let automaton = compile(&not, &SchemaOptions::default());
        for text in ["\"a\"", "[]", "{}"] {
            assert!(
                read(&automaton, text).is_ok_and(|(seq, state)| automaton.is_accepting(&seq, state)),
                "{not}: {text}"
            );
        }
    }
}

#[test]
fn alternatives_that_multiply_are_bounded() {
    // Each array that is excluded leaves several alternatives of each other one, again and again: this took minutes.
    let inner = json!({
        "type": "array", "minItems": 2, "uniqueItems": true, "contains": {"enum": [[true]]}, "minContains": 2, "maxContains": 4,
        "prefixItems": [{
            "type": "array", "minItems": 2, "maxItems": 4,
            "prefixItems": [
                {"type": "number", "multipleOf": 1, "minimum": -18, "maximum": -9},
                {"type": "integer", "minimum": 267, "maximum": 542},
            ],
        }],
        "items": {"type": "integer", "minimum": 223, "maximum": 364},
    });
    let schema = json!({
        "type": "array", "minItems": 2, "maxItems": 3, "uniqueItems": true, "minContains": 2, "unevaluatedItems": {"type": "null"},
        "contains": {"if": {"oneOf": [{"$ref": "#"}, {"$ref": "#/$defs/d"}]}, "then": {"type": "number", "minimum": 0, "maximum": 0}},
        "$defs": {"d": inner},
    });
    let mut limits = Limits::default();
    limits.digits = 6;
    let options = SchemaOptions::default().whitespace(Whitespace::Compact).limits(limits);
    check_with(&schema, &options, &[r#"["a","b"]"#], &[r#"["a","a"]"#, r#"["a"]"#]);
    // Where that is not enough, the limit is named.
    let branch = |i: u32| {
        json!({
            "type": "array", "minItems": i, "maxItems": i + 50, "items": {"type": ["string", "number"]}, "contains": {"const": i},
        })
    };
    let schema = json!({"oneOf": (0..30).map(branch).collect::<Vec<_>>()});
    limits.steps = 10_000;
    let options = options.limits(limits);
    let checked = schema_from_value(&schema, &options).unwrap();
    let error = JsonAutomaton::new(checked, &options, Spelling::default()).unwrap_err().to_string();
    assert!(error.contains("limit `steps` (10000)"), "{error}");
}

#[test]
fn long_patterns_are_looked_through_within_bounds() {
    // Each state of it is at some 40,000 places in the pattern.
    let run = "'".repeat(41);
    let pattern = format!("^{run}+{run}('''+{}){{424}}$", "'".repeat(31));
    let schema =
        json!({"properties": {"a": {"pattern": "^(a|b){251}$"}, "b": {"pattern": pattern}}, "required": ["a", "b"]});
    let checked = schema_from_value(&schema, &SchemaOptions::default()).unwrap();
    // This took ten seconds and half a gigabyte.
    let compiled = JsonAutomaton::new(checked, &SchemaOptions::default(), Spelling::default());
    assert!(compiled.is_ok_and(|automaton| automaton.heap_bytes() < 1 << 28));
}

#[test]
fn branches_that_each_need_a_key_exclude_each_other() {
    let branch = |i: usize| json!({"type": "object", "required": [format!("k{i}")], "properties": {format!("k{i}"): {"type": "string"}}});
    let schema = json!({"oneOf": (0..150).map(branch).collect::<Vec<_>>()});
    let options = SchemaOptions::default().whitespace(Whitespace::Compact);
    // With so many branches, this took minutes.
    check_with(
        &schema,
        &options,
        &[r#"{"k7":"a"}"#, r#"{"k8":1,"k9":""}"#],
        &[r#"{"k7":"a","k8":"b"}"#, r#"{"k7":1}"#],
    );
}

#[test]
fn many_members_are_completed_one_after_another() {
    let schema = json!({"type": "object", "minProperties": 12_000});
    let automaton = compile(&schema, &SchemaOptions::default().whitespace(Whitespace::Compact));
    let mut seq = Frames::new();
    let start = automaton.start(&mut seq);
    // Beginning by beginning, this took minutes.
    let whole = finish(&automaton, seq, start, "");
    assert!(jsonschema::is_valid(&schema, &serde_json::from_slice(&whole).unwrap()));
    // More keys were used than are looked at for a new one.
    let at = whole.len() * 9 / 10;
    let text = std::str::from_utf8(&whole[..=at + whole[at..].iter().position(|b| *b == b',').unwrap()]).unwrap();
    let (seq, state) = read(&automaton, text).unwrap();
    let value: Value = serde_json::from_slice(&finish(&automaton, seq, state, text)).unwrap();
    assert!(jsonschema::is_valid(&schema, &value));
}

#[test]
fn values_too_long_to_be_planned_are_told_from_others() {
    let schema = json!({"type": "array", "contains": {"type": "object", "minProperties": 60}, "minContains": 0, "maxContains": 1});
    let mut limits = Limits::default();
    limits.shortest_text = 200;
    let options = SchemaOptions::default().whitespace(Whitespace::Compact).limits(limits);
    let members: Vec<String> = (0..60).map(|n| format!("\"{n}\":0")).collect();
    let long = format!("{{{}}}", members.join(","));
    let automaton = compile(&schema, &options);
    for text in [format!("[{long}]"), format!("[{long},0]")] {
        assert!(read(&automaton, &text).is_ok_and(|(seq, state)| automaton.is_accepting(&seq, state)), "{text}");
    }
    let second = format!("[{long},{long}]");
    assert!(read(&automaton, &second).is_err());
}

#[test]
fn what_is_begun_is_completed_beyond_the_limit() {
    let schema = json!({
        "type": "array", "minItems": 1, "uniqueItems": true,
        "prefixItems": [{"type": "number", "minimum": -3, "maximum": -2.75}, {"enum": [[], [0, "abab", [-0.25, "a", null]]]}],
    });
    let mut limits = Limits::default();
    (limits.shortest_text, limits.digits) = (24, 6);
    let options = SchemaOptions::default().whitespace(Whitespace::Compact).numbers(Numbers::Any).limits(limits);
    let automaton = compile(&schema, &options);
    let text = "[-0.30E001,";
    for at in 0..=text.len() {
        let (seq, state) = read(&automaton, &text[..at]).unwrap();
        let value: Value = serde_json::from_slice(&finish(&automaton, seq, state, &text[..at])).unwrap();
        assert!(jsonschema::is_valid(&schema, &value), "{value}");
    }
}

#[test]
fn a_number_takes_no_value_that_the_next_one_needs() {
    let schema = json!({
        "type": "object", "required": ["a"],
        "additionalProperties": {
            "type": "array", "uniqueItems": true, "contains": {"type": "number", "exclusiveMinimum": 4.75, "maximum": 5.0}, "minContains": 2,
            "prefixItems": [{"type": "number", "minimum": 4.0, "maximum": 5.0}, {"type": "number", "multipleOf": 0.25}],
            "items": {"$ref": "#"},
        },
    });
    let mut limits = Limits::default();
    for digits in [6, limits.digits] {
        limits.digits = digits;
        let options = SchemaOptions::default().whitespace(Whitespace::Compact).limits(limits);
        check_with(&schema, &options, &[r#"{"a":[4.8,5]}"#], &[r#"{"a":[5,5]}"#]);
        assert_eq!(read(&compile(&schema, &options), r#"{"a":[5"#).err(), Some(6));
        check_with(&schema, &options.numbers(Numbers::Any), &[r#"{"a":[4.8,5]}"#], &[r#"{"a":[5,5]}"#]);
    }
}

#[test]
fn a_distinct_array_that_holds_what_is_owed_is_found_among_many() {
    let options = SchemaOptions::default().whitespace(Whitespace::Compact);
    for (inner, valid) in [
        (json!({"type": "integer", "minimum": 56, "maximum": 56}), "[1,[56]]"),
        (json!({"type": "string"}), "[null,[\"\"]]"),
    ] {
        let schema = json!({"type": "array", "uniqueItems": true, "contains": {"type": "array", "contains": inner}});
        check_with(&schema, &options, &[valid], &["[1]", "[[]]"]);
    }
}
