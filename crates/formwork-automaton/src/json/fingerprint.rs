//! What the entries of a schema's tables are, by content: ids replaced by what they stand for. Subschemas go by their place in the
//! document, so that all of it belongs to one text and one set of options.

use super::JsonAutomaton;
use super::array::{ArrayAtom, ArrayGroup, ArrayState, Counted};
use super::cover::{ArrayCover, ObjectCover};
use super::form::{Form, FormId};
use super::keys::{KeyClass, KeyMachine};
use super::object::{OFF, ObjectAtom, ObjectGroup, ObjectState};
use super::signature::Parts;
use super::situation::{ArrayAlt, Await, Bit, Goal, ObjectAlt, Situation, StringAlt};
use crate::automaton::State;
use crate::fingerprint::{Content, Fingerprint};
use crate::frames::Frames;
use crate::interner::to_u32;
use crate::lang::LangState;

/// The tables whose entries have fingerprints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Table {
    Situation,
    Goal,
    Await,
    Form,
    Text,
    Machine,
    ObjectState,
    ObjectAtom,
    ObjectGroup,
    ObjectCover,
    ArrayState,
    ArrayAtom,
    ArrayGroup,
    ArrayCover,
    NumberTrack,
    NumberAtom,
}

/// A signature by content.
struct Signature<'a> {
    automaton: &'a JsonAutomaton,
    content: Content,
}

impl Parts for Signature<'_> {
    fn words<const N: usize>(&mut self, words: [u32; N]) {
        for word in words {
            self.content.word(word);
        }
    }

    fn situation(&mut self, id: u32) {
        self.content.print(self.automaton.print(Table::Situation, id));
    }

    fn lang_state(&mut self, id: u32) {
        self.automaton.describe_lang_state(id, &mut self.content);
    }

    fn classes<'a>(&mut self, states: impl Iterator<Item = (&'a KeyClass, u32)>) {
        // Their order goes by that of their languages, and so by what was read before.
        self.content.set(states.map(|(class, state)| {
            let mut content = Content::of("class of keys");
            content.set(class.matched.iter().map(|lang| self.automaton.langs.lang_fingerprint(*lang)));
            self.automaton.describe_lang_state(state, &mut content);
            content.finish()
        }));
    }

    fn object(&mut self, id: u32) {
        self.content.print(self.automaton.print(Table::ObjectState, id));
    }

    fn awaits(&mut self, id: u32) {
        self.content.print(self.automaton.print(Table::Await, id));
    }
}

impl JsonAutomaton {
    pub(super) fn fingerprint_of(&self, seq: &Frames, state: State, depth: usize) -> Fingerprint {
        let mut signature = Signature { automaton: self, content: Content::of("signature") };
        self.describe(seq, state, depth, self.horizon, &mut signature);
        signature.content.finish()
    }

    /// What an entry of a table is. Entries hold ids of simpler ones only, so this ends.
    fn print(&self, table: Table, id: u32) -> Fingerprint {
        self.prints.get_or((table, id), || {
            let mut content = Content::of("entry");
            content.word(table as u32);
            self.describe_entry(table, id, &mut content);
            content.finish()
        })
    }

