//! Every way in which a generation can end.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use formwork_automaton::TokenId;
use formwork_decode::{
    Constraint, ConstraintError, FinishReason, GenerateRequest, Hooks, Model, Stop, StopConditions, generate,
    model_from_fn,
};
use formwork_sample::{Relaxed, SamplingParams};

use crate::toy::{OneOf, Tokens, id, run, script};

fn letters() -> Tokens {
    Tokens::new(&["a", "b", "c", "ab", ""])
}

fn request() -> GenerateRequest {
    GenerateRequest::new([]).seed(1)
}

#[test]
fn a_token_that_ends_the_text() {
    let tokens = letters();
    let done = run(&request(), script(&tokens, &[0, 1]), None, &tokens).unwrap();
    assert_eq!((done.text.as_str(), done.finish_reason), ("ab", FinishReason::Eos));
    assert_eq!(done.reproduce.output_ids, [0, 1, 4]);
    assert_eq!(done.usage.completion_tokens, 3);
    assert_eq!(done.stop, None);
}

#[test]
fn the_budget() {
    let tokens = letters();
    let done = run(&request().max_tokens(2), script(&tokens, &[0, 1, 2]), None, &tokens).unwrap();
    assert_eq!((done.text.as_str(), done.finish_reason), ("ab", FinishReason::MaxTokens));
    let none = run(&request().max_tokens(0), script(&tokens, &[0]), None, &tokens).unwrap();
    assert_eq!((none.text.as_str(), none.finish_reason), ("", FinishReason::MaxTokens));
}

#[test]
fn a_stop_string_inside_a_token() {
    let tokens = letters();
    let stop = StopConditions::default().strings(["ba"]);
    let model = || script(&tokens, &[2, 1, 3, 0]);
    let done = run(&request().stop(stop.clone()), model(), None, &tokens).unwrap();
    assert_eq!((done.text.as_str(), done.finish_reason), ("c", FinishReason::StopString));
    assert_eq!(done.stop, Some(Stop::String { string: "ba".into(), at: 1 }));
    let done = run(&request().stop(stop.include_stop(true)), model(), None, &tokens).unwrap();
    assert_eq!(done.text, "cba", "what the token has after it is cut");
}

#[test]
fn a_stop_token() {
    let tokens = letters();
    let stop = StopConditions::default().token_ids([3]).strings(["b"]);
    let model = || script(&tokens, &[0, 3]);
    let done = run(&request().stop(stop.clone()), model(), None, &tokens).unwrap();
    assert_eq!((done.text.as_str(), done.finish_reason), ("a", FinishReason::StopToken));
    assert_eq!(done.stop, Some(Stop::Token { token_id: 3, at: 1 }));
    let done = run(&request().stop(stop.include_stop(true)), model(), None, &tokens).unwrap();
    assert_eq!(done.text, "aab");
}

#[test]
fn a_constraint_needs_no_token_to_end() {
    let tokens = letters();
    let texts = [b"abc".to_vec()];
    let mut constraint = OneOf::new(&tokens, &texts);
    let done = run(&request(), script(&tokens, &[]), Some(&mut constraint), &tokens).unwrap();
    assert_eq!((done.text.as_str(), done.finish_reason), ("abc", FinishReason::Grammar));
    // "a" or "ab" first, then no choice.
    assert_eq!(done.usage.forced_tokens, done.usage.completion_tokens - 1);
}

#[test]
fn a_constraint_that_could_go_on_ends_by_a_token() {
    let tokens = letters();
    let texts = [b"a".to_vec(), b"aaaa".to_vec()];
    let mut constraint = OneOf::new(&tokens, &texts);
    let done = run(&request(), script(&tokens, &[0]), Some(&mut constraint), &tokens).unwrap();
    assert_eq!((done.text.as_str(), done.finish_reason), ("a", FinishReason::Eos));
}

#[test]
fn stops_leave_constrained_output_whole_unless_asked() {
    let tokens = letters();
    let texts = [b"abc".to_vec()];
    let stop = StopConditions::default().strings(["b"]);
    let mut constraint = OneOf::new(&tokens, &texts);
    let done = run(&request().stop(stop.clone()), script(&tokens, &[]), Some(&mut constraint), &tokens).unwrap();
    assert_eq!(done.text, "abc");
    assert_eq!(done.warnings.len(), 1);
    let mut constraint = OneOf::new(&tokens, &texts);
    let request = request().stop(stop.in_constrained(true));
    let done = run(&request, script(&tokens, &[]), Some(&mut constraint), &tokens).unwrap();
    assert_eq!((done.text.as_str(), done.finish_reason), ("a", FinishReason::StopString));
    assert!(done.warnings.is_empty());
}

#[test]
fn cancelled_by_a_flag_or_by_who_reads() {
    let tokens = letters();
    let flag = AtomicBool::new(false);
    let mut shown = Vec::new();
    let mut on_text = |delta: &str| {
        shown.push(delta.to_owned());
        flag.store(shown.len() == 2, Ordering::Relaxed);
        ControlFlow::Continue(())
    };
    let hooks = Hooks::new().on_text(&mut on_text).cancel(&flag);
    let done = generate(&request(), script(&tokens, &[0, 1, 2]), None, &tokens, hooks).unwrap();
    assert_eq!((done.text.as_str(), done.finish_reason), ("ab", FinishReason::Cancelled));
    assert_eq!(shown, ["a", "b"]);

    let mut calls = 0;
    let mut on_text = |_: &str| {
        calls += 1;
        ControlFlow::Break(())
    };
    let hooks = Hooks::new().on_text(&mut on_text);
    let done = generate(&request(), script(&tokens, &[0, 1, 2]), None, &tokens, hooks).unwrap();
    assert_eq!((done.text.as_str(), done.finish_reason, calls), ("a", FinishReason::Cancelled, 1));
}

