//! Witnesses: a shortest text that completes a configuration, level by level from the top frame outwards.

use super::JsonAutomaton;
use super::array::ArrayState;
use super::form::FormId;
use super::liveness::{Cheapest, NEVER};
use super::object::{Member, OFF, ObjectState};
use super::situation::{Await, Situation, StringAlt};
use super::space::{Gap, blanks};
use crate::automaton::State;
use crate::frames::{FrameId, Frames, KeySet};
use crate::lang::LangState;

/// Text to write, last first: values may nest as deep as the schema says, so they wait on a list and not on the call stack.
enum Task {
    Bytes(Vec<u8>),
    Value { form: FormId, position: u32, depth: u32 },
}

/// How many known keys are looked at for the cheapest one.
const KEYS_TRIED: usize = 64;

impl JsonAutomaton {
    /// A shortest text that satisfies a form.
    pub(super) fn spell_form(&self, form: FormId) -> String {
        let mut out = Vec::new();
        let position = self.positions.root(self.schema.root());
        self.write(vec![Task::Value { form, position, depth: 0 }], &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    /// A shortest text that completes a configuration.
    pub(super) fn complete(&self, seq: &Frames, state: State) -> Vec<u8> {
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
        let depth = u32::try_from(chain.len()).unwrap_or(u32::MAX);
        let mut out = Vec::new();
        let mut tag =
            self.complete_top(seq, state, key_frame, depth, outside.last().map_or(&[], Vec::as_slice), &mut out);
        for (level, frame) in chain.iter().enumerate() {
            let outer = outside.get(chain.len() - 1 - level).map_or(&[][..], Vec::as_slice);
            let depth = frame.depth;
            tag = self.after_member(frame.state, frame.count.saturating_add(1), tag, depth, outer, &mut out);
        }
        out
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
            Await::Object { alts, machine, next, used } => {
                let state = self.object_states.get(self.object_state(Box::default(), *machine, *next, used.clone()));
                alts.iter()
                    .map(|&(form, tag, atom)| (form, tag, atom, add(self.object_rest_cost(state, atom), outer(tag))))
                    .collect()
            }
            Await::Array { alts, .. } => alts
                .iter()
                .filter(|(_, _, atom)| self.array_atoms.get(*atom).max.is_none_or(|max| count <= max))
                .map(|&(form, tag, atom)| (form, tag, atom, add(self.array_rest_cost(atom, count), outer(tag))))
                .collect(),
        }
    }

    fn object_rest_cost(&self, state: &ObjectState, atom: u32) -> u32 {
        let machine = self.machines.get(state.machine);
        self.open_keys(state, atom).into_iter().fold(1, |sum, key| {
            let text = machine.keys[key as usize];
            let value = self.cost(self.member_form(atom, Some(text)));
            add(add(sum, add(self.key_cost(text), 2)), value)
        })
    }

    fn array_rest_cost(&self, atom: u32, count: u32) -> u32 {
        self.needed_items(atom, count).into_iter().fold(1, |sum, (form, times)| {
            let one = add(self.cost(form), 1);
            add(sum, if one == NEVER { NEVER } else { one.saturating_mul(times).min(NEVER - 1) })
        })
    }

    /// Writes the rest of the container after a member that ended with `form`; the tag that the container ends with.
    fn after_member(&self, awaits: u32, count: u32, form: u16, depth: u32, outer: &[u32], out: &mut Vec<u8>) -> u16 {
        let rests = self.rests(awaits, count, outer);
        let best = rests.iter().filter(|(f, ..)| *f == form).min_by_key(|(.., cost)| *cost);
        let Some(&(_, tag, atom, _)) = best else { return 0 };
        match self.awaits.get(awaits) {
            Await::Object { machine, next, used, .. } => {
                let state = self.object_states.get(self.object_state(Box::default(), *machine, *next, used.clone()));
                self.write(self.object_rest(state, atom, depth, false), out);
            }
            Await::Array { index, position, .. } => {
                let state = ArrayState { alts: Box::default(), index: *index, position: *position };
                self.write(self.array_rest(&state, atom, count, depth, false), out);
            }
        }
        tag
    }

    /// What is left of an object: its open keys and the closing brace.
    fn object_rest(&self, state: &ObjectState, atom: u32, depth: u32, comma_read: bool) -> Vec<Task> {
        let machine = self.machines.get(state.machine);
        let mut tasks = Vec::new();
        let mut first = comma_read;
        for key in self.open_keys(state, atom) {
            let id = machine.keys[key as usize];
            let mut bytes = Vec::new();
            if !first {
                bytes.push(b',');
                self.blanks(Gap::Comma, depth, &mut bytes);
            }
            first = false;
            self.quote(self.texts.get(id).as_bytes(), &mut bytes);
            bytes.push(b':');
            self.blanks(Gap::Colon, depth, &mut bytes);
            tasks.push(Task::Bytes(bytes));
            let position = self.positions.member(&self.schema, machine.position, Some(self.texts.get(id)));
            tasks.push(Task::Value { form: self.member_form(atom, Some(id)), position, depth: depth + 1 });
        }
        let mut end = Vec::new();
        self.blanks(Gap::Close, depth, &mut end);
        end.push(b'}');
        tasks.push(Task::Bytes(end));
        tasks
    }

    /// What is left of an array of `count` items.
    fn array_rest(&self, state: &ArrayState, atom: u32, count: u32, depth: u32, comma_read: bool) -> Vec<Task> {
        let min = self.array_atoms.get(atom).min;
        let mut tasks = Vec::new();
        for index in count..min {
            if index > count || !comma_read {
                let mut bytes = vec![b','];
                self.blanks(Gap::Comma, depth, &mut bytes);
                tasks.push(Task::Bytes(bytes));
            }
            let position = self.positions.item(&self.schema, state.position, index);
            tasks.push(Task::Value { form: self.item_form(atom, index), position, depth: depth + 1 });
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
        match self.cheapest_of(form) {
            None => {}
            Some(Cheapest::Null) => out.extend(b"null"),
            Some(Cheapest::Boolean(b)) => out.extend(if b { &b"true"[..] } else { b"false" }),
            Some(Cheapest::Number(atom)) => out.extend(self.shortest_number(atom)),
            Some(Cheapest::String(atom)) => {
                let atom = self.string_atoms.get(atom);
                let text = self.langs.start(atom.lang).and_then(|s| self.langs.completion(s, atom.min, atom.max));
                self.quote(&text.unwrap_or_default(), out);
            }
            Some(Cheapest::Array(atom)) => {
                out.push(b'[');
                if self.array_atoms.get(atom).min == 0 {
                    out.push(b']');
                    return Vec::new();
                }
                self.blanks(Gap::Open, depth, out);
                return self.array_rest(&ArrayState { alts: Box::default(), index: 0, position }, atom, 0, depth, true);
            }
            Some(Cheapest::Object(atom)) => {
                out.push(b'{');
                if self.object_atoms.get(atom).required.is_empty() {
                    out.push(b'}');
                    return Vec::new();
                }
                self.blanks(Gap::Open, depth, out);
                if let Some(Situation::ObjectOpen { object }) = self.open_object(&[(0, atom)], position) {
                    return self.object_rest(self.object_states.get(object), atom, depth, true);
                }
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
            Situation::Done => 0,
            Situation::Value { goal, gap } => {
                // A value after a colon stands in the frame of its object.
                blanks(self.options.whitespace, *gap, depth).write(state.a, out);
                self.write_goal(*goal, depth, outer, out)
            }
            Situation::String { tag, min, max } => {
                let alt = StringAlt { tag: *tag, state: state.c, min: *min, max: *max };
                self.complete_string(&alt, state, out);
                *tag
            }
            Situation::Strings { alts } => {
                let cost =
                    |alt: &&StringAlt| add(self.langs.shortest(LangState::from_id(alt.state)), outer_of(alt.tag));
                let Some(best) = alts.iter().min_by_key(cost) else { return 0 };
                self.complete_string(best, state, out);
                best.tag
            }
            Situation::Number { alts } => {
                let cost = |(tag, track): &&(u16, u32)| add(self.number_cost(*track).unwrap_or(NEVER), outer_of(*tag));
                let Some((tag, track)) = alts.iter().min_by_key(cost) else { return 0 };
                out.extend(self.number_rest(*track).unwrap_or_default());
                *tag
            }
            Situation::Literal { literal, at, tags } => {
                out.extend(&literal.text().as_bytes()[usize::from(*at)..]);
                self.tag_sets.get(*tags).iter().copied().min_by_key(|tag| outer_of(*tag)).unwrap_or(0)
            }
            Situation::ObjectOpen { object } | Situation::ObjectNext { object } | Situation::ObjectComma { object } => {
                self.complete_object(seq, state, *object, depth, outer, out)
            }
            Situation::Key { object } => {
                let Some(frame) = key_frame else { return 0 };
                let keys = seq.peek(frame).keys;
                let typed = seq.text_from(seq.peek(frame).count).to_vec();
                self.complete_key(seq, state, *object, keys, &typed, depth, outer, out)
            }
            Situation::Colon { goal, member } => {
                self.complete_member(Member { goal: *goal, awaits: *member }, 0, depth, outer, out)
            }
            Situation::ArrayOpen { array } | Situation::ArrayNext { array } | Situation::ArrayComma { array } => {
                self.complete_array(state, *array, depth, outer, out)
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
    fn complete_member(&self, member: Member, count: u32, depth: u32, outer: &[u32], out: &mut Vec<u8>) -> u16 {
        out.push(b':');
        self.blanks(Gap::Colon, depth, out);
        self.complete_from_value(member, count, depth, outer, out)
    }

    fn complete_from_value(&self, member: Member, count: u32, depth: u32, outer: &[u32], out: &mut Vec<u8>) -> u16 {
        let inner = self.member_costs(member.awaits, count.saturating_add(1), outer);
        let form = self.write_goal(member.goal, depth + 1, &inner, out);
        self.after_member(member.awaits, count.saturating_add(1), form, depth, outer, out)
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
        let cost = |(tag, atom): &&(u16, u32)| {
            add(self.object_rest_cost(this, *atom), outer.get(usize::from(*tag)).copied().unwrap_or(NEVER))
        };
        let Some(&(tag, atom)) = this.alts.iter().min_by_key(cost) else { return 0 };
        let open = !self.open_keys(this, atom).is_empty();
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
            let closing = this.alts.iter().filter(|(_, atom)| self.open_keys(this, *atom).is_empty());
            blanks(self.options.whitespace, Gap::Close, depth).write(state.a, out);
            out.push(b'}');
            return closing.min_by_key(cost).map_or(0, |(tag, _)| *tag);
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
        self.write(self.object_rest(this, atom, depth, comma_read || opened), out);
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
            .filter_map(|key| Some((key, self.object_member(object, Some(key))?)))
            .min_by_key(|(key, member)| {
                add(self.key_cost(machine.keys[*key as usize]), self.member_cost(*member, outer))
            });
        let unknown = other.and_then(|other| {
            let text = self.fresh_key(seq, keys, other, &typed)?;
            Some((text, self.object_member(object, None)?))
        });
        let known_cost = known.map_or(NEVER, |(key, member)| {
            let rest =
                self.key_cost(machine.keys[key as usize]).saturating_sub(u32::try_from(typed.len()).unwrap_or(0));
            add(rest, self.member_cost(member, outer))
        });
        let unknown_cost = unknown.as_ref().map_or(NEVER, |(text, member)| {
            add(u32::try_from(text.len()).unwrap_or(NEVER), self.member_cost(*member, outer))
        });
        let member = match (known, unknown) {
            (Some((key, member)), _) if known_cost <= unknown_cost => {
                let text = self.texts.get(machine.keys[key as usize]).as_bytes();
                self.escaping.write(text.get(typed.len()..).unwrap_or_default(), out);
                member
            }
            (_, Some((text, member))) => {
                self.escaping.write(&text, out);
                member
            }
            (Some((_, member)), None) => member,
            (None, None) => return 0,
        };
        out.push(b'"');
        self.complete_member(member, 0, depth, outer, out)
    }

    /// The rest of a key that is neither known nor used.
    fn fresh_key(&self, seq: &Frames, keys: KeySet, other: LangState, typed: &[u8]) -> Option<Vec<u8>> {
        let is_new = |rest: &[u8]| {
            let end = rest.iter().try_fold(other, |s, b| self.langs.step(s, *b));
            end.is_some_and(|s| self.langs.is_accepting(s)) && !seq.contains_key(keys, &[typed, rest].concat())
        };
        let shortest = self.langs.completion(other, 0, None)?;
        if is_new(&shortest) {
            return Some(shortest);
        }
        // Numbered, the first that is new: there are more numbers than keys used.
        let numbered = (0..=u32::MAX).map(|n| [&shortest[..], n.to_string().as_bytes()].concat());
        numbered.take(seq.key_count() + 1_000).find(|rest| is_new(rest)).or_else(|| {
            // Without digits to write: the first length that no used key has.
            let longer = (1..=u32::MAX).map_while(|length| self.langs.completion(other, length, None));
            longer.take(seq.key_count() + 1).find(|rest| is_new(rest))
        })
    }

    fn complete_array(&self, state: State, array: u32, depth: u32, outer: &[u32], out: &mut Vec<u8>) -> u16 {
        let situation = self.situations.get(state.id);
        let comma_read = matches!(situation, Situation::ArrayComma { .. });
        let opened = matches!(situation, Situation::ArrayOpen { .. });
        let count = state.c;
        let this = self.array_states.get(array);
        let cost = |(tag, atom): &&(u16, u32)| {
            add(self.array_rest_cost(*atom, count), outer.get(usize::from(*tag)).copied().unwrap_or(NEVER))
        };
        let Some(&(tag, atom)) = this.alts.iter().min_by_key(cost) else { return 0 };
        let open = self.array_atoms.get(atom).min > count;
        let indent = blanks(self.options.whitespace, Gap::Open, depth).len() > 0;
        if comma_read || (opened && indent && state.a > 0) {
            blanks(self.options.whitespace, if comma_read { Gap::Comma } else { Gap::Open }, depth).write(state.a, out);
            let Some(array) = self.array_with_room(array, count) else { return 0 };
            return self.complete_from_value(self.array_member(array), count, depth, outer, out);
        }
        if !opened && indent && state.a > 0 {
            let closing = this.alts.iter().filter(|(_, atom)| self.array_atoms.get(*atom).min <= count);
            blanks(self.options.whitespace, Gap::Close, depth).write(state.a, out);
            out.push(b']');
            return closing.min_by_key(cost).map_or(0, |(tag, _)| *tag);
        }
        if !open {
            if !opened {
                self.blanks(Gap::Close, depth, out);
            }
            out.push(b']');
            return tag;
        }
        if opened {
            blanks(self.options.whitespace, Gap::Open, depth).write(state.a, out);
        }
        self.write(self.array_rest(this, atom, count, depth, opened), out);
        tag
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

fn add(a: u32, b: u32) -> u32 {
    if a == NEVER || b == NEVER { NEVER } else { a.saturating_add(b).min(NEVER - 1) }
}
