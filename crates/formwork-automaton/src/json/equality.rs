//! Equality of JSON values: one text for each value, whatever its spelling.

use std::fmt::Write;

use formwork_grammar::Decimal;
use serde_json::Value;

/// A JSON text that equal values share and others don't: numbers by value (1 = 1.0 = 1e0), members by sorted keys.
pub(super) fn canonical(value: &Value) -> String {
    let mut out = String::new();
    write_value(value, &mut out);
    out
}

fn write_value(value: &Value, out: &mut String) {
    match value {
        Value::Number(number) => match Decimal::from_json(number) {
            Some(decimal) => out.push_str(&decimal_text(&decimal)),
            None => out.push_str(&number.to_string()),
        },
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_value(item, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_unstable_by_key(|(key, _)| *key);
            out.push('{');
            for (index, (key, value)) in members.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_value(&Value::from(key.as_str()), out);
                out.push(':');
                write_value(value, out);
            }
            out.push('}');
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {
            // Writing to a string can't fail.
            let _ = write!(out, "{value}");
        }
    }
}

/// A number's own text: all its digits, and an exponent.
pub(super) fn decimal_text(decimal: &Decimal) -> String {
    if decimal.is_zero() {
        return "0".to_owned();
    }
    let mut out = String::new();
    if decimal.is_negative() {
        out.push('-');
    }
    out.extend(decimal.digits().iter().map(|d| char::from(b'0' + d)));
    let last = decimal.point().saturating_sub(i64::try_from(decimal.digits().len()).unwrap_or(i64::MAX));
    if last != 0 {
        // Writing to a string can't fail.
        let _ = write!(out, "e{last}");
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn spelling_does_not_matter() {
        let parse = |text: &str| canonical(&serde_json::from_str(text).unwrap());
        assert_eq!(parse("[1, 10]"), parse("[1.0,1e1]"));
        assert_eq!(parse("-0.0"), parse("0"));
        assert_eq!(parse(r#"{"a":1,"b":"\u0041"}"#), parse(r#"{"b":"A", "a":1.00}"#));
        assert_ne!(canonical(&json!("1")), canonical(&json!(1)));
        assert_ne!(canonical(&json!([0])), canonical(&json!([false])));
        assert_ne!(canonical(&json!([[1], 2])), canonical(&json!([[1, 2]])));
    }
}
