//! The loop: prefix → logits → mask → draw → append → stop check → text.

use std::time::Instant;

use formwork_automaton::TokenId;
use formwork_sample::{Draws, History, LogProbs, RNG_NAME, Relaxed, Sampled, Sampler, StepInput, fresh_seed};

use crate::constraint::Constraint;
use crate::error::{Error, Failure};
use crate::model::Model;
use crate::parse::Parse;
use crate::report::{FinishReason, Generation, RelaxedStep, Reproduce, Step, Stop, Usage};
use crate::request::{GenerateRequest, Hooks};
use crate::stop::StopFinder;
use crate::stream::TextStream;
use crate::timing::Stopwatch;
use crate::token_text::TokenText;
use crate::validation::Validation;

/// `max_tokens` where a request doesn't say and the context holds more.
const DEFAULT_MAX_TOKENS: usize = 1024;

/// From how many tokens above the shortest completion's bytes on the mask is cut down to what fits the budget. With more to
/// spare, only the drawn token is checked (and drawn again from what fits, should it be one that opens too much).
pub(crate) const TIGHT: usize = 16;

/// Generates one sequence.
///
/// With a constraint the text is whole whenever `max_tokens` holds the shortest text that it allows: the mask keeps only
/// tokens after which a completion still fits.
///
/// What fails once generation has begun (a broken logit, a ban that leaves nothing, the model itself) is not an `Err`: the
/// report comes with the text so far, `finish_reason` `error` and the failure under [`Generation::error`].
///
/// ```
/// use formwork_automaton::TokenId;
/// use formwork_decode::{FinishReason, GenerateRequest, Hooks, TokenText, generate, model_from_fn};
/// use formwork_sample::SamplingParams;
///
/// struct Letters;
/// impl TokenText for Letters {
///     fn bytes(&self, token: TokenId) -> &[u8] {
///         [&b"a"[..], b"b", b""][token.index()]
///     }
///     fn eos(&self) -> &[TokenId] {
///         const { &[TokenId::new(2)] }
///     }
/// }
///
/// // "a" is the best token until there are three, then the end is.
/// let model = model_from_fn(3, |prefix| vec![1.0, 0.0, prefix.len() as f32 - 2.5]);
/// let request = GenerateRequest::new([]).sampling(SamplingParams::default().temperature(0.0));
/// let done = generate(&request, model, None, &Letters, Hooks::new())?;
/// assert_eq!(done.text, "aaaa");
/// assert_eq!(done.finish_reason, FinishReason::Eos);
/// # Ok::<(), formwork_decode::Error>(())
/// ```
///
/// # Errors
/// The request can't be served: parameters out of range, an empty stop string, a prompt or budget that the context doesn't
/// hold, a budget smaller than the shortest text that the constraint allows (the error names the number needed).
pub fn generate<M: Model>(
    request: &GenerateRequest,
    model: M,
    constraint: Option<&mut dyn Constraint>,
    text: &dyn TokenText,
    hooks: Hooks<'_>,
) -> Result<Generation, Error> {
    let sampler = Sampler::new(&request.sampling).map_err(Error::params)?;
    StopFinder::new(&request.stop.strings)?;
    let max_tokens = token_budget(request.max_tokens, request.prompt_ids.len(), &model)?;
    let mut constraint = constraint;
    if let Some(constraint) = constraint.as_deref_mut() {
        let needed = constraint.needed().map_err(|err| Error::constraint(0, err))?;
        if needed > max_tokens {
            return Err(Error::budget_too_small(max_tokens, needed));
        }
    }
    let stops = constraint.is_none() || request.stop.in_constrained;
    let mut warnings = Vec::new();
    if !stops && !request.stop.is_empty() {
        warnings.push(
            "stop conditions were not applied, because the output is constrained (`in_constrained` applies them)"
                .to_owned(),
        );
    }
    let strings: &[String] = if stops { &request.stop.strings } else { &[] };
    let mut ends = text.eos().to_vec();
    if stops {
        ends.extend(request.stop.token_ids.iter().copied().map(TokenId::new));
    }
    let mut run = Run {
        request,
        model,
        constraint,
        text,
        hooks,
        sampler,
        stream: TextStream::new(strings, request.stop.include_stop)?,
        strings,
        stops,
        ends,
        max_tokens,
        seed: request.seed.unwrap_or_else(fresh_seed),
        pending: request.prompt_ids.clone(),
        output: Vec::new(),
        steps: Vec::new(),
        relaxed: Vec::new(),
        stopwatch: Stopwatch::default(),
    };
    let end = run.finish();
    Ok(run.report(end, warnings))
}

/// The most tokens to generate.
pub(crate) fn token_budget<M: Model>(asked: Option<usize>, prompt: usize, model: &M) -> Result<usize, Error> {
    let Some(context) = model.context_len() else {
        return Ok(asked.unwrap_or(DEFAULT_MAX_TOKENS));
    };
    let left = context.saturating_sub(prompt);
    if left == 0 {
        return Err(Error::prompt_too_long(prompt, context));
    }
    match asked {
        Some(max_tokens) if max_tokens > left => Err(Error::context_too_short(max_tokens, prompt, left)),
        Some(max_tokens) => Ok(max_tokens),
        None => Ok(DEFAULT_MAX_TOKENS.min(left)),
    }
}

