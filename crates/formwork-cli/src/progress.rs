//! Progress on standard error, where that is a terminal.

#[cfg(feature = "model")]
use std::time::Duration;

use formwork::Exploration;
#[cfg(feature = "model")]
use formwork::candle::Progress;
use indicatif::{ProgressBar, ProgressStyle};

/// Shows how far an exploration is; how much is left, nobody knows before its end.
#[derive(Debug)]
pub(crate) struct ExploreBar(ProgressBar);

impl ExploreBar {
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::no_length();
        bar.set_style(style("{spinner} {msg} {elapsed}"));
        Self(bar)
    }

    pub(crate) fn show(&self, at: Exploration) {
        let Exploration { states, waiting, covered, .. } = at;
        self.0.set_message(format!("{covered} masks found; {states} states seen, {waiting} waiting"));
        self.0.tick();
    }
}

impl Drop for ExploreBar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Shows how far a model's download is.
#[cfg(feature = "model")]
#[derive(Debug)]
pub(crate) struct PullBar {
    bar: ProgressBar,
    stage: &'static str,
}

#[cfg(feature = "model")]
impl PullBar {
    pub(crate) fn new() -> Self {
        // Draws on standard error, and nothing where that is no terminal.
        Self { bar: ProgressBar::no_length(), stage: "" }
    }

    pub(crate) fn show(&mut self, progress: Progress) {
        let (stage, done, total) = match progress {
            Progress::Waiting => ("waiting for another pull", 0, 0),
            Progress::Downloading { done, total } => ("downloading the model", done, total),
            Progress::Unpacking { done, total } => ("unpacking", done, total),
            Progress::Converting { done, total } => ("converting", done, total),
            Progress::Checking { done, total } => ("checking", done, total),
            _ => return,
        };
        if self.stage != stage {
            self.stage = stage;
            self.bar.reset();
            self.bar.set_message(stage);
        }
        if total == 0 {
            self.bar.set_style(style("{spinner} {msg}"));
        } else {
            self.bar.set_style(style("{msg} [{wide_bar}] {bytes}/{total_bytes} {eta}"));
            self.bar.set_length(total);
        }
        self.bar.set_position(done);
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Shows that a step is under way.
#[cfg(feature = "model")]
#[derive(Debug)]
pub(crate) struct Spinner(ProgressBar);

#[cfg(feature = "model")]
impl Spinner {
    pub(crate) fn new(message: &'static str) -> Self {
        let bar = ProgressBar::new_spinner();
        bar.set_style(style("{spinner} {msg} {elapsed}"));
        bar.set_message(message);
        bar.enable_steady_tick(Duration::from_millis(100));
        Self(bar)
    }

    /// Shows how much text there is so far.
    pub(crate) fn generated(&self, characters: usize) {
        self.0.set_message(format!("generating: {characters} characters"));
    }
}

#[cfg(feature = "model")]
impl Drop for Spinner {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    // The templates are this file's own; a wrong one would only look plain.
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
