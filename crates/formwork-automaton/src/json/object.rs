//! Objects: alternatives with declared keys, a form for the others, and required keys.

use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;

use super::JsonAutomaton;
use super::array::{join, tag_of};
use super::form::FormId;
use super::liveness::NEVER;
use super::situation::{Await, Goal, Situation};
use crate::lang::LangState;

/// `properties` and `additionalProperties` of one subschema.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ObjectGroup {
    /// (text id of the key, form of its value), in document order.
    pub(super) properties: Box<[(u32, FormId)]>,
    /// What the values of other keys must satisfy.
    pub(super) additional: FormId,
}

/// A plain condition on objects: every group's forms hold, and the required keys are there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct ObjectAtom {
    /// Ids of groups, ascending.
    pub(super) groups: Box<[u32]>,
    /// Text ids of the required keys, ascending.
    pub(super) required: Box<[u32]>,
}

impl ObjectAtom {
    pub(super) fn meet(&self, other: &Self) -> Self {
        Self { groups: join(&self.groups, &other.groups), required: join(&self.required, &other.required) }
    }
}

/// The alternatives of an object between two members.
#[derive(Debug)]
pub(super) struct ObjectState {
    /// (tag, atom)
    pub(super) alts: Box<[(u16, u32)]>,
    pub(super) machine: u32,
    /// Listed keys before this index can't come any more.
    pub(super) next: u32,
    /// Indices of known keys used whose use `next` does not tell, ascending.
    pub(super) used: Box<[u32]>,
    allowed: OnceLock<Box<[u32]>>,
}

impl PartialEq for ObjectState {
    fn eq(&self, other: &Self) -> bool {
        (&self.alts, self.machine, self.next, &self.used) == (&other.alts, other.machine, other.next, &other.used)
    }
}

impl Eq for ObjectState {}

impl std::hash::Hash for ObjectState {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (&self.alts, self.machine, self.next, &self.used).hash(state);
    }
}

/// A member or an item to be read: what it is asked, and what its end leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) goal: u32,
    pub(super) awaits: u32,
}

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
    /// The language of all keys that are not known.
    pub(super) others: Option<LangState>,
}

impl PartialEq for KeyMachine {
    fn eq(&self, other: &Self) -> bool {
        (&self.keys, self.listed, self.position) == (&other.keys, other.listed, other.position)
    }
}

impl Eq for KeyMachine {}

impl std::hash::Hash for KeyMachine {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (&self.keys, self.listed, self.position).hash(state);
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

/// What one alternative says of the keys that a machine knows.
#[derive(Debug)]
pub(super) struct AtomKeys {
    /// The form of each key's value, by index.
    forms: Box<[FormId]>,
    /// Whether the key can be spelled and some value satisfies its form, by index.
    live: Box<[bool]>,
    /// The form of other keys' values, where some value satisfies it.
    other: Option<FormId>,
    /// Required keys by index, ascending.
    required: Box<[u32]>,
}

/// No node: the text is no known key's beginning.
pub(super) const OFF: u32 = u32::MAX;

impl KeyMachine {
    fn new(automaton: &JsonAutomaton, keys: Vec<u32>, listed: u32, position: u32) -> Self {
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
        let langs = &automaton.langs;
        let any = langs.start(langs.any());
        let others = if keys.is_empty() {
            any
        } else {
            langs.start(langs.not(langs.literals(keys.iter().map(|k| &**automaton.texts.get(*k)))))
        };
        // Without a character to write, the empty key would be the only one, and used up by one member.
        let endless = any.is_some_and(|any| (0..=u8::MAX).any(|byte| langs.step(any, byte).is_some()));
        let others = others.filter(|_| endless);
        let by_text = keys.iter().copied().zip(0..).collect();
        Self { listed, position, by_text, rank: rank.into(), by_rank: by_rank.into(), trie, others, keys: keys.into() }
    }

    /// The trie's node after one more byte.
    pub(super) fn child(&self, node: u32, byte: u8) -> u32 {
        let Some(node) = self.trie.get(node as usize) else { return OFF };
        node.children.iter().find(|(b, _)| *b == byte).map_or(OFF, |(_, child)| *child)
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

    /// Whether one of the keys with these ranks goes on below a node with a character in the ranges.
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

    pub(super) fn rank(&self, key: u32) -> u32 {
        self.rank[key as usize]
    }

    fn index_of(&self, text: u32) -> Option<u32> {
        self.by_text.get(&text).copied()
    }
}

impl JsonAutomaton {
    pub(super) fn object_state(&self, alts: Box<[(u16, u32)]>, machine: u32, next: u32, used: Box<[u32]>) -> u32 {
        self.object_states.intern(ObjectState { alts, machine, next, used, allowed: OnceLock::new() })
    }

