//! What a keyword's value must be: names, counts, numbers, texts.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use serde_json::{Map, Value};

use super::escape_pointer;
use super::ir::TypeSet;
use crate::decimal::Decimal;
use crate::error::Error;
use crate::regex::Regex;

/// Digits of a number in a schema beyond which it is refused: arithmetic on it would cost more than any use of it.
const MAX_DIGITS: usize = 1_000;

/// Where a keyword's value stands; the pointer is written only when somebody needs it.
#[derive(Clone, Copy, Debug)]
pub(super) struct At<'a> {
    /// Pointer of the subschema.
    pub(super) schema: &'a str,
    pub(super) keyword: &'a str,
    /// A member of the keyword's value.
    pub(super) member: Option<&'a str>,
}

impl At<'_> {
    pub(super) fn pointer(self) -> String {
        let keyword = escape_pointer(self.keyword);
        match self.member {
            Some(member) => format!("{}/{keyword}/{}", self.schema, escape_pointer(member)),
            None => format!("{}/{keyword}", self.schema),
        }
    }

    pub(super) fn invalid(self, reason: impl Into<String>) -> Error {
        Error::invalid(&self.pointer(), self.keyword, reason)
    }
}

pub(super) fn types(at: At<'_>, value: &Value) -> Result<TypeSet, Error> {
    let mut set = TypeSet::NONE;
    let mut insert = |value: &Value| match value.as_str() {
        Some(name) if set.insert_named(name) => Ok(()),
        Some(name) => Err(at.invalid(format!("{name:?} is no type"))),
        None => Err(at.invalid("it must be a type's name or a list of them")),
    };
    match value {
        Value::Array(names) => names.iter().try_for_each(&mut insert)?,
        name => insert(name)?,
    }
    Ok(set)
}

/// A count: a non-negative integer in any spelling; one beyond 32 bits is as good as the largest.
pub(super) fn count(at: At<'_>, value: &Value) -> Result<u32, Error> {
    let wrong = || at.invalid("it must be a non-negative integer");
    let Value::Number(number) = value else { return Err(wrong()) };
    let decimal = Decimal::from_json(number).ok_or_else(wrong)?;
    if decimal.is_negative() || !decimal.is_integer() {
        return Err(wrong());
    }
    if decimal.point() > 10 {
        return Ok(u32::MAX);
    }
    let n = decimal.int_digits().iter().fold(0_u64, |n, &d| n * 10 + u64::from(d));
    Ok(u32::try_from(n).unwrap_or(u32::MAX))
}

/// A number of a size that can be worked with.
pub(super) fn number(at: At<'_>, value: &Value) -> Result<Decimal, Error> {
    let number = match value {
        Value::Number(n) => Decimal::from_json(n),
        _ => None,
    };
    let number = number.ok_or_else(|| at.invalid("it must be a number"))?;
    if number.point().unsigned_abs() > MAX_DIGITS as u64 || number.digits().len() > MAX_DIGITS {
        let reason = "a number of over 1,000 digits is beyond every one that is used";
        return Err(Error::unsupported(&at.pointer(), at.keyword, reason));
    }
    Ok(number)
}

pub(super) fn flag(at: At<'_>, value: &Value) -> Result<bool, Error> {
    value.as_bool().ok_or_else(|| at.invalid("it must be true or false"))
}

pub(super) fn text<'v>(at: At<'_>, value: &'v Value) -> Result<&'v str, Error> {
    value.as_str().ok_or_else(|| at.invalid("it must be a string"))
}

/// A list of names, each kept once.
pub(super) fn names(at: At<'_>, value: &Value) -> Result<Vec<String>, Error> {
    let wrong = || at.invalid("it must be an array of names");
    let Value::Array(names) = value else { return Err(wrong()) };
    let mut out: IndexSet<&str, FxBuildHasher> = IndexSet::default();
    for name in names {
        out.insert(name.as_str().ok_or_else(wrong)?);
    }
    Ok(out.into_iter().map(str::to_owned).collect())
}

/// An object with a member for each name, pattern or key.
pub(super) fn members<'v>(at: At<'_>, value: &'v Value, of: &str) -> Result<&'v Map<String, Value>, Error> {
    value.as_object().ok_or_else(|| at.invalid(format!("it must be an object of {of}")))
}

pub(super) fn regex(at: At<'_>, pattern: &str) -> Result<Regex, Error> {
    Regex::parse_ecma(pattern).map_err(|e| Error::pattern(&at.pointer(), e.code(), e.to_string()))
}
