//! The keywords of one subschema, each checked and put in its place.

use serde_json::{Map, Value};

use super::ir::{Applicator, Bound, Contains, Keywords, Narrowed, NodeId, NumberRules, PatternProperty, Relaxed};
use super::known::{Known, Vocabulary};
use super::values::{At, count, flag, members, names, number, regex, text, types};
use super::{Parser, Site};
use crate::decimal::Decimal;
use crate::error::Error;
use crate::format::StringFormat;
use crate::options::{Draft, Format};

impl<'a> Parser<'a> {
    pub(super) fn keywords(&mut self, site: &Site, map: &'a Map<String, Value>) -> Result<Keywords, Error> {
        let mut out = Keywords::default();
        if let Some(target) = map.get("$ref").filter(|_| site.draft <= Draft::Draft7) {
            // Up to draft 7, everything beside `$ref` is ignored.
            let node = self.reference(site, "$ref", target)?;
            out.applicators.push(Applicator::Ref(node));
            for keyword in map.keys() {
                let says = |known: &Known| !matches!(known.vocabulary, Vocabulary::Core | Vocabulary::Annotation);
                if site.has(keyword) && Known::named(keyword).is_some_and(says) {
                    let message = format!("`{keyword}` beside `$ref` is ignored up to draft 7");
                    self.warn(site.at(keyword), message)?;
                }
            }
            return Ok(out);
        }
        for (keyword, value) in map {
            if self.applies(site, keyword)? {
                self.keyword(site, map, keyword, value, &mut out)?;
            }
        }
        Ok(out)
    }

    /// Whether a keyword says something here; what is ignored although its author meant something is warned of.
    fn applies(&mut self, site: &Site, keyword: &str) -> Result<bool, Error> {
        let at = site.at(keyword);
        let Some(known) = Known::named(keyword) else {
            if let Some(meant) = Known::near(keyword) {
                self.warn(at, format!("`{keyword}` is no keyword and is ignored; did you mean `{}`?", meant.name))?;
            }
            return Ok(false);
        };
        if known.vocabulary == Vocabulary::Annotation {
            return Ok(false);
        }
        if !known.is_in(site.draft) {
            let (since, until) = (known.since.name(), known.until.name());
            let known = if site.draft < known.since { format!("from {since} on") } else { format!("up to {until}") };
            let message = format!("`{keyword}` is a keyword {known} and is ignored in draft {}", site.draft.name());
            self.warn(at, message)?;
            return Ok(false);
        }
        if !site.vocabularies.contains(known.vocabulary) {
            self.warn(at, format!("`{keyword}` is ignored: the schema's metaschema leaves its vocabulary out"))?;
            return Ok(false);
        }
        Ok(true)
    }

