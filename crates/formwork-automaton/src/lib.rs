//! IR → a lazily built byte automaton, states interned, no dead ends.

#![forbid(unsafe_code)]

mod automaton;
mod char_class;
mod frames;
mod symbol;

pub use automaton::{Automaton, Key, LimitKind, State, Step, Witness};
pub use char_class::CharClass;
pub use frames::{Frame, FrameId, Frames, KeySet, Mark};
pub use symbol::{Symbol, TokenId};
