//! The tokens' bytes as a trie whose siblings stand side by side.

use std::sync::atomic::{AtomicU32, Ordering};

use formwork_automaton::ByteSet;

use crate::base::to_u32;

/// No token ends at the node.
const NONE: u32 = u32::MAX;
/// Set in [`Node::token`] where several tokens have the same bytes; the rest is then an index into [`Trie::groups`].
const GROUP: u32 = 1 << 31;

/// How many tries there were so far.
static TRIES: AtomicU32 = AtomicU32::new(0);

/// A node: the edge that leads to it, and where its children are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    /// The first of its children: they follow each other in order of their bytes.
    first: u32,
    token: u32,
    /// Children, at most 256.
    children: u16,
    pub(crate) byte: u8,
    /// The most characters of any token in the subtree, at most 255.
    pub(crate) reach: u8,
    /// Nodes of the subtree, this one included.
    pub(crate) size: u32,
}

impl Node {
    /// Where its children are among the nodes.
    #[inline]
    pub(crate) fn children(self) -> Siblings {
        Siblings { next: self.first, end: self.first + u32::from(self.children) }
    }

    pub(crate) fn is_leaf(self) -> bool {
        self.children == 0
    }
}

/// Nodes beside each other that are still to be looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Siblings {
    pub(crate) next: u32,
    pub(crate) end: u32,
}

/// A set of tokens by their bytes.
#[derive(Debug, Default)]
pub(crate) struct Trie {
    /// Tells it from all others of this process.
    id: u32,
    nodes: Vec<Node>,
    /// Their bytes, by which most siblings are passed over.
    bytes: Vec<u8>,
    /// How many of them, the first ones, are of the first level.
    roots: u32,
    /// The bytes of these.
    root_bytes: ByteSet,
    groups: Vec<Vec<u32>>,
}

impl Trie {
    /// The largest id a trie can hold, the longest token in bytes, and the most nodes: `Vocabulary` refuses what lies beyond.
    pub(crate) const MAX_TOKENS: usize = (GROUP - 1) as usize;
    pub(crate) const MAX_TOKEN_BYTES: usize = u16::MAX as usize - 1;

    /// The trie of some non-empty tokens, sorted by their bytes; `chars` gives a token's length in characters.
    pub(crate) fn from_sorted<'a>(
        tokens: impl IntoIterator<Item = (&'a [u8], u32)>,
        chars: impl Fn(u32) -> u8,
    ) -> Self {
        // Depth first to begin with, as the tokens come: a node's children are those after it that its size covers.
        let mut trie = Self { id: TRIES.fetch_add(1, Ordering::Relaxed), ..Self::default() };
        let mut path: Vec<usize> = Vec::new();
        let mut previous: &[u8] = &[];
        for (bytes, id) in tokens {
            let shared = bytes.iter().zip(previous).take_while(|(a, b)| a == b).count();
            while path.len() > shared {
                trie.close(&mut path);
            }
            for &byte in &bytes[shared..] {
                path.push(trie.nodes.len());
                trie.nodes.push(Node { first: 0, token: NONE, children: 0, byte, reach: 0, size: 0 });
            }
            if let Some(&last) = path.last() {
                trie.nodes[last].reach = trie.nodes[last].reach.max(chars(id));
                trie.put(last, id);
            }
            previous = bytes;
        }
        while !path.is_empty() {
            trie.close(&mut path);
        }
        trie.gather_siblings();
        trie
    }

    /// Ends the innermost open node.
    fn close(&mut self, path: &mut Vec<usize>) {
        if let Some(index) = path.pop() {
            self.nodes[index].size = to_u32(self.nodes.len() - index);
            if let Some(&parent) = path.last() {
                self.nodes[parent].reach = self.nodes[parent].reach.max(self.nodes[index].reach);
            }
        }
    }

    /// From depth first to siblings side by side: a walk looks at all of them, and goes down to few.
    fn gather_siblings(&mut self) {
        let deep = std::mem::take(&mut self.nodes);
        self.nodes.reserve_exact(deep.len());
        // Where the children of a node are in the one order, and the node in the other.
        let mut open: Vec<(std::ops::Range<usize>, Option<usize>)> = vec![(0..deep.len(), None)];
        while let Some((children, parent)) = open.pop() {
            let first = to_u32(self.nodes.len());
            let mut at = children.start;
            let mut inner = Vec::new();
            while at < children.end {
                let end = at + deep[at].size as usize;
                if end > at + 1 {
                    inner.push((at + 1..end, Some(self.nodes.len())));
                }
                self.nodes.push(deep[at]);
                at = end;
            }
            let count = to_u32(self.nodes.len()) - first;
            match parent {
                None => self.roots = count,
                Some(parent) => {
                    self.nodes[parent].first = first;
                    self.nodes[parent].children = u16::try_from(count).unwrap_or(u16::MAX);
                }
            }
            open.extend(inner.into_iter().rev());
        }
        self.bytes = self.nodes.iter().map(|node| node.byte).collect();
        self.root_bytes = self.bytes[..self.roots as usize].iter().copied().collect();
    }

    fn put(&mut self, node: usize, id: u32) {
        let token = self.nodes[node].token;
        if token == NONE {
            self.nodes[node].token = id;
        } else if token & GROUP == 0 {
            let group = u32::try_from(self.groups.len()).unwrap_or(GROUP - 1);
            self.groups.push(vec![token, id]);
            self.nodes[node].token = GROUP | group;
        } else if let Some(group) = self.groups.get_mut((token ^ GROUP) as usize) {
            group.push(id);
        }
    }

