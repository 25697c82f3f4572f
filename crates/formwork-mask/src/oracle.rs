//! The naive mask, for tests: every token's bytes stepped one by one, with no trie, no base mask and no cache.
//!
//! Tests hold every mask against it, and `formwork match --oracle` does so on request. It takes milliseconds.

use formwork_automaton::{Automaton, Frames, State, Step, Symbol, TokenId};

use crate::mask::Mask;
use crate::matcher::Matcher;
use crate::vocabulary::Vocabulary;

/// The mask at a matcher's place, computed token by token. Meaningless after the end of the sequence.
pub fn mask(matcher: &Matcher) -> Mask {
    let constraint = matcher.constraint();
    let mut seq = matcher.frames().clone();
    mask_at(&**matcher.automaton(), constraint.vocabulary(), &mut seq, matcher.state())
}

/// The tokens whose bits differ between the matcher's mask and the naive one; empty where all is well.
pub fn differences(matcher: &mut Matcher) -> Vec<TokenId> {
    let naive = mask(matcher);
    let vocabulary = matcher.constraint().vocabulary().clone();
    match matcher.mask() {
        Ok(mask) => vocabulary.ids().filter(|&id| mask.allows(id) != naive.allows(id)).collect(),
        Err(_) => naive.iter().collect(),
    }
}

fn mask_at(automaton: &dyn Automaton, vocabulary: &Vocabulary, seq: &mut Frames, state: State) -> Mask {
    let mut mask = Mask::none(vocabulary.len());
    for id in vocabulary.ids() {
        let mark = seq.mark();
        let ends = vocabulary.eos().contains(&id) && automaton.is_accepting(seq, state);
        if ends || is_legal(automaton, vocabulary, seq, state, id) {
            mask.allow(id);
        }
        seq.truncate(mark);
    }
    mask
}

fn is_legal(
    automaton: &dyn Automaton,
    vocabulary: &Vocabulary,
    seq: &mut Frames,
    mut state: State,
    id: TokenId,
) -> bool {
    let Some(bytes) = vocabulary.bytes(id) else {
        return vocabulary.is_special(id) && matches!(automaton.step(seq, state, Symbol::Special(id)), Step::To(_));
    };
    for &byte in bytes {
        match automaton.step(seq, state, Symbol::Byte(byte)) {
            Step::To(next) => state = next,
            Step::Dead | Step::Limit(_) => return false,
        }
    }
    !bytes.is_empty()
}
