//! Goes on from a prompt greedily and says how fast: `continue [MODEL] [PROMPT] [TOKENS]`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example for the terminal")]

use std::error::Error;
use std::io::Write;
use std::time::{Duration, Instant};

use formwork_automaton::TokenId;
use formwork_candle::{Device, LoadedModel, Message, ModelCache, Source};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let source = Source::parse(&args.next().unwrap_or_else(|| "default".to_owned()))?;
    let text = args.next().unwrap_or_else(|| "Tell me about rivers.".to_owned());
    let most: usize = args.next().map_or(Ok(128), |n| n.parse())?;

    let path = source.locate(&ModelCache::from_env()?, &mut |progress| {
        eprint!("\r{progress:?}\x1b[K");
    })?;
    let started = Instant::now();
    let mut loaded = LoadedModel::open(path, Device::default())?;
    let loading = started.elapsed();

    let prompt = loaded.render_chat(&[Message::user(text)], true)?;
    let ends = loaded.file.eos_ids();
    let started = Instant::now();
    let mut next = likeliest(loaded.model.forward(&prompt.ids)?);
    let prefill = started.elapsed();

    let started = Instant::now();
    let mut ids = Vec::new();
    while ids.len() < most && !ends.contains(&next) {
        ids.push(next);
        print!("{}", loaded.tokenizer.decode(&[next])?);
        std::io::stdout().flush()?;
        next = likeliest(loaded.model.forward(&[next])?);
    }
    println!();
    eprintln!(
        "{} ({}): loaded in {} ms; prompt {} tokens, {:.1} a second; output {} tokens, {:.1} a second",
        loaded.file.name(),
        loaded.file.dtype(),
        loading.as_millis(),
        prompt.ids.len(),
        per_second(prompt.ids.len(), prefill),
        ids.len(),
        per_second(ids.len(), started.elapsed()),
    );
    Ok(())
}

fn likeliest(logits: &[f32]) -> TokenId {
    let best = (0_u32..).zip(logits).max_by(|a, b| a.1.total_cmp(b.1));
    TokenId::new(best.map_or(0, |(id, _)| id))
}

#[expect(clippy::cast_precision_loss, reason = "for display")]
fn per_second(tokens: usize, time: Duration) -> f64 {
    tokens as f64 / time.as_secs_f64()
}
