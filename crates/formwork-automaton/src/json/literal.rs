//! `null`, `true` and `false`.

/// A literal that is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Literal {
    Null,
    True,
    False,
}

impl Literal {
    /// The literal that begins with a byte.
    pub(super) fn starting(byte: u8) -> Option<Self> {
        match byte {
            b'n' => Some(Self::Null),
            b't' => Some(Self::True),
            b'f' => Some(Self::False),
            _ => None,
        }
    }

    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::True => "true",
            Self::False => "false",
        }
    }
}
