//! Base masks: for a few character classes, the tokens that are nothing but characters of the class.
//!
//! In a state where any run of *k* such characters is live, those tokens need no walk: their mask is copied, and only the tokens
//! that are something else are tried.

use std::sync::OnceLock;

use formwork_automaton::CharClass;

use crate::mask::Mask;
use crate::trie::Trie;
use crate::vocabulary::Vocabulary;

/// Lengths in characters that base masks are kept for; beyond the last only "any length" is.
const BOUNDS: [u8; 21] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 24, 32, 64, 128];

/// Which classes each token belongs to as a whole, and its length in characters.
#[derive(Debug)]
pub(crate) struct Profile {
    /// Bit *c*: every character is of class *c* (zero for bytes that are not characters).
    classes: Vec<u8>,
    /// Characters, at most 255.
    chars: Vec<u8>,
    /// Per class: how many of its tokens have at most *k* characters.
    cover: Vec<[u32; 256]>,
}

const _: () = assert!(CharClass::ALL.len() <= 8);

impl Profile {
    pub(crate) fn new(vocabulary: &Vocabulary) -> Self {
        let mut profile = Self {
            classes: vec![0; vocabulary.len()],
            chars: vec![0; vocabulary.len()],
            cover: vec![[0; 256]; CharClass::ALL.len()],
        };
        let singles = vocabulary.single_bytes();
        let is_single = |byte: u8| singles[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1;
        for id in vocabulary.ids() {
            let Some(bytes) = vocabulary.bytes(id) else { continue };
            let Some((text, cut)) = characters(bytes) else { continue };
            // Automata read single bytes: a token with one that no token of its own spells is never known to be safe, nor is the
            // beginning of a character that might need one.
            if !bytes.iter().all(|byte| is_single(*byte)) || cut && !(0x80..=0xBF).all(is_single) {
                continue;
            }
            let chars = u8::try_from(text.chars().count() + usize::from(cut)).unwrap_or(u8::MAX);
            profile.chars[id.index()] = chars;
            if chars == 0 {
                continue;
            }
            for class in CharClass::ALL {
                if text.chars().all(|c| class.contains(c)) && (!cut || class == CharClass::Text) {
                    profile.classes[id.index()] |= 1 << (class as usize);
                    profile.cover[class as usize][usize::from(chars)] += 1;
                }
            }
        }
        for counts in &mut profile.cover {
            let mut sum = 0;
            for count in counts {
                sum += *count;
                *count = sum;
            }
        }
        profile
    }

    /// A token's length in characters, a cut one at its end included.
    pub(crate) fn chars(&self, id: u32) -> u8 {
        self.chars[id as usize]
    }

    fn is_in(&self, id: u32, class: CharClass) -> bool {
        self.classes[id as usize] >> (class as usize) & 1 == 1
    }

    /// How many tokens are at most `chars` characters of the class.
    pub(crate) fn cover(&self, class: CharClass, chars: u32) -> u32 {
        self.cover[class as usize][chars.min(255) as usize]
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.classes.capacity() + self.chars.capacity() + self.cover.capacity() * 1024
    }
}

/// The characters of a token, and whether one more begins at its end and is cut off; `None` where the bytes are anything else.
///
/// A beginning can always be continued to a character that is no control character, quote or backslash. So where any such character can be
/// read, its beginning can: cut tokens count as [`CharClass::Text`], with the cut character as a whole one.
fn characters(bytes: &[u8]) -> Option<(&str, bool)> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Some((text, false)),
        Err(error) if error.error_len().is_none() => {
            let text = std::str::from_utf8(&bytes[..error.valid_up_to()]).ok()?;
            Some((text, true))
        }
        Err(_) => None,
    }
}

/// The tables of one class.
#[derive(Debug)]
pub(crate) struct Base {
    class: CharClass,
    /// Characters of the longest token, at most 255.
    most: u8,
    rows: Vec<Row>,
    rest: Trie,
    inside: OnceLock<Trie>,
}

/// The tokens of at most some number of characters of the class.
#[derive(Debug)]
pub(crate) struct Row {
    /// That number; `None`: any.
    pub(crate) chars: Option<u8>,
    pub(crate) mask: Mask,
}

impl Base {
    pub(crate) fn new(vocabulary: &Vocabulary, class: CharClass) -> Self {
        let profile = vocabulary.profile();
        let tokens: Vec<u32> = vocabulary.sorted().iter().copied().filter(|&id| profile.is_in(id, class)).collect();
        let most = tokens.iter().map(|&id| profile.chars(id)).max().unwrap_or(0);
        let rows = BOUNDS
            .iter()
            .copied()
            .filter(|&bound| bound < most)
            .map(Some)
            .chain([None])
            .map(|chars| {
                let mut mask = Mask::none(vocabulary.len());
                for &id in &tokens {
                    if chars.is_none_or(|bound| profile.chars(id) <= bound) {
                        mask.insert(id);
                    }
                }
                Row { chars, mask }
            })
            .collect();
        Self {
            class,
            most,
            rows,
            rest: vocabulary.trie_of(|id| !profile.is_in(id, class), |_| 0),
            inside: OnceLock::new(),
        }
    }

    /// Index of the largest row whose tokens have at most `chars` characters.
    pub(crate) fn row(&self, chars: u32, longest_token: usize) -> usize {
        let last = self.rows.len() - 1;
        let covers_all = self.most < u8::MAX && chars >= u32::from(self.most);
        if covers_all || chars as usize >= longest_token {
            return last;
        }
        self.rows[..last]
            .partition_point(|row| row.chars.is_some_and(|bound| u32::from(bound) <= chars))
            .saturating_sub(1)
            .min(last)
    }

    pub(crate) fn row_at(&self, index: usize) -> &Row {
        &self.rows[index.min(self.rows.len() - 1)]
    }

    /// The trie of the tokens that are not wholly of the class.
    pub(crate) fn rest(&self) -> &Trie {
        &self.rest
    }

    /// The trie of the tokens wholly of the class; its nodes know how long the tokens below them are.
    pub(crate) fn inside(&self, vocabulary: &Vocabulary) -> &Trie {
        self.inside.get_or_init(|| {
            let profile = vocabulary.profile();
            vocabulary.trie_of(|id| profile.is_in(id, self.class), |id| profile.chars(id))
        })
    }

    /// Builds what is otherwise built on first use.
    pub(crate) fn prepare(&self, vocabulary: &Vocabulary) {
        self.inside(vocabulary);
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.rows.iter().map(|row| row.mask.heap_bytes()).sum::<usize>()
            + self.rest.heap_bytes()
            + self.inside.get().map_or(0, Trie::heap_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_characters() {
        assert_eq!(characters("é€".as_bytes()), Some(("é€", false)));
        assert_eq!(characters(&[b'a', 0xf0, 0x9f, 0x98]), Some(("a", true)));
        assert_eq!(characters(&[0xc3]), Some(("", true)));
        for no_character in
            [&[0x80][..], &[0xed, 0xa0], &[0xf4, 0x90], &[0xc0], &[0xff], &[0xc3, b'a'], &[0xe2, 0x82, b'"']]
        {
            assert_eq!(characters(no_character), None, "{no_character:02x?}");
        }
    }
}
