//! References that lead back to themselves without reading anything, and those that go too deep.

use super::ir::{Applicator, NodeId, NodeKind, Schema};
use crate::error::Error;

/// Subschemas that may apply each other in place, one inside another: they are resolved recursively.
const MAX_IN_PLACE: usize = 256;

/// How far a subschema has been followed.
#[derive(Clone, Copy, PartialEq)]
enum Mark {
    New,
    Open,
    /// Followed to its end, through so many subschemas.
    Done(usize),
}

/// A subschema on the way down, what it applies and the most subschemas below it so far.
struct Frame {
    node: usize,
    targets: Vec<NodeId>,
    below: usize,
}

/// Refuses references that lead back to themselves without reading anything of the instance.
pub(super) fn refuse(schema: &Schema) -> Result<(), Error> {
    let mut marks = vec![Mark::New; schema.len()];
    // An explicit stack: a chain of references may be as long as the schema.
    let mut path: Vec<Frame> = Vec::new();
    for start in 0..schema.len() {
        let mut next = Some(start);
        loop {
            let node = next.take().or_else(|| path.last_mut()?.targets.pop().map(NodeId::index));
            let Some(node) = node else {
                let Some(Frame { node, below, .. }) = path.pop() else { break };
                marks[node] = Mark::Done(below + 1);
                if below >= MAX_IN_PLACE {
                    return Err(Error::limit(&schema.nodes[node].pointer, "in_place_depth", MAX_IN_PLACE as u64));
                }
                if let Some(above) = path.last_mut() {
                    above.below = above.below.max(below + 1);
                }
                continue;
            };
            match marks[node] {
                Mark::Done(depth) => {
                    if let Some(above) = path.last_mut() {
                        above.below = above.below.max(depth);
                    }
                }
                Mark::New => {
                    marks[node] = Mark::Open;
                    path.push(Frame { node, targets: in_place(schema, node), below: 0 });
                }
                Mark::Open => {
                    let from = path.iter().position(|frame| frame.node == node).unwrap_or(0);
                    let nodes = path[from..].iter().map(|frame| frame.node).chain([node]);
                    let cycle: Vec<&str> = nodes.map(|node| schema.nodes[node].pointer.as_str()).collect();
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
            Applicator::Ref(target) | Applicator::Not(target) => targets.push(*target),
            Applicator::AllOf(all) | Applicator::AnyOf(all) | Applicator::OneOf(all) => targets.extend(all),
            Applicator::If { condition, then, otherwise } => {
                targets.push(*condition);
                targets.extend(then.iter().chain(otherwise));
            }
            Applicator::Dependent(schemas) => targets.extend(schemas.iter().map(|(_, node)| *node)),
        }
    }
    targets
}
