//! The default model, or the one that `FORMWORK_MODEL` names, where it is at hand.

use std::fs::File;
use std::path::PathBuf;

use candle_core::quantized::gguf_file::Content;
use candle_transformers::models::quantized_llama::ModelWeights;
use formwork_automaton::TokenId;
use formwork_candle::{Device, LoadedModel, Message, ModelCache};

fn path() -> Option<PathBuf> {
    let path =
        std::env::var_os("FORMWORK_MODEL").map(PathBuf::from).or_else(|| ModelCache::from_env().ok()?.find_default());
    if path.is_none() {
        eprintln!("SKIPPED: no model in the cache, and FORMWORK_MODEL is not set");
    }
    path
}

fn likeliest(logits: &[f32]) -> TokenId {
    let best = (0_u32..).zip(logits).max_by(|a, b| a.1.total_cmp(b.1));
    TokenId::new(best.unwrap().0)
}

/// With plain numbers both compute the same (see `llama::logits_are_candles`). Here activations are rounded to eight
/// bits before each product, which turns a last bit into a step; both are as far from the unrounded logits as from each
/// other (root mean square 0.1 to 0.8, of logits from −20 to 35), so only nearness can be asked for.
#[test]
fn it_goes_on_as_candles_own_does() {
    let Some(path) = path() else { return };
    let mut loaded = LoadedModel::open(&path, Device::Cpu).unwrap();
    let prompt = loaded.render_chat(&[Message::user("Tell me about rivers.")], true).unwrap();
    let mut file = File::open(&path).unwrap();
    let content = Content::read(&mut file).unwrap();
    let cpu = candle_core::Device::Cpu;
    let mut theirs = ModelWeights::from_gguf(content, &mut file, &cpu).unwrap();

    let mut position = 0;
    let mut new = prompt.ids.clone();
    for _ in 0..24 {
        let input = candle_core::Tensor::new(new.iter().map(|id| id.get()).collect::<Vec<u32>>(), &cpu)
            .unwrap()
            .unsqueeze(0)
            .unwrap();
        let expected: Vec<f32> = theirs.forward(&input, position).unwrap().squeeze(0).unwrap().to_vec1().unwrap();
        let found = loaded.model.forward(&new).unwrap();
        let difference = root_mean_square_difference(found, &expected);
        assert!(difference < 2.0, "{difference}");
        let next = likeliest(&expected);
        let better = found.iter().filter(|&&l| l > found[next.index()]).count();
        assert!(better < 3, "their likeliest is our {better}th");
        position += new.len();
        new = vec![next];
    }
}

#[expect(clippy::cast_precision_loss, reason = "a vocabulary is below 2²⁴")]
fn root_mean_square_difference(a: &[f32], b: &[f32]) -> f32 {
    let sum: f32 = a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).sum();
    (sum / a.len() as f32).sqrt()
}

#[test]
fn its_tokenizer_brings_text_back() {
    let Some(path) = path() else { return };
    let loaded = LoadedModel::open(path, Device::Cpu).unwrap();
    for text in [
        "{\"name\": \"Ada\", \"born\": 1815}",
        "  two  spaces\n\n\tand tabs ",
        "naïve café — 東京 🙂",
        "it's 12345.678, isn't it?",
        "<|im_end|>",
    ] {
        let ids = loaded.tokenizer.encode(text).unwrap();
        assert_eq!(loaded.tokenizer.decode(&ids).unwrap(), text);
        assert!(ids.iter().all(|id| !loaded.file.eos_ids().contains(id)));
    }
    assert_eq!(loaded.tokenizer.encode("{").unwrap().len(), 1);
    assert_eq!(loaded.tokenizer.encode("2024").unwrap().len(), 4);
}
