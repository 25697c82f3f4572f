//! Automata written by hand: each shows one thing that masks have to get right.

use formwork_automaton::{
    Automaton, CharClass, Frame, FrameId, Frames, Key, KeySet, LimitKind, State, Step, Symbol, TokenId, Watch, Witness,
};

/// Clip of counters in signatures: no vocabulary here has a longer token.
pub(crate) const HORIZON: u32 = 1024;

fn state(id: u32, a: u32, frame: FrameId) -> State {
    State { id, a, b: 0, c: 0, frame }
}

fn text(witness: impl AsRef<[u8]>) -> Witness {
    Witness { symbols: witness.as_ref().iter().copied().map(Symbol::Byte).collect() }
}

/// `<|think|> [a-z]* <|end|>`: special tokens are symbols.
#[derive(Debug)]
pub(crate) struct Think {
    pub(crate) think: TokenId,
    pub(crate) end: TokenId,
}

impl Automaton for Think {
    fn start(&self, _: &mut Frames) -> State {
        state(0, 0, FrameId::NONE)
    }

    fn step(&self, _: &mut Frames, at: State, symbol: Symbol) -> Step {
        let next = match (at.id, symbol) {
            (0, Symbol::Special(t)) if t == self.think => 1,
            (1, Symbol::Byte(b'a'..=b'z')) => 1,
            (1, Symbol::Special(t)) if t == self.end => 2,
            _ => return Step::Dead,
        };
        Step::To(state(next, 0, FrameId::NONE))
    }

    fn is_accepting(&self, _: &Frames, at: State) -> bool {
        at.id == 2
    }

    fn witness(&self, _: &Frames, at: State) -> Witness {
        let all = [Symbol::Special(self.think), Symbol::Special(self.end)];
        Witness { symbols: all[at.id as usize..].to_vec() }
    }

    fn signature(&self, _: &Frames, at: State, _: usize) -> Key {
        Key::from_slice(&[at.id])
    }

    fn safe_chars(&self, _: &Frames, at: State, class: CharClass) -> u32 {
        if at.id == 1 && class == CharClass::Lower { u32::MAX } else { 0 }
    }

    fn horizon(&self) -> u32 {
        HORIZON
    }
}

/// Nested `[a*]` and `(b*)` with a limited depth: frames, and masks that depend on how deep the stack is.
#[derive(Debug)]
pub(crate) struct Brackets {
    pub(crate) depth: u32,
}

impl Brackets {
    fn open(&self, seq: &mut Frames, parent: FrameId, kind: u32) -> Step {
        let depth = if parent.is_none() { 0 } else { seq.frame(parent).depth + 1 };
        if depth >= self.depth {
            return Step::Limit(LimitKind::Depth);
        }
        let frame = seq.push(Frame {
            parent,
            state: kind,
            count: 0,
            depth,
            keys: KeySet::EMPTY,
            text: Frame::UNKEPT,
            watch: Watch::Nothing,
        });
        Step::To(state(kind, 0, frame))
    }
}

// States: 0 at the start, 1 in square brackets, 2 in round ones, 3 at the end.
impl Automaton for Brackets {
    fn start(&self, _: &mut Frames) -> State {
        state(0, 0, FrameId::NONE)
    }

    fn step(&self, seq: &mut Frames, at: State, symbol: Symbol) -> Step {
        let Symbol::Byte(byte) = symbol else {
            return Step::Dead;
        };
        match (at.id, byte) {
            (0..=2, b'[') => self.open(seq, at.frame, 1),
            (0..=2, b'(') => self.open(seq, at.frame, 2),
            (1, b'a') | (2, b'b') => Step::To(at),
            (1, b']') | (2, b')') => {
                let parent = seq.frame(at.frame).parent;
                let next = if parent.is_none() { 3 } else { seq.frame(parent).state };
                Step::To(state(next, 0, parent))
            }
            _ => Step::Dead,
        }
    }

    fn is_accepting(&self, _: &Frames, at: State) -> bool {
        at.id == 3
    }

