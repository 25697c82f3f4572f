//! The random numbers of a step: a function of seed, sequence and output position alone.

use std::hash::{BuildHasher, RandomState};

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The name that reports give to this generator.
pub const RNG_NAME: &str = "chacha20-u64x2";

/// The two numbers of one step, both in [0, 1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Draws {
    /// Decides the token.
    pub u: f64,
    /// Decides whether `xtc` acts.
    pub u_xtc: f64,
}

impl Draws {
    /// The numbers of output position `position` (forced tokens count) of the request's sequence `sequence`.
    ///
    /// `ChaCha20`, key: the seed as 8 little-endian bytes, then zeros; stream: `sequence`. The 64-bit words 2·position and
    /// 2·position + 1 give u = (word >> 11) · 2⁻⁵³. Nothing else consumes numbers, so neighbours in a batch, rollback and
    /// forced tokens never shift a draw.
    ///
    /// ```
    /// use formwork_sample::Draws;
    /// assert_eq!(Draws::at(7, 0, 3), Draws::at(7, 0, 3));
    /// assert_ne!(Draws::at(7, 0, 3), Draws::at(7, 1, 3));
    /// ```
    pub fn at(seed: u64, sequence: u64, position: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let mut rng = ChaCha20Rng::from_seed(key);
        rng.set_stream(sequence);
        // The generator counts in 32-bit words.
        rng.set_word_pos(u128::from(position) * 4);
        Self { u: unit(rng.next_u64()), u_xtc: unit(rng.next_u64()) }
    }
}

/// The top 53 bits as a number in [0, 1).
#[expect(clippy::cast_precision_loss, reason = "53 bits fit an f64 exactly, by construction")]
fn unit(word: u64) -> f64 {
    (word >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
}

/// A seed for a request that names none, from the operating system's entropy. It has 53 bits, so that every JSON reader
/// keeps it exactly when it stands in a report.
pub fn fresh_seed() -> u64 {
    // Each `RandomState` is keyed from the system's entropy; hashing anything with it gives 64 bits of that.
    RandomState::new().hash_one("formwork seed") >> 11
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_follow_each_other() {
        // One generator read in sequence gives what positions give one by one.
        let mut key = [0; 32];
        key[..8].copy_from_slice(&42_u64.to_le_bytes());
        let mut rng = ChaCha20Rng::from_seed(key);
        rng.set_stream(5);
        for position in 0..40 {
            let draws = Draws::at(42, 5, position);
            assert_eq!(draws.u.to_bits(), unit(rng.next_u64()).to_bits());
            assert_eq!(draws.u_xtc.to_bits(), unit(rng.next_u64()).to_bits());
        }
    }

    #[test]
    fn key_zero_is_the_published_stream() {
        // RFC 8439, appendix A.1, test vector 1: the key stream of the zero key begins 76 b8 e0 ad a0 f1 3d 90 …
        let word = u64::from_le_bytes([0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90]);
        assert_eq!(Draws::at(0, 0, 0).u.to_bits(), unit(word).to_bits());
    }

    #[test]
    fn units_stay_below_one() {
        assert!(unit(u64::MAX) < 1.0);
        assert_eq!(unit(0).to_bits(), 0.0_f64.to_bits());
    }

    #[test]
    fn fresh_seeds_differ_and_fit_json() {
        assert_ne!(fresh_seed(), fresh_seed());
        assert!(fresh_seed() < 1 << 53);
    }
}
