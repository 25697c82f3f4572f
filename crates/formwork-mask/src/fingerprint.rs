//! What a mask may depend on, by content: what the cache's keys say in ids that belong to one process.

use formwork_automaton::{Automaton, Fingerprint, Frames, State};
use sha2::{Digest, Sha256};

use crate::cache::without_keys;

/// The fingerprint of the words that a mask may depend on, `frames` frames deep; `None` where the automaton has none.
///
/// As in the cache's keys, only that a frame has no keys at all leaves no trace in a walk, so that is part of it.
pub(crate) fn fingerprint<A: Automaton + ?Sized>(
    automaton: &A,
    seq: &Frames,
    state: State,
    frames: usize,
) -> Option<Fingerprint> {
    let mut hash = Sha256::new();
    hash.update(automaton.fingerprint(seq, state, frames)?.to_bytes());
    for is_empty in without_keys(seq, state).take(frames) {
        hash.update([u8::from(is_empty)]);
    }
    hash.update((frames as u64).to_le_bytes());
    let digest: [u8; 32] = hash.finalize().into();
    let mut half = [0; 16];
    half.copy_from_slice(&digest[..16]);
    Some(Fingerprint::from_bytes(half))
}
