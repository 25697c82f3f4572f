//! Rows of many matchers at once are what each one's own mask is, on however many threads.

use std::sync::Arc;

use formwork_automaton::{Automaton, Fill, FrameId, Frames, Key, State, Step, Symbol, TokenId, Witness};
use formwork_mask::{Batch, Code, CompiledConstraint, Matcher, TokenEntry, Vocabulary};

use crate::automata::{Brackets, HORIZON, Keys, Strings, Word};
use crate::masks::automata;
use crate::matchers::wander;
use crate::vocabularies::{Random, awkward};

/// Matchers at random places, one after another on each of the constraints; every seventh has ended.
fn scattered(constraints: &[CompiledConstraint], count: usize, seed: u64) -> Vec<Matcher> {
    let mut random = Random::new(seed);
    let places = constraints.iter().cycle().take(count).enumerate();
    let matchers = places.map(|(index, constraint)| {
        // The walk that finds the place leaves no mask in the constraint's own cache.
        let mut guide = constraint.with_cache_bytes(1 << 20).matcher();
        let steps = random.below(12);
        let mut tokens = wander(&mut guide, &mut random, steps);
        if index % 7 == 6 {
            tokens.extend(guide.completion_tokens().unwrap());
            tokens.extend(guide.constraint().vocabulary().eos().first());
        }
        let mut matcher = constraint.matcher();
        matcher.try_advance(&tokens);
        matcher
    });
    matchers.collect()
}

/// Fills the rows of all matchers, and holds each against the matcher's mask on a constraint of its own.
fn check(batch: &Batch, matchers: &mut [Matcher]) {
    let words = matchers[0].constraint().vocabulary().row_words();
    let mut rows = vec![u32::MAX; matchers.len() * words];
    let failed: Vec<(usize, Code)> = match batch.fill_masks(matchers, &mut rows) {
        Ok(()) => Vec::new(),
        Err(error) => {
            assert_eq!(error.code(), Code::RowsWithoutMask);
            error.rows().iter().map(|(row, error)| (*row, error.code())).collect()
        }
    };
    let mut expected = Vec::new();
    for (index, (matcher, row)) in matchers.iter_mut().zip(rows.chunks(words)).enumerate() {
        match matcher.fork().mask() {
            Ok(mask) => assert_eq!(row, mask.words(), "row {index}"),
            Err(error) => {
                assert!(row.iter().all(|word| *word == 0), "row {index}");
                expected.push((index, error.code()));
            }
        }
        let mut own = vec![u32::MAX; words];
        assert_eq!(matcher.fill_row(&mut own).is_ok(), matcher.mask().is_ok());
        assert_eq!(row, own);
    }
    assert_eq!(failed, expected);
}

#[test]
fn equal_the_masks_one_by_one() {
    let vocabulary = awkward();
    let all: Vec<CompiledConstraint> =
        automata(&vocabulary).into_iter().map(|a| CompiledConstraint::new(a, &vocabulary).unwrap()).collect();
    for threads in [0, 1, 2, 5] {
        let batch = Batch::new(threads);
        assert_eq!(batch.threads(), threads.max(1));
        for seed in 0..6 {
            // On all constraints with empty caches, on one, and on one whose cache starts afresh all the time.
            let afresh: Vec<_> = all.iter().map(|c| c.with_cache_bytes(1 << 20)).collect();
            let tiny: Vec<_> = all.iter().map(|c| c.with_cache_bytes(2_000)).collect();
            for constraints in [&afresh[..], &afresh[..1], &tiny[..], &all[5..6]] {
                let mut matchers = scattered(constraints, 40, seed);
                for _ in 0..3 {
                    check(&batch, &mut matchers);
                    for matcher in &mut matchers {
                        let Ok(mask) = matcher.mask() else { continue };
                        let token = mask.iter().next().unwrap();
                        matcher.advance(token).unwrap();
                    }
                }
            }
        }
    }
}

#[test]
fn take_matchers_by_reference_and_from_several_threads() {
    let vocabulary = awkward();
    let constraint = CompiledConstraint::new(Arc::new(Keys), &vocabulary).unwrap();
    let batch = Batch::new(3);
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let (batch, constraint) = (&batch, &constraint);
            scope.spawn(move || {
                for round in 0..20 {
                    check(batch, &mut scattered(std::slice::from_ref(constraint), 9, seed * 100 + round));
                }
            });
        }
    });
    let mut matchers = [constraint.matcher(), constraint.matcher()];
    let [first, second] = &mut matchers;
    let mut rows = vec![0; 2 * vocabulary.row_words()];
    batch.fill_masks(&mut [second, first], &mut rows).unwrap();
    assert_eq!(rows[..vocabulary.row_words()], *matchers[1].mask().unwrap().words());
}

