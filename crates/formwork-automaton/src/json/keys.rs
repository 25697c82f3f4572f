//! The keys of an object position: those known by name, and the classes that patterns sort the others into.

use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;

use super::JsonAutomaton;
use super::form::{Form, FormId};
use super::liveness::NEVER;
use super::object::{OFF, ObjectAtom};
use super::stand_in::ESCAPED;
use crate::automaton::NextKey;
use crate::interner::to_u32;
use crate::lang::{Lang, LangState};

/// The keys that an object position knows by name: first those with a place in the order (the *list*), then the rest.
#[derive(Debug)]
pub(super) struct KeyMachine {
    /// Text ids; the index of a key is its place here.
    pub(super) keys: Box<[u32]>,
    /// How many of them are on the list.
    pub(super) listed: u32,
    pub(super) position: u32,
    by_text: FxHashMap<u32, u32>,
    /// A key's place among all keys sorted by their bytes, and the inverse.
    rank: Box<[u32]>,
    by_rank: Box<[u32]>,
    trie: Vec<TrieNode>,
    is_named: bool,
    is_plain: bool,
    /// Languages that the alternatives tell keys apart by: patterns, and the names that are allowed.
    pub(super) langs: Box<[Lang]>,
    /// All keys that are not known, by which of those languages they are in.
    pub(super) classes: Box<[KeyClass]>,
}

/// The unknown keys that are in the same languages.
#[derive(Debug)]
pub(super) struct KeyClass {
    pub(super) lang: Lang,
    pub(super) start: LangState,
    /// The machine's languages that they are in, ascending.
    pub(super) matched: Box<[Lang]>,
}

/// A key as a machine knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum KeyRef {
    /// A known key's index.
    Known(u32),
    /// Any key of a class.
    Class(u32),
}

impl PartialEq for KeyMachine {
    fn eq(&self, other: &Self) -> bool {
        (&self.keys, self.listed, self.position, &self.langs)
            == (&other.keys, other.listed, other.position, &other.langs)
    }
}

impl Eq for KeyMachine {}

impl std::hash::Hash for KeyMachine {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (&self.keys, self.listed, self.position, &self.langs).hash(state);
    }
}

/// A node of the trie of known keys; the keys below it are a range of ranks.
#[derive(Debug, Default)]
struct TrieNode {
    children: Vec<(u8, u32)>,
    first: u32,
    last: u32,
    key: Option<u32>,
}

/// Keys of which one must be read, as a trie of their bytes as they are written.
#[derive(Clone, Copy, Debug)]
pub struct KnownKeys<'a> {
    machine: &'a KeyMachine,
    ranks: &'a [u32],
}

impl KnownKeys<'_> {
    /// The bytes that lead on from a node, each with the node that it leads to.
    pub fn children(&self, node: u32) -> &[(u8, u32)] {
        self.machine.trie.get(node as usize).map_or(&[], |node| &node.children)
    }

    /// Whether one of the keys lies at a node or below it.
    pub fn any_below(&self, node: u32) -> bool {
        self.machine.any_below(node, self.ranks)
    }

    /// Whether one of the keys may end at a node: its quote, then, is to be tried.
    pub fn may_end(&self, node: u32) -> bool {
        self.machine.key_at(node).is_some()
    }
}

/// What one alternative says of the keys that a machine knows.
#[derive(Debug)]
pub(super) struct AtomKeys {
    /// The form of each known key's value, by index.
    pub(super) forms: Box<[FormId]>,
    /// The form of the values of each class of keys.
    pub(super) classes: Box<[FormId]>,
    /// Required keys by index, ascending.
    pub(super) required: Box<[u32]>,
    /// Members are counted, or atoms excluded.
    pub(super) complex: bool,
    live: OnceLock<Live>,
}

/// Which keys of an alternative have a value. Found apart from the rest: it is not known yet while costs are computed.
#[derive(Debug)]
pub(super) struct Live {
    /// Whether the key can be spelled and some value satisfies its form, by index.
    pub(super) known: Box<[bool]>,
    /// Whether some value satisfies the form of a class.
    pub(super) classes: Box<[bool]>,
}

/// Bytes that are written to list a language's texts.
const MOST_WORK: usize = 1 << 22;

