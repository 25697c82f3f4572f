//! `$ref`: what it points to, and the cycles that are refused.

use serde_json::Value;

use super::Parser;
use super::ir::{Applicator, NodeId, NodeKind, Schema};
use crate::error::Error;

impl Parser<'_> {
    /// The node that a `$ref` inside the schema points to.
    pub(super) fn reference(&mut self, pointer: &str, target: &Value) -> Result<NodeId, Error> {
        let at = format!("{pointer}/$ref");
        let Value::String(target) = target else {
            return Err(Error::invalid(&at, "$ref", "it must be a string"));
        };
        let (document, fragment) = target.split_once('#').unwrap_or((target, ""));
        let own = self.root_id.map_or("", |id| id.split('#').next().unwrap_or(""));
        if !document.is_empty() && document != own {
            return Err(Error::unresolved(&at, target, "which is another document"));
        }
        let Some(fragment) = percent_decode(fragment) else {
            return Err(Error::unresolved(&at, target, "whose fragment is not valid percent-encoding"));
        };
        if !fragment.is_empty() && !fragment.starts_with('/') {
            return Err(Error::unresolved(&at, target, "an anchor, and anchors are not supported"));
        }
        let root = self.root;
        match root.pointer(&fragment) {
            Some(value) => self.node(&fragment, value),
            None => Err(Error::unresolved(&at, target, "where the schema has nothing")),
        }
    }
}

fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(b) = rest.next() {
        if b == b'%' {
            let high = char::from(rest.next()?).to_digit(16)?;
            let low = char::from(rest.next()?).to_digit(16)?;
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(b);
        }
    }
    String::from_utf8(bytes).ok()
}

/// Subschemas that may apply each other in place, one inside another: they are resolved recursively.
const MAX_IN_PLACE: usize = 256;

/// Refuses references that lead back to themselves without reading anything of the instance.
pub(super) fn refuse_cycles(schema: &Schema) -> Result<(), Error> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; schema.len()];
    for start in 0..schema.len() {
        if marks[start] != Mark::New {
            continue;
        }
        // An explicit stack: a chain of references may be as long as the schema.
        let mut path: Vec<(usize, Vec<NodeId>)> = vec![(start, in_place(schema, start))];
        marks[start] = Mark::Open;
        while let Some((node, targets)) = path.last_mut() {
            let Some(next) = targets.pop() else {
                marks[*node] = Mark::Done;
                path.pop();
                continue;
            };
            let next = next.index();
            match marks[next] {
                Mark::Done => {}
                Mark::New => {
                    if path.len() > MAX_IN_PLACE {
                        return Err(Error::limit(&schema.nodes[start].pointer, "in_place_depth", MAX_IN_PLACE as u64));
                    }
                    marks[next] = Mark::Open;
                    path.push((next, in_place(schema, next)));
                }
                Mark::Open => {
                    let from = path.iter().position(|(n, _)| *n == next).unwrap_or(0);
                    let mut cycle: Vec<&str> =
                        path[from..].iter().map(|(n, _)| schema.nodes[*n].pointer.as_str()).collect();
                    cycle.push(&schema.nodes[next].pointer);
                    return Err(Error::cycle(&cycle));
                }
            }
        }
    }
    Ok(())
}

/// The subschemas that a subschema applies to the same value.
fn in_place(schema: &Schema, node: usize) -> Vec<NodeId> {
    let NodeKind::Keywords(keywords) = &schema.nodes[node].kind else { return Vec::new() };
    let mut targets = Vec::new();
    for applicator in &keywords.applicators {
        match applicator {
            Applicator::Properties => {}
            Applicator::Ref(target) => targets.push(*target),
            Applicator::AllOf(all) | Applicator::AnyOf(all) | Applicator::OneOf(all) => targets.extend(all),
            Applicator::Not(target) => targets.push(*target),
            Applicator::If { condition, then, otherwise } => {
                targets.push(*condition);
                targets.extend(then.iter().chain(otherwise));
            }
            Applicator::Dependent(schemas) => targets.extend(schemas.iter().map(|(_, node)| *node)),
        }
    }
    targets
}
