//! Where the time of a generation went.

use std::time::{Duration, Instant};

use serde::Serialize;

/// Durations in microseconds; `None` for what did not happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Timing {
    /// Compiling the constraint.
    pub compile: Option<f64>,
    /// The first mask.
    pub first_mask: Option<f64>,
    /// Feeding the prompt, up to its logits.
    pub prefill: Option<f64>,
    /// Everything after that.
    pub decode: Option<f64>,
    /// The median mask.
    pub mask_p50: Option<f64>,
    /// The mask that 99 of 100 are not slower than.
    pub mask_p99: Option<f64>,
    /// The median draw, without model and mask.
    pub sample_p50: Option<f64>,
}

/// Collects them.
#[derive(Debug, Default)]
pub(crate) struct Stopwatch {
    masks: Vec<Duration>,
    samples: Vec<Duration>,
    prefill: Option<Duration>,
    prefilled: Option<Instant>,
}

impl Stopwatch {
    pub(crate) fn mask(&mut self, begin: Instant) {
        self.masks.push(begin.elapsed());
    }

    pub(crate) fn sample(&mut self, begin: Instant) {
        self.samples.push(begin.elapsed());
    }

    /// A step of the model is done; the first one is the prefill.
    pub(crate) fn forward(&mut self, begin: Instant) {
        if self.prefill.is_none() {
            self.prefill = Some(begin.elapsed());
            self.prefilled = Some(Instant::now());
        }
    }

    pub(crate) fn finish(mut self, compile_us: Option<u64>) -> Timing {
        let first_mask = self.masks.first().copied();
        self.masks.sort_unstable();
        self.samples.sort_unstable();
        Timing {
            compile: compile_us.map(Duration::from_micros).map(micros),
            first_mask: first_mask.map(micros),
            prefill: self.prefill.map(micros),
            decode: self.prefilled.map(|at| micros(at.elapsed())),
            mask_p50: percentile(&self.masks, 50).map(micros),
            mask_p99: percentile(&self.masks, 99).map(micros),
            sample_p50: percentile(&self.samples, 50).map(micros),
        }
    }
}

/// In microseconds, to a tenth.
fn micros(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e7).round() / 10.0
}

/// The least value that `percent` of the sorted ones are not above.
fn percentile(sorted: &[Duration], percent: usize) -> Option<Duration> {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_ranks() {
        let sorted: Vec<_> = (1..=200).map(Duration::from_micros).collect();
        assert_eq!(percentile(&sorted, 50), Some(Duration::from_micros(100)));
        assert_eq!(percentile(&sorted, 99), Some(Duration::from_micros(198)));
        assert_eq!(percentile(&sorted[..1], 99), Some(Duration::from_micros(1)));
        assert_eq!(percentile(&[], 50), None);
    }

    #[test]
    fn tenths_of_microseconds() {
        assert!((micros(Duration::from_nanos(1260)) - 1.3).abs() < 1e-9);
    }
}