    /// What the value of a key must satisfy; `None`: a key that no group declares.
    pub(super) fn member_form(&self, atom: u32, key: Option<u32>) -> FormId {
        let groups = &self.object_atoms.get(atom).groups;
        self.all_of(groups.iter().map(|g| {
            let group = self.object_groups.get(*g);
            let declared = key.and_then(|key| group.properties.iter().find(|(k, _)| *k == key));
            declared.map_or(group.additional, |(_, form)| *form)
        }))
    }

    /// The required members: key and form.
    pub(super) fn needed_members(&self, atom: u32) -> Vec<(u32, FormId)> {
        let required = &self.object_atoms.get(atom).required;
        required.iter().map(|key| (*key, self.member_form(atom, Some(*key)))).collect()
    }

    /// Bytes of a key as it is written, with its quotes, or [`NEVER`] where the vocabulary can't spell it.
    pub(super) fn key_cost(&self, key: u32) -> u32 {
        let text = self.texts.get(key);
        if self.langs.contains(self.langs.any(), text) { to_u32(text.len()).saturating_add(2) } else { NEVER }
    }

    /// The state after `{`, for the atoms of each tag.
    pub(super) fn open_object(&self, atoms: &[(u16, u32)], position: u32) -> Option<Situation> {
        let alts: Box<[_]> = atoms.iter().copied().filter(|(_, atom)| self.object_cost(*atom) != NEVER).collect();
        if alts.is_empty() {
            return None;
        }
        let mut keys: Vec<u32> = self.positions.names(&self.schema, position).iter().map(|k| self.text(k)).collect();
        let listed = to_u32(keys.len());
        let mut known: rustc_hash::FxHashSet<u32> = keys.iter().copied().collect();
        for (_, atom) in &alts {
            let atom = self.object_atoms.get(*atom);
            let declared =
                atom.groups.iter().flat_map(|g| self.object_groups.get(*g).properties.iter().map(|(k, _)| *k));
            for key in declared.chain(atom.required.iter().copied()) {
                if known.insert(key) {
                    keys.push(key);
                }
            }
        }
        let machine = self.machines.intern(KeyMachine::new(self, keys, listed, position));
        Some(Situation::ObjectOpen { object: self.object_state(alts, machine, 0, Box::default()) })
    }

    /// Whether a required key of an alternative, by index, is still to come.
    fn is_open(state: &ObjectState, machine: &KeyMachine, key: u32) -> bool {
        if key < machine.listed { key >= state.next } else { state.used.binary_search(&key).is_err() }
    }

    /// What an alternative says of a machine's keys; looked up once for each pair.
    fn atom_keys(&self, machine_id: u32, atom: u32) -> Arc<AtomKeys> {
        self.atom_keys.get_or((machine_id, atom), || {
            let machine = self.machines.get(machine_id);
            let this = self.object_atoms.get(atom);
            let mut parts: Vec<Vec<FormId>> = vec![Vec::new(); machine.keys.len()];
            for group in &this.groups {
                let group = self.object_groups.get(*group);
                let declared: FxHashMap<u32, FormId> = group.properties.iter().copied().collect();
                for (parts, key) in parts.iter_mut().zip(&machine.keys) {
                    parts.push(declared.get(key).copied().unwrap_or(group.additional));
                }
            }
            let forms: Box<[FormId]> = parts.into_iter().map(|parts| self.all_of(parts)).collect();
            let members = self.most_members_spelled() > Some(0);
            let live = forms
                .iter()
                .zip(&machine.keys)
                .map(|(form, key)| members && self.key_cost(*key) != NEVER && self.cost(*form) != NEVER)
                .collect();
            let other = Some(self.member_form(atom, None)).filter(|form| members && self.cost(*form) != NEVER);
            let mut required: Box<[u32]> = this.required.iter().filter_map(|k| machine.index_of(*k)).collect();
            required.sort_unstable();
            Arc::new(AtomKeys { forms, live, other, required })
        })
    }

    /// The required keys of an alternative that are still to come, by index, ascending.
    pub(super) fn open_keys(&self, state: &ObjectState, atom: u32) -> Vec<u32> {
        let machine = self.machines.get(state.machine);
        let keys = self.atom_keys(state.machine, atom);
        keys.required.iter().copied().filter(|k| Self::is_open(state, machine, *k)).collect()
    }

    /// The first listed key that an alternative still requires: keys after it are not for this alternative.
    fn first_open(state: &ObjectState, machine: &KeyMachine, keys: &AtomKeys) -> u32 {
        let at = keys.required.partition_point(|k| *k < state.next);
        keys.required.get(at).copied().filter(|k| *k < machine.listed).unwrap_or(u32::MAX)
    }