impl KeyMachine {
    pub(super) fn new(
        automaton: &JsonAutomaton,
        mut keys: Vec<u32>,
        listed: u32,
        langs: Box<[Lang]>,
        position: u32,
    ) -> Self {
        let classes = automaton.key_classes(&mut keys, &langs);
        let text = |id: u32| automaton.texts.get(id).as_bytes();
        let mut by_rank: Vec<u32> = (0..to_u32(keys.len())).collect();
        by_rank.sort_unstable_by(|a, b| text(keys[*a as usize]).cmp(text(keys[*b as usize])));
        let mut rank = vec![0; keys.len()];
        let mut trie = vec![TrieNode::default()];
        for (place, &index) in (0..).zip(&by_rank) {
            rank[index as usize] = place;
            let mut node = 0_usize;
            let grown = |node: &mut TrieNode| {
                if node.last == node.first {
                    node.first = place;
                }
                node.last = place + 1;
            };
            grown(&mut trie[node]);
            for &byte in text(keys[index as usize]) {
                let child = trie[node].children.iter().find(|(b, _)| *b == byte).map(|(_, child)| *child);
                node = if let Some(child) = child {
                    child as usize
                } else {
                    let child = to_u32(trie.len());
                    trie.push(TrieNode::default());
                    trie[node].children.push((byte, child));
                    child as usize
                };
                grown(&mut trie[node]);
            }
            trie[node].key = Some(index);
        }
        let by_text = keys.iter().copied().zip(0..).collect();
        let is_named = trie[0].key.is_none() && trie[0].children.iter().all(|(byte, _)| NextKey::is_first(*byte));
        let is_plain = keys.iter().all(|key| text(*key).iter().all(|byte| !ESCAPED.contains(*byte)));
        Self {
            is_named,
            is_plain,
            listed,
            position,
            by_text,
            rank: rank.into(),
            by_rank: by_rank.into(),
            trie,
            langs,
            classes,
            keys: keys.into(),
        }
    }

    /// The trie's node after one more byte.
    pub(super) fn child(&self, node: u32, byte: u8) -> u32 {
        let Some(node) = self.trie.get(node as usize) else { return OFF };
        node.children.iter().find(|(b, _)| *b == byte).map_or(OFF, |(_, child)| *child)
    }

    /// The bytes that known keys go on with at a node.
    pub(super) fn bytes_at(&self, node: u32) -> impl Iterator<Item = u8> {
        self.trie.get(node as usize).into_iter().flat_map(|node| node.children.iter().map(|(byte, _)| *byte))
    }

    /// The bytes that keys with these ranks go on with at a node.
    pub(super) fn bytes_to<'a>(&'a self, node: u32, ranks: &'a [u32]) -> impl Iterator<Item = u8> + 'a {
        let children = self.trie.get(node as usize).into_iter().flat_map(|node| &node.children);
        children.filter(|(_, child)| self.any_below(*child, ranks)).map(|(byte, _)| *byte)
    }

    /// The ways that lead to the keys with these ranks; `None` where some key is written otherwise than byte by byte.
    pub(super) fn ways<'a>(&'a self, ranks: &'a [u32]) -> Option<KnownKeys<'a>> {
        self.is_plain.then_some(KnownKeys { machine: self, ranks })
    }

    /// Whether every known key begins as [`NextKey::Named`] says.
    pub(super) fn is_named(&self) -> bool {
        self.is_named
    }

    /// The known key that ends at a node.
    pub(super) fn key_at(&self, node: u32) -> Option<u32> {
        self.trie.get(node as usize)?.key
    }

    /// Whether one of the keys with these ranks (ascending) lies below a node.
    pub(super) fn any_below(&self, node: u32, ranks: &[u32]) -> bool {
        let Some(node) = self.trie.get(node as usize) else { return false };
        ranks.get(ranks.partition_point(|r| *r < node.first)).is_some_and(|r| *r < node.last)
    }

    /// The keys with these ranks below a node.
    pub(super) fn keys_below<'a>(&'a self, node: u32, ranks: &'a [u32]) -> impl Iterator<Item = u32> + 'a {
        let (first, last) = self.trie.get(node as usize).map_or((0, 0), |node| (node.first, node.last));
        let below = &ranks[ranks.partition_point(|r| *r < first)..];
        below.iter().take_while(move |r| **r < last).filter_map(|r| self.by_rank.get(*r as usize).copied())
    }

    /// The trie's node after a character.
    pub(super) fn child_char(&self, node: u32, c: char) -> u32 {
        let mut bytes = [0; 4];
        c.encode_utf8(&mut bytes).bytes().fold(node, |node, byte| self.child(node, byte))
    }

    /// Whether one of the keys with these ranks goes on below a node with a character in `lo..=hi`.
    pub(super) fn any_char_below(&self, node: u32, chars: &[(u32, u32)], ranks: &[u32]) -> bool {
        let Some(here) = self.trie.get(node as usize) else { return false };
        here.children.iter().any(|&(byte, child)| {
            let (code, more) = match byte {
                0..=0x7F => (u32::from(byte), 0),
                0xC0..=0xDF => (u32::from(byte & 0x1F), 1),
                0xE0..=0xEF => (u32::from(byte & 0x0F), 2),
                _ => (u32::from(byte & 0x07), 3),
            };
            chars.iter().any(|&(lo, hi)| self.any_code_below(child, code, more, lo, hi, ranks))
        })
    }

