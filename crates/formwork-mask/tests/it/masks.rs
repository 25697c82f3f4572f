//! Every mask equals the naive one, at every step of random walks.

use std::sync::Arc;

use formwork_automaton::{Automaton, TokenId};
use formwork_mask::{CompiledConstraint, Matcher, Vocabulary, oracle};

use crate::automata::{Brackets, Keys, Strings, Think, Word};
use crate::vocabularies::{Random, awkward, real};

pub(crate) fn automata(vocabulary: &Vocabulary) -> Vec<Arc<dyn Automaton>> {
    let special = |name: &str| vocabulary.special(name);
    let mut all: Vec<Arc<dyn Automaton>> = vec![
        Arc::new(Brackets { depth: 3 }),
        Arc::new(Brackets { depth: 40 }),
        Arc::new(Word { least: 0, most: 3 }),
        Arc::new(Word { least: 2, most: 9 }),
        Arc::new(Word { least: 5, most: 40 }),
        Arc::new(Word { least: 0, most: 5000 }),
        Arc::new(Keys),
        Arc::new(Strings),
    ];
    if let (Some(think), Some(end)) = (special("<|think|>"), special("<|end|>")) {
        all.push(Arc::new(Think { think, end }));
    }
    all
}

/// Draws from the mask, and checks it, until the end or for some steps. Gives the tokens.
fn walk(matcher: &mut Matcher, random: &mut Random, steps: usize) -> Vec<TokenId> {
    let mut taken = Vec::new();
    for _ in 0..steps {
        assert_eq!(oracle::differences(matcher), [], "after {taken:?}");
        let allowed: Vec<TokenId> = matcher.mask().unwrap().iter().collect();
        assert!(!allowed.is_empty(), "no way on after {taken:?}");
        let token = allowed[random.below(allowed.len())];
        assert!(matcher.is_token_legal(token));
        matcher.advance(token).unwrap();
        taken.push(token);
        if matcher.is_finished() {
            break;
        }
    }
    taken
}

fn check(vocabulary: &Vocabulary, walks: u64, steps: usize) {
    for automaton in automata(vocabulary) {
        let constraint = CompiledConstraint::new(automaton, vocabulary).unwrap();
        for seed in 0..walks {
            let mut random = Random::new(seed);
            let mut matcher = constraint.matcher();
            let taken = walk(&mut matcher, &mut random, steps);
            // The rest is the shortest completion, in tokens.
            if !matcher.is_finished() {
                for token in matcher.completion_tokens().unwrap() {
                    matcher.advance(token).unwrap();
                }
            }
            assert!(matcher.is_accepting(), "after {taken:?}");
        }
        let stats = constraint.cache_stats();
        assert!(stats.computed >= stats.masks as u64, "{stats:?}");
    }
}

#[test]
fn equal_the_oracle_with_an_awkward_vocabulary() {
    check(&awkward(), 40, 30);
}

#[test]
fn equal_the_oracle_with_real_tokenizers() {
    for name in ["llama3_2", "qwen2_5", "gemma3", "llama2"] {
        let Some(path) = real(name) else { continue };
        let vocabulary = Vocabulary::from_tokenizer_json(path).unwrap();
        check(&vocabulary, 2, 5);
    }
}

#[test]
fn are_computed_once() {
    let vocabulary = awkward();
    let constraint = CompiledConstraint::new(Arc::new(Strings), &vocabulary).unwrap();
    for _ in 0..3 {
        let mut matcher = constraint.matcher();
        for byte in *b"\"abc\",\"def\"" {
            matcher.mask().unwrap();
            matcher.advance(TokenId::new(u32::from(byte))).unwrap();
        }
    }
    let stats = constraint.cache_stats();
    assert_eq!((stats.computed, stats.masks, stats.dynamic), (3, 3, 0));
}

#[test]
fn reach_only_as_deep_as_they_must() {
    let vocabulary = awkward();
    let constraint = CompiledConstraint::new(Arc::new(Brackets { depth: 40 }), &vocabulary).unwrap();
    let mut matcher = constraint.matcher();
    for _ in 0..20 {
        matcher.mask().unwrap();
        matcher.advance_bytes(b"[").unwrap();
    }
    // The depth is part of each frame's words here, so every level has a mask of its own, found through a few keys.
    let stats = constraint.cache_stats();
    assert_eq!(stats.computed, 20);
    assert!(stats.keys <= 20 * 4, "{stats:?}");
}

#[test]
fn keep_open_what_keys_decide() {
    let vocabulary = awkward();
    let constraint = CompiledConstraint::new(Arc::new(Keys), &vocabulary).unwrap();
    let mut first = constraint.matcher();
    first.advance_bytes(b"{a,").unwrap();
    let mask = first.mask().unwrap().clone();
    let mut second = constraint.matcher();
    second.advance_bytes(b"{b,").unwrap();
    assert_ne!(*second.mask().unwrap(), mask);
    // One walk is enough for both.
    assert_eq!(constraint.cache_stats().computed, 1);
    for matcher in [&mut first, &mut second] {
        assert_eq!(oracle::differences(matcher), []);
    }
}

#[test]
fn survive_a_tiny_budget() {
    let vocabulary = awkward();
    let automaton: Arc<dyn Automaton> = Arc::new(Word { least: 0, most: 5000 });
    let constraint = CompiledConstraint::new(automaton, &vocabulary).unwrap().with_cache_bytes(20_000);
    let mut matcher = constraint.matcher();
    matcher.advance_bytes(b"\"").unwrap();
    matcher.advance_bytes(&[b'a'; 4900]).unwrap();
    let mut random = Random::new(1);
    while !matcher.is_finished() {
        walk(&mut matcher, &mut random, 1);
    }
    let mut other = constraint.matcher();
    other.advance_bytes(b"\"").unwrap();
    for _ in 0..200 {
        other.advance_bytes(b"a").unwrap();
        other.mask().unwrap();
    }
    let stats = constraint.cache_stats();
    assert!(stats.bytes < 60_000, "{stats:?}");
}

#[test]
fn are_shared_by_threads() {
    let vocabulary = awkward();
    for automaton in automata(&vocabulary) {
        let constraint = CompiledConstraint::new(automaton, &vocabulary).unwrap().with_cache_bytes(100_000);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let constraint = &constraint;
                scope.spawn(move || {
                    for seed in 0..10 {
                        walk(&mut constraint.matcher(), &mut Random::new(seed * 4 + thread), 15);
                    }
                });
            }
        });
    }
}
