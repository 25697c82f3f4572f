//! grammar: every token outside the mask → −∞; always first, so that truncation only ever sees legal tokens.

use crate::candidates::{Candidate, Candidates};
use crate::error::Error;

/// Fills the candidates with the tokens whose logit is finite and, where there is a mask, whose bit is set.
pub(crate) fn gather(candidates: &mut Candidates, logits: &[f32], legal: Option<&[u32]>) -> Result<(), Error> {
    match legal {
        None => candidates.refill((0..).zip(logits).map(candidate)),
        Some(mask) => candidates.refill(legal_tokens(logits, mask).map(candidate)),
    }
    if candidates.is_empty() {
        let legal = legal.map_or(logits.len(), |mask| legal_tokens(logits, mask).count());
        return Err(Error::nothing_legal(legal));
    }
    Ok(())
}

fn candidate((id, logit): (u32, &f32)) -> Candidate {
    Candidate { logit: f64::from(*logit), id }
}

/// The tokens whose bit is set and that have a logit, by rising id.
pub(crate) fn legal_tokens<'a>(logits: &'a [f32], mask: &'a [u32]) -> impl Iterator<Item = (u32, &'a f32)> + Clone {
    (0..).step_by(32).zip(mask.iter().zip(logits.chunks(32))).filter(|(_, (word, _))| **word != 0).flat_map(
        |(first, (&word, chunk))| {
            (0..)
                .zip(chunk)
                .filter(move |(bit, _)| word >> bit & 1 != 0)
                .map(move |(bit, logit): (u32, &f32)| (first + bit, logit))
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(logits: &[f32], mask: &[u32]) -> Vec<u32> {
        legal_tokens(logits, mask).map(|(id, _)| id).collect()
    }

    #[test]
    fn bits_are_tokens() {
        let logits = [0.0; 40];
        assert_eq!(ids(&logits, &[1 | 1 << 31, 0b1000_0001]), [0, 31, 32, 39]);
        assert_eq!(ids(&logits, &[0, u32::MAX]).len(), 8, "bits beyond the logits");
        assert_eq!(ids(&logits, &[2]), [1], "tokens beyond the mask");
        assert!(ids(&logits, &[]).is_empty());
    }

    #[test]
    fn nothing_legal_is_an_error() {
        let mut candidates = Candidates::default();
        for (logits, mask) in [(&[0.0; 3][..], 0), (&[0.0, f32::NEG_INFINITY], 2)] {
            let err = gather(&mut candidates, logits, Some(&[mask])).unwrap_err();
            assert_eq!(err.code(), "nothing_legal");
        }
    }
}
