//! The keywords of one subschema, each checked and put in its place.

use serde_json::{Map, Value};

use super::ir::{Applicator, Bound, Keywords, NodeId, TypeSet};
use super::{Parser, escape_pointer};
use crate::decimal::Decimal;
use crate::error::Error;
use crate::options::{Draft, Format};
use crate::regex::Regex;

/// Keywords that say nothing about the value.
const ANNOTATIONS: &[&str] = &[
    "$schema",
    "$id",
    "id",
    "$comment",
    "$defs",
    "definitions",
    "$vocabulary",
    "title",
    "description",
    "default",
    "examples",
    "example",
    "deprecated",
    "readOnly",
    "writeOnly",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
];

/// Assertions and applicators of some draft that are not enforced.
const UNSUPPORTED: &[&str] = &[
    "oneOf",
    "not",
    "if",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "patternProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
    "contains",
    "minContains",
    "maxContains",
    "uniqueItems",
    "multipleOf",
    "unevaluatedProperties",
    "unevaluatedItems",
    "$dynamicRef",
    "$recursiveRef",
    "$dynamicAnchor",
    "$recursiveAnchor",
    "$anchor",
];

const SUPPORTED: &[&str] = &[
    "type",
    "enum",
    "const",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "prefixItems",
    "additionalItems",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "anyOf",
    "allOf",
    "$ref",
    "format",
    "then",
    "else",
];

