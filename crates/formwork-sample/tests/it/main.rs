//! Tests of the sampler: worked cases, laws, errors.

#![expect(clippy::unwrap_used, reason = "helpers of tests panic as tests do")]

mod errors;
mod laws;
mod naive;
mod vectors;
mod worked;
