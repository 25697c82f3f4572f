//! Character classes, spelled: the UTF-8 bytes of a set of characters as a small deterministic automaton.

use regex_syntax::utf8::{Utf8Sequence, Utf8Sequences};
use rustc_hash::FxHashMap;

use super::byte_classes::{ByteClasses, Partition};
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
    /// Bytes that no node tells apart, where there is more than one node.
    classes: Option<ByteClasses>,
}

impl Spelling {
    /// Spells the characters with the bytes of the alphabet; `None` where none can be spelled.
    pub(super) fn new(chars: &[(char, char)], alphabet: &ByteSet, base: &ByteClasses) -> Option<Self> {
        if let Some(arcs) = one_byte_arcs(chars, alphabet) {
            return (!arcs.is_empty()).then(|| Self { nodes: vec![arcs], bytes: vec![1], classes: None });
        }
        let sequences: Vec<Utf8Sequence> =
            chars.iter().flat_map(|&(first, last)| Utf8Sequences::new(first, last)).collect();
        let mut build = Build { alphabet, nodes: Vec::new(), known: FxHashMap::default() };
        let root = build.node(&sequences, 0)?;
        let mut nodes = build.nodes;
        // Nodes are made from the end: the root is the last one, and becomes the first.
        nodes.reverse();
        for arc in nodes.iter_mut().flatten() {
            if arc.to != DONE {
                arc.to = root - arc.to;
            }
        }
        let mut bytes = vec![NEVER; nodes.len()];
        for (at, arcs) in nodes.iter().enumerate().rev() {
            let after = |arc: &Arc| bytes.get(usize::from(arc.to)).copied().unwrap_or(0);
            bytes[at] = arcs.iter().map(after).min().unwrap_or(NEVER).saturating_add(1);
        }
        let mut partition = Partition::from_classes(base);
        for arcs in &nodes {
            partition.split(arcs.iter().map(|arc| (arc.first, arc.last, arc.to)));
        }
        Some(Self { nodes, bytes, classes: Some(partition.finish()) })
    }

    /// Tells apart what this class does.
    pub(super) fn split(&self, partition: &mut Partition) {
        match &self.classes {
            Some(classes) => partition.join(classes),
            None => partition.split(self.nodes.iter().flatten().map(|arc| (arc.first, arc.last, arc.to))),
        }
    }

    /// What a byte leads to from a node: another node, or [`DONE`].
    #[inline]
    pub(super) fn next(&self, node: u16, byte: u8) -> Option<u16> {
        let arcs = self.nodes.get(usize::from(node))?;
        if let [arc] = &**arcs {
            return (arc.first <= byte && byte <= arc.last).then_some(arc.to);
        }
        let at = arcs.partition_point(|arc| arc.last < byte);
        arcs.get(at).filter(|arc| arc.first <= byte).map(|arc| arc.to)
    }

    /// The fewest bytes from a node to the character's end.
    pub(super) fn bytes(&self, node: u16) -> u32 {
        self.bytes.get(usize::from(node)).copied().unwrap_or(NEVER)
    }

    /// Heap bytes held.
    pub(super) fn heap_bytes(&self) -> usize {
        self.nodes.iter().map(|arcs| arcs.len() * size_of::<Arc>() + 24).sum::<usize>() + 512
    }
}

/// The arcs of a class of one-byte characters; `None` where it has others.
fn one_byte_arcs(chars: &[(char, char)], alphabet: &ByteSet) -> Option<Box<[Arc]>> {
    let mut arcs: Vec<Arc> = Vec::with_capacity(chars.len());
    for &(first, last) in chars {
        let (first, last) = (u8::try_from(first).ok()?, u8::try_from(last).ok().filter(u8::is_ascii)?);
        push_arcs(&mut arcs, first, last, DONE, alphabet);
    }
    Some(arcs.into())
}

/// Adds the bytes of a range that the alphabet has, as few arcs as possible.
fn push_arcs(arcs: &mut Vec<Arc>, first: u8, last: u8, to: u16, alphabet: &ByteSet) {
    for byte in first..=last {
        if alphabet.contains(byte) {
            match arcs.last_mut() {
                Some(arc) if arc.to == to && arc.last + 1 == byte => arc.last = byte,
                _ => arcs.push(Arc { first: byte, last: byte, to }),
            }
        }
    }
}

struct Build<'a> {
    alphabet: &'a ByteSet,
    nodes: Vec<Box<[Arc]>>,
    known: FxHashMap<Box<[Arc]>, u16>,
}

impl Build<'_> {
    /// The node for sorted sequences that agree in their first `depth` ranges. Equal nodes are one; an empty one is none.
    fn node(&mut self, sequences: &[Utf8Sequence], depth: usize) -> Option<u16> {
        let mut arcs: Vec<Arc> = Vec::new();
        for group in sequences.chunk_by(|a, b| a.as_slice().get(depth) == b.as_slice().get(depth)) {
            let ranges = group.first()?.as_slice();
            let range = ranges.get(depth)?;
            let to = if ranges.len() == depth + 1 { Some(DONE) } else { self.node(group, depth + 1) };
            if let Some(to) = to {
                push_arcs(&mut arcs, range.start, range.end, to, self.alphabet);
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
        let id = u16::try_from(self.nodes.len()).ok().filter(|id| *id < DONE)?;
        self.nodes.push(arcs.clone());
        self.known.insert(arcs, id);
        Some(id)
    }
}