impl Parser<'_> {
    pub(super) fn keywords(&mut self, pointer: &str, map: &Map<String, Value>) -> Result<Keywords, Error> {
        let mut out = Keywords::default();
        if let Some(target) = map.get("$ref").filter(|_| self.draft <= Draft::Draft7) {
            // Up to draft 7, everything beside `$ref` is ignored.
            let node = self.reference(pointer, target)?;
            out.applicators.push(Applicator::Ref(node));
            return Ok(out);
        }
        for (keyword, value) in map {
            self.keyword(pointer, map, keyword, value, &mut out)?;
        }
        Ok(out)
    }

    fn keyword(
        &mut self,
        pointer: &str,
        map: &Map<String, Value>,
        keyword: &str,
        value: &Value,
        out: &mut Keywords,
    ) -> Result<(), Error> {
        let at = || format!("{pointer}/{}", escape_pointer(keyword));
        match keyword {
            "type" => out.types = types(&at(), value)?,
            "enum" => match value {
                Value::Array(values) => out.values.push(values.clone()),
                _ => return Err(Error::invalid(&at(), keyword, "it must be an array of values")),
            },
            "const" if self.draft > Draft::Draft4 => out.values.push(vec![value.clone()]),
            "minLength" => out.string.min_length = count(&at(), keyword, value)?,
            "maxLength" => out.string.max_length = Some(count(&at(), keyword, value)?),
            "minItems" => out.array.min_items = count(&at(), keyword, value)?,
            "maxItems" => out.array.max_items = Some(count(&at(), keyword, value)?),
            "pattern" => {
                let Value::String(pattern) = value else {
                    return Err(Error::invalid(&at(), keyword, "it must be a string, a regular expression"));
                };
                let regex = Regex::parse_ecma(pattern).map_err(|e| Error::pattern(&at(), e.code(), e.to_string()))?;
                out.string.pattern = Some((regex, at()));
            }
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
                self.bound(pointer, map, keyword, out)?;
            }
            "properties" => {
                let Value::Object(properties) = value else {
                    return Err(Error::invalid(&at(), keyword, "it must be an object of schemas"));
                };
                for (name, schema) in properties {
                    let node = self.node(&format!("{}/{}", at(), escape_pointer(name)), schema)?;
                    out.object.properties.insert(name.clone(), node);
                }
                out.applicators.push(Applicator::Properties);
            }
            "additionalProperties" => out.object.additional = Some(self.child(pointer, keyword, value)?),
            "required" => out.object.required = self.required(pointer, value)?,
            "prefixItems" if self.draft >= Draft::Draft202012 => {
                out.array.prefix = self.schemas(pointer, keyword, value)?;
            }
            "items" => match value {
                Value::Array(_) if self.draft < Draft::Draft202012 => {
                    out.array.prefix = self.schemas(pointer, keyword, value)?;
                }
                Value::Array(_) => {
                    return Err(Error::invalid(&at(), keyword, "an array of schemas is `prefixItems` since 2020-12"));
                }
                _ => out.array.rest = Some(self.child(pointer, keyword, value)?),
            },
            "additionalItems" => {
                if self.draft < Draft::Draft202012 && matches!(map.get("items"), Some(Value::Array(_))) {
                    out.array.rest = Some(self.child(pointer, keyword, value)?);
                }
            }
            "allOf" => {
                let nodes = self.schemas(pointer, keyword, value)?;
                out.applicators.push(Applicator::AllOf(nodes));
            }
            "anyOf" => {
                let nodes = self.schemas(pointer, keyword, value)?;
                out.applicators.push(Applicator::AnyOf(nodes));
            }
            "$ref" => {
                let node = self.reference(pointer, value)?;
                out.applicators.push(Applicator::Ref(node));
            }
            "format" => self.format(pointer, value)?,
            // Without `if`, these two say nothing; with it, `if` itself is refused.
            "then" | "else" => {}
            _ if UNSUPPORTED.contains(&keyword) => self.refuse(pointer, keyword, "it is not enforced yet")?,
            _ if ANNOTATIONS.contains(&keyword) => {}
            _ => self.unknown(pointer, keyword),
        }
        Ok(())
    }

    /// A keyword that no draft knows is an annotation; one that is nearly a keyword is probably a mistake.
    fn unknown(&mut self, pointer: &str, keyword: &str) {
        let near = SUPPORTED.iter().chain(UNSUPPORTED).find(|known| nearly_equal(known, keyword));
        if let Some(known) = near {
            self.warn(
                &format!("{pointer}/{}", escape_pointer(keyword)),
                format!("`{keyword}` is no keyword and is ignored; did you mean `{known}`?"),
            );
        }
    }

    fn format(&mut self, pointer: &str, value: &Value) -> Result<(), Error> {
        const KNOWN: &[&str] = &[
            "date-time",
            "date",
            "time",
            "duration",
            "email",
            "idn-email",
            "hostname",
            "idn-hostname",
            "ipv4",
            "ipv6",
            "uri",
            "uri-reference",
            "iri",
            "iri-reference",
            "uri-template",
            "uuid",
            "json-pointer",
            "relative-json-pointer",
            "regex",
        ];
        let Value::String(name) = value else {
            return Err(Error::invalid(&format!("{pointer}/format"), "format", "it must be a string"));
        };
        if self.options.format == Format::Annotate {
            return Ok(());
        }
        if KNOWN.contains(&name.as_str()) {
            return self.refuse(
                pointer,
                "format",
                "formats are not enforced yet; set `format` to `annotate` to go without",
            );
        }
        self.warn(&format!("{pointer}/format"), format!("the format {name:?} is unknown and is ignored"));
        Ok(())
    }

    fn schemas(&mut self, pointer: &str, keyword: &str, value: &Value) -> Result<Vec<NodeId>, Error> {
        match value {
            Value::Array(list) if !list.is_empty() => list
                .iter()
                .enumerate()
                .map(|(i, schema)| self.node(&format!("{pointer}/{keyword}/{i}"), schema))
                .collect(),
            _ => {
                Err(Error::invalid(&format!("{pointer}/{keyword}"), keyword, "it must be a non-empty array of schemas"))
            }
        }
    }

    fn required(&mut self, pointer: &str, value: &Value) -> Result<Vec<String>, Error> {
        let at = format!("{pointer}/required");
        if self.draft == Draft::Draft4 && value.is_boolean() {
            // A leftover of draft 3 that stands in many draft-4 schemas; it never meant anything there.
            self.warn(&at, "a boolean `required` says nothing since draft 4".to_owned());
            return Ok(Vec::new());
        }
        let wrong = || Error::invalid(&at, "required", "it must be an array of names");
        let Value::Array(names) = value else { return Err(wrong()) };
        let mut out: Vec<String> = Vec::with_capacity(names.len());
        for name in names {
            let name = name.as_str().ok_or_else(wrong)?;
            if !out.iter().any(|n| n == name) {
                out.push(name.to_owned());
            }
        }
        Ok(out)
    }

    /// One of the four range keywords, in the meaning of its draft.
    fn bound(
        &mut self,
        pointer: &str,
        map: &Map<String, Value>,
        keyword: &str,
        out: &mut Keywords,
    ) -> Result<(), Error> {
        let at = format!("{pointer}/{keyword}");
        let Some(value) = map.get(keyword) else { return Ok(()) };
        let exclusive = keyword.starts_with("exclusive");
        let lower = keyword.ends_with("inimum");
        if exclusive && value.is_boolean() && self.draft == Draft::Draft4 {
            return Ok(());
        }
        let number = match value {
            Value::Number(n) => Decimal::from_json(n),
            _ => None,
        };
        let value = number.ok_or_else(|| Error::invalid(&at, keyword, "it must be a number"))?;
        if value.point().unsigned_abs() > 1_000 || value.digits().len() > 1_000 {
            return Err(Error::unsupported(
                &at,
                keyword,
                "a bound of over 1,000 digits is beyond every number that is used",
            ));
        }
        let beside = if lower { "exclusiveMinimum" } else { "exclusiveMaximum" };
        let draft4 = self.draft == Draft::Draft4 && map.get(beside) == Some(&Value::Bool(true));
        let bound = Bound { value, exclusive: exclusive || draft4 };
        let slot = if lower { &mut out.number.min } else { &mut out.number.max };
        let stricter = slot.as_ref().is_none_or(|old| {
            let order = if lower { bound.value.cmp(&old.value) } else { old.value.cmp(&bound.value) };
            order.is_gt() || (order.is_eq() && bound.exclusive)
        });
        if stricter {
            *slot = Some(bound);
        }
        Ok(())
    }
}