    fn witness(&self, seq: &Frames, at: State) -> Witness {
        let mut bytes = if at.id == 0 { b"[]".to_vec() } else { Vec::new() };
        let mut frame = at.frame;
        while !frame.is_none() {
            let open = seq.peek(frame);
            bytes.push(if open.state == 1 { b']' } else { b')' });
            frame = open.parent;
        }
        text(bytes)
    }

    fn signature(&self, seq: &Frames, at: State, depth: usize) -> Key {
        let mut key = Key::from_slice(&[at.id]);
        let mut frame = at.frame;
        for _ in 0..depth {
            if frame.is_none() {
                break;
            }
            let open = seq.peek(frame);
            key.extend([open.state, open.depth]);
            frame = open.parent;
        }
        key
    }

    fn horizon(&self) -> u32 {
        HORIZON
    }
}

/// `"[a-z]{least,most}"`: a counter in the state, clipped in the key, and base masks of limited length.
#[derive(Debug)]
pub(crate) struct Word {
    pub(crate) least: u32,
    pub(crate) most: u32,
}

// States: 0 before the first quote, 1 inside, 2 after the last.
impl Automaton for Word {
    fn start(&self, _: &mut Frames) -> State {
        state(0, 0, FrameId::NONE)
    }

    fn step(&self, _: &mut Frames, at: State, symbol: Symbol) -> Step {
        match (at.id, symbol) {
            (0, Symbol::Byte(b'"')) => Step::To(state(1, 0, FrameId::NONE)),
            (1, Symbol::Byte(b'a'..=b'z')) if at.a < self.most => Step::To(state(1, at.a + 1, FrameId::NONE)),
            (1, Symbol::Byte(b'"')) if at.a >= self.least => Step::To(state(2, 0, FrameId::NONE)),
            _ => Step::Dead,
        }
    }

    fn is_accepting(&self, _: &Frames, at: State) -> bool {
        at.id == 2
    }

    fn witness(&self, _: &Frames, at: State) -> Witness {
        let letters = vec![b'a'; self.least.saturating_sub(at.a) as usize];
        match at.id {
            0 => text([b"\"", letters.as_slice(), b"\""].concat()),
            1 => text([letters.as_slice(), b"\""].concat()),
            _ => Witness::default(),
        }
    }

    fn signature(&self, _: &Frames, at: State, _: usize) -> Key {
        let left = (self.most - at.a).min(HORIZON);
        let owed = self.least.saturating_sub(at.a).min(HORIZON);
        Key::from_slice(&[at.id, left, owed])
    }

    fn safe_chars(&self, _: &Frames, at: State, class: CharClass) -> u32 {
        if at.id == 1 && class == CharClass::Lower { self.most - at.a } else { 0 }
    }

    fn horizon(&self) -> u32 {
        HORIZON
    }
}

/// `{[a-c]+(,[a-c]+)*}` in which no key comes twice: masks that depend on the sequence's own data.
#[derive(Debug)]
pub(crate) struct Keys;

// States: 0 at the start, 1 before a key, 2 in a key that began at text index `a`, 3 at the end.
impl Keys {
    fn is_new(seq: &Frames, at: State, key: &[u8]) -> bool {
        !seq.contains_key(seq.frame(at.frame).keys, key)
    }

    /// A new key that begins with `prefix`; there always is one.
    fn completion(seq: &Frames, at: State, prefix: &[u8]) -> Vec<u8> {
        let mut key = prefix.to_vec();
        while key.is_empty() || !Self::is_new(seq, at, &key) {
            key.push(b'a');
        }
        key.split_off(prefix.len())
    }
}

impl Automaton for Keys {
    fn start(&self, seq: &mut Frames) -> State {
        let frame = seq.push(Frame {
            parent: FrameId::NONE,
            state: 0,
            count: 0,
            depth: 0,
            keys: KeySet::EMPTY,
            text: Frame::UNKEPT,
            watch: Watch::Nothing,
        });
        state(0, 0, frame)
    }

