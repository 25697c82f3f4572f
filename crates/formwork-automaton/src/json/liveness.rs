//! Which forms some finite value satisfies, and how short it can be: a least fixed point.
//!
//! The cost of a form is the least cost of its alternatives; the cost of an object is that of its required members, the cost of an
//! array that of the items it must have. Forms refer to each other recursively, so the costs are the least solution of these
//! equations (Knuth, "A generalization of Dijkstra's algorithm", 1977), here by iteration from "never" downwards: each round only
//! lowers costs. What is never reached stays [`NEVER`]: no finite value satisfies it.
//!
//! Which forms that needs is found while plans for objects and arrays are made; a plan made with costs that are still too high only
//! comes later, since costs only fall.
//!
//! Alternatives that the vocabulary can't spell are none: they are left out where atoms are made, so costs needn't know.
//!
//! A configuration is live where one of its active alternatives is: alternatives join by "or" alone, each is a conjunction, and the
//! parent's alternatives that an active tag serves are live by construction, whatever the watching tags say besides. So liveness
//! never looks below the top frame.

use std::cell::RefCell;
use std::sync::atomic::Ordering;
use std::sync::{PoisonError, RwLock};

use formwork_grammar::{Applicator, NodeKind, Type};
use rustc_hash::{FxHashMap, FxHashSet};

use super::JsonAutomaton;
use super::few::Sought;
use super::form::{Form, FormId};
use super::object_plan::Place;

/// The cost of what no finite value satisfies.
pub(super) const NEVER: u32 = u32::MAX;

/// The least cost in bytes of each form asked for so far (blanks not counted).
#[derive(Debug, Default)]
pub(super) struct Costs(RwLock<FxHashMap<FormId, u32>>);

impl Costs {
    pub(super) fn new() -> Self {
        Self::default()
    }

    fn get(&self, form: FormId) -> Option<u32> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(&form).copied()
    }
}

/// Forms that one question may look at; beyond, no value is found, and that is counted.
const MAX_FORMS: usize = 1 << 16;
/// Items of an array that are looked at for one that nothing can be.
const MAX_BLAMED: u32 = 64;

/// The costs of forms, some of them while they are still being found.
pub(super) struct Known<'a> {
    pub(super) costs: &'a dyn Fn(FormId) -> u32,
    /// What values were found by these costs; `None` where they are found by all costs.
    pub(super) sought: Option<&'a Sought>,
}

impl Known<'_> {
    pub(super) fn cost(&self, form: FormId) -> u32 {
        (self.costs)(form)
    }
}

/// Values of so many bytes are not begun, unless the limit on the shortest text allows them.
const LONGEST: u32 = 1 << 24;

/// A cost that is held below [`NEVER`] however large it is.
pub(super) fn finite(cost: u32) -> u32 {
    cost.min(NEVER - 1)
}

/// The sum of two costs.
pub(super) fn add(a: u32, b: u32) -> u32 {
    if a == NEVER || b == NEVER { NEVER } else { finite(a.saturating_add(b)) }
}

/// An alternative of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cheapest {
    Null,
    Boolean(bool),
    Number(u32),
    String(u32),
    Array(u32),
    Object(u32),
}

impl JsonAutomaton {
    /// Bytes of the shortest value that satisfies a form, or [`NEVER`].
    pub(super) fn cost(&self, form: FormId) -> u32 {
        if let Some(cost) = self.costs.get(form) {
            return cost;
        }
        // Forms whose costs are asked for on the way join the list: which ones a plan needs is known only while it is made.
        let mut unknown = vec![form];
        let mut found: FxHashMap<FormId, u32> = FxHashMap::from_iter([(form, NEVER)]);
        let sought = Sought::default();
        loop {
            let mut lowered = false;
            sought.take_open();
            let met: RefCell<Vec<FormId>> = RefCell::default();
            // Those found last are needed by those found first.
            for &form in unknown.iter().rev() {
                let known = |f: FormId| {
                    found.get(&f).copied().or_else(|| self.costs.get(f)).unwrap_or_else(|| {
                        met.borrow_mut().push(f);
                        NEVER
                    })
                };
                let known = Known { costs: &known, sought: Some(&sought) };
                let cost = self.cheapest(form, &known).map_or(NEVER, |(_, cost)| cost);
                let before = found.get(&form).copied().unwrap_or(NEVER);
                if cost < before {
                    found.insert(form, cost);
                    lowered = true;
                    if before == NEVER {
                        sought.forget();
                    }
                }
            }
            for form in met.into_inner() {
                if unknown.len() >= MAX_FORMS {
                    self.note_undecided();
                    break;
                }
                found.entry(form).or_insert_with(|| {
                    unknown.push(form);
                    lowered = true;
                    NEVER
                });
            }
            if !lowered {
                break;
            }
        }
        if sought.take_open() && found.values().any(|cost| *cost == NEVER) {
            self.note_undecided();
        }
        let cost = found.get(&form).copied().unwrap_or(NEVER);
        self.costs.0.write().unwrap_or_else(PoisonError::into_inner).extend(found);
        cost
    }

    /// The cost of a value from its start, where it is short enough to be written; notes where it is only too long for that. What is left
    /// of a value that was begun is not held against this: it has to be completed. A lower limit is one on the whole text alone, since plans
    /// go by the costs of values that they must tell apart.
    pub(super) fn within_limit(&self, cost: u32) -> u32 {
        if cost == NEVER || cost < self.options.limits.shortest_text.max(LONGEST) {
            return cost;
        }
        self.too_long.store(true, Ordering::Relaxed);
        self.note_undecided();
        NEVER
    }

    /// The cost of a form, by those that are being found where they are.
    pub(super) fn cost_by(&self, known: Option<&Known<'_>>, form: FormId) -> u32 {
        known.map_or_else(|| self.cost(form), |known| known.cost(form))
    }

