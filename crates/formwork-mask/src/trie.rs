//! The tokens' bytes as a trie in depth-first order.

/// No token ends at the node.
const NONE: u32 = u32::MAX;
/// Set in [`Node::token`] where several tokens have the same bytes; the rest is then an index into [`Trie::groups`].
const GROUP: u32 = 1 << 31;

/// A node: the edge that leads to it, and where its subtree ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    /// Nodes of the subtree, this one included: the next sibling is that many nodes further on.
    pub(crate) skip: u32,
    token: u32,
    /// Edges between the root and this node, less one: index into the walker's stack.
    pub(crate) depth: u16,
    pub(crate) byte: u8,
    /// The most characters of any token in the subtree, at most 255.
    pub(crate) reach: u8,
}

/// A set of tokens by their bytes.
#[derive(Debug, Default)]
pub(crate) struct Trie {
    nodes: Vec<Node>,
    /// The nodes of the first level, with their bytes: they lie far apart.
    roots: Vec<(u8, u32)>,
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
        let mut trie = Self::default();
        let mut path: Vec<usize> = Vec::new();
        let mut previous: &[u8] = &[];
        for (bytes, id) in tokens {
            let shared = bytes.iter().zip(previous).take_while(|(a, b)| a == b).count();
            while path.len() > shared {
                trie.close(&mut path);
            }
            for &byte in &bytes[shared..] {
                let depth = u16::try_from(path.len()).unwrap_or(u16::MAX);
                path.push(trie.nodes.len());
                trie.nodes.push(Node { skip: 0, token: NONE, depth, byte, reach: 0 });
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
        trie.nodes.shrink_to_fit();
        let mut at = 0;
        while let Some(node) = trie.nodes.get(at) {
            trie.roots.push((node.byte, u32::try_from(at).unwrap_or(u32::MAX)));
            at += node.skip as usize;
        }
        trie
    }

    /// Ends the innermost open node.
    fn close(&mut self, path: &mut Vec<usize>) {
        if let Some(index) = path.pop() {
            let skip = self.nodes.len() - index;
            self.nodes[index].skip = u32::try_from(skip).unwrap_or(u32::MAX);
            if let Some(&parent) = path.last() {
                self.nodes[parent].reach = self.nodes[parent].reach.max(self.nodes[index].reach);
            }
        }
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

    /// The nodes in depth-first order; children in order of their bytes.
    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The nodes of the first level, in order of their bytes.
    pub(crate) fn roots(&self) -> &[(u8, u32)] {
        &self.roots
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
        let mut at = 0;
        let mut end = self.nodes.len();
        text.iter()
            .enumerate()
            .map_while(move |(read, &byte)| {
                let index = self.child(at, end, byte)?;
                at = index + 1;
                end = index + self.nodes[index].skip as usize;
                Some((read + 1, self.nodes[index]))
            })
            .filter_map(|(read, node)| {
                let mut least = None;
                self.each_token(node, |id| {
                    least = Some(least.map_or(id, |l: u32| l.min(id)));
                });
                least.map(|id| (read, id))
            })
    }

    /// The child by `byte` among the siblings that start at `at`.
    fn child(&self, mut at: usize, end: usize, byte: u8) -> Option<usize> {
        while at < end {
            let node = self.nodes[at];
            if node.byte == byte {
                return Some(at);
            }
            at += node.skip as usize;
        }
        None
    }

    /// Bytes held on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
            + self.roots.capacity() * 8
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
            let mut path = Vec::new();
            let mut found = Vec::new();
            for &node in trie.nodes() {
                path.truncate(usize::from(node.depth));
                path.push(node.byte);
                trie.each_token(node, |id| found.push((path.clone(), id)));
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