    fn step(&self, seq: &mut Frames, at: State, symbol: Symbol) -> Step {
        let Symbol::Byte(byte) = symbol else {
            return Step::Dead;
        };
        match (at.id, byte) {
            (0, b'{') => Step::To(state(1, 0, at.frame)),
            (1, b'a'..=b'c') => {
                let start = seq.push_text(byte);
                Step::To(state(2, start, at.frame))
            }
            (2, b'a'..=b'c') => {
                seq.push_text(byte);
                Step::To(at)
            }
            (2, b',' | b'}') => {
                let key = seq.text_from(at.a).to_vec();
                if !Self::is_new(seq, at, &key) {
                    return Step::Dead;
                }
                let mut frame = seq.frame(at.frame);
                frame.keys = seq.insert_key(frame.keys, at.a);
                let frame = seq.push(frame);
                // The text starts afresh after the key, so that the next one is not taken for its continuation.
                seq.push_text(byte);
                Step::To(state(if byte == b',' { 1 } else { 3 }, 0, frame))
            }
            _ => Step::Dead,
        }
    }

    fn is_accepting(&self, _: &Frames, at: State) -> bool {
        at.id == 3
    }

    fn witness(&self, seq: &Frames, at: State) -> Witness {
        let prefix = if at.id == 2 { seq.text_from(at.a).to_vec() } else { Vec::new() };
        let mut bytes = if at.id == 0 { b"{".to_vec() } else { Vec::new() };
        if at.id < 3 {
            bytes.extend(Self::completion(seq, at, &prefix));
            bytes.push(b'}');
        }
        text(bytes)
    }

    fn signature(&self, _: &Frames, at: State, _: usize) -> Key {
        Key::from_slice(&[at.id])
    }

    fn horizon(&self) -> u32 {
        HORIZON
    }
}

/// JSON strings of any length, one after another with commas: the free text that most masks of real constraints are.
#[derive(Debug)]
pub(crate) struct Strings;

// States: 0 before a string, 1 inside, 2 after a backslash, 3 after a string; 4–6: one to three bytes of a character to come,
// the first of which must lie in the range that `a` gives (low byte, high byte).
impl Automaton for Strings {
    fn start(&self, _: &mut Frames) -> State {
        state(0, 0, FrameId::NONE)
    }

    fn step(&self, _: &mut Frames, at: State, symbol: Symbol) -> Step {
        let Symbol::Byte(byte) = symbol else {
            return Step::Dead;
        };
        let to = |id, a| Step::To(state(id, a, FrameId::NONE));
        match (at.id, byte) {
            (1, b'"') => to(3, 0),
            (1, b'\\') => to(2, 0),
            (0, b'"') | (1, 0x20..=0x7f) | (2, b'"' | b'\\' | b'n' | b't') => to(1, 0),
            (1, 0xc2..=0xdf) => to(4, 0x80_bf),
            (1, 0xe0) => to(5, 0xa0_bf),
            (1, 0xed) => to(5, 0x80_9f),
            (1, 0xe1..=0xef) => to(5, 0x80_bf),
            (1, 0xf0) => to(6, 0x90_bf),
            (1, 0xf1..=0xf3) => to(6, 0x80_bf),
            (1, 0xf4) => to(6, 0x80_8f),
            (3, b',') => to(0, 0),
            (4..=6, _) if (at.a >> 8..=at.a & 0xff).contains(&u32::from(byte)) => match at.id {
                4 => to(1, 0),
                id => to(id - 1, 0x80_bf),
            },
            _ => Step::Dead,
        }
    }

    fn is_accepting(&self, _: &Frames, at: State) -> bool {
        at.id == 3
    }

    fn witness(&self, _: &Frames, at: State) -> Witness {
        let low = u8::try_from(at.a >> 8).unwrap();
        match at.id {
            0 => text(b"\"\""),
            1 => text(b"\""),
            2 => text(b"n\""),
            3 => Witness::default(),
            id => {
                let mut bytes = vec![low];
                bytes.extend(vec![0x80; id as usize - 4]);
                bytes.push(b'"');
                text(bytes)
            }
        }
    }

    fn signature(&self, _: &Frames, at: State, _: usize) -> Key {
        Key::from_slice(&[at.id, at.a])
    }

    fn safe_chars(&self, _: &Frames, at: State, _: CharClass) -> u32 {
        if at.id == 1 { u32::MAX } else { 0 }
    }

    fn horizon(&self) -> u32 {
        HORIZON
    }
}