fn types(at: &str, value: &Value) -> Result<TypeSet, Error> {
    let mut set = TypeSet::NONE;
    let mut insert = |value: &Value| match value.as_str() {
        Some(name) if set.insert_named(name) => Ok(()),
        Some(name) => Err(Error::invalid(at, "type", format!("{name:?} is no type"))),
        None => Err(Error::invalid(at, "type", "it must be a type's name or a list of them")),
    };
    match value {
        Value::Array(names) => names.iter().try_for_each(&mut insert)?,
        name => insert(name)?,
    }
    Ok(set)
}

/// A count: a non-negative integer in any spelling; one beyond 32 bits is as good as the largest.
fn count(at: &str, keyword: &str, value: &Value) -> Result<u32, Error> {
    let wrong = || Error::invalid(at, keyword, "it must be a non-negative integer");
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

/// Whether two names differ by case, or by one letter inserted, left out, replaced or swapped with its neighbour.
fn nearly_equal(a: &str, b: &str) -> bool {
    if a.eq_ignore_ascii_case(b) {
        return true;
    }
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len().abs_diff(b.len()) > 1 || a.len() < 4 {
        return false;
    }
    let start = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[start..], &b[start..]);
    match a.len().cmp(&b.len()) {
        std::cmp::Ordering::Less => a == &b[1..],
        std::cmp::Ordering::Greater => &a[1..] == b,
        std::cmp::Ordering::Equal => {
            a.get(1..) == b.get(1..) || (a.len() > 1 && a[0] == b[1] && a[1] == b[0] && a[2..] == b[2..])
        }
    }
}
