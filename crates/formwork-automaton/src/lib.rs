//! IR → a lazily built byte automaton, states interned, no dead ends.

#![forbid(unsafe_code)]

mod automaton;
mod char_class;
mod error;
mod fingerprint;
mod frames;
mod interner;
mod json;
mod lang;
mod regex;
mod symbol;
mod table;
mod weigh;

pub use automaton::{
    Automaton, CharLoop, Ending, Fill, FreeText, Key, LimitKind, NextKey, Opening, StandIn, State, Step, TextEnd,
    TextKind, Witness,
};
pub use char_class::CharClass;
pub use error::CompileError;
pub use fingerprint::Fingerprint;
pub use frames::{Frame, FrameId, Frames, KeySet, Mark, WalkFloors, Watch};
pub use json::{JsonAutomaton, KnownKeys, Spelling};
pub use lang::{Anchor, ByteSet, Lang, LangError, LangLimits, LangPool, LangState, Langs, Literals, NEAR_BYTES};
pub use regex::RegexAutomaton;
pub use symbol::{Symbol, TokenId};
pub use table::Table;
