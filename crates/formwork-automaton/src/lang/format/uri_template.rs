//! URI templates (RFC 6570, level 4).

use super::uri::{IPRIVATE, PERCENT, UCSCHAR};

/// The apostrophe is a literal by erratum 6937. `more` are operators beside those that have a meaning.
pub(super) fn template(more: &str) -> String {
    let literal = format!("[!#$&-;=?-\\[\\]_a-z~{UCSCHAR}{IPRIVATE}]|{PERCENT}");
    let character = format!("(?:[A-Za-z0-9_]|{PERCENT})");
    let variable = format!("{character}(?:\\.?{character})*(?:\\*|:[1-9][0-9]{{0,3}})?");
    format!("(?:{literal}|\\{{[+#./;?&{more}]?{variable}(?:,{variable})*\\}})*")
}
