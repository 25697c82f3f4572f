//! The tokens of a model: what bytes each one stands for, which ones are special, which ones end a sequence.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use formwork_automaton::{Automaton, CharClass, LangPool, NEAR_BYTES, TokenId};
use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};

use crate::base::{Base, Profile, QUOTES_OF_TWO_KEYS, to_u32};
use crate::char_loops::CharLoops;
use crate::common_parts::CommonParts;
use crate::entry::TokenEntry;
use crate::error::Error;
use crate::gguf::{self, GgufTokens};
use crate::quoted::{Quoted, QuotedTables};
use crate::scratch_pool::ScratchPool;
use crate::trie::Trie;
use crate::{eos, spelling, tiktoken, tokenizer_json};

/// A model's tokens by their bytes. Cheap to clone, shared by threads.
///
/// Tokens that end a sequence are special: no text spells them, whatever the tokenizer's file says.
#[derive(Clone)]
pub struct Vocabulary {
    core: Arc<Core>,
    eos: Arc<[TokenId]>,
}

struct Core {
    /// All texts, one after another; token *i* ends at `ends[i]`.
    bytes: Vec<u8>,
    ends: Vec<usize>,
    kinds: Vec<Kind>,
    special_names: BTreeMap<TokenId, String>,
    special_list: Vec<TokenId>,
    special_ids: FxHashMap<String, TokenId>,
    longest: usize,
    single_bytes: [u64; 4],
    digest: [u8; 32],
    sorted: OnceLock<Vec<u32>>,
    trie: OnceLock<Trie>,
    profile: OnceLock<Profile>,
    bases: [OnceLock<Base>; CharClass::ALL.len()],
    loops: OnceLock<CharLoops>,
    quoted: QuotedTables,
    common_parts: CommonParts,
    brackets: OnceLock<u32>,
    langs: LangPool,
    long: OnceLock<Few>,
    two_keys: OnceLock<Few>,
    scratches: ScratchPool,
}

/// Some tokens that some walks read by themselves.
pub(crate) struct Few {
    /// Ascending.
    pub(crate) ids: Box<[u32]>,
    pub(crate) trie: Trie,
}

impl Few {
    fn heap_bytes(&self) -> usize {
        self.trie.heap_bytes() + self.ids.len() * 4
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Special,
    Unused,
}

impl Vocabulary {
    /// Reads a Hugging Face `tokenizer.json` (byte-level BPE, or SentencePiece-style BPE or Unigram with byte fallback).
    ///
    /// The tokens that end a sequence are taken from `tokenizer_config.json`, `generation_config.json` and
    /// `special_tokens_map.json` beside it; where none names one, from the well-known names (`</s>`, `<|im_end|>` …).
    ///
    /// # Errors
    /// Where the file cannot be read, is truncated or no tokenizer, or is of an unsupported kind.
    pub fn from_tokenizer_json(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let json = std::fs::read(path).map_err(|e| Error::unreadable(path, e))?;
        let entries = tokenizer_json::read(&json, &path.display().to_string())?;
        let names = special_ids(&entries);
        let eos = match path.parent() {
            Some(folder) => eos::beside(folder, &names)?,
            None => Vec::new(),
        };
        Self::with_found_eos(entries, eos, &names)
    }

    /// Reads the text of a `tokenizer.json`; the tokens that end a sequence are found by their well-known names.
    ///
    /// # Errors
    /// As [`Vocabulary::from_tokenizer_json`].
    pub fn from_tokenizer_json_bytes(json: &[u8]) -> Result<Self, Error> {
        let entries = tokenizer_json::read(json, "tokenizer.json")?;
        let names = special_ids(&entries);
        Self::with_found_eos(entries, Vec::new(), &names)
    }

    /// Takes the token tables of a GGUF file.
    ///
    /// # Errors
    /// Where the model's kind is not supported or the tables do not fit together.
    pub fn from_gguf(tokens: GgufTokens) -> Result<Self, Error> {
        let eos = tokens.eos.clone();
        let entries = gguf::read(tokens)?;
        let names = special_ids(&entries);
        let eos = eos.into_iter().map(TokenId::new).collect();
        Self::with_found_eos(entries, eos, &names)
    }

