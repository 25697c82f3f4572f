//! The blanks between JSON's tokens, as the `whitespace` option says.

use formwork_grammar::Whitespace;

use crate::lang::ByteSet;

/// A place where blanks may stand; which ones depends on the option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Gap {
    /// Blanks only where the option is flexible.
    Free,
    /// After `:`.
    Colon,
    /// After `{` or `[`, before a first member.
    Open,
    /// After `,`.
    Comma,
    /// Before the bracket that closes a container with members.
    Close,
    /// Nothing more: the gap is over.
    Over,
}

/// What a byte means in a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blank {
    /// It is a blank of the gap; so many have been read now.
    Read(u32),
    /// It is no blank, and the gap may end before it.
    Ends,
    /// It is not allowed here.
    Not,
}

/// Reads a byte in a gap after `read` blanks, in a container that `depth` others enclose.
pub(super) fn step(option: Whitespace, gap: Gap, read: u32, depth: u32, byte: u8) -> Blank {
    let is_blank = matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    if gap == Gap::Over {
        return if is_blank { Blank::Not } else { Blank::Ends };
    }
    if let Whitespace::Flexible(most) = option {
        return match (is_blank, read < u32::from(most)) {
            (true, true) => Blank::Read(read + 1),
            (true, false) => Blank::Not,
            (false, _) => Blank::Ends,
        };
    }
    let text = blanks(option, gap, depth);
    if read < text.len() {
        if byte == text.at(read) { Blank::Read(read + 1) } else { Blank::Not }
    } else if is_blank {
        Blank::Not
    } else {
        Blank::Ends
    }
}

/// The blanks that a gap has: a line break where `line`, then so many spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Blanks {
    line: bool,
    spaces: u32,
}

impl Blanks {
    pub(super) fn len(self) -> u32 {
        u32::from(self.line) + self.spaces
    }

    /// Whether the alphabet has what they consist of.
    pub(super) fn spelled_with(self, alphabet: &ByteSet) -> bool {
        (!self.line || alphabet.contains(b'\n')) && (self.spaces == 0 || alphabet.contains(b' '))
    }

    pub(super) fn at(self, index: u32) -> u8 {
        if self.line && index == 0 { b'\n' } else { b' ' }
    }

    pub(super) fn write(self, from: u32, out: &mut Vec<u8>) {
        out.extend((from..self.len()).map(|i| self.at(i)));
    }
}

/// The blanks that must stand in a gap; with the flexible option, the fewest.
pub(super) fn blanks(option: Whitespace, gap: Gap, depth: u32) -> Blanks {
    let none = Blanks { line: false, spaces: 0 };
    match (option, gap) {
        (Whitespace::Spaced, Gap::Colon | Gap::Comma) | (Whitespace::Indent(_), Gap::Colon) => {
            Blanks { line: false, spaces: 1 }
        }
        (Whitespace::Indent(n), Gap::Open | Gap::Comma) => {
            Blanks { line: true, spaces: u32::from(n).saturating_mul(depth + 1) }
        }
        (Whitespace::Indent(n), Gap::Close) => Blanks { line: true, spaces: u32::from(n).saturating_mul(depth) },
        _ => none,
    }
}
