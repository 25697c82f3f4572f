//! The tokens still in play, sorted no further than somebody looked.
//!
//! A vocabulary has up to a few hundred thousand tokens and a step looks at a few dozen of them, so the best stand sorted at
//! the front and the rest in no particular order. Sums run over the order in which the candidates were before anybody
//! sorted (by id, or best first once a stage has truncated), so that they don't depend on who looked how far.

use std::cmp::Ordering;

/// A token in play.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Candidate {
    /// Always finite.
    pub(crate) logit: f64,
    pub(crate) id: u32,
}

/// Better first; equal ones by lower id.
pub(crate) fn better_first(a: &Candidate, b: &Candidate) -> Ordering {
    b.logit.partial_cmp(&a.logit).unwrap_or(Ordering::Equal).then(a.id.cmp(&b.id))
}

/// How far below the best the first stretch to be sorted reaches; each next one reaches twice as far.
const FIRST_SPAN: f64 = 4.0;

#[derive(Clone, Debug, Default)]
pub(crate) struct Candidates {
    items: Vec<Candidate>,
    /// `items[..sorted]` are the best ones, best first.
    sorted: usize,
    /// Whether the items stand by rising id.
    by_id: bool,
    span: f64,
    best: Option<f64>,
    total: Option<f64>,
}

impl Candidates {
    /// Starts again from tokens by rising id; those without a finite logit are left out.
    pub(crate) fn refill(&mut self, tokens: impl Iterator<Item = Candidate>) {
        self.items.clear();
        self.items.extend(tokens.filter(|c| c.logit > f64::NEG_INFINITY));
        self.by_id = true;
        self.forget();
    }

    /// Starts again from none.
    pub(crate) fn clear(&mut self) {
        self.refill(std::iter::empty());
    }

    /// Becomes a copy of `other`, keeping its own memory.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.items.clone_from(&other.items);
        self.sorted = other.sorted;
        self.by_id = other.by_id;
        self.span = other.span;
        self.best = other.best;
        self.total = other.total;
    }

    fn forget(&mut self) {
        self.sorted = 0;
        self.span = FIRST_SPAN;
        self.best = None;
        self.total = None;
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// All of them, in the order that sums run over.
    pub(crate) fn items(&self) -> &[Candidate] {
        &self.items
    }

    /// The largest logit.
    pub(crate) fn best_logit(&mut self) -> f64 {
        if let Some(best) = self.best {
            return best;
        }
        let best = match self.items.first() {
            Some(first) if self.sorted > 0 => first.logit,
            _ => max_logit(&self.items),
        };
        self.best = Some(best);
        best
    }

    /// The best candidate, without sorting any.
    pub(crate) fn best(&self) -> Option<Candidate> {
        if self.sorted > 0 {
            return self.items.first().copied();
        }
        self.items.iter().copied().min_by(better_first)
    }

    /// Σ exp(z − max): the denominator of every probability.
    pub(crate) fn total(&mut self) -> f64 {
        if let Some(total) = self.total {
            return total;
        }
        let best = self.best_logit();
        let total = self.items.iter().map(|c| (c.logit - best).exp()).sum();
        self.total = Some(total);
        total
    }

    /// The candidate of rank `rank`, 0 for the best, sorting as far as needed.
    pub(crate) fn ranked(&mut self, rank: usize) -> Option<Candidate> {
        while self.sorted <= rank {
            if !self.sort_more() {
                return None;
            }
        }
        self.items.get(rank).copied()
    }

    /// Sorts one more stretch of the best; false when all are sorted.
    fn sort_more(&mut self) -> bool {
        if self.sorted >= self.items.len() {
            return false;
        }
        let rest = &mut self.items[self.sorted..];
        let cut = max_logit(rest) - self.span;
        self.span *= 2.0;
        let mut chosen = 0;
        for i in 0..rest.len() {
            if rest[i].logit >= cut {
                rest.swap(i, chosen);
                chosen += 1;
            }
        }
        rest[..chosen].sort_unstable_by(better_first);
        self.sorted += chosen;
        self.by_id = false;
        true
    }

    /// Keeps the `count` best.
    pub(crate) fn keep_best(&mut self, count: usize) {
        let count = count.min(self.items.len());
        if count == self.items.len() {
            if self.sorted > 0 {
                // Somebody looked and nothing goes: the order that sums run over is best first from here on.
                self.items[self.sorted..].sort_unstable_by(better_first);
                self.sorted = count;
                self.total = None;
            }
            return;
        }
        if self.sorted < count {
            let rest = &mut self.items[self.sorted..];
            let wanted = count - self.sorted;
            rest.select_nth_unstable_by(wanted, better_first);
            rest[..wanted].sort_unstable_by(better_first);
        }
        self.items.truncate(count);
        self.sorted = count;
        self.by_id = false;
        self.span = FIRST_SPAN;
        self.total = None;
        if count == 0 {
            self.best = None;
        }
    }

    /// Keeps those that satisfy `keep`, in their order.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(Candidate) -> bool) {
        let before = self.items.len();
        let mut index = 0;
        let mut sorted = 0;
        self.items.retain(|&candidate| {
            let kept = keep(candidate);
            sorted += usize::from(kept && index < self.sorted);
            index += 1;
            kept
        });
        if self.items.len() != before {
            self.sorted = sorted;
            self.best = None;
            self.total = None;
        }
    }

    /// Replaces them by other ones, not sorted yet; they are sorted now.
    pub(crate) fn replace_by(&mut self, items: impl Iterator<Item = Candidate>) {
        self.items.clear();
        self.items.extend(items);
        self.items.sort_unstable_by(better_first);
        self.forget();
        self.by_id = false;
        self.sorted = self.items.len();
    }

    /// Changes every logit.
    pub(crate) fn change_all(&mut self, change: impl Fn(&mut Candidate)) {
        self.items.iter_mut().for_each(change);
        self.forget();
    }

    /// Changes the logits of the tokens `ids`, where they are in play.
    pub(crate) fn change_some(&mut self, ids: &[u32], lookup: impl Fn(u32) -> bool, change: impl Fn(&mut Candidate)) {
        // Both ways do the same; finding a few among many by halving is quicker.
        if self.by_id && ids.len().saturating_mul(16) < self.items.len() {
            for &id in ids {
                if let Ok(at) = self.items.binary_search_by(|c| c.id.cmp(&id)) {
                    change(&mut self.items[at]);
                }
            }
        } else {
            self.items.iter_mut().filter(|c| lookup(c.id)).for_each(change);
        }
        self.forget();
    }

    /// A candidate whose logit is no longer finite.
    pub(crate) fn overflown(&self) -> Option<Candidate> {
        self.items.iter().copied().find(|c| !c.logit.is_finite())
    }

    /// The first candidate, best first, whose running sum of probabilities exceeds `u`, with its probability; the last
    /// one if rounding leaves the sum at or below `u`.
    pub(crate) fn draw(&mut self, u: f64) -> Option<(Candidate, f64)> {
        let total = self.total();
        let best = self.best_logit();
        let mut sum = 0.0;
        let mut last = None;
        for rank in 0..self.len() {
            let candidate = self.ranked(rank)?;
            let prob = (candidate.logit - best).exp() / total;
            sum += prob;
            last = Some((candidate, prob));
            if sum > u {
                break;
            }
        }
        last
    }

    /// Ids and probabilities, best first; changes nothing that a later stage could notice.
    pub(crate) fn listed(&mut self) -> Vec<(u32, f64)> {
        let total = self.total();
        let best = self.best_logit();
        let mut items = self.items.clone();
        items.sort_unstable_by(better_first);
        items.into_iter().map(|c| (c.id, (c.logit - best).exp() / total)).collect()
    }
}

