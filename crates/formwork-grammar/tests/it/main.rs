//! What is read from schemas, judged by the values that are valid under it.

#![expect(clippy::unwrap_used, reason = "helpers of tests panic as tests do")]

mod evaluate;
mod keywords;
mod references;
mod suite;
