//! Where in a character's UTF-8 bytes a text stands.

use super::byte_set::ByteSet;

/// No spelling exists.
pub(super) const NEVER: u32 = u32::MAX;

/// A position inside a character's bytes; [`BOUNDARY`] is between characters.
pub(super) type Utf8 = u8;

/// Between two characters.
pub(super) const BOUNDARY: Utf8 = 0;
const ONE_MORE: Utf8 = 1;
const TWO_MORE: Utf8 = 2;
const THREE_MORE: Utf8 = 3;
const AFTER_E0: Utf8 = 4;
const AFTER_ED: Utf8 = 5;
const AFTER_F0: Utf8 = 6;
const AFTER_F4: Utf8 = 7;
/// How many positions there are.
pub(super) const POSITIONS: usize = 8;

/// The position after one more byte; `None` where no character is spelled like this.
pub(super) const fn next(at: Utf8, byte: u8) -> Option<Utf8> {
    match (at, byte) {
        (BOUNDARY, 0x00..=0x7F) | (ONE_MORE, 0x80..=0xBF) => Some(BOUNDARY),
        (BOUNDARY, 0xC2..=0xDF) | (TWO_MORE, 0x80..=0xBF) | (AFTER_E0, 0xA0..=0xBF) | (AFTER_ED, 0x80..=0x9F) => {
            Some(ONE_MORE)
        }
        (BOUNDARY, 0xE0) => Some(AFTER_E0),
        (BOUNDARY, 0xED) => Some(AFTER_ED),
        (BOUNDARY, 0xE1..=0xEF) | (THREE_MORE, 0x80..=0xBF) | (AFTER_F0, 0x90..=0xBF) | (AFTER_F4, 0x80..=0x8F) => {
            Some(TWO_MORE)
        }
        (BOUNDARY, 0xF0) => Some(AFTER_F0),
        (BOUNDARY, 0xF1..=0xF3) => Some(THREE_MORE),
        (BOUNDARY, 0xF4) => Some(AFTER_F4),
        _ => None,
    }
}

/// For each position the fewest bytes of the alphabet that end the character begun, [`NEVER`] where there are none; at
/// [`BOUNDARY`] none are needed.
pub(super) fn bytes_to_boundary(alphabet: &ByteSet) -> [u32; POSITIONS] {
    let has = |first: u8, last: u8| (first..=last).any(|byte| alphabet.contains(byte));
    let then = |possible: bool, more: u32| if possible { more } else { NEVER };
    let low = has(0x80, 0x8F);
    let middle = has(0x90, 0x9F);
    let high = has(0xA0, 0xBF);
    let any = low || middle || high;
    let mut bytes = [0; POSITIONS];
    bytes[ONE_MORE as usize] = then(any, 1);
    bytes[TWO_MORE as usize] = then(any, 2);
    bytes[THREE_MORE as usize] = then(any, 3);
    bytes[AFTER_E0 as usize] = then(high, 2);
    bytes[AFTER_ED as usize] = then(low || middle, 2);
    bytes[AFTER_F0 as usize] = then(middle || high, 3);
    bytes[AFTER_F4 as usize] = then(low, 3);
    bytes
}

/// Whether every character that the alphabet's bytes begin can be ended with them.
pub(super) fn ends_what_it_begins(alphabet: &ByteSet, to_boundary: &[u32; POSITIONS]) -> bool {
    let lead = |byte| next(BOUNDARY, byte);
    // After the second byte one or two of any continuation bytes follow.
    alphabet.iter().filter_map(lead).all(|at| to_boundary[at as usize] != NEVER)
}

/// The fewest bytes of the alphabet that spell one whole character.
pub(super) fn bytes_per_char(alphabet: &ByteSet, to_boundary: &[u32; POSITIONS]) -> u32 {
    alphabet
        .iter()
        .filter_map(|byte| next(BOUNDARY, byte))
        .map(|to| to_boundary[to as usize].saturating_add(1))
        .min()
        .unwrap_or(NEVER)
}