/// A generation under way.
struct Run<'a, 'c, 'h, M> {
    request: &'a GenerateRequest,
    model: M,
    constraint: Option<&'c mut (dyn Constraint + 'c)>,
    text: &'a dyn TokenText,
    hooks: Hooks<'h>,
    sampler: Sampler,
    stream: TextStream,
    strings: &'a [String],
    /// Whether stop strings and tokens apply.
    stops: bool,
    /// The tokens that `min_tokens` holds back.
    ends: Vec<TokenId>,
    max_tokens: usize,
    seed: u64,
    /// Tokens that the model hasn't been fed yet.
    pending: Vec<TokenId>,
    output: Vec<TokenId>,
    steps: Vec<Step>,
    relaxed: Vec<RelaxedStep>,
    stopwatch: Stopwatch,
}

/// How a generation ended.
struct End {
    reason: FinishReason,
    stop: Option<Stop>,
    error: Option<Error>,
}

impl From<FinishReason> for End {
    fn from(reason: FinishReason) -> Self {
        Self { reason, stop: None, error: None }
    }
}

/// A token, drawn or forced.
struct Drawn {
    sampled: Sampled,
    forced: bool,
    logprob: Option<LogProbs>,
}

impl<M: Model> Run<'_, '_, '_, M> {
    fn finish(&mut self) -> End {
        loop {
            match self.step() {
                Ok(None) => {}
                Ok(Some(end)) => return end,
                Err(err) => return End { reason: FinishReason::Error, stop: None, error: Some(err) },
            }
        }
    }

    /// One token further, or the end.
    fn step(&mut self) -> Result<Option<End>, Error> {
        let step = self.output.len();
        if self.hooks.is_cancelled() {
            return Ok(Some(FinishReason::Cancelled.into()));
        }
        if self.constraint.as_deref_mut().is_some_and(Constraint::is_finished) {
            if step < self.sampler.params().min_tokens {
                self.relaxed.push(RelaxedStep { step, stage: Relaxed::MinTokens });
            }
            return Ok(Some(FinishReason::Grammar.into()));
        }
        if step == self.max_tokens {
            return Ok(Some(FinishReason::MaxTokens.into()));
        }
        let draws = Draws::at(self.seed, self.request.sequence, step as u64);
        let Some(drawn) = self.draw(step, draws)? else {
            return Ok(Some(FinishReason::MaxTokens.into()));
        };
        let token = drawn.sampled.token;
        self.steps.push(Step { id: token.get(), u: draws.u, forced: drawn.forced, logprob: drawn.logprob });
        self.relaxed.extend(drawn.sampled.relaxed.iter().map(|stage| RelaxedStep { step, stage }));
        self.output.push(token);
        self.pending.push(token);
        self.append(step, token)
    }

    /// The next token, from the mask alone where that leaves no choice; `None` where the text may end and the budget holds
    /// nothing that goes on.
    fn draw(&mut self, step: usize, draws: Draws) -> Result<Option<Drawn>, Error> {
        let remaining = self.max_tokens - step - 1;
        let mut tight = false;
        let mut only = None;
        if let Some(constraint) = self.constraint.as_deref_mut() {
            let begin = Instant::now();
            tight = self.max_tokens - step < constraint.needed_at_most().saturating_add(TIGHT);
            let mask = mask_of(constraint, tight, remaining, step)?;
            self.stopwatch.mask(begin);
            match count_up_to_two(mask) {
                (0, _) if tight && constraint.is_accepting() => return Ok(None),
                (0, _) => return Err(Error::no_legal_token(step)),
                (1, token) => only = token,
                _ => {}
            }
        }
        let history = History { prompt: &self.request.prompt_ids, output: &self.output };
        let forced = match only {
            None => None,
            Some(token) => {
                Some(self.sampler.force(token, history, &self.ends).map_err(|err| Error::sampling(step, err))?)
            }
        };
        if let (Some(sampled), false) = (forced, self.request.logprobs) {
            return Ok(Some(Drawn { sampled, forced: true, logprob: None }));
        }

        let begin = Instant::now();
        let wanted = self.model.vocab_size();
        let logits = self.model.forward(&self.pending).map_err(|err| Error::model(step, err))?;
        self.pending.clear();
        self.stopwatch.forward(begin);
        if logits.len() != wanted {
            return Err(Error::logit_count(step, logits.len(), wanted));
        }

        let begin = Instant::now();
        let input = StepInput::new(logits, draws).history(history).eos(&self.ends);
        let Some(constraint) = self.constraint.as_deref_mut() else {
            return draw_from(&mut self.sampler, &input, forced, self.request.logprobs, step, || {
                self.stopwatch.sample(begin);
            })
            .map(Some);
        };
        let mask = mask_of(constraint, tight, remaining, step)?;
        let legal = input.legal(Some(mask));
        let mut drawn = draw_from(&mut self.sampler, &legal, forced, self.request.logprobs, step, || {
            self.stopwatch.sample(begin);
        })?;
        let fits = |constraint: &mut dyn Constraint, token| {
            constraint.fits(token, remaining).map_err(|err| Error::constraint(step, err))
        };
        if !tight && !fits(constraint, drawn.sampled.token)? {
            let mask = mask_of(constraint, true, remaining, step)?;
            let legal = input.legal(Some(mask));
            drawn = draw_from(&mut self.sampler, &legal, None, self.request.logprobs, step, || {})?;
        }
        Ok(Some(drawn))
    }

    /// What a token ends, if anything, and what it adds to the text.
    fn append(&mut self, step: usize, token: TokenId) -> Result<Option<End>, Error> {
        let mut ends = self.text.eos().contains(&token);
        if let Some(constraint) = self.constraint.as_deref_mut() {
            // Elsewhere the grammar itself names the token, and it ends nothing.
            ends &= constraint.is_accepting();
            constraint.advance(token).map_err(|err| Error::constraint(step, err))?;
        }
        if ends {
            return Ok(Some(FinishReason::Eos.into()));
        }
        let at = self.stream.len();
        let bytes = self.text.bytes(token);
        if self.stops && self.request.stop.stops_at(token) {
            if self.request.stop.include_stop {
                self.stream.push(bytes, self.strings);
            }
            let stop = Some(Stop::Token { token_id: token.get(), at });
            return Ok(Some(End { reason: FinishReason::StopToken, stop, error: None }));
        }
        if let Some(found) = self.stream.push(bytes, self.strings) {
            let string = self.strings.get(found.index).cloned().unwrap_or_default();
            let stop = Some(Stop::String { string, at: found.at });
            return Ok(Some(End { reason: FinishReason::StopString, stop, error: None }));
        }
        if self.hooks.show(self.stream.show()).is_break() {
            return Ok(Some(FinishReason::Cancelled.into()));
        }
        Ok(None)
    }

    fn report(mut self, end: End, warnings: Vec<String>) -> Generation {
        // It has ended: whether to go on is no question any more.
        let _ = self.hooks.show(self.stream.finish());
        let forced_tokens = self.steps.iter().filter(|step| step.forced).count();
        let provenance = self.request.provenance.clone();
        Generation {
            text: self.stream.into_text(),
            finish_reason: end.reason,
            stop: end.stop,
            error: end.error.as_ref().map(Failure::from),
            parse: Parse::default(),
            validation: Validation::default(),
            relaxed: self.relaxed,
            warnings,
            usage: Usage {
                prompt_tokens: self.request.prompt_ids.len(),
                completion_tokens: self.output.len(),
                forced_tokens,
                draft_accepted: 0,
                masks_computed: self.constraint.as_deref().map_or(0, Constraint::masks_computed),
            },
            timing_us: self.stopwatch.finish(provenance.compile_us),
            reproduce: Reproduce {
                formwork: env!("CARGO_PKG_VERSION"),
                provenance,
                prompt_ids: self.request.prompt_ids.iter().map(|id| id.get()).collect(),
                params: self.sampler.params().clone(),
                stop: self.request.stop.clone(),
                max_tokens: self.max_tokens,
                seed: self.seed,
                sequence: self.request.sequence,
                rng: RNG_NAME,
                output_ids: self.output.iter().map(|id| id.get()).collect(),
                steps: self.steps,
            },
        }
    }
}

