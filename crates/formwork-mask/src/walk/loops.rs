//! Walks from states that read many characters again and again: their tokens are a row, and only what leads out of the loop is tried.

use formwork_automaton::{Automaton, CharLoop, Mark, State, Step, Symbol};

use super::Walk;
use crate::char_loops::{LoopSets, sought};
use crate::trie::Siblings;
use crate::vocabulary::Few;

/// A place that the row covers.
struct Covered {
    state: State,
    /// Whether a character that stands apart was read.
    parted: bool,
    /// What is left to be looked at from there.
    left: Siblings,
}

impl<A: Automaton + ?Sized> Walk<'_, A> {
    /// Takes the row of a loop, and tries what it has not. The store stands as it does for the state after the loop's characters; `before` is
    /// where it stands for `start`.
    pub(super) fn try_from_loop(&mut self, start: State, before: Mark, at: &CharLoop) -> LoopSets {
        let (vocabulary, sets) = (self.vocabulary, LoopSets::new(at));
        let trie = vocabulary.trie();
        self.scratch.mask.copy_from(&vocabulary.loops().row(vocabulary, sets));
        self.begin_tokens();
        self.try_loop(at.after, at, true);
        if self.seq.mark() != before {
            self.seq.truncate(before);
            // What is remembered holds with what the loop has appended.
            self.scratch.memo.clear();
        }
        self.try_loop(start, at, false);
        self.try_left(trie, start, before);
        if let Some(stand_in) = &at.stand_in {
            self.try_exceptions(start, trie, |byte| !at.inside.contains(byte), true, stand_in);
            self.try_anew(start, vocabulary.two_keys());
        }
        if at.short {
            self.try_anew(start, vocabulary.long());
        }
        sets
    }

    /// Tries some tokens whatever was found of them before. None of them may be in the base mask.
    pub(super) fn try_anew(&mut self, start: State, few: &Few) {
        let is_other = |id: &u32| few.ids.binary_search(id).is_err();
        if !self.scratch.parts.is_empty() {
            few.ids.iter().for_each(|id| self.scratch.take_from_parts(*id));
        }
        for &id in &*few.ids {
            self.scratch.mask.remove(id);
        }
        self.scratch.added.retain(is_other);
        self.scratch.open.retain(is_other);
        self.scratch.memo.clear();
        self.try_tokens(start, &few.trie, 0);
    }

    /// Tries what a loop's row has not of the tokens that begin inside of it, or of the others.
    fn try_loop(&mut self, start: State, at: &CharLoop, inside: bool) {
        let (loops, trie) = (self.vocabulary.loops(), self.vocabulary.trie());
        let sought = sought(&at.exits);
        let root = self.seq.mark();
        let mut path = vec![Covered { state: start, parted: false, left: trie.roots() }];
        while let Some(Covered { state, parted, mut left }) = path.pop() {
            let depth = path.len();
            while left.next < left.end {
                let index = left.next;
                left.next += 1;
                self.nodes += 1;
                let node = trie.nodes()[index as usize];
                let is_inside = at.inside.contains(node.byte);
                if depth == 0 && inside != (is_inside && node.byte.is_ascii()) {
                    continue;
                }
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
                    let is_key = at.stand_in.is_some() && node.byte == b'"' && mark != root;
                    if !is_key || !self.try_quoted(trie, index, depth, next, mark) {
                        self.try_part(trie, index, depth, next, mark, root);
                    }
                } else {
                    self.descend(trie, node.children(), depth + 1, 0, root);
                }
            }
        }
        self.seq.truncate(root);
    }
}
