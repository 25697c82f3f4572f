//! Advancing, taking back, forking, forced tokens, completions and errors.

use std::sync::Arc;

use formwork_automaton::TokenId;
use formwork_mask::{Code, CompiledConstraint, Matcher};

use crate::automata::{Brackets, Keys, Strings, Think, Word};
use crate::masks::automata;
use crate::vocabularies::{Random, awkward};

/// Random tokens from the masks.
pub(crate) fn wander(matcher: &mut Matcher, random: &mut Random, steps: usize) -> Vec<TokenId> {
    let mut taken = Vec::new();
    while taken.len() < steps && !matcher.is_finished() {
        let allowed: Vec<TokenId> = matcher.mask().unwrap().iter().collect();
        let token = allowed[random.below(allowed.len())];
        matcher.advance(token).unwrap();
        taken.push(token);
    }
    taken
}

fn words(matcher: &mut Matcher) -> Option<Vec<u32>> {
    matcher.mask().ok().map(|mask| mask.words().to_vec())
}

#[test]
fn rollback_restores_every_mask() {
    let vocabulary = awkward();
    for automaton in automata(&vocabulary) {
        let constraint = CompiledConstraint::new(automaton, &vocabulary).unwrap();
        for seed in 0..20 {
            let mut matcher = constraint.matcher();
            let mut masks = vec![words(&mut matcher)];
            let mut taken = Vec::new();
            let mut random = Random::new(seed);
            for _ in 0..12 {
                taken.extend(wander(&mut matcher, &mut random, 1));
                masks.truncate(taken.len());
                masks.push(words(&mut matcher));
            }
            while !taken.is_empty() {
                let steps = 1 + random.below(taken.len());
                matcher.rollback(steps).unwrap();
                taken.truncate(taken.len() - steps);
                assert_eq!(words(&mut matcher), masks[taken.len()]);
                assert_eq!(matcher.steps(), taken.len());
            }
            assert_eq!(matcher.rollback(1).unwrap_err().code(), Code::RollbackTooFar);
        }
    }
}

#[test]
fn forks_go_their_own_ways() {
    let vocabulary = awkward();
    for automaton in automata(&vocabulary) {
        let constraint = CompiledConstraint::new(automaton, &vocabulary).unwrap();
        for seed in 0..20 {
            let mut random = Random::new(seed);
            let mut matcher = constraint.matcher();
            wander(&mut matcher, &mut random, 4);
            let before = words(&mut matcher);
            let mut fork = matcher.fork();
            assert_eq!(words(&mut fork), before);
            let taken = wander(&mut fork, &mut random, 6);
            assert_eq!(words(&mut matcher), before);
            assert_eq!(matcher.try_advance(&taken), taken.len());
            assert_eq!(words(&mut fork), words(&mut matcher));
            fork.rollback(taken.len()).unwrap();
            assert_eq!(words(&mut fork), before);
        }
    }
}

#[test]
fn bytes_and_tokens_lead_to_the_same_place() {
    let vocabulary = awkward();
    for automaton in automata(&vocabulary) {
        let constraint = CompiledConstraint::new(automaton, &vocabulary).unwrap();
        for seed in 0..20 {
            let mut by_token = constraint.matcher();
            let taken = wander(&mut by_token, &mut Random::new(seed), 10);
            let mut by_byte = constraint.matcher();
            for token in taken {
                match vocabulary.bytes(token) {
                    Some(bytes) => bytes.iter().for_each(|&b| by_byte.advance_bytes(&[b]).unwrap()),
                    None => by_byte.advance(token).unwrap(),
                }
            }
            assert_eq!(words(&mut by_byte), words(&mut by_token));
        }
    }
}

#[test]
fn refused_tokens_change_nothing() {
    let vocabulary = awkward();
    for automaton in automata(&vocabulary) {
        let constraint = CompiledConstraint::new(automaton, &vocabulary).unwrap();
        let mut random = Random::new(7);
        let mut matcher = constraint.matcher();
        for _ in 0..10 {
            let before = words(&mut matcher);
            let frames = matcher.frames().mark();
            let mask = before.clone();
            for id in vocabulary.ids() {
                let allowed = mask.as_ref().is_some_and(|w| w[id.index() / 32] >> (id.get() % 32) & 1 == 1);
                assert_eq!(matcher.is_token_legal(id), allowed);
                if !allowed {
                    matcher.advance(id).unwrap_err();
                }
            }
            assert_eq!(matcher.frames().mark(), frames);
            assert_eq!(words(&mut matcher), before);
            wander(&mut matcher, &mut random, 1);
        }
    }
}

