//! Bytes that an automaton can't tell apart, grouped.

use super::byte_set::ByteSet;
use super::utf8;

/// The class of the bytes that lead nowhere: outside the alphabet, or in no character.
pub(super) const NOWHERE: u8 = 0;

/// A partition of the 256 bytes; class [`NOWHERE`] always leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ByteClasses {
    map: [u8; 256],
    /// Per class the byte that stands for it, printable where there is one.
    representatives: Box<[u8]>,
    /// Per class how many bytes it has.
    sizes: Box<[u16]>,
}

impl ByteClasses {
    /// The partition that UTF-8 alone makes of an alphabet.
    pub(super) fn of_alphabet(alphabet: &ByteSet) -> Self {
        let mut map = [NOWHERE; 256];
        for byte in alphabet.iter() {
            map[byte as usize] = match byte {
                0x00..=0x7F => 1,
                0x80..=0x8F => 2,
                0x90..=0x9F => 3,
                0xA0..=0xBF => 4,
                0xC0..=0xC1 | 0xF5..=0xFF => NOWHERE,
                0xC2..=0xDF => 5,
                0xE0 => 6,
                0xED => 7,
                0xE1..=0xEF => 8,
                0xF0 => 9,
                0xF1..=0xF3 => 10,
                0xF4 => 11,
            };
        }
        Self::compact(map)
    }

    /// Renumbers the classes without gaps, in the order of their first byte.
    fn compact(mut map: [u8; 256]) -> Self {
        let mut renumbered = [NOWHERE; 256];
        let mut representatives = vec![0_u8];
        let mut sizes = vec![0_u16];
        for (byte, class) in (0..=u8::MAX).zip(map.iter_mut()) {
            if *class != NOWHERE {
                let new = &mut renumbered[*class as usize];
                if *new == NOWHERE {
                    *new = u8::try_from(representatives.len()).unwrap_or(u8::MAX);
                    representatives.push(byte);
                    sizes.push(0);
                }
                *class = *new;
                let stands = &mut representatives[*class as usize];
                if preference(byte) < preference(*stands) {
                    *stands = byte;
                }
            }
            sizes[*class as usize] += 1;
        }
        Self {
            map,
            representatives: representatives.into(),
            sizes: sizes.into(),
        }
    }

    /// The coarsest partition that is at least as fine as both.
    pub(super) fn join(&self, other: &Self) -> Self {
        self.refine(other.len(), |byte| other.map[byte as usize])
    }

    /// Splits the classes by a function of the byte with values below `values`.
    pub(super) fn refine(&self, values: usize, value: impl Fn(u8) -> u8) -> Self {
        let mut pairs = vec![NOWHERE; self.len() * values];
        let mut count: u8 = 0;
        let mut map = [NOWHERE; 256];
        for byte in 0..=u8::MAX {
            let class = self.map[byte as usize];
            if class == NOWHERE {
                continue;
            }
            let pair = &mut pairs[class as usize * values + value(byte) as usize];
            if *pair == NOWHERE {
                // At most 255 bytes lie outside NOWHERE when all 256 would be told apart: 0xC0 never does.
                count = count.saturating_add(1);
                *pair = count;
            }
            map[byte as usize] = *pair;
        }
        Self::compact(map)
    }

    /// How many classes, [`NOWHERE`] included.
    pub(super) fn len(&self) -> usize {
        self.representatives.len()
    }

    /// A byte's class.
    #[inline]
    pub(super) fn class(&self, byte: u8) -> u8 {
        self.map[byte as usize]
    }

    /// The byte that stands for a class.
    pub(super) fn representative(&self, class: u8) -> u8 {
        self.representatives[class as usize]
    }

    /// How many bytes a class has.
    pub(super) fn size(&self, class: u8) -> u16 {
        self.sizes[class as usize]
    }

    /// The classes that may lead somewhere.
    pub(super) fn iter(&self) -> impl Iterator<Item = u8> + use<> {
        1..u8::try_from(self.len()).unwrap_or(u8::MAX)
    }
}

/// Which bytes a witness is spelled with, rather: lower is better.
pub(super) fn preference(byte: u8) -> u16 {
    let group = match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        b' ' | b'-' | b'_' | b'.' => 3,
        b'"' | b'\\' => 6,
        0x21..=0x7E => 4,
        _ if utf8::next(utf8::BOUNDARY, byte) != Some(utf8::BOUNDARY) => 5,
        _ => 7,
    };
    group << 8 | u16::from(byte)
}
