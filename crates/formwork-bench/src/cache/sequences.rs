//! One sequence after another: masks looked up, forks, rollbacks.

use std::hint::black_box;
use std::time::Instant;

use formwork::{CompiledConstraint, Matcher, TokenId};

use super::report::Lookups;
use crate::masks::figures::Figures;
use crate::masks::instances::{Case, Instance};
use crate::masks::measure::nanoseconds;

/// Forks of one place that are timed together: one is about as short as a look at the clock.
const FORKS: u32 = 16;

/// Runs over the same constraints: in the third the last whole rows are made, so that the others find all there is to find.
const RUNS: usize = 5;

/// The times of the runs.
pub(super) struct Runs {
    /// By constraint, whether its answers were right.
    pub(super) right: Vec<bool>,
    times: [Vec<u32>; RUNS],
    /// Masks that were computed in each run.
    computed: [u64; RUNS],
}

impl Runs {
    pub(super) fn into_report(self) -> Lookups {
        let [first, second, _, _, warm] = self.times;
        let masks = first.len();
        let [cold_us, second_us, warm_us] = [first, second, warm].map(Figures::of);
        let [computed, .., computed_warm] = self.computed;
        Lookups { masks, cold_us, second_us, warm_us, computed, computed_warm }
    }
}

/// Walks all instances again and again, and times each mask.
pub(super) fn lookups(compiled: &[(&Case, CompiledConstraint)]) -> Runs {
    let mut runs = Runs { right: vec![true; compiled.len()], times: Default::default(), computed: [0; RUNS] };
    let computed = || compiled.iter().map(|(_, compiled)| compiled.cache_stats().computed).sum::<u64>();
    for run in 0..RUNS {
        let before = computed();
        for ((case, compiled), right) in compiled.iter().zip(&mut runs.right) {
            let mut times = Vec::new();
            *right &=
                case.instances.iter().all(|instance| walk(compiled, instance, &mut times) == Some(instance.valid));
            if *right {
                runs.times[run].append(&mut times);
            }
        }
        runs.computed[run] = computed() - before;
    }
    runs
}

/// Feeds an instance up to its first rejected token, and says whether all of it was accepted and may end there; `None` on a failure.
fn walk(compiled: &CompiledConstraint, instance: &Instance, times: &mut Vec<u32>) -> Option<bool> {
    let mut matcher = compiled.matcher();
    for &token in &instance.tokens {
        let token = TokenId::new(token);
        let start = Instant::now();
        let allowed = black_box(matcher.mask().ok()?).allows(token);
        times.push(nanoseconds(start));
        if !allowed {
            return Some(false);
        }
        matcher.advance(token).ok()?;
    }
    let start = Instant::now();
    let mask = black_box(matcher.mask().ok()?);
    times.push(nanoseconds(start));
    let eos = compiled.vocabulary().eos();
    Some(eos.iter().any(|token| mask.allows(*token)))
}

/// Times of forks and of rollbacks.
pub(super) struct Steps {
    pub(super) fork: Figures,
    pub(super) rollback: Figures,
}

/// Forks at every place of every instance, and takes all steps back one by one.
pub(super) fn forks_and_rollbacks(compiled: &[&(&Case, CompiledConstraint)]) -> Steps {
    let (mut fork, mut rollback) = (Vec::new(), Vec::new());
    for (case, compiled) in compiled {
        for instance in &case.instances {
            let mut matcher = compiled.matcher();
            for &token in &instance.tokens {
                if matcher.mask().is_err() || matcher.advance(TokenId::new(token)).is_err() {
                    break;
                }
                fork.push(time_forks(&matcher));
            }
            while matcher.steps() > 0 {
                let start = Instant::now();
                let done = black_box(&mut matcher).rollback(1);
                rollback.push(nanoseconds(start));
                if done.is_err() {
                    break;
                }
            }
        }
    }
    Steps { fork: Figures::of(fork), rollback: Figures::of(rollback) }
}

fn time_forks(matcher: &Matcher) -> u32 {
    let mut forks = Vec::with_capacity(FORKS as usize);
    let start = Instant::now();
    for _ in 0..FORKS {
        forks.push(black_box(matcher).fork());
    }
    nanoseconds(start) / FORKS
}

/// What it takes to read the clock.
pub(super) fn clock() -> Figures {
    Figures::of((0..10_000).map(|_| nanoseconds(black_box(Instant::now()))).collect())
}
