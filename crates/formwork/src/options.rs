//! The `options` of a schema constraint as JSON, as commands and requests spell them.

use formwork_grammar::{Draft, Escapes, Format, Limits, Numbers, PropertyOrder, SchemaOptions, Whitespace};
use serde_json::Value;

use crate::error::Error;

/// Reads the constraint options of a request: `draft`, `whitespace`, `property_order`, `format`, `escapes`, `numbers`, `lenient`,
/// `documents`, `limits`.
///
/// # Errors
/// An unknown name or value; each is named.
///
/// ```
/// use formwork::{Whitespace, schema_options_from_json};
/// let options = schema_options_from_json(&serde_json::json!({"whitespace": {"indent": 2}, "escapes": "any"}))?;
/// assert_eq!(options.whitespace, Whitespace::Indent(2));
/// # Ok::<(), formwork::Error>(())
/// ```
pub fn schema_options_from_json(options: &Value) -> Result<SchemaOptions, Error> {
    let mut out = SchemaOptions::default();
    let map = match options {
        Value::Null => return Ok(out),
        Value::Object(map) => map,
        _ => return Err(Error::option("options", "it must be an object")),
    };
    for (name, value) in map {
        let wrong = |expected: &str| Error::option(name, format!("it is {value}, and must be {expected}"));
        let text = value.as_str();
        match name.as_str() {
            "draft" => {
                let draft = text.and_then(Draft::from_name);
                out.draft = Some(draft.ok_or_else(|| wrong("\"4\", \"6\", \"7\", \"2019-09\" or \"2020-12\""))?);
            }
            "whitespace" => {
                let expected = "\"compact\", \"spaced\", {\"indent\": n} or {\"flexible\": n}";
                out.whitespace = whitespace(value).ok_or_else(|| wrong(expected))?;
            }
            "property_order" => {
                out.property_order = match text {
                    Some("schema") => PropertyOrder::Schema,
                    Some("any") => PropertyOrder::Any,
                    _ => return Err(wrong("\"schema\" or \"any\"")),
                }
            }
            "format" => {
                out.format = match text {
                    Some("enforce") => Format::Enforce,
                    Some("annotate") => Format::Annotate,
                    _ => return Err(wrong("\"enforce\" or \"annotate\"")),
                }
            }
            "escapes" => {
                out.escapes = match text {
                    Some("canonical") => Escapes::Canonical,
                    Some("any") => Escapes::Any,
                    _ => return Err(wrong("\"canonical\" or \"any\"")),
                }
            }
            "numbers" => {
                out.numbers = match text {
                    Some("plain") => Numbers::Plain,
                    Some("any") => Numbers::Any,
                    _ => return Err(wrong("\"plain\" or \"any\"")),
                }
            }
            "lenient" => out.lenient = value.as_bool().ok_or_else(|| wrong("true or false"))?,
            "documents" => {
                let documents = value.as_object().ok_or_else(|| wrong("an object of schemas by URI"))?;
                out.documents = documents.iter().map(|(uri, schema)| (uri.clone(), schema.clone())).collect();
            }
            "limits" => out.limits = limits(value)?,
            _ => return Err(Error::option(name, "there is no such option")),
        }
    }
    Ok(out)
}

fn whitespace(value: &Value) -> Option<Whitespace> {
    match value {
        Value::String(name) if name == "compact" => Some(Whitespace::Compact),
        Value::String(name) if name == "spaced" => Some(Whitespace::Spaced),
        Value::Object(map) if map.len() == 1 => {
            let n = map.values().next()?.as_u64()?;
            match map.keys().next()?.as_str() {
                "indent" => u8::try_from(n).ok().map(Whitespace::Indent),
                "flexible" => u16::try_from(n).ok().map(Whitespace::Flexible),
                _ => None,
            }
        }
        _ => None,
    }
}

fn limits(value: &Value) -> Result<Limits, Error> {
    let Value::Object(map) = value else { return Err(Error::option("limits", "it must be an object of numbers")) };
    let mut out = Limits::default();
    for (name, value) in map {
        let slot = match name.as_str() {
            "nodes" => &mut out.nodes,
            "alternatives" => &mut out.alternatives,
            "depth" => &mut out.depth,
            "digits" => &mut out.digits,
            "shortest_text" => &mut out.shortest_text,
            "table_bytes" => &mut out.table_bytes,
            "steps" => &mut out.steps,
            _ => return Err(Error::option(&format!("limits.{name}"), "there is no such limit")),
        };
        let n = value.as_u64().and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0);
        *slot = n.ok_or_else(|| Error::option(&format!("limits.{name}"), "it must be a positive 32-bit integer"))?;
    }
    Ok(out)
}
