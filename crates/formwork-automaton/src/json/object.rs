//! Objects: alternatives with declared keys, patterns, a form for the others, required keys, counts, and atoms excluded.

use std::sync::{Arc, OnceLock};

use super::JsonAutomaton;
use super::array::{join, tag_of};
use super::form::{Form, FormId};
use super::keys::{AtomKeys, KeyMachine, KeyRef};
use super::liveness::NEVER;
use super::object_plan::Place;
use super::situation::{Await, Goal, ObjectAlt, Situation};
use super::typed::least;
use crate::interner::to_u32;
use crate::lang::{Lang, LangState};

/// `properties`, `patternProperties` and `additionalProperties` of one subschema.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ObjectGroup {
    /// (text id of the key, form of its value), in document order.
    pub(super) properties: Box<[(u32, FormId)]>,
    /// (the keys, form of their values), in document order.
    pub(super) patterns: Box<[(Lang, FormId)]>,
    /// What the values of other keys must satisfy.
    pub(super) additional: FormId,
}

/// A plain condition on objects: every group's forms hold, the required keys are there, and none of the excluded atoms holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct ObjectAtom {
    /// Ids of groups, ascending.
    pub(super) groups: Box<[u32]>,
    /// Text ids of the required keys, ascending.
    pub(super) required: Box<[u32]>,
    /// The keys that may be used.
    pub(super) names: Option<Lang>,
    /// The fewest members.
    pub(super) min: u32,
    /// The most members.
    pub(super) max: Option<u32>,
    /// Ids of atoms that must not hold, ascending; none of them excludes others itself.
    pub(super) not: Box<[u32]>,
    /// Which members are evaluated, where somebody asks.
    pub(super) cover: Option<u32>,
}

impl ObjectAtom {
    /// Whether more than groups and required keys matter.
    pub(super) fn is_complex(&self) -> bool {
        !self.not.is_empty() || self.min > 0 || self.max.is_some()
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
    /// Members so far, where somebody counts, and as far as they do.
    pub(super) count: u32,
    /// Tags below this one are of alternatives that keep the object alive; the others only watch.
    pub(super) active: u16,
    allowed: OnceLock<Box<[u32]>>,
    others: OnceLock<Option<LangState>>,
    takes_most: OnceLock<bool>,
}

impl ObjectState {
    /// What tells it from others; the rest is found from that.
    fn words(&self) -> impl PartialEq + std::hash::Hash + '_ {
        (&self.alts, self.machine, self.next, &self.used, self.count, self.active)
    }

    pub(super) fn place(&self) -> Place<'_> {
        Place { machine: self.machine, next: self.next, used: &self.used, count: self.count }
    }
}

impl PartialEq for ObjectState {
    fn eq(&self, other: &Self) -> bool {
        self.words() == other.words()
    }
}

impl Eq for ObjectState {}

impl std::hash::Hash for ObjectState {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.words().hash(state);
    }
}

/// What reading a key does to an alternative.
struct Reading {
    tag: u16,
    /// What the value must satisfy, and the atom that is left then: any of these will do.
    ways: Vec<(FormId, u32)>,
    /// The atom that is left at least.
    base: u32,
    /// Forms that, where the value satisfies them, lift the exclusion of an atom.
    lifts: Vec<(FormId, u32)>,
}

/// Sets of exclusions that are tried for a value to lift together.
const MAX_LIFTED: usize = 256;

impl JsonAutomaton {
    pub(super) fn meet_objects(&self, a: &ObjectAtom, b: &ObjectAtom) -> ObjectAtom {
        ObjectAtom {
            groups: join(&a.groups, &b.groups),
            required: join(&a.required, &b.required),
            names: match (a.names, b.names) {
                (Some(a), Some(b)) => Some(self.langs.and(a, b)),
                (a, b) => a.or(b),
            },
            min: a.min.max(b.min),
            max: least(a.max, b.max),
            not: join(&a.not, &b.not),
            cover: self.join_object_covers(a.cover, b.cover),
        }
    }

