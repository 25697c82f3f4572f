//! Test cases of constraints, as data, and a reader for them; depends on no crate of the project.
//!
//! A file in `cases/KIND/` holds cases of one area. Each has a constraint, options, a line of why, and either texts that are
//! accepted and rejected (with the offset of the first byte after which no completion exists), or the error that it causes.
//! Whoever can match texts runs all of them: see `crates/formwork/tests/cases.rs`.

#![forbid(unsafe_code)]

mod case;
mod error;
mod read;

pub use case::{Case, Constraint, Expectation, ExpectedError, Place, Rejected};
pub use error::Error;
pub use read::{all, parse};
