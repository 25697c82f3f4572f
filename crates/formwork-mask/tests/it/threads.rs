//! Many threads on one constraint at once: each mask is right, and nobody waits for another's walk.

use std::collections::HashSet;
use std::sync::{Arc, Barrier, Condvar, Mutex};
use std::thread::ThreadId;
use std::time::Duration;

use formwork_automaton::{Automaton, CharClass, FrameId, Frames, Key, State, Step, Symbol, TokenId, Witness};
use formwork_mask::{Batch, CompiledConstraint, Matcher, TokenEntry, Vocabulary, oracle};

use crate::automata::HORIZON;
use crate::json::{SCHEMAS, fill_tables, hostile, keyed, of_schema};
use crate::masks::automata;
use crate::vocabularies::{Random, awkward};

const THREADS: usize = 8;

/// The tokens of a walk, and the naive mask before each and after the last.
type Walk = (Vec<TokenId>, Vec<Vec<u32>>);

/// A random walk through a constraint's naive masks.
fn walk(constraint: &CompiledConstraint, seed: u64, steps: usize) -> Walk {
    let mut random = Random::new(seed);
    let mut matcher = constraint.matcher();
    let (mut tokens, mut masks) = (Vec::new(), Vec::new());
    loop {
        let mask = oracle::mask(&matcher);
        masks.push(mask.words().to_vec());
        let eos = constraint.vocabulary().eos();
        let allowed: Vec<TokenId> = mask.iter().filter(|token| !eos.contains(token)).collect();
        if allowed.is_empty() || tokens.len() == steps {
            return (tokens, masks);
        }
        let token = allowed[random.below(allowed.len())];
        matcher.advance(token).unwrap();
        tokens.push(token);
    }
}

/// Goes through a walk and holds each mask against the naive one; then back a part of the way on a fork, and on again.
fn follow(matcher: &mut Matcher, (tokens, masks): &Walk) {
    for (token, mask) in tokens.iter().zip(masks) {
        assert_eq!(matcher.mask().unwrap().words(), mask);
        matcher.advance(*token).unwrap();
    }
    let mut fork = matcher.fork();
    let back = tokens.len() / 2;
    fork.rollback(back).unwrap();
    for (token, mask) in tokens.iter().zip(masks).skip(tokens.len() - back) {
        assert_eq!(fork.mask().unwrap().words(), mask);
        fork.advance(*token).unwrap();
    }
}

/// Lets all threads begin at once, two by two with the same walk, on a constraint that knows no mask yet.
fn check(constraint: &CompiledConstraint, walks: &[Walk], cache_bytes: usize) -> u64 {
    let constraint = constraint.with_cache_bytes(cache_bytes);
    let (barrier, batch) = (Barrier::new(THREADS), Batch::new(3));
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (barrier, batch, constraint) = (&barrier, &batch, &constraint);
            scope.spawn(move || {
                barrier.wait();
                for turn in 0..walks.len() {
                    let walk = &walks[(turn + thread / 2) % walks.len()];
                    follow(&mut constraint.matcher(), walk);
                }
                // And all walks side by side, a step at a time.
                let mut matchers: Vec<Matcher> = walks.iter().map(|_| constraint.matcher()).collect();
                let words = constraint.vocabulary().row_words();
                let mut rows = vec![0; walks.len() * words];
                for step in 0..walks.iter().map(|(tokens, _)| tokens.len()).min().unwrap_or(0) {
                    batch.fill_masks(&mut matchers, &mut rows).unwrap();
                    for ((matcher, row), (tokens, masks)) in matchers.iter_mut().zip(rows.chunks(words)).zip(walks) {
                        assert_eq!(row, masks[step]);
                        matcher.advance(tokens[step]).unwrap();
                    }
                }
            });
        }
    });
    constraint.cache_stats().renewals
}

#[test]
fn compute_right_masks_from_hand_written_automata() {
    let vocabulary = awkward();
    let mut renewals = 0;
    for automaton in automata(&vocabulary) {
        let constraint = CompiledConstraint::new(automaton, &vocabulary).unwrap();
        let walks: Vec<Walk> = (0..6).map(|seed| walk(&constraint, seed, 12)).collect();
        for cache_bytes in [0, 700, 3_000, 1 << 20] {
            renewals += check(&constraint, &walks, cache_bytes);
        }
    }
    assert!(renewals > 0);
}

