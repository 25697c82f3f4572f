//! Laws: drawing and explaining agree, both agree with the naive rules, and draws follow their distribution.

use formwork_automaton::TokenId;
use formwork_sample::{
    Draws, History, OrderEntry, PenaltyScope, PenaltyScopes, Sampler, SamplingParams, StageName, StepInput, TopKTies,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::naive::{Naive, Row, probs};

#[derive(Debug, Clone)]
struct Case {
    logits: Vec<f32>,
    mask: Option<Vec<u32>>,
    prompt: Vec<u32>,
    output: Vec<u32>,
    params: SamplingParams,
    draws: Draws,
}

/// A parameter's value, or not set in two of three cases.
fn sometimes<T: std::fmt::Debug + Clone>(values: impl Strategy<Value = T>) -> impl Strategy<Value = Option<T>> {
    prop::option::weighted(0.35, values)
}

fn orders() -> impl Strategy<Value = Vec<OrderEntry>> {
    let stages = Just(StageName::ALL.to_vec()).prop_shuffle();
    (stages, 0usize..10, 0usize..4).prop_map(|(stages, from, length)| {
        let (mut inner, mut order) = (Vec::new(), Vec::new());
        for (i, stage) in stages.into_iter().enumerate() {
            if stage.is_truncating() && (from..from + length).contains(&i) {
                inner.push(stage);
            } else {
                order.push(OrderEntry::Stage(stage));
            }
        }
        if !inner.is_empty() {
            order.insert(from.min(order.len()), OrderEntry::Together(inner));
        }
        order
    })
}

fn scope() -> impl Strategy<Value = PenaltyScopes> {
    prop_oneof![Just(PenaltyScopes::same(PenaltyScope::All)), Just(PenaltyScopes::same(PenaltyScope::Output)),]
}

fn params() -> impl Strategy<Value = SamplingParams> {
    let truncating = (
        sometimes(1usize..60),
        sometimes(Just(TopKTies::Keep)),
        sometimes(0.0..1.0),
        sometimes(0.0..1.0),
        sometimes(1usize..4),
        sometimes(0.0..1.0),
        sometimes(0.1..3.0),
        sometimes(0.0..1.0),
        sometimes(0.01..0.3),
    );
    let changing = (
        sometimes(prop_oneof![Just(0.0), 0.1..3.0]),
        sometimes(0.5..2.0),
        sometimes(-1.0..1.0),
        sometimes(-1.0..1.0),
        sometimes(scope()),
        sometimes(0usize..9),
        sometimes(1usize..4),
        sometimes(0.1..2.0),
        sometimes(prop::collection::vec((0u32..12).prop_map(TokenId::new), 0..2)),
        sometimes(prop::collection::btree_map((0u32..400).prop_map(TokenId::new), -4.0..4.0, 0..5)),
    );
    (truncating, changing, orders()).prop_map(|(t, c, order)| {
        let mut params = SamplingParams::default().order(order);
        (params.top_k, params.top_k_ties, params.top_p) = (t.0, t.1, t.2);
        (params.min_p, params.min_keep, params.typical_p) = (t.3, t.4, t.5);
        (params.top_n_sigma, params.xtc_probability, params.xtc_threshold) = (t.6, t.7, t.8);
        (params.temperature, params.repetition_penalty) = (c.0, c.1);
        (params.presence_penalty, params.frequency_penalty) = (c.2, c.3);
        (params.penalty_scope, params.penalty_last_n) = (c.4, c.5);
        (params.no_repeat_ngram_size, params.dry_multiplier) = (c.6, c.7);
        (params.dry_breakers, params.logit_bias) = (c.8, c.9);
        params
    })
}

/// Logits of some size, a part of them −∞ and many of them equal.
fn logits(sizes: std::ops::Range<usize>) -> impl Strategy<Value = Vec<f32>> {
    let logit = prop_oneof![
        1 => Just(f32::NEG_INFINITY),
        4 => (-8i16..8).prop_map(f32::from),
        15 => -9.0f32..9.0,
    ];
    prop::collection::vec(logit, sizes)
}

fn cases(sizes: std::ops::Range<usize>) -> impl Strategy<Value = Case> {
    let history = || prop::collection::vec(0u32..12, 0..14);
    (
        logits(sizes.clone()),
        prop::option::of(prop::collection::vec(any::<u32>(), sizes.end.div_ceil(32))),
        history(),
        history(),
        params(),
        (0.0..1.0f64, 0.0..1.0f64),
    )
        .prop_map(|(mut logits, mask, prompt, output, params, (u, u_xtc))| {
            let mut mask: Option<Vec<u32>> = mask;
            // At least one token is legal and finite.
            logits[5] = 1.0;
            if let Some(mask) = &mut mask {
                mask[0] |= 1 << 5;
            }
            Case { logits, mask, prompt, output, params, draws: Draws { u, u_xtc } }
        })
}

fn tokens(ids: &[u32]) -> Vec<TokenId> {
    ids.iter().copied().map(TokenId::new).collect()
}

fn legal_row(case: &Case) -> Row {
    (0u32..)
        .zip(&case.logits)
        .filter(|(id, z)| {
            let legal = case.mask.as_ref().is_none_or(|mask| mask[*id as usize / 32] >> (id % 32) & 1 == 1);
            legal && z.is_finite()
        })
        .map(|(id, z)| (id, f64::from(*z)))
        .collect()
}

fn agrees(case: &Case) -> Result<(), TestCaseError> {
    let mut sampler = Sampler::new(&case.params).unwrap();
    let (prompt, output) = (tokens(&case.prompt), tokens(&case.output));
    let step = StepInput::new(&case.logits, case.draws)
        .legal(case.mask.as_deref())
        .history(History { prompt: &prompt, output: &output });
    let sampled = sampler.sample(&step).unwrap();
    let again = sampler.sample(&step).unwrap();
    prop_assert_eq!(sampled, again, "a step leaves nothing behind");
    let explained = sampler.explain(&step).unwrap();
    prop_assert_eq!(sampled.token.get(), explained.chosen);
    let relaxed: Vec<_> = sampled.relaxed.iter().collect();
    prop_assert_eq!(&relaxed, &explained.relaxed);
    let drawn = explained.final_.iter().find(|p| p.id == explained.chosen).unwrap();
    prop_assert_eq!(sampled.final_logprob.to_bits(), drawn.prob.ln().to_bits());

    let resolved = case.params.resolve().unwrap();
    let naive = Naive { params: &resolved, prompt: &case.prompt, output: &case.output, u_xtc: case.draws.u_xtc };
    let row = naive.rows(legal_row(case)).pop().unwrap();
    let last = &explained.stages.last().unwrap().candidates;
    let ids: Vec<_> = row.iter().map(|c| c.0).collect();
    let got: Vec<_> = last.iter().map(|p| p.id).collect();
    prop_assert_eq!(got, ids);
    for (got, wanted) in last.iter().zip(probs(&row)) {
        prop_assert!((got.prob - wanted).abs() < 1e-9);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn drawing_and_explaining_agree_with_the_rules(case in cases(12..400)) {
        agrees(&case)?;
    }

    #[test]
    fn log_probabilities_are_those_of_their_stage(case in cases(12..400)) {
        let mut sampler = Sampler::new(&case.params).unwrap();
        let (prompt, output) = (tokens(&case.prompt), tokens(&case.output));
        let step = StepInput::new(&case.logits, case.draws)
            .legal(case.mask.as_deref())
            .history(History { prompt: &prompt, output: &output });
        let sampled = sampler.sample(&step).unwrap();
        let got = sampler.log_probs(&step, &sampled).unwrap();
        let explained = sampler.explain(&step).unwrap();
        let prob = |name: &str| {
            let stage = explained.stages.iter().find(|s| s.name == name)?;
            stage.candidates.iter().find(|p| p.id == explained.chosen).map(|p| p.prob.ln())
        };
        let raw = prob("raw").unwrap();
        prop_assert!((got.raw - raw).abs() < 1e-9);
        prop_assert!((got.grammar - prob("grammar").unwrap_or(raw)).abs() < 1e-9);
        prop_assert!(got.raw <= got.grammar + 1e-12, "fewer tokens to share with");
        prop_assert_eq!(got.final_.to_bits(), sampled.final_logprob.to_bits());
        // `scaled` is what is left without truncation.
        let mut scaling = case.params.clone();
        (scaling.top_k, scaling.top_p, scaling.min_p, scaling.typical_p) = (None, None, None, None);
        (scaling.top_n_sigma, scaling.xtc_probability) = (None, None);
        let scaled = Sampler::new(&scaling).unwrap().explain(&step).unwrap();
        let last = &scaled.stages.last().unwrap().candidates;
        // An n-gram ban that truncation made relax may ban the token here.
        if let Some(p) = last.iter().find(|p| p.id == explained.chosen) {
            prop_assert!((got.scaled - p.prob.ln()).abs() < 1e-9);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    /// Here only the tokens that can matter are gathered, where the parameters allow it.
    #[test]
    fn large_vocabularies_follow_the_same_rules(case in cases(1000..3000)) {
        agrees(&case)?;
    }
}

/// The chi-square statistic of 20,000 draws against the distribution that the explanation shows.
fn chi_square(params: &SamplingParams, logits: &[f32]) -> (f64, usize) {
    const DRAWS: u32 = 20_000;
    let mut sampler = Sampler::new(params).unwrap();
    let at = |position: u32| StepInput::new(logits, Draws::at(2026, 0, u64::from(position)));
    let expected = sampler.explain(&at(0)).unwrap().final_;
    let mut counts = vec![0u32; logits.len()];
    for position in 0..DRAWS {
        counts[sampler.sample(&at(position)).unwrap().token.index()] += 1;
    }
    let statistic = expected
        .iter()
        .map(|p| {
            let expected = p.prob * f64::from(DRAWS);
            (f64::from(counts[p.id as usize]) - expected).powi(2) / expected
        })
        .sum();
    (statistic, expected.len() - 1)
}

#[test]
fn draws_follow_their_distribution() {
    let logits: Vec<f32> = (0..12u8).map(|i| 2.0 - f32::from(i) * 0.25).collect();
    for (params, freedom, limit) in [
        // The 99.9 % points of χ² with so many degrees of freedom.
        (SamplingParams::default(), 11, 31.26),
        (SamplingParams::default().temperature(2.0).top_k(8), 7, 24.32),
        (SamplingParams::default().top_p(0.7), 4, 18.47),
    ] {
        let (statistic, got_freedom) = chi_square(&params, &logits);
        assert_eq!(got_freedom, freedom);
        assert!(statistic < limit, "χ² is {statistic} with {freedom} degrees of freedom");
    }
}

#[test]
fn resolved_parameters_read_back_as_a_request() {
    let text = r#"{"temperature": 0.7, "order": ["logit_bias", ["top_k", "top_p"], "temperature"],
        "top_k": 5, "logit_bias": {"3": "-inf", "4": 1.5}, "penalty_scope": {"presence": "all"}, "preset": "vllm"}"#;
    let params: SamplingParams = serde_json::from_str(text).unwrap();
    let resolved = params.resolve().unwrap();
    let written = serde_json::to_string(&resolved).unwrap();
    let read: SamplingParams = serde_json::from_str(&written).unwrap_or_else(|err| panic!("{written}: {err}"));
    assert_eq!(read.resolve().unwrap(), resolved);
}

#[test]
fn neighbours_never_shift_a_draw() {
    let logits = vec![0.0f32; 1000];
    let mut sampler = Sampler::new(&SamplingParams::default().temperature(0.8)).unwrap();
    let mut draw = |seed: u64, sequence, position| {
        let step = StepInput::new(&logits, Draws::at(seed, sequence, position));
        sampler.sample(&step).unwrap().token.get()
    };
    let alone: Vec<_> = (0..16).map(|t| draw(42, 0, t)).collect();
    let mut beside = Vec::new();
    for t in 0..16 {
        draw(7, 0, t);
        draw(42, 1, t);
        beside.push(draw(42, 0, t));
    }
    assert_eq!(alone, beside);
    let other: Vec<_> = (0..16).map(|t| draw(43, 0, t)).collect();
    assert_ne!(alone, other);
}
