//! Each keyword, in each draft that has it.

use formwork_grammar::{Applicator, Draft, Format, NodeKind, Schema, SchemaOptions, StringFormat, schema_from_value};
use serde_json::{Value, json};

use crate::evaluate::valid;

fn of(draft: Draft) -> SchemaOptions {
    SchemaOptions::default().draft(draft)
}

/// What one keyword accepts and rejects in each draft from `since` on; in the drafts before, it is ignored with a warning.
fn check(since: Draft, schema: &Value, accepted: &[Value], rejected: &[Value]) {
    for draft in Draft::ALL {
        let options = of(draft);
        for value in accepted {
            assert!(valid(schema, &options, value), "{draft:?} {schema} {value}");
        }
        for value in rejected {
            assert_eq!(valid(schema, &options, value), draft < since, "{draft:?} {schema} {value}");
        }
        let warned = !read(schema, &options).warnings().is_empty();
        assert_eq!(warned, draft < since, "{draft:?} {schema}");
    }
}

fn read(schema: &Value, options: &SchemaOptions) -> Schema {
    schema_from_value(schema, options).unwrap()
}

fn applicators(schema: &Schema) -> &[Applicator] {
    match &schema.node(schema.root()).kind {
        NodeKind::Keywords(keywords) => &keywords.applicators,
        other => panic!("{other:?}"),
    }
}

/// The code and the pointer of the error.
fn refused(schema: &Value, options: &SchemaOptions) -> (&'static str, String) {
    let error = schema_from_value(schema, options).unwrap_err();
    (error.code(), error.pointer().unwrap().to_owned())
}

#[test]
fn combinators() {
    let (old, seven) = (Draft::Draft4, Draft::Draft7);
    check(old, &json!({"oneOf": [{"minimum": 2}, {"maximum": 3}]}), &[json!(1), json!(4)], &[json!(2)]);
    check(old, &json!({"not": {"type": "string"}}), &[json!(1)], &[json!("")]);
    let schema = json!({"if": {"minimum": 0}, "then": {"maximum": 9}, "else": {"type": "null"}});
    check(seven, &schema, &[json!(3)], &[json!(10), json!(-1)]);
}

#[test]
fn objects() {
    let (old, six, nineteen) = (Draft::Draft4, Draft::Draft6, Draft::Draft201909);
    let ab = &[json!({"a": 1, "b": 2})];
    check(old, &json!({"minProperties": 1.0, "maxProperties": 2}), ab, &[json!({})]);
    check(old, &json!({"patternProperties": {"^a": {"type": "null"}}}), &[json!({"ba": 1})], &[json!({"ab": 1})]);
    check(six, &json!({"propertyNames": {"maxLength": 1}}), ab, &[json!({"ab": 1})]);
    check(
        nineteen,
        &json!({"dependentRequired": {"a": ["b", "b"]}}),
        &[ab[0].clone(), json!({"b": 1})],
        &[json!({"a": 1})],
    );
    check(nineteen, &json!({"dependentSchemas": {"a": {"minProperties": 2}}}), ab, &[json!({"a": 1})]);
    check(
        old,
        &json!({"dependencies": {"a": ["b"], "b": {"minProperties": 2}}}),
        ab,
        &[json!({"a": 1}), json!({"b": 1})],
    );
    let schema = json!({"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": {"type": "string"}});
    check(nineteen, &schema, &[json!({"a": 1, "b": ""})], ab);
}

#[test]
fn arrays() {
    let (old, six, nineteen) = (Draft::Draft4, Draft::Draft6, Draft::Draft201909);
    check(old, &json!({"uniqueItems": true}), &[json!([1, "1"])], &[json!([1, 1.0])]);
    check(six, &json!({"contains": {"type": "string"}}), &[json!([1, ""])], &[json!([]), json!([1])]);
    let counted = json!({"contains": {"type": "null"}, "minContains": 2, "maxContains": 2});
    for (draft, two) in [(Draft::Draft7, false), (nineteen, true)] {
        assert!(valid(&counted, &of(draft), &json!([null, 1, null])));
        assert_eq!(valid(&counted, &of(draft), &json!([null, 1])), !two);
        assert_eq!(valid(&counted, &of(draft), &json!([null, null, null])), !two);
    }
    check(Draft::Draft202012, &json!({"prefixItems": [{"type": "null"}]}), &[json!([null, 1])], &[json!([1])]);
    let schema = json!({"contains": {"type": "null"}, "unevaluatedItems": false});
    assert!(valid(&schema, &of(Draft::Draft202012), &json!([null])));
    assert!(!valid(&schema, &of(Draft::Draft201909), &json!([null])), "`contains` evaluates since 2020-12");
}

