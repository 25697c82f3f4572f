//! JSON as Python's `json.dumps(data, ensure_ascii=False)` writes it: what the instances of `MaskBench` are.

use std::fmt::Write as _;

use serde_json::{Number, Value};

/// The text of a value.
pub(crate) fn dumps(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => write_number(number, out),
        Value::String(text) => write_string(text, out),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                separate(index, out);
                write(item, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (index, (key, member)) in members.iter().enumerate() {
                separate(index, out);
                write_string(key, out);
                out.push_str(": ");
                write(member, out);
            }
            out.push('}');
        }
    }
}

fn separate(index: usize, out: &mut String) {
    if index > 0 {
        out.push_str(", ");
    }
}

fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..=' ' if c != ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            _ => out.push(c),
        }
    }
    out.push('"');
}

/// Integers keep their digits; anything with a point or exponent is a float, written as `repr` does.
fn write_number(number: &Number, out: &mut String) {
    let text = number.to_string();
    if !text.contains(['.', 'e', 'E']) {
        out.push_str(if text == "-0" { "0" } else { &text });
        return;
    }
    let value: f64 = text.parse().unwrap_or(f64::NAN);
    out.push_str(&repr(value));
}

/// Python's shortest text of a float: plain for exponents −4 to 15.
fn repr(value: f64) -> String {
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.into();
    }
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) {
        let plain = format!("{value}");
        return if plain.contains('.') { plain } else { plain + ".0" };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, expected: &str) {
        let value: Value = serde_json::from_str(json).unwrap();
        assert_eq!(dumps(&value), expected);
    }

    #[test]
    fn layout() {
        check(r#"{"a":[1,2,{}],"b":{"c":null}}"#, r#"{"a": [1, 2, {}], "b": {"c": null}}"#);
    }

    #[test]
    fn strings() {
        check("\"\\u00e9\\ud83d\\ude00\\/\\u0001\\u007f\\b\\f\\n\\\"\"", "\"é😀/\\u0001\u{7f}\\b\\f\\n\\\"\"");
    }

    #[test]
    fn numbers() {
        check("[1.0, 1e2, 1E16, 1e-5, 0.0001, -0, -0.0]", "[1.0, 100.0, 1e+16, 1e-05, 0.0001, 0, -0.0]");
        check(
            "[123456789012345678901234567890, 1.5e300, 9007199254740993.0]",
            "[123456789012345678901234567890, 1.5e+300, 9007199254740992.0]",
        );
        check("[1e400, 0.1, 1234567890123456.7]", "[Infinity, 0.1, 1234567890123456.8]");
    }
}
