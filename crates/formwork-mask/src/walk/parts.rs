//! Parts of masks: what follows at a node of a trie, for all masks that come there in the same state.

use std::sync::Arc;

use formwork_automaton::{Automaton, Key, Mark, State};

use super::{Refused, Walk, read_bytes};
use crate::cache::{Part, Pending};
use crate::text_parts::TextPlace;
use crate::trie::{Node, Trie};

/// Below a node with fewer nodes nothing is shared.
const LEAST_PART: u32 = 48;

/// Where a part is kept.
enum PartPlace {
    /// With the vocabulary: what follows in any text.
    Text(TextPlace),
    /// With the constraint.
    Own(Key),
}

/// A part that is being found.
#[derive(Debug)]
pub(super) struct Recording {
    tokens: Vec<u32>,
    pending: Vec<Pending>,
    /// Where its node is on the path.
    depth: usize,
}

impl<A: Automaton + ?Sized> Walk<'_, A> {
    /// A token may come next.
    pub(super) fn allow(&mut self, id: u32) {
        if let Some(recording) = &mut self.recording {
            recording.tokens.push(id);
        }
        self.scratch.allow(id);
    }

    /// Whether what follows a node is worth sharing: where a string begins or ends, in its escapes, and in numbers.
    pub(super) fn is_part(&self, node: Node) -> bool {
        self.recording.is_none() && node.size >= LEAST_PART && matches!(node.byte, b'"' | b'\\' | b'0'..=b'9' | b'-')
    }

    /// Tries the tokens below a node at `depth` of the path, which leads to `state` and a store like that at `mark`. What frames older than
    /// that decide is left to [`Walk::try_pending`].
    pub(super) fn try_part(&mut self, trie: &Trie, at: u32, depth: usize, state: State, mark: Mark, root: Mark) {
        self.seq.truncate(mark);
        let text = self.automaton.free_text(self.seq, state);
        let place = if let Some(text) = &text {
            PartPlace::Text((text.kind, trie.id(), at))
        } else {
            let mut key = self.automaton.signature(self.seq, state, 0);
            key.extend([trie.id(), at]);
            PartPlace::Own(key)
        };
        let known = match &place {
            PartPlace::Text(key) => self.vocabulary.text_parts().get(key),
            PartPlace::Own(key) => self.parts.find_part(key),
        };
        let part = if let Some(part) = known {
            for &id in &part.tokens {
                self.scratch.allow(id);
            }
            self.scratch.open.extend_from_slice(&part.open);
            part
        } else {
            if let Some(text) = text {
                self.put_state(text.state, depth + 1, root);
            }
            let (outside, limit) = (std::mem::take(&mut self.dynamic), self.limit.take());
            let open = self.scratch.open.len();
            let outer = self.seq.begin_part();
            self.recording = Some(Recording { tokens: Vec::new(), pending: Vec::new(), depth });
            self.descend(trie, trie.nodes()[at as usize].children(), depth + 1, 0, root);
            self.seq.end_part(outer);
            self.seq.truncate(mark);
            let Some(Recording { tokens, pending, .. }) = self.recording.take() else { return };
            let open = self.scratch.open[open..].into();
            let part = Arc::new(Part { tokens: tokens.into(), open, pending: pending.into() });
            if !self.dynamic && self.limit.is_none() {
                match place {
                    PartPlace::Text(key) => self.vocabulary.text_parts().put(key, &part),
                    PartPlace::Own(key) => self.parts.keep_part(key, Arc::clone(&part)),
                }
            }
            self.dynamic |= outside;
            self.limit = self.limit.take().or(limit);
            part
        };
        let path = &self.scratch.bytes[..=depth];
        self.pending.extend(
            part.pending
                .iter()
                .map(|pending| Pending { node: pending.node, path: [path, &pending.path].concat().into() }),
        );
    }

    /// After a step to a node: whether an older frame had a say, so that the part that is being found says nothing of the node.
    pub(super) fn leaves_pending(&mut self, node: Node, depth: usize) -> bool {
        let looked = self.seq.take_look();
        let Some(recording) = self.recording.as_mut().filter(|_| looked) else { return false };
        let path = self.scratch.bytes[recording.depth + 1..=depth].into();
        recording.pending.push(Pending { node, path });
        true
    }

    /// Tries what parts have left to the frames.
    pub(super) fn try_pending(&mut self, trie: &Trie, start: State, root: Mark) {
        while let Some(Pending { node, path }) = self.pending.pop() {
            self.seq.truncate(root);
            self.scratch.places.clear();
            let read = read_bytes(self.automaton, self.seq, start, &path);
            if let Err(Refused { limit: Some(kind), .. }) = read {
                self.limit = Some(kind);
            }
            let open = self.leaves_open(trie, node);
            let Some(state) = read.ok().filter(|_| !open) else { continue };
            trie.each_token(node, |id| self.scratch.allow(id));
            if !node.is_leaf() {
                let depth = path.len() - 1;
                self.scratch.bytes[..path.len()].copy_from_slice(&path);
                self.put_state(state, depth + 1, root);
                self.descend(trie, node.children(), depth + 1, 0, root);
            }
        }
        self.seq.truncate(root);
    }
}
