//! Beam search: several sequences side by side, the best ones kept.

use std::cmp::Ordering;

use formwork_automaton::TokenId;
use formwork_sample::{BeamScore, BeamToken, LengthCorrection, beam_tokens};

use crate::constraint::Constraint;
use crate::error::Error;
use crate::generate::{TIGHT, mask_of, token_budget};
use crate::model::Model;
use crate::report::FinishReason;
use crate::token_text::TokenText;

/// What to search for.
///
/// ```
/// use formwork_automaton::TokenId;
/// use formwork_decode::BeamRequest;
/// let request = BeamRequest::new([TokenId::new(1)], 4).max_tokens(100).early_stopping(true);
/// assert_eq!(request.width, 4);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BeamRequest {
    /// The prompt's tokens.
    pub prompt_ids: Vec<TokenId>,
    /// How many beams live at a time, and how many are returned at most.
    pub width: usize,
    /// The most tokens of a beam; where not given as in [`GenerateRequest`](crate::GenerateRequest).
    pub max_tokens: Option<usize>,
    /// What scores sum.
    pub score: BeamScore,
    /// How scores are corrected for length.
    pub length: LengthCorrection,
    /// Whether `width` finished beams end the search; otherwise it goes on until no live beam can still be among the best.
    pub early_stopping: bool,
}

impl BeamRequest {
    /// A search with `width` beams, one at least, and nothing else set.
    pub fn new(prompt_ids: impl Into<Vec<TokenId>>, width: usize) -> Self {
        Self {
            prompt_ids: prompt_ids.into(),
            width: width.max(1),
            max_tokens: None,
            score: BeamScore::default(),
            length: LengthCorrection::default(),
            early_stopping: false,
        }
    }

    /// Sets the most tokens of a beam.
    #[must_use]
    pub const fn max_tokens(mut self, max_tokens: usize) -> Self {
        self.max_tokens = Some(max_tokens);
        self
    }

    /// Sets what scores sum.
    #[must_use]
    pub const fn score(mut self, score: BeamScore) -> Self {
        self.score = score;
        self
    }

    /// Sets how scores are corrected for length.
    #[must_use]
    pub const fn length(mut self, length: LengthCorrection) -> Self {
        self.length = length;
        self
    }

    /// Sets whether `width` finished beams end the search.
    #[must_use]
    pub const fn early_stopping(mut self, early_stopping: bool) -> Self {
        self.early_stopping = early_stopping;
        self
    }
}

/// A finished beam.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Beam {
    /// Its text.
    pub text: String,
    /// Its tokens, with the one that ended it.
    pub output_ids: Vec<TokenId>,
    /// Its score, corrected for length.
    pub score: f64,
    /// The joint log-probability over the whole vocabulary.
    pub raw: f64,
    /// The joint log-probability over the legal tokens.
    pub grammar: f64,
    /// Why it ended: `grammar`, `eos` or `max_tokens`.
    pub finish_reason: FinishReason,
}

/// Searches for the best sequences: the best first, at most as many as the request's width.
///
/// Beams that spell the same text merge; the better one is kept. With a constraint every beam is a whole text, within the
/// budget. Model and constraint are cloned where a beam divides.
///
/// # Errors
/// As for [`generate`](crate::generate), also where something fails on the way.
pub fn beam_search<M: Model + Clone, C: Constraint + Clone>(
    request: &BeamRequest,
    model: M,
    constraint: Option<C>,
    text: &dyn TokenText,
) -> Result<Vec<Beam>, Error> {
    request.length.validate().map_err(Error::params)?;
    let max_tokens = token_budget(request.max_tokens, request.prompt_ids.len(), &model)?;
    let mut first = Live {
        model,
        constraint,
        pending: request.prompt_ids.clone(),
        output: Vec::new(),
        bytes: Vec::new(),
        raw: 0.0,
        grammar: 0.0,
    };
    if let Some(constraint) = &mut first.constraint {
        let needed = constraint.needed().map_err(|err| Error::constraint(0, err))?;
        if needed > max_tokens {
            return Err(Error::budget_too_small(max_tokens, needed));
        }
    }
    let mut search = Search { request, text, max_tokens, finished: Vec::new() };
    let mut live = search.settle(first).into_iter().collect::<Vec<_>>();
    while !live.is_empty() && !search.is_decided(&live) {
        live = search.step(live)?;
    }
    search.finished.truncate(request.width);
    Ok(search.finished)
}

/// A beam under way.
#[derive(Clone)]
struct Live<M, C> {
    model: M,
    constraint: Option<C>,
    pending: Vec<TokenId>,
    output: Vec<TokenId>,
    bytes: Vec<u8>,
    raw: f64,
    grammar: f64,
}

impl<M, C> Live<M, C> {
    fn sum(&self, by: BeamScore) -> f64 {
        match by {
            BeamScore::Raw => self.raw,
            BeamScore::Grammar => self.grammar,
        }
    }
}

struct Search<'a> {
    request: &'a BeamRequest,
    text: &'a dyn TokenText,
    max_tokens: usize,
    /// Best first.
    finished: Vec<Beam>,
}

/// A beam and a token that it could go on with.
struct Offer {
    beam: usize,
    token: BeamToken,
    sum: f64,
}