    fn any_code_below(&self, node: u32, code: u32, more: u32, lo: u32, hi: u32, ranks: &[u32]) -> bool {
        if more == 0 {
            return (lo..=hi).contains(&code) && self.any_below(node, ranks);
        }
        let Some(here) = self.trie.get(node as usize) else { return false };
        here.children.iter().any(|&(byte, child)| {
            self.any_code_below(child, code << 6 | u32::from(byte & 0x3F), more - 1, lo, hi, ranks)
        })
    }

    /// Whether keys are told apart by languages: only then can the unknown keys of a prefix be finitely many.
    pub(super) fn has_patterns(&self) -> bool {
        !self.langs.is_empty()
    }

    pub(super) fn rank(&self, key: u32) -> u32 {
        self.rank[key as usize]
    }

    pub(super) fn index_of(&self, text: u32) -> Option<u32> {
        self.by_text.get(&text).copied()
    }
}

/// A class of at most so many keys is spelled out: its keys become known ones.
const FEW_KEYS: u64 = 64;
/// Classes of one machine; more than these are left out, and that is counted.
const MAX_CLASSES: usize = 1 << 10;

impl JsonAutomaton {
    /// The classes of the keys that are not known. Small classes become known keys.
    fn key_classes(&self, keys: &mut Vec<u32>, langs: &[Lang]) -> Box<[KeyClass]> {
        loop {
            let before = keys.len();
            let classes = self.large_classes(keys, langs);
            // Classes go by all keys that are known in the end, not by those that were known to begin with.
            if keys.len() == before {
                return classes;
            }
        }
    }

    /// The classes of the keys that are not known, but for small ones: their keys are added to those known.
    fn large_classes(&self, keys: &mut Vec<u32>, langs: &[Lang]) -> Box<[KeyClass]> {
        let known = if keys.is_empty() {
            self.langs.any()
        } else {
            self.langs.not(self.langs.literals(keys.iter().map(|k| &**self.texts.get(*k))))
        };
        let mut classes: Vec<(Lang, Vec<Lang>)> = vec![(known, Vec::new())];
        for &lang in langs {
            let mut split = Vec::with_capacity(classes.len() + 1);
            for (class, matched) in classes {
                let inside = self.langs.and(class, lang);
                let outside = self.langs.minus(class, lang);
                if !self.langs.is_empty(inside) {
                    let mut matched = matched.clone();
                    matched.push(lang);
                    split.push((inside, matched));
                }
                if !self.langs.is_empty(outside) {
                    split.push((outside, matched));
                }
            }
            if split.len() > MAX_CLASSES {
                split.truncate(MAX_CLASSES);
                self.note_undecided();
            }
            classes = split;
        }
        let mut out = Vec::with_capacity(classes.len());
        for (lang, matched) in classes {
            let Some(start) = self.langs.start(lang) else { continue };
            let few = if langs.is_empty() { None } else { self.few_texts(start, FEW_KEYS) };
            if let Some(texts) = few {
                keys.extend(texts.iter().map(|text| self.text(text)));
            } else {
                out.push(KeyClass { lang, start, matched: matched.into() });
            }
        }
        out.into()
    }

    /// All completions of a state, where there are at most so many and that is seen with little work.
    pub(super) fn few_texts(&self, start: LangState, most: u64) -> Option<Vec<String>> {
        // Where counting gives up, it says less than there are.
        if self.langs.count(start, most.saturating_add(1)) > most {
            return None;
        }
        let mut out = Vec::new();
        let mut open = vec![(start, Vec::new())];
        let mut work = 0_usize;
        while let Some((state, bytes)) = open.pop() {
            work = work.saturating_add(bytes.len()).saturating_add(1);
            if work > MOST_WORK || out.len() as u64 > most {
                self.note_undecided();
                return None;
            }
            if self.langs.is_accepting(state) {
                out.extend(String::from_utf8(bytes.clone()).ok());
            }
            for byte in 0..=u8::MAX {
                if let Some(next) = self.langs.step(state, byte) {
                    let mut bytes = bytes.clone();
                    bytes.push(byte);
                    open.push((next, bytes));
                }
            }
        }
        out.sort_unstable();
        Some(out)
    }

