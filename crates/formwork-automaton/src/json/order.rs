//! The order of an object's members: one list for each position in the schema, apart from what is valid.
//!
//! A position is the subschemas that stand there, in the order in which they are met: walking a schema in document order, entering
//! references and in-place applicators where they stand. Its list is the names their `properties` declare, each at its first place.

use formwork_grammar::{Applicator, Keywords, NodeId, NodeKind, PatternProperty, Schema};
use rustc_hash::FxHashSet;

use super::JsonAutomaton;
use super::keys::{KeyMachine, KeyRef};
use crate::interner::{Interner, Memo};
use crate::lang::Lang;

/// A position, and a member of the object there: its name where it is known, else the patterns that it matches.
type MemberKey = (u32, Option<Box<str>>, Box<[Lang]>);

/// The positions met so far. Where any order is allowed there is one, without a list.
#[derive(Debug)]
pub(super) struct Positions {
    ordered: bool,
    interned: Interner<Box<[NodeId]>>,
    walks: Memo<u32, std::sync::Arc<[NodeId]>>,
    members: Memo<MemberKey, u32>,
    items: Memo<(u32, u32), u32>,
}

impl Positions {
    pub(super) fn new(ordered: bool) -> Self {
        Self { ordered, interned: Interner::new(), walks: Memo::new(), members: Memo::new(), items: Memo::new() }
    }

    /// Bytes held on the heap, roughly.
    pub(super) fn bytes(&self) -> usize {
        self.interned.bytes() + self.walks.bytes() + self.members.bytes() + self.items.bytes()
    }

    /// The root's position.
    pub(super) fn root(&self, root: NodeId) -> u32 {
        self.interned.intern(if self.ordered { Box::from([root]) } else { Box::default() })
    }

    /// The subschemas that stand at a position.
    pub(super) fn nodes(&self, position: u32) -> &[NodeId] {
        self.interned.get(position)
    }

    /// The names on a position's list.
    pub(super) fn names<'a>(&self, schema: &'a Schema, position: u32) -> Vec<&'a str> {
        let mut seen = FxHashSet::default();
        let mut names = Vec::new();
        for node in self.walk(schema, position).iter() {
            if let NodeKind::Keywords(keywords) = &schema.node(*node).kind {
                names.extend(keywords.object.properties.keys().map(String::as_str).filter(|name| seen.insert(*name)));
            }
        }
        names
    }

    fn children(&self, schema: &Schema, position: u32, child: impl Fn(&Keywords) -> Vec<NodeId>) -> u32 {
        let mut seen = FxHashSet::default();
        let mut nodes = Vec::new();
        for node in self.walk(schema, position).iter() {
            if let NodeKind::Keywords(keywords) = &schema.node(*node).kind {
                nodes.extend(child(keywords).into_iter().filter(|child| seen.insert(*child)));
            }
        }
        self.interned.intern(nodes.into())
    }

    /// The position's subschemas and those that they apply in place, in document order: a subschema stands where its `properties`
    /// do among the applicators.
    fn walk(&self, schema: &Schema, position: u32) -> std::sync::Arc<[NodeId]> {
        self.walks.get_or(position, || {
            let mut out = Vec::new();
            let mut seen = FxHashSet::default();
            // Last in, first out: pushed in reverse.
            let mut open: Vec<(NodeId, bool)> =
                self.interned.get(position).iter().rev().map(|node| (*node, false)).collect();
            while let Some((node, here)) = open.pop() {
                if here {
                    out.push(node);
                    continue;
                }
                if !seen.insert(node) {
                    continue;
                }
                let NodeKind::Keywords(keywords) = &schema.node(node).kind else { continue };
                let mut targets: Vec<(NodeId, bool)> = Vec::new();
                for applicator in &keywords.applicators {
                    match applicator {
                        Applicator::Properties => targets.push((node, true)),
                        Applicator::Ref(target) => targets.push((*target, false)),
                        Applicator::AllOf(nodes) | Applicator::AnyOf(nodes) | Applicator::OneOf(nodes) => {
                            targets.extend(nodes.iter().map(|n| (*n, false)));
                        }
                        // What must not hold, or only decides, sets no order.
                        Applicator::Not(_) => {}
                        Applicator::If { then, otherwise, .. } => {
                            targets.extend(then.iter().chain(otherwise).map(|n| (*n, false)));
                        }
                        Applicator::Dependent(schemas) => targets.extend(schemas.iter().map(|(_, n)| (*n, false))),
                    }
                }
                if !keywords.applicators.contains(&Applicator::Properties) {
                    targets.push((node, true));
                }
                open.extend(targets.into_iter().rev());
            }
            out.into()
        })
    }
}

impl JsonAutomaton {
    /// The position of the value of a key.
    pub(super) fn member_position(&self, machine: &KeyMachine, key: KeyRef) -> u32 {
        let position = machine.position;
        if !self.positions.ordered {
            return position;
        }
        let (name, matched) = match key {
            KeyRef::Known(key) => (Some(&**self.texts.get(machine.keys[key as usize])), &[][..]),
            KeyRef::Class(class) => (None, &*machine.classes[class as usize].matched),
        };
        let key = (position, name.map(Box::from), Box::from(matched));
        self.positions.members.get_or(key, || {
            self.positions.children(&self.schema, position, |keywords| {
                let object = &keywords.object;
                let declared = name.and_then(|name| object.properties.get(name)).copied();
                let is_in = |pattern: &PatternProperty| {
                    let lang = self.pattern_lang(&pattern.regex);
                    name.map_or_else(|| matched.contains(&lang), |name| self.langs.contains(lang, name))
                };
                let patterns = object.patterns.iter().filter(|p| is_in(p)).map(|p| p.node);
                let mut nodes: Vec<NodeId> = declared.into_iter().chain(patterns).collect();
                if nodes.is_empty() {
                    nodes.extend(object.additional.or(object.unevaluated));
                }
                nodes
            })
        })
    }

    /// The position of an item.
    pub(super) fn item_position(&self, position: u32, index: u32) -> u32 {
        if !self.positions.ordered {
            return position;
        }
        self.positions.items.get_or((position, index), || {
            self.positions.children(&self.schema, position, |keywords| {
                let array = &keywords.array;
                let place = array.prefix.get(index as usize).or(array.rest.as_ref()).or(array.unevaluated.as_ref());
                place.into_iter().chain(array.contains.as_ref().map(|c| &c.node)).copied().collect()
            })
        })
    }
}
