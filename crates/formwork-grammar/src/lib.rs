//! Schema, regex, GBNF or Lark text → checked constraint IR; every error has a place.

#![forbid(unsafe_code)]

mod decimal;
mod error;
mod format;
mod options;
mod regex;
mod schema;

pub use decimal::Decimal;
pub use error::{Error, Place};
pub use format::StringFormat;
pub use options::{Draft, Escapes, Format, Limits, Numbers, PropertyOrder, SchemaOptions, Whitespace};
pub use regex::{Regex, RegexError};
pub use schema::{
    Applicator, ArrayRules, Bound, Contains, Keywords, Narrowed, Node, NodeId, NodeKind, NumberRules, ObjectRules,
    PatternProperty, Relaxed, Schema, StringRules, Type, TypeSet, Warning, parse_schema, schema_from_value,
};
