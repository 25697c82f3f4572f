//! Masks computed ahead of time, as bytes: one read, and nothing to be built before the first mask is found.
//!
//! | bytes | |
//! |---|---|
//! | 0–7 | [`MAGIC`] |
//! | 8–15 | [`FORMAT`] and [`HEADER`] |
//! | 16–39 | Formwork's version, filled up with zeros |
//! | 40–103 | the constraint, and [`Vocabulary::fingerprint`] |
//! | 104–115 | how many keys, masks and tokens follow |
//! | 116–119 | CRC-32 over all bytes but these |
//! | 16 a key | fingerprints of mask keys, ascending |
//! | 4 a key | what is [`Known`] under each |
//! | 12 a mask | a base row, where the mask's own tokens end, and where those end that are read anew at each use |
//! | 4 a token | the tokens that masks have beside their base rows |
//!
//! Numbers have four bytes, the least first.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use formwork_automaton::{Automaton, CharClass, Fingerprint, Frames, State};
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use crate::error::Error;
use crate::fingerprint::fingerprint;
use crate::vocabulary::Vocabulary;
use crate::walk::{BaseRow, ClassRow, Scratch, Walked};

/// How every artefact begins: no text does, and a transfer that takes it for text breaks it.
const MAGIC: [u8; 8] = *b"\x93FWMASK\n";
/// The version of the format and of what fingerprints are made of.
const FORMAT: u32 = 2;
const VERSION: &str = env!("CARGO_PKG_VERSION");
const VERSION_BYTES: usize = 24;
/// Bytes before the fingerprints.
const HEADER: usize = 120;
/// Where the checksum stands, which covers all but itself.
const CHECKSUM: usize = 116;
/// Bytes of the largest artefact that is written or read.
pub(crate) const MOST_BYTES: usize = 1 << 30;

const PRINT_BYTES: usize = 16;
/// Bytes of a key in all sections.
pub(crate) const KEY_BYTES: usize = PRINT_BYTES + 4;
/// Bytes of a mask, its tokens not counted.
pub(crate) const MASK_BYTES: usize = 12;

/// What is known under a key, where that is no mask: it depends on one more frame at least.
const DEEPER: u32 = u32::MAX;
/// It depends on data that no key covers.
const DYNAMIC: u32 = u32::MAX - 1;
/// In place of a base row: there is none.
const NO_BASE: u32 = u32::MAX;

/// What is known under a fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// The mask with this index.
    Mask(u32),
    /// The mask depends on one more frame at least.
    Deeper,
    /// The mask depends on data that no key covers.
    Dynamic,
}

impl Known {
    fn to_word(self) -> u32 {
        match self {
            Self::Mask(index) => index,
            Self::Deeper => DEEPER,
            Self::Dynamic => DYNAMIC,
        }
    }

    fn from_word(word: u32) -> Self {
        match word {
            DEEPER => Self::Deeper,
            DYNAMIC => Self::Dynamic,
            index => Self::Mask(index),
        }
    }
}

/// A mask by its content: what a base row has, and these tokens, ascending; and those that data decides about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Content {
    pub(crate) base: Option<ClassRow>,
    pub(crate) added: Box<[u32]>,
    pub(crate) open: Box<[u32]>,
}

impl Content {
    /// How many tokens it lists.
    pub(crate) fn len(&self) -> usize {
        self.added.len() + self.open.len()
    }
}

/// Masks that were computed ahead of time for one constraint and one tokenizer ([`precompute`](crate::precompute)). Cheap to clone, shared
/// by threads.
///
/// It only saves work: a matcher that finds no mask in it computes one, and whatever a mask says, no token is read that the constraint
/// refuses.
#[derive(Clone)]
pub struct Artefact {
    shared: Arc<Shared>,
}

struct Shared {
    bytes: Vec<u8>,
    /// What errors call it.
    name: String,
    keys: usize,
    masks: usize,
    ids: usize,
}

impl Artefact {
    /// Reads a file.
    ///
    /// # Errors
    /// Where it can't be read, is no artefact, is truncated or damaged, or was made by another version of Formwork.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let unreadable = |e| Error::unreadable_artefact(path, e);
        let mut file = File::open(path).map_err(unreadable)?;
        let mut bytes = Vec::new();
        // Whatever else the file is, no more of it is read than says so.
        file.by_ref().take(HEADER as u64).read_to_end(&mut bytes).map_err(unreadable)?;
        let said = Header::read(&bytes, &name)?.len;
        bytes.reserve_exact(said - bytes.len());
        file.take((said - bytes.len()) as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        Self::from_bytes(bytes, &name)
    }

