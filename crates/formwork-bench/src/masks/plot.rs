//! A picture of the timings: percentiles from the median to the worst, both axes logarithmic.

use std::fmt::Write as _;

use super::figures::{count, percentile};
use super::measure::Verdict;
use super::report::Run;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 70.0;
const TOP: f64 = 30.0;
const COLOURS: [&str; 4] = ["#0b6e4f", "#c1440e", "#7fb069", "#e6aa68"];
/// Shares of the samples above the percentile, from the median on.
const TICKS: [(&str, f64); 6] =
    [("p50", 0.5), ("p90", 0.1), ("p99", 0.01), ("p99.9", 1e-3), ("p99.99", 1e-4), ("p99.999", 1e-5)];
/// Microseconds at the bottom and the top, as powers of ten.
const DECADES: (i32, i32) = (-2, 5);

/// The picture as SVG.
pub(crate) fn svg(runs: &[Run]) -> String {
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        WIDTH + LEFT + 40.0,
        HEIGHT + TOP + 50.0
    );
    let _ = writeln!(out, "<text x=\"{LEFT}\" y=\"18\">Time per mask, µs</text>");
    for power in DECADES.0..=DECADES.1 {
        let value = 10_f64.powi(power);
        let y = y_of(value);
        let _ = writeln!(
            out,
            "<line x1=\"{LEFT}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#ddd\"/><text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{value}</text>",
            LEFT + WIDTH,
            LEFT - 6.0,
            y + 4.0
        );
    }
    for (name, share) in TICKS {
        let x = x_of(share);
        let _ = writeln!(
            out,
            "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{}\" stroke=\"#ddd\"/><text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{name}</text>",
            TOP + HEIGHT,
            TOP + HEIGHT + 18.0
        );
    }
    for (index, run) in runs.iter().enumerate() {
        let colour = COLOURS[index % COLOURS.len()];
        let _ = writeln!(
            out,
            "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" points=\"{}\"/>",
            points(run)
        );
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" fill=\"{colour}\">{}</text>",
            LEFT + 12.0,
            TOP + 18.0 + 16.0 * count(index),
            run.kind.name()
        );
    }
    out.push_str("</svg>\n");
    out
}

fn points(run: &Run) -> String {
    let mut samples: Vec<u32> = run
        .records
        .iter()
        .filter(|record| record.verdict == Verdict::Right)
        .flat_map(|record| record.mask_ns.iter().copied())
        .collect();
    samples.sort_unstable();
    let mut points = String::new();
    for step in 0..=100 {
        let share = 0.5 * 10_f64.powf(-4.7 * f64::from(step) / 100.0);
        if samples.is_empty() || share * count(samples.len()) < 1.0 {
            break;
        }
        let value = f64::from(percentile(&samples, 1.0 - share)) / 1e3;
        let _ = write!(points, "{:.1},{:.1} ", x_of(share), y_of(value));
    }
    points
}

/// From the median (left) to one in a hundred thousand (right).
fn x_of(share: f64) -> f64 {
    LEFT + WIDTH * (0.5 / share).log10() / 4.7
}

fn y_of(value_us: f64) -> f64 {
    let (low, high) = (f64::from(DECADES.0), f64::from(DECADES.1));
    let at = value_us.max(1e-9).log10().clamp(low, high);
    TOP + HEIGHT * (high - at) / (high - low)
}