    /// Whether an atom surely has no object, as far as is seen without looking inside its values.
    pub(super) fn is_object_contradiction(&self, atom: &ObjectAtom) -> bool {
        let most = atom.max.unwrap_or(u32::MAX);
        atom.min > most
            || to_u32(atom.required.len()) > most
            || atom.required.iter().any(|key| self.sketch(self.named_form(atom, *key)).is_empty())
    }

    pub(super) fn object_state(
        &self,
        alts: Box<[(u16, u32)]>,
        machine: u32,
        next: u32,
        used: Box<[u32]>,
        count: u32,
        active: u16,
    ) -> u32 {
        let counted = alts.iter().map(|(_, atom)| self.counted_members(*atom)).max().unwrap_or(0);
        let active = if alts.iter().all(|(tag, _)| *tag < active) { u16::MAX } else { active };
        self.object_states.intern(ObjectState {
            alts,
            machine,
            next,
            used,
            count: count.min(counted),
            active,
            allowed: OnceLock::new(),
            others: OnceLock::new(),
            takes_most: OnceLock::new(),
        })
    }

    /// How far members matter to an atom.
    fn counted_members(&self, atom: u32) -> u32 {
        let of = |atom: &ObjectAtom| atom.min.max(atom.max.map_or(0, |max| max.saturating_add(1)));
        let atom = self.object_atoms.get(atom);
        atom.not.iter().map(|not| of(self.object_atoms.get(*not))).fold(of(atom), u32::max)
    }

    /// Bytes of a key as it is written, with its quotes, or [`NEVER`] where the vocabulary can't spell it.
    pub(super) fn key_cost(&self, key: u32) -> u32 {
        let text = self.texts.get(key);
        if self.langs.contains(self.langs.any(), text) { to_u32(text.len()).saturating_add(2) } else { NEVER }
    }

    /// The machine for these atoms, with the keys that come first, in their order.
    fn key_machine(&self, atoms: impl Iterator<Item = u32>, first: Vec<u32>, position: u32) -> u32 {
        let mut keys = first;
        let listed = to_u32(keys.len());
        let mut known: rustc_hash::FxHashSet<u32> = keys.iter().copied().collect();
        let mut langs: Vec<Lang> = Vec::new();
        for atom in atoms {
            let atom = self.object_atoms.get(atom);
            for atom in [atom].into_iter().chain(atom.not.iter().map(|not| self.object_atoms.get(*not))) {
                let groups = atom.groups.iter().map(|g| self.object_groups.get(*g));
                let declared = groups.clone().flat_map(|g| g.properties.iter().map(|(k, _)| *k));
                keys.extend(declared.chain(atom.required.iter().copied()).filter(|key| known.insert(*key)));
                langs.extend(groups.flat_map(|g| g.patterns.iter().map(|(lang, _)| *lang)));
                langs.extend(atom.names);
            }
        }
        // By content: ids go by what was read before, perhaps under other schemas, and what completions look like must not.
        langs.sort_unstable();
        langs.dedup();
        langs.sort_by_cached_key(|lang| self.langs.lang_fingerprint(*lang));
        self.machines.intern(KeyMachine::new(self, keys, listed, langs.into(), position))
    }

    /// A machine for one atom that knows no order.
    pub(super) fn loose_machine(&self, atom: u32) -> u32 {
        self.loose_machines.get_or(atom, || self.key_machine([atom].into_iter(), Vec::new(), u32::MAX))
    }

    /// The state after `{`, for the atoms of each tag.
    pub(super) fn open_object(&self, atoms: &[(u16, u32)], position: u32, active: u16) -> Option<Situation> {
        let alts: Box<[_]> = atoms.iter().copied().filter(|(_, atom)| self.object_cost(*atom) != NEVER).collect();
        if !alts.iter().any(|(tag, _)| *tag < active) {
            return None;
        }
        let first = self.positions.names(&self.schema, position).iter().map(|k| self.text(k)).collect();
        let machine = self.key_machine(alts.iter().map(|(_, atom)| *atom), first, position);
        let object = self.object_state(alts, machine, 0, Box::default(), 0, active);
        Some(Situation::ObjectOpen { object })
    }

