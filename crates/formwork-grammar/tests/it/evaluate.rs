//! A plain evaluator of checked schemas: slow, obvious, and made of nothing but the specification.

use std::collections::BTreeSet;

use formwork_grammar::{
    Applicator, Bound, Decimal, Keywords, NodeId, NodeKind, Regex, Schema, SchemaOptions, Type, schema_from_value,
};
use num_bigint::BigUint;
use serde_json::{Number, Value};

/// Whether a value is valid under a schema that has to be readable.
pub(crate) fn valid(schema: &Value, options: &SchemaOptions, value: &Value) -> bool {
    let schema = schema_from_value(schema, options).unwrap();
    is_valid(&schema, value)
}

/// Whether a value is valid under a checked schema.
pub(crate) fn is_valid(schema: &Schema, value: &Value) -> bool {
    node(schema, schema.root(), value).is_some()
}

/// The members and items that a valid value's subschemas have looked at.
#[derive(Default)]
struct Evaluated {
    keys: BTreeSet<String>,
    items: BTreeSet<usize>,
}

impl Evaluated {
    fn add(&mut self, other: Self) {
        self.keys.extend(other.keys);
        self.items.extend(other.items);
    }
}

fn node(schema: &Schema, id: NodeId, value: &Value) -> Option<Evaluated> {
    match &schema.node(id).kind {
        NodeKind::Always => Some(Evaluated::default()),
        NodeKind::Never => None,
        NodeKind::Keywords(keywords) => {
            let own = match value {
                Value::Null => keywords.types.contains(Type::Null),
                Value::Bool(_) => keywords.types.contains(Type::Boolean),
                Value::Number(n) => number(keywords, n),
                Value::String(text) => string(keywords, text),
                Value::Array(_) => keywords.types.contains(Type::Array),
                Value::Object(_) => keywords.types.contains(Type::Object),
            };
            if !own || !keywords.values.iter().all(|list| list.iter().any(|v| equal(v, value))) {
                return None;
            }
            let mut seen = Evaluated::default();
            for applicator in &keywords.applicators {
                seen.add(apply(schema, applicator, value)?);
            }
            match value {
                Value::Array(items) => array(schema, keywords, items, &mut seen).then_some(seen),
                Value::Object(_) => object(schema, keywords, value, &mut seen).then_some(seen),
                _ => Some(seen),
            }
        }
    }
}

fn apply(schema: &Schema, applicator: &Applicator, value: &Value) -> Option<Evaluated> {
    let mut seen = Evaluated::default();
    match applicator {
        Applicator::Properties => {}
        Applicator::Ref(target) => seen = node(schema, *target, value)?,
        Applicator::AllOf(all) => {
            for id in all {
                seen.add(node(schema, *id, value)?);
            }
        }
        Applicator::AnyOf(any) => {
            let valid: Vec<_> = any.iter().filter_map(|id| node(schema, *id, value)).collect();
            if valid.is_empty() {
                return None;
            }
            for other in valid {
                seen.add(other);
            }
        }
        Applicator::OneOf(one) => {
            let mut valid = one.iter().filter_map(|id| node(schema, *id, value));
            seen = valid.next()?;
            if valid.next().is_some() {
                return None;
            }
        }
        Applicator::Not(target) => {
            if node(schema, *target, value).is_some() {
                return None;
            }
        }
        Applicator::If { condition, then, otherwise } => {
            let met = node(schema, *condition, value);
            let branch = if met.is_some() { then } else { otherwise };
            seen.add(met.unwrap_or_default());
            if let Some(branch) = branch {
                seen.add(node(schema, *branch, value)?);
            }
        }
        Applicator::Dependent(schemas) => {
            for (_, id) in schemas.iter().filter(|(key, _)| value.get(key).is_some()) {
                seen.add(node(schema, *id, value)?);
            }
        }
    }
    Some(seen)
}

fn number(keywords: &Keywords, written: &Number) -> bool {
    let is_fraction = written.as_str().contains(['.', 'e', 'E']);
    let n = &Decimal::from_json(written).unwrap();
    let within = |bound: &Option<Bound>, order: std::cmp::Ordering| {
        bound.as_ref().is_none_or(|b| match n.cmp(&b.value) {
            std::cmp::Ordering::Equal => !b.exclusive,
            other => other == order,
        })
    };
    keywords.types.contains(Type::Number)
        && (!keywords.types.integer_only() || (n.is_integer() && !(keywords.number.written_integer && is_fraction)))
        && within(&keywords.number.min, std::cmp::Ordering::Greater)
        && within(&keywords.number.max, std::cmp::Ordering::Less)
        && keywords.number.multiple_of.as_ref().is_none_or(|step| is_multiple(n, step))
}

fn is_multiple(n: &Decimal, step: &Decimal) -> bool {
    let exponent = |d: &Decimal| d.point() - i64::try_from(d.digits().len()).unwrap();
    let low = exponent(n).min(exponent(step));
    let scaled = |d: &Decimal| {
        let digits = BigUint::from_radix_be(d.digits(), 10).unwrap_or_default();
        digits * BigUint::from(10_u32).pow(u32::try_from(exponent(d) - low).unwrap())
    };
    scaled(n) % scaled(step) == BigUint::ZERO
}

