//! Base masks: for a few character classes, the tokens that are nothing but characters of the class.
//!
//! In a state where any run of *k* such characters is live, those tokens need no walk: their mask is copied, and only the tokens
//! that are something else are tried.

use std::ops::RangeInclusive;
use std::sync::OnceLock;

use formwork_automaton::{ByteSet, CharClass, TokenId};

use crate::mask::Mask;
use crate::trie::Trie;
use crate::vocabulary::Vocabulary;

/// Lengths in characters that base masks are kept for; beyond the last only "any length" is.
const BOUNDS: [u8; 21] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 24, 32, 64, 128];

/// Which classes each token belongs to as a whole, and its length in characters.
#[derive(Debug)]
pub(crate) struct Profile {
    /// Bit *c*: every character is of class *c* (zero for bytes that are not characters).
    classes: Vec<u16>,
    /// Characters, at most 255.
    chars: Vec<u8>,
    /// Per class: how many of its tokens have at most *k* characters.
    cover: Vec<[u32; 256]>,
}

const _: () = assert!(CharClass::ALL.len() <= 16);

impl Profile {
    pub(crate) fn new(vocabulary: &Vocabulary) -> Self {
        let mut profile = Self {
            classes: vec![0; vocabulary.len()],
            chars: vec![0; vocabulary.len()],
            cover: vec![[0; 256]; CharClass::ALL.len()],
        };
        for id in vocabulary.ids() {
            let Some(bytes) = vocabulary.bytes(id) else { continue };
            let Some((text, cut)) = safe_characters(vocabulary, bytes) else { continue };
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
        self.classes.capacity() * 2 + self.chars.capacity() + self.cover.capacity() * 1024
    }
}

/// The characters of a token, and whether one more begins at its end and is cut off; `None` where the bytes are anything else.
///
/// A beginning can always be continued to a character that is no control character, quote or backslash. So where any such character can be
/// read, its beginning can: cut tokens count as [`CharClass::Text`], with the cut character as a whole one.
pub(crate) fn characters(bytes: &[u8]) -> Option<(&str, bool)> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Some((text, false)),
        Err(error) if error.error_len().is_none() => {
            let text = std::str::from_utf8(&bytes[..error.valid_up_to()]).ok()?;
            Some((text, true))
        }
        Err(_) => None,
    }
}

/// The [`characters`] of bytes that can be spelled one by one: automata read single bytes, so that text with one that no token of its own
/// spells is never known to be safe, nor is the beginning of a character that might need one.
pub(crate) fn safe_characters<'a>(vocabulary: &Vocabulary, bytes: &'a [u8]) -> Option<(&'a str, bool)> {
    let is_single = |byte: u8| vocabulary.is_single(byte);
    characters(bytes)
        .filter(|(_, cut)| bytes.iter().all(|byte| is_single(*byte)) && (!cut || (0x80..=0xBF).all(is_single)))
}

/// The tables of one class.
#[derive(Debug)]
pub(crate) struct Base {
    class: CharClass,
    /// Characters of the longest token, at most 255.
    most: u8,
    rows: Vec<Row>,
    rest: Trie,
    inside: OnceLock<Inside>,
    split: OnceLock<Split>,
    ends: OnceLock<Ends>,
}

/// The tokens that are wholly of a class.
#[derive(Debug)]
pub(crate) struct Inside {
    /// Its nodes know how long the tokens below them are.
    pub(crate) trie: Trie,
    /// The tokens, the shortest first.
    tokens: Vec<u32>,
    /// How many of them have at most so many characters.
    ends: Vec<usize>,
}

impl Inside {
    /// Lengths up to this one are known exactly.
    pub(crate) const MOST: u8 = u8::MAX - 1;

    /// The tokens with so many characters, of which there is at least one.
    pub(crate) fn of_chars(&self, chars: RangeInclusive<u8>) -> &[u32] {
        let ends = |chars: u8| self.ends[usize::from(chars)];
        if chars.is_empty() { &[] } else { &self.tokens[ends(chars.start().saturating_sub(1))..ends(*chars.end())] }
    }

