//! Placeholder crate text.
