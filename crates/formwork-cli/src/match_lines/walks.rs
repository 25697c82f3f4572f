//! Texts drawn uniformly from the masks.

use formwork::sample::Draws;
use formwork::{CompiledConstraint, Mask, TokenId};

/// Tokens after which a walk is closed by the shortest completion.
const MOST_TOKENS: u64 = 300;

/// The walks, and what went wrong with those that are missing.
#[derive(Debug, Default)]
pub(super) struct Walks {
    pub(super) texts: Vec<String>,
    pub(super) errors: Vec<String>,
}

/// Draws `count` finished texts; the same seed gives the same ones.
pub(super) fn draw(constraint: &CompiledConstraint, count: u64, seed: u64) -> Walks {
    let mut walks = Walks::default();
    for walk in 0..count {
        match one(constraint, seed, walk) {
            Ok(text) => walks.texts.push(text),
            Err(reason) => walks.errors.push(format!("walk {walk}: {reason}")),
        }
    }
    walks
}

fn one(constraint: &CompiledConstraint, seed: u64, walk: u64) -> Result<String, String> {
    let mut matcher = constraint.matcher();
    let vocabulary = constraint.vocabulary();
    let mut text = Vec::new();
    for position in 0..MOST_TOKENS {
        let accepting = matcher.is_accepting();
        let mask = matcher.mask().map_err(|e| e.to_string())?;
        let Some(token) = uniform(mask, Draws::at(seed, walk, position).u) else {
            if accepting {
                break;
            }
            return Err("the mask allows nothing, although the text is not complete".to_owned());
        };
        if vocabulary.eos().contains(&token) {
            return finished(text);
        }
        matcher.advance(token).map_err(|e| e.to_string())?;
        text.extend(vocabulary.bytes(token).unwrap_or_default());
    }
    text.extend(matcher.shortest_completion().bytes().unwrap_or_default());
    finished(text)
}

fn finished(text: Vec<u8>) -> Result<String, String> {
    String::from_utf8(text)
        .map_err(|e| format!("the finished text is not UTF-8 at byte {}", e.utf8_error().valid_up_to()))
}

/// One of the allowed tokens, each as likely as the others.
fn uniform(mask: &Mask, u: f64) -> Option<TokenId> {
    let count = mask.count();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a vocabulary has far fewer than 2^53 tokens, and u is at least 0 and below 1"
    )]
    let mut nth = ((u * count as f64) as usize).min(count.checked_sub(1)?);
    for (index, word) in mask.words().iter().enumerate() {
        let ones = word.count_ones() as usize;
        if nth < ones {
            let bit = (0..32).filter(|bit| word >> bit & 1 == 1).nth(nth)?;
            return TokenId::from_index(index * 32 + bit);
        }
        nth -= ones;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_allowed_token_has_its_share() {
        let mut mask = Mask::none(100);
        let ids = [3, 31, 32, 64, 99].map(TokenId::new);
        for id in ids {
            mask.allow(id);
        }
        let drawn: Vec<TokenId> = [0.0, 0.2, 0.5, 0.79, 0.999].iter().filter_map(|u| uniform(&mask, *u)).collect();
        assert_eq!(drawn, ids);
        assert_eq!(uniform(&Mask::none(100), 0.5), None);
    }
}