impl Search<'_> {
    /// Whether the beams still under way can't change what is returned.
    fn is_decided<M, C>(&self, live: &[Live<M, C>]) -> bool {
        let Some(worst) = self.finished.get(self.request.width.saturating_sub(1)) else {
            return false;
        };
        self.request.early_stopping
            || live.iter().all(|beam| {
                let sum = beam.sum(self.request.score);
                self.request.length.best_attainable(sum, beam.output.len() + 1, self.max_tokens) <= worst.score
            })
    }

    /// One token further with every beam.
    fn step<M: Model + Clone, C: Constraint + Clone>(
        &mut self,
        mut live: Vec<Live<M, C>>,
    ) -> Result<Vec<Live<M, C>>, Error> {
        let mut offers = Vec::new();
        for (index, beam) in live.iter_mut().enumerate() {
            let tokens = self.offers(beam)?;
            if tokens.is_empty() {
                // The text may end here, no token says so, and nothing that goes on fits the budget.
                let ended = self.beam(beam, FinishReason::MaxTokens);
                self.keep(ended);
            }
            let sum = beam.sum(self.request.score);
            offers.extend(tokens.into_iter().map(|token| Offer {
                beam: index,
                sum: sum + token.score(self.request.score),
                token,
            }));
        }
        offers.sort_by(|a, b| b.sum.total_cmp(&a.sum).then((a.beam, a.token.token).cmp(&(b.beam, b.token.token))));
        let mut next: Vec<Live<M, C>> = Vec::new();
        // An end among the best offers takes no live beam's place; of the others each step keeps `width`.
        for offer in offers.into_iter().take(2 * self.request.width) {
            if next.len() == self.request.width {
                break;
            }
            let Some(beam) = self.advance(&live[offer.beam], offer.token)? else { continue };
            let Some(beam) = self.settle(beam) else { continue };
            // Offers come best first, so an equal text is there already as its better spelling.
            if next.iter().all(|other| other.bytes != beam.bytes) {
                next.push(beam);
            }
        }
        Ok(next)
    }

    /// The best tokens to go on with. Twice the width, as many of them may end their beams.
    fn offers<M: Model, C: Constraint>(&self, beam: &mut Live<M, C>) -> Result<Vec<BeamToken>, Error> {
        let step = beam.output.len();
        let remaining = self.max_tokens - step - 1;
        let logits = beam.model.forward(&beam.pending).map_err(|err| Error::model(step, err))?;
        beam.pending.clear();
        let count = 2 * self.request.width;
        let failed = |err| Error::sampling(step, err);
        let Some(constraint) = &mut beam.constraint else {
            return beam_tokens(logits, None, count).map_err(failed);
        };
        let tight = self.max_tokens - step < constraint.needed_at_most().saturating_add(TIGHT);
        let mask = mask_of(constraint, tight, remaining, step)?;
        if mask.iter().all(|word| *word == 0) {
            return if tight && constraint.is_accepting() { Ok(Vec::new()) } else { Err(Error::no_legal_token(step)) };
        }
        let tokens = beam_tokens(logits, Some(mask), count).map_err(failed)?;
        for token in &tokens {
            if !tight && !constraint.fits(token.token, remaining).map_err(|err| Error::constraint(step, err))? {
                let mask = mask_of(constraint, true, remaining, step)?;
                return beam_tokens(logits, Some(mask), count).map_err(failed);
            }
        }
        Ok(tokens)
    }

    /// The beam with one token more; `None` where that token ended it.
    fn advance<M: Model + Clone, C: Constraint + Clone>(
        &mut self,
        beam: &Live<M, C>,
        offered: BeamToken,
    ) -> Result<Option<Live<M, C>>, Error> {
        let (step, token) = (beam.output.len(), offered.token);
        let mut beam = beam.clone();
        beam.raw += offered.raw;
        beam.grammar += offered.grammar;
        let mut ends = self.text.eos().contains(&token);
        if let Some(constraint) = &mut beam.constraint {
            ends &= constraint.is_accepting();
            constraint.advance(token).map_err(|err| Error::constraint(step, err))?;
        }
        beam.output.push(token);
        beam.pending.push(token);
        if ends {
            let ended = self.beam(&beam, FinishReason::Eos);
            self.keep(ended);
            return Ok(None);
        }
        beam.bytes.extend_from_slice(self.text.bytes(token));
        Ok(Some(beam))
    }

    /// Puts a beam that can't go on among the finished ones.
    fn settle<M, C: Constraint>(&mut self, mut beam: Live<M, C>) -> Option<Live<M, C>> {
        let reason = if beam.constraint.as_mut().is_some_and(Constraint::is_finished) {
            FinishReason::Grammar
        } else if beam.output.len() >= self.max_tokens {
            FinishReason::MaxTokens
        } else {
            return Some(beam);
        };
        let ended = self.beam(&beam, reason);
        self.keep(ended);
        None
    }

    fn beam<M, C>(&self, beam: &Live<M, C>, finish_reason: FinishReason) -> Beam {
        Beam {
            text: String::from_utf8_lossy(&beam.bytes).into_owned(),
            output_ids: beam.output.clone(),
            score: self.request.length.apply(beam.sum(self.request.score), beam.output.len()),
            raw: beam.raw,
            grammar: beam.grammar,
            finish_reason,
        }
    }

    /// Adds a finished beam; of equal texts the better one stays.
    fn keep(&mut self, beam: Beam) {
        match self.finished.iter_mut().find(|other| other.text == beam.text) {
            Some(other) if other.score >= beam.score => return,
            Some(other) => *other = beam,
            None => self.finished.push(beam),
        }
        self.finished.sort_by(|a, b| match b.score.total_cmp(&a.score) {
            Ordering::Equal => a.output_ids.cmp(&b.output_ids),
            order => order,
        });
    }
}
