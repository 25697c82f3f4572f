//! What one sequence owns: its stack of frames, the keys it has used, and scratch text.
//!
//! Everything here is append-only between two [`Mark`]s, so that a walk over the vocabulary can try a token and take it
//! back by truncation, and a matcher can roll back to any earlier token.

use std::cell::Cell;

use crate::interner::to_u32;

/// Index of a frame in its [`Frames`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FrameId(u32);

impl FrameId {
    /// No frame: the parent of the outermost one.
    pub const NONE: Self = Self(u32::MAX);

    /// Whether this is [`FrameId::NONE`].
    pub const fn is_none(self) -> bool {
        self.0 == u32::MAX
    }
}

/// One open container: a shared state and the data that belongs to this sequence alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The frame below.
    pub parent: FrameId,
    /// Id of the shared, data-free state to return to.
    pub state: u32,
    /// Members or items so far, clipped by the automaton where more can't matter.
    pub count: u32,
    /// How many frames lie below this one.
    pub depth: u32,
    /// Keys used so far; of an item that has to differ from others, those others.
    pub keys: KeySet,
    /// Where the text of the item that is being read begins in the kept text; [`Frame::UNKEPT`] where it isn't kept for this frame.
    pub text: u32,
    /// What the frames up to here ask of the bytes that are read.
    pub watch: Watch,
}

impl Frame {
    /// The [`text`](Frame::text) of a frame that asks for none.
    pub const UNKEPT: u32 = u32::MAX;
}

/// What a frame and those below it ask of the bytes that are read on top of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Watch {
    /// Nothing.
    #[default]
    Nothing,
    /// That their text is kept.
    Keep,
    /// That it is kept, and held against other items with every byte.
    Compare,
}

/// A persistent set of keys (a list in [`Frames`] that other versions of the set may share).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeySet(u32);

impl KeySet {
    /// The empty set.
    pub const EMPTY: Self = Self(u32::MAX);

    /// Whether no key is in the set.
    pub const fn is_empty(self) -> bool {
        self.0 == u32::MAX
    }

    /// The set as a word, to be kept in a [`State`](crate::State).
    pub const fn to_word(self) -> u32 {
        self.0
    }

    /// The set that [`KeySet::to_word`] gave.
    pub const fn from_word(word: u32) -> Self {
        Self(word)
    }
}

#[derive(Clone, Copy, Debug)]
struct KeyNode {
    rest: KeySet,
    start: u32,
    end: u32,
    hash: u64,
}

/// A point to truncate to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    frames: u32,
    keys: u32,
    text: u32,
    kept: u32,
}

/// The per-sequence store.
///
/// ```
/// use formwork_automaton::{Frame, FrameId, Frames, KeySet, Watch};
/// let mut seq = Frames::new();
/// let mark = seq.mark();
/// let (keys, text, watch) = (KeySet::EMPTY, Frame::UNKEPT, Watch::Nothing);
/// let id = seq.push(Frame { parent: FrameId::NONE, state: 3, count: 0, depth: 0, keys, text, watch });
/// assert_eq!(seq.frame(id).state, 3);
/// seq.truncate(mark);
/// assert!(seq.is_empty());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Frames {
    stack: Vec<Frame>,
    keys: Vec<KeyNode>,
    text: Vec<u8>,
    /// The text of the items that some frame asks to keep.
    kept: Vec<u8>,
    /// What was there when the current walk, or the part of it, began.
    floors: Floors,
    /// The least depth of those frames that the walk has read.
    touched: Cell<u32>,
    /// Whether one of those was read since that was last asked.
    looked: Cell<bool>,
    /// Whether the walk asked about data that no signature covers (which keys were used before it).
    dynamic: Cell<bool>,
}

/// Where what is older than a walk ends.
#[derive(Clone, Copy, Debug, Default)]
struct Floors {
    frames: u32,
    keys: u32,
    text: u32,
    /// `None` outside of walks.
    kept: Option<u32>,
}

/// What a walk goes back to after a part of it.
#[derive(Clone, Copy, Debug)]
pub struct WalkFloors {
    floors: Floors,
    touched: u32,
}

impl Frames {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether no frame was ever pushed (or all were truncated).
    pub fn is_empty(&self) -> bool {
        self.stack.is_empty()
    }

    /// Frames held, live or kept for rollback.
    pub fn len(&self) -> usize {
        self.stack.len()
    }

