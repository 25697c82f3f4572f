//! Percentiles of timings.

use serde::Serialize;

/// Mean and percentiles, in microseconds.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Figures {
    pub(crate) mean: f64,
    pub(crate) p25: f64,
    pub(crate) p50: f64,
    pub(crate) p75: f64,
    pub(crate) p90: f64,
    pub(crate) p95: f64,
    pub(crate) p99: f64,
    pub(crate) p999: f64,
    pub(crate) max: f64,
}

impl Figures {
    /// The figures of some timings in nanoseconds; zeros where there are none.
    pub(crate) fn of(mut samples_ns: Vec<u32>) -> Self {
        if samples_ns.is_empty() {
            return Self::default();
        }
        samples_ns.sort_unstable();
        let at = |p| f64::from(percentile(&samples_ns, p)) / 1e3;
        let sum: f64 = samples_ns.iter().map(|&ns| f64::from(ns)).sum();
        Self {
            mean: sum / count(samples_ns.len()) / 1e3,
            p25: at(0.25),
            p50: at(0.50),
            p75: at(0.75),
            p90: at(0.90),
            p95: at(0.95),
            p99: at(0.99),
            p999: at(0.999),
            max: at(1.0),
        }
    }

    /// Names and values, in order.
    pub(crate) fn columns(&self) -> [(&'static str, f64); 9] {
        [
            ("mean", self.mean),
            ("p25", self.p25),
            ("p50", self.p50),
            ("p75", self.p75),
            ("p90", self.p90),
            ("p95", self.p95),
            ("p99", self.p99),
            ("p999", self.p999),
            ("max", self.max),
        ]
    }

    /// Each of these figures divided by the other's; zero where that is zero.
    pub(crate) fn over(&self, other: &Self) -> Self {
        let by = |a: f64, b: f64| if b > 0.0 { a / b } else { 0.0 };
        Self {
            mean: by(self.mean, other.mean),
            p25: by(self.p25, other.p25),
            p50: by(self.p50, other.p50),
            p75: by(self.p75, other.p75),
            p90: by(self.p90, other.p90),
            p95: by(self.p95, other.p95),
            p99: by(self.p99, other.p99),
            p999: by(self.p999, other.p999),
            max: by(self.max, other.max),
        }
    }
}

/// The value below or at which a share of the sorted samples lies (nearest rank).
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rank between 1 and the number of samples"
)]
pub(crate) fn percentile(sorted: &[u32], share: f64) -> u32 {
    let rank = (share * count(sorted.len())).ceil() as usize;
    sorted.get(rank.clamp(1, sorted.len().max(1)) - 1).copied().unwrap_or(0)
}

/// A number of samples as a float.
#[expect(clippy::cast_precision_loss, reason = "there are fewer than 2⁵³ samples")]
pub(crate) fn count(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_rank() {
        let sorted: Vec<u32> = (1..=100).collect();
        assert_eq!(percentile(&sorted, 0.5), 50);
        assert_eq!(percentile(&sorted, 0.99), 99);
        assert_eq!(percentile(&sorted, 0.999), 100);
        assert_eq!(percentile(&[7], 0.25), 7);
        let figures = Figures::of(vec![2000, 1000, 3000]);
        assert!((figures.mean - 2.0).abs() < 1e-9 && (figures.max - 3.0).abs() < 1e-9);
        assert!((figures.over(&Figures::of(vec![1000])).p50 - 2.0).abs() < 1e-9);
    }
}
