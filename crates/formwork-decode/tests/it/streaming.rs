//! What is shown while generating is, piece after piece, the text in the end.

use std::ops::ControlFlow;

use formwork_decode::{FinishReason, GenerateRequest, Hooks, Stop, StopConditions, generate};
use proptest::prelude::*;

use crate::toy::{Tokens, run, script};

fn tokens() -> impl Strategy<Value = Tokens> {
    let token = prop_oneof![
        3 => "[ab]{1,3}".prop_map(String::into_bytes),
        2 => "[é世😀]".prop_map(String::into_bytes),
        3 => prop::sample::select(vec![vec![0xe4], vec![0xb8], vec![0x96], vec![0xf0, 0x9f], vec![0x98, 0x80], vec![0xff]]),
    ];
    prop::collection::vec(token, 1..8).prop_map(|mut tokens| {
        tokens.push(Vec::new());
        Tokens::new(&tokens)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn pieces_make_the_text(
        tokens in tokens(),
        indices in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
        strings in prop::collection::vec("[abé世]{1,3}", 0..3),
        include: bool,
        budget in 0usize..25,
    ) {
        let chosen: Vec<usize> = indices.iter().map(|i| i.index(tokens.len() - 1)).collect();
        let stop = StopConditions::default().strings(strings).include_stop(include);
        let request = GenerateRequest::new([]).stop(stop).max_tokens(budget).seed(0);
        let mut pieces = Vec::new();
        let mut on_text = |delta: &str| {
            pieces.push(delta.to_owned());
            ControlFlow::Continue(())
        };
        let hooks = Hooks::new().on_text(&mut on_text);
        let done = generate(&request, script(&tokens, &chosen), None, &tokens, hooks).unwrap();
        prop_assert_eq!(pieces.concat(), &*done.text);
        prop_assert!(pieces.iter().all(|piece| !piece.is_empty()));
        let unwatched = run(&request, script(&tokens, &chosen), None, &tokens).unwrap();
        prop_assert_eq!(&unwatched.text, &done.text);
        prop_assert_eq!(unwatched.finish_reason, done.finish_reason);

        // The bytes of all tokens, cut at the stop, are the text.
        let bytes: Vec<u8> = done.reproduce.output_ids.iter().flat_map(|id| tokens.bytes[*id as usize].clone()).collect();
        let end = match &done.stop {
            Some(Stop::String { string, at }) if include => at + string.len(),
            Some(Stop::String { at, .. }) => *at,
            _ => bytes.len(),
        };
        prop_assert_eq!(String::from_utf8_lossy(&bytes[..end]), &*done.text);
        prop_assert_eq!(done.stop.is_some(), done.finish_reason == FinishReason::StopString);
    }
}
