//! Ctrl-C: the first one ends a generation with its report, any other one ends the program.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Error;
use crate::output::INTERRUPTED;

static GENERATING: AtomicBool = AtomicBool::new(false);
static CANCELLED: AtomicBool = AtomicBool::new(false);

/// Answers Ctrl-C from here on.
pub(crate) fn listen() -> Result<(), Error> {
    ctrlc::set_handler(|| {
        if !GENERATING.load(Ordering::SeqCst) || CANCELLED.swap(true, Ordering::SeqCst) {
            #[expect(clippy::exit, reason = "the person wants it to end now, and a handler can't return to `main`")]
            std::process::exit(INTERRUPTED.into());
        }
    })
    .map_err(Error::interrupt)
}

/// Whether the person has asked for the end; a generation looks at it before each token.
pub(crate) fn flag() -> &'static AtomicBool {
    &CANCELLED
}

/// From here on the first Ctrl-C only asks for the end.
pub(crate) fn generation_begins() {
    GENERATING.store(true, Ordering::SeqCst);
}