    /// The cheapest alternative of a form, given the costs of the forms it needs.
    fn cheapest(&self, form: FormId, known: &Known<'_>) -> Option<(Cheapest, u32)> {
        let typed = self.typed(form);
        let null = typed.null.then_some((Cheapest::Null, 4));
        let booleans = [(2, true, 4), (1, false, 5)]
            .into_iter()
            .filter(|(bit, ..)| typed.booleans & bit != 0)
            .map(|(_, value, cost)| (Cheapest::Boolean(value), cost));
        let numbers = typed.numbers.iter().filter_map(|a| Some((Cheapest::Number(*a), self.number_start_cost(*a)?)));
        let strings = typed.strings.iter().map(|a| (Cheapest::String(*a), self.string_cost(*a)));
        let arrays = typed.arrays.iter().map(|a| (Cheapest::Array(*a), self.array_cost_with(*a, Some(known))));
        let objects = typed.objects.iter().map(|a| (Cheapest::Object(*a), self.object_cost_with(*a, known.costs)));
        null.into_iter()
            .chain(booleans)
            .chain(numbers)
            .chain(strings)
            .chain(arrays)
            .chain(objects)
            .filter(|(_, cost)| *cost != NEVER)
            .min_by_key(|(_, cost)| *cost)
    }

    /// The cheapest alternative of a form.
    pub(super) fn cheapest_of(&self, form: FormId) -> Option<Cheapest> {
        self.cheapest.get_or(form, || {
            let own = self.cost(form);
            let below = |form| self.costs.get(form).filter(|cost| *cost < own).unwrap_or(NEVER);
            // A value that differs from others is written as it is, whatever it costs.
            self.cheapest(form, &Known { costs: &below, sought: None }).map(|(cheapest, _)| cheapest)
        })
    }

    pub(super) fn string_cost(&self, atom: u32) -> u32 {
        let atom = self.string_atoms.get(atom);
        let Some(start) = self.string_start(atom) else { return NEVER };
        self.within_limit(finite(self.langs.shortest(start).max(atom.min).saturating_add(2)))
    }

    fn object_cost_with(&self, atom: u32, cost: &dyn Fn(FormId) -> u32) -> u32 {
        let this = self.object_atoms.get(atom);
        if this.is_complex() {
            let place = Place { machine: self.loose_machine(atom), next: 0, used: &[], count: 0 };
            return self.object_plan(place, atom, cost).map_or(NEVER, |plan| self.within_limit(add(plan.cost, 2)));
        }
        self.within_limit(
            this.required
                .iter()
                .fold(2_u32, |sum, key| add(sum, add(add(self.key_cost(*key), cost(self.named_form(this, *key))), 2))),
        )
    }

    pub(super) fn object_cost(&self, atom: u32) -> u32 {
        self.object_cost_with(atom, &|form| self.cost(form))
    }

    /// The pointer of the subschema that makes a form unsatisfiable: the deepest on the way down by needed parts.
    pub(super) fn blame(&self, form: FormId) -> String {
        let mut at = form;
        let mut seen = FxHashSet::default();
        let mut pointer = self.pointer_of(at);
        while seen.insert(at) {
            let parts = self.needed_parts(at);
            let typed = self.typed(at);
            let items = typed.arrays.iter().flat_map(|a| {
                let needed = self.array_atoms.get(*a).min.min(MAX_BLAMED);
                (0..needed).map(|index| self.item_form(*a, index)).collect::<Vec<_>>()
            });
            let members = typed.objects.iter().flat_map(|o| {
                let atom = self.object_atoms.get(*o);
                atom.required.iter().map(|key| self.named_form(atom, *key)).collect::<Vec<_>>()
            });
            let mut needed = items.chain(members).chain(parts);
            let Some(next) = needed.find(|f| self.cost(*f) == NEVER) else { break };
            at = next;
            pointer = self.pointer_of(at).or(pointer);
        }
        pointer.unwrap_or_default()
    }

    /// The subschemas that a value of a form needs a value of, as far as its keywords say: no alternative may be left to ask.
    fn needed_parts(&self, form: FormId) -> Vec<FormId> {
        let mut nodes = Vec::new();
        let own = match self.forms.get(form.0) {
            Form::And(parts) => parts.to_vec(),
            _ => vec![form],
        };
        for part in own {
            let Form::Node(node) = self.forms.get(part.0) else { continue };
            let NodeKind::Keywords(keywords) = &self.schema.node(*node).kind else { continue };
            for applicator in &keywords.applicators {
                match applicator {
                    Applicator::Ref(target) => nodes.push(*target),
                    Applicator::AllOf(targets) => nodes.extend(targets),
                    _ => {}
                }
            }
            if keywords.types.is_only(Type::Object) {
                let object = &keywords.object;
                let named = |key: &String| object.properties.get(key).copied().or(object.additional);
                nodes.extend(object.required.iter().filter_map(named));
            }
            if keywords.types.is_only(Type::Array) {
                let items = keywords.array.prefix.iter().chain(&keywords.array.rest);
                nodes.extend(items.take(keywords.array.min_items as usize));
            }
        }
        nodes.into_iter().map(|node| self.node_form(node)).collect()
    }

    fn pointer_of(&self, form: FormId) -> Option<String> {
        match self.forms.get(form.0) {
            Form::Node(node) => Some(self.schema.node(*node).pointer.clone()),
            Form::And(parts) | Form::Or(parts) => parts.iter().rev().find_map(|p| self.pointer_of(*p)),
            Form::Not(inner) => self.pointer_of(*inner),
            Form::False | Form::True | Form::Value(_) | Form::Spelled(..) => None,
        }
    }
}