    fn heap_bytes(&self) -> usize {
        self.trie.heap_bytes() + self.tokens.capacity() * 4 + self.ends.capacity() * size_of::<usize>()
    }
}

/// The tokens that are not wholly of a class, by the byte after their first characters of it.
#[derive(Debug)]
pub(crate) struct Ends {
    tries: Vec<Trie>,
    /// The most characters of the class that one of them begins with.
    pub(crate) longest_run: u32,
}

impl Ends {
    /// The tokens with this byte.
    pub(crate) fn with(&self, byte: u8) -> &Trie {
        &self.tries[usize::from(byte)]
    }
}

/// The tokens that are not wholly of a class.
#[derive(Debug)]
pub(crate) struct Split {
    /// Those that begin with something else, whole.
    pub(crate) heads: Trie,
    /// Those that begin with a backslash, whole.
    pub(crate) escapes: Trie,
    /// What follows the first characters of the class in the others.
    pub(crate) tails: Trie,
    /// How long the latter tokens are, by the first byte of the tail.
    longest: Vec<Longest>,
    /// The first bytes of tails.
    ends: ByteSet,
}

/// How long tokens are at most.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Longest {
    pub(crate) bytes: u32,
    /// Of these, those of the characters of the class that they begin with.
    pub(crate) run: u32,
}

impl Longest {
    fn max(self, other: Self) -> Self {
        Self { bytes: self.bytes.max(other.bytes), run: self.run.max(other.run) }
    }
}

impl Split {
    /// Splits tokens that are not wholly of a class, sorted by their bytes.
    pub(crate) fn new<'a>(
        vocabulary: &Vocabulary,
        class: CharClass,
        tokens: impl Iterator<Item = (&'a [u8], u32)>,
    ) -> Self {
        let (mut heads, mut escapes, mut tails) = (Vec::new(), Vec::new(), Vec::new());
        let mut longest = vec![Longest::default(); 256];
        for (bytes, id) in tokens {
            let (run, rest) = bytes.split_at(run_of(class, bytes));
            let is_escape = run.is_empty() && rest.first() == Some(&b'\\');
            let is_whole = run.is_empty() && !is_escape
                || !run.iter().all(|byte| vocabulary.is_single(*byte))
                || rest.split(|byte| *byte == b'"').count() > QUOTES_OF_TWO_KEYS;
            if is_whole {
                heads.push((bytes, id));
                continue;
            }
            if is_escape { &mut escapes } else { &mut tails }.push((rest, id));
            let slot = &mut longest[rest.first().copied().map_or(0, usize::from)];
            *slot = slot.max(Longest { bytes: to_u32(bytes.len()), run: to_u32(run.len()) });
        }
        tails.sort_unstable();
        let ends = (0..).zip(&longest).filter(|(_, longest)| longest.bytes > 0).map(|(byte, _)| byte).collect();
        let [heads, escapes, tails] = [heads, escapes, tails].map(|tokens| Trie::from_sorted(tokens, |_| 0));
        Self { heads, escapes, tails, longest, ends }
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        [&self.heads, &self.escapes, &self.tails].into_iter().map(Trie::heap_bytes).sum::<usize>()
            + self.longest.capacity() * size_of::<Longest>()
    }

    /// How long the tokens are whose tail begins with one of these bytes.
    pub(crate) fn longest(&self, bytes: &ByteSet) -> Longest {
        let ends = bytes.and(self.ends);
        ends.iter().map(|byte| self.longest[usize::from(byte)]).fold(Longest::default(), Longest::max)
    }
}

