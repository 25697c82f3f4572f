//! Witnesses: a shortest text that completes a configuration, level by level from the top frame outwards.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use rustc_hash::{FxHashMap, FxHashSet};

use super::JsonAutomaton;
use super::array_plan::ArrayPlan;
use super::distinct::Seen;
use super::form::FormId;
use super::keys::KeyRef;
use super::liveness::{Cheapest, NEVER, add};
use super::object::{Member, OFF};
use super::object_plan::{Place, Plan};
use super::situation::{Await, Situation, StringAlt};
use super::space::{Gap, blanks};
use super::step::enclosing;
use crate::automaton::{State, Step};
use crate::frames::{Frame, FrameId, Frames, KeySet, Watch};
use crate::interner::to_u32;
use crate::lang::LangState;

/// Text to write, last first: values may nest as deep as the schema says, so they wait on a list and not on the call stack.
enum Task {
    Bytes(Vec<u8>),
    Value { form: FormId, position: u32, depth: u32 },
}

/// The cost of what there may be no text for.
const DOUBTFUL: u32 = NEVER / 2;
/// How many known keys are looked at for the cheapest one.
const KEYS_TRIED: usize = 64;
/// How many beginnings of items are looked at for one that differs from others.
const TEXTS_LOOKED_AT: usize = 1 << 9;
/// Items around the one that is completed that have a say in how.
const LEVELS: u32 = 2;
/// Ends of items of which one completion finds out what they leave the items around them.
const MOST_ENDS: u32 = 256;
/// Items that are completed one after another to find that out.
const MAX_ROUNDS: u32 = 256;
/// Items that one completion completes one after another, each within another or beside it.
const MOST_ITEMS: usize = 1 << 12;
/// How many beginnings of keys are looked at for one that is new, beside those that were used.
const KEYS_LOOKED_AT: usize = 10_000;

/// More texts than were looked at.
pub(super) struct Cut;

/// How far it is found out what the end of an item leaves the items around it.
#[derive(Clone, Copy)]
struct Ahead<'a> {
    /// Items around it.
    levels: u32,
    /// Ends that may still be tried, by all that share them.
    ends: &'a Cell<u32>,
}

/// A search for keys, the shortest first.
struct FreshKeys {
    /// The first one, where it was not asked for yet.
    shortest: Option<Vec<u8>>,
    /// Beginnings with the length of the shortest key that begins so, and the language's state after them.
    open: BinaryHeap<(Reverse<u32>, Reverse<Vec<u8>>, u32)>,
}

impl JsonAutomaton {
    /// The first answer of `end`, asked after every text that `read` reads from here on, the shortest texts first.
    pub(super) fn nearest<T>(
        &self,
        seq: &Frames,
        state: State,
        most: usize,
        read: impl Fn(&mut Frames, State, u8) -> Option<State>,
        end: impl Fn(&Frames, State, &[u8]) -> Option<T>,
    ) -> Result<Option<T>, Cut> {
        let mut open = VecDeque::from([(seq.clone(), state, Vec::new())]);
        let mut looked_at = 0;
        while let Some((seq, state, begun)) = open.pop_front() {
            for byte in self.alphabet.iter() {
                let mut seq = seq.clone();
                let Some(next) = read(&mut seq, state, byte) else { continue };
                looked_at += 1;
                if looked_at > most {
                    return Err(Cut);
                }
                let text = [&begun[..], &[byte]].concat();
                let found = end(&seq, next, &text);
                if found.is_some() {
                    return Ok(found);
                }
                open.push_back((seq, next, text));
            }
        }
        Ok(None)
    }

