//! What draft 7 asserts of a string's content.

/// RFC 4648, section 4, with the last bits that encode nothing zero, as decoders ask.
pub(super) const BASE64: &str = "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?";
/// The same with any last bits.
pub(super) const ANY_BASE64: &str = "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?";
/// No JSON text is outside of it.
pub(super) const LIKE_JSON: &str = "[ \\t\\n\\r]*[\\[{\"0-9tfn\\-].*";
/// How deep values are nested.
pub(super) const DEPTH: u32 = 3;

/// RFC 8259's JSON text, with values so deep inside one another.
pub(super) fn json(depth: u32) -> String {
    let blank = "[ \\t\\n\\r]*";
    format!("{blank}{}{blank}", value(blank, depth))
}

fn value(blank: &str, depth: u32) -> String {
    let string = r#""(?:[^"\\\x00-\x1F]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*""#;
    let number = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+\-]?[0-9]+)?";
    let scalar = format!("null|true|false|{string}|{number}");
    if depth == 0 {
        return format!("(?:{scalar})");
    }
    let inner = value(blank, depth - 1);
    let list = |item: &str| format!("{item}{blank}(?:,{blank}{item}{blank})*");
    let items = list(&inner);
    let members = list(&format!("{string}{blank}:{blank}{inner}"));
    format!("(?:{scalar}|\\[{blank}(?:{items})?\\]|\\{{{blank}(?:{members})?\\}})")
}
