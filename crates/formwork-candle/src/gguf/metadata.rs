//! The metadata of a GGUF file: typed look-ups by key.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use formwork_automaton::TokenId;

use crate::error::{Error, Result};

/// A metadata value; all integer widths are one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Int(i128),
    Float(f64),
    Bool(bool),
    Text(String),
    Ints(Vec<i64>),
    Floats(Vec<f32>),
    Texts(Vec<String>),
}

/// All metadata of one file.
#[derive(Clone, Debug)]
pub(crate) struct Metadata {
    path: PathBuf,
    values: HashMap<String, Value>,
}

impl Metadata {
    pub(super) fn new(path: &Path, values: HashMap<String, Value>) -> Self {
        Self { path: path.to_owned(), values }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A text; `None` where it is missing or no text.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        match self.values.get(key)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn require_text(&self, key: &str) -> Result<&str> {
        self.text(key).ok_or_else(|| Error::metadata(&self.path, key, "text"))
    }

    /// A non-negative whole number; `None` where it is missing.
    pub(crate) fn size(&self, key: &str) -> Result<Option<usize>> {
        match self.values.get(key) {
            None => Ok(None),
            Some(Value::Int(number)) => {
                usize::try_from(*number).map(Some).map_err(|_| Error::metadata(&self.path, key, "non-negative number"))
            }
            Some(_) => Err(Error::metadata(&self.path, key, "non-negative number")),
        }
    }

    pub(crate) fn require_size(&self, key: &str) -> Result<usize> {
        self.size(key)?.ok_or_else(|| Error::metadata(&self.path, key, "non-negative number"))
    }

    /// A number of any kind; `None` where it is missing.
    pub(crate) fn float(&self, key: &str) -> Result<Option<f64>> {
        match self.values.get(key) {
            None => Ok(None),
            Some(Value::Float(number)) => Ok(Some(*number)),
            #[expect(clippy::cast_precision_loss, reason = "a setting, not a count")]
            Some(Value::Int(number)) => Ok(Some(*number as f64)),
            Some(_) => Err(Error::metadata(&self.path, key, "number")),
        }
    }

    /// A token id; `None` where it is missing or doesn't fit.
    pub(crate) fn token_id(&self, key: &str) -> Option<TokenId> {
        match self.values.get(key)? {
            Value::Int(number) => u32::try_from(*number).ok().map(TokenId::new),
            _ => None,
        }
    }

    pub(crate) fn flag(&self, key: &str) -> Option<bool> {
        match self.values.get(key)? {
            Value::Bool(flag) => Some(*flag),
            _ => None,
        }
    }

    pub(crate) fn texts(&self, key: &str) -> Option<&[String]> {
        match self.values.get(key)? {
            Value::Texts(texts) => Some(texts),
            _ => None,
        }
    }

    pub(crate) fn ints(&self, key: &str) -> Option<&[i64]> {
        match self.values.get(key)? {
            Value::Ints(ints) => Some(ints),
            _ => None,
        }
    }

    pub(crate) fn floats(&self, key: &str) -> Option<&[f32]> {
        match self.values.get(key)? {
            Value::Floats(floats) => Some(floats),
            _ => None,
        }
    }
}