#[test]
fn compute_right_masks_from_schemas() {
    let vocabulary = keyed();
    let mut renewals = 0;
    for schema in SCHEMAS {
        let constraint = of_schema(schema, &vocabulary);
        let walks: Vec<Walk> = (0..6).map(|seed| walk(&constraint, seed, 14)).collect();
        for cache_bytes in [700, 5_000, 1 << 20] {
            // Compiled afresh, so that the automaton's own tables are filled by all threads at once too.
            renewals += check(&of_schema(schema, &vocabulary), &walks, cache_bytes);
        }
    }
    assert!(renewals > 0);
}

#[test]
fn go_on_while_others_begin_with_new_tables() {
    let compiled = hostile(&keyed());
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let compiled = &compiled;
            scope.spawn(move || {
                let mut random = Random::new(seed);
                for _ in 0..3 {
                    fill_tables(compiled, &mut random);
                }
            });
        }
    });
    assert!(compiled.cache_stats().renewals > 0);
}

/// `ab*`, where whoever first reads a `b` waits there until three threads have met.
#[derive(Debug, Default)]
struct Meeting {
    met: Mutex<HashSet<ThreadId>>,
    all: Condvar,
}

impl Meeting {
    /// Panics where the others don't come, because something keeps them.
    fn wait(&self) {
        let mut met = self.met.lock().unwrap();
        met.insert(std::thread::current().id());
        self.all.notify_all();
        let (_met, late) = self.all.wait_timeout_while(met, Duration::from_mins(1), |met| met.len() < 3).unwrap();
        assert!(!late.timed_out(), "a thread is kept from its mask by another's walk");
    }
}

impl Automaton for Meeting {
    fn start(&self, _: &mut Frames) -> State {
        State { id: 0, a: 0, b: 0, c: 0, frame: FrameId::NONE }
    }

    fn step(&self, _: &mut Frames, at: State, symbol: Symbol) -> Step {
        match (at.id, symbol) {
            (0, Symbol::Byte(b'a')) => Step::To(State { id: 1, ..at }),
            (1, Symbol::Byte(b'b')) => {
                self.wait();
                Step::To(at)
            }
            _ => Step::Dead,
        }
    }

    fn is_accepting(&self, _: &Frames, at: State) -> bool {
        at.id == 1
    }

    fn witness(&self, _: &Frames, at: State) -> Witness {
        Witness { symbols: if at.id == 0 { vec![Symbol::Byte(b'a')] } else { Vec::new() } }
    }

    fn signature(&self, _: &Frames, at: State, _: usize) -> Key {
        Key::from_slice(&[at.id])
    }

    fn safe_chars(&self, _: &Frames, _: State, _: CharClass) -> u32 {
        0
    }

    fn horizon(&self) -> u32 {
        HORIZON
    }
}

#[test]
fn do_not_wait_for_the_walks_of_others() {
    let entries = [b"a", b"b"].map(|text| TokenEntry::Text(text.to_vec())).to_vec();
    let vocabulary = Vocabulary::from_tokens(entries, &[]).unwrap();
    let meeting = Arc::new(Meeting::default());
    let constraint = CompiledConstraint::new(Arc::clone(&meeting) as Arc<dyn Automaton>, &vocabulary).unwrap();
    assert_eq!(constraint.matcher().mask().unwrap().words(), [0b01]);
    std::thread::scope(|scope| {
        // Two compute the same mask, and are both in the middle of it.
        for _ in 0..2 {
            scope.spawn(|| {
                let mut matcher = constraint.matcher();
                matcher.advance_bytes(b"a").unwrap();
                assert_eq!(matcher.mask().unwrap().words(), [0b10]);
            });
        }
        // A third looks up a known mask meanwhile.
        scope.spawn(|| {
            let mut met = meeting.met.lock().unwrap();
            while met.len() < 2 {
                met = meeting.all.wait(met).unwrap();
            }
            drop(met);
            assert_eq!(constraint.matcher().mask().unwrap().words(), [0b01]);
            meeting.wait();
        });
    });
    assert_eq!(constraint.cache_stats().computed, 3);
}