    fn describe_entry(&self, table: Table, id: u32, content: &mut Content) {
        match table {
            Table::Situation => self.describe_situation(self.situations.get(id), content),
            Table::Goal => {
                let Goal { forms, active, position } = self.goals.get(id);
                content.prints(forms.iter().map(|form| self.form_print(*form))).word(u32::from(*active));
                self.describe_position(*position, content);
            }
            Table::Await => self.describe_await(self.awaits.get(id), content),
            Table::Form => self.describe_form(self.forms.get(id), content),
            Table::Text => {
                content.bytes(self.texts.get(id).as_bytes());
            }
            Table::Machine => self.describe_machine(self.machines.get(id), content),
            Table::ObjectState => {
                let ObjectState { alts, machine, next, used, count, active, .. } = self.object_states.get(id);
                self.describe_alts(alts, Table::ObjectAtom, content);
                self.describe_place(*machine, *next, used, *count, content);
                content.word(u32::from(*active));
            }
            Table::ObjectAtom => {
                let ObjectAtom { groups, required, names, min, max, not, cover } = self.object_atoms.get(id);
                self.set(Table::ObjectGroup, groups, content);
                self.set(Table::Text, required, content);
                content.option(*names, |content, names| {
                    content.print(self.langs.lang_fingerprint(names));
                });
                content.word(*min).option(*max, word);
                self.set(Table::ObjectAtom, not, content);
                content.option(*cover, |content, cover| {
                    content.print(self.print(Table::ObjectCover, cover));
                });
            }
            Table::ObjectGroup => {
                let ObjectGroup { properties, patterns, additional } = self.object_groups.get(id);
                content.list(properties.len());
                for (key, form) in properties {
                    content.print(self.print(Table::Text, *key)).print(self.form_print(*form));
                }
                content.list(patterns.len());
                for (lang, form) in patterns {
                    content.print(self.langs.lang_fingerprint(*lang)).print(self.form_print(*form));
                }
                content.print(self.form_print(*additional));
            }
            Table::ObjectCover => {
                let ObjectCover { names, patterns, all } = self.object_covers.get(id);
                self.set(Table::Text, names, content);
                content.set(patterns.iter().map(|lang| self.langs.lang_fingerprint(*lang))).flag(*all);
            }
            Table::ArrayState => {
                let ArrayState { alts, index, position, active } = self.array_states.get(id);
                self.describe_alts(alts, Table::ArrayAtom, content);
                content.word(*index).word(u32::from(*active));
                self.describe_position(*position, content);
            }
            Table::ArrayAtom => {
                let ArrayAtom { groups, min, max, contains, unique, repeats, cover } = self.array_atoms.get(id);
                self.set(Table::ArrayGroup, groups, content);
                content.word(*min).option(*max, word);
                content.set(contains.iter().map(|counted| self.counted_print(counted)));
                content.flag(*unique).flag(*repeats).option(*cover, |content, cover| {
                    content.print(self.print(Table::ArrayCover, cover));
                });
            }
            Table::ArrayGroup => {
                let ArrayGroup { prefix, rest } = self.array_groups.get(id);
                content.prints(prefix.iter().map(|form| self.form_print(*form))).print(self.form_print(*rest));
            }
            Table::ArrayCover => {
                let ArrayCover { prefix, all, matching } = self.array_covers.get(id);
                content.word(*prefix).flag(*all).set(matching.iter().map(|form| self.form_print(*form)));
            }
            Table::NumberTrack => {
                let track = self.number_tracks.get(id);
                content.print(self.print(Table::NumberAtom, track.atom()));
                track.describe(content);
            }
            Table::NumberAtom => self.number_atoms.get(id).describe(content),
        }
    }

    fn describe_situation(&self, situation: &Situation, content: &mut Content) {
        match situation {
            Situation::Done => {
                content.word(0);
            }
            Situation::Value { goal, gap } => {
                content.word(1).print(self.print(Table::Goal, *goal)).word(*gap as u32);
            }
            Situation::String { tag, min, max, near } => {
                content.word(if *near { 15 } else { 2 }).word(u32::from(*tag)).word(*min).option(*max, word);
            }
            Situation::Strings { alts, active } => {
                content.word(3).word(u32::from(*active)).list(alts.len());
                for StringAlt { tag, state, min, max } in alts {
                    content.word(u32::from(*tag)).word(*min).option(*max, word);
                    self.describe_lang_state(*state, content);
                }
            }
            Situation::Number { alts, active } => {
                self.describe_alts(alts, Table::NumberTrack, content.word(4).word(u32::from(*active)));
            }
            Situation::LongNumber { alts, active } => {
                self.describe_alts(alts, Table::NumberAtom, content.word(5).word(u32::from(*active)));
            }
            Situation::Literal { literal, at, tags } => {
                content.word(6).word(*literal as u32).word(u32::from(*at));
                let tags = self.tag_sets.get(*tags);
                content.list(tags.len());
                for tag in tags {
                    content.word(u32::from(*tag));
                }
            }
            Situation::ObjectOpen { object } => {
                content.word(7).print(self.print(Table::ObjectState, *object));
            }
            Situation::ObjectNext { object } => {
                content.word(8).print(self.print(Table::ObjectState, *object));
            }
            Situation::ObjectComma { object } => {
                content.word(9).print(self.print(Table::ObjectState, *object));
            }
            Situation::Key { object, near } => {
                content.word(if *near { 16 } else { 10 }).print(self.print(Table::ObjectState, *object));
            }
            Situation::FreeKey { object, class } => {
                content.word(17).print(self.print(Table::ObjectState, *object)).word(*class);
            }
            Situation::Colon { goal, member } => {
                content.word(11).print(self.print(Table::Goal, *goal)).print(self.print(Table::Await, *member));
            }
            Situation::ArrayOpen { array } => {
                content.word(12).print(self.print(Table::ArrayState, *array));
            }
            Situation::ArrayNext { array } => {
                content.word(13).print(self.print(Table::ArrayState, *array));
            }
            Situation::ArrayComma { array } => {
                content.word(14).print(self.print(Table::ArrayState, *array));
            }
        }
    }