/// Quotes of a tail that may complete a key after the one that the token's first characters are of: it may be the same.
pub(crate) const QUOTES_OF_TWO_KEYS: usize = 3;

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
            split: OnceLock::new(),
            ends: OnceLock::new(),
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

    /// The row of all tokens that are wholly of the class.
    pub(crate) fn whole_row(&self) -> &Row {
        self.row_at(self.rows.len() - 1)
    }

    pub(crate) fn row_at(&self, index: usize) -> &Row {
        &self.rows[index.min(self.rows.len() - 1)]
    }

    /// The trie of the tokens that are not wholly of the class.
    pub(crate) fn rest(&self) -> &Trie {
        &self.rest
    }

    /// The tokens wholly of the class, by their length.
    pub(crate) fn inside(&self, vocabulary: &Vocabulary) -> &Inside {
        self.inside.get_or_init(|| {
            let profile = vocabulary.profile();
            let is_inside = |id| profile.is_in(id, self.class);
            let mut tokens: Vec<u32> = vocabulary.sorted().iter().copied().filter(|id| is_inside(*id)).collect();
            tokens.sort_by_key(|id| profile.chars(*id));
            let ends = (0..=u8::MAX).map(|chars| tokens.partition_point(|id| profile.chars(*id) <= chars)).collect();
            Inside { trie: vocabulary.trie_of(is_inside, |id| profile.chars(id)), tokens, ends }
        })
    }

    /// The tokens that are not wholly of the class, by what follows their first characters of it.
    pub(crate) fn split(&self, vocabulary: &Vocabulary) -> &Split {
        self.split.get_or_init(|| {
            let profile = vocabulary.profile();
            let others = vocabulary.sorted().iter().copied().filter(|&id| !profile.is_in(id, self.class));
            let bytes = |id| Some((vocabulary.bytes(TokenId::new(id))?, id));
            Split::new(vocabulary, self.class, others.filter_map(bytes))
        })
    }

    /// The tokens that are not wholly of the class, by the byte after their first characters of it.
    pub(crate) fn ends(&self, vocabulary: &Vocabulary) -> &Ends {
        self.ends.get_or_init(|| {
            let profile = vocabulary.profile();
            let mut sets: Vec<Vec<(&[u8], u32)>> = vec![Vec::new(); 256];
            let mut longest_run = 0;
            for &id in vocabulary.sorted().iter().filter(|&&id| !profile.is_in(id, self.class)) {
                let Some(bytes) = vocabulary.bytes(TokenId::new(id)) else { continue };
                let run = run_of(self.class, bytes);
                // A token that is all of the class after all has a byte that can't be read by itself.
                let Some(&end) = bytes.get(run) else { continue };
                sets[usize::from(end)].push((bytes, id));
                longest_run = longest_run.max(to_u32(run));
            }
            Ends { tries: sets.into_iter().map(|set| Trie::from_sorted(set, |_| 0)).collect(), longest_run }
        })
    }

    /// Builds what is otherwise built on first use.
    pub(crate) fn prepare(&self, vocabulary: &Vocabulary) {
        self.inside(vocabulary);
        self.split(vocabulary);
        self.ends(vocabulary);
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.rows.iter().map(|row| row.mask.heap_bytes()).sum::<usize>()
            + self.rest.heap_bytes()
            + self.inside.get().map_or(0, Inside::heap_bytes)
            + self.ends.get().map_or(0, |ends| ends.tries.iter().map(Trie::heap_bytes).sum())
            + self.split.get().map_or(0, Split::heap_bytes)
    }
}

/// Bytes of the characters of a class that a token begins with.
fn run_of(class: CharClass, bytes: &[u8]) -> usize {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    };
    text.find(|c| !class.contains(c)).unwrap_or(text.len())
}

/// Whether a byte belongs to no character of a class.
pub(crate) fn ends_run(class: CharClass, byte: u8) -> bool {
    if byte.is_ascii() { !class.contains(char::from(byte)) } else { class != CharClass::Text }
}

/// A length as a word.
pub(crate) fn to_u32(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
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
