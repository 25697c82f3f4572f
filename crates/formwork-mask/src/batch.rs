//! The masks of many sequences at once, on several threads.

use std::borrow::BorrowMut;
use std::collections::VecDeque;
use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use crate::error::Error;
use crate::matcher::Matcher;

/// Threads that fill the masks of many sequences at once, as one step of a batched model needs them.
///
/// The calling thread fills the rows whose masks are known, which is copying, and leaves the others in a queue that it then empties
/// together with the other threads. So it never waits for a thread to wake up, and a step without a new mask wakes none.
///
/// Keep one for as long as masks are needed: its threads are started once, and end with it. It can be used from several threads.
///
/// ```
/// use std::sync::Arc;
/// use formwork_automaton::{RegexAutomaton, Spelling, TokenId};
/// use formwork_grammar::Regex;
/// use formwork_mask::{Batch, CompiledConstraint, TokenEntry, Vocabulary};
///
/// let mut entries = ["yes", "no", "n", "o"].map(|text| TokenEntry::Text(text.into())).to_vec();
/// entries.push(TokenEntry::Special("</s>".into()));
/// let vocabulary = Vocabulary::from_tokens(entries, &[4])?;
/// let automaton = RegexAutomaton::new(&Regex::parse_rust("yes|no")?, Spelling::default())?;
/// let constraint = CompiledConstraint::new(Arc::new(automaton), &vocabulary)?;
///
/// let mut matchers = vec![constraint.matcher(), constraint.matcher(), constraint.matcher()];
/// matchers[1].advance(TokenId::new(2))?;
/// matchers[2].advance_bytes(b"yes")?;
/// let mut rows = vec![0; matchers.len() * vocabulary.row_words()];
/// let batch = Batch::new(2);
/// batch.fill_masks(&mut matchers, &mut rows)?;
/// assert_eq!(rows, [0b00111, 0b01000, 0b10000]);
///
/// // A sequence that has ended has no mask, and costs the others nothing.
/// matchers[2].advance(TokenId::new(4))?;
/// let error = batch.fill_masks(&mut matchers, &mut rows).unwrap_err();
/// assert_eq!(rows, [0b00111, 0b01000, 0]);
/// assert_eq!(error.rows()[0].0, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Batch {
    queue: Arc<Queue>,
    /// All threads but the calling one.
    helpers: Vec<JoinHandle<()>>,
}

impl Batch {
    /// So many threads, the calling one among them: with one (or none), no other is started. Where the system starts fewer, it is those
    /// that [`Batch::threads`] counts.
    pub fn new(threads: usize) -> Self {
        let queue = Arc::new(Queue::default());
        let helpers = (1..threads).map_while(|index| {
            let queue = Arc::clone(&queue);
            let name = format!("formwork-mask-{index}");
            thread::Builder::new().name(name).spawn(move || queue.help()).ok()
        });
        let helpers = helpers.collect();
        Self { queue, helpers }
    }

    /// How many threads there are, the calling one among them.
    pub fn threads(&self) -> usize {
        self.helpers.len() + 1
    }

    /// Fills a row for each matcher with what its [`mask`](Matcher::mask) is: `rows` has
    /// [`row_words`](crate::Vocabulary::row_words) words for each, in order, and token *i* of a row is bit *i* mod 32 of its word
    /// *i* / 32; bits beyond the vocabulary are 0. This is the layout that vLLM reads.
    ///
    /// The matchers may be under different constraints, compiled for vocabularies of one length; they may be given by value or by
    /// `&mut`.
    ///
    /// # Errors
    /// Where `rows` has another length, or the vocabularies have: no row is then written. Where some matchers have no mask
    /// (sequences that have [ended](Matcher::is_finished), as a rule): [`Error::rows`] lists these with what each one's `mask` says; their
    /// rows are all 0, and all others are filled.
    ///
    /// # Panics
    /// Where computing a mask does, also on another thread.
    #[doc(alias = "batch_fill_next_token_bitmask")]
    #[doc(alias = "fill_bitmask")]
    pub fn fill_masks<M: BorrowMut<Matcher>>(&self, matchers: &mut [M], rows: &mut [u32]) -> Result<(), Error> {
        let words = check_shape(matchers, rows.len())?;
        let mut failed = Vec::new();
        let mut unknown = Vec::new();
        for (index, matcher) in matchers.iter_mut().enumerate() {
            let (matcher, row) = (matcher.borrow_mut(), row_of(rows, index, words));
            match matcher.find_known() {
                Ok(false) => unknown.push(index),
                found => {
                    if let Err(error) = found.and_then(|_| matcher.fill_row(row)) {
                        row.fill(0);
                        failed.push((index, error));
                    }
                }
            }
        }
        if self.helpers.is_empty() || unknown.len() < 2 {
            for index in unknown {
                if let Err(error) = matchers[index].borrow_mut().fill_row(row_of(rows, index, words)) {
                    failed.push((index, error));
                }
            }
        } else {
            let jobs = unknown.into_iter().map(|index| (index, matchers[index].borrow_mut().lend()));
            for (index, computed) in self.compute(jobs) {
                let (lent, result) = computed.unwrap_or_else(|cause| panic::resume_unwind(cause));
                let (matcher, row) = (matchers[index].borrow_mut(), row_of(rows, index, words));
                matcher.take_back(lent);
                if let Err(error) = result.and_then(|()| matcher.fill_row(row)) {
                    row.fill(0);
                    failed.push((index, error));
                }
            }
        }
        if failed.is_empty() {
            return Ok(());
        }
        failed.sort_unstable_by_key(|(index, _)| *index);
        Err(Error::rows_without_mask(failed, matchers.len()))
    }

