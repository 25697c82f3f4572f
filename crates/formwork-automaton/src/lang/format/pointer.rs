//! JSON pointers (RFC 6901) and relative ones.

pub(super) const ABSOLUTE: &str = "(?:/(?:[^/~]|~[01])*)*";

/// `draft-handrews-relative-json-pointer-01`, which knows no index manipulation.
pub(super) fn relative() -> String {
    format!("(?:0|[1-9][0-9]*)(?:#|{ABSOLUTE})")
}

/// What later drafts allow.
pub(super) fn with_index_manipulation() -> String {
    format!("[0-9]+(?:[+\\-][0-9]+)?(?:#|{ABSOLUTE})")
}
