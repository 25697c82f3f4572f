//! RFC 1123 host names.

use super::Rules;
use crate::lang::{Lang, LangError};

/// The name is at most 253 characters long.
pub(super) fn hostname(rules: Rules<'_>) -> Result<Lang, LangError> {
    rules.all(&[name(), ".{1,253}".to_owned()])
}

/// Host names whose reserved labels may be anything.
pub(super) fn unchecked(rules: Rules<'_>) -> Result<Lang, LangError> {
    let label = "[A-Za-z0-9](?:[A-Za-z0-9\\-]{0,61}[A-Za-z0-9])?";
    rules.all(&[format!("{label}(?:\\.{label})*"), ".{1,253}".to_owned()])
}

/// Labels between dots, whatever their number.
pub(super) fn name() -> String {
    let label = label("[A-Za-z0-9]", "[A-Za-z0-9\\-]", 63);
    format!("{label}(?:\\.{label})*")
}

/// A label of at most `most` characters out of `inner`, those at its ends out of `outer`. RFC 5890 reserves those with two
/// hyphens in third and fourth place.
pub(super) fn label(outer: &str, inner: &str, most: u32) -> String {
    let (four, five) = (most - 4, most - 5);
    format!(
        "{outer}(?:{inner}?{outer}|{inner}{outer}{inner}{{0,{four}}}{outer}|{inner}-{outer}(?:{inner}{{0,{five}}}{outer})?)?"
    )
}