fn string(keywords: &Keywords, text: &str) -> bool {
    let length = text.chars().count();
    keywords.types.contains(Type::String)
        && length >= keywords.string.min_length as usize
        && keywords.string.max_length.is_none_or(|max| length <= max as usize)
        && keywords.string.pattern.as_ref().is_none_or(|(regex, _)| is_match(regex, text))
}

fn array(schema: &Schema, keywords: &Keywords, items: &[Value], seen: &mut Evaluated) -> bool {
    let rules = &keywords.array;
    let duplicate = || (1..items.len()).any(|i| items[..i].iter().any(|earlier| equal(earlier, &items[i])));
    if items.len() < rules.min_items as usize
        || rules.max_items.is_some_and(|max| items.len() > max as usize)
        || (rules.unique && duplicate())
    {
        return false;
    }
    for (i, item) in items.iter().enumerate() {
        if let Some(id) = rules.prefix.get(i).copied().or(rules.rest) {
            if node(schema, id, item).is_none() {
                return false;
            }
            seen.items.insert(i);
        }
    }
    if let Some(contains) = &rules.contains {
        let matching: Vec<usize> =
            (0..items.len()).filter(|i| node(schema, contains.node, &items[*i]).is_some()).collect();
        if matching.len() < contains.min as usize || contains.max.is_some_and(|max| matching.len() > max as usize) {
            return false;
        }
        if contains.evaluates {
            seen.items.extend(matching);
        }
    }
    let Some(unevaluated) = rules.unevaluated else { return true };
    let valid =
        (0..items.len()).filter(|i| !seen.items.contains(i)).all(|i| node(schema, unevaluated, &items[i]).is_some());
    seen.items.extend(0..items.len());
    valid
}

fn object(schema: &Schema, keywords: &Keywords, value: &Value, seen: &mut Evaluated) -> bool {
    let (rules, members) = (&keywords.object, value.as_object().unwrap());
    let has = |name: &String| members.contains_key(name);
    if members.len() < rules.min_properties as usize
        || rules.max_properties.is_some_and(|max| members.len() > max as usize)
        || !rules.required.iter().all(has)
        || !rules.dependent_required.iter().all(|(key, needed)| !has(key) || needed.iter().all(has))
    {
        return false;
    }
    for (key, member) in members {
        let mut applied: Vec<NodeId> = rules.properties.get(key).copied().into_iter().collect();
        applied.extend(rules.patterns.iter().filter(|p| is_match(&p.regex, key)).map(|p| p.node));
        if applied.is_empty() {
            applied.extend(rules.additional);
        }
        if !applied.iter().all(|id| node(schema, *id, member).is_some()) {
            return false;
        }
        if rules.names.is_some_and(|id| node(schema, id, &Value::String(key.clone())).is_none()) {
            return false;
        }
        if !applied.is_empty() {
            seen.keys.insert(key.clone());
        }
    }
    let Some(unevaluated) = rules.unevaluated else { return true };
    let valid = members
        .iter()
        .filter(|(key, _)| !seen.keys.contains(*key))
        .all(|(_, member)| node(schema, unevaluated, member).is_some());
    seen.keys.extend(members.keys().cloned());
    valid
}

/// Equality of JSON values: `1` is `1.0`, and the order of members says nothing.
fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => Decimal::from_json(a) == Decimal::from_json(b),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| equal(a, b)))
        }
        _ => a == b,
    }
}

/// Whether an expression matches somewhere in a text, by backtracking.
fn is_match(regex: &Regex, text: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    (0..=text.len()).any(|start| matches(regex, &text, start, &mut |_| true))
}

fn matches(regex: &Regex, text: &[char], at: usize, then: &mut dyn FnMut(usize) -> bool) -> bool {
    let word = |i: usize| text.get(i).is_some_and(|c| c.is_ascii_alphanumeric() || *c == '_');
    match regex {
        Regex::Empty => then(at),
        Regex::Class(ranges) => {
            text.get(at).is_some_and(|c| ranges.iter().any(|(low, high)| (low..=high).contains(&c))) && then(at + 1)
        }
        Regex::Concat(parts) => match parts.split_first() {
            None => then(at),
            Some((first, rest)) => {
                let rest = Regex::Concat(rest.to_vec());
                matches(first, text, at, &mut |next| matches(&rest, text, next, then))
            }
        },
        Regex::Alternation(any) => any.iter().any(|one| matches(one, text, at, then)),
        Regex::Repeat { node, min, max } => {
            if *max == Some(0) {
                return then(at);
            }
            let less = Regex::Repeat { node: node.clone(), min: min.saturating_sub(1), max: max.map(|max| max - 1) };
            let more = matches(node, text, at, &mut |next| (next > at || *min > 0) && matches(&less, text, next, then));
            more || (*min == 0 && then(at))
        }
        Regex::Start => at == 0 && then(at),
        Regex::End => at == text.len() && then(at),
        Regex::WordBoundary { negated } => ((at > 0 && word(at - 1)) != word(at)) != *negated && then(at),
        Regex::Look { behind: false, negated, node } => matches(node, text, at, &mut |_| true) != *negated && then(at),
        Regex::Look { behind: true, negated, node } => {
            (0..=at).any(|start| matches(node, text, start, &mut |end| end == at)) != *negated && then(at)
        }
    }
}