    /// The first listed key that an alternative still requires: keys after it are not for this alternative.
    fn first_open(state: &ObjectState, machine: &KeyMachine, keys: &AtomKeys) -> u32 {
        let at = keys.required.partition_point(|k| *k < state.next);
        keys.required.get(at).copied().filter(|k| *k < machine.listed).unwrap_or(u32::MAX)
    }

    fn is_complete(&self, state: &ObjectState, atom: u32) -> bool {
        let machine = self.machines.get(state.machine);
        let this = self.object_atoms.get(atom);
        let within = |atom: &ObjectAtom| atom.min <= state.count && atom.max.is_none_or(|max| state.count <= max);
        // A required key of an excluded atom that came is not required any more, and one that was passed over has lifted it.
        let is_lifted = |not: &ObjectAtom| !not.required.is_empty() || !within(not);
        within(this)
            && !self.atom_keys(state.machine, atom).required.iter().any(|k| state.place().is_open(machine, *k))
            && this.not.iter().all(|not| is_lifted(self.object_atoms.get(*not)))
    }

    /// The tags whose alternatives accept the object as it stands.
    pub(super) fn object_tags(&self, object: u32) -> Option<u32> {
        let state = self.object_states.get(object);
        let complete = state.alts.iter().filter(|(_, atom)| self.is_complete(state, *atom));
        self.answer(complete.map(|(tag, _)| *tag), state.active)
    }

    /// The member that a key begins: its goal, and what its end leads to. `None` where no alternative allows it.
    pub(super) fn object_member(&self, object: u32, key: KeyRef) -> Option<Member> {
        self.object_members.get_or((object, key), || {
            let state = self.object_states.get(object);
            let machine = self.machines.get(state.machine);
            let place = state.place();
            if matches!(key, KeyRef::Known(key) if !place.is_open(machine, key)) {
                return None;
            }
            let used = match key {
                KeyRef::Known(key) if key >= machine.listed => join(&state.used, &[key]),
                _ => state.used.clone(),
            };
            let after = Place { next: Place::next_after(machine, key), used: &used, count: state.count + 1, ..place };
            let readings: Vec<Reading> = state
                .alts
                .iter()
                .filter_map(|&(tag, atom)| self.read_key(state, machine, key, tag, atom, after))
                .collect();
            let is_active = |reading: &&Reading| reading.tag < state.active;
            let mut forms: Vec<FormId> = Vec::new();
            for (form, _) in readings.iter().filter(is_active).flat_map(|reading| &reading.ways) {
                tag_of(*form, &mut forms);
            }
            if forms.is_empty() {
                return None;
            }
            let active = forms.len();
            let alts = readings.iter().map(|reading| ObjectAlt {
                tag: reading.tag,
                ways: reading.ways.iter().map(|(form, atom)| (tag_of(*form, &mut forms), *atom)).collect(),
                base: reading.base,
                lifts: reading
                    .lifts
                    .iter()
                    .map(|(form, not)| (self.watch_of(*form, active, &mut forms), *not))
                    .collect(),
            });
            let alts = alts.collect();
            let position = self.member_position(machine, key);
            let goal = self.goals.intern(Goal::new(forms, active, position));
            let awaits = self.awaits.intern(Await::Object {
                alts,
                machine: state.machine,
                next: after.next,
                count: after.count,
                active: state.active,
                used,
            });
            Some(Member { goal, awaits })
        })
    }