#[test]
fn errors_say_what_and_where() {
    let vocabulary = awkward();
    let constraint = CompiledConstraint::new(Arc::new(Word { least: 2, most: 3 }), &vocabulary).unwrap();
    let mut matcher = constraint.matcher();
    matcher.advance_bytes(b"\"").unwrap();
    let id = |text: &[u8]| vocabulary.ids().find(|&id| vocabulary.bytes(id) == Some(text)).unwrap();

    let error = matcher.advance(id(b"hello")).unwrap_err();
    assert_eq!((error.code(), error.byte_offset(), error.token()), (Code::NotAllowed, Some(3), Some(id(b"hello"))));
    assert_eq!(
        error.to_string(),
        format!(
            "token {} (\"hello\") is not allowed here: it cannot be continued after its first 3 bytes",
            id(b"hello")
        )
    );
    let error = matcher.advance_bytes(b"ab1").unwrap_err();
    assert_eq!(error.byte_offset(), Some(2));
    assert_eq!(error.to_string(), "the byte at offset 2 (`1`) is not allowed there");

    let eos = vocabulary.eos()[0];
    let error = matcher.advance(eos).unwrap_err();
    assert_eq!(error.code(), Code::NotComplete);
    let error = matcher.advance(TokenId::new(999_999)).unwrap_err();
    assert_eq!(error.code(), Code::UnknownToken);

    matcher.advance_bytes(b"ab\"").unwrap();
    assert!(matcher.is_finished());
    matcher.advance(eos).unwrap();
    assert!(matcher.is_finished() && matcher.is_accepting());
    assert_eq!(matcher.advance(eos).unwrap_err().code(), Code::Finished);
    assert_eq!(matcher.mask().unwrap_err().code(), Code::Finished);
    matcher.rollback(1).unwrap();
    assert!(matcher.mask().unwrap().allows(eos));
}

#[test]
fn a_limit_is_named() {
    let vocabulary = awkward();
    let constraint = CompiledConstraint::new(Arc::new(Brackets { depth: 2 }), &vocabulary).unwrap();
    let mut matcher = constraint.matcher();
    let error = matcher.advance_bytes(b"[[[").unwrap_err();
    assert!(error.to_string().contains("limit `depth`"), "{error}");
}

#[test]
fn forced_tokens_have_no_alternative() {
    let vocabulary = awkward();
    let think = vocabulary.special("<|think|>").unwrap();
    let end = vocabulary.special("<|end|>").unwrap();
    let constraint = CompiledConstraint::new(Arc::new(Think { think, end }), &vocabulary).unwrap();
    let mut matcher = constraint.matcher();
    assert_eq!(matcher.forced().unwrap(), [think]);
    assert_eq!(matcher.forced_bytes(), b"");
    assert_eq!(matcher.steps(), 0);
    matcher.advance(think).unwrap();
    assert_eq!(matcher.forced().unwrap(), []);

    let constraint = CompiledConstraint::new(Arc::new(Word { least: 0, most: 0 }), &vocabulary).unwrap();
    let mut matcher = constraint.matcher();
    assert_eq!(matcher.forced_bytes(), b"\"\"");
    matcher.advance_bytes(b"\"").unwrap();
    assert_eq!(matcher.forced().unwrap(), [TokenId::new(u32::from(b'"'))]);
}

#[test]
fn completions_use_few_tokens() {
    let vocabulary = awkward();
    let constraint = CompiledConstraint::new(Arc::new(Brackets { depth: 9 }), &vocabulary).unwrap();
    let mut matcher = constraint.matcher();
    matcher.advance_bytes(b"[[[[(").unwrap();
    assert_eq!(matcher.shortest_completion().bytes().unwrap(), b")]]]]");
    // `)]` and `]]]`.
    assert_eq!(matcher.completion_tokens().unwrap().len(), 2);

    let constraint = CompiledConstraint::new(Arc::new(Keys), &vocabulary).unwrap();
    let mut matcher = constraint.matcher();
    matcher.advance_bytes(b"{a,").unwrap();
    let tokens = matcher.completion_tokens().unwrap();
    assert_eq!(matcher.try_advance(&tokens), tokens.len());
    assert!(matcher.is_accepting());
}

#[test]
fn history_stays_small() {
    let vocabulary = awkward();
    let constraint = CompiledConstraint::new(Arc::new(Strings), &vocabulary).unwrap();
    let mut matcher = constraint.matcher();
    matcher.advance_bytes(b"\"").unwrap();
    for _ in 0..10_000 {
        matcher.advance(TokenId::new(u32::from(b'a'))).unwrap();
    }
    assert!(matcher.heap_bytes() < 1 << 20, "{}", matcher.heap_bytes());
    assert!(constraint.cache_stats().bytes < 1 << 20);
    matcher.rollback(10_000).unwrap();
}

#[test]
fn an_automaton_for_shorter_tokens_is_refused() {
    let long = formwork_mask::TokenEntry::Text(vec![b'a'; 2000]);
    let vocabulary = formwork_mask::Vocabulary::from_tokens(vec![long], &[]).unwrap();
    let error = CompiledConstraint::new(Arc::new(Strings), &vocabulary).unwrap_err();
    assert_eq!(error.code(), Code::WrongHorizon);
}
