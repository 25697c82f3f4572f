//! A set of bytes.

/// A set of bytes, as a bitset.
///
/// ```
/// use formwork_automaton::ByteSet;
/// let mut set = ByteSet::all();
/// set.remove(0);
/// assert!(set.contains(b'a') && !set.contains(0));
/// assert_eq!(set.len(), 255);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ByteSet([u64; 4]);

impl ByteSet {
    /// The empty set.
    pub const fn empty() -> Self {
        Self([0; 4])
    }

    /// All 256 bytes.
    pub const fn all() -> Self {
        Self([u64::MAX; 4])
    }

    /// Bytes that a JSON string may have: all but control characters.
    pub(crate) const CLEAN: Self = Self([!0xFFFF_FFFF, u64::MAX, u64::MAX, u64::MAX]);

    /// Those of them that stand for themselves: but for the quote and the backslash.
    pub(crate) const PLAIN: Self = Self::CLEAN.and(Self::of(b"\"\\").complement());

    /// The set of these bytes.
    pub const fn of(bytes: &[u8]) -> Self {
        let mut set = Self::empty();
        let mut at = 0;
        while at < bytes.len() {
            set.insert(bytes[at]);
            at += 1;
        }
        set
    }

    /// The bytes from one to another, both included.
    pub(crate) const fn range(first: u8, last: u8) -> Self {
        let mut set = Self::empty();
        let mut byte = first;
        while byte < last {
            set.insert(byte);
            byte += 1;
        }
        set.insert(last);
        set
    }

    /// The bytes that are in one of two sets.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        Self([a | e, b | f, c | g, d | h])
    }

    /// The bytes that are in both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        Self([a & e, b & f, c & g, d & h])
    }

    /// The bytes that are not in the set.
    #[must_use]
    pub const fn complement(self) -> Self {
        let [a, b, c, d] = self.0;
        Self([!a, !b, !c, !d])
    }

    /// Whether a byte is in the set.
    pub const fn contains(&self, byte: u8) -> bool {
        self.0[(byte >> 6) as usize] >> (byte & 63) & 1 == 1
    }

    /// Adds a byte.
    pub const fn insert(&mut self, byte: u8) {
        self.0[(byte >> 6) as usize] |= 1 << (byte & 63);
    }

    /// Takes a byte out.
    pub const fn remove(&mut self, byte: u8) {
        self.0[(byte >> 6) as usize] &= !(1 << (byte & 63));
    }

    /// Adds the bytes `first..=last`.
    pub fn insert_range(&mut self, first: u8, last: u8) {
        for byte in first..=last {
            self.insert(byte);
        }
    }

    /// How many bytes are in the set.
    pub const fn len(&self) -> usize {
        let [a, b, c, d] = self.0;
        (a.count_ones() + b.count_ones() + c.count_ones() + d.count_ones()) as usize
    }

    /// Whether no byte is in the set.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The least byte of the set that is not below `byte`.
    #[inline]
    pub fn next_from(&self, byte: u8) -> Option<u8> {
        let first = usize::from(byte >> 6);
        let masked = self.0[first] & (u64::MAX << (byte & 63));
        let words = std::iter::once(masked).chain(self.0[first + 1..].iter().copied());
        let (word, bits) = (first..).zip(words).find(|(_, bits)| *bits != 0)?;
        u8::try_from(word * 64 + bits.trailing_zeros() as usize).ok()
    }

    /// The bytes in the set, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u8> + use<> {
        let mut words = self.0;
        let mut at = 0_u8;
        std::iter::from_fn(move || {
            loop {
                let word = words.get_mut(usize::from(at))?;
                if *word != 0 {
                    let bit = u8::try_from(word.trailing_zeros()).ok()?;
                    *word &= *word - 1;
                    return Some(at * 64 + bit);
                }
                at += 1;
            }
        })
    }
}

impl FromIterator<u8> for ByteSet {
    fn from_iter<I: IntoIterator<Item = u8>>(bytes: I) -> Self {
        let mut set = Self::empty();
        for byte in bytes {
            set.insert(byte);
        }
        set
    }
}
