//! Derivatives: what a formula becomes after one more byte.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::formula::{AtomId, Formula, FormulaId, NO, YES};
use super::program::{MATCH, Node, NodeId, Program, REST, Thread};
use super::spelling::DONE;
use super::store::{Atom, Store};
use super::utf8;

/// What holds at a place between two characters.
struct Place<'a> {
    atom: AtomId,
    program: &'a Program,
    at_start: bool,
    observers: &'a [FormulaId],
}

/// The threads that a place leads to, while they are gathered.
#[derive(Default)]
struct Gathered {
    threads: Vec<Thread>,
    seen: FxHashSet<(NodeId, u32)>,
    /// Alternatives that carry a condition on the rest of the text.
    conditional: Vec<FormulaId>,
    rest: bool,
}

/// A look-ahead passed at this very place: what follows is under its condition.
struct Passed {
    node: NodeId,
    condition: FormulaId,
}

impl Store {
    /// The formula before the first byte.
    pub(super) fn enter(&mut self, atom: AtomId, program: &Program, observers: &[FormulaId]) -> FormulaId {
        let place = Place { atom, program, at_start: true, observers };
        self.close(&place, program.start, &mut Vec::new())
    }

    /// The formula after one more byte.
    pub(super) fn derive(&mut self, formula: FormulaId, byte: u8) -> FormulaId {
        match self.formulas.get(formula) {
            Formula::No => NO,
            Formula::Yes => YES,
            Formula::Literals { atom, range } => {
                let (atom, range) = (*atom, *range);
                let Some(Atom::Literals { literals, .. }) = self.atoms.get(atom as usize) else {
                    return NO;
                };
                match range.step(literals, byte) {
                    Some(range) => self.range(atom, range),
                    None => NO,
                }
            }
            Formula::And(parts) => {
                let mut after = parts.to_vec();
                self.work += after.len() as u64;
                for part in &mut after {
                    *part = self.derive(*part, byte);
                    if *part == NO {
                        return NO;
                    }
                }
                self.and(&after)
            }
            Formula::Or(parts) => {
                let mut after = parts.to_vec();
                self.work += after.len() as u64;
                for part in &mut after {
                    *part = self.derive(*part, byte);
                    if *part == YES {
                        return YES;
                    }
                }
                self.or(&after)
            }
            Formula::Not(inner) => {
                let inner = *inner;
                let after = self.derive(inner, byte);
                self.not(after)
            }
            Formula::Pattern { .. } => self.derive_pattern(formula, byte),
        }
    }

    fn derive_pattern(&mut self, formula: FormulaId, byte: u8) -> FormulaId {
        let Formula::Pattern { atom, threads, observers } = self.formulas.get(formula) else {
            return NO;
        };
        let atom = *atom;
        let Some(Atom::Pattern { program, .. }) = self.atoms.get(atom as usize) else {
            return NO;
        };
        let program = Arc::clone(program);
        self.work += threads.len() as u64;
        let mut gathered = Gathered::default();
        let mut finished: Vec<(NodeId, u32)> = Vec::new();
        for &thread in threads {
            match program.node(thread.node()) {
                Node::Class { spelling, next } => {
                    match self.spellings.all()[spelling as usize].next(thread.inside(), byte) {
                        None => {}
                        Some(DONE) => finished.push((next, thread.count())),
                        Some(inside) => {
                            gathered.threads.push(Thread::new(thread.node(), inside, thread.count()));
                        }
                    }
                }
                Node::Any { next } => {
                    let inside = u8::try_from(thread.inside()).unwrap_or(u8::MAX);
                    match utf8::next(inside, byte) {
                        None => {}
                        Some(utf8::BOUNDARY) => finished.push((next, thread.count())),
                        Some(inside) => {
                            gathered.threads.push(Thread::new(thread.node(), u16::from(inside), thread.count()));
                        }
                    }
                }
                _ => {}
            }
        }
        let mut observers = observers.clone();
        for observer in &mut observers {
            *observer = self.derive(*observer, byte);
        }
        let place = Place { atom, program: &program, at_start: false, observers: &observers };
        for (next, count) in finished {
            self.gather(&place, next, count, &mut gathered, &mut Vec::new());
            if gathered.rest {
                return YES;
            }
        }
        self.finish(&place, gathered)
    }

    /// The formula for one node entered at a place.
    fn close(&mut self, place: &Place<'_>, node: NodeId, open: &mut Vec<Passed>) -> FormulaId {
        let mut gathered = Gathered::default();
        self.gather(place, node, 0, &mut gathered, open);
        self.finish(place, gathered)
    }

    fn finish(&mut self, place: &Place<'_>, mut gathered: Gathered) -> FormulaId {
        if gathered.rest {
            return YES;
        }
        gathered.threads.sort_unstable();
        gathered.threads.dedup();
        drop_dominated(place.program, &mut gathered.threads);
        let plain = self.threads(place.atom, gathered.threads.into(), place.observers.into());
        if gathered.conditional.is_empty() {
            return plain;
        }
        gathered.conditional.push(plain);
        self.or(&gathered.conditional)
    }

