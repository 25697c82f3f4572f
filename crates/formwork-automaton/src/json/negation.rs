//! Negation: what is left of alternatives when others are excluded, `if` and its kin.
//!
//! A type's complement is pushed down to its atoms. Strings, numbers and arrays have plain complements: other languages, other
//! bounds, `contains` of what is not an item. The complement of an object's conditions may need "some other key whose value is not
//! F", which has no plain form; an object atom therefore carries the atoms that it must not satisfy, and they are resolved as
//! members come (see `object_plan.rs`).

use super::JsonAutomaton;
use super::array::{ArrayAtom, ArrayGroup, Counted, join};
use super::form::{Form, FormId};
use super::object::ObjectAtom;
use super::typed::{Evaluated, Typed, Work, dedup};
use crate::interner::to_u32;

/// Conditions on objects become atoms to exclude, where so few of them say it.
const MAX_EXCLUDED: usize = 64;

/// Keeps the parts that are left of an alternative, by its id: all of it, where it shares nothing with what is excluded, or where one part is
/// the whole.
fn put_parts<A: PartialEq>(
    (id, whole): (u32, &A),
    is_apart: bool,
    parts: impl Iterator<Item = A>,
    out: &mut Vec<u32>,
    keep: impl Fn(A, &mut Vec<u32>),
) {
    let parts: Vec<A> = if is_apart { Vec::new() } else { parts.collect() };
    if is_apart || parts.contains(whole) {
        out.push(id);
    } else {
        for part in parts {
            keep(part, out);
        }
    }
}

impl JsonAutomaton {
    /// What of `from` does not satisfy `what`.
    pub(super) fn without_typed(&self, from: Typed, what: &Typed) -> Typed {
        if what.cut {
            // The complement of a language that was narrowed would be too wide.
            self.note_undecided();
            return Typed { cut: true, ..Typed::default() };
        }
        let mut out = Typed { null: from.null && !what.null, booleans: from.booleans & !what.booleans, ..from };
        let mut work = Work::default();
        for other in &what.numbers {
            let other = self.number_atoms.get(*other);
            let complement = other.complement();
            out.cut |= self.replace_each(&mut out.numbers, complement.len(), &mut work, |id, out| {
                let atom = self.number_atoms.get(id);
                let parts = complement.iter().filter_map(|part| atom.meet(part));
                let is_apart = atom.meet(other).is_none();
                put_parts((id, atom), is_apart, parts, out, |part, out| self.keep_number(part, out));
            });
        }
        for other in &what.strings {
            let complement = self.string_complement(*self.string_atoms.get(*other));
            out.cut |= self.replace_each(&mut out.strings, complement.len(), &mut work, |id, out| {
                let atom = self.string_atoms.get(id);
                let parts = complement.iter().map(|part| self.meet_strings(*atom, *part));
                put_parts((id, atom), false, parts, out, |part, out| self.keep_string(part, out));
            });
        }
        for other in &what.arrays {
            let other = self.array_atoms.get(*other);
            let complement = self.array_complement(other);
            out.cut |= self.replace_each(&mut out.arrays, complement.len(), &mut work, |id, out| {
                let atom = self.array_atoms.get(id);
                let is_apart = self.is_array_contradiction(&self.meet_arrays(atom, other));
                let parts = complement.iter().map(|part| self.meet_arrays(atom, part));
                put_parts((id, atom), is_apart, parts, out, |part, out| self.keep_array(part, out));
            });
        }
        for other in &what.objects {
            out.cut |= self.replace_each(&mut out.objects, 1, &mut work, |atom, out| self.exclude(atom, *other, out));
        }
        out
    }

    /// Puts what becomes of each alternative, so many others at most, in its place; whether some are left out.
    fn replace_each(
        &self,
        list: &mut Vec<u32>,
        parts: usize,
        work: &mut Work,
        become_of: impl Fn(u32, &mut Vec<u32>),
    ) -> bool {
        let atoms = std::mem::take(list);
        let left = self.workable(work, atoms.len(), parts);
        for atom in atoms.iter().take(left) {
            become_of(*atom, list);
        }
        dedup(list);
        self.too_many(list) || left < atoms.len()
    }

