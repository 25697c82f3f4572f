//! The character classes that base masks are kept for.

/// A class of characters that tokens are sorted by, so that the masks of most string states can be taken from a table.
///
/// All of them but the first exclude `"`, `\` and the control characters U+0000–U+001F, so that a character of the class is the same
/// in a JSON string and in plain text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CharClass {
    /// JSON's blanks: space, tab, line feed and carriage return. They stand between values.
    Blank,
    /// `0-9`
    Digit,
    /// `a-z`
    Lower,
    /// `A-Za-z`
    Alpha,
    /// `A-Za-z0-9`
    Alnum,
    /// `A-Za-z0-9_`
    Word,
    /// `A-Za-z0-9_` and `- . / :`
    Ident,
    /// U+0020–U+007E without `"` and `\`
    Ascii,
    /// Every character without `"`, `\` and U+0000–U+001F
    Text,
}

impl CharClass {
    /// All classes, smallest first.
    pub const ALL: [Self; 9] = [
        Self::Blank,
        Self::Digit,
        Self::Lower,
        Self::Alpha,
        Self::Alnum,
        Self::Word,
        Self::Ident,
        Self::Ascii,
        Self::Text,
    ];

    /// Whether a character belongs to the class.
    pub fn contains(self, c: char) -> bool {
        match self {
            Self::Blank => matches!(c, ' ' | '\t' | '\n' | '\r'),
            Self::Digit => c.is_ascii_digit(),
            Self::Lower => c.is_ascii_lowercase(),
            Self::Alpha => c.is_ascii_alphabetic(),
            Self::Alnum => c.is_ascii_alphanumeric(),
            Self::Word => c.is_ascii_alphanumeric() || c == '_',
            Self::Ident => c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':'),
            Self::Ascii => matches!(c, ' '..='~') && c != '"' && c != '\\',
            Self::Text => c >= ' ' && c != '"' && c != '\\',
        }
    }
}