#[test]
fn of_another_shape_are_refused_untouched() {
    let vocabulary = awkward();
    let constraint = CompiledConstraint::new(Arc::new(Strings), &vocabulary).unwrap();
    let longer = vocabulary.padded_to(vocabulary.len() + 40).unwrap();
    let other = CompiledConstraint::new(Arc::new(Strings), &longer).unwrap();
    let batch = Batch::default();
    let words = vocabulary.row_words();

    let mut matchers = [constraint.matcher(), constraint.matcher(), other.matcher()];
    let mut rows = vec![7; 2 * words + 1];
    let error = batch.fill_masks(&mut matchers[..2], &mut rows).unwrap_err();
    assert_eq!(error.code(), Code::WrongShape);
    let needed = 2 * words;
    assert_eq!(
        error.to_string(),
        format!("there are {} words for masks, but 2 rows of {words} words take {needed}", needed + 1)
    );
    let error = batch.fill_masks(&mut matchers, &mut rows).unwrap_err();
    assert_eq!(error.code(), Code::WrongShape);
    assert!(error.to_string().starts_with("the vocabulary of matcher 2 has "), "{error}");
    let error = matchers[0].fill_row(&mut rows).unwrap_err();
    assert_eq!(error.code(), Code::WrongShape);
    assert!(rows.iter().all(|word| *word == 7));

    let none: &mut [Matcher] = &mut [];
    assert!(batch.fill_masks(none, &mut []).is_ok());
    assert_eq!(batch.fill_masks(none, &mut rows).unwrap_err().code(), Code::WrongShape);
}

#[test]
fn bits_beyond_the_vocabulary_are_zero() {
    let entries = vec![TokenEntry::Text(b"a".to_vec()); 33];
    let vocabulary = Vocabulary::from_tokens(entries, &[]).unwrap();
    let constraint = CompiledConstraint::new(Arc::new(Brackets { depth: 3 }), &vocabulary).unwrap();
    let mut matchers = [constraint.matcher()];
    matchers[0].advance_bytes(b"[").unwrap();
    let mut rows = [u32::MAX; 2];
    Batch::new(1).fill_masks(&mut matchers, &mut rows).unwrap();
    assert_eq!(rows, [u32::MAX, 1]);
}

#[test]
fn errors_name_the_rows() {
    let vocabulary = awkward();
    let constraint = CompiledConstraint::new(Arc::new(Word { least: 0, most: 3 }), &vocabulary).unwrap();
    let mut matchers: Vec<Matcher> = (0..5).map(|_| constraint.matcher()).collect();
    for index in [1, 4] {
        matchers[index].advance_bytes(b"\"a\"").unwrap();
        matchers[index].advance(vocabulary.eos()[0]).unwrap();
    }
    let mut rows = vec![1; 5 * vocabulary.row_words()];
    let error = Batch::new(2).fill_masks(&mut matchers, &mut rows).unwrap_err();
    assert_eq!(
        error.to_string(),
        "2 of 5 rows have no mask; the first is row 1: nothing can follow the end of the sequence"
    );
    assert_eq!(error.rows().iter().map(|(row, _)| *row).collect::<Vec<_>>(), [1, 4]);
    assert!(error.help().is_some());
}

/// An automaton with a fault: it panics at the letter `x`.
#[derive(Debug)]
struct Faulty;

impl Automaton for Faulty {
    fn start(&self, _: &mut Frames) -> State {
        State { id: 0, a: 0, b: 0, c: 0, frame: FrameId::NONE }
    }

    fn step(&self, _: &mut Frames, at: State, symbol: Symbol) -> Step {
        assert!(at.a < 3 || symbol != Symbol::Byte(b'x'), "a fault");
        Step::To(State { a: at.a + 1, ..at })
    }

    fn is_accepting(&self, _: &Frames, _: State) -> bool {
        true
    }

    fn witness(&self, _: &Frames, _: State) -> Witness {
        Witness::default()
    }

    fn signature(&self, _: &Frames, at: State, _: usize) -> Key {
        Key::from_slice(&[at.a])
    }

    fn horizon(&self) -> u32 {
        HORIZON
    }

    fn fill(&self) -> Fill {
        Fill::Little
    }
}

#[test]
fn a_panic_reaches_the_caller_and_leaves_the_threads_alive() {
    let entries = [b"a", b"x"].map(|text| TokenEntry::Text(text.to_vec())).to_vec();
    let vocabulary = Vocabulary::from_tokens(entries, &[]).unwrap();
    let constraint = CompiledConstraint::new(Arc::new(Faulty), &vocabulary).unwrap();
    let batch = Batch::new(3);
    for _ in 0..3 {
        let mut matchers: Vec<Matcher> = (0..8).map(|_| constraint.matcher()).collect();
        for matcher in &mut matchers {
            matcher.try_advance(&[TokenId::new(0); 3]);
        }
        let mut rows = vec![0; 8];
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            batch.fill_masks(&mut matchers, &mut rows).unwrap();
        }));
        assert!(outcome.is_err());
        let mut matchers: Vec<Matcher> = (0..8).map(|_| constraint.with_cache_bytes(1 << 16).matcher()).collect();
        batch.fill_masks(&mut matchers, &mut rows).unwrap();
        assert_eq!(rows, [0b11; 8]);
    }
}
