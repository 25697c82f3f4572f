//! From tokens' bytes to text that can be shown: whole characters, and nothing that could still become a stop string.

use crate::error::Error;
use crate::stop::StopFinder;

/// Collects a text and says what of it can be shown. What was shown, one after another, is the whole text in the end.
///
/// Bytes that are not UTF-8 become U+FFFD as the standard library's lossy conversion makes them, also at the end of a text
/// that was cut inside a character.
#[derive(Clone, Debug)]
pub(crate) struct TextStream {
    bytes: Vec<u8>,
    /// How many of the bytes are in `text`.
    shown: usize,
    text: String,
    finder: StopFinder,
    include_stop: bool,
}

/// A stop string that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Its index among the strings.
    pub(crate) index: usize,
    /// The byte of the text at which it begins.
    pub(crate) at: usize,
}

impl TextStream {
    pub(crate) fn new(stop_strings: &[String], include_stop: bool) -> Result<Self, Error> {
        Ok(Self {
            bytes: Vec::new(),
            shown: 0,
            text: String::new(),
            finder: StopFinder::new(stop_strings)?,
            include_stop,
        })
    }

    /// Takes a token's bytes. After a stop string the text ends: the rest of the bytes is dropped.
    pub(crate) fn push(&mut self, bytes: &[u8], strings: &[String]) -> Option<Found> {
        for &byte in bytes {
            self.bytes.push(byte);
            if let Some(index) = self.finder.read(byte) {
                let at = self.bytes.len() - strings.get(index).map_or(0, String::len);
                if !self.include_stop {
                    self.bytes.truncate(at);
                }
                return Some(Found { index, at });
            }
        }
        None
    }

    /// How long the text is, shown or not.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// What can be shown since the last call.
    pub(crate) fn show(&mut self) -> &str {
        let limit = self.bytes.len() - self.finder.held();
        self.decode(limit, false)
    }

    /// The rest, when nothing more comes.
    pub(crate) fn finish(&mut self) -> &str {
        self.decode(self.bytes.len(), true)
    }

    /// Everything shown so far.
    pub(crate) fn into_text(self) -> String {
        self.text
    }

    fn decode(&mut self, limit: usize, last: bool) -> &str {
        let before = self.text.len();
        let pending = self.bytes.get(self.shown..limit).unwrap_or_default();
        for chunk in pending.utf8_chunks() {
            self.text.push_str(chunk.valid());
            self.shown += chunk.valid().len();
            let broken = chunk.invalid();
            if broken.is_empty() || (!last && self.shown + broken.len() == limit && can_go_on(broken)) {
                continue;
            }
            self.text.push(char::REPLACEMENT_CHARACTER);
            self.shown += broken.len();
        }
        &self.text[before..]
    }
}

/// Whether bytes are the beginning of a character.
fn can_go_on(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|err| err.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Shows a text piece by piece: what was shown each time, and the stop that was found.
    fn shown(pieces: &[Vec<u8>], strings: &[String], include: bool) -> (Vec<String>, Option<Found>) {
        let mut stream = TextStream::new(strings, include).unwrap();
        let mut deltas = Vec::new();
        let mut found = None;
        for piece in pieces {
            found = stream.push(piece, strings);
            if found.is_some() {
                break;
            }
            deltas.push(stream.show().to_owned());
        }
        deltas.push(stream.finish().to_owned());
        assert_eq!(deltas.concat(), stream.into_text());
        (deltas, found)
    }

    fn pieces() -> impl Strategy<Value = Vec<Vec<u8>>> {
        let piece = prop_oneof![
            6 => "[ab]{0,3}".prop_map(String::into_bytes),
            3 => "[aé世😀]{0,2}".prop_map(String::into_bytes),
            2 => proptest::collection::vec(any::<u8>(), 0..4),
        ];
        proptest::collection::vec(piece, 0..12).prop_flat_map(|pieces| {
            let bytes = pieces.concat();
            // The same bytes cut elsewhere.
            proptest::collection::vec(0..=bytes.len(), 0..8).prop_map(move |mut cuts| {
                cuts.extend([0, bytes.len()]);
                cuts.sort_unstable();
                cuts.windows(2).map(|w| bytes[w[0]..w[1]].to_vec()).collect()
            })
        })
    }

    proptest! {
        #[test]
        fn what_is_shown_is_the_text(
            pieces in pieces(),
            strings in proptest::collection::vec("[abé世]{1,3}", 0..3),
            include in any::<bool>(),
        ) {
            let (deltas, found) = shown(&pieces, &strings, include);
            let whole = pieces.concat();
            // One piece: no borders at all.
            let (at_once, found_at_once) = shown(std::slice::from_ref(&whole), &strings, include);
            prop_assert_eq!(found, found_at_once);
            prop_assert_eq!(deltas.concat(), at_once.concat());
            let end = match found {
                None => whole.len(),
                Some(found) if include => found.at + strings[found.index].len(),
                Some(found) => found.at,
            };
            prop_assert_eq!(deltas.concat(), String::from_utf8_lossy(&whole[..end]));
        }

        #[test]
        fn nothing_is_held_without_reason(text in "[aé世😀]{0,12}") {
            // Without stop strings whole characters go out at once.
            let pieces: Vec<_> = text.bytes().map(|b| vec![b]).collect();
            let (deltas, _) = shown(&pieces, &[], false);
            let mut begun = 0;
            for (end, delta) in (1..).zip(deltas) {
                if end <= text.len() && text.is_char_boundary(end) {
                    prop_assert_eq!(delta, &text[begun..end]);
                    begun = end;
                } else {
                    prop_assert_eq!(delta, "");
                }
            }
        }
    }
}
