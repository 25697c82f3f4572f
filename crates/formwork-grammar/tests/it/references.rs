//! What references lead to.

use std::fmt::Write as _;

use formwork_grammar::{Draft, SchemaOptions, parse_schema, schema_from_value};
use serde_json::{Value, json};

use crate::evaluate::valid;

/// The one text that is accepted by way of the references.
fn leads_to(name: &str, schema: &Value, options: &SchemaOptions) {
    for other in ["one", "two", "three"] {
        assert_eq!(valid(schema, options, &json!(other)), other == name, "{schema} {other}");
    }
}

fn refused(schema: &Value, options: &SchemaOptions) -> (&'static str, String, String) {
    let error = schema_from_value(schema, options).unwrap_err();
    (error.code(), error.pointer().unwrap().to_owned(), error.to_string())
}

#[test]
fn pointers() {
    let options = SchemaOptions::default();
    for reference in
        ["#/$defs/a~1b~0c%25%22", "#/x-own/deeper/0", "#/properties/p/items", "json-schema:///#/$defs/a~1b~0c%25%22"]
    {
        let schema = json!({
            "$ref": reference,
            "$defs": {"a/b~c%\"": {"enum": ["one"]}},
            "x-own": {"deeper": [{"enum": ["one"]}]},
            "properties": {"p": {"items": {"enum": ["one"]}}}
        });
        leads_to("one", &schema, &options);
    }
    for wrong in ["#/$defs/b", "#/$defs/00", "#/%zz", "#missing", "other.json", "https://example.com/x#/a"] {
        let schema = json!({"properties": {"a": {"$ref": wrong}}, "$defs": {"a": {}}});
        let (code, pointer, message) = refused(&schema, &options);
        assert_eq!((code, pointer.as_str()), ("unresolved_reference", "/properties/a/$ref"));
        assert!(message.contains(wrong), "{message}");
    }
    assert_eq!(refused(&json!({"$ref": "#/title", "title": "t"}), &options).0, "not_a_schema");
}

#[test]
fn identifiers_and_anchors() {
    let anchors = |key: &str, name: &str| {
        json!({
            "id": "http://a/b/root", "$id": "http://a/b/root",
            "allOf": [{"$ref": "c/d#spot"}, {"$ref": "/b/c/d#/definitions/x"}, {"$ref": "#spot"}],
            "definitions": {
                "outer": {key: name, "enum": ["one", "two"]},
                "inner": {"id": "c/d", "$id": "c/d", "definitions": {"x": {key: name, "enum": ["one", "three"]}}},
                "data": {"enum": [{key: name, "$id": "http://a/b/c/d", "id": "http://a/b/c/d"}]}
            }
        })
    };
    leads_to("one", &anchors("id", "#spot"), &SchemaOptions::default().draft(Draft::Draft4));
    leads_to("one", &anchors("$id", "#spot"), &SchemaOptions::default().draft(Draft::Draft6));
    leads_to("one", &anchors("$id", "#spot"), &SchemaOptions::default().draft(Draft::Draft7));
    leads_to("one", &anchors("$anchor", "spot"), &SchemaOptions::default().draft(Draft::Draft201909));
    leads_to("one", &anchors("$anchor", "spot"), &SchemaOptions::default().draft(Draft::Draft202012));
}

#[test]
fn beside_a_reference_old_drafts_say_nothing() {
    let schema = json!({"$ref": "#/definitions/a", "maxLength": 1, "definitions": {"a": {"enum": ["one"]}}});
    leads_to("one", &schema, &SchemaOptions::default().draft(Draft::Draft7));
    let read = schema_from_value(&schema, &SchemaOptions::default().draft(Draft::Draft7)).unwrap();
    let warned: Vec<&str> = read.warnings().iter().map(|warning| warning.pointer.as_str()).collect();
    assert_eq!(warned, ["/maxLength"]);
    leads_to("none", &schema, &SchemaOptions::default().draft(Draft::Draft201909));
    // The identifier is no base, but still names the document.
    let own =
        json!({"$id": "http://a/r", "$ref": "http://a/r#/definitions/a", "definitions": {"a": {"enum": ["one"]}}});
    leads_to("one", &own, &SchemaOptions::default().draft(Draft::Draft7));
}

