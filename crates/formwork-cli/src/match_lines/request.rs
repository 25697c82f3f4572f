//! One line's request, checked.

use serde_json::{Map, Value};

use super::answer::{Answer, ErrorBody};
use crate::listed::Warning;

/// What a line asks.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) id: Value,
    pub(super) kind: Kind,
    pub(super) options: Value,
    pub(super) texts: Vec<String>,
    pub(super) walks: Option<u64>,
    pub(super) seed: u64,
    pub(super) warnings: Vec<Warning>,
}

/// The constraint.
#[derive(Debug)]
pub(super) enum Kind {
    Schema(Value),
    Regex(String),
    /// A kind that exists, but is not built yet.
    Unsupported(&'static str),
}

const MALFORMED: &str = "malformed_request";
const KINDS: [&str; 4] = ["schema", "regex", "gbnf", "lark"];
const OTHERS: [&str; 5] = ["id", "options", "texts", "walks", "seed"];

/// Reads a line; where it is malformed, the answer to it says so.
pub(super) fn parse(line: &[u8], number: usize) -> Result<Request, Box<Answer>> {
    let value: Value = serde_json::from_slice(line.trim_ascii_end()).map_err(|error| {
        let said = error.to_string();
        let reason = said.rsplit_once(" at line ").map_or(said.as_str(), |(reason, _)| reason);
        let message = format!("line {number} is not JSON at column {}: {reason}", error.column());
        let body = ErrorBody::new(MALFORMED, message).at_line(Some((number, error.column())));
        Box::new(Answer::refused(Value::Null, body))
    })?;
    let Value::Object(mut fields) = value else {
        return Err(malformed(Value::Null, "", &format!("line {number} is not an object")));
    };
    let id = fields.shift_remove("id").unwrap_or(Value::Null);
    read(id.clone(), fields).map_err(|(pointer, reason)| malformed(id, &pointer, &format!("line {number}: {reason}")))
}

/// Where in the request, and what is wrong.
type Fault = (String, String);

fn read(id: Value, mut fields: Map<String, Value>) -> Result<Request, Fault> {
    let kind = kind(&mut fields)?;
    let options = fields.shift_remove("options").unwrap_or(Value::Null);
    let texts = texts(fields.shift_remove("texts"))?;
    let walks = match fields.shift_remove("walks") {
        None => None,
        Some(value) => Some(count("walks", &value)?),
    };
    let seed = match fields.shift_remove("seed") {
        None => 0,
        Some(value) => count("seed", &value)?,
    };
    let unknown = |name| Warning::of_request(format!("the request's field `{name}` is unknown and ignored"));
    let warnings = fields.keys().map(unknown).collect();
    Ok(Request { id, kind, options, texts, walks, seed, warnings })
}

/// Takes the constraint out of the fields.
fn kind(fields: &mut Map<String, Value>) -> Result<Kind, Fault> {
    let mut found = KINDS.into_iter().filter_map(|name| Some((name, fields.shift_remove(name)?)));
    let first = found.next();
    if let (Some((first, _)), Some((second, _))) = (&first, found.next()) {
        return Err((String::new(), format!("it has both `{first}` and `{second}`; give one constraint")));
    }
    match first {
        Some(("schema", schema)) => Ok(Kind::Schema(schema)),
        Some(("regex", Value::String(pattern))) => Ok(Kind::Regex(pattern)),
        Some((name, Value::String(_))) => Ok(Kind::Unsupported(name)),
        Some((name, _)) => Err((format!("/{name}"), format!("`{name}` must be a string"))),
        None => {
            let near = fields.keys().find(|name| !OTHERS.contains(&name.as_str()));
            let given = near.map_or_else(String::new, |name| format!(", and `{name}` is none"));
            Err((String::new(), format!("it has no constraint: one of `schema`, `regex`, `gbnf` and `lark`{given}")))
        }
    }
}

fn texts(value: Option<Value>) -> Result<Vec<String>, Fault> {
    let list = match value {
        None => return Ok(Vec::new()),
        Some(Value::Array(list)) => list,
        Some(_) => return Err(("/texts".to_owned(), "`texts` must be an array of strings".to_owned())),
    };
    let text = |(index, value)| match value {
        Value::String(text) => Ok(text),
        _ => Err((format!("/texts/{index}"), format!("text {index} is no string"))),
    };
    list.into_iter().enumerate().map(text).collect()
}

fn count(name: &str, value: &Value) -> Result<u64, Fault> {
    value
        .as_u64()
        .ok_or_else(|| (format!("/{name}"), format!("`{name}` is {value}, and must be an integer, 0 or more")))
}

fn malformed(id: Value, pointer: &str, message: &str) -> Box<Answer> {
    Box::new(Answer::refused(id, ErrorBody::new(MALFORMED, message).at_pointer(Some(pointer))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn message(line: &str) -> String {
        let answer = parse(line.as_bytes(), 3).unwrap_err();
        let value: Value = serde_json::from_slice(&answer.line()).unwrap();
        assert_eq!(value["compiled"], false);
        assert_eq!(value["error"]["code"], "malformed_request");
        value["error"]["message"].as_str().unwrap().to_owned()
    }

    #[test]
    fn faults_are_named() {
        assert_eq!(message("{\"id\": 1"), "line 3 is not JSON at column 8: EOF while parsing an object");
        assert_eq!(message("[]"), "line 3 is not an object");
        assert_eq!(
            message(r#"{"schema": true, "regex": ""}"#),
            "line 3: it has both `schema` and `regex`; give one constraint"
        );
        assert_eq!(message(r#"{"regex": 1}"#), "line 3: `regex` must be a string");
        assert_eq!(
            message(r#"{"shema": {}}"#),
            "line 3: it has no constraint: one of `schema`, `regex`, `gbnf` and `lark`, and `shema` is none"
        );
        assert_eq!(message(r#"{"schema": true, "texts": "a"}"#), "line 3: `texts` must be an array of strings");
        assert_eq!(message(r#"{"schema": true, "texts": ["a", 1]}"#), "line 3: text 1 is no string");
        assert_eq!(
            message(r#"{"schema": true, "walks": -1}"#),
            "line 3: `walks` is -1, and must be an integer, 0 or more"
        );
    }

    #[test]
    fn the_id_comes_back_from_a_faulty_request() {
        let answer = parse(br#"{"id": {"a": 1}, "texts": []}"#, 1).unwrap_err();
        let value: Value = serde_json::from_slice(&answer.line()).unwrap();
        assert_eq!(value["id"], serde_json::json!({"a": 1}));
    }

    proptest! {
        #[test]
        fn any_bytes_are_answered(line in proptest::collection::vec(any::<u8>(), 0..40)) {
            if let Err(answer) = parse(&line, 1) {
                let whole = answer.line().ends_with(b"}\n");
                prop_assert!(whole);
            }
        }
    }
}
