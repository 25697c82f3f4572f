//! Bytes that an automaton can't tell apart, grouped.

use smallvec::SmallVec;

use super::byte_set::ByteSet;

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

/// A partition in the making: classes are split until all that has to be told apart is.
#[derive(Clone, Debug)]
pub(super) struct Partition {
    map: [u16; 256],
    /// The first number that no class has.
    next: u16,
}

impl Partition {
    /// What UTF-8 alone tells apart in an alphabet.
    pub(super) fn of_alphabet(alphabet: &ByteSet) -> Self {
        let mut map = [0; 256];
        for byte in alphabet.iter() {
            map[byte as usize] = match byte {
                0x00..=0x7F => 1,
                0x80..=0x8F => 2,
                0x90..=0x9F => 3,
                0xA0..=0xBF => 4,
                0xC0..=0xC1 | 0xF5..=0xFF => 0,
                0xC2..=0xDF => 5,
                0xE0 => 6,
                0xED => 7,
                0xE1..=0xEF => 8,
                0xF0 => 9,
                0xF1..=0xF3 => 10,
                0xF4 => 11,
            };
        }
        Self { map, next: 12 }
    }

    /// Begins with a finished partition.
    pub(super) fn from_classes(classes: &ByteClasses) -> Self {
        Self { map: classes.map.map(u16::from), next: u16::try_from(classes.len()).unwrap_or(u16::MAX) }
    }

    /// Tells bytes apart that lead to different places, given as ranges of bytes; those in no range lead nowhere.
    pub(super) fn split(&mut self, ranges: impl Iterator<Item = (u8, u8, u16)>) {
        if self.next > u16::MAX - 512 {
            self.renumber();
        }
        let mut new: SmallVec<[(u16, u16, u16); 16]> = SmallVec::new();
        for (first, last, to) in ranges {
            for class in &mut self.map[usize::from(first)..=usize::from(last)] {
                if *class == 0 {
                    continue;
                }
                if let Some(known) = new.iter().rev().find(|(from, target, _)| *from == *class && *target == to) {
                    *class = known.2;
                } else {
                    new.push((*class, to, self.next));
                    *class = self.next;
                    self.next += 1;
                }
            }
        }
    }

    /// Tells all bytes apart that the other partition does.
    pub(super) fn join(&mut self, other: &ByteClasses) {
        self.renumber();
        let mut pairs = vec![0_u16; usize::from(self.next) * other.len()];
        let mut next = 1;
        for (class, theirs) in self.map.iter_mut().zip(other.map) {
            if *class == 0 {
                continue;
            }
            let pair = &mut pairs[usize::from(*class) * other.len() + usize::from(theirs)];
            if *pair == 0 {
                *pair = next;
                next += 1;
            }
            *class = *pair;
        }
        self.next = next;
    }

    /// Numbers the classes without gaps, in the order of their first byte.
    fn renumber(&mut self) {
        let mut numbers = vec![0_u16; usize::from(self.next)];
        let mut next = 1;
        for class in &mut self.map {
            if *class != 0 {
                let number = &mut numbers[usize::from(*class)];
                if *number == 0 {
                    *number = next;
                    next += 1;
                }
                *class = *number;
            }
        }
        self.next = next;
    }

    /// The finished partition.
    pub(super) fn finish(mut self) -> ByteClasses {
        self.renumber();
        // No text holds 0xC0, so that at most 255 classes lead somewhere.
        let count = usize::from(self.next);
        let mut map = [NOWHERE; 256];
        let mut representatives = vec![0_u8; count];
        let mut sizes = vec![0_u16; count];
        for byte in 0..=u8::MAX {
            let class = usize::from(self.map[usize::from(byte)]);
            map[usize::from(byte)] = u8::try_from(class).unwrap_or(NOWHERE);
            let stands = &mut representatives[class];
            if sizes[class] == 0 || preference(byte) < preference(*stands) {
                *stands = byte;
            }
            sizes[class] += 1;
        }
        ByteClasses { map, representatives: representatives.into(), sizes: sizes.into() }
    }
}

impl ByteClasses {
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
pub(crate) fn preference(byte: u8) -> u16 {
    PREFERENCE[usize::from(byte)]
}

const PREFERENCE: [u16; 256] = {
    let mut table = [0; 256];
    let mut byte = 0_u8;
    loop {
        let group: u16 = match byte {
            b'a'..=b'z' => 0,
            b'A'..=b'Z' => 1,
            b'0'..=b'9' => 2,
            b' ' | b'-' | b'_' | b'.' => 3,
            b'"' | b'\\' => 6,
            0x21..=0x7E => 4,
            0x80..=0xFF => 5,
            _ => 7,
        };
        table[byte as usize] = group << 8 | byte as u16;
        if byte == u8::MAX {
            break;
        }
        byte += 1;
    }
    table
};