    fn keyword(
        &mut self,
        site: &Site,
        map: &'a Map<String, Value>,
        keyword: &str,
        value: &'a Value,
        out: &mut Keywords,
    ) -> Result<(), Error> {
        let at = site.at(keyword);
        match keyword {
            "type" => {
                out.types = types(at, value)?;
                out.number.written_integer = site.draft == Draft::Draft4 && out.types.integer_only();
            }
            "enum" => match value {
                Value::Array(values) => out.values.push(values.clone()),
                _ => return Err(at.invalid("it must be an array of values")),
            },
            "const" => out.values.push(vec![value.clone()]),

            "minLength" => out.string.min_length = count(at, value)?,
            "maxLength" => out.string.max_length = Some(count(at, value)?),
            "pattern" => {
                let regex = self.enforceable(at, regex(at, text(at, value)?))?;
                out.string.pattern = regex.map(|regex| (regex, at.pointer()));
            }
            "format" => out.string.formats.extend(self.format(at, value)?),
            "contentEncoding" | "contentMediaType" => {
                let content = self.content(site, map, keyword, value)?;
                if let Some(content) = self.enforceable(at, content)? {
                    out.string.formats.extend(content);
                }
            }

            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
                let exclusive = keyword.starts_with("exclusive");
                if exclusive && site.draft == Draft::Draft4 && value.is_boolean() {
                    // A switch of the bound beside it, which is read there.
                    return Ok(());
                }
                if let Some(value) = self.enforceable(at, number(at, value))? {
                    bound(site, map, keyword, value, &mut out.number);
                }
            }
            "multipleOf" => {
                let Some(step) = self.enforceable(at, number(at, value))? else { return Ok(()) };
                if step.is_negative() || step.is_zero() {
                    return Err(at.invalid("it must be above zero"));
                }
                out.number.multiple_of = Some(step);
            }

            "items" | "prefixItems" | "additionalItems" | "minItems" | "maxItems" | "uniqueItems" | "contains"
            | "minContains" | "maxContains" | "unevaluatedItems" => self.array(site, map, keyword, value, out)?,

            "properties"
            | "patternProperties"
            | "additionalProperties"
            | "propertyNames"
            | "required"
            | "minProperties"
            | "maxProperties"
            | "dependentRequired"
            | "dependentSchemas"
            | "dependencies"
            | "unevaluatedProperties" => self.object(site, keyword, value, out)?,

            "allOf" => out.applicators.push(Applicator::AllOf(self.schemas(site, keyword, value)?)),
            "anyOf" => out.applicators.push(Applicator::AnyOf(self.schemas(site, keyword, value)?)),
            "oneOf" => out.applicators.push(Applicator::OneOf(self.schemas(site, keyword, value)?)),
            "not" => out.applicators.push(Applicator::Not(self.child(site, keyword, value)?)),
            "if" | "then" | "else" => self.conditional(site, map, keyword, value, out)?,
            "$ref" | "$dynamicRef" | "$recursiveRef" => {
                out.applicators.push(Applicator::Ref(self.reference(site, keyword, value)?));
            }
            "$schema" => self.metaschema(at, value)?,
            // Identifiers were read before.
            _ => {}
        }
        Ok(())
    }

    fn array(
        &mut self,
        site: &Site,
        map: &'a Map<String, Value>,
        keyword: &str,
        value: &'a Value,
        out: &mut Keywords,
    ) -> Result<(), Error> {
        let at = site.at(keyword);
        let rules = &mut out.array;
        match keyword {
            "minItems" => rules.min_items = count(at, value)?,
            "maxItems" => rules.max_items = Some(count(at, value)?),
            "uniqueItems" => rules.unique = flag(at, value)?,
            "prefixItems" => rules.prefix = self.schemas(site, keyword, value)?,
            "items" => match value {
                // An empty list is legal in the drafts that had lists here.
                Value::Array(list) if site.draft < Draft::Draft202012 => {
                    rules.prefix = if list.is_empty() { Vec::new() } else { self.schemas(site, keyword, value)? };
                }
                Value::Array(_) => return Err(at.invalid("an array of schemas is `prefixItems` since 2020-12")),
                _ => rules.rest = Some(self.child(site, keyword, value)?),
            },
            "additionalItems" => {
                if matches!(map.get("items"), Some(Value::Array(_))) {
                    rules.rest = Some(self.child(site, keyword, value)?);
                }
            }
            "contains" => {
                let counted = |name: &str| match map.get(name) {
                    Some(value) if site.has(name) => count(site.at(name), value).map(Some),
                    _ => Ok(None),
                };
                rules.contains = Some(Contains {
                    node: self.child(site, keyword, value)?,
                    min: counted("minContains")?.unwrap_or(1),
                    max: counted("maxContains")?,
                    evaluates: site.draft >= Draft::Draft202012,
                });
            }
            "minContains" | "maxContains" => {
                count(at, value)?;
                self.warn_alone(site, map, keyword, "contains")?;
            }
            "unevaluatedItems" => rules.unevaluated = Some(self.child(site, keyword, value)?),
            _ => {}
        }
        Ok(())
    }

    fn object(&mut self, site: &Site, keyword: &str, value: &'a Value, out: &mut Keywords) -> Result<(), Error> {
        let at = site.at(keyword);
        let rules = &mut out.object;
        match keyword {
            "properties" => {
                for (name, schema) in members(at, value, "schemas")? {
                    rules.properties.insert(name.clone(), self.member(site, keyword, name, schema)?);
                }
                out.applicators.push(Applicator::Properties);
            }
            "patternProperties" => {
                for (pattern, schema) in members(at, value, "schemas by pattern")? {
                    let at = At { member: Some(pattern), ..at };
                    let regex = regex(at, pattern)?;
                    let node = self.member(site, keyword, pattern, schema)?;
                    rules.patterns.push(PatternProperty { regex, pointer: at.pointer(), node });
                }
            }
            "additionalProperties" => rules.additional = Some(self.child(site, keyword, value)?),
            "propertyNames" => rules.names = Some(self.child(site, keyword, value)?),
            "unevaluatedProperties" => rules.unevaluated = Some(self.child(site, keyword, value)?),
            "minProperties" => rules.min_properties = count(at, value)?,
            "maxProperties" => rules.max_properties = Some(count(at, value)?),
            "required" if site.draft == Draft::Draft4 && value.is_boolean() => {
                // A leftover of draft 3 that stands in many draft-4 schemas; it never meant anything there.
                self.warn(at, "a boolean `required` says nothing since draft 4".to_owned())?;
            }
            "required" => rules.required = names(at, value)?,
            "dependentRequired" => {
                for (name, list) in members(at, value, "lists of names")? {
                    let list = names(At { member: Some(name), ..at }, list)?;
                    rules.dependent_required.push((name.clone(), list));
                }
            }
            "dependentSchemas" => {
                let mut schemas = Vec::new();
                for (name, schema) in members(at, value, "schemas")? {
                    schemas.push((name.clone(), self.member(site, keyword, name, schema)?));
                }
                out.applicators.push(Applicator::Dependent(schemas));
            }
            "dependencies" => {
                let mut schemas = Vec::new();
                for (name, needed) in members(at, value, "schemas and lists of names")? {
                    if needed.is_array() {
                        let list = names(At { member: Some(name), ..at }, needed)?;
                        rules.dependent_required.push((name.clone(), list));
                    } else {
                        schemas.push((name.clone(), self.member(site, keyword, name, needed)?));
                    }
                }
                if !schemas.is_empty() {
                    out.applicators.push(Applicator::Dependent(schemas));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// `if`, `then` and `else` are one applicator, which stands where the first of the branches does: the condition gives no order.
    fn conditional(
        &mut self,
        site: &Site,
        map: &'a Map<String, Value>,
        keyword: &str,
        value: &'a Value,
        out: &mut Keywords,
    ) -> Result<(), Error> {
        let Some(condition) = map.get("if") else {
            self.warn_alone(site, map, keyword, "if")?;
            return self.child(site, keyword, value).map(|_| ());
        };
        let first = map.keys().find(|name| matches!(name.as_str(), "then" | "else")).map_or("if", String::as_str);
        if keyword != first {
            return Ok(());
        }
        let condition = self.child(site, "if", condition)?;
        let mut branch = |name: &str| map.get(name).map(|schema| self.child(site, name, schema)).transpose();
        let (then, otherwise) = (branch("then")?, branch("else")?);
        out.applicators.push(Applicator::If { condition, then, otherwise });
        Ok(())
    }

    fn format(&mut self, at: At<'_>, value: &Value) -> Result<Option<(StringFormat, String)>, Error> {
        let name = text(at, value)?;
        if self.options.format == Format::Annotate {
            return Ok(None);
        }
        let format = StringFormat::from_name(name);
        if format.is_none() {
            self.warn(at, format!("the format {name:?} is unknown and is ignored"))?;
        }
        format.map(|format| self.listed_format(at, format)).transpose()
    }

    /// Content is asserted in draft 7 only; later drafts say that it is an annotation.
    fn content(
        &mut self,
        site: &Site,
        map: &Map<String, Value>,
        keyword: &str,
        value: &Value,
    ) -> Result<Result<Option<(StringFormat, String)>, Error>, Error> {
        let at = site.at(keyword);
        let name = text(at, value)?;
        let Some(content) = StringFormat::of_content(keyword, name).filter(|_| site.draft == Draft::Draft7) else {
            return Ok(Ok(None));
        };
        let beside = if content == StringFormat::Json { "contentEncoding" } else { "contentMediaType" };
        let of_beside = map.get(beside).and_then(Value::as_str).and_then(|name| StringFormat::of_content(beside, name));
        if content == StringFormat::Json && of_beside.is_some() {
            let reason = "JSON inside Base64 has no practical automaton";
            return Ok(Err(Error::unsupported(&at.pointer(), at.keyword, reason)));
        }
        Ok(Ok(Some(self.listed_format(at, content)?)))
    }

    /// A format that is enforced, on the list of what is narrowed where it is.
    fn listed_format(&mut self, at: At<'_>, format: StringFormat) -> Result<(StringFormat, String), Error> {
        if let Some(reason) = format.narrowed() {
            let narrowed =
                Narrowed { pointer: at.pointer(), keyword: at.keyword.to_owned(), reason: reason.to_owned() };
            self.spend(&narrowed.pointer)?;
            self.narrowed.push(narrowed);
        }
        Ok((format, at.pointer()))
    }

    fn schemas(&mut self, site: &Site, keyword: &str, value: &'a Value) -> Result<Vec<NodeId>, Error> {
        match value {
            Value::Array(list) if !list.is_empty() => {
                list.iter().enumerate().map(|(i, schema)| self.member(site, keyword, &i.to_string(), schema)).collect()
            }
            _ => Err(site.at(keyword).invalid("it must be a non-empty array of schemas")),
        }
    }

    /// What can be enforced of a keyword. Where that is nothing, the schema is refused, or, if the options are lenient, the keyword listed.
    fn enforceable<T>(&mut self, at: At<'_>, read: Result<T, Error>) -> Result<Option<T>, Error> {
        match read {
            Ok(value) => Ok(Some(value)),
            Err(error) if self.options.lenient && error.is_beyond_reach() => {
                let relaxed =
                    Relaxed { pointer: at.pointer(), keyword: at.keyword.to_owned(), reason: error.to_string() };
                self.spend(&relaxed.pointer)?;
                self.relaxed.push(relaxed);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Warns of a keyword that says nothing without another.
    fn warn_alone(&mut self, site: &Site, map: &Map<String, Value>, keyword: &str, beside: &str) -> Result<(), Error> {
        if map.contains_key(beside) {
            return Ok(());
        }
        self.warn(site.at(keyword), format!("`{keyword}` says nothing without `{beside}`"))
    }
}

/// Notes one of the four range keywords, in the meaning of its draft.
fn bound(site: &Site, map: &Map<String, Value>, keyword: &str, value: Decimal, rules: &mut NumberRules) {
    let lower = keyword.ends_with("inimum");
    let beside = if lower { "exclusiveMinimum" } else { "exclusiveMaximum" };
    let switched = site.draft == Draft::Draft4 && map.get(beside) == Some(&Value::Bool(true));
    let bound = Bound { value, exclusive: keyword == beside || switched };
    let slot = if lower { &mut rules.min } else { &mut rules.max };
    let stricter = slot.as_ref().is_none_or(|old| {
        let order = if lower { bound.value.cmp(&old.value) } else { old.value.cmp(&bound.value) };
        order.is_gt() || (order.is_eq() && bound.exclusive)
    });
    if stricter {
        *slot = Some(bound);
    }
}
