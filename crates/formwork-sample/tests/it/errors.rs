//! What is refused, and how it is said.

use formwork_automaton::TokenId;
use formwork_sample::{Draws, Error, ExplainRequest, History, Relaxed, Sampler, SamplingParams, StepInput};

const DRAWS: Draws = Draws { u: 0.5, u_xtc: 0.5 };

fn params(json: &str) -> SamplingParams {
    serde_json::from_str(json).unwrap()
}

fn said(err: &Error) -> String {
    let help = err.help().map(|help| format!(" [{help}]"));
    format!("{}: {err}{}", err.code(), help.unwrap_or_default())
}

#[test]
fn parameters_out_of_range() {
    let cases = [
        r#"{"temperature": -1}"#,
        r#"{"top_p": 1.5}"#,
        r#"{"min_p": -0.1}"#,
        r#"{"typical_p": 2, "order": ["typical_p"]}"#,
        r#"{"min_keep": 0}"#,
        r#"{"repetition_penalty": 0}"#,
        r#"{"xtc_threshold": 7}"#,
        r#"{"bad_words": [[]]}"#,
        r#"{"dry_allowed_length": 0}"#,
        r#"{"order": ["top_k", "top_k"]}"#,
        r#"{"order": ["top_k", ["top_p", "penalties"]]}"#,
        r#"{"order": [[]]}"#,
        r#"{"typical_p": 0.9}"#,
        r#"{"temperature": 0, "order": ["top_k"]}"#,
    ];
    let said: Vec<_> = cases
        .iter()
        .map(|json| {
            let err = params(json).validate().unwrap_err();
            format!("{json}\n    {}", said(&err))
        })
        .collect();
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn numbers_that_json_has_no_word_for() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for set in [
            SamplingParams::temperature,
            SamplingParams::top_p,
            SamplingParams::min_p,
            SamplingParams::typical_p,
            SamplingParams::top_n_sigma,
            SamplingParams::repetition_penalty,
            SamplingParams::presence_penalty,
            SamplingParams::frequency_penalty,
            SamplingParams::dry_multiplier,
            SamplingParams::xtc_probability,
        ] {
            let err = set(SamplingParams::default(), bad).validate().unwrap_err();
            assert_eq!(err.code(), "invalid_parameter");
        }
    }
}

#[test]
fn unreadable_requests() {
    let cases = [
        r#"{"logits": [1], "u": 0.5, "params": {"topp": 1}}"#,
        r#"{"logits": [1], "u": 0.5, "params": {"order": ["mirostat"]}}"#,
        r#"{"logits": [1], "u": 0.5, "params": {"logit_bias": {"x": 1}}}"#,
        r#"{"logits": ["many"], "u": 0.5}"#,
        r#"{"logits": [1]}"#,
    ];
    let said: Vec<_> = cases
        .iter()
        .map(|json| {
            let err = serde_json::from_str::<ExplainRequest>(json).unwrap_err();
            format!("{json}\n    {err}")
        })
        .collect();
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn requests_out_of_range() {
    for json in [
        r#"{"logits": [1], "u": 1.0}"#,
        r#"{"logits": [1], "u": 0.5, "u_xtc": -1}"#,
        r#"{"logits": [1], "u": 0.5, "allowed": [1]}"#,
    ] {
        let request: ExplainRequest = serde_json::from_str(json).unwrap();
        assert_eq!(request.explain().unwrap_err().code(), "invalid_parameter", "{json}");
    }
}

fn refused(params: &SamplingParams, logits: &[f32], legal: Option<&[u32]>) -> String {
    let mut sampler = Sampler::new(params).unwrap();
    let step = StepInput::new(logits, DRAWS).legal(legal);
    let err = sampler.sample(&step).unwrap_err();
    assert_eq!(sampler.explain(&step).unwrap_err().code(), err.code());
    said(&err)
}

#[test]
fn steps_without_a_token() {
    let plain = SamplingParams::default();
    let ban = params(r#"{"logit_bias": {"0": "-inf"}}"#);
    let said = [
        refused(&plain, &[0.0, f32::NAN], None),
        refused(&plain, &[0.0, f32::INFINITY], Some(&[1])),
        refused(&plain, &[f32::NEG_INFINITY; 3], None),
        refused(&plain, &[], None),
        refused(&plain, &[0.0; 3], Some(&[0])),
        refused(&plain, &[0.0, f32::NEG_INFINITY], Some(&[2])),
        refused(&ban, &[0.0; 2], Some(&[1])),
        refused(&params(r#"{"allowed_token_ids": [7]}"#), &[0.0; 2], None),
        refused(&params(r#"{"bad_words": [[0], [1]]}"#), &[0.0; 2], Some(&[3])),
        refused(&params(r#"{"temperature": 1e-300}"#), &[3e38; 2], None),
    ];
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn forced_tokens_obey_bans_and_lift_rules() {
    let token = TokenId::new(3);
    let mut sampler =
        Sampler::new(&params(r#"{"min_tokens": 4, "no_repeat_ngram_size": 1, "top_k": 2, "temperature": 0.5}"#))
            .unwrap();
    let history = History { prompt: &[token], output: &[] };
    let forced = sampler.force(token, history, &[token]).unwrap();
    assert_eq!((forced.token, forced.final_logprob.to_bits()), (token, 0.0_f64.to_bits()));
    let lifted: Vec<_> = forced.relaxed.iter().collect();
    assert_eq!(lifted, [Relaxed::NoRepeatNgramSize, Relaxed::MinTokens]);

    let mut sampler = Sampler::new(&params(r#"{"bad_words": [[3]]}"#)).unwrap();
    let err = sampler.force(token, history, &[]).unwrap_err();
    assert_eq!((err.code(), err.parameter()), ("banned", Some("bad_words")));
}
