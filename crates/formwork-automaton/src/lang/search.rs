//! Liveness: the nearest accepting state of a product, found forwards and remembered along the way.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use super::program::Unit;
use super::states::States;
use super::store::Store;
use super::utf8::NEVER;

impl States {
    /// Sets the distance of `start`, and of every state on the way found; or marks all states seen as dead where nothing is
    /// accepted. Leaves it unknown where `max_search` states, or `max_work`, did not decide.
    ///
    /// A* with the formulas' lower bounds, which are consistent: a state's bound is at most an edge more than its
    /// successor's.
    pub(super) fn search(&self, store: &mut Store, start: u32, unit: Unit) {
        let (bound, exact) = self.bound(store, start, unit);
        if exact {
            return;
        }
        if bound == NEVER {
            self.set_dead(start);
            return;
        }
        // Per state the least cost known to come here, and from where.
        let mut ways: FxHashMap<u32, (u32, u32)> = FxHashMap::from_iter([(start, (0, start))]);
        let mut open = BinaryHeap::from([(Reverse(bound), 0_u32, Reverse(start))]);
        let mut successors = Vec::new();
        let mut looked_at = 0;
        let most = store.work.saturating_add(store.limits.max_work);
        while let Some((_, cost, Reverse(id))) = open.pop() {
            if ways.get(&id).is_none_or(|way| way.0 < cost) {
                continue;
            }
            if let (rest, true) = self.bound(store, id, unit) {
                self.remember(&ways, id, cost.saturating_add(rest), unit);
                return;
            }
            looked_at += 1;
            if looked_at > store.limits.max_search || store.work > most {
                return;
            }
            let cost = cost + self.cost(id, unit);
            self.edges(store, id, &mut successors);
            for &to in &successors {
                let (bound, _) = self.bound(store, to, unit);
                if bound == NEVER {
                    continue;
                }
                if ways.get(&to).is_none_or(|way| cost < way.0) {
                    ways.insert(to, (cost, id));
                    open.push((Reverse(cost.saturating_add(bound)), cost, Reverse(to)));
                }
            }
        }
        let mut dead: Vec<u32> = ways.into_keys().collect();
        dead.sort_unstable();
        for id in dead {
            self.set_dead(id);
        }
    }

    /// Every state on a shortest way has its own distance from it.
    fn remember(&self, ways: &FxHashMap<u32, (u32, u32)>, end: u32, total: u32, unit: Unit) {
        let mut at = end;
        while let Some(&(cost, from)) = ways.get(&at) {
            self.set_distance(at, unit, total - cost);
            if from == at {
                return;
            }
            at = from;
        }
    }
}