    fn describe_await(&self, awaits: &Await, content: &mut Content) {
        match awaits {
            Await::Object { alts, machine, next, used, count, active } => {
                content.word(0).word(u32::from(*active)).list(alts.len());
                for ObjectAlt { tag, ways, base, lifts } in alts {
                    content.word(u32::from(*tag)).print(self.print(Table::ObjectAtom, *base));
                    self.describe_alts(ways, Table::ObjectAtom, content);
                    self.describe_alts(lifts, Table::ObjectAtom, content);
                }
                self.describe_place(*machine, *next, used, *count, content);
            }
            Await::Array { alts, goal, index, position, active } => {
                content.word(1).word(u32::from(*active)).word(*index).print(self.print(Table::Goal, *goal));
                self.describe_position(*position, content);
                content.list(alts.len());
                for ArrayAlt { tag, ways, base, bits } in alts {
                    content.word(u32::from(*tag)).print(self.print(Table::ArrayAtom, *base));
                    self.describe_alts(ways, Table::ArrayAtom, content);
                    let counted = &self.array_atoms.get(*base).contains;
                    content.list(bits.len());
                    for Bit { index, yes, no } in bits {
                        // A place in an atom goes by what stands there.
                        content.option(counted.get(*index as usize), |content, counted| {
                            content.print(self.counted_print(counted));
                        });
                        content.word(u32::from(*yes)).word(u32::from(*no));
                    }
                }
            }
        }
    }

    fn describe_form(&self, form: &Form, content: &mut Content) {
        match form {
            Form::False => {
                content.word(0);
            }
            Form::True => {
                content.word(1);
            }
            Form::Node(node) => {
                content.word(2).word(to_u32(node.index()));
            }
            Form::Value(text) => {
                content.word(3).bytes(text.as_bytes());
            }
            Form::Spelled(form, text) => {
                content.word(4).print(self.form_print(*form)).bytes(text.as_bytes());
            }
            Form::And(parts) => {
                content.word(5).set(parts.iter().map(|part| self.form_print(*part)));
            }
            Form::Or(parts) => {
                content.word(6).set(parts.iter().map(|part| self.form_print(*part)));
            }
            Form::Not(form) => {
                content.word(7).print(self.form_print(*form));
            }
        }
    }

    /// The order of keys says something only on the list.
    fn describe_machine(&self, machine: &KeyMachine, content: &mut Content) {
        let KeyMachine { keys, listed, position, langs, .. } = machine;
        let (listed, others) = keys.split_at((*listed as usize).min(keys.len()));
        content.prints(listed.iter().map(|key| self.print(Table::Text, *key)));
        self.set(Table::Text, others, content);
        self.describe_position(*position, content);
        content.set(langs.iter().map(|lang| self.langs.lang_fingerprint(*lang)));
    }

    /// How far an object is read.
    fn describe_place(&self, machine: u32, next: u32, used: &[u32], count: u32, content: &mut Content) {
        content.print(self.print(Table::Machine, machine)).word(next).word(count);
        let keys = &self.machines.get(machine).keys;
        content.set(used.iter().filter_map(|key| keys.get(*key as usize)).map(|key| self.print(Table::Text, *key)));
    }

    fn describe_position(&self, position: u32, content: &mut Content) {
        // A machine that knows no order has no position.
        let nodes = (position != u32::MAX).then(|| self.positions.nodes(position));
        content.option(nodes, |content, nodes| {
            content.list(nodes.len());
            for node in nodes {
                content.word(to_u32(node.index()));
            }
        });
    }

    /// Alternatives, each with its tag.
    fn describe_alts(&self, alts: &[(u16, u32)], table: Table, content: &mut Content) {
        content.list(alts.len());
        for (tag, id) in alts {
            content.word(u32::from(*tag)).print(self.print(table, *id));
        }
    }

    fn describe_lang_state(&self, id: u32, content: &mut Content) {
        let state = (id != OFF).then(|| self.langs.state_fingerprint(LangState::from_id(id)));
        content.option(state, |content, state| {
            content.print(state);
        });
    }

    fn counted_print(&self, counted: &Counted) -> Fingerprint {
        let Counted { form, from, min, max } = counted;
        let mut content = Content::of("counted");
        content.print(self.form_print(*form)).word(*from).word(*min).option(*max, word);
        content.finish()
    }

    fn form_print(&self, form: FormId) -> Fingerprint {
        self.print(Table::Form, form.0)
    }

    fn set(&self, table: Table, ids: &[u32], content: &mut Content) {
        content.set(ids.iter().map(|id| self.print(table, *id)));
    }
}

fn word(content: &mut Content, word: u32) {
    content.word(word);
}