fn max_logit(items: &[Candidate]) -> f64 {
    items.iter().fold(f64::NEG_INFINITY, |max, c| if c.logit > max { c.logit } else { max })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn filled(logits: &[f64]) -> Candidates {
        let mut candidates = Candidates::default();
        candidates.refill((0..).zip(logits).map(|(id, &logit)| Candidate { logit, id }));
        candidates
    }

    proptest! {
        #[test]
        fn ranks_are_those_of_a_full_sort(
            logits in proptest::collection::vec(-60i32..60, 1..200),
            keep in 0usize..220,
        ) {
            let logits: Vec<f64> = logits.into_iter().map(|z| f64::from(z) / 3.0).collect();
            let mut full = filled(&logits).items;
            full.sort_by(better_first);
            let mut candidates = filled(&logits);
            for (rank, wanted) in full.iter().enumerate() {
                prop_assert_eq!(candidates.ranked(rank), Some(*wanted));
            }
            prop_assert_eq!(candidates.ranked(full.len()), None);
            let mut kept = filled(&logits);
            kept.ranked(3);
            kept.keep_best(keep);
            full.truncate(keep);
            let ranked: Vec<_> = (0..kept.len()).filter_map(|rank| kept.ranked(rank)).collect();
            prop_assert_eq!(ranked, full);
        }
    }

    #[test]
    fn a_huge_gap_costs_one_look() {
        let mut candidates = filled(&[0.0, 1e30, 0.5]);
        assert_eq!(candidates.ranked(1).unwrap().id, 2);
        assert_eq!(candidates.ranked(2).unwrap().id, 0);
    }

    #[test]
    fn the_last_one_is_drawn_when_rounding_falls_short() {
        let mut candidates = filled(&[0.0, 0.0, 0.0]);
        let (drawn, _) = candidates.draw(1.0).unwrap();
        assert_eq!(drawn.id, 2);
    }
}