    /// Reads a tiktoken rank file (a line per token: base64, a space, the rank), with the special tokens that go with it.
    ///
    /// ```
    /// # use formwork_mask::Vocabulary;
    /// let v = Vocabulary::from_tiktoken(b"IQ== 0\nIg== 1\n", &[("<|endoftext|>", 2)])?;
    /// assert_eq!(v.bytes(formwork_automaton::TokenId::new(0)), Some(&b"!"[..]));
    /// assert_eq!(v.eos().len(), 1);
    /// # Ok::<(), formwork_mask::Error>(())
    /// ```
    ///
    /// # Errors
    /// Where a line is malformed or an id is given twice.
    pub fn from_tiktoken(ranks: &[u8], special: &[(&str, u32)]) -> Result<Self, Error> {
        let entries = tiktoken::read(ranks, special)?;
        let names = special_ids(&entries);
        Self::with_found_eos(entries, Vec::new(), &names)
    }

    /// Takes the rows one by one; `eos` are the ids that end a sequence.
    ///
    /// # Errors
    /// Where an end-of-sequence id is beyond the rows, or a token is absurdly long.
    pub fn from_tokens(entries: Vec<TokenEntry>, eos: &[u32]) -> Result<Self, Error> {
        let eos = eos.iter().copied().map(TokenId::new).collect();
        Self::build(entries, eos)
    }

    fn with_found_eos(
        entries: Vec<TokenEntry>,
        mut found: Vec<TokenId>,
        names: &FxHashMap<String, TokenId>,
    ) -> Result<Self, Error> {
        if found.is_empty() {
            found = eos::well_known(names, |id| matches!(entries.get(id.index()), Some(TokenEntry::Special(_))));
        }
        Self::build(entries, found)
    }

    fn build(mut entries: Vec<TokenEntry>, mut eos: Vec<TokenId>) -> Result<Self, Error> {
        eos.sort_unstable();
        eos.dedup();
        for &id in &eos {
            let len = entries.len();
            let entry = entries.get_mut(id.index()).ok_or_else(|| Error::unknown_token(id, len))?;
            if let TokenEntry::Text(text) = entry {
                *entry = TokenEntry::Special(String::from_utf8_lossy(text).into_owned());
            }
        }
        let core = Core::new(entries)?;
        Ok(Self { core: Arc::new(core), eos: eos.into() })
    }

    /// The same vocabulary with other tokens to end a sequence.
    ///
    /// # Errors
    /// Where an id is beyond the vocabulary.
    pub fn with_eos(&self, eos: &[u32]) -> Result<Self, Error> {
        let mut ids: Vec<TokenId> = eos.iter().copied().map(TokenId::new).collect();
        if ids.iter().all(|&id| self.is_special(id)) {
            ids.sort_unstable();
            ids.dedup();
            return Ok(Self { core: Arc::clone(&self.core), eos: ids.into() });
        }
        Self::build(self.entries(), ids)
    }

    /// The same vocabulary with unused rows at its end, for a model whose logits have `len` rows.
    ///
    /// # Errors
    /// Where the vocabulary has more than `len` rows.
    pub fn padded_to(&self, len: usize) -> Result<Self, Error> {
        if len < self.len() {
            return Err(Error::inconsistent(format!(
                "the model has {len} rows of logits, but the vocabulary has {}: they do not belong together",
                self.len()
            )));
        }
        let mut entries = self.entries();
        entries.resize(len, TokenEntry::Unused);
        Self::build(entries, self.eos.to_vec())
    }

    fn entries(&self) -> Vec<TokenEntry> {
        self.ids()
            .map(|id| match self.core.kinds[id.index()] {
                Kind::Text => TokenEntry::Text(self.core.text(id.index()).to_vec()),
                Kind::Special => TokenEntry::Special(self.special_name(id).unwrap_or_default().to_owned()),
                Kind::Unused => TokenEntry::Unused,
            })
            .collect()
    }

    /// How many rows the vocabulary has, unused ones included.
    pub fn len(&self) -> usize {
        self.core.kinds.len()
    }

    /// How many 32-bit words a mask over it has: one bit for each row.
    ///
    /// ```
    /// # use formwork_mask::{TokenEntry, Vocabulary};
    /// let vocabulary = Vocabulary::from_tokens(vec![TokenEntry::Unused; 100], &[])?;
    /// assert_eq!(vocabulary.row_words(), 4);
    /// # Ok::<(), formwork_mask::Error>(())
    /// ```
    pub fn row_words(&self) -> usize {
        self.len().div_ceil(32)
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.core.kinds.is_empty()
    }

