//! Standard output and error: whole lines, at once, and no panic where nobody reads them.

use std::io::{self, Write};
use std::process::ExitCode;

use crate::error::Error;

/// The exit status of what the person interrupted.
#[cfg(feature = "model")]
pub(crate) const INTERRUPTED: u8 = 130;

/// How a command ended, as its exit status says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// 0: done, and all is good.
    Good,
    /// 1: the result is incomplete or not valid.
    Incomplete,
    /// 2: the request can't be served.
    Refused,
    /// 130: interrupted by the person.
    #[cfg(feature = "model")]
    Interrupted,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        match status {
            Status::Good => Self::SUCCESS,
            Status::Incomplete => Self::from(1),
            Status::Refused => Self::from(2),
            #[cfg(feature = "model")]
            Status::Interrupted => Self::from(INTERRUPTED),
        }
    }
}

/// Writes to standard output at once.
pub(crate) fn print(text: &[u8]) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    out.write_all(text).and_then(|()| out.flush()).map_err(Error::stdout)
}

/// Says what is wrong, on standard error.
pub(crate) fn complain(sentence: &str) {
    // Where standard error is closed there is nobody left to tell.
    let _ = writeln!(io::stderr().lock(), "formwork: {sentence}");
}

/// Says what is wrong, for machines.
pub(crate) fn complain_in_json(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}