    /// Takes an artefact's bytes; errors call it `name`.
    ///
    /// # Errors
    /// As [`Artefact::open`].
    pub fn from_bytes(bytes: Vec<u8>, name: &str) -> Result<Self, Error> {
        let Header { keys, masks, ids, len } = Header::read(&bytes, name)?;
        if bytes.len() < len {
            return Err(Error::damaged_artefact(name, format!("it ends after {} of {len} bytes", bytes.len())));
        }
        if bytes.len() > len {
            return Err(Error::damaged_artefact(name, format!("something follows its {len} bytes")));
        }
        if checksum(&bytes) != word_of(&bytes[CHECKSUM..HEADER]) {
            return Err(Error::damaged_artefact(name, "its checksum doesn't fit its content".to_owned()));
        }
        Ok(Self { shared: Arc::new(Shared { bytes, name: name.to_owned(), keys, masks, ids }) })
    }

    /// How many keys lead to a mask, or say that there is none to keep.
    pub fn keys(&self) -> usize {
        self.shared.keys
    }

    /// Distinct masks.
    pub fn masks(&self) -> usize {
        self.shared.masks
    }

    /// Bytes of all of it.
    pub fn len(&self) -> usize {
        self.shared.bytes.len()
    }

    /// Whether there are no masks in it.
    pub fn is_empty(&self) -> bool {
        self.shared.masks == 0
    }

    /// Refuses what was made for another constraint: said of it before there is a vocabulary.
    ///
    /// # Errors
    /// Where the artefact was [written](crate::Precomputed::to_bytes) for another one.
    pub fn check_constraint(&self, constraint: &[u8; 32]) -> Result<(), Error> {
        if self.shared.bytes[40..72] == *constraint { Ok(()) } else { Err(Error::wrong_constraint(&self.shared.name)) }
    }

    /// Refuses what was made for another constraint or tokenizer.
    pub(crate) fn check(&self, constraint: &[u8; 32], vocabulary: &Vocabulary) -> Result<(), Error> {
        self.check_constraint(constraint)?;
        if self.shared.bytes[72..104] != vocabulary.fingerprint() {
            return Err(Error::wrong_tokenizer(&self.shared.name));
        }
        Ok(())
    }

    /// The mask of a state, as a walk would have left it in `scratch`, but for the row; `None` where it is not here.
    pub(crate) fn find<A: Automaton + ?Sized>(
        &self,
        automaton: &A,
        seq: &Frames,
        state: State,
        scratch: &mut Scratch,
    ) -> Option<Walked> {
        for frames in 0.. {
            match self.known(fingerprint(automaton, seq, state, frames)?)? {
                Known::Deeper => {}
                Known::Dynamic => return None,
                Known::Mask(index) => return self.read_mask(index, frames, scratch),
            }
        }
        None
    }

    fn known(&self, print: Fingerprint) -> Option<Known> {
        let wanted = print.to_bytes();
        let prints = self.shared.bytes.get(HEADER..HEADER + self.shared.keys * PRINT_BYTES)?;
        let (mut from, mut to) = (0, self.shared.keys);
        while from < to {
            let middle = from.midpoint(to);
            match prints[middle * PRINT_BYTES..(middle + 1) * PRINT_BYTES].cmp(&wanted) {
                std::cmp::Ordering::Less => from = middle + 1,
                std::cmp::Ordering::Greater => to = middle,
                std::cmp::Ordering::Equal => {
                    return self.word(HEADER + self.shared.keys * PRINT_BYTES, middle).map(Known::from_word);
                }
            }
        }
        None
    }

    /// A mask that depends on so many frames; the tokens that its base row has not go to `scratch`.
    fn read_mask(&self, index: u32, frames: usize, scratch: &mut Scratch) -> Option<Walked> {
        let index = index as usize;
        if index >= self.shared.masks {
            return None;
        }
        let masks = HEADER + self.shared.keys * KEY_BYTES;
        let end = |word: usize| self.word(masks, word).map(|end| end as usize);
        let first = index.checked_sub(1).map_or(Some(0), |before| end(3 * before + 2))?;
        let (middle, last) = (end(3 * index + 1)?, end(3 * index + 2)?);
        if last > self.shared.ids {
            return None;
        }
        let ids = masks + self.shared.masks * MASK_BYTES;
        let tokens = scratch.mask.vocabulary_len();
        for (list, from, to) in [(&mut scratch.added, first, middle), (&mut scratch.open, middle, last)] {
            let ids = self.shared.bytes.get(ids..)?.get(from * 4..to * 4)?;
            list.clear();
            list.extend(ids.chunks_exact(4).map(word_of).filter(|id| (*id as usize) < tokens));
        }
        let base = match self.word(masks, 3 * index)? {
            NO_BASE => None,
            base => {
                let class = CharClass::ALL.get((base >> 16) as usize)?;
                Some(BaseRow::Class(ClassRow { class: *class, row: (base & 0xFFFF) as usize }))
            }
        };
        Some(Walked { frames, dynamic: false, base, limit: None, nodes: 0 })
    }