    /// Bytes held on the heap, for accounting.
    pub fn heap_bytes(&self) -> usize {
        let texts = self.text.capacity() + self.kept.capacity();
        self.stack.capacity() * size_of::<Frame>() + self.keys.capacity() * size_of::<KeyNode>() + texts
    }

    /// Appends a frame.
    pub fn push(&mut self, frame: Frame) -> FrameId {
        let id = FrameId(to_u32(self.stack.len()));
        self.stack.push(frame);
        id
    }

    /// Reads a frame, and notes for a walk how deep it looked.
    ///
    /// # Panics
    /// Never for an id that this store gave out and has not truncated.
    pub fn frame(&self, id: FrameId) -> Frame {
        let frame = self.stack[id.0 as usize];
        if id.0 < self.floors.frames {
            self.looked.set(true);
            self.touched.set(self.touched.get().min(frame.depth));
        }
        frame
    }

    /// Reads a frame without noting it: for signatures and witnesses.
    pub fn peek(&self, id: FrameId) -> Frame {
        self.stack[id.0 as usize]
    }

    /// Where the store stands.
    pub fn mark(&self) -> Mark {
        Mark {
            frames: to_u32(self.stack.len()),
            keys: to_u32(self.keys.len()),
            text: to_u32(self.text.len()),
            kept: to_u32(self.kept.len()),
        }
    }

    /// Takes everything back that was appended since `mark`.
    pub fn truncate(&mut self, mark: Mark) {
        self.stack.truncate(mark.frames as usize);
        self.keys.truncate(mark.keys as usize);
        self.text.truncate(mark.text as usize);
        self.kept.truncate(mark.kept as usize);
    }

    /// Begins a walk: from here on, reads of older frames and of older keys are noted.
    pub fn begin_walk(&mut self) {
        self.floors = self.floors_here();
        self.touched.set(u32::MAX);
        self.looked.set(false);
        self.dynamic.set(false);
    }

    fn floors_here(&self) -> Floors {
        Floors {
            frames: to_u32(self.stack.len()),
            keys: to_u32(self.keys.len()),
            text: to_u32(self.text.len()),
            kept: Some(to_u32(self.kept.len())),
        }
    }

    /// Ends a walk begun with [`Frames::begin_walk`]: the least depth of the older frames it read (`None`: it read none),
    /// and whether its outcome depends on keys used before it.
    pub fn end_walk(&mut self) -> (Option<u32>, bool) {
        self.floors = Floors::default();
        let touched = self.touched.get();
        ((touched != u32::MAX).then_some(touched), self.dynamic.get())
    }

    /// Whether the walk's outcome was noted to depend on data that no signature covers since this was last asked.
    pub fn take_dynamic(&self) -> bool {
        self.dynamic.replace(false)
    }

    /// Whether an older frame was read since this was last asked.
    pub fn take_look(&self) -> bool {
        self.looked.replace(false)
    }

    /// Whether an older frame was read since [`Frames::take_look`] was last asked.
    pub fn looked(&self) -> bool {
        self.looked.get()
    }

    /// Notes that older frames say how it goes on, where a state that stands for many doesn't know them.
    pub fn note_look(&self) {
        self.looked.set(true);
    }

    /// Begins a part of a walk, to which all that is there now is old; gives what [`Frames::end_part`] needs.
    pub fn begin_part(&mut self) -> WalkFloors {
        let floors = self.floors;
        let touched = self.touched.get();
        self.floors = self.floors_here();
        self.looked.set(false);
        WalkFloors { floors, touched }
    }

    /// Ends a part. The older frames that it read don't count for the walk.
    pub fn end_part(&mut self, outside: WalkFloors) {
        self.floors = outside.floors;
        self.touched.set(outside.touched);
        self.looked.set(false);
    }

    /// Appends a byte to the scratch text (the key being read) and gives its index.
    pub fn push_text(&mut self, byte: u8) -> u32 {
        self.text.push(byte);
        to_u32(self.text.len() - 1)
    }

    /// Where the scratch text ends now.
    pub fn text_end(&self) -> u32 {
        to_u32(self.text.len())
    }

    /// The scratch text from `start` to its end.
    pub fn text_from(&self, start: u32) -> &[u8] {
        self.text.get(start as usize..).unwrap_or_default()
    }

