//! Sets of code points, as character classes are built from.

use regex_syntax::hir::{Class, HirKind};

const LAST: u32 = 0x10_FFFF;
const SURROGATES: (u32, u32) = (0xD800, 0xDFFF);

/// A set of code points, surrogates included until [`CodePoints::into_chars`].
#[derive(Clone, Debug, Default)]
pub(super) struct CodePoints(Vec<(u32, u32)>);

impl CodePoints {
    pub(super) fn add(&mut self, first: u32, last: u32) {
        self.0.push((first, last));
    }

    pub(super) fn extend(&mut self, other: &Self) {
        self.0.extend_from_slice(&other.0);
    }

    /// ECMA's `\d`, `\w`, `\s` by letter; upper case for the complement.
    pub(super) fn escape(letter: char) -> Option<Self> {
        let ranges: &[(u32, u32)] = match letter.to_ascii_lowercase() {
            'd' => &[(0x30, 0x39)],
            'w' => &[(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)],
            's' => &[
                (0x09, 0x0D),
                (0x20, 0x20),
                (0xA0, 0xA0),
                (0x1680, 0x1680),
                (0x2000, 0x200A),
                (0x2028, 0x2029),
                (0x202F, 0x202F),
                (0x205F, 0x205F),
                (0x3000, 0x3000),
                (0xFEFF, 0xFEFF),
            ],
            _ => return None,
        };
        let set = Self(ranges.to_vec());
        Some(if letter.is_ascii_uppercase() { set.negated() } else { set })
    }

    /// ECMA's `.`: everything but the four line terminators.
    pub(super) fn dot() -> Self {
        Self(vec![(0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029)]).negated()
    }

    /// The characters with a Unicode property (`L`, `Script=Greek`, `Alphabetic`); `None` for an unknown one.
    pub(super) fn property(name: &str) -> Option<Self> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '=');
        if name.is_empty() || !name.chars().all(plain) {
            return None;
        }
        let hir = regex_syntax::parse(&format!(r"[\p{{{name}}}]")).ok()?;
        match hir.kind() {
            HirKind::Class(class) => Some(Self::from_class(class)),
            HirKind::Literal(literal) => {
                let text = std::str::from_utf8(&literal.0).ok()?;
                Some(Self(text.chars().map(|c| (u32::from(c), u32::from(c))).collect()))
            }
            _ => None,
        }
    }

    pub(super) fn from_class(class: &Class) -> Self {
        Self(match class {
            Class::Unicode(class) => class.iter().map(|r| (u32::from(r.start()), u32::from(r.end()))).collect(),
            Class::Bytes(class) => class.iter().map(|r| (u32::from(r.start()), u32::from(r.end()))).collect(),
        })
    }

    /// Sorted, disjoint, not adjacent.
    fn canonical(mut self) -> Self {
        self.0.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(self.0.len());
        for (first, last) in self.0 {
            match merged.last_mut() {
                Some(before) if first <= before.1.saturating_add(1) => {
                    before.1 = before.1.max(last);
                }
                _ => merged.push((first, last)),
            }
        }
        Self(merged)
    }

    pub(super) fn negated(self) -> Self {
        let mut gaps = Vec::new();
        let mut next = 0;
        for (first, last) in self.canonical().0 {
            if first > next {
                gaps.push((next, first - 1));
            }
            next = last + 1;
        }
        if next <= LAST {
            gaps.push((next, LAST));
        }
        Self(gaps)
    }

    /// The characters of the set, sorted and disjoint: surrogates are in no text.
    pub(super) fn into_chars(self) -> Vec<(char, char)> {
        let mut chars: Vec<(char, char)> = Vec::with_capacity(self.0.len());
        for (first, last) in self.canonical().0 {
            let below = (first, last.min(SURROGATES.0 - 1));
            let above = (first.max(SURROGATES.1 + 1), last);
            for (first, last) in [below, above] {
                if first <= last
                    && let (Some(first), Some(last)) = (char::from_u32(first), char::from_u32(last))
                {
                    match chars.last_mut() {
                        // U+D7FF and U+E000 are neighbours among characters.
                        Some(before) if before.1 == '\u{D7FF}' && first == '\u{E000}' => {
                            before.1 = last;
                        }
                        _ => chars.push((first, last)),
                    }
                }
            }
        }
        chars
    }
}
