//! JSON's escapes: how a string spells its characters, and which of them the vocabulary can spell.

use crate::lang::ByteSet;

/// How far an escape has been read; packed into a word of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Escape {
    /// Not in an escape.
    None,
    /// After `\`.
    Slash,
    /// After `\u` and so many digits with this value; `high` is the high surrogate that came before, or 0.
    Hex { digits: u8, value: u16, high: u16 },
    /// After a high surrogate, before `\`.
    High(u16),
    /// After a high surrogate and `\`.
    HighSlash(u16),
}

impl Escape {
    fn pack(self) -> u32 {
        match self {
            Self::None => 0,
            Self::Slash => 1,
            Self::High(high) => 2 | u32::from(high & 0x3FF) << 16,
            Self::HighSlash(high) => 3 | u32::from(high & 0x3FF) << 16,
            // A high surrogate has ten free bits; a bit of its own says that there is one.
            Self::Hex { digits, value, high } => {
                let high = if high == 0 { 0 } else { 1 << 30 | u32::from(high & 0x3FF) << 20 };
                (4 + u32::from(digits)) | (u32::from(value) << 4) | high
            }
        }
    }

    fn unpack(word: u32) -> Self {
        let sixteen = |w: u32| u16::try_from(w & 0xFFFF).unwrap_or(0);
        let surrogate = |w: u32| 0xD800 | sixteen(w & 0x3FF);
        match word & 0xF {
            0 => Self::None,
            1 => Self::Slash,
            2 => Self::High(surrogate(word >> 16)),
            3 => Self::HighSlash(surrogate(word >> 16)),
            n => Self::Hex {
                digits: u8::try_from(n - 4).unwrap_or(0),
                value: sixteen(word >> 4) & 0xFFF,
                high: if word >> 30 & 1 == 1 { surrogate(word >> 20) } else { 0 },
            },
        }
    }
}

/// What one byte of a JSON string's spelling does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Read {
    /// The closing quote.
    Close,
    /// A byte of a decoded character.
    Byte(u8),
    /// A whole character, by an escape.
    Char(char),
    /// Part of an escape: the characters it may still become, and the word to keep.
    Part { ranges: Ranges, word: u32 },
    /// Not allowed.
    Not,
}

const SHORT: &[(u8, char)] =
    &[(b'"', '"'), (b'\\', '\\'), (b'b', '\u{8}'), (b'f', '\u{c}'), (b'n', '\n'), (b'r', '\r'), (b't', '\t')];
/// The bytes of escapes.
const ESCAPE: ByteSet = ByteSet::of(b"\"\\/bfnrtu0123456789abcdefABCDEF");
const NONE: (u32, u32) = (1, 0);
/// The control characters without a short escape.
const LONG: Ranges = [(0, 0x07), (0x0B, 0x0B), (0x0E, 0x1F)];

/// Characters, as inclusive ranges of code points (surrogates among them don't count); an empty one has its ends swapped.
type Ranges = [(u32, u32); 3];

/// Says whether some character in the ranges is wanted.
pub(super) type Wanted<'a> = &'a dyn Fn(&[(u32, u32)]) -> bool;

/// How strings may be spelled: which escapes the options allow, and the bytes there are to write them with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Escaping {
    any: bool,
    alphabet: ByteSet,
    /// Whether no escape lacks a byte.
    complete: bool,
}

impl Escaping {
    /// `any`: every escape that RFC 8259 knows; otherwise the canonical ones.
    pub(super) fn new(alphabet: ByteSet, any: bool) -> Self {
        let needed = if any { ESCAPE } else { ByteSet::of(b"\\\"bfnrtu0123456789abcdef") };
        Self { any, alphabet, complete: needed.iter().all(|b| alphabet.contains(b)) }
    }

