//! Parts of masks: what follows at a node of a trie, for all masks that come there in the same state.

use std::sync::Arc;

use formwork_automaton::{Automaton, Key, Mark, NextKey, State, Step, Symbol, TokenId};

use super::tokens::Taken;
use super::{Refused, Walk, read_bytes};
use crate::cache::{Closings, Part, Pending, Tails};
use crate::common_parts::{CommonPlace, Like};
use crate::mask::Mask;
use crate::trie::{Node, Trie};
use crate::vocabulary::is_structure;

/// Below a node with fewer nodes nothing is shared; below a quote, less pays.
const LEAST_PART: u32 = 48;
const LEAST_QUOTE: u32 = 8;

/// A row of so many tokens is added to a mask in less time than they are.
const LEAST_ROW: usize = 96;

/// Where a part is kept.
enum PartPlace {
    /// With the vocabulary.
    Common(CommonPlace),
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
    leaves: Leaves,
}

/// What a part leaves to the mask that it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leaves {
    /// What older frames decide.
    Frames,
    /// After a value, what follows the blanks after a comma: the place says all that frames decide before.
    NextValue,
    /// After a key, what its value's [`Opening`] doesn't tell.
    Value { is_any: bool },
}

/// What a part has left to the mask.
#[derive(Debug)]
pub(super) struct Left {
    /// Whose trie has the node; `None`: the one that the walk is of.
    tails: Option<Arc<Tails>>,
    node: Node,
    /// The bytes that lead to it from the walk's beginning.
    path: Box<[u8]>,
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
        let least = match node.byte {
            b'"' => LEAST_QUOTE,
            b'\\' | b'0'..=b'9' | b'-' => LEAST_PART,
            _ => return false,
        };
        self.recording.is_none() && node.size >= least
    }

    /// Tries the tokens below a node at `depth` of the path, which leads to `state` and a store like that at `mark`. What it leaves is for
    /// [`Walk::try_left`].
    pub(super) fn try_part(&mut self, trie: &Trie, at: u32, depth: usize, state: State, mark: Mark, root: Mark) {
        self.seq.truncate(mark);
        let Some(text) = self.automaton.free_text(self.seq, state) else {
            let part = self.try_structure(trie, at, depth, state, mark, root);
            let path = self.scratch.bytes[..=depth].to_vec();
            return self.leave(&part, &path, self.tails.clone());
        };
        let place = CommonPlace { like: Like::Text(text.kind), trie: trie.id(), node: at };
        let part = self.part(trie, at, depth, (text.state, mark), root, PartPlace::Common(place), Leaves::Frames);
        let mut path = self.scratch.bytes[..=depth].to_vec();
        let (Some(end), Some(closings)) = (text.end, &part.closings) else {
            return self.leave(&part, &path, self.tails.clone());
        };
        let Some(tails) = closings.of(end.at_once) else { return };
        self.seq.truncate(mark);
        let step = self.automaton.step(self.seq, end.before_quote, Symbol::Byte(b'"'));
        if self.seq.take_dynamic() {
            return self.leave(&part, &path, self.tails.clone());
        }
        match step {
            Step::To(closed) => {
                let mark = self.seq.mark();
                let quote = tails.trie.nodes()[0];
                tails.trie.each_token(quote, |id| self.allow(id));
                self.scratch.bytes[depth + 1] = quote.byte;
                let behind = self.try_structure(&tails.trie, 0, depth + 1, closed, mark, root);
                path.extend_from_slice(&tails.text);
                self.leave(&behind, &path, Some(Arc::clone(tails)));
            }
            Step::Dead => {}
            Step::Limit(kind) => self.limit = Some(kind),
        }
    }

    /// Tries the tokens below a node, where no text goes on.
    fn try_structure(&mut self, trie: &Trie, at: u32, depth: usize, state: State, mark: Mark, root: Mark) -> Arc<Part> {
        let like = if trie.nodes()[at as usize].byte == b'"' { self.like(state) } else { None };
        self.seq.truncate(mark);
        let (place, leaves) = if let Some((like, leaves)) = like {
            (PartPlace::Common(CommonPlace { like, trie: trie.id(), node: at }), leaves)
        } else {
            let mut key = self.automaton.signature(self.seq, state, 0);
            key.extend([trie.id(), at]);
            (PartPlace::Own(key), Leaves::Frames)
        };
        self.part(trie, at, depth, (state, mark), root, place, leaves)
    }

    /// What tells how it goes on behind a quote, whatever the constraint.
    fn like(&mut self, state: State) -> Option<(Like, Leaves)> {
        if let Some(ending) = self.automaton.ending(self.seq, state, self.vocabulary.brackets()) {
            return Some((Like::Ending(ending), Leaves::NextValue));
        }
        let opening = self.automaton.opening(self.seq, state)?;
        Some((Like::Opening(opening), Leaves::Value { is_any: opening.is_any() }))
    }

    /// Allows what a part has, which is found now where it isn't known.
    #[expect(clippy::too_many_arguments, reason = "a node on the path, where it leads, and where what follows is kept")]
    fn part(
        &mut self,
        trie: &Trie,
        at: u32,
        depth: usize,
        (state, mark): (State, Mark),
        root: Mark,
        place: PartPlace,
        leaves: Leaves,
    ) -> Arc<Part> {
        let known = match &place {
            PartPlace::Common(place) => self.vocabulary.common_parts().get(place),
            PartPlace::Own(key) => self.parts.find_part(key),
        };
        if let Some(part) = known {
            if let Some(row) = &part.row {
                self.scratch.mask.add(row);
                self.scratch.parts.push(Arc::clone(&part));
            } else {
                part.tokens.iter().for_each(|id| self.scratch.allow(*id));
            }
            self.scratch.open.extend_from_slice(&part.open);
            return part;
        }
        self.put_state(state, depth + 1, root);
        let (outside, limit) = (std::mem::take(&mut self.dynamic), self.limit.take());
        let open = self.scratch.open.len();
        let outer = self.seq.begin_part();
        self.recording = Some(Recording { tokens: Vec::new(), pending: Vec::new(), depth, leaves });
        self.descend(trie, trie.nodes()[at as usize].children(), depth + 1, 0, root);
        self.seq.end_part(outer);
        self.seq.truncate(mark);
        let (tokens, pending) = self.recording.take().map_or_else(Default::default, |r| (r.tokens, r.pending));
        let open = self.scratch.open[open..].into();
        let is_text = matches!(&place, PartPlace::Common(CommonPlace { like: Like::Text(_), .. }));
        let closings = if is_text { Closings::new(trie, &pending) } else { None };
        let is_common = matches!(&place, PartPlace::Common(_));
        let row = (is_common && tokens.len() >= LEAST_ROW).then(|| {
            let mut row = Mask::none(self.vocabulary.len());
            for id in &tokens {
                row.allow(TokenId::new(*id));
            }
            row
        });
        let part = Arc::new(Part { tokens: tokens.into(), row, open, pending: pending.into(), closings });
        if !self.dynamic && self.limit.is_none() {
            match place {
                PartPlace::Common(place) => self.vocabulary.common_parts().put(place, &part),
                PartPlace::Own(key) => self.parts.keep_part(key, Arc::clone(&part)),
            }
        }
        self.dynamic |= outside;
        self.limit = self.limit.take().or(limit);
        part
    }

    /// Notes what a part leaves, of which `tails` have the nodes; `path` leads to its own.
    #[expect(clippy::needless_pass_by_value, reason = "what the walk is in is a field of its own")]
    fn leave(&mut self, part: &Part, path: &[u8], tails: Option<Arc<Tails>>) {
        self.left.extend(part.pending.iter().map(|pending| Left {
            tails: tails.clone(),
            node: pending.node,
            path: [path, &pending.path].concat().into(),
        }));
    }

    /// After a step to a node: whether an older frame had a say, so that the part that is being found says nothing of the node.
    pub(super) fn leaves_pending(&mut self, node: Node, depth: usize) -> bool {
        let looked = self.seq.take_look();
        match &self.recording {
            Some(recording) if looked && recording.leaves == Leaves::Frames => {
                self.put_pending(node, depth);
                true
            }
            _ => false,
        }
    }

    fn put_pending(&mut self, node: Node, depth: usize) {
        if let Some(recording) = &mut self.recording {
            let path = self.scratch.bytes[recording.depth + 1..=depth].into();
            recording.pending.push(Pending { node, path });
        }
    }

    /// Before a step to a node: whether the part that is being found says not all of what its byte begins.
    pub(super) fn is_beyond(&self, node: Node) -> bool {
        match self.recording.as_ref().map(|recording| recording.leaves) {
            Some(Leaves::NextValue) => !is_structure(node.byte),
            Some(Leaves::Value { .. }) => !matches!(node.byte, b' ' | b'\t' | b'\n' | b'\r' | b':'),
            Some(Leaves::Frames) | None => false,
        }
    }

    /// Tries what of a value or key that begins at a node is the same wherever the part is, from a state to which a store like that at
    /// `mark` belongs.
    pub(super) fn try_beyond(&mut self, trie: &Trie, state: State, mark: Mark, node: Node, depth: usize) -> Taken {
        let Some(recording) = &self.recording else { return Taken::Nowhere };
        let (leaves, from) = (recording.leaves, recording.depth + 1);
        let (is_value, is_any) = match leaves {
            Leaves::Value { is_any } => (true, is_any),
            Leaves::NextValue | Leaves::Frames => (false, false),
        };
        let is_told = is_any || !self.scratch.bytes[from..depth].contains(&b'[');
        let step = match node.byte {
            b'"' if !is_value || is_told => self.automaton.step(self.seq, state, Symbol::Byte(node.byte)),
            b'[' | b'{' if is_value && is_told => self.automaton.step(self.seq, state, Symbol::Byte(node.byte)),
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' if is_any && node.is_leaf() => {
                self.automaton.step(self.seq, state, Symbol::Byte(node.byte))
            }
            _ => {
                self.put_pending(node, depth);
                return Taken::Open;
            }
        };
        let next = match step {
            Step::To(next) => next,
            // Whether a key may come is told.
            Step::Dead if is_value => return Taken::Nowhere,
            Step::Dead | Step::Limit(_) => {
                self.put_pending(node, depth);
                return Taken::Open;
            }
        };
        let is_string = node.byte == b'"';
        let text = if is_string { self.automaton.free_text(self.seq, next) } else { None };
        let next_key = if is_string { self.automaton.next_key(self.seq, next) } else { NextKey::Other };
        // A string that need not have a character is told from others.
        let is_free =
            next_key == NextKey::Any || is_value && text.is_some_and(|t| t.end.is_some_and(|end| end.at_once));
        if let Some(text) = text.filter(|_| is_free) {
            trie.each_token(node, |id| self.allow(id));
            self.seq.truncate(mark);
            self.try_within(trie, text.state, node, depth, Leaves::Frames);
        } else if next_key == NextKey::Named {
            trie.each_token(node, |id| self.allow(id));
            let below = node.children();
            for &child in &trie.nodes()[below.next as usize..below.end as usize] {
                if NextKey::is_first(child.byte) {
                    self.scratch.bytes[depth + 1] = child.byte;
                    self.put_pending(child, depth + 1);
                }
            }
        } else if is_string {
            self.put_pending(node, depth);
        } else {
            trie.each_token(node, |id| self.allow(id));
            self.try_within(trie, next, node, depth, leaves);
        }
        Taken::Open
    }

    /// Goes on with a part from a state that a node at `depth` of the path leads to.
    fn try_within(&mut self, trie: &Trie, state: State, node: Node, depth: usize, leaves: Leaves) {
        if node.is_leaf() {
            return;
        }
        let before = self.leave_in_recording(leaves);
        self.put_place_at(state, depth + 1);
        let root = self.seq.mark();
        self.descend(trie, node.children(), depth + 1, 0, root);
        self.leave_in_recording(before);
    }

    /// Has the part that is being found leave other things, and says what it left so far.
    fn leave_in_recording(&mut self, leaves: Leaves) -> Leaves {
        self.recording.as_mut().map_or(leaves, |recording| std::mem::replace(&mut recording.leaves, leaves))
    }

    /// Tries what parts have left to the mask.
    pub(super) fn try_left(&mut self, own: &Trie, start: State, root: Mark) {
        while let Some(Left { tails, node, path }) = self.left.pop() {
            self.tails.clone_from(&tails);
            let trie = tails.as_ref().map_or(own, |tails| &tails.trie);
            self.try_one_left(trie, start, root, node, &path);
        }
        self.tails = None;
        self.seq.truncate(root);
    }

    fn try_one_left(&mut self, trie: &Trie, start: State, root: Mark, node: Node, path: &[u8]) {
        self.seq.truncate(root);
        self.scratch.places.clear();
        let read = read_bytes(self.automaton, self.seq, start, path);
        if let Err(Refused { limit: Some(kind), .. }) = read {
            self.limit = Some(kind);
        }
        let open = self.leaves_open(trie, node);
        let Some(state) = read.ok().filter(|_| !open) else { return };
        trie.each_token(node, |id| self.scratch.allow(id));
        if !node.is_leaf() {
            let depth = path.len() - 1;
            self.scratch.bytes[..path.len()].copy_from_slice(path);
            self.put_state(state, depth + 1, root);
            self.descend(trie, node.children(), depth + 1, 0, root);
        }
    }
}
