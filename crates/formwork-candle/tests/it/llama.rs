//! The llama model: the same numbers as candle's own, whatever way the sequence came about.

use std::sync::LazyLock;

use candle_core::quantized::GgmlDType;
use candle_core::quantized::gguf_file::{Content, Value};
use candle_transformers::models::quantized_llama::ModelWeights;
use formwork_automaton::TokenId;
use formwork_candle::{Device, Llama, ModelFile};
use proptest::prelude::*;

use crate::tiny::{CONTEXT, HEADS, HIDDEN, Tiny, ids};

fn load(tiny: &Tiny) -> Llama {
    let dir = tempfile::tempdir().unwrap();
    let path = tiny.write(dir.path());
    ModelFile::open(path).unwrap().load(Device::Cpu).unwrap()
}

fn some_ids(len: usize) -> Vec<TokenId> {
    (0..len).map(|i| TokenId::from_index((i * 37 + i * i) % 250).unwrap()).collect()
}

fn numbers(ids: &[TokenId]) -> Vec<u32> {
    ids.iter().map(|id| id.get()).collect()
}

fn largest_difference(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    assert!(a.iter().chain(b).all(|x| x.is_finite()));
    a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f32::max)
}

fn bits(numbers: &[f32]) -> Vec<u32> {
    numbers.iter().map(|n| n.to_bits()).collect()
}

/// Both models' logits along a prompt and some further tokens.
fn difference_from_candle(tiny: &Tiny) -> f32 {
    let dir = tempfile::tempdir().unwrap();
    let path = tiny.write(dir.path());
    let mut ours = ModelFile::open(&path).unwrap().load(Device::Cpu).unwrap();
    let mut file = std::fs::File::open(&path).unwrap();
    let content = Content::read(&mut file).unwrap();
    let cpu = candle_core::Device::Cpu;
    let mut theirs = ModelWeights::from_gguf(content, &mut file, &cpu).unwrap();
    let prompt = some_ids(20);
    let mut largest = 0.0_f32;
    for (start, end) in [(0, 12), (12, 13), (13, 14), (14, 20)] {
        let new = &prompt[start..end];
        let input = candle_core::Tensor::new(numbers(new), &cpu).unwrap().unsqueeze(0).unwrap();
        let expected: Vec<f32> = theirs.forward(&input, start).unwrap().squeeze(0).unwrap().to_vec1().unwrap();
        let found = ours.forward(new).unwrap();
        largest = largest.max(largest_difference(found, &expected));
    }
    largest
}

#[test]
fn logits_are_candles() {
    // Plain numbers: the sums are only added up in another order.
    let difference = difference_from_candle(&Tiny::new(GgmlDType::F32));
    assert!(difference < 2e-5, "{difference}");
    // Activations are rounded to eight bits before each product, so a last bit can become a step.
    for dtype in [GgmlDType::Q8_0, GgmlDType::Q4_0] {
        let difference = difference_from_candle(&Tiny::new(dtype));
        assert!(difference < 5e-2, "{dtype:?}: {difference}");
    }
}

#[test]
fn slow_types_become_q8_0_and_hardly_differ() {
    for dtype in [GgmlDType::Q4_1, GgmlDType::Q5_0, GgmlDType::Q5_1] {
        let difference = difference_from_candle(&Tiny::new(dtype));
        // Of logits between −3 and 3.
        assert!(difference < 3e-1, "{dtype:?}: {difference}");
    }
}

#[test]
fn matrices_of_different_types_go_together() {
    let mut tiny = Tiny::new(GgmlDType::Q8_0);
    tiny.matrix("blk.0.attn_v", [HIDDEN / 2, HIDDEN], GgmlDType::F16);
    tiny.matrix("output", [crate::tiny::tokens().len(), HIDDEN], GgmlDType::Q4_0);
    let difference = difference_from_candle(&tiny);
    assert!(difference < 5e-2, "{difference}");
}

#[test]
fn a_long_prompt_goes_through_in_pieces() {
    let prompt = some_ids(600);
    let mut whole = load(&Tiny::new(GgmlDType::F32));
    let at_once = whole.forward(&prompt).unwrap().to_vec();
    let mut pieces = load(&Tiny::new(GgmlDType::F32));
    let mut last = Vec::new();
    for piece in prompt.chunks(71) {
        last = pieces.forward(piece).unwrap().to_vec();
    }
    let difference = largest_difference(&at_once, &last);
    assert!(difference < 2e-5, "{difference}");
    assert_eq!((whole.position(), pieces.position()), (600, 600));
}

