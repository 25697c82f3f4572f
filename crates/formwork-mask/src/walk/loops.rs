//! Walks from states that read many characters again and again: their tokens are a row, and only what leads out of the loop is tried.

use formwork_automaton::{Automaton, CharLoop, State, Step, Symbol};

use super::Walk;
use crate::char_loops::{LoopSets, sought};
use crate::trie::Siblings;

/// A place that the row covers.
struct Covered {
    state: State,
    /// Whether a character that stands apart was read.
    parted: bool,
    /// What is left to be looked at from there.
    left: Siblings,
}

impl<A: Automaton + ?Sized> Walk<'_, A> {
    /// Takes the row of a loop, and tries what it has not.
    pub(super) fn try_from_loop(&mut self, start: State, at: &CharLoop) -> LoopSets {
        let (vocabulary, sets) = (self.vocabulary, LoopSets::new(at));
        let (loops, trie) = (vocabulary.loops(), vocabulary.trie());
        self.scratch.mask.copy_from(&loops.row(vocabulary, sets));
        let sought = sought(&at.exits);
        let root = self.seq.mark();
        self.begin_tokens();
        let mut path = vec![Covered { state: start, parted: false, left: trie.roots() }];
        while let Some(Covered { state, parted, mut left }) = path.pop() {
            let depth = path.len();
            while left.next < left.end {
                let index = left.next;
                left.next += 1;
                self.nodes += 1;
                let node = trie.nodes()[index as usize];
                let is_inside = at.inside.contains(node.byte);
                let is_apart = !parted && at.apart.contains(node.byte);
                // All that begins so is in the row.
                let is_covered = (is_inside || is_apart) && loops.below(index) & sought == 0;
                if is_covered || !is_inside && !at.exits.contains(node.byte) {
                    continue;
                }
                self.scratch.bytes[depth] = node.byte;
                if is_inside && node.byte.is_ascii() {
                    trie.each_token(node, |id| self.scratch.allow(id));
                    path.push(Covered { state, parted, left });
                    path.push(Covered { state: at.after, parted, left: node.children() });
                    break;
                }
                self.seq.truncate(root);
                self.seq.take_look();
                let step = self.automaton.step(self.seq, state, Symbol::Byte(node.byte));
                if self.leaves_open(trie, node) {
                    continue;
                }
                let next = match step {
                    Step::To(next) => next,
                    Step::Dead => continue,
                    Step::Limit(kind) => {
                        self.limit = Some(kind);
                        continue;
                    }
                };
                trie.each_token(node, |id| self.scratch.allow(id));
                if node.is_leaf() {
                    continue;
                }
                if is_apart && self.seq.mark() == root {
                    path.push(Covered { state, parted, left });
                    path.push(Covered { state: next, parted: true, left: node.children() });
                    break;
                }
                let mark = self.seq.mark();
                self.put_state(next, depth + 1, root);
                if self.is_part(node) {
                    self.try_part(trie, index, depth, next, mark, root);
                } else {
                    self.descend(trie, node.children(), depth + 1, 0, root);
                }
            }
        }
        self.seq.truncate(root);
        self.try_pending(trie, start, root);
        sets
    }
}
