//! A budget that holds the shortest text gives a whole text; a smaller one is refused, naming the number needed.

use std::collections::BTreeSet;

use formwork_decode::{FinishReason, GenerateRequest};
use formwork_sample::SamplingParams;
use proptest::prelude::*;

use crate::toy::{OneOf, Tokens, hashing, run};

fn texts() -> impl Strategy<Value = Vec<Vec<u8>>> {
    prop::collection::btree_set("[ab]{0,9}", 1..6)
        .prop_map(|texts: BTreeSet<String>| texts.into_iter().map(String::into_bytes).collect())
}

fn vocabularies() -> impl Strategy<Value = Tokens> {
    (prop::collection::btree_set("[ab]{2,4}", 0..6), any::<bool>()).prop_map(|(longer, ends)| {
        let mut tokens = vec!["a".to_owned(), "b".to_owned()];
        tokens.extend(longer);
        tokens.extend(ends.then(String::new));
        Tokens::new(&tokens)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn texts_are_whole(texts in texts(), tokens in vocabularies(), salt: u64, spare in 0usize..12, greedy: bool) {
        let needed = formwork_decode::Constraint::needed(&mut OneOf::new(&tokens, &texts)).unwrap();
        let sampling = SamplingParams::default().temperature(if greedy { 0.0 } else { 1.0 });
        let request = GenerateRequest::new([]).seed(salt).sampling(sampling);
        let go = |budget: usize| {
            let mut constraint = OneOf::new(&tokens, &texts);
            run(&request.clone().max_tokens(budget), hashing(tokens.len(), salt), Some(&mut constraint), &tokens)
        };
        let done = go(needed + spare).unwrap();
        prop_assert!(texts.contains(&done.text.clone().into_bytes()), "{:?}", done.text);
        prop_assert!(done.usage.completion_tokens <= needed + spare);
        let open = texts.iter().any(|t| t.len() > done.text.len() && t.starts_with(done.text.as_bytes()));
        let wanted = match open {
            false => FinishReason::Grammar,
            true if tokens.bytes.iter().any(Vec::is_empty) => FinishReason::Eos,
            // No token ends a text: the budget does.
            true => FinishReason::MaxTokens,
        };
        prop_assert_eq!(done.finish_reason, wanted);
        if let Some(smaller) = needed.checked_sub(1) {
            let err = go(smaller).unwrap_err();
            prop_assert_eq!((err.code(), err.needed_tokens()), ("budget_too_small", Some(needed)));
        }
    }
}

#[test]
fn the_last_token_is_kept_for_the_end() {
    let tokens = Tokens::new(&["a", ""]);
    let texts: Vec<_> = (1..50).map(|n| vec![b'a'; n]).collect();
    let model = || formwork_decode::model_from_fn(2, |_| vec![100.0, 0.0]);
    for budget in 2..52 {
        let mut constraint = OneOf::new(&tokens, &texts);
        let request = GenerateRequest::new([]).max_tokens(budget);
        let done = run(&request, model(), Some(&mut constraint), &tokens).unwrap();
        let (length, reason) = match budget {
            // Nothing may follow the longest text, so it needs no token to end.
            49.. => (49, FinishReason::Grammar),
            _ => (budget - 1, FinishReason::Eos),
        };
        assert_eq!((done.text.len(), done.finish_reason), (length, reason));
    }
}

#[test]
fn a_drawn_token_that_opens_too_much_is_drawn_again() {
    // "b" would need a hundred tokens; with plenty to spare the mask is not cut, so the draw is checked.
    let tokens = Tokens::new(&["a", "b", ""]);
    let texts = [b"a".to_vec(), [b'b'; 100].to_vec()];
    let model = || formwork_decode::model_from_fn(3, |_| vec![0.0, 9.0, 0.0]);
    for (budget, text) in [(99, &texts[0]), (100, &texts[1])] {
        let mut constraint = OneOf::new(&tokens, &texts);
        let request = GenerateRequest::new([]).max_tokens(budget).seed(4).logprobs(true);
        let done = run(&request, model(), Some(&mut constraint), &tokens).unwrap();
        assert_eq!(done.text.as_bytes(), text);
    }
}
