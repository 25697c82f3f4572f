//! What to generate, and who may watch or stop it.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use formwork_automaton::TokenId;
use formwork_sample::SamplingParams;

use crate::report::Provenance;
use crate::stop::StopConditions;

/// One sequence to generate.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct GenerateRequest {
    /// The prompt's tokens.
    pub prompt_ids: Vec<TokenId>,
    /// How tokens are drawn.
    pub sampling: SamplingParams,
    /// What ends the text early.
    pub stop: StopConditions,
    /// The most tokens to generate, the one that ends the text included. Where not given: 1024, or what the model's context
    /// leaves if that is less.
    pub max_tokens: Option<usize>,
    /// Where not given, one is drawn from the system's entropy and reported.
    pub seed: Option<u64>,
    /// The sequence's index in its request: sequences of one seed draw different numbers.
    pub sequence: u64,
    /// Whether to compute the four log-probabilities of every step. That takes some passes over the vocabulary, and forced
    /// tokens are then fed to the model one by one.
    pub logprobs: bool,
    /// What the report says about model, tokenizer and constraint.
    pub provenance: Provenance,
}

impl GenerateRequest {
    /// A request with this prompt and nothing else set.
    pub fn new(prompt_ids: impl Into<Vec<TokenId>>) -> Self {
        Self { prompt_ids: prompt_ids.into(), ..Self::default() }
    }

    /// Sets how tokens are drawn.
    #[must_use]
    pub fn sampling(mut self, sampling: SamplingParams) -> Self {
        self.sampling = sampling;
        self
    }

    /// Sets what ends the text early.
    #[must_use]
    pub fn stop(mut self, stop: StopConditions) -> Self {
        self.stop = stop;
        self
    }

    /// Sets the most tokens to generate.
    #[must_use]
    pub const fn max_tokens(mut self, max_tokens: usize) -> Self {
        self.max_tokens = Some(max_tokens);
        self
    }

    /// Sets the seed.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Sets the sequence's index in its request.
    #[must_use]
    pub const fn sequence(mut self, sequence: u64) -> Self {
        self.sequence = sequence;
        self
    }

    /// Sets whether to compute log-probabilities.
    #[must_use]
    pub const fn logprobs(mut self, logprobs: bool) -> Self {
        self.logprobs = logprobs;
        self
    }

    /// Sets what the report says about model, tokenizer and constraint.
    #[must_use]
    pub fn provenance(mut self, provenance: Provenance) -> Self {
        self.provenance = provenance;
        self
    }
}

/// Takes a piece of text, and says whether to go on.
pub type OnText<'a> = dyn FnMut(&str) -> ControlFlow<()> + 'a;

/// Who watches a generation and may stop it.
///
/// ```
/// use std::ops::ControlFlow;
/// use formwork_decode::Hooks;
/// let mut seen = String::new();
/// let mut show = |delta: &str| {
///     seen.push_str(delta);
///     ControlFlow::Continue(())
/// };
/// let hooks = Hooks::new().on_text(&mut show);
/// # drop(hooks);
/// ```
#[derive(Default)]
pub struct Hooks<'a> {
    on_text: Option<&'a mut OnText<'a>>,
    cancel: Option<&'a AtomicBool>,
}

impl<'a> Hooks<'a> {
    /// Nobody.
    pub fn new() -> Self {
        Self::default()
    }

    /// Calls `on_text` with each piece of text as soon as it is certain; its answer may end the generation as `cancelled`.
    /// The pieces are never empty, are whole characters, and one after another are the report's text.
    #[must_use]
    pub fn on_text(mut self, on_text: &'a mut OnText<'a>) -> Self {
        self.on_text = Some(on_text);
        self
    }

    /// Ends the generation as `cancelled` before the next token when `cancel` has become true.
    #[must_use]
    pub const fn cancel(mut self, cancel: &'a AtomicBool) -> Self {
        self.cancel = Some(cancel);
        self
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed))
    }

    pub(crate) fn show(&mut self, delta: &str) -> ControlFlow<()> {
        let go_on = match &mut self.on_text {
            Some(on_text) if !delta.is_empty() => on_text(delta),
            _ => ControlFlow::Continue(()),
        };
        if go_on.is_break() {
            // Who wants no more gets no more, not even the text held back so far.
            self.on_text = None;
        }
        go_on
    }
}

impl fmt::Debug for Hooks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks").field("on_text", &self.on_text.is_some()).field("cancel", &self.cancel).finish()
    }
}
