//! URI templates (RFC 6570, level 4).

use super::uri::{IPRIVATE, PERCENT, UCSCHAR};

/// The apostrophe is a literal by erratum 6937. Operators reserved for extensions are left out: nothing expands them.
pub(super) fn template() -> String {
    let literal = format!("[!#$&-;=?-\\[\\]_a-z~{UCSCHAR}{IPRIVATE}]|{PERCENT}");
    let character = format!("(?:[A-Za-z0-9_]|{PERCENT})");
    let variable = format!("{character}(?:\\.?{character})*(?:\\*|:[1-9][0-9]{{0,3}})?");
    format!("(?:{literal}|\\{{[+#./;?&]?{variable}(?:,{variable})*\\}})*")
}
