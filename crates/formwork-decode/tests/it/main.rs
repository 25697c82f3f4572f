//! Tests of the loop: table models, toy constraints, real matchers.

#![expect(clippy::unwrap_used, reason = "helpers of tests panic as tests do")]

mod beams;
mod budget;
mod endings;
mod matchers;
mod reports;
mod shared_cases;
mod streaming;
mod toy;