    /// All ids in order.
    pub fn ids(&self) -> impl Iterator<Item = TokenId> + use<> {
        (0..self.len()).filter_map(TokenId::from_index)
    }

    /// The bytes that a token stands for; `None` for special and unused ones and beyond the vocabulary.
    pub fn bytes(&self, token: TokenId) -> Option<&[u8]> {
        (self.core.kinds.get(token.index()) == Some(&Kind::Text)).then(|| self.core.text(token.index()))
    }

    /// Whether the token is special: it stands for no text.
    pub fn is_special(&self, token: TokenId) -> bool {
        self.core.kinds.get(token.index()) == Some(&Kind::Special)
    }

    /// The special token with this name.
    pub fn special(&self, name: &str) -> Option<TokenId> {
        self.core.special_ids.get(name).copied()
    }

    /// The name of a special token.
    pub fn special_name(&self, token: TokenId) -> Option<&str> {
        self.core.special_names.get(&token).map(String::as_str)
    }

    /// The special tokens with their names, in order of their ids; those that end a sequence are among them.
    pub fn specials(&self) -> impl Iterator<Item = (TokenId, &str)> {
        self.core.special_names.iter().map(|(&id, name)| (id, name.as_str()))
    }

    /// The tokens that end a sequence, in order of their ids.
    pub fn eos(&self) -> &[TokenId] {
        &self.eos
    }

    /// Length of the longest token in bytes.
    pub fn longest_token(&self) -> usize {
        self.core.longest
    }

    /// The bytes that are tokens of their own, as a set of 256 bits (bit *b* mod 64 of word *b* / 64).
    pub fn single_bytes(&self) -> [u64; 4] {
        self.core.single_bytes
    }