    /// What reading a key does to an alternative; `None` where it does not allow it.
    fn read_key(
        &self,
        state: &ObjectState,
        machine: &KeyMachine,
        key: KeyRef,
        tag: u16,
        atom: u32,
        after: Place<'_>,
    ) -> Option<Reading> {
        let keys = self.atom_keys(state.machine, atom);
        let live = self.live_keys(machine, &keys);
        let (reach, form, live) = match key {
            KeyRef::Known(key) => (key.min(machine.listed), keys.forms[key as usize], live.known[key as usize]),
            KeyRef::Class(class) => (machine.listed, keys.classes[class as usize], live.classes[class as usize]),
        };
        // A listed key that is passed over can't come later: alternatives that require it die.
        if !live || reach > Self::first_open(state, machine, &keys) {
            return None;
        }
        if !keys.complex {
            return Some(Reading { tag, ways: vec![(form, atom)], base: atom, lifts: Vec::new() });
        }
        let (base, lifts) = self.exclusions_after(state.place(), machine, key, atom);
        let known = |form| self.cost(form);
        let mut ways: Vec<(FormId, u32)> = Vec::new();
        // A value lifts together whatever the same form lifts.
        let mut groups: Vec<(FormId, Vec<u32>)> = Vec::new();
        for &(form, not) in &lifts {
            match groups.iter_mut().find(|(other, _)| *other == form) {
                Some((_, nots)) => nots.push(not),
                None => groups.push((form, vec![not])),
            }
        }
        // What can't fail later, even alone, has to be lifted here.
        let fails_later = |not: &u32| {
            let alone = self.excluding(base, |other| other == not);
            self.object_plan(after, alone, &known).is_some()
        };
        let (later, mut groups): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|(_, nots)| nots.iter().all(fails_later));
        let needed = groups.len();
        groups.extend(later);
        let mut sets: Vec<Vec<usize>> = vec![(0..needed).collect()];
        let mut tried = 0;
        // Fewest first: once a set of exclusions suffices, larger ones add nothing.
        while !sets.is_empty() {
            let mut next: Vec<Vec<usize>> = Vec::new();
            let mut enough: Vec<Vec<usize>> = Vec::new();
            for set in sets {
                tried += 1;
                if tried > MAX_LIFTED {
                    self.note_undecided();
                    break;
                }
                let lifted = |not: &u32| set.iter().any(|group| groups[*group].1.contains(not));
                let left = self.excluding(base, |not| !lifted(not));
                let way = self.all_of([form].into_iter().chain(set.iter().map(|group| groups[*group].0)));
                if self.cost(way) == NEVER {
                    // Nor does a value satisfy more.
                    continue;
                }
                if self.object_plan(after, left, &known).is_some() {
                    ways.push((way, left));
                    enough.push(set);
                } else {
                    let first = set.last().map_or(0, |last| last + 1).max(needed);
                    next.extend((first..groups.len()).map(|group| set.iter().copied().chain([group]).collect()));
                }
            }
            if tried > MAX_LIFTED {
                break;
            }
            next.retain(|set: &Vec<usize>| !enough.iter().any(|small| small.iter().all(|group| set.contains(group))));
            sets = next;
        }
        (!ways.is_empty()).then_some(Reading { tag, ways, base, lifts })
    }

    /// The atom without the exclusions that `keep` does not keep.
    pub(super) fn excluding(&self, atom: u32, keep: impl Fn(&u32) -> bool) -> u32 {
        let this = self.object_atoms.get(atom);
        if this.not.iter().all(&keep) {
            return atom;
        }
        let not = this.not.iter().copied().filter(|not| keep(not)).collect();
        self.object_atoms.intern(ObjectAtom { not, ..this.clone() })
    }

    /// What a key leaves of an atom's exclusions, and the forms of its value that lift one.
    fn exclusions_after(
        &self,
        place: Place<'_>,
        machine: &KeyMachine,
        key: KeyRef,
        atom: u32,
    ) -> (u32, Vec<(FormId, u32)>) {
        let this = self.object_atoms.get(atom);
        let passed = place.next..Place::next_after(machine, key);
        let is_passed = |text: &u32| {
            machine
                .index_of(*text)
                .is_some_and(|index| KeyRef::Known(index) != key && index < machine.listed && passed.contains(&index))
        };
        let mut left = Vec::new();
        let mut lifts = Vec::new();
        for not in &this.not {
            let excluded = self.object_atoms.get(*not);
            if excluded.required.iter().any(is_passed) || !self.is_name(machine, excluded, key) {
                continue;
            }
            let named = match key {
                KeyRef::Known(key) => Some(machine.keys[key as usize]),
                KeyRef::Class(_) => None,
            };
            let required: Box<[u32]> = excluded.required.iter().copied().filter(|r| Some(*r) != named).collect();
            let id = if required.len() == excluded.required.len() {
                *not
            } else {
                self.object_atoms.intern(ObjectAtom { required, ..excluded.clone() })
            };
            let lift = self.not_form(self.key_form(machine, excluded, key));
            if self.is_true(lift) {
                continue;
            }
            left.push(id);
            if !matches!(self.forms.get(lift.0), Form::False) && !lifts.iter().any(|(_, other)| *other == id) {
                lifts.push((lift, id));
            }
        }
        left.sort_unstable();
        left.dedup();
        let base = if *left == *this.not {
            atom
        } else {
            self.object_atoms.intern(ObjectAtom { not: left.into(), ..this.clone() })
        };
        (base, lifts)
    }

    /// Ranks of the known keys that may come next, ascending.
    pub(super) fn allowed_keys(&self, object: u32) -> &[u32] {
        let state = self.object_states.get(object);
        state.allowed.get_or_init(|| {
            let machine = self.machines.get(state.machine);
            let place = state.place();
            let active = state.alts.iter().filter(|(tag, _)| *tag < state.active);
            let alts: Vec<(u32, Arc<AtomKeys>)> = active
                .map(|(_, atom)| self.atom_keys(state.machine, *atom))
                .map(|keys| (Self::first_open(state, machine, &keys), keys))
                .collect();
            let complex = alts.iter().any(|(_, keys)| keys.complex);
            // Beyond the last listed key that no alternative passes over, nothing is allowed.
            let last = alts.iter().map(|(first, _)| *first).max().unwrap_or(0);
            let end = to_u32(machine.keys.len()).min(last.saturating_add(1));
            let start = state.next.min(machine.listed);
            let allowed = |key: &u32| {
                let reach = (*key).min(machine.listed);
                let is_live = |keys: &AtomKeys| self.live_keys(machine, keys).known[*key as usize];
                place.is_open(machine, *key)
                    && alts.iter().any(|(first, keys)| reach <= *first && is_live(keys))
                    && (!complex || self.object_member(object, KeyRef::Known(*key)).is_some())
            };
            let mut ranks: Vec<u32> = (start..end).filter(allowed).map(|key| machine.rank(key)).collect();
            ranks.sort_unstable();
            ranks.into()
        })
    }

    /// The classes of unknown keys that may come next.
    pub(super) fn allowed_classes(&self, object: u32) -> Vec<u32> {
        let machine = self.machines.get(self.object_states.get(object).machine);
        let is_allowed = |class: &u32| self.object_member(object, KeyRef::Class(*class)).is_some();
        (0..to_u32(machine.classes.len())).filter(is_allowed).collect()
    }

    /// Whether every text is an unknown key that may come next, but for finitely many.
    pub(super) fn takes_most_keys(&self, object: u32) -> bool {
        let state = self.object_states.get(object);
        *state.takes_most.get_or_init(|| {
            let machine = self.machines.get(state.machine);
            if !machine.has_patterns() {
                return true;
            }
            let classes = self.allowed_classes(object).into_iter().map(|class| machine.classes[class as usize].lang);
            let left_out = self.langs.not(classes.fold(self.langs.none(), |all, class| self.langs.or(all, class)));
            let known = machine.keys.len() as u64;
            self.langs.start(left_out).is_none_or(|start| self.langs.count(start, known + 1) <= known)
        })
    }

    /// Where the language of unknown keys that may come next begins.
    pub(super) fn other_keys(&self, object: u32) -> Option<LangState> {
        let state = self.object_states.get(object);
        *state.others.get_or_init(|| {
            let machine = self.machines.get(state.machine);
            let allowed = self.allowed_classes(object);
            let langs = allowed.iter().map(|class| &machine.classes[*class as usize]);
            match *allowed {
                [] => None,
                [only] => Some(machine.classes[only as usize].start),
                _ => self.langs.start(langs.fold(self.langs.none(), |all, class| self.langs.or(all, class.lang))),
            }
        })
    }

    /// Whether another member may come.
    pub(super) fn any_key(&self, object: u32) -> bool {
        !self.allowed_keys(object).is_empty() || self.other_keys(object).is_some()
    }
}

/// A member or an item to be read: what it is asked, and what its end leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) goal: u32,
    pub(super) awaits: u32,
}

/// No node: the text is no known key's beginning.
pub(super) const OFF: u32 = u32::MAX;