    /// A word of a section.
    fn word(&self, section: usize, index: usize) -> Option<u32> {
        self.shared.bytes.get(section..)?.get(index * 4..index * 4 + 4).map(word_of)
    }
}

/// What an artefact's header says, checked against itself.
struct Header {
    keys: usize,
    masks: usize,
    ids: usize,
    /// Bytes of the whole.
    len: usize,
}

impl Header {
    fn read(bytes: &[u8], name: &str) -> Result<Self, Error> {
        if bytes.get(..MAGIC.len()) != Some(&MAGIC) {
            return Err(Error::not_artefact(name));
        }
        let format = bytes.get(8..12).map(word_of);
        let version = bytes.get(16..16 + VERSION_BYTES).map(|version| {
            String::from_utf8_lossy(version).trim_end_matches('\0').chars().filter(|c| !c.is_control()).collect()
        });
        let (Some(format), Some(version)): (_, Option<String>) = (format, version) else {
            return Err(Error::damaged_artefact(name, format!("it ends after {} bytes", bytes.len())));
        };
        if format != FORMAT || version != VERSION {
            let said = |version: &str, format: u32| format!("{version} (format {format})");
            return Err(Error::artefact_version(name, said(&version, format), said(VERSION, FORMAT)));
        }
        let Some(header) = bytes.get(..HEADER) else {
            return Err(Error::damaged_artefact(name, format!("it ends after {} bytes", bytes.len())));
        };
        let count = |at: usize| u64::from(word_of(&header[at..at + 4]));
        let [keys, masks, ids] = [count(104), count(108), count(112)];
        let len = HEADER as u64 + keys * KEY_BYTES as u64 + masks * MASK_BYTES as u64 + ids * 4;
        let to_size = |n: u64| usize::try_from(n).ok().filter(|n| *n <= MOST_BYTES);
        match (to_size(keys), to_size(masks), to_size(ids), to_size(len)) {
            (Some(keys), Some(masks), Some(ids), Some(len)) => Ok(Self { keys, masks, ids, len }),
            _ => Err(Error::damaged_artefact(name, format!("its sections would have {len} bytes"))),
        }
    }
}

/// Writes an artefact: `known` by ascending fingerprint.
pub(crate) fn write(
    constraint: &[u8; 32],
    vocabulary: &Vocabulary,
    known: &[(Fingerprint, Known)],
    masks: &IndexSet<Content, FxBuildHasher>,
) -> Vec<u8> {
    let ids: usize = masks.iter().map(Content::len).sum();
    let mut out = Vec::with_capacity(HEADER + known.len() * KEY_BYTES + masks.len() * MASK_BYTES + ids * 4);
    let word = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).to_le_bytes();
    out.extend(MAGIC);
    out.extend(FORMAT.to_le_bytes());
    out.extend(word(HEADER));
    let mut version = [0; VERSION_BYTES];
    for (slot, byte) in version.iter_mut().zip(VERSION.bytes()) {
        *slot = byte;
    }
    out.extend(version);
    out.extend(constraint);
    out.extend(vocabulary.fingerprint());
    out.extend([known.len(), masks.len(), ids].into_iter().flat_map(word));
    out.resize(HEADER, 0);
    for (print, _) in known {
        out.extend(print.to_bytes());
    }
    for (_, known) in known {
        out.extend(known.to_word().to_le_bytes());
    }
    let mut end = 0;
    for Content { base, added, open } in masks {
        let middle = end + added.len();
        end = middle + open.len();
        let base =
            base.map_or(NO_BASE, |ClassRow { class, row }| (class as u32) << 16 | u32::try_from(row).unwrap_or(0));
        out.extend(base.to_le_bytes());
        out.extend(word(middle));
        out.extend(word(end));
    }
    out.extend(masks.iter().flat_map(|mask| mask.added.iter().chain(&mask.open)).flat_map(|id| id.to_le_bytes()));
    let checksum = checksum(&out);
    out[CHECKSUM..HEADER].copy_from_slice(&checksum.to_le_bytes());
    out
}

/// CRC-32 over all but the checksum's own place: it is there for accidents, and costs no more than reading the bytes.
fn checksum(bytes: &[u8]) -> u32 {
    let mut hash = crc32fast::Hasher::new();
    hash.update(bytes.get(..CHECKSUM).unwrap_or_default());
    hash.update(bytes.get(HEADER..).unwrap_or_default());
    hash.finalize()
}

/// A word's four bytes as a number.
fn word_of(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte))
}

impl std::fmt::Debug for Artefact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Artefact")
            .field("name", &self.shared.name)
            .field("keys", &self.shared.keys)
            .field("masks", &self.shared.masks)
            .field("tokens", &self.shared.ids)
            .finish_non_exhaustive()
    }
}