    /// The alternatives of an object atom that don't satisfy another.
    fn exclude(&self, atom: u32, other: u32, out: &mut Vec<u32>) {
        let (this, that) = (self.object_atoms.get(atom), self.object_atoms.get(other));
        let meet = self.meet_objects(this, that);
        if self.is_object_contradiction(&meet) {
            out.push(atom);
            return;
        }
        if let Some(complement) = self.object_complement(that)
            && let [] | [_] = complement.as_slice()
        {
            for other in &complement {
                self.keep_object(self.meet_objects(this, other), out);
            }
            return;
        }
        let plain = self.object_atoms.intern(ObjectAtom { not: Box::default(), cover: None, ..that.clone() });
        let not = join(&this.not, &[plain]);
        self.keep_object(ObjectAtom { not, ..this.clone() }, out);
        for not in &that.not {
            self.keep_object(self.meet_objects(this, self.object_atoms.get(*not)), out);
        }
    }

    /// The complement of an object atom as plain alternatives, where it has that form.
    fn object_complement(&self, atom: &ObjectAtom) -> Option<Vec<ObjectAtom>> {
        if atom.names.is_some() {
            return None;
        }
        let mut out = Vec::new();
        for key in &atom.required {
            let groups = self.property(*key, self.form(Form::False));
            out.push(ObjectAtom { groups, ..ObjectAtom::default() });
        }
        for group in &atom.groups {
            let group = self.object_groups.get(*group);
            if !self.is_true(group.additional) || group.patterns.iter().any(|(_, form)| !self.is_true(*form)) {
                return None;
            }
            for (key, form) in &group.properties {
                let not = self.not_form(*form);
                if matches!(self.forms.get(not.0), Form::False) {
                    continue;
                }
                let (groups, required) = (self.property(*key, not), Box::from([*key]));
                out.push(ObjectAtom { groups, required, ..ObjectAtom::default() });
            }
        }
        if let Some(max) = atom.min.checked_sub(1) {
            out.push(ObjectAtom { max: Some(max), ..ObjectAtom::default() });
        }
        if let Some(max) = atom.max {
            out.push(ObjectAtom { min: max.saturating_add(1), ..ObjectAtom::default() });
        }
        out.extend(atom.not.iter().map(|not| self.object_atoms.get(*not).clone()));
        Some(out)
    }

    /// The complement of an array atom.
    fn array_complement(&self, atom: &ArrayAtom) -> Vec<ArrayAtom> {
        let mut out = Vec::new();
        let anything = self.form(Form::True);
        if let Some(max) = atom.min.checked_sub(1) {
            out.push(ArrayAtom { max: Some(max), ..ArrayAtom::default() });
        }
        if let Some(max) = atom.max {
            out.push(ArrayAtom { min: max.saturating_add(1), ..ArrayAtom::default() });
        }
        for group in &atom.groups {
            let group = self.array_groups.get(*group);
            for (index, form) in (0_u32..).zip(&group.prefix) {
                if self.is_true(*form) {
                    continue;
                }
                let prefix = (0..index).map(|_| anything).chain([self.not_form(*form)]).collect();
                let groups = self.array_group(ArrayGroup { prefix, rest: anything });
                out.push(ArrayAtom { groups, min: index + 1, ..ArrayAtom::default() });
            }
            if !self.is_true(group.rest) {
                let from = to_u32(group.prefix.len());
                let some = Counted { form: self.not_form(group.rest), from, min: 1, max: None };
                out.push(ArrayAtom { contains: Box::from([some]), ..ArrayAtom::default() });
            }
        }
        for counted in &atom.contains {
            match counted.min.checked_sub(1) {
                // None: no item from there on.
                Some(0) => {
                    let prefix = (0..counted.from).map(|_| anything).collect();
                    let groups = self.array_group(ArrayGroup { prefix, rest: self.not_form(counted.form) });
                    out.push(ArrayAtom { groups, ..ArrayAtom::default() });
                }
                Some(max) => {
                    let few = Counted { min: 0, max: Some(max), ..*counted };
                    out.push(ArrayAtom { contains: Box::from([few]), ..ArrayAtom::default() });
                }
                None => {}
            }
            if let Some(max) = counted.max {
                let many = Counted { min: max.saturating_add(1), max: None, ..*counted };
                out.push(ArrayAtom { contains: Box::from([many]), ..ArrayAtom::default() });
            }
        }
        if atom.unique {
            out.push(ArrayAtom { repeats: true, ..ArrayAtom::default() });
        }
        if atom.repeats {
            out.push(ArrayAtom { unique: true, ..ArrayAtom::default() });
        }
        out
    }