    /// What the value of a named key must satisfy.
    pub(super) fn named_form(&self, atom: &ObjectAtom, key: u32) -> FormId {
        let text = self.texts.get(key);
        if atom.names.is_some_and(|names| !self.langs.contains(names, text)) {
            return self.form(Form::False);
        }
        self.all_of(atom.groups.iter().flat_map(|group| {
            let group = self.object_groups.get(*group);
            let declared = group.properties.iter().find(|(k, _)| *k == key).map(|(_, form)| *form);
            let matched = group.patterns.iter().filter(|(lang, _)| self.langs.contains(*lang, text));
            let mut forms: Vec<FormId> = declared.into_iter().chain(matched.map(|(_, form)| *form)).collect();
            if forms.is_empty() {
                forms.push(group.additional);
            }
            forms
        }))
    }

    /// What the values of a class of keys must satisfy.
    pub(super) fn class_form(&self, atom: &ObjectAtom, class: &KeyClass) -> FormId {
        let is_in = |lang: &Lang| class.matched.contains(lang);
        if atom.names.is_some_and(|names| !is_in(&names)) {
            return self.form(Form::False);
        }
        self.all_of(atom.groups.iter().flat_map(|group| {
            let group = self.object_groups.get(*group);
            let mut forms: Vec<FormId> =
                group.patterns.iter().filter(|(lang, _)| is_in(lang)).map(|(_, form)| *form).collect();
            if forms.is_empty() {
                forms.push(group.additional);
            }
            forms
        }))
    }

    /// What an alternative says of a key's value.
    pub(super) fn key_form(&self, machine: &KeyMachine, atom: &ObjectAtom, key: KeyRef) -> FormId {
        match key {
            KeyRef::Known(key) => self.named_form(atom, machine.keys[key as usize]),
            KeyRef::Class(class) => self.class_form(atom, &machine.classes[class as usize]),
        }
    }

    /// Whether the names that an atom allows include a key.
    pub(super) fn is_name(&self, machine: &KeyMachine, atom: &ObjectAtom, key: KeyRef) -> bool {
        let Some(names) = atom.names else { return true };
        match key {
            KeyRef::Known(key) => self.langs.contains(names, self.texts.get(machine.keys[key as usize])),
            KeyRef::Class(class) => machine.classes[class as usize].matched.contains(&names),
        }
    }

    /// What an alternative says of a machine's keys; looked up once for each pair.
    pub(super) fn atom_keys(&self, machine_id: u32, atom: u32) -> Arc<AtomKeys> {
        self.atom_keys.get_or((machine_id, atom), || {
            let machine = self.machines.get(machine_id);
            let this = self.object_atoms.get(atom);
            let mut parts: Vec<Vec<FormId>> = vec![Vec::new(); machine.keys.len()];
            for group in &this.groups {
                let group = self.object_groups.get(*group);
                let declared: FxHashMap<u32, FormId> = group.properties.iter().copied().collect();
                for (parts, key) in parts.iter_mut().zip(&machine.keys) {
                    let before = parts.len();
                    parts.extend(declared.get(key));
                    let text = self.texts.get(*key);
                    let matched = group.patterns.iter().filter(|(lang, _)| self.langs.contains(*lang, text));
                    parts.extend(matched.map(|(_, form)| *form));
                    if parts.len() == before {
                        parts.push(group.additional);
                    }
                }
            }
            let is_allowed = |key: u32| this.names.is_none_or(|n| self.langs.contains(n, self.texts.get(key)));
            let forms: Box<[FormId]> = parts
                .into_iter()
                .zip(&machine.keys)
                .map(|(parts, key)| if is_allowed(*key) { self.all_of(parts) } else { self.form(Form::False) })
                .collect();
            let classes = machine.classes.iter().map(|class| self.class_form(this, class)).collect();
            let mut required: Box<[u32]> = this.required.iter().filter_map(|k| machine.index_of(*k)).collect();
            required.sort_unstable();
            let complex = this.is_complex();
            Arc::new(AtomKeys { forms, classes, required, complex, live: OnceLock::new() })
        })
    }

    /// Which of an alternative's keys have a value.
    pub(super) fn live_keys<'a>(&self, machine: &KeyMachine, keys: &'a AtomKeys) -> &'a Live {
        keys.live.get_or_init(|| Live {
            known: keys
                .forms
                .iter()
                .zip(&machine.keys)
                .map(|(form, key)| self.key_cost(*key) != NEVER && self.cost(*form) != NEVER)
                .collect(),
            classes: keys.classes.iter().map(|form| self.cost(*form) != NEVER).collect(),
        })
    }

    /// The class of an unknown key.
    pub(super) fn class_of(&self, machine: &KeyMachine, text: &[u8]) -> Option<u32> {
        match &*machine.classes {
            [_] => Some(0),
            classes => {
                let is_of =
                    |class: &KeyClass| self.text_to(class.start, text).is_some_and(|end| self.langs.is_accepting(end));
                (0..).zip(classes).find(|(_, class)| is_of(class)).map(|(index, _)| index)
            }
        }
    }
}