    /// Whether some token is this byte and no more.
    pub(crate) fn is_single(&self, byte: u8) -> bool {
        self.core.single_bytes[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
    }

    /// Splits text into tokens by taking the longest one that fits, again and again; `None` where none fits.
    ///
    /// This is not what the model's own tokenizer gives (it merges in another order), but any split is right for a constraint.
    pub fn longest_tokens(&self, text: &[u8]) -> Option<Vec<TokenId>> {
        spelling::longest_tokens(self, text)
    }

    /// SHA-256 over a canonical form of the rows and of the ids that end a sequence: equal for equal vocabularies, whatever they were
    /// read from, and however many unused rows follow.
    pub fn fingerprint(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(self.core.digest);
        for id in self.eos.iter() {
            hash.update(id.get().to_le_bytes());
        }
        hash.finalize().into()
    }

    /// Builds the tables that masks are computed from (a fraction of a second for 128k tokens), which otherwise the first masks wait for.
    pub fn prepare(&self) {
        self.trie();
        for class in CharClass::ALL {
            self.base(class).prepare(self);
        }
        self.loops().prepare(self);
        self.long();
        self.two_keys();
        self.brackets();
    }

    /// Bytes held on the heap, tables built so far included.
    pub fn heap_bytes(&self) -> usize {
        let core = &self.core;
        core.bytes.capacity()
            + core.ends.capacity() * size_of::<usize>()
            + core.kinds.capacity()
            + core.special_names.values().map(|n| 2 * n.len() + 64).sum::<usize>()
            + core.sorted.get().map_or(0, |s| s.capacity() * 4)
            + core.trie.get().map_or(0, Trie::heap_bytes)
            + core.profile.get().map_or(0, Profile::heap_bytes)
            + core.bases.iter().filter_map(OnceLock::get).map(Base::heap_bytes).sum::<usize>()
            + core.loops.get().map_or(0, CharLoops::heap_bytes)
            + core.quoted.heap_bytes()
            + core.common_parts.heap_bytes()
            + core.langs.heap_bytes()
            + [&core.long, &core.two_keys].into_iter().filter_map(OnceLock::get).map(Few::heap_bytes).sum::<usize>()
            + core.scratches.heap_bytes()
    }

    /// Work space for walks over this vocabulary, whatever the constraint.
    pub(crate) fn scratches(&self) -> &ScratchPool {
        &self.core.scratches
    }

    /// The special tokens that an automaton may read, in order of their ids: all, or none where no state of it reads one.
    pub(crate) fn specials_for<A: Automaton + ?Sized>(&self, automaton: &A) -> &[TokenId] {
        if automaton.reads_specials() { &self.core.special_list } else { &[] }
    }

    /// A token as errors show it.
    pub(crate) fn describe(&self, token: TokenId) -> String {
        match (self.bytes(token), self.special_name(token)) {
            (Some(bytes), _) => match std::str::from_utf8(bytes) {
                Ok(text) => format!("{text:?}"),
                Err(_) => format!("bytes {bytes:02X?}"),
            },
            (None, Some(name)) => format!("special token {name}"),
            (None, None) => "an unused row".into(),
        }
    }

    /// The trie of all tokens with text.
    pub(crate) fn trie(&self) -> &Trie {
        self.core.trie.get_or_init(|| {
            let profile = self.profile();
            self.trie_of(|_| true, |id| profile.chars(id))
        })
    }

    /// The tokens too long for states [near](Automaton::near) each other.
    pub(crate) fn long(&self) -> &Few {
        self.core.long.get_or_init(|| self.few(|text| text.len() > NEAR_BYTES.into()))
    }

    /// The tokens that may complete a key and another one that is the same.
    pub(crate) fn two_keys(&self) -> &Few {
        let parts = |text: &[u8]| text.split(|byte| *byte == b'"').count();
        self.core.two_keys.get_or_init(|| self.few(|text| parts(text) > QUOTES_OF_TWO_KEYS))
    }

    fn few(&self, is_of: impl Fn(&[u8]) -> bool) -> Few {
        let keep = |id: u32| self.bytes(TokenId::new(id)).is_some_and(&is_of);
        let ids = (0..to_u32(self.len())).filter(|id| keep(*id)).collect();
        Few { ids, trie: self.trie_of(keep, |_| 0) }
    }

    /// The tokens' classes and lengths in characters.
    pub(crate) fn profile(&self) -> &Profile {
        self.core.profile.get_or_init(|| Profile::new(self))
    }

    /// The tables of one character class.
    pub(crate) fn base(&self, class: CharClass) -> &Base {
        self.core.bases[class as usize].get_or_init(|| Base::new(self, class))
    }

    /// The tables by which walks pass over what may follow a quote: the node at this index of one of the vocabulary's tries.
    pub(crate) fn quoted(&self, trie: &Trie, at: u32) -> Arc<Quoted> {
        self.core.quoted.below(self, trie, at)
    }

    /// The languages that constraints for this vocabulary have in common.
    pub fn langs(&self) -> &LangPool {
        &self.core.langs
    }

    /// The parts of masks that all constraints have in common.
    pub(crate) fn common_parts(&self) -> &CommonParts {
        &self.core.common_parts
    }

    /// The most closing brackets that a token has behind a quote, before anything but blanks and commas.
    pub(crate) fn brackets(&self) -> u32 {
        *self.core.brackets.get_or_init(|| {
            let most = |text: &[u8]| text.split(|byte| *byte == b'"').skip(1).map(brackets_of).max().unwrap_or(0);
            self.ids().filter_map(|id| self.bytes(id)).map(most).max().unwrap_or(0)
        })
    }

    /// The tables by which walks pass over what loops of characters read.
    pub(crate) fn loops(&self) -> &CharLoops {
        self.core.loops.get_or_init(|| CharLoops::new(self))
    }

    /// The trie of some of the tokens with text.
    pub(crate) fn trie_of(&self, keep: impl Fn(u32) -> bool, chars: impl Fn(u32) -> u8) -> Trie {
        let tokens = self.sorted().iter().filter(|&&id| keep(id)).map(|&id| (self.core.text(id as usize), id));
        Trie::from_sorted(tokens, chars)
    }

    /// Ids of the tokens with at least one byte, by their bytes.
    pub(crate) fn sorted(&self) -> &[u32] {
        self.core.sorted.get_or_init(|| {
            let mut ids: Vec<u32> = (0_u32..)
                .zip(&self.core.kinds)
                .filter(|&(id, &kind)| kind == Kind::Text && !self.core.text(id as usize).is_empty())
                .map(|(id, _)| id)
                .collect();
            ids.sort_unstable_by_key(|&id| (self.core.text(id as usize), id));
            ids
        })
    }
}

impl Core {
    fn new(entries: Vec<TokenEntry>) -> Result<Self, Error> {
        if entries.len() > Trie::MAX_TOKENS {
            return Err(Error::inconsistent(format!(
                "the vocabulary has {} rows; at most {} are supported",
                entries.len(),
                Trie::MAX_TOKENS
            )));
        }
        let digest = digest(&entries);
        let mut core = Self {
            bytes: Vec::new(),
            ends: Vec::with_capacity(entries.len()),
            kinds: Vec::with_capacity(entries.len()),
            special_names: BTreeMap::new(),
            special_list: Vec::new(),
            special_ids: FxHashMap::default(),
            longest: 0,
            single_bytes: [0; 4],
            digest,
            sorted: OnceLock::new(),
            trie: OnceLock::new(),
            profile: OnceLock::new(),
            bases: Default::default(),
            loops: OnceLock::new(),
            quoted: QuotedTables::default(),
            common_parts: CommonParts::default(),
            brackets: OnceLock::new(),
            langs: LangPool::default(),
            long: OnceLock::new(),
            two_keys: OnceLock::new(),
            scratches: ScratchPool::default(),
        };
        for (id, entry) in (0_u32..).zip(entries) {
            let kind = match entry {
                TokenEntry::Text(text) => {
                    if text.len() > Trie::MAX_TOKEN_BYTES {
                        return Err(Error::inconsistent(format!(
                            "token {id} has {} bytes; at most {} are supported",
                            text.len(),
                            Trie::MAX_TOKEN_BYTES
                        )));
                    }
                    core.longest = core.longest.max(text.len());
                    if let [byte] = text[..] {
                        core.single_bytes[usize::from(byte / 64)] |= 1 << (byte % 64);
                    }
                    core.bytes.extend_from_slice(&text);
                    Kind::Text
                }
                TokenEntry::Special(name) => {
                    core.special_ids.entry(name.clone()).or_insert(TokenId::new(id));
                    core.special_names.insert(TokenId::new(id), name);
                    core.special_list.push(TokenId::new(id));
                    Kind::Special
                }
                TokenEntry::Unused => Kind::Unused,
            };
            core.ends.push(core.bytes.len());
            core.kinds.push(kind);
        }
        Ok(core)
    }