    /// The alternatives of `base` that satisfy `then` where they satisfy the condition, and `otherwise` where they don't.
    pub(super) fn conditional(
        &self,
        base: Typed,
        condition: &Typed,
        then: Option<FormId>,
        otherwise: Option<FormId>,
        evaluated: Evaluated,
    ) -> Typed {
        if condition.cut {
            self.note_undecided();
            return Typed { cut: true, ..Typed::default() };
        }
        let faults =
            if evaluated == Evaluated::Ignored { self.conditional_faults(condition, then, otherwise) } else { None };
        // Where the faults can be excluded one by one, the alternatives of objects don't multiply.
        let (rest, objects) = match faults {
            Some(faults) => {
                let objects = Typed { objects: base.objects.clone(), cut: base.cut, ..Typed::default() };
                let objects = self.without_typed(objects, &Typed { objects: faults, ..Typed::default() });
                (Typed { objects: Vec::new(), ..base }, objects)
            }
            None => (base, Typed::default()),
        };
        let branch = |typed: Typed, form: Option<FormId>| match form {
            Some(form) => self.both(&typed, &self.typed_noting(form, evaluated)),
            None => typed,
        };
        let holds = branch(self.both(&rest, condition), then);
        let fails = branch(self.without_typed(rest, condition), otherwise);
        let values = self.either(holds, &fails);
        self.either(values, &objects)
    }

    /// The objects that a conditional forbids, as plain atoms: those with the condition and without `then`, and the reverse.
    fn conditional_faults(
        &self,
        condition: &Typed,
        then: Option<FormId>,
        otherwise: Option<FormId>,
    ) -> Option<Vec<u32>> {
        let mut out = Vec::new();
        if let Some(then) = then {
            let holds: Vec<ObjectAtom> = condition.objects.iter().map(|a| self.object_atoms.get(*a).clone()).collect();
            if holds.iter().any(|atom| !atom.not.is_empty()) {
                return None;
            }
            self.products(&holds, &self.complement_list(&self.typed(then).objects)?, &mut out)?;
        }
        if let Some(otherwise) = otherwise {
            let fails = self.complement_list(&condition.objects)?;
            self.products(&fails, &self.complement_list(&self.typed(otherwise).objects)?, &mut out)?;
        }
        Some(out)
    }

    fn products(&self, a: &[ObjectAtom], b: &[ObjectAtom], out: &mut Vec<u32>) -> Option<()> {
        for x in a {
            for y in b {
                let met = self.meet_objects(x, y);
                self.keep_object(ObjectAtom { cover: None, ..met }, out);
                if out.len() > MAX_EXCLUDED {
                    return None;
                }
            }
        }
        Some(())
    }

    /// The complement of alternatives of objects as plain atoms, where it has that form and is small.
    fn complement_list(&self, atoms: &[u32]) -> Option<Vec<ObjectAtom>> {
        let mut out = vec![ObjectAtom::default()];
        for atom in atoms {
            let complement = self.object_complement(self.object_atoms.get(*atom))?;
            let mut next = Vec::new();
            for x in &out {
                for y in &complement {
                    let met = self.meet_objects(x, y);
                    if !self.is_object_contradiction(&met) {
                        next.push(met);
                    }
                }
            }
            if next.len() > MAX_EXCLUDED {
                return None;
            }
            out = next;
        }
        out.iter().all(|atom| atom.not.is_empty()).then_some(out)
    }
}
