//! A draft's nodes are allowed, and have the masks, that matchers have which read each node's own path.

use std::sync::Arc;

use formwork_automaton::TokenId;
use formwork_mask::{Code, CompiledConstraint, DraftTree, Matcher};
use proptest::prelude::*;

use crate::automata::{Brackets, Strings, Word};
use crate::masks::automata;
use crate::matchers::wander;
use crate::vocabularies::{Random, awkward};

/// A tree of tokens at a matcher's place, most of which are allowed there.
fn draft(matcher: &Matcher, nodes: usize, random: &mut Random) -> (Vec<Option<usize>>, Vec<TokenId>) {
    let mut at: Vec<Matcher> = Vec::new();
    let (mut parents, mut tokens) = (Vec::new(), Vec::new());
    for node in 0..nodes {
        let parent = random.below(node + 1).checked_sub(1);
        let mut here = parent.map_or(matcher, |parent| &at[parent]).fork();
        let allowed: Vec<TokenId> = here.mask().map(|mask| mask.iter().collect()).unwrap_or_default();
        let any = TokenId::from_index(random.below(matcher.constraint().vocabulary().len())).unwrap();
        let token = match allowed.len() {
            0 => any,
            _ if random.below(5) == 0 => any,
            n => allowed[random.below(n)],
        };
        here.try_advance(&[token]);
        at.push(here);
        parents.push(parent);
        tokens.push(token);
    }
    (parents, tokens)
}

/// What plain matchers say of a draft: whether each node is allowed, and the row after it.
fn expected(matcher: &Matcher, parents: &[Option<usize>], tokens: &[TokenId]) -> (Vec<bool>, Vec<u32>) {
    let words = matcher.constraint().vocabulary().row_words();
    let (mut allowed, mut rows) = (Vec::new(), Vec::new());
    for node in 0..tokens.len() {
        let mut path = vec![tokens[node]];
        let mut above = parents[node];
        while let Some(parent) = above {
            path.push(tokens[parent]);
            above = parents[parent];
        }
        path.reverse();
        let mut fork = matcher.fork();
        let whole = fork.try_advance(&path) == path.len();
        allowed.push(whole);
        match fork.mask() {
            Ok(mask) if whole => rows.extend_from_slice(mask.words()),
            _ => rows.extend(std::iter::repeat_n(0, words)),
        }
    }
    (allowed, rows)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn equal_plain_steps_on_forks(seed in 0_u64..1_000_000, nodes in 0_usize..40, steps in 0_usize..12) {
        let vocabulary = awkward();
        for automaton in automata(&vocabulary) {
            let constraint = CompiledConstraint::new(automaton, &vocabulary).unwrap();
            let mut random = Random::new(seed);
            let mut matcher = constraint.matcher();
            wander(&mut matcher, &mut random, steps);
            let before = (matcher.steps(), matcher.state(), matcher.frames().mark());
            let own = matcher.mask().map(|mask| mask.words().to_vec()).ok();
            let (parents, tokens) = draft(&matcher, nodes, &mut random);
            let tree = DraftTree::new(&parents).unwrap();

            let (allowed, expected_rows) = expected(&matcher, &parents, &tokens);
            prop_assert_eq!(matcher.check_draft(&tree, &tokens).unwrap(), allowed.clone());
            let mut rows = vec![u32::MAX; nodes * vocabulary.row_words()];
            prop_assert_eq!(matcher.fill_draft_masks(&tree, &tokens, &mut rows).unwrap(), allowed);
            prop_assert_eq!(rows, expected_rows);
            prop_assert_eq!((matcher.steps(), matcher.state(), matcher.frames().mark()), before);
            prop_assert_eq!(matcher.mask().map(|mask| mask.words().to_vec()).ok(), own);
        }
    }

    #[test]
    fn a_line_is_what_try_advance_reads(seed in 0_u64..1_000_000, tokens in proptest::collection::vec(0_u32..300, 0..20)) {
        let vocabulary = awkward();
        let constraint = CompiledConstraint::new(Arc::new(Strings), &vocabulary).unwrap();
        let mut matcher = constraint.matcher();
        wander(&mut matcher, &mut Random::new(seed), 3);
        let tokens: Vec<TokenId> = tokens.into_iter().map(TokenId::new).collect();
        let allowed = matcher.check_draft(&DraftTree::line(tokens.len()), &tokens).unwrap();
        let read = matcher.try_advance(&tokens);
        prop_assert_eq!(allowed, (0..tokens.len()).map(|node| node < read).collect::<Vec<_>>());
    }
}

#[test]
fn that_are_no_trees_are_refused() {
    let error = DraftTree::new(&[None, Some(0), Some(2)]).unwrap_err();
    assert_eq!((error.code(), error.node()), (Code::MalformedDraft, Some(2)));
    assert_eq!(error.to_string(), "node 2 of the draft has node 2 as its parent, which does not come before it");

    let vocabulary = awkward();
    let constraint = CompiledConstraint::new(Arc::new(Word { least: 0, most: 9 }), &vocabulary).unwrap();
    let mut matcher = constraint.matcher();
    let tree = DraftTree::new(&[None, Some(0), Some(0)]).unwrap();
    let quote = TokenId::new(u32::from(b'"'));

    let error = matcher.check_draft(&tree, &[quote; 2]).unwrap_err();
    assert_eq!(error.code(), Code::MalformedDraft);
    assert_eq!(error.to_string(), "the draft has 2 tokens, but its tree has 3 nodes");

    let far = TokenId::new(1_000_000);
    let error = matcher.check_draft(&tree, &[quote, far, quote]).unwrap_err();
    assert_eq!((error.code(), error.node(), error.token()), (Code::UnknownToken, Some(1), Some(far)));
    assert!(error.to_string().starts_with("node 1 of the draft"), "{error}");

    let mut rows = vec![3; 2 * vocabulary.row_words()];
    let error = matcher.fill_draft_masks(&tree, &[quote; 3], &mut rows).unwrap_err();
    assert_eq!(error.code(), Code::WrongShape);
    assert!(rows.iter().all(|word| *word == 3));
    assert_eq!(matcher.steps(), 0);
}

#[test]
fn may_be_long_and_deep() {
    let vocabulary = awkward();
    let constraint = CompiledConstraint::new(Arc::new(Brackets { depth: 40 }), &vocabulary).unwrap();
    let mut matcher = constraint.matcher();
    let tokens = vec![TokenId::new(u32::from(b'[')); 5000];
    let allowed = matcher.check_draft(&DraftTree::line(tokens.len()), &tokens).unwrap();
    assert_eq!(allowed.iter().filter(|allowed| **allowed).count(), 40);
    assert_eq!(matcher.steps(), 0);
}