    fn text(&self, index: usize) -> &[u8] {
        let start = match index {
            0 => 0,
            i => self.ends[i - 1],
        };
        &self.bytes[start..self.ends[index]]
    }
}

/// The closing brackets that a text begins with, among blanks and commas.
fn brackets_of(text: &[u8]) -> u32 {
    let structure = text.iter().take_while(|byte| is_structure(**byte));
    to_u32(structure.filter(|byte| matches!(byte, b'}' | b']')).count())
}

/// Whether a byte is a blank, a comma or a closing bracket.
pub(crate) const fn is_structure(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b',' | b'}' | b']')
}

/// SHA-256 over the rows: a letter, the length as 8 bytes, the text or name.
fn digest(entries: &[TokenEntry]) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(b"formwork vocabulary 1\n");
    let used = entries.iter().rposition(|entry| !matches!(entry, TokenEntry::Unused)).map_or(0, |last| last + 1);
    for entry in &entries[..used] {
        let (letter, content): (&[u8; 1], &[u8]) = match entry {
            TokenEntry::Text(text) => (b"t", text),
            TokenEntry::Special(name) => (b"s", name.as_bytes()),
            TokenEntry::Unused => (b"-", &[]),
        };
        hash.update(letter);
        hash.update((content.len() as u64).to_le_bytes());
        hash.update(content);
    }
    hash.finalize().into()
}

/// Ids by name, of special tokens and of texts that look like one (`</s>` marked as text by mistake).
fn special_ids(entries: &[TokenEntry]) -> FxHashMap<String, TokenId> {
    let mut names = FxHashMap::default();
    for (id, entry) in (0_u32..).zip(entries) {
        let name = match entry {
            TokenEntry::Special(name) => name.clone(),
            TokenEntry::Text(text) if text.first() == Some(&b'<') && text.last() == Some(&b'>') => {
                String::from_utf8_lossy(text).into_owned()
            }
            _ => continue,
        };
        names.entry(name).or_insert(TokenId::new(id));
    }
    names
}

impl fmt::Debug for Vocabulary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vocabulary")
            .field("tokens", &self.len())
            .field("special", &self.core.special_names.len())
            .field("eos", &self.eos)
            .finish_non_exhaustive()
    }
}
