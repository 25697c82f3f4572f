//! The `regex` crate's dialect, through its own parser.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind, Look};

use super::code_points::CodePoints;
use super::{Regex, RegexError};

const MAX_DEPTH: u32 = 200;

pub(super) fn parse(pattern: &str) -> Result<Regex, RegexError> {
    let hir = ParserBuilder::new().nest_limit(MAX_DEPTH).build().parse(pattern).map_err(|error| refused(&error))?;
    Ok(convert(&hir))
}

fn refused(error: &regex_syntax::Error) -> RegexError {
    use regex_syntax::ast::ErrorKind;
    match error {
        regex_syntax::Error::Parse(e) => {
            let offset = e.span().start.offset;
            match e.kind() {
                ErrorKind::UnsupportedBackreference => RegexError::back_reference(offset),
                ErrorKind::UnsupportedLookAround => RegexError::unsupported(offset, "this dialect has no look-around"),
                ErrorKind::NestLimitExceeded(_) => {
                    RegexError::limit(offset, format!("groups are nested deeper than {MAX_DEPTH}"))
                }
                kind => RegexError::syntax(offset, kind.to_string()),
            }
        }
        regex_syntax::Error::Translate(e) => RegexError::syntax(e.span().start.offset, e.kind().to_string()),
        _ => RegexError::syntax(0, "the pattern is no regular expression"),
    }
}

fn convert(hir: &Hir) -> Regex {
    match hir.kind() {
        HirKind::Empty => Regex::Empty,
        HirKind::Literal(literal) => Regex::literal(&String::from_utf8_lossy(&literal.0)),
        HirKind::Class(class) => Regex::Class(CodePoints::from_class(class).into_chars()),
        HirKind::Look(look) => convert_look(*look),
        HirKind::Repetition(repetition) => {
            Regex::Repeat { node: Box::new(convert(&repetition.sub)), min: repetition.min, max: repetition.max }
        }
        HirKind::Capture(capture) => convert(&capture.sub),
        HirKind::Concat(parts) => Regex::concat(parts.iter().map(convert).collect()),
        HirKind::Alternation(parts) => Regex::alternation(parts.iter().map(convert).collect()),
    }
}

fn one(c: char) -> Regex {
    Regex::Class(vec![(c, c)])
}

/// Every assertion but the plain ones is said with look-arounds over one character.
fn convert_look(look: Look) -> Regex {
    let before = |negated, node| Regex::look(true, negated, node);
    let after = |negated, node| Regex::look(false, negated, node);
    let boundary = |word: &Regex, negated: bool| {
        Regex::Alternation(vec![
            Regex::Concat(vec![before(false, word.clone()), after(!negated, word.clone())]),
            Regex::Concat(vec![before(true, word.clone()), after(negated, word.clone())]),
        ])
    };
    match look {
        Look::Start => Regex::Start,
        Look::End => Regex::End,
        Look::StartLF => Regex::Alternation(vec![Regex::Start, before(false, one('\n'))]),
        Look::EndLF => Regex::Alternation(vec![Regex::End, after(false, one('\n'))]),
        Look::StartCRLF => Regex::Alternation(vec![
            Regex::Start,
            before(false, one('\n')),
            Regex::Concat(vec![before(false, one('\r')), after(true, one('\n'))]),
        ]),
        Look::EndCRLF => Regex::Alternation(vec![
            Regex::End,
            after(false, one('\r')),
            Regex::Concat(vec![after(false, one('\n')), before(true, one('\r'))]),
        ]),
        Look::WordAscii => Regex::WordBoundary { negated: false },
        Look::WordAsciiNegate => Regex::WordBoundary { negated: true },
        Look::WordUnicode => boundary(&unicode_word(), false),
        Look::WordUnicodeNegate => boundary(&unicode_word(), true),
        Look::WordStartAscii => Regex::Concat(vec![before(true, ascii_word()), after(false, ascii_word())]),
        Look::WordEndAscii => Regex::Concat(vec![before(false, ascii_word()), after(true, ascii_word())]),
        Look::WordStartUnicode => Regex::Concat(vec![before(true, unicode_word()), after(false, unicode_word())]),
        Look::WordEndUnicode => Regex::Concat(vec![before(false, unicode_word()), after(true, unicode_word())]),
        Look::WordStartHalfAscii => before(true, ascii_word()),
        Look::WordEndHalfAscii => after(true, ascii_word()),
        Look::WordStartHalfUnicode => before(true, unicode_word()),
        Look::WordEndHalfUnicode => after(true, unicode_word()),
    }
}

fn ascii_word() -> Regex {
    Regex::Class(vec![('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')])
}

fn unicode_word() -> Regex {
    match regex_syntax::parse(r"\w") {
        Ok(hir) => convert(&hir),
        Err(_) => ascii_word(),
    }
}
