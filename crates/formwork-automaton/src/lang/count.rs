//! How many completions there are.

use rustc_hash::{FxHashMap, FxHashSet};

use super::formula::Formula;
use super::{LangState, Langs};

/// The number of completions is not bounded.
const UNBOUNDED: u64 = u64::MAX;

/// Bytes that a known number takes.
const COUNT_BYTES: usize = 16;

/// Numbers of completions found so far, exact.
pub(super) type CountMemo = FxHashMap<u32, u64>;

/// A state on the way down: how much of it is counted.
struct Open {
    id: u32,
    class: u8,
    total: u64,
}

impl Langs {
    /// The number of accepted completions, at most `cap`.
    pub fn count(&self, s: LangState, cap: u64) -> u64 {
        let mut memo = self.common.counts.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let before = memo.len();
        let found = self.count_by(&mut memo, s, cap);
        self.add_bytes(&self.bytes, (memo.len() - before) * COUNT_BYTES);
        found
    }

    fn count_by(&self, memo: &mut CountMemo, s: LangState, cap: u64) -> u64 {
        if let Some(known) = memo.get(&s.0).copied().or_else(|| self.literals_left(s.0)) {
            return cap.min(known);
        }
        // States on the way down are marked; one met again closes a cycle, and every state on it is live.
        let mut on_way: FxHashSet<u32> = FxHashSet::default();
        let mut way = Vec::new();
        let mut looked_at = 0_usize;
        let most = self.work().saturating_add(self.common.limits.max_work);
        let mut enter = |id: u32, way: &mut Vec<Open>| {
            looked_at += 1;
            way.push(Open { id, class: 1, total: u64::from(self.is_accepting(LangState(id))) });
            looked_at <= self.common.limits.max_search && self.work() <= most
        };
        enter(s.0, &mut way);
        on_way.insert(s.0);
        let mut answer = 0;
        while let Some(top) = way.last_mut() {
            if top.total >= cap {
                // Whoever leads here has at least as many.
                return cap;
            }
            let Some(state) = self.common.states.get(top.id) else {
                break;
            };
            if usize::from(top.class) >= state.classes.len() {
                memo.insert(top.id, top.total);
                on_way.remove(&top.id);
                answer = top.total;
                way.pop();
                if let Some(above) = way.last_mut() {
                    add(above, answer, self);
                }
                continue;
            }
            match self.step_class(top.id, state, top.class) {
                None => top.class += 1,
                Some(to) => {
                    if let Some(known) = memo.get(&to).copied().or_else(|| self.literals_left(to)) {
                        add(top, known, self);
                    } else if on_way.insert(to) {
                        if !enter(to, &mut way) {
                            self.note_undecided();
                            return cap.min(1);
                        }
                    } else {
                        for open in &way {
                            memo.insert(open.id, UNBOUNDED);
                        }
                        return cap;
                    }
                }
            }
        }
        answer.min(cap)
    }

    /// In a plain finite set the number is known at once.
    fn literals_left(&self, id: u32) -> Option<u64> {
        match *self.store().formulas.get(self.common.states.get(id)?.formula) {
            Formula::Literals { range, .. } => Some(u64::from(range.last - range.first)),
            _ => None,
        }
    }
}

/// Adds what one class of bytes leads to.
fn add(open: &mut Open, each: u64, langs: &Langs) {
    let bytes = langs.common.states.get(open.id).map_or(1, |state| state.classes.size(open.class));
    open.total = open.total.saturating_add(each.saturating_mul(u64::from(bytes)));
    open.class += 1;
}
