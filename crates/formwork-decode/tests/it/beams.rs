//! Beam search against trying every text.

use formwork_decode::{BeamRequest, Constraint, FinishReason, Model, beam_search, model_from_fn};
use formwork_sample::{BeamScore, LengthCorrection};
use proptest::prelude::*;

use crate::toy::{OneOf, Tokens, hashing, id};

/// Every way to spell every text, with its summed log-probabilities over the whole vocabulary.
fn every_path(
    tokens: &Tokens,
    texts: &[Vec<u8>],
    salt: u64,
    path: &mut Vec<usize>,
    sum: f64,
    all: &mut Vec<(Vec<u8>, f64, usize)>,
) {
    let mut constraint = OneOf::new(tokens, texts);
    for token in path.iter() {
        constraint.advance(id(*token)).unwrap();
    }
    if constraint.ended || constraint.is_finished() {
        all.push((constraint.so_far.clone(), sum, path.len()));
        return;
    }
    let mut model = hashing(tokens.len(), salt);
    let prefix: Vec<_> = path.iter().map(|t| id(*t)).collect();
    let logits: Vec<f64> = model.forward(&prefix).unwrap().iter().map(|z| f64::from(*z)).collect();
    let total = logits.iter().map(|z| z.exp()).sum::<f64>().ln();
    let mask = constraint.mask().unwrap().to_vec();
    for token in (0..tokens.len()).filter(|t| mask[t / 32] >> (t % 32) & 1 == 1) {
        path.push(token);
        every_path(tokens, texts, salt, path, sum + logits[token] - total, all);
        path.pop();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_wide_search_finds_the_best_text(
        texts in prop::collection::btree_set("[ab]{0,5}", 1..6),
        salt: u64,
        alpha in prop::sample::select(vec![0.0, 0.6, 1.0]),
    ) {
        let texts: Vec<_> = texts.into_iter().map(String::into_bytes).collect();
        // One spelling for each text: where there are several, beams that merge on the way may lose the best of them.
        let tokens = Tokens::new(&["a", "b", ""]);
        let mut all = Vec::new();
        every_path(&tokens, &texts, salt, &mut Vec::new(), 0.0, &mut all);
        let length = LengthCorrection::Power(alpha);
        let best = all.iter().map(|(_, sum, n)| length.apply(*sum, *n)).max_by(f64::total_cmp).unwrap();
        let request = BeamRequest::new([], 64).max_tokens(20).length(length);
        let beams = beam_search(&request, hashing(3, salt), Some(OneOf::new(&tokens, &texts)), &tokens).unwrap();
        prop_assert!((beams[0].score - best).abs() < 1e-9, "{} is not {best}", beams[0].score);
        let mut found: Vec<_> = beams.iter().map(|b| b.text.clone().into_bytes()).collect();
        found.sort();
        prop_assert_eq!(found, texts, "every text once");
        prop_assert!(beams.windows(2).all(|w| w[0].score >= w[1].score));
    }

    #[test]
    fn narrow_beams_within_any_budget_are_whole(
        texts in prop::collection::btree_set("[ab]{0,8}", 1..6),
        salt: u64,
        spare in 0usize..4,
        width in 1usize..4,
        early: bool,
    ) {
        let texts: Vec<_> = texts.into_iter().map(String::into_bytes).collect();
        let tokens = Tokens::new(&["a", "b", "ab", ""]);
        let needed = OneOf::new(&tokens, &texts).needed().unwrap();
        let request = BeamRequest::new([], width).max_tokens(needed + spare).early_stopping(early).score(BeamScore::Grammar);
        let beams = beam_search(&request, hashing(4, salt), Some(OneOf::new(&tokens, &texts)), &tokens).unwrap();
        prop_assert!(!beams.is_empty() && beams.len() <= width);
        for beam in beams {
            prop_assert!(texts.contains(&beam.text.into_bytes()));
            prop_assert!(matches!(beam.finish_reason, FinishReason::Grammar | FinishReason::Eos));
            prop_assert!(beam.raw <= beam.grammar + 1e-9);
        }
    }
}

#[test]
fn equal_texts_merge_and_free_text_ends() {
    let tokens = Tokens::new(&["a", "aa", ""]);
    // After two letters the end is certain.
    let model = model_from_fn(3, |prefix| {
        let letters: u32 = prefix.iter().map(|t| t.get() + 1).sum();
        if letters >= 2 { vec![0.0, 0.0, 50.0] } else { vec![1.0, 1.5, -50.0] }
    });
    let none: Option<OneOf<'_>> = None;
    let beams = beam_search(&BeamRequest::new([], 3).max_tokens(6).early_stopping(true), model, none, &tokens).unwrap();
    assert_eq!(beams[0].text, "aa");
    assert_eq!(beams[0].output_ids, [id(1), id(2)], "the better of two spellings");
    assert_eq!(beams.iter().filter(|b| b.text == "aa").count(), 1);
}