    /// The bytes that decoded strings may consist of. Control characters, `"` and `\` are always spelled by escapes; with every
    /// escape allowed, so is any other character, as long as a raw one begun can also be finished.
    pub(super) fn decoded_alphabet(&self) -> ByteSet {
        if self.any && self.complete && (0x80..=0xBF).all(|b| self.alphabet.contains(b)) {
            return ByteSet::all();
        }
        // A character beyond ASCII has no byte of its own to ask for: with a part of the digits, it is only written raw.
        (0..=u8::MAX).filter(|byte| self.is_raw(*byte) || self.escapes(*byte)).collect()
    }

    /// Whether a byte can stand for itself in a string.
    fn is_raw(&self, byte: u8) -> bool {
        self.alphabet.contains(byte) && !matches!(byte, 0..=0x1F | b'"' | b'\\')
    }

    /// Whether an ASCII character can be spelled by an escape.
    fn escapes(&self, byte: u8) -> bool {
        let code = u32::from(byte);
        byte.is_ascii()
            && self.alphabet.contains(b'\\')
            && self.leads_on(self.read(0, b'\\'), &|ranges| holds(ranges, code))
    }

    /// Whether an escape, as far as it is read, can be finished as a character that is wanted.
    pub(super) fn leads_on(&self, read: Read, wanted: Wanted<'_>) -> bool {
        match read {
            Read::Char(c) => wanted(&[(u32::from(c), u32::from(c))]),
            Read::Part { ranges, word } => {
                // Where a byte is missing, not every character in the ranges can still be spelled.
                wanted(&ranges)
                    && (self.complete || self.alphabet.iter().any(|byte| self.leads_on(self.read(word, byte), wanted)))
            }
            Read::Close | Read::Byte(_) | Read::Not => false,
        }
    }

    /// Reads one byte of a string's spelling after the escape in `word`.
    pub(super) fn read(&self, word: u32, byte: u8) -> Read {
        let any = self.any;
        match Escape::unpack(word) {
            Escape::None => match byte {
                b'"' => Read::Close,
                b'\\' => {
                    let ranges =
                        if any { [(0, 0x10_FFFF), NONE, NONE] } else { [(0, 0x1F), (0x22, 0x22), (0x5C, 0x5C)] };
                    Read::Part { ranges, word: Escape::Slash.pack() }
                }
                0..=0x1F => Read::Not,
                _ => Read::Byte(byte),
            },
            Escape::Slash => match (byte, SHORT.iter().find(|(b, _)| *b == byte)) {
                (_, Some((_, c))) => Read::Char(*c),
                (b'/', _) if any => Read::Char('/'),
                (b'u', _) => {
                    let ranges = if any { [(0, 0x10_FFFF), NONE, NONE] } else { LONG };
                    Read::Part { ranges, word: Escape::Hex { digits: 0, value: 0, high: 0 }.pack() }
                }
                _ => Read::Not,
            },
            Escape::Hex { digits, value, high } => read_hex(any, digits, value, high, byte),
            Escape::High(high) if byte == b'\\' => {
                Read::Part { ranges: [beyond(high, 0xDC00, 0xDFFF), NONE, NONE], word: Escape::HighSlash(high).pack() }
            }
            Escape::HighSlash(high) if byte == b'u' => Read::Part {
                ranges: [beyond(high, 0xDC00, 0xDFFF), NONE, NONE],
                word: Escape::Hex { digits: 0, value: 0, high }.pack(),
            },
            Escape::High(_) | Escape::HighSlash(_) => Read::Not,
        }
    }

    /// The bytes that may come next in an escape that has begun.
    pub(super) fn readable(&self, word: u32) -> ByteSet {
        ESCAPE.iter().filter(|byte| self.alphabet.contains(*byte) && self.read(word, *byte) != Read::Not).collect()
    }

    /// The text that finishes the escape in `word` as a character that is wanted, and that character, for witnesses: the shortest
    /// that [`read`](Self::read) allows, by trying bytes in order.
    pub(super) fn finish(&self, word: u32, wanted: Wanted<'_>) -> Option<(Vec<u8>, char)> {
        let mut out = Vec::new();
        let mut word = word;
        // An escape has at most 12 bytes.
        for _ in 0..12 {
            let candidates = b"nt\"\\bfr/u0123456789abcdefABCDEF";
            let mut next = None;
            for &byte in candidates.iter().filter(|byte| self.alphabet.contains(**byte)) {
                let read = self.read(word, byte);
                match read {
                    Read::Char(c) if self.leads_on(read, wanted) => {
                        out.push(byte);
                        return Some((out, c));
                    }
                    Read::Part { word, .. } if next.is_none() && self.leads_on(read, wanted) => {
                        next = Some((byte, word));
                    }
                    _ => {}
                }
            }
            let (byte, part) = next?;
            out.push(byte);
            word = part;
        }
        None
    }