    /// Follows all that reads nothing from a node. `open` holds the look-aheads passed on the way here without reading.
    fn gather(&mut self, place: &Place<'_>, node: NodeId, count: u32, gathered: &mut Gathered, open: &mut Vec<Passed>) {
        let mut stack = vec![(node, count)];
        while let Some((id, count)) = stack.pop() {
            self.work += 1;
            let node = place.program.node(id);
            match node {
                Node::Rest => {
                    gathered.rest = true;
                    return;
                }
                Node::Match => gathered.threads.push(Thread::MATCH),
                Node::Class { .. } | Node::Any { .. } => {
                    if place.program.is_live(id) {
                        gathered.threads.push(Thread::new(id, 0, count));
                    }
                    continue;
                }
                _ if !gathered.seen.insert((id, count)) => continue,
                _ => {}
            }
            match node {
                Node::Split(a, b) => {
                    stack.push((b, count));
                    stack.push((a, count));
                }
                Node::Start { next } if place.at_start => stack.push((next, count)),
                Node::End { next } if self.ends(place, next) => {
                    gathered.threads.push(Thread::MATCH);
                }
                Node::Behind { observer, negated, next } => {
                    let state = place.observers.get(observer as usize).copied().unwrap_or(NO);
                    if self.formulas.facts(state).accepts != negated {
                        stack.push((next, count));
                    }
                }
                Node::Ahead { body, negated, next } => {
                    if open.iter().any(|passed| passed.node == id) {
                        continue;
                    }
                    let holds = self.close(place, body, open);
                    let fails = self.not(holds);
                    let (holds, fails) = if negated { (fails, holds) } else { (holds, fails) };
                    let assumed = |condition| open.iter().any(|passed| passed.condition == condition);
                    match holds {
                        NO => {}
                        _ if assumed(fails) => {}
                        _ if holds == YES || assumed(holds) => stack.push((next, count)),
                        _ => {
                            open.push(Passed { node: id, condition: holds });
                            let after = self.close(place, next, open);
                            open.pop();
                            let both = self.and_each(holds, after);
                            gathered.rest |= both == YES;
                            gathered.conditional.push(both);
                        }
                    }
                }
                Node::Loop { body, min, max, exit } => {
                    let done = count + 1;
                    if max.is_none_or(|max| done < max) {
                        // An unbounded loop need not count once this round is enough.
                        let kept = if max.is_none() { done.min(min.saturating_sub(1)) } else { done };
                        stack.push((body, kept));
                    }
                    if done >= min {
                        stack.push((exit, 0));
                    }
                }
                _ => {}
            }
        }
    }

    /// A condition on each alternative, so that equal alternatives meet again however often the condition is renewed.
    fn and_each(&mut self, condition: FormulaId, formula: FormulaId) -> FormulaId {
        match self.formulas.get(formula) {
            Formula::Or(parts) => {
                let mut parts = parts.to_vec();
                for part in &mut parts {
                    *part = self.and(&[condition, *part]);
                }
                self.or(&parts)
            }
            _ => self.and(&[condition, formula]),
        }
    }

    /// Whether the end is reached from a node when the text ends at this place.
    fn ends(&self, place: &Place<'_>, node: NodeId) -> bool {
        let mut seen = FxHashSet::default();
        let mut stack = vec![node];
        while let Some(id) = stack.pop() {
            if !seen.insert(id) {
                continue;
            }
            match place.program.node(id) {
                Node::Match | Node::Rest => return true,
                Node::Split(a, b) => stack.extend([a, b]),
                Node::Start { next } if place.at_start => stack.push(next),
                Node::End { next } => stack.push(next),
                Node::Behind { observer, negated, next } => {
                    let state = place.observers.get(observer as usize).copied().unwrap_or(NO);
                    if self.formulas.facts(state).accepts != negated {
                        stack.push(next);
                    }
                }
                Node::Ahead { body, negated, next } if self.ends(place, body) != negated => {
                    stack.push(next);
                }
                Node::Loop { min, exit, .. } if min <= 1 => stack.push(exit),
                _ => {}
            }
        }
        false
    }
}

/// Of threads that differ only in the rounds they counted, keeps those that can do something of their own.
fn drop_dominated(program: &Program, threads: &mut Vec<Thread>) {
    if threads.iter().all(|thread| program.loop_of(thread.node()).is_none()) {
        return;
    }
    let mut kept: Vec<Thread> = Vec::with_capacity(threads.len());
    for group in threads.chunk_by(|a, b| a.place() == b.place()) {
        let Some(&first) = group.first() else {
            continue;
        };
        match program.loop_of(first.node()) {
            // More rounds done is never worse when there is no most.
            Some((_, None)) => kept.extend(group.last()),
            // Once enough rounds are done, fewer done is never worse.
            Some((min, Some(_))) => {
                let enough = group.partition_point(|thread| thread.count() + 1 < min);
                kept.extend(group.iter().take(enough + 1));
            }
            None => kept.extend(group),
        }
    }
    *threads = kept;
}

const _: () = assert!(MATCH == 0 && REST == 1);
