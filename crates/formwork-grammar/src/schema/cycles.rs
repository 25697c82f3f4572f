//! References that lead back to themselves without reading anything, and those that go too deep.

use super::ir::{Applicator, NodeId, NodeKind, Schema};
use crate::error::Error;

/// Subschemas that may apply each other in place, one inside another: they are resolved recursively.
const MAX_IN_PLACE: usize = 256;

/// Refuses references that lead back to themselves without reading anything of the instance.
pub(super) fn refuse(schema: &Schema) -> Result<(), Error> {
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