#[test]
fn documents() {
    let options = SchemaOptions::default()
        .document("http://a/list.json", json!({"$defs": {"x": {"$ref": "names.json"}}}))
        .document("http://a/names.json", json!({"$id": "http://b/own", "enum": ["one"], "$defs": {"n": 5}}))
        .document(
            "local.json",
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "http://b/own#", "minLength": 9}),
        );
    leads_to("one", &json!({"$ref": "http://a/list.json#/$defs/x"}), &options);
    leads_to("one", &json!({"$ref": "local.json"}), &options);
    let (code, pointer, _) = refused(&json!({"$ref": "http://b/own#/$defs/n"}), &options);
    assert_eq!((code, pointer.as_str()), ("not_a_schema", "http://a/names.json#/$defs/n"));
    for uri in ["http://json-schema.org/draft-04/schema#", "https://json-schema.org/draft/2020-12/schema"] {
        let schema = json!({"properties": {"a": {"$ref": uri}}});
        assert!(valid(&schema, &SchemaOptions::default(), &json!({"a": {"minLength": 1}})));
        assert!(!valid(&schema, &SchemaOptions::default(), &json!({"a": {"minLength": -1}})));
    }
}

#[test]
fn dynamic_anchors_lead_to_the_outermost() {
    let list = |anchor: Value, item: Value| {
        let mut list = json!({"$id": "list", "type": ["array", "string"], "items": item, "$defs": {"any": {}}});
        list["$defs"]["any"] = anchor;
        list
    };
    let schema = json!({
        "$id": "http://a/names", "$ref": "list",
        "$defs": {
            "name": {"$dynamicAnchor": "item", "enum": ["one"]},
            "list": list(json!({"$dynamicAnchor": "item"}), json!({"$dynamicRef": "#item"}))
        }
    });
    let options = SchemaOptions::default();
    assert!(valid(&schema, &options, &json!(["one"])) && !valid(&schema, &options, &json!(["two"])));
    let tree = json!({"$id": "http://a/tree", "$recursiveAnchor": true, "type": "object",
        "additionalProperties": {"$recursiveRef": "#"}});
    let strict = json!({"$id": "http://a/strict", "$recursiveAnchor": true, "$ref": "tree", "maxProperties": 1});
    let options = SchemaOptions::default().draft(Draft::Draft201909).document("http://a/tree", tree);
    assert!(valid(&strict, &options, &json!({"a": {"b": {}}})));
    assert!(!valid(&strict, &options, &json!({"a": {"b": {}, "c": {}}})));
}

#[test]
fn a_node_for_each_place_where_nothing_is_dynamic() {
    let schema = json!({
        "$defs": {"a": {"$id": "a", "properties": {"x": {"$ref": "a"}, "y": {"$ref": "#"}}}},
        "properties": {"p": {"$ref": "a"}, "q": {"$ref": "#/$defs/a"}}
    });
    assert_eq!(schema_from_value(&schema, &SchemaOptions::default()).unwrap().len(), 6);
}

#[test]
fn cycles_that_read_nothing_are_refused() {
    let options = SchemaOptions::default();
    for schema in [
        json!({"$ref": "#"}),
        json!({"not": {"$ref": "#"}}),
        json!({"if": {"$ref": "#"}}),
        json!({"dependentSchemas": {"a": {"$ref": "#"}}}),
        json!({"dependencies": {"a": {"oneOf": [{"$dynamicRef": "#"}]}}}),
    ] {
        assert_eq!(refused(&schema, &options).0, "reference_cycle", "{schema}");
    }
    for keyword in ["items", "contains", "additionalProperties", "unevaluatedItems", "unevaluatedProperties"] {
        assert!(schema_from_value(&json!({keyword: {"$ref": "#"}}), &options).is_ok(), "{keyword}");
    }
    let document = json!({"$ref": "json-schema:///"});
    let (_, pointer, message) = refused(&json!({"$ref": "http://a/b"}), &options.document("http://a/b", document));
    assert_eq!((pointer.as_str(), message.contains("# → http://a/b# → #")), ("", true), "{message}");
    let long: serde_json::Map<String, Value> =
        (0..50).map(|i| (i.to_string(), json!({"$ref": format!("#/$defs/{}", (i + 1) % 50)}))).collect();
    let (_, _, message) = refused(&json!({"$defs": long, "$ref": "#/$defs/0"}), &SchemaOptions::default());
    assert!(message.contains("#/$defs/3 → (43 more) → #/$defs/47"), "{message}");
}