    /// The set with one more key: the scratch text from `start` on.
    pub fn insert_key(&mut self, set: KeySet, start: u32) -> KeySet {
        let end = to_u32(self.text.len());
        let hash = hash_bytes(self.text_from(start));
        self.keys.push(KeyNode { rest: set, start, end, hash });
        KeySet(to_u32(self.keys.len() - 1))
    }

    /// Whether a key is in the set. Notes for a walk when the answer depends on keys that are older than the walk.
    pub fn contains_key(&self, set: KeySet, key: &[u8]) -> bool {
        self.finds_key(set, key, |_| true)
    }

    /// Whether the scratch text from `start` on is a key of the set. Notes for a walk when the answer depends on keys that are older than
    /// it, and begin as the text did when it began.
    pub fn contains_text(&self, set: KeySet, start: u32) -> bool {
        let begun = self.text_before_walk(start);
        self.finds_key(set, self.text_from(start), |old| old.starts_with(begun))
    }

    /// The scratch text from `start` to where the current walk began, or to its end outside of walks.
    fn text_before_walk(&self, start: u32) -> &[u8] {
        let end = self.floors.kept.map_or(self.text.len(), |_| self.floors.text as usize);
        self.text.get(start as usize..end).unwrap_or_default()
    }

    /// As [`contains_key`](Self::contains_key), where the outcome can only depend on the older keys that are `possible`.
    pub fn finds_key(&self, set: KeySet, key: &[u8], possible: impl Fn(&[u8]) -> bool) -> bool {
        let hash = hash_bytes(key);
        let mut at = set;
        while !at.is_empty() {
            let node = self.keys[at.0 as usize];
            let text = self.text.get(node.start as usize..node.end as usize).unwrap_or_default();
            // A key that was begun before the walk is as much its past as one that was finished.
            if (at.0 < self.floors.keys || node.start < self.floors.text) && possible(text) {
                self.dynamic.set(true);
            }
            if node.hash == hash && text == key {
                return true;
            }
            at = node.rest;
        }
        false
    }

    /// What follows the scratch text from `start` on in the keys of a set that begin with it. Notes for a walk when such keys are older
    /// than it, as [`contains_text`](Self::contains_text) does.
    pub fn keys_after(&self, set: KeySet, start: u32) -> impl Iterator<Item = &[u8]> {
        let (prefix, begun) = (self.text_from(start), self.text_before_walk(start));
        let mut at = set;
        std::iter::from_fn(move || {
            while !at.is_empty() {
                let node = self.keys[at.0 as usize];
                let key = self.text.get(node.start as usize..node.end as usize).unwrap_or_default();
                if (at.0 < self.floors.keys || node.start < self.floors.text) && key.starts_with(begun) {
                    self.dynamic.set(true);
                }
                at = node.rest;
                if let Some(rest) = key.strip_prefix(prefix) {
                    return Some(rest);
                }
            }
            None
        })
    }

    /// Appends a byte to the kept text.
    pub fn keep(&mut self, byte: u8) {
        self.kept.push(byte);
    }

    /// Where the kept text ends now.
    pub fn kept_end(&self) -> u32 {
        to_u32(self.kept.len())
    }

    /// The kept text from `start` to its end.
    pub fn kept_from(&self, start: u32) -> &[u8] {
        self.kept.get(start as usize..).unwrap_or_default()
    }

    /// The kept text from `start` to where the current walk began, or to its end outside of walks.
    pub fn kept_before_walk(&self, start: u32) -> &[u8] {
        let end = self.floors.kept.map_or(self.kept.len(), |floor| floor as usize);
        self.kept.get(start as usize..end).unwrap_or_default()
    }

    /// The keys of a set, the last first.
    pub fn keys(&self, set: KeySet) -> impl Iterator<Item = &[u8]> {
        let mut at = set;
        std::iter::from_fn(move || {
            let node = self.keys.get(at.0 as usize)?;
            at = node.rest;
            self.text.get(node.start as usize..node.end as usize)
        })
    }

    /// Keys in all sets together.
    pub fn key_count(&self) -> usize {
        self.keys.len()
    }

    /// Notes that the walk's outcome depends on data that no signature covers.
    pub fn note_dynamic(&self) {
        self.dynamic.set(true);
    }
}

/// FNV-1a: keys are short, and equality is checked byte by byte after it.
fn hash_bytes(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &b| (hash ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3))
}