#[test]
fn multiples() {
    check(Draft::Draft4, &json!({"multipleOf": 0.01}), &[json!(19.99), json!("x")], &[json!(0.075)]);
    let options = SchemaOptions::default();
    for wrong in [json!(0), json!(-2), json!("2")] {
        assert_eq!(refused(&json!({"multipleOf": wrong}), &options), ("invalid_keyword", "/multipleOf".into()));
    }
    let huge: Value = serde_json::from_str(r#"{"multipleOf": 1e5000}"#).unwrap();
    assert_eq!(refused(&huge, &options), ("unsupported_keyword", "/multipleOf".into()));
    assert_eq!(read(&huge, &options.lenient(true)).relaxed()[0].pointer, "/multipleOf");
}

#[test]
fn values_of_the_wrong_kind_are_named() {
    for (keyword, value, pointer) in [
        ("oneOf", json!([]), "/oneOf"),
        ("patternProperties", json!({"a/(": {}}), "/patternProperties/a~1("),
        ("patternProperties", json!([]), "/patternProperties"),
        ("minProperties", json!(-1), "/minProperties"),
        ("uniqueItems", json!(1), "/uniqueItems"),
        ("minContains", json!("1"), "/minContains"),
        ("dependentRequired", json!({"a": "b"}), "/dependentRequired/a"),
        ("dependencies", json!({"a": [1]}), "/dependencies/a"),
        ("dependencies", json!({"a": "b"}), "/dependencies/a"),
        ("dependentSchemas", json!({"a": ["b"]}), "/dependentSchemas/a"),
        ("if", json!(3), "/if"),
        ("then", json!(3), "/then"),
        ("contains", json!([]), "/contains"),
        ("$ref", json!(1), "/$ref"),
        ("$schema", json!(1), "/$schema"),
    ] {
        assert_eq!(refused(&json!({keyword: value}), &SchemaOptions::default()).1, pointer);
    }
}

#[test]
fn applicators_stand_in_document_order() {
    let schema = json!({
        "else": {}, "$ref": "#/$defs/a", "if": {}, "oneOf": [{}], "properties": {}, "then": {}, "not": false,
        "dependentSchemas": {"a": {}}, "allOf": [{}], "$defs": {"a": {}}
    });
    let schema = read(&schema, &SchemaOptions::default());
    let names: Vec<&str> = applicators(&schema)
        .iter()
        .map(|applicator| match applicator {
            Applicator::Properties => "properties",
            Applicator::Ref(_) => "$ref",
            Applicator::AllOf(_) => "allOf",
            Applicator::AnyOf(_) => "anyOf",
            Applicator::OneOf(_) => "oneOf",
            Applicator::Not(_) => "not",
            Applicator::If { then: Some(_), otherwise: Some(_), .. } => "if",
            Applicator::If { .. } => "half an if",
            Applicator::Dependent(_) => "dependentSchemas",
        })
        .collect();
    assert_eq!(names, ["if", "$ref", "oneOf", "properties", "not", "dependentSchemas", "allOf"]);
}

#[test]
fn what_is_ignored_is_seen() {
    let warned = |schema: Value, options: &SchemaOptions| -> Vec<String> {
        read(&schema, options).warnings().iter().map(|warning| warning.pointer.clone()).collect()
    };
    let now = SchemaOptions::default();
    assert_eq!(warned(json!({"maxLenght": 3, "x-own": 1, "title": "t"}), &now), ["/maxLenght"]);
    assert_eq!(warned(json!({"then": {}, "minContains": 2}), &now), ["/then", "/minContains"]);
    assert_eq!(warned(json!({"additionalItems": false}), &now), ["/additionalItems"]);
    assert_eq!(warned(json!({"$defs": {}, "examples": [1]}), &of(Draft::Draft4)), [""; 0]);
    assert_eq!(warned(json!({"const": 1, "if": false}), &of(Draft::Draft4)), ["/const", "/if"]);
    assert_eq!(warned(json!({"$schema": "https://example.com/mine"}), &now), ["/$schema"]);
    assert_eq!(warned(json!({"format": "colour"}), &now), ["/format"]);
}

#[test]
fn formats_are_enforced_or_not() {
    let format = |options: &SchemaOptions| {
        let schema = read(&json!({"format": "uuid"}), options);
        schema.keywords().next().unwrap().string.formats.first().cloned()
    };
    for draft in Draft::ALL {
        assert_eq!(format(&of(draft)), Some((StringFormat::Uuid, "/format".to_owned())));
        assert_eq!(format(&of(draft).format(Format::Annotate)), None);
    }
}

#[test]
fn patterns_beyond_reach_are_left_to_validation_where_that_is_asked_for() {
    let schema = json!({"pattern": r"(a)\1"});
    let options = SchemaOptions::default();
    assert_eq!(refused(&schema, &options), ("regex_back_reference", "/pattern".into()));
    assert_eq!(read(&schema, &options.clone().lenient(true)).relaxed()[0].keyword, "pattern");
    assert_eq!(refused(&json!({"pattern": "("}), &options.lenient(true)).0, "regex_syntax");
}