    /// Writes decoded bytes (perhaps the rest of a character first) as a JSON string spells them: raw where that can be.
    pub(super) fn write(&self, decoded: &[u8], out: &mut Vec<u8>) {
        let begun = decoded.iter().take_while(|byte| matches!(byte, 0x80..=0xBF)).count();
        let (rest, chars) = decoded.split_at(begun);
        out.extend(rest);
        for c in String::from_utf8_lossy(chars).chars() {
            let mut bytes = [0; 4];
            let bytes = c.encode_utf8(&mut bytes).as_bytes();
            if bytes.iter().all(|byte| self.is_raw(*byte)) {
                out.extend(bytes);
                continue;
            }
            let code = u32::from(c);
            if let Some((escape, _)) = self.finish(Escape::Slash.pack(), &|ranges| holds(ranges, code)) {
                out.push(b'\\');
                out.extend(escape);
            }
        }
    }
}

fn holds(ranges: &[(u32, u32)], code: u32) -> bool {
    ranges.iter().any(|(lo, hi)| (*lo..=*hi).contains(&code))
}

fn read_hex(any: bool, digits: u8, value: u16, high: u16, byte: u8) -> Read {
    let Some(digit) = char::from(byte).to_digit(16).and_then(|d| u16::try_from(d).ok()) else { return Read::Not };
    if !any && byte.is_ascii_uppercase() {
        return Read::Not;
    }
    let value = value << 4 | digit;
    if digits < 3 {
        let shift = 4 * (3 - u32::from(digits));
        let (lo, hi) = (u32::from(value) << shift, ((u32::from(value) + 1) << shift) - 1);
        let ranges = match (any, high) {
            (false, _) => LONG.map(|(from, to)| (lo.max(from), hi.min(to))),
            (true, 0) => [(lo, hi), astral(lo, hi), NONE],
            (true, high) => [beyond(high, lo.max(0xDC00), hi.min(0xDFFF)), NONE, NONE],
        };
        return Read::Part { ranges, word: Escape::Hex { digits: digits + 1, value, high }.pack() };
    }
    let code = u32::from(value);
    if high != 0 {
        let (code, _) = beyond(high, code, code);
        return match (0xDC00..=0xDFFF).contains(&value).then(|| char::from_u32(code)).flatten() {
            Some(c) => Read::Char(c),
            None => Read::Not,
        };
    }
    match char::from_u32(code) {
        Some(c) if any || LONG.iter().any(|r| (r.0..=r.1).contains(&code)) => Read::Char(c),
        None if any && code < 0xDC00 => {
            Read::Part { ranges: [beyond(value, 0xDC00, 0xDFFF), NONE, NONE], word: Escape::High(value).pack() }
        }
        _ => Read::Not,
    }
}

/// The characters that a high surrogate and a low one in `lo..=hi` make.
fn beyond(high: u16, lo: u32, hi: u32) -> (u32, u32) {
    let base = 0x1_0000 + ((u32::from(high) & 0x3FF) << 10);
    if lo > hi || hi < 0xDC00 { NONE } else { (base + (lo & 0x3FF), base + (hi & 0x3FF)) }
}

/// The characters that high surrogates in `lo..=hi` can begin.
fn astral(lo: u32, hi: u32) -> (u32, u32) {
    let (lo, hi) = (lo.max(0xD800), hi.min(0xDBFF));
    if lo > hi { NONE } else { (0x1_0000 + ((lo & 0x3FF) << 10), 0x1_0000 + ((hi & 0x3FF) << 10) + 0x3FF) }
}
