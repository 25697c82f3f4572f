//! Schema, regex, GBNF or Lark text → checked constraint IR; every error has a place.

#![forbid(unsafe_code)]

mod regex;

pub use regex::Regex;
