//! Walks within keys of which one must be read: the keys' trie and the tokens' are gone through together, which takes no steps.

use formwork_automaton::{Automaton, KnownKeys, Mark, State};

use super::Walk;
use crate::trie::{Siblings, Trie};

/// A node of the keys' trie on the way down, and the tokens that go on there.
#[derive(Clone, Copy, Debug)]
pub(super) struct OnWay {
    node: u32,
    /// How many of its children were looked at.
    seen: usize,
    below: Siblings,
}

impl<A: Automaton + ?Sized> Walk<'_, A> {
    /// Computes the whole mask of a state within known keys; false where it isn't one, and nothing was tried.
    pub(super) fn try_from_known_keys(&mut self, state: State, root: Mark) -> bool {
        let Some(keys) = self.automaton.known_keys(self.seq, state) else { return false };
        let trie = self.vocabulary.trie();
        self.scratch.mask.clear();
        self.begin_tokens();
        self.try_known_keys(trie, trie.roots(), 0, (state, root), keys, root);
        self.seq.truncate(root);
        self.try_left(trie, state, root);
        true
    }

    /// Tries the tokens that go on, from `depth` of the path, within one of some keys or beyond its end; `at` is a state within these, and a
    /// mark of its store.
    pub(super) fn try_known_keys(
        &mut self,
        trie: &Trie,
        below: Siblings,
        depth: usize,
        at: (State, Mark),
        keys: KnownKeys<'_>,
        root: Mark,
    ) {
        let (state, mark) = at;
        let floor = self.scratch.way.len();
        self.scratch.way.push(OnWay { node: state.a, seen: 0, below });
        while self.scratch.way.len() > floor {
            let Some(OnWay { node, seen, below }) = self.scratch.way.pop() else { break };
            let depth = depth + self.scratch.way.len() - floor;
            if seen == 0
                && keys.may_end(node)
                && let Some(quote) = trie.find(below, b'"')
            {
                let quote = Siblings { next: quote, end: quote + 1 };
                self.seq.truncate(mark);
                self.put_key_end(State { a: node, ..state }, mark, depth);
                self.descend(trie, quote, depth, 0, root);
            }
            let mut rest = keys.children(node).iter().enumerate().skip(seen);
            let next = rest.find_map(|(index, &(byte, child))| {
                let found = trie.find(below, byte)?;
                keys.any_below(child).then_some((index, child, found))
            });
            let Some((index, child, found)) = next else { continue };
            self.nodes += 1;
            self.scratch.way.push(OnWay { node, seen: index + 1, below });
            let found = trie.nodes()[found as usize];
            trie.each_token(found, |id| self.allow(id));
            if !found.is_leaf() {
                self.scratch.bytes[depth] = found.byte;
                self.scratch.way.push(OnWay { node: child, seen: 0, below: found.children() });
            }
        }
        self.seq.truncate(mark);
    }
}