    /// Computes masks on all threads, this one among them.
    fn compute(&self, matchers: impl Iterator<Item = (usize, Matcher)>) -> mpsc::IntoIter<(usize, Computed)> {
        let (done, computed) = mpsc::channel();
        let jobs = matchers.map(|(index, matcher)| Job { index, matcher, done: done.clone() });
        let waiting = self.queue.push(jobs);
        // One of them is for this thread.
        self.queue.wake(waiting.saturating_sub(1).min(self.helpers.len()));
        while let Some(job) = self.queue.next() {
            job.run();
        }
        // The answers end when the last job has dropped its sender.
        drop(done);
        computed.into_iter()
    }
}

impl Default for Batch {
    /// As many threads as the system says can run at once.
    fn default() -> Self {
        Self::new(thread::available_parallelism().map_or(1, usize::from))
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.queue.close();
        for helper in self.helpers.drain(..) {
            // A helper ends by returning: what a job panics with goes to the thread that waits for it.
            drop(helper.join());
        }
    }
}

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch").field("threads", &self.threads()).finish_non_exhaustive()
    }
}

impl Matcher {
    /// Writes the mask into a caller's row of [`row_words`](crate::Vocabulary::row_words) words: token *i* is bit *i* mod 32 of word
    /// *i* / 32; bits beyond the vocabulary are 0.
    ///
    /// # Errors
    /// Where the row has another length; it is then left as it was. As [`Matcher::mask`]; the row is then all 0.
    #[doc(alias = "fill_next_token_bitmask")]
    #[doc(alias = "fill_bitmask")]
    pub fn fill_row(&mut self, row: &mut [u32]) -> Result<(), Error> {
        let words = self.constraint().vocabulary().row_words();
        if row.len() != words {
            return Err(Error::row_words(row.len(), 1, words));
        }
        match self.mask() {
            Ok(mask) => {
                row.copy_from_slice(mask.words());
                Ok(())
            }
            Err(error) => {
                row.fill(0);
                Err(error)
            }
        }
    }
}

/// Checks that a row of words is there for each matcher, and gives the number of words.
fn check_shape<M: BorrowMut<Matcher>>(matchers: &[M], given: usize) -> Result<usize, Error> {
    let mut lengths = matchers.iter().map(|matcher| matcher.borrow().constraint().vocabulary().len());
    let len = lengths.next().unwrap_or(0);
    if let Some((index, other)) = (1..).zip(lengths).find(|(_, other)| *other != len) {
        return Err(Error::other_vocabulary(index, other, len));
    }
    let words = len.div_ceil(32);
    if given == matchers.len() * words { Ok(words) } else { Err(Error::row_words(given, matchers.len(), words)) }
}

/// The row with this index.
fn row_of(rows: &mut [u32], index: usize, words: usize) -> &mut [u32] {
    &mut rows[index * words..][..words]
}

/// A matcher whose mask was computed, or what that panicked with.
type Computed = thread::Result<(Matcher, Result<(), Error>)>;

/// A mask to be computed.
struct Job {
    index: usize,
    matcher: Matcher,
    done: Sender<(usize, Computed)>,
}

impl Job {
    fn run(self) {
        let Self { index, mut matcher, done } = self;
        let computed = panic::catch_unwind(AssertUnwindSafe(move || {
            let result = matcher.mask().map(|_| ());
            (matcher, result)
        }));
        // Nobody waits for it where another job of the batch has panicked.
        drop(done.send((index, computed)));
    }
}

/// The masks that wait for a thread.
#[derive(Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    wake: Condvar,
}

#[derive(Default)]
struct Waiting {
    jobs: VecDeque<Job>,
    closed: bool,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds jobs, and says how many there are.
    fn push(&self, jobs: impl Iterator<Item = Job>) -> usize {
        let mut waiting = self.lock();
        waiting.jobs.extend(jobs);
        waiting.jobs.len()
    }

    fn wake(&self, threads: usize) {
        for _ in 0..threads {
            self.wake.notify_one();
        }
    }

    fn next(&self) -> Option<Job> {
        self.lock().jobs.pop_front()
    }

    fn close(&self) {
        self.lock().closed = true;
        self.wake.notify_all();
    }

    /// Runs jobs until the queue is closed.
    fn help(&self) {
        loop {
            let mut waiting = self
                .wake
                .wait_while(self.lock(), |waiting| waiting.jobs.is_empty() && !waiting.closed)
                .unwrap_or_else(PoisonError::into_inner);
            let Some(job) = waiting.jobs.pop_front() else { return };
            drop(waiting);
            job.run();
        }
    }
}