    /// A shortest text that satisfies a form.
    pub(super) fn spell_form(&self, form: FormId) -> String {
        let mut out = Vec::new();
        let position = self.positions.root(self.schema.root());
        self.write(vec![Task::Value { form, position, depth: 0 }], &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    /// A shortest text that completes a configuration.
    pub(super) fn complete(&self, seq: &Frames, state: State) -> Vec<u8> {
        let mut out = Vec::new();
        let ends = Cell::new(MOST_ENDS);
        let ahead = Ahead { levels: LEVELS, ends: &ends };
        // Which counted forms an item satisfies shows only once it is written; then what is left is looked at anew.
        let Some((mut seq, mut state)) = self.complete_counted(seq, state, ahead, &mut out) else {
            return out;
        };
        for _ in 0..MOST_ITEMS {
            let Some((next, after)) = self.complete_counted(&seq, state, ahead, &mut out) else { return out };
            (seq, state) = (next, after);
        }
        self.note_undecided();
        out
    }

    /// Completes the innermost item that is counted or compared, or, where there is none, everything; then `None`.
    fn complete_counted(
        &self,
        seq: &Frames,
        state: State,
        ahead: Ahead<'_>,
        out: &mut Vec<u8>,
    ) -> Option<(Frames, State)> {
        let (rest, around) = self.rest_of(seq, state);
        let Some(around) = around else {
            out.extend(rest);
            return None;
        };
        let (rest, seq, state) = self.closing(seq, state, (rest, around), ahead).or_else(|| {
            self.note_undecided();
            None
        })?;
        out.extend(rest);
        Some((seq, state))
    }

    /// Whether a text is found that completes a configuration.
    fn is_completed(&self, seq: &Frames, state: State, ahead: Ahead<'_>) -> bool {
        let (mut seq, mut state) = (seq.clone(), state);
        // An item in an item takes a round.
        for _ in 0..MAX_ROUNDS {
            let (rest, around) = self.rest_of(&seq, state);
            let Some(around) = around else { return true };
            let Some((_, next, after)) = self.closing(&seq, state, (rest, around), ahead) else { return false };
            (seq, state) = (next, after);
        }
        false
    }

    /// Whether the end of an item leaves those around it a completion; yes, too, where that isn't found out any more.
    fn fits(&self, seq: &Frames, state: State, ahead: Ahead<'_>) -> bool {
        let Some(levels) = ahead.levels.checked_sub(1).filter(|_| self.watch_at(seq, state) == Watch::Compare) else {
            return true;
        };
        let Some(ends) = ahead.ends.get().checked_sub(1) else { return true };
        ahead.ends.set(ends);
        self.is_completed(seq, state, Ahead { levels, ..ahead })
    }

    /// A text that completes the innermost item that is counted or compared.
    pub(super) fn rest_of_item(&self, seq: &Frames, state: State) -> Vec<u8> {
        self.rest_of(seq, state).0
    }

    /// A text that completes the innermost item that is counted or compared, with the configuration after it: `rest` (with how many
    /// containers enclose the item's array), or, where that won't do, one that differs from the items before it, and leaves the items around
    /// it a completion.
    fn closing(
        &self,
        seq: &Frames,
        state: State,
        (rest, around): (Vec<u8>, u32),
        ahead: Ahead<'_>,
    ) -> Option<(Vec<u8>, Frames, State)> {
        if let Some((seq, state)) = self.after_rest(seq, state, &rest, around)
            && self.fits(&seq, state, ahead)
        {
            return Some((rest, seq, state));
        }
        // The cheapest value won't do: one of those that are left, or another one near.
        let key = matches!(self.situations.get(state.id), Situation::Key { .. });
        let mut at = if key { seq.peek(state.frame).parent } else { state.frame };
        while !at.is_none() {
            let frame = seq.peek(at);
            if frame.text != Frame::UNKEPT {
                let rests = self.rests_of_left(seq, at).into_iter();
                let after = |rest: &[u8]| self.after_rest(seq, state, rest, frame.depth);
                let closed = rests.filter_map(|rest| after(&rest).map(|(seq, at)| (rest, seq, at)));
                let mut closed: Vec<_> = closed.collect();
                closed.sort_by_key(|(rest, ..)| rest.len());
                if let Some(found) = closed.into_iter().find(|(_, seq, state)| self.fits(seq, *state, ahead)) {
                    return Some(found);
                }
                break;
            }
            at = frame.parent;
        }
        let read = |seq: &mut Frames, state: State, byte: u8| {
            let step = self.step_byte(seq, state, byte);
            let Step::To(next) = self.watched(seq, step, byte) else { return None };
            // Only what stands inside the item.
            let inside = !next.frame.is_none() && enclosing(seq, next.frame) >= enclosing(seq, at);
            inside.then_some(next)
        };
        let end = |seq: &Frames, state: State, begun: &[u8]| {
            let (rest, around) = self.rest_of(seq, state);
            let (seq, state) = self.after_rest(seq, state, &rest, around?)?;
            self.fits(&seq, state, ahead).then_some(())?;
            Some(([begun, &rest].concat(), seq, state))
        };
        self.nearest(seq, state, TEXTS_LOOKED_AT, read, end).ok()?
    }

    /// The configuration after a text that completes an item of an array that so many containers enclose; `None` where it doesn't.
    fn after_rest(&self, seq: &Frames, state: State, rest: &[u8], around: u32) -> Option<(Frames, State)> {
        let mut seq = seq.clone();
        let mut at = state;
        for &byte in rest {
            let step = self.step_byte(&mut seq, at, byte);
            let Step::To(next) = self.watched(&mut seq, step, byte) else { return None };
            at = next;
        }
        // A number ends with the byte after it.
        let Step::To(at) = self.after_number(&mut seq, at) else { return None };
        (enclosing(&seq, at.frame) <= around).then_some((seq, at))
    }

    /// A text that completes the innermost item that is counted or compared, with how many containers enclose its array; or, where there
    /// is none, everything.
    fn rest_of(&self, seq: &Frames, state: State) -> (Vec<u8>, Option<u32>) {
        let mut out = Vec::new();
        let mut chain = Vec::new();
        let situation = self.situations.get(state.id);
        let key_frame = matches!(situation, Situation::Key { .. }).then_some(state.frame);
        let mut at = key_frame.map_or(state.frame, |f| seq.peek(f).parent);
        while !at.is_none() {
            let frame = seq.peek(at);
            chain.push(frame);
            at = frame.parent;
        }
        // What is left to write outside, by the tag that the value inside ends with; outermost first.
        let mut outside: Vec<Vec<u32>> = vec![vec![0]];
        for frame in chain.iter().rev() {
            let outer = outside.last().cloned().unwrap_or_default();
            outside.push(self.member_costs(frame.state, frame.count.saturating_add(1), &outer));
        }
        let is_counted = |awaits: u32| match self.awaits.get(awaits) {
            Await::Array { alts, .. } => {
                alts.iter().any(|alt| !alt.bits.is_empty() || self.array_atoms.get(alt.base).compares())
            }
            Await::Object { .. } => false,
        };
        let stop = chain.iter().position(|frame| is_counted(frame.state));
        let depth = to_u32(chain.len());
        let top = outside.last().map_or(&[][..], Vec::as_slice);
        let mut tag = self.complete_top(seq, state, key_frame, depth, top, &mut out);
        for (level, frame) in chain.iter().enumerate().take(stop.unwrap_or(usize::MAX)) {
            let outer = outside.get(chain.len() - 1 - level).map_or(&[][..], Vec::as_slice);
            let depth = frame.depth;
            tag = self.after_member(seq, frame, tag, depth, outer, &mut out);
        }
        (out, stop.map(|stop| chain[stop].depth))
    }

    /// The cost of the rest after a member, by the tag of the form that the member's value satisfies.
    fn member_costs(&self, awaits: u32, count: u32, outer: &[u32]) -> Vec<u32> {
        let mut costs = Vec::new();
        for (form, cost) in
            self.rests(awaits, count, outer).into_iter().map(|(form, _, _, cost)| (usize::from(form), cost))
        {
            if costs.len() <= form {
                costs.resize(form + 1, NEVER);
            }
            costs[form] = costs[form].min(cost);
        }
        costs
    }

    /// The alternatives after a member: the member's tag, their own, their atom, and the cost of the rest.
    fn rests(&self, awaits: u32, count: u32, outer: &[u32]) -> Vec<(u16, u16, u32, u32)> {
        let outer = |tag: u16| outer.get(usize::from(tag)).copied().unwrap_or(NEVER);
        match self.awaits.get(awaits) {
            Await::Object { alts, machine, next, used, count, .. } => {
                let place = Place { machine: *machine, next: *next, used, count: *count };
                let ways = alts.iter().flat_map(|alt| alt.ways.iter().map(|&(form, atom)| (form, alt.tag, atom)));
                ways.filter(|(_, tag, _)| outer(*tag) != NEVER)
                    .map(|(form, tag, atom)| (form, tag, atom, add(self.object_rest_cost(place, atom), outer(tag))))
                    .collect()
            }
            Await::Array { alts, index, .. } => {
                let ways = alts.iter().flat_map(|alt| alt.ways.iter().map(|&(form, atom)| (form, alt.tag, atom)));
                ways.filter(|(_, tag, atom)| {
                    outer(*tag) != NEVER && self.array_atoms.get(*atom).max.is_none_or(|max| count <= max)
                })
                .map(|(form, tag, atom)| (form, tag, atom, add(self.array_rest_cost(atom, *index, count), outer(tag))))
                .collect()
            }
        }
    }

    fn rest_plan(&self, place: Place<'_>, atom: u32) -> Option<Plan> {
        self.object_plan(place, atom, &|form| self.cost(form))
    }

    fn object_rest_cost(&self, place: Place<'_>, atom: u32) -> u32 {
        self.rest_plan(place, atom).map_or(NEVER, |plan| add(plan.cost, 1))
    }

    fn array_rest_cost(&self, atom: u32, index: u32, count: u32) -> u32 {
        // The item that is being read may be the one that is to equal another.
        let otherwise = if self.array_atoms.get(atom).repeats { DOUBTFUL } else { NEVER };
        self.array_plan(atom, index, count, None).map_or(otherwise, |plan| add(plan.cost, 1))
    }

    /// Writes the rest of the container after a member that ended with `form`; the tag that the container ends with.
    fn after_member(
        &self,
        seq: &Frames,
        frame: &Frame,
        form: u16,
        depth: u32,
        outer: &[u32],
        out: &mut Vec<u8>,
    ) -> u16 {
        let (awaits, count) = (frame.state, frame.count.saturating_add(1));
        let rests = self.rests(awaits, count, outer);
        let best = rests.iter().filter(|(f, ..)| *f == form).min_by_key(|(.., cost)| *cost);
        let Some(&(_, tag, atom, _)) = best else { return 0 };
        match self.awaits.get(awaits) {
            Await::Object { machine, next, used, count, .. } => {
                let place = Place { machine: *machine, next: *next, used, count: *count };
                let plan = self.rest_plan(place, atom).unwrap_or_default();
                self.write(self.object_rest(seq, place, &plan, frame.keys, depth, false), out);
            }
            Await::Array { index, position, .. } => {
                let plan = self.array_plan(atom, *index, count, None).unwrap_or_default();
                self.write(self.array_rest(*position, &plan, count, depth, false), out);
            }
        }
        tag
    }

    /// What is left of an object: the planned members and the closing brace.
    fn object_rest(
        &self,
        seq: &Frames,
        place: Place<'_>,
        plan: &Plan,
        keys: KeySet,
        depth: u32,
        comma_read: bool,
    ) -> Vec<Task> {
        let machine = self.machines.get(place.machine);
        let mut tasks = Vec::new();
        let mut first = comma_read;
        let mut fresh: FxHashSet<Vec<u8>> = FxHashSet::default();
        let mut searches: FxHashMap<u32, FreshKeys> = FxHashMap::default();
        for &(key, form) in &plan.members {
            let mut bytes = Vec::new();
            if !first {
                bytes.push(b',');
                self.blanks(Gap::Comma, depth, &mut bytes);
            }
            first = false;
            match key {
                KeyRef::Known(key) => self.quote(self.texts.get(machine.keys[key as usize]).as_bytes(), &mut bytes),
                KeyRef::Class(class) => {
                    let is_new = |text: &[u8]| !seq.contains_key(keys, text) && !fresh.contains(text);
                    let start = machine.classes[class as usize].start;
                    let search = searches.entry(class).or_insert_with(|| self.fresh_keys(start));
                    let text = self.next_fresh(search, &[], &is_new).unwrap_or_default();
                    self.quote(&text, &mut bytes);
                    fresh.insert(text);
                }
            }
            bytes.push(b':');
            self.blanks(Gap::Colon, depth, &mut bytes);
            tasks.push(Task::Bytes(bytes));
            let position = self.member_position(machine, key);
            tasks.push(Task::Value { form, position, depth: depth + 1 });
        }
        let mut end = Vec::new();
        self.blanks(Gap::Close, depth, &mut end);
        end.push(b'}');
        tasks.push(Task::Bytes(end));
        tasks
    }

    /// What is left of an array after `count` items.
    fn array_rest(&self, position: u32, plan: &ArrayPlan, count: u32, depth: u32, comma_read: bool) -> Vec<Task> {
        let mut tasks = Vec::new();
        let mut index = count;
        for &(form, times) in &plan.items {
            for _ in 0..times {
                if index > count || !comma_read {
                    let mut bytes = vec![b','];
                    self.blanks(Gap::Comma, depth, &mut bytes);
                    tasks.push(Task::Bytes(bytes));
                }
                let position = self.item_position(position, index);
                tasks.push(Task::Value { form, position, depth: depth + 1 });
                index += 1;
            }
        }
        let mut end = Vec::new();
        self.blanks(Gap::Close, depth, &mut end);
        end.push(b']');
        tasks.push(Task::Bytes(end));
        tasks
    }

    fn blanks(&self, gap: Gap, depth: u32, out: &mut Vec<u8>) {
        blanks(self.options.whitespace, gap, depth).write(0, out);
    }

    fn write(&self, mut tasks: Vec<Task>, out: &mut Vec<u8>) {
        tasks.reverse();
        while let Some(task) = tasks.pop() {
            match task {
                Task::Bytes(bytes) => out.extend(bytes),
                Task::Value { form, position, depth } => {
                    let parts = self.value(form, position, depth, out);
                    tasks.extend(parts.into_iter().rev());
                }
            }
        }
    }

    /// Writes a cheapest value of a form; what stands inside a container is handed back.
    fn value(&self, form: FormId, position: u32, depth: u32, out: &mut Vec<u8>) -> Vec<Task> {
        // What stands inside costs less: so this comes to an end.
        let own = self.cost(form);
        match self.cheapest_of(form) {
            None => {}
            Some(Cheapest::Null) => out.extend(b"null"),
            Some(Cheapest::Boolean(b)) => out.extend(if b { &b"true"[..] } else { b"false" }),
            Some(Cheapest::Number(atom)) => out.extend(self.shortest_number(atom)),
            Some(Cheapest::String(atom)) => {
                let atom = self.string_atoms.get(atom);
                let text = self.string_start(atom).and_then(|s| self.langs.completion(s, atom.min, atom.max));
                self.quote(&text.unwrap_or_default(), out);
            }
            Some(Cheapest::Array(atom)) => {
                out.push(b'[');
                let plan = self.array_plan_below(atom, own);
                let plan = plan.and_then(|plan| self.distinct_plan(atom, plan, 0, Seen::NOTHING)).unwrap_or_default();
                if plan.items.is_empty() {
                    out.push(b']');
                    return Vec::new();
                }
                self.blanks(Gap::Open, depth, out);
                return self.array_rest(position, &plan, 0, depth, true);
            }
            Some(Cheapest::Object(atom)) => {
                out.push(b'{');
                if let Some(Situation::ObjectOpen { object }) = self.open_object(&[(0, atom)], position, u16::MAX) {
                    let place = self.object_states.get(object).place();
                    let below = |form: FormId| Some(self.cost(form)).filter(|cost| *cost < own).unwrap_or(NEVER);
                    let plan = self.object_plan(place, atom, &below).unwrap_or_default();
                    if !plan.members.is_empty() {
                        self.blanks(Gap::Open, depth, out);
                        return self.object_rest(&Frames::new(), place, &plan, KeySet::EMPTY, depth, true);
                    }
                }
                out.push(b'}');
            }
        }
        Vec::new()
    }

    fn shortest_number(&self, atom: u32) -> Vec<u8> {
        let starts = [false, true].into_iter().filter_map(|negative| {
            let track = self.number_start(atom, negative)?;
            let mut text = if negative { vec![b'-'] } else { Vec::new() };
            text.extend(self.number_rest(track)?);
            Some(text)
        });
        starts.min_by_key(Vec::len).unwrap_or_default()
    }

    /// Completes what stands on top of the frames; the tag that it ends with.
    fn complete_top(
        &self,
        seq: &Frames,
        state: State,
        key_frame: Option<FrameId>,
        depth: u32,
        outer: &[u32],
        out: &mut Vec<u8>,
    ) -> u16 {
        let outer_of = |tag: u16| outer.get(usize::from(tag)).copied().unwrap_or(NEVER);
        match self.situations.get(state.id) {
            // A free key only stands in for others.
            Situation::Done | Situation::FreeKey { .. } => 0,
            Situation::Value { goal, gap } => {
                // A value after a colon stands in the frame of its object.
                blanks(self.options.whitespace, *gap, depth).write(state.a, out);
                self.write_goal(*goal, depth, outer, out)
            }
            Situation::String { tag, min, max, .. } => {
                let alt = StringAlt { tag: *tag, state: state.c, min: *min, max: *max };
                self.complete_string(&alt, state, out);
                *tag
            }
            Situation::Strings { alts, .. } => {
                let cost =
                    |alt: &&StringAlt| add(self.langs.shortest(LangState::from_id(alt.state)), outer_of(alt.tag));
                let Some(best) = alts.iter().min_by_key(cost) else { return 0 };
                self.complete_string(best, state, out);
                best.tag
            }
            Situation::Number { alts, .. } => {
                let cost = |(tag, track): &&(u16, u32)| add(self.number_cost(*track).unwrap_or(NEVER), outer_of(*tag));
                let Some((tag, track)) = alts.iter().min_by_key(cost) else { return 0 };
                out.extend(self.number_rest(*track).unwrap_or_default());
                *tag
            }
            Situation::LongNumber { alts, .. } => {
                let rests = alts.iter().filter_map(|&(tag, atom)| Some((tag, self.long_rest(seq, atom, state)?)));
                let cost = |(tag, rest): &(u16, Vec<u8>)| add(to_u32(rest.len()), outer_of(*tag));
                let Some((tag, rest)) = rests.min_by_key(cost) else { return 0 };
                out.extend(rest);
                tag
            }
            Situation::Literal { literal, at, tags } => {
                out.extend(&literal.text().as_bytes()[usize::from(*at)..]);
                self.tag_sets.get(*tags).iter().copied().min_by_key(|tag| outer_of(*tag)).unwrap_or(0)
            }
            Situation::ObjectOpen { object } | Situation::ObjectNext { object } | Situation::ObjectComma { object } => {
                self.complete_object(seq, state, *object, depth, outer, out)
            }
            Situation::Key { object, .. } => {
                let Some(frame) = key_frame else { return 0 };
                let keys = seq.peek(frame).keys;
                let typed = seq.text_from(seq.peek(frame).count).to_vec();
                self.complete_key(seq, state, *object, keys, &typed, depth, outer, out)
            }
            Situation::Colon { goal, member } => {
                let keys = KeySet::from_word(state.c);
                self.complete_member(seq, Member { goal: *goal, awaits: *member }, keys, depth, outer, out)
            }
            Situation::ArrayOpen { array } | Situation::ArrayNext { array } | Situation::ArrayComma { array } => {
                self.complete_array(seq, state, *array, depth, outer, out)
            }
        }
    }

    /// Writes the cheapest value of a goal; its tag.
    fn write_goal(&self, goal: u32, depth: u32, outer: &[u32], out: &mut Vec<u8>) -> u16 {
        let goal = self.goal(goal);
        let cost = |(tag, form): &(u16, &FormId)| {
            add(self.cost(**form), outer.get(usize::from(*tag)).copied().unwrap_or(NEVER))
        };
        let Some((tag, form)) = (0..).zip(&goal.forms).min_by_key(cost) else { return 0 };
        self.write(vec![Task::Value { form: *form, position: goal.position, depth }], out);
        tag
    }

    /// From the colon on: a member's value and the rest of its object.
    fn complete_member(
        &self,
        seq: &Frames,
        member: Member,
        keys: KeySet,
        depth: u32,
        outer: &[u32],
        out: &mut Vec<u8>,
    ) -> u16 {
        out.push(b':');
        self.blanks(Gap::Colon, depth, out);
        let inner = self.member_costs(member.awaits, 1, outer);
        let form = self.write_goal(member.goal, depth + 1, &inner, out);
        let (text, watch) = (Frame::UNKEPT, Watch::Nothing);
        let frame = Frame { parent: FrameId::NONE, state: member.awaits, count: 0, depth, keys, text, watch };
        self.after_member(seq, &frame, form, depth, outer, out)
    }

    fn member_cost(&self, member: Member, outer: &[u32]) -> u32 {
        let inner = self.member_costs(member.awaits, 1, outer);
        let goal = self.goal(member.goal);
        let cost = |(tag, form): (usize, &FormId)| add(self.cost(*form), inner.get(tag).copied().unwrap_or(NEVER));
        goal.forms.iter().enumerate().map(cost).min().unwrap_or(NEVER)
    }

    fn complete_object(
        &self,
        seq: &Frames,
        state: State,
        object: u32,
        depth: u32,
        outer: &[u32],
        out: &mut Vec<u8>,
    ) -> u16 {
        let situation = self.situations.get(state.id);
        let comma_read = matches!(situation, Situation::ObjectComma { .. });
        let opened = matches!(situation, Situation::ObjectOpen { .. });
        let this = self.object_states.get(object);
        let place = this.place();
        let plans = this.alts.iter().filter_map(|&(tag, atom)| {
            let outer = outer.get(usize::from(tag)).copied().filter(|cost| *cost != NEVER)?;
            let plan = self.rest_plan(place, atom)?;
            Some((add(plan.cost, outer), tag, plan))
        });
        let plans: Vec<(u32, u16, Plan)> = plans.collect();
        let Some((_, tag, plan)) = plans.iter().min_by_key(|(cost, ..)| *cost) else { return 0 };
        let tag = *tag;
        let open = !plan.members.is_empty();
        let indent = blanks(self.options.whitespace, Gap::Open, depth).len() > 0;
        // A comma, or an indent's line break after the brace, has promised a member; one before the closing brace has promised that.
        let promised = comma_read || (opened && indent && state.a > 0);
        if promised && !open {
            blanks(self.options.whitespace, if comma_read { Gap::Comma } else { Gap::Open }, depth).write(state.a, out);
            out.push(b'"');
            let others = self.other_keys(object).map_or(OFF, LangState::id);
            let key = State { a: 0, b: 0, c: others, ..state };
            return self.complete_key(seq, key, object, KeySet::from_word(state.c), &[], depth, outer, out);
        }
        if matches!(situation, Situation::ObjectNext { .. }) && indent && state.a > 0 {
            let closing = plans.iter().filter(|(.., plan)| plan.members.is_empty());
            blanks(self.options.whitespace, Gap::Close, depth).write(state.a, out);
            out.push(b'}');
            return closing.min_by_key(|(cost, ..)| *cost).map_or(0, |(_, tag, _)| *tag);
        }
        if !open {
            if !opened {
                self.blanks(Gap::Close, depth, out);
            }
            out.push(b'}');
            return tag;
        }
        if comma_read || opened {
            blanks(self.options.whitespace, if comma_read { Gap::Comma } else { Gap::Open }, depth).write(state.a, out);
        }
        let keys = KeySet::from_word(state.c);
        self.write(self.object_rest(seq, place, plan, keys, depth, comma_read || opened), out);
        tag
    }

    #[expect(clippy::too_many_arguments, reason = "one place in a configuration, taken apart")]
    fn complete_key(
        &self,
        seq: &Frames,
        state: State,
        object: u32,
        keys: KeySet,
        typed: &[u8],
        depth: u32,
        outer: &[u32],
        out: &mut Vec<u8>,
    ) -> u16 {
        let machine = self.machines.get(self.object_states.get(object).machine);
        let ranks = self.allowed_keys(object);
        let mut node = state.a;
        let mut other = (state.c != OFF).then(|| LangState::from_id(state.c));
        let mut typed = typed.to_vec();
        if state.b != 0 {
            let live = |ranges: &[(u32, u32)]| {
                machine.any_char_below(node, ranges, ranks)
                    || other.is_some_and(|other| self.any_char(other, ranges, &|_| true))
            };
            if let Some((bytes, c)) = self.escaping.finish(state.b, &live) {
                out.extend(bytes);
                node = machine.child_char(node, c);
                other = other.and_then(|other| self.step_char(other, c));
                typed.extend(c.to_string().as_bytes());
            }
        }
        let known = machine
            .keys_below(node, ranks)
            .take(KEYS_TRIED)
            .filter_map(|key| Some((key, self.object_member(object, KeyRef::Known(key))?)))
            .min_by_key(|(key, member)| {
                add(self.key_cost(machine.keys[*key as usize]), self.member_cost(*member, outer))
            });
        let unknown = other.and_then(|other| {
            let is_new = |text: &[u8]| !seq.contains_key(keys, text);
            let text = self.next_fresh(&mut self.fresh_keys(other), &typed, &is_new)?;
            let class = self.class_of(machine, &[&typed, &*text].concat())?;
            Some((text, self.object_member(object, KeyRef::Class(class))?))
        });
        let known_cost = known.map_or(NEVER, |(key, member)| {
            let rest =
                self.key_cost(machine.keys[key as usize]).saturating_sub(u32::try_from(typed.len()).unwrap_or(0));
            add(rest, self.member_cost(member, outer))
        });
        let unknown_cost =
            unknown.as_ref().map_or(NEVER, |(text, member)| add(to_u32(text.len()), self.member_cost(*member, outer)));
        let mut keys = keys;
        let mut used = None;
        let member = match (known, unknown) {
            (Some((key, member)), _) if known_cost <= unknown_cost => {
                let text = self.texts.get(machine.keys[key as usize]).as_bytes();
                self.escaping.write(text.get(typed.len()..).unwrap_or_default(), out);
                member
            }
            (_, Some((text, member))) => {
                self.escaping.write(&text, out);
                // It must not come again.
                let mut seq = seq.clone();
                let start = seq.text_end();
                for byte in typed.iter().chain(&text) {
                    seq.push_text(*byte);
                }
                keys = seq.insert_key(keys, start);
                used = Some(seq);
                member
            }
            (Some((_, member)), None) => member,
            (None, None) => return 0,
        };
        out.push(b'"');
        self.complete_member(used.as_ref().unwrap_or(seq), member, keys, depth, outer, out)
    }

    /// A search for rests of unknown keys.
    fn fresh_keys(&self, start: LangState) -> FreshKeys {
        let first = (Reverse(self.langs.shortest(start)), Reverse(Vec::new()), start.id());
        FreshKeys { shortest: self.langs.completion(start, 0, None), open: BinaryHeap::from([first]) }
    }

    /// The shortest rest of an unknown key that is new, by best-first search; the next one goes on from there.
    fn next_fresh(&self, keys: &mut FreshKeys, typed: &[u8], is_new: &dyn Fn(&[u8]) -> bool) -> Option<Vec<u8>> {
        if let Some(shortest) = keys.shortest.take().filter(|text| is_new(&[typed, text].concat())) {
            return Some(shortest);
        }
        // Whole characters only, the plainest first: there are always enough of them but in small languages.
        let mut looked_at = 0;
        while looked_at < KEYS_LOOKED_AT {
            let (_, Reverse(text), state) = keys.open.pop()?;
            let state = LangState::from_id(state);
            for byte in 0..=u8::MAX {
                if let Some(next) = self.langs.step(state, byte) {
                    let mut longer = text.clone();
                    longer.push(byte);
                    let len = to_u32(longer.len());
                    let whole = len.saturating_add(self.langs.shortest(next));
                    keys.open.push((Reverse(whole), Reverse(longer), next.id()));
                }
            }
            if !self.langs.is_accepting(state) {
                looked_at += 1;
            } else if is_new(&[typed, &text].concat()) {
                return Some(text);
            }
        }
        None
    }

    /// The plan, with values that differ where they have to.
    fn distinct_plan(&self, atom: u32, plan: ArrayPlan, count: u32, seen: Seen<'_>) -> Option<ArrayPlan> {
        let compared = self.array_atoms.get(atom).unique && !plan.items.is_empty();
        if compared { self.with_distinct(&plan, count, seen) } else { Some(plan) }
    }

    fn complete_array(
        &self,
        seq: &Frames,
        state: State,
        array: u32,
        depth: u32,
        outer: &[u32],
        out: &mut Vec<u8>,
    ) -> u16 {
        let situation = self.situations.get(state.id);
        let comma_read = matches!(situation, Situation::ArrayComma { .. });
        let opened = matches!(situation, Situation::ArrayOpen { .. });
        let count = state.c;
        let this = self.array_states.get(array);
        let indent = blanks(self.options.whitespace, Gap::Open, depth).len() > 0;
        // A comma, or an indent's line break after the bracket, has promised an item; one before the closing bracket has promised
        // that.
        let promised = comma_read || (opened && indent && state.a > 0);
        let seen = Seen::new(seq, KeySet::from_word(state.b));
        let plans = this.alts.iter().filter_map(|&(tag, atom)| {
            let outer = outer.get(usize::from(tag)).copied().filter(|cost| *cost != NEVER)?;
            let plan = self.array_plan_of(atom, this.index, count, promised, seen, None)?;
            let plan = self.distinct_plan(atom, plan, count, seen)?;
            Some((add(plan.cost, outer), tag, plan))
        });
        let plans: Vec<(u32, u16, ArrayPlan)> = plans.collect();
        let closing = !opened && !comma_read && indent && state.a > 0;
        let candidates = plans.iter().filter(|(.., plan)| !closing || plan.items.is_empty());
        let Some((_, tag, plan)) = candidates.min_by_key(|(cost, ..)| *cost) else { return 0 };
        if closing {
            blanks(self.options.whitespace, Gap::Close, depth).write(state.a, out);
            out.push(b']');
            return *tag;
        }
        if plan.items.is_empty() {
            if !opened {
                self.blanks(Gap::Close, depth, out);
            }
            out.push(b']');
            return *tag;
        }
        if comma_read || opened {
            blanks(self.options.whitespace, if comma_read { Gap::Comma } else { Gap::Open }, depth).write(state.a, out);
        }
        self.write(self.array_rest(this.position, plan, count, depth, comma_read || opened), out);
        *tag
    }

    fn complete_string(&self, alt: &StringAlt, state: State, out: &mut Vec<u8>) {
        let mut lang = LangState::from_id(alt.state);
        let mut chars = state.a;
        let window = |chars: u32| (alt.min.saturating_sub(chars), alt.max.map(|max| max.saturating_sub(chars)));
        if state.b != 0 {
            let (min, max) = window(chars + 1);
            let fits = |next: LangState| alt.max.is_none_or(|max| chars < max) && self.langs.can_finish(next, min, max);
            let live = |ranges: &[(u32, u32)]| self.any_char(lang, ranges, &fits);
            if let Some((bytes, c)) = self.escaping.finish(state.b, &live) {
                out.extend(bytes);
                lang = self.step_char(lang, c).unwrap_or(lang);
                chars += 1;
            }
        }
        let (min, max) = window(chars);
        self.escaping.write(&self.langs.completion(lang, min, max).unwrap_or_default(), out);
        out.push(b'"');
    }

    /// A text as a JSON string.
    fn quote(&self, decoded: &[u8], out: &mut Vec<u8>) {
        out.push(b'"');
        self.escaping.write(decoded, out);
        out.push(b'"');
    }
}