#[test]
fn several_positions_at_once() {
    let prompt = some_ids(300);
    let mut model = load(&Tiny::new(GgmlDType::Q8_0));
    let vocab = model.vocab_size();
    // From the middle of one piece of the prompt to the end of the next.
    let rows = model.forward_positions(&prompt, 60).unwrap().to_vec();
    assert_eq!(rows.len(), 60 * vocab);
    for (row, end) in [(0, 241), (17, 258), (59, 300)] {
        model.clear();
        let alone = model.forward(&prompt[..end]).unwrap();
        let difference = largest_difference(&rows[row * vocab..(row + 1) * vocab], alone);
        assert!(difference < 5e-2, "{difference}");
    }
    model.clear();
    let all = model.forward_positions(&prompt[..5], 99).unwrap();
    assert_eq!(all.len(), 5 * vocab);
}

#[test]
fn truncating_and_going_on_repeats_bit_by_bit() {
    let mut model = load(&Tiny::new(GgmlDType::Q8_0));
    model.forward(&some_ids(10)).unwrap();
    let first = bits(model.forward(&ids(&[5, 6])).unwrap());
    model.forward(&ids(&[7])).unwrap();
    model.truncate(10).unwrap();
    assert_eq!(model.position(), 10);
    assert_eq!(bits(model.forward(&ids(&[5, 6])).unwrap()), first);
    let error = model.truncate(13).unwrap_err();
    assert_eq!(error.code(), "truncate_beyond_end");
    assert_eq!(model.position(), 12);
}

#[test]
fn clones_share_a_past_and_no_future() {
    let mut model = load(&Tiny::new(GgmlDType::Q8_0));
    model.forward(&some_ids(10)).unwrap();
    let mut fork = model.clone();
    let of_model = bits(model.forward(&ids(&[1])).unwrap());
    let of_fork = bits(fork.forward(&ids(&[2])).unwrap());
    assert_ne!(of_model, of_fork);
    let mut again = fork.clone();
    drop(fork);
    again.truncate(10).unwrap();
    assert_eq!(bits(again.forward(&ids(&[1])).unwrap()), of_model);
    model.truncate(10).unwrap();
    assert_eq!(bits(model.forward(&ids(&[2])).unwrap()), of_fork);
}

#[test]
fn what_does_not_fit_changes_nothing() {
    let mut model = load(&Tiny::new(GgmlDType::Q8_0));
    assert_eq!(model.forward(&[]).unwrap_err().code(), "empty_prompt");
    let error = model.forward(&some_ids(CONTEXT + 1)).unwrap_err();
    assert_eq!(error.to_string(), "701 tokens do not fit the model's context of 700 tokens");
    model.forward(&some_ids(CONTEXT)).unwrap();
    let error = model.forward(&ids(&[1])).unwrap_err();
    assert_eq!(error.code(), "context_full");
    assert_eq!(error.to_string(), "1 more token after 700 does not fit the model's context of 700 tokens");
    assert_eq!(model.position(), CONTEXT);
    model.clear();
    let error = model.forward(&ids(&[1, 9_999])).unwrap_err();
    assert_eq!(error.code(), "token_out_of_range");
    assert_eq!(model.position(), 0);
}

#[test]
fn a_stretched_context_turns_more_slowly() {
    let plain = load(&Tiny::new(GgmlDType::F32)).forward(&some_ids(8)).unwrap().to_vec();
    let stretched = Tiny::new(GgmlDType::F32)
        .text("llama.rope.scaling.type", "linear")
        .set("llama.rope.scaling.factor", Value::F32(4.0));
    let stretched = load(&stretched).forward(&some_ids(8)).unwrap().to_vec();
    assert_ne!(bits(&plain), bits(&stretched));
    let mut factors = Tiny::new(GgmlDType::F32);
    factors.tensors.insert("rope_freqs.weight".into(), (vec![HIDDEN / HEADS / 2], GgmlDType::F32));
    let by_factors = load(&factors).forward(&some_ids(8)).unwrap().to_vec();
    assert_ne!(bits(&plain), bits(&by_factors));
}

#[test]
fn no_device_is_claimed_that_was_not_built() {
    if cfg!(feature = "cuda") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let file = ModelFile::open(Tiny::new(GgmlDType::Q8_0).write(dir.path())).unwrap();
    let error = file.load(Device::Cuda(0)).unwrap_err();
    assert_eq!(error.code(), "device_not_built");
}

static FRESH: LazyLock<Llama> = LazyLock::new(|| load(&Tiny::new(GgmlDType::F32)));

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Any way of going forth and back ends where going straight does.
    #[test]
    fn forth_and_back_is_straight_on(
        steps in proptest::collection::vec((proptest::collection::vec(0_u32..250, 1..6), 0_usize..8), 1..6),
    ) {
        let mut model = FRESH.clone();
        let mut all: Vec<u32> = Vec::new();
        let mut last = Vec::new();
        for (new, back) in steps {
            let len = all.len().saturating_sub(back);
            all.truncate(len);
            model.truncate(len).unwrap();
            all.extend(&new);
            last = model.forward(&ids(&new)).unwrap().to_vec();
            prop_assert_eq!(model.position(), all.len());
        }
        model.clear();
        let straight = model.forward(&ids(&all)).unwrap();
        prop_assert!(largest_difference(&last, straight) < 2e-5);
    }
}