fn failure(model: impl Model, constraint: Option<&mut dyn Constraint>, sampling: SamplingParams) -> String {
    let tokens = letters();
    let done = run(&request().sampling(sampling), model, constraint, &tokens).unwrap();
    assert_eq!(done.finish_reason, FinishReason::Error);
    let error = done.error.unwrap();
    format!("{:?} {}: {}", done.text, error.code, error.message)
}

struct Broken(usize);

impl Model for Broken {
    type Error = std::io::Error;

    fn vocab_size(&self) -> usize {
        5
    }

    fn forward(&mut self, _: &[TokenId]) -> Result<&[f32], std::io::Error> {
        match self.0 {
            0 => Err(std::io::Error::other("the device is gone")),
            _ => Ok(&[0.0; 3]),
        }
    }
}

/// Allows nothing, and says so by an empty mask.
struct Nothing;

impl Constraint for Nothing {
    fn mask(&mut self) -> Result<&[u32], ConstraintError> {
        Ok(&[0])
    }
    fn mask_within(&mut self, _: usize) -> Result<&[u32], ConstraintError> {
        Ok(&[0])
    }
    fn advance(&mut self, _: TokenId) -> Result<(), ConstraintError> {
        Err("nothing is allowed".into())
    }
    fn is_accepting(&self) -> bool {
        false
    }
    fn is_finished(&mut self) -> bool {
        false
    }
    fn needed(&mut self) -> Result<usize, ConstraintError> {
        Ok(1)
    }
    fn needed_at_most(&mut self) -> usize {
        1
    }
    fn fits(&mut self, _: TokenId, _: usize) -> Result<bool, ConstraintError> {
        Ok(true)
    }
}

#[test]
fn failures_come_with_the_text_so_far() {
    let nan_later = model_from_fn(5, |prefix| {
        let mut logits = vec![9.0, 0.0, 0.0, 0.0, 0.0];
        if prefix.len() == 2 {
            logits[3] = f32::NAN;
        }
        logits
    });
    let tokens = letters();
    let texts = [b"abc".to_vec()];
    let ban: SamplingParams = serde_json::from_str(r#"{"logit_bias": {"2": "-inf"}}"#).unwrap();
    let said = [
        failure(nan_later, None, SamplingParams::default()),
        failure(Broken(0), None, SamplingParams::default()),
        failure(Broken(1), None, SamplingParams::default()),
        failure(script(&tokens, &[]), Some(&mut Nothing), SamplingParams::default()),
        failure(script(&tokens, &[]), Some(&mut OneOf::new(&tokens, &texts)), ban),
    ];
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn what_can_not_be_served_is_refused_up_front() {
    struct Small;
    impl Model for Small {
        type Error = std::convert::Infallible;
        fn vocab_size(&self) -> usize {
            5
        }
        fn context_len(&self) -> Option<usize> {
            Some(4)
        }
        fn forward(&mut self, _: &[TokenId]) -> Result<&[f32], Self::Error> {
            Ok(&[0.0; 5])
        }
    }
    let tokens = letters();
    let refused = |request: GenerateRequest| {
        let err = run(&request, Small, None, &tokens).unwrap_err();
        format!("{}: {} [{}]", err.code(), err.full_message(), err.help().unwrap_or_default())
    };
    let prompt = |n: usize| GenerateRequest::new(vec![id(0); n]);
    let said = [
        refused(prompt(4)),
        refused(prompt(3).max_tokens(2)),
        refused(prompt(1).stop(StopConditions::default().strings(["x", ""]))),
        refused(prompt(1).sampling(SamplingParams::default().top_p(-1.0))),
    ];
    insta::assert_snapshot!(said.join("\n"));
    let done = run(&prompt(1).seed(3), Small, None, &tokens).unwrap();
    assert!(done.reproduce.max_tokens == 3, "what the context leaves");
}

#[test]
fn rules_give_way_to_the_grammar_and_say_so() {
    let tokens = letters();
    let texts = [b"aa".to_vec()];
    let mut constraint = OneOf::new(&tokens, &texts);
    let sampling = SamplingParams::default().min_tokens(5).no_repeat_ngram_size(1);
    let done = run(&request().sampling(sampling), script(&tokens, &[]), Some(&mut constraint), &tokens).unwrap();
    assert_eq!((done.text.as_str(), done.finish_reason), ("aa", FinishReason::Grammar));
    let relaxed: Vec<_> = done.relaxed.iter().map(|r| (r.step, r.stage)).collect();
    assert_eq!(relaxed, [(1, Relaxed::NoRepeatNgramSize), (2, Relaxed::MinTokens)]);
}

#[test]
fn min_tokens_holds_stop_tokens_back_too() {
    let tokens = letters();
    let stop = StopConditions::default().token_ids([2]);
    let sampling = SamplingParams::default().min_tokens(2);
    let model = model_from_fn(5, |_| vec![10.0, 0.0, 50.0, 0.0, 30.0]);
    let done = run(&request().stop(stop).sampling(sampling), model, None, &tokens).unwrap();
    assert_eq!((done.text.as_str(), done.finish_reason), ("aa", FinishReason::StopToken));
}