    /// Whether an alternative can be finished after a member with this key: where no comma can be spelled, that member is the last.
    fn can_follow(&self, state: &ObjectState, atom: u32, key: Option<u32>) -> bool {
        self.spells_joint() || self.open_keys(state, atom).iter().all(|open| Some(*open) == key)
    }

    fn is_complete(&self, state: &ObjectState, atom: u32) -> bool {
        let machine = self.machines.get(state.machine);
        !self.atom_keys(state.machine, atom).required.iter().any(|k| Self::is_open(state, machine, *k))
    }

    /// The tags whose alternatives accept the object as it stands.
    pub(super) fn object_tags(&self, object: u32) -> Option<u32> {
        let state = self.object_states.get(object);
        self.tags(state.alts.iter().filter(|(_, atom)| self.is_complete(state, *atom)).map(|(tag, _)| *tag))
    }

    /// The member that a key begins: its goal, and what its end leads to. `None` where no alternative allows it.
    pub(super) fn object_member(&self, object: u32, key: Option<u32>) -> Option<Member> {
        self.object_members.get_or((object, key.unwrap_or(OFF)), || {
            let state = self.object_states.get(object);
            let machine = self.machines.get(state.machine);
            let next = match key {
                Some(key) if key < machine.listed => key + 1,
                _ => machine.listed,
            };
            if key.is_some_and(|key| !Self::is_open(state, machine, key)) {
                return None;
            }
            // A listed key that is passed over can't come later: alternatives that require it die.
            let reach = key.unwrap_or(machine.listed).min(machine.listed);
            let mut forms: Vec<FormId> = Vec::new();
            let mut alts = Vec::with_capacity(state.alts.len());
            for &(tag, atom) in &state.alts {
                let keys = self.atom_keys(state.machine, atom);
                let form = match key {
                    Some(key) => keys.live[key as usize].then(|| keys.forms[key as usize]),
                    None => keys.other,
                };
                let in_order = reach <= Self::first_open(state, machine, &keys);
                if let Some(form) = form.filter(|_| in_order && self.can_follow(state, atom, key)) {
                    alts.push((tag_of(form, &mut forms), tag, atom));
                }
            }
            if alts.is_empty() {
                return None;
            }
            let text = key.map(|key| machine.keys[key as usize]);
            let used = match key {
                Some(key) if key >= machine.listed => join(&state.used, &[key]),
                _ => state.used.clone(),
            };
            let name = text.map(|text| &**self.texts.get(text));
            let position = self.positions.member(&self.schema, machine.position, name);
            let goal = self.goals.intern(Goal { forms: forms.into(), position });
            let awaits = self.awaits.intern(Await::Object { alts: alts.into(), machine: state.machine, next, used });
            Some(Member { goal, awaits })
        })
    }

    /// Ranks of the known keys that may come next, ascending.
    pub(super) fn allowed_keys(&self, object: u32) -> &[u32] {
        let state = self.object_states.get(object);
        state.allowed.get_or_init(|| {
            let machine = self.machines.get(state.machine);
            let alts: Vec<_> = state
                .alts
                .iter()
                .map(|(_, atom)| (*atom, self.atom_keys(state.machine, *atom)))
                .map(|(atom, keys)| (Self::first_open(state, machine, &keys), atom, keys))
                .collect();
            // Beyond the last listed key that no alternative passes over, nothing is allowed.
            let last = alts.iter().map(|(first, ..)| *first).max().unwrap_or(0);
            let end = to_u32(machine.keys.len()).min(last.saturating_add(1));
            let start = state.next.min(machine.listed);
            let allowed = |key: &u32| {
                let reach = (*key).min(machine.listed);
                Self::is_open(state, machine, *key)
                    && alts.iter().any(|(first, atom, keys)| {
                        reach <= *first && keys.live[*key as usize] && self.can_follow(state, *atom, Some(*key))
                    })
            };
            let mut ranks: Vec<u32> = (start..end).filter(allowed).map(|key| machine.rank(key)).collect();
            ranks.sort_unstable();
            ranks.into()
        })
    }

    /// Where the language of unknown keys begins, if they may come next.
    pub(super) fn other_keys(&self, object: u32) -> Option<LangState> {
        let machine = self.machines.get(self.object_states.get(object).machine);
        machine.others.filter(|_| self.object_member(object, None).is_some())
    }

    /// Whether another member may come.
    pub(super) fn any_key(&self, object: u32) -> bool {
        !self.allowed_keys(object).is_empty() || self.other_keys(object).is_some()
    }
}

fn to_u32(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
