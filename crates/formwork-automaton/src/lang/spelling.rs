//! Character classes, spelled: the UTF-8 bytes of a set of characters as a small deterministic automaton.

use regex_syntax::utf8::Utf8Sequences;
use rustc_hash::FxHashMap;

use super::byte_classes::ByteClasses;
use super::byte_set::ByteSet;
use super::utf8::NEVER;

/// What a byte leads to that ends the character.
pub(super) const DONE: u16 = u16::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Arc {
    first: u8,
    last: u8,
    to: u16,
}

/// The automaton of one class: node 0 is before the first byte.
#[derive(Debug)]
pub(super) struct Spelling {
    nodes: Vec<Box<[Arc]>>,
    /// Per node the fewest bytes to the character's end.
    bytes: Vec<u32>,
    /// Bytes that no node tells apart.
    classes: ByteClasses,
}

impl Spelling {
    /// Spells the characters with the bytes of the alphabet; `None` where none can be spelled.
    pub(super) fn new(
        chars: &[(char, char)],
        alphabet: &ByteSet,
        base: &ByteClasses,
    ) -> Option<Self> {
        let mut sequences: Vec<Vec<(u8, u8)>> = Vec::new();
        for &(first, last) in chars {
            for sequence in Utf8Sequences::new(first, last) {
                sequences.push(
                    sequence
                        .as_slice()
                        .iter()
                        .map(|r| (r.start, r.end))
                        .collect(),
                );
            }
        }
        let mut build = Build {
            alphabet,
            nodes: Vec::new(),
            known: FxHashMap::default(),
        };
        let root = build.node(&sequences, 0)?;
        let mut nodes = build.nodes;
        let last = nodes.len() - 1;
        // Nodes are made from the end: the root is the last one, and becomes the first.
        debug_assert_eq!(usize::from(root), last);
        nodes.reverse();
        let renumber = |to: u16| {
            if to == DONE {
                DONE
            } else {
                u16::try_from(last).unwrap_or(DONE) - to
            }
        };
        for arcs in &mut nodes {
            for arc in arcs {
                arc.to = renumber(arc.to);
            }
        }
        let mut bytes = vec![NEVER; nodes.len()];
        for (at, arcs) in nodes.iter().enumerate().rev() {
            let after = |arc: &Arc| bytes.get(usize::from(arc.to)).copied().unwrap_or(0);
            let best = arcs.iter().map(after).min().unwrap_or(NEVER);
            if let Some(slot) = bytes.get_mut(at) {
                *slot = best.saturating_add(1);
            }
        }
        let mut classes = base.clone();
        for arcs in &nodes {
            classes = classes.refine(arcs.len() + 1, |byte| {
                let index = arcs
                    .iter()
                    .position(|arc| arc.first <= byte && byte <= arc.last);
                index.map_or(0, |i| u8::try_from(i + 1).unwrap_or(u8::MAX))
            });
        }
        Some(Self {
            nodes,
            bytes,
            classes,
        })
    }

    /// What a byte leads to from a node: another node, or [`DONE`].
    #[inline]
    pub(super) fn next(&self, node: u16, byte: u8) -> Option<u16> {
        let arcs = self.nodes.get(usize::from(node))?;
        if let [arc] = &**arcs {
            return (arc.first <= byte && byte <= arc.last).then_some(arc.to);
        }
        let at = arcs.partition_point(|arc| arc.last < byte);
        arcs.get(at)
            .filter(|arc| arc.first <= byte)
            .map(|arc| arc.to)
    }

    /// The fewest bytes from a node to the character's end.
    pub(super) fn bytes(&self, node: u16) -> u32 {
        self.bytes.get(usize::from(node)).copied().unwrap_or(NEVER)
    }

    /// Bytes that the class does not tell apart.
    pub(super) fn classes(&self) -> &ByteClasses {
        &self.classes
    }

    /// Heap bytes held.
    pub(super) fn heap_bytes(&self) -> usize {
        self.nodes
            .iter()
            .map(|arcs| arcs.len() * size_of::<Arc>() + 24)
            .sum::<usize>()
            + 512
    }
}

struct Build<'a> {
    alphabet: &'a ByteSet,
    nodes: Vec<Box<[Arc]>>,
    known: FxHashMap<Box<[Arc]>, u16>,
}

impl Build<'_> {
    /// The node for sorted sequences that agree in their first `depth` ranges. Equal nodes are one; an empty one is none.
    fn node(&mut self, sequences: &[Vec<(u8, u8)>], depth: usize) -> Option<u16> {
        let mut arcs: Vec<Arc> = Vec::new();
        for group in sequences.chunk_by(|a, b| a.get(depth) == b.get(depth)) {
            let Some(&(first, last)) = group.first().and_then(|s| s.get(depth)) else {
                continue;
            };
            let ends = group.first().is_some_and(|s| s.len() == depth + 1);
            let Some(to) = (if ends {
                Some(DONE)
            } else {
                self.node(group, depth + 1)
            }) else {
                continue;
            };
            for byte in first..=last {
                if self.alphabet.contains(byte) {
                    match arcs.last_mut() {
                        Some(arc) if arc.to == to && arc.last + 1 == byte => arc.last = byte,
                        _ => arcs.push(Arc {
                            first: byte,
                            last: byte,
                            to,
                        }),
                    }
                }
            }
        }
        if arcs.is_empty() {
            return None;
        }
        let arcs: Box<[Arc]> = arcs.into();
        // The root is never shared, so that it is the last node.
        if depth > 0
            && let Some(&known) = self.known.get(&arcs)
        {
            return Some(known);
        }
        let id = u16::try_from(self.nodes.len())
            .ok()
            .filter(|id| *id < DONE)?;
        self.nodes.push(arcs.clone());
        self.known.insert(arcs, id);
        Some(id)
    }
}
