//! What something is, by its content: the same in every process, whatever ids were handed out in it.

use sha2::{Digest, Sha256};

use crate::weigh::weightless;

/// 128 bits of what something is: equal for equal content, in any process and on any machine, and for practical purposes only there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(u128);

weightless!(Fingerprint);

impl Fingerprint {
    /// The fingerprint as 16 bytes.
    ///
    /// ```
    /// use formwork_automaton::Fingerprint;
    /// assert_eq!(Fingerprint::from_bytes([7; 16]).to_bytes(), [7; 16]);
    /// ```
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// The fingerprint that [`Fingerprint::to_bytes`] gave.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(bytes))
    }
}

/// What a part of a content is: nothing that follows it can be taken for another part.
const WORD: u8 = 1;
const LONG: u8 = 2;
const BYTES: u8 = 3;
const PRINT: u8 = 4;
const LIST: u8 = 5;

/// A content that is being described, part by part.
pub(crate) struct Content(Sha256);

impl Content {
    /// Begins the description of one kind of thing.
    pub(crate) fn of(kind: &str) -> Self {
        let mut content = Self(Sha256::new());
        content.bytes(kind.as_bytes());
        content
    }

    pub(crate) fn word(&mut self, word: u32) -> &mut Self {
        self.part(WORD, &word.to_le_bytes())
    }

    pub(crate) fn flag(&mut self, flag: bool) -> &mut Self {
        self.word(u32::from(flag))
    }

    pub(crate) fn long(&mut self, long: u64) -> &mut Self {
        self.part(LONG, &long.to_le_bytes())
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.part(BYTES, &(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    pub(crate) fn print(&mut self, print: Fingerprint) -> &mut Self {
        self.part(PRINT, &print.to_bytes())
    }

    /// How many elements follow.
    pub(crate) fn list(&mut self, len: usize) -> &mut Self {
        self.part(LIST, &(len as u64).to_le_bytes())
    }

    /// Something that may be missing.
    pub(crate) fn option<T>(&mut self, value: Option<T>, put: impl FnOnce(&mut Self, T)) -> &mut Self {
        self.list(usize::from(value.is_some()));
        if let Some(value) = value {
            put(self, value);
        }
        self
    }

    /// Elements whose order says nothing: ids that were handed out in the order in which they were met.
    pub(crate) fn set(&mut self, prints: impl Iterator<Item = Fingerprint>) -> &mut Self {
        let mut prints: Vec<Fingerprint> = prints.collect();
        prints.sort_unstable();
        self.prints(prints.into_iter())
    }

    /// Elements in their order.
    pub(crate) fn prints(&mut self, prints: impl ExactSizeIterator<Item = Fingerprint>) -> &mut Self {
        self.list(prints.len());
        for print in prints {
            self.print(print);
        }
        self
    }

    pub(crate) fn finish(self) -> Fingerprint {
        let [first, ..]: [[u8; 16]; 2] = split(self.0.finalize().into());
        Fingerprint::from_bytes(first)
    }

    fn part(&mut self, kind: u8, bytes: &[u8]) -> &mut Self {
        self.0.update([kind]);
        self.0.update(bytes);
        self
    }
}

/// The halves of a digest.
fn split(digest: [u8; 32]) -> [[u8; 16]; 2] {
    let mut halves = [[0; 16]; 2];
    for (half, bytes) in halves.iter_mut().zip(digest.chunks_exact(16)) {
        half.copy_from_slice(bytes);
    }
    halves
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_the_same_everywhere() {
        let mut content = Content::of("example");
        content.word(7).flag(true).long(1 << 40).bytes(b"abc").option(Some(3), |c, n| {
            c.word(n);
        });
        let print = content.finish();
        assert_eq!(format!("{:032x}", print.0), "e21b26a49af194a04a10df1c477a213e");
    }

    #[test]
    fn parts_are_told_apart() {
        let print = |describe: &dyn Fn(&mut Content)| {
            let mut content = Content::of("");
            describe(&mut content);
            content.finish()
        };
        let one = print(&|c| {
            c.bytes(b"ab").bytes(b"c");
        });
        let other = print(&|c| {
            c.bytes(b"a").bytes(b"bc");
        });
        assert_ne!(one, other);
        let (a, b) = (one, other);
        let set = |prints: [Fingerprint; 2]| {
            print(&move |c| {
                c.set(prints.into_iter());
            })
        };
        assert_eq!(set([a, b]), set([b, a]));
        assert_ne!(set([a, b]), set([a, a]));
    }
}