/// The step's mask, cut down to the budget where that is tight.
pub(crate) fn mask_of<'c>(
    constraint: &'c mut (dyn Constraint + '_),
    tight: bool,
    remaining: usize,
    step: usize,
) -> Result<&'c [u32], Error> {
    let mask = if tight { constraint.mask_within(remaining) } else { constraint.mask() };
    mask.map_err(|err| Error::constraint(step, err))
}

/// Draws a token, or takes the forced one, and gives it its log-probabilities.
fn draw_from(
    sampler: &mut Sampler,
    input: &StepInput<'_>,
    forced: Option<Sampled>,
    logprobs: bool,
    step: usize,
    sampled: impl FnOnce(),
) -> Result<Drawn, Error> {
    let failed = |err| Error::sampling(step, err);
    let token = match forced {
        Some(token) => token,
        None => sampler.sample(input).map_err(failed)?,
    };
    sampled();
    let logprob = if logprobs { Some(sampler.log_probs(input, &token).map_err(failed)?) } else { None };
    Ok(Drawn { sampled: token, forced: forced.is_some(), logprob })
}

/// How many bits are set, counted up to two, and the first of them.
fn count_up_to_two(mask: &[u32]) -> (u32, Option<TokenId>) {
    let mut count = 0;
    let mut first = None;
    for (index, &word) in mask.iter().enumerate().filter(|(_, word)| **word != 0) {
        first = first.or_else(|| TokenId::from_index(index * 32 + word.trailing_zeros() as usize));
        count += word.count_ones();
        if count > 1 {
            break;
        }
    }
    (count.min(2), first)
}