#[test]
fn chains_in_place_have_an_end() {
    let chain = |length: usize| {
        let mut defs = serde_json::Map::new();
        for i in 0..length {
            // The last is read first, so that each finds the rest of its chain already followed.
            defs.insert(format!("d{i}"), json!({"$ref": format!("#/$defs/d{}", i + 1)}));
        }
        defs.insert(format!("d{length}"), json!({}));
        let all: Vec<Value> = (0..length).rev().map(|i| json!({"$ref": format!("#/$defs/d{i}")})).collect();
        json!({"$defs": defs, "prefixItems": all})
    };
    assert!(schema_from_value(&chain(200), &SchemaOptions::default()).is_ok());
    assert_eq!(refused(&chain(300), &SchemaOptions::default()).0, "limit_exceeded");
}

#[test]
fn vocabularies_that_are_left_out_or_unknown() {
    let metaschema = |vocabulary: Value| json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "$vocabulary": vocabulary});
    let schema = json!({"$schema": "http://a/meta", "minLength": 9, "allOf": [{"enum": ["two"]}]});
    let applicators = metaschema(json!({"https://json-schema.org/draft/2020-12/vocab/applicator": true}));
    let options = SchemaOptions::default().document("http://a/meta", applicators);
    assert!(valid(&schema, &options, &json!("one")), "the validation vocabulary is left out");
    let warned = schema_from_value(&schema, &options).unwrap();
    assert_eq!(warned.warnings().len(), 2);
    let units = metaschema(json!({"http://a/units": true}));
    let options = SchemaOptions::default().document("http://a/meta", units);
    assert_eq!(refused(&schema, &options).1, "/$schema");
}

#[test]
fn dynamic_scopes_beyond_all_use_are_refused() {
    // Each resource on the way adds an anchor, so that each has a longer scope than the one before.
    let mut text = String::from(r#"{"$ref": "r0", "$defs": {"end": {}"#);
    for i in 0..3_000 {
        let next = if i == 2_999 { "r0".to_owned() } else { format!("r{}", i + 1) };
        write!(text, r#","{i}": {{"$id": "r{i}", "$dynamicAnchor": "a{i}", "items": {{"$ref": "{next}"}}}}"#).unwrap();
    }
    text.push_str("}}");
    let error = parse_schema(&text, &SchemaOptions::default()).unwrap_err();
    assert!(error.to_string().contains("dynamic_scopes"), "{error}");
}

#[test]
fn large_schemas_are_read_in_linear_time() {
    let mut text = String::from(r#"{"$defs": {"#);
    for i in 0..60_000 {
        write!(text, r#""d{i}": {{"$id": "u{i}", "anyOf": [{{"$ref": "u{}"}}, true]}},"#, (i * 7 + 1) % 200).unwrap();
    }
    text.push_str(r#""end": {}}, "properties": {"#);
    for i in 0..60_000 {
        write!(text, r##""p{i}": {{"$ref": "#/$defs/d{i}/anyOf/1"}},"##).unwrap();
    }
    text.push_str(r#""end": {}}}"#);
    let schema = parse_schema(&text, &SchemaOptions::default()).unwrap();
    assert!(schema.len() > 120_000);
    // A long name above many subschemas would fill the memory with pointers.
    let wide =
        format!(r#"{{"properties": {{"{}": {{"anyOf": [{}{{}}]}}}}}}"#, "x".repeat(1 << 20), "{},".repeat(100_000));
    let error = parse_schema(&wide, &SchemaOptions::default()).unwrap_err();
    assert_eq!(error.code(), "limit_exceeded");
}