    /// Tells the trie from all others of this process.
    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    /// The nodes, those of the first level first.
    #[inline]
    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The byte of each node.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The nodes of the first level.
    pub(crate) fn roots(&self) -> Siblings {
        Siblings { next: 0, end: self.roots }
    }

    /// The bytes of a set that siblings may have.
    #[inline]
    pub(crate) fn among(&self, siblings: Siblings, bytes: ByteSet) -> ByteSet {
        if siblings.end == self.roots { bytes.and(self.root_bytes) } else { bytes }
    }

    /// Passes over siblings up to the first with one of these bytes; says whether there is one.
    #[inline]
    pub(crate) fn skip_to(&self, left: &mut Siblings, bytes: &ByteSet) -> bool {
        while let Some(&here) = self.bytes.get(left.next as usize).filter(|_| left.next < left.end) {
            let Some(byte) = bytes.next_from(here) else { break };
            if byte == here {
                return true;
            }
            let rest = &self.bytes[left.next as usize..left.end as usize];
            left.next += to_u32(rest.partition_point(|other| *other < byte));
        }
        left.next = left.end;
        false
    }

    /// Calls `f` with every node of the subtree, `node` included.
    pub(crate) fn each_below(&self, node: Node, mut f: impl FnMut(Node)) {
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            f(node);
            let Siblings { next, end } = node.children();
            open.extend(self.nodes.get(next as usize..end as usize).unwrap_or_default());
        }
    }

    /// The tokens below a node, by their bytes from there on, and those that end at it with none.
    pub(crate) fn tokens_from(&self, node: Node) -> Vec<(Vec<u8>, u32)> {
        let mut tokens = Vec::new();
        let mut open = vec![(node, Vec::new())];
        while let Some((node, bytes)) = open.pop() {
            self.each_token(node, |id| tokens.push((bytes.clone(), id)));
            let Siblings { next, end } = node.children();
            for &child in self.nodes.get(next as usize..end as usize).unwrap_or_default() {
                open.push((child, [&bytes[..], &[child.byte]].concat()));
            }
        }
        tokens
    }

    /// Calls `f` with every token that ends at the node.
    #[inline]
    pub(crate) fn each_token(&self, node: Node, mut f: impl FnMut(u32)) {
        if node.token & GROUP == 0 {
            f(node.token);
        } else if node.token != NONE {
            self.group(node).iter().copied().for_each(f);
        }
    }

    #[cold]
    fn group(&self, node: Node) -> &[u32] {
        self.groups.get((node.token ^ GROUP) as usize).map_or(&[], Vec::as_slice)
    }

    /// The tokens that `text` begins with: length in bytes and (least) id, shortest first.
    pub(crate) fn prefixes_of<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = (usize, u32)> + 'a {
        let mut siblings = self.roots();
        text.iter()
            .enumerate()
            .map_while(move |(read, &byte)| {
                let node = self.child(siblings, byte)?;
                siblings = node.children();
                Some((read + 1, node))
            })
            .filter_map(|(read, node)| {
                let mut least = None;
                self.each_token(node, |id| {
                    least = Some(least.map_or(id, |l: u32| l.min(id)));
                });
                least.map(|id| (read, id))
            })
    }

    /// The node by `byte` among siblings.
    fn child(&self, siblings: Siblings, byte: u8) -> Option<Node> {
        self.find(siblings, byte).map(|index| self.nodes[index as usize])
    }

    /// The index of the node by `byte` among siblings.
    #[inline]
    pub(crate) fn find(&self, siblings: Siblings, byte: u8) -> Option<u32> {
        let bytes = self.bytes.get(siblings.next as usize..siblings.end as usize)?;
        bytes.binary_search(&byte).ok().map(|index| siblings.next + to_u32(index))
    }

    /// Bytes held on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
            + self.bytes.capacity()
            + self.groups.iter().map(|g| g.capacity() * 4 + 24).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn trie(words: &[Vec<u8>]) -> Trie {
        let mut sorted: Vec<(&[u8], u32)> =
            words.iter().map(Vec::as_slice).zip(0..).filter(|(w, _)| !w.is_empty()).collect();
        sorted.sort_unstable();
        Trie::from_sorted(sorted, |_| 1)
    }

    proptest! {
        #[test]
        fn holds_every_token_once(words in proptest::collection::vec(proptest::collection::vec(97_u8..100, 0..5), 0..40)) {
            let trie = trie(&words);
            let mut found = Vec::new();
            let mut open = vec![(trie.roots(), Vec::new())];
            while let Some((siblings, path)) = open.pop() {
                for node in &trie.nodes()[siblings.next as usize..siblings.end as usize] {
                    let path = [&path[..], &[node.byte]].concat();
                    trie.each_token(*node, |id| found.push((path.clone(), id)));
                    let mut below = 0;
                    trie.each_below(*node, |_| below += 1);
                    prop_assert_eq!(below, node.size);
                    open.push((node.children(), path));
                }
            }
            found.sort_by_key(|&(_, id)| id);
            let expected: Vec<_> = words.iter().cloned().zip(0_u32..).filter(|(w, _)| !w.is_empty()).collect();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn finds_prefixes(words in proptest::collection::vec(proptest::collection::vec(97_u8..99, 1..5), 0..20), text in proptest::collection::vec(97_u8..99, 0..6)) {
            let trie = trie(&words);
            let found: Vec<usize> = trie.prefixes_of(&text).map(|(n, _)| n).collect();
            let expected: Vec<usize> = (1..=text.len()).filter(|&n| words.iter().any(|w| w[..] == text[..n])).collect();
            prop_assert_eq!(found, expected);
            for (n, id) in trie.prefixes_of(&text) {
                prop_assert_eq!(words.iter().position(|w| w[..] == text[..n]), Some(id as usize));
            }
        }
    }
}
