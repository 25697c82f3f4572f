//! ECMA-262's dialect, as JSON Schema's `pattern` has it.

use super::code_points::CodePoints;
use super::{Regex, RegexError};

/// Groups nested deeper are refused, so that no walk over the tree runs out of stack.
const MAX_DEPTH: u32 = 200;
/// Counts above are refused: no generated text comes near.
const MAX_COUNT: u32 = 1 << 20;

pub(super) fn parse(pattern: &str) -> Result<Regex, RegexError> {
    let mut parser = Parser { pattern, at: 0, depth: 0 };
    let regex = parser.alternation()?;
    match parser.peek() {
        None => Ok(regex),
        Some(_) => Err(RegexError::syntax(parser.at, "this closing parenthesis has no opening one")),
    }
}

struct Parser<'p> {
    pattern: &'p str,
    /// Byte offset of the next character.
    at: usize,
    depth: u32,
}

/// What one escape inside or outside a class stands for.
enum Escaped {
    Char(u32),
    Set(CodePoints),
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        self.pattern.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    fn alternation(&mut self) -> Result<Regex, RegexError> {
        let mut branches = vec![self.sequence()?];
        while self.eat("|") {
            branches.push(self.sequence()?);
        }
        Ok(Regex::alternation(branches))
    }

    fn sequence(&mut self) -> Result<Regex, RegexError> {
        let mut parts = Vec::new();
        while !matches!(self.peek(), None | Some('|' | ')')) {
            let begin = self.at;
            let part = self.term()?;
            let part = self.quantified(part, begin)?;
            parts.push(part);
        }
        Ok(Regex::concat(parts))
    }

    fn term(&mut self) -> Result<Regex, RegexError> {
        let begin = self.at;
        let Some(c) = self.next() else {
            return Ok(Regex::Empty);
        };
        match c {
            '^' => Ok(Regex::Start),
            '$' => Ok(Regex::End),
            '.' => Ok(Regex::Class(CodePoints::dot().into_chars())),
            '(' => self.group(begin),
            '[' => self.class(begin),
            '\\' => self.escape_term(begin),
            '*' | '+' | '?' => Err(nothing_to_repeat(begin)),
            '{' => {
                self.at = begin;
                if self.count()?.is_some() {
                    return Err(nothing_to_repeat(begin));
                }
                self.at = begin + 1;
                Ok(Regex::literal("{"))
            }
            c => Ok(Regex::Class(vec![(c, c)])),
        }
    }

    fn group(&mut self, begin: usize) -> Result<Regex, RegexError> {
        let look = if self.eat("?=") {
            Some((false, false))
        } else if self.eat("?!") {
            Some((false, true))
        } else if self.eat("?<=") {
            Some((true, false))
        } else if self.eat("?<!") {
            Some((true, true))
        } else {
            if self.eat("?<") {
                self.group_name(begin)?;
            } else if !self.eat("?:") && self.eat("?") {
                return Err(match self.peek() {
                    Some('a'..='z' | 'A'..='Z' | '-') => {
                        RegexError::unsupported(begin, "flags inside a pattern are not supported")
                    }
                    _ => RegexError::syntax(begin, "no group begins like this"),
                });
            }
            None
        };
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(RegexError::limit(begin, format!("groups are nested deeper than {MAX_DEPTH}")));
        }
        let inner = self.alternation()?;
        self.depth -= 1;
        if !self.eat(")") {
            return Err(RegexError::syntax(begin, "this group is never closed"));
        }
        Ok(match look {
            Some((behind, negated)) => Regex::look(behind, negated, inner),
            None => inner,
        })
    }

    fn group_name(&mut self, begin: usize) -> Result<(), RegexError> {
        let wrong = || RegexError::syntax(begin, "the group's name is no identifier closed by `>`");
        let end = self.rest().find('>').ok_or_else(wrong)?;
        let name = self.rest().get(..end).unwrap_or_default();
        let head = |c: char| c.is_alphabetic() || matches!(c, '_' | '$');
        let good = name.chars().next().is_some_and(head) && name.chars().all(|c| head(c) || c.is_alphanumeric());
        if !good {
            return Err(wrong());
        }
        self.at += end + 1;
        Ok(())
    }

    fn quantified(&mut self, node: Regex, begin: usize) -> Result<Regex, RegexError> {
        let place = self.at;
        let (min, max) = match self.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => match self.count()? {
                Some(bounds) => bounds,
                None => return Ok(node),
            },
            _ => return Ok(node),
        };
        if self.at == place {
            self.at += 1;
        }
        self.eat("?");
        // Annex B lets a look-ahead be repeated, and only that.
        let repeatable =
            !matches!(node, Regex::Start | Regex::End | Regex::WordBoundary { .. } | Regex::Look { behind: true, .. });
        // `(^)*` is a group, `^*` is not.
        if !repeatable
            && !self.pattern.get(begin..place).is_some_and(|text| text.starts_with('(') && !text.starts_with("(?<"))
        {
            return Err(nothing_to_repeat(place));
        }
        Ok(Regex::Repeat { node: Box::new(node), min, max })
    }

    /// `{n}`, `{n,}` or `{n,m}` at this place; `None` where the brace is a plain character.
    fn count(&mut self) -> Result<Option<(u32, Option<u32>)>, RegexError> {
        let place = self.at;
        let Some(inner) = self.rest().strip_prefix('{').and_then(|t| t.split_once('}')).map(|(inner, _)| inner) else {
            return Ok(None);
        };
        let length = inner.len() + 2;
        let (low, high) = match inner.split_once(',') {
            Some((low, "")) => (low, None),
            Some((low, high)) => (low, Some(high)),
            None => (inner, Some(inner)),
        };
        let digits = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
        if !digits(low) || !high.is_none_or(digits) {
            return Ok(None);
        }
        let number = |t: &str| {
            t.parse::<u32>()
                .ok()
                .filter(|n| *n <= MAX_COUNT)
                .ok_or_else(|| RegexError::limit(place, format!("a repeat count is larger than {MAX_COUNT}")))
        };
        let min = number(low)?;
        let max = high.map(number).transpose()?;
        if max.is_some_and(|max| max < min) {
            return Err(RegexError::syntax(place, "the repeat's bounds are out of order"));
        }
        self.at += length;
        Ok(Some((min, max)))
    }

    fn escape_term(&mut self, begin: usize) -> Result<Regex, RegexError> {
        if self.eat("b") {
            return Ok(Regex::WordBoundary { negated: false });
        }
        if self.eat("B") {
            return Ok(Regex::WordBoundary { negated: true });
        }
        Ok(Regex::Class(match self.escape(begin)? {
            Escaped::Char(c) => {
                let mut set = CodePoints::default();
                set.add(c, c);
                set.into_chars()
            }
            Escaped::Set(set) => set.into_chars(),
        }))
    }

    /// The escape whose backslash stands at `begin` and was read.
    fn escape(&mut self, begin: usize) -> Result<Escaped, RegexError> {
        let Some(c) = self.next() else {
            return Err(RegexError::syntax(begin, "the pattern ends with a backslash"));
        };
        if let Some(set) = CodePoints::escape(c) {
            return Ok(Escaped::Set(set));
        }
        Ok(Escaped::Char(match c {
            't' => 0x09,
            'n' => 0x0A,
            'v' => 0x0B,
            'f' => 0x0C,
            'r' => 0x0D,
            '0' if !self.peek().is_some_and(|c| c.is_ascii_digit()) => 0,
            '0' => return Err(RegexError::syntax(begin, "octal escapes are not allowed")),
            '1'..='9' | 'k' => return Err(RegexError::back_reference(begin)),
            'c' => match self.next() {
                Some(letter) if letter.is_ascii_alphabetic() => u32::from(letter) % 32,
                _ => return Err(RegexError::syntax(begin, "`\\c` needs a letter after it")),
            },
            'x' => self.hex(2).ok_or_else(|| RegexError::syntax(begin, "`\\x` needs two hex digits after it"))?,
            'u' => self.unicode_escape(begin)?,
            'p' | 'P' => return self.property(begin, c == 'P').map(Escaped::Set),
            c if c.is_ascii_alphanumeric() => {
                return Err(RegexError::syntax(begin, format!("`\\{c}` is no escape of ECMA-262")));
            }
            c => u32::from(c),
        }))
    }

    fn hex(&mut self, digits: usize) -> Option<u32> {
        let text = self.rest().get(..digits)?;
        if !text.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        let value = u32::from_str_radix(text, 16).ok()?;
        self.at += digits;
        Some(value)
    }

    fn unicode_escape(&mut self, begin: usize) -> Result<u32, RegexError> {
        let wrong = || RegexError::syntax(begin, "`\\u` needs four hex digits or `{…}` with a code point");
        if self.eat("{") {
            let end = self.rest().find('}').ok_or_else(wrong)?;
            let text = self.rest().get(..end).unwrap_or_default();
            if !text.bytes().all(|b| b.is_ascii_hexdigit()) {
                return Err(wrong());
            }
            let value = u32::from_str_radix(text, 16).ok().filter(|v| *v <= 0x10_FFFF).ok_or_else(wrong)?;
            self.at += end + 1;
            return Ok(value);
        }
        let first = self.hex(4).ok_or_else(wrong)?;
        if (0xD800..0xDC00).contains(&first) {
            let place = self.at;
            if self.eat("\\u")
                && let Some(second) = self.hex(4)
                && (0xDC00..0xE000).contains(&second)
            {
                return Ok(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00));
            }
            self.at = place;
        }
        Ok(first)
    }

    fn property(&mut self, begin: usize, negated: bool) -> Result<CodePoints, RegexError> {
        let wrong = || RegexError::syntax(begin, "no Unicode property has this name");
        if !self.eat("{") {
            return Err(wrong());
        }
        let end = self.rest().find('}').ok_or_else(wrong)?;
        let name = self.rest().get(..end).unwrap_or_default();
        let set = CodePoints::property(name).ok_or_else(wrong)?;
        self.at += end + 1;
        Ok(if negated { set.negated() } else { set })
    }

    fn class(&mut self, begin: usize) -> Result<Regex, RegexError> {
        let negated = self.eat("^");
        let mut set = CodePoints::default();
        loop {
            let place = self.at;
            let low = match self.next() {
                None => {
                    return Err(RegexError::syntax(begin, "this character class is never closed"));
                }
                Some(']') => break,
                Some(c) => self.class_atom(c, place)?,
            };
            let dash = self.at;
            let is_range = self.rest().starts_with('-') && !self.rest().starts_with("-]");
            if !is_range {
                add(&mut set, low);
                continue;
            }
            self.at += 1;
            let high_place = self.at;
            let Some(c) = self.next() else {
                return Err(RegexError::syntax(begin, "this character class is never closed"));
            };
            let high = self.class_atom(c, high_place)?;
            match (low, high) {
                (Escaped::Char(low), Escaped::Char(high)) if low <= high => set.add(low, high),
                (Escaped::Char(_), Escaped::Char(_)) => {
                    return Err(RegexError::syntax(place, "this range's ends are out of order"));
                }
                // Annex B: beside a set the dash is a plain character.
                (low, high) => {
                    add(&mut set, low);
                    add(&mut set, high);
                    set.add(u32::from('-'), u32::from('-'));
                }
            }
            debug_assert!(self.at > dash);
        }
        Ok(Regex::Class(if negated { set.negated() } else { set }.into_chars()))
    }

    fn class_atom(&mut self, c: char, place: usize) -> Result<Escaped, RegexError> {
        if c != '\\' {
            return Ok(Escaped::Char(u32::from(c)));
        }
        if self.eat("b") {
            return Ok(Escaped::Char(0x08));
        }
        self.escape(place)
    }
}

fn add(set: &mut CodePoints, what: Escaped) {
    match what {
        Escaped::Char(c) => set.add(c, c),
        Escaped::Set(other) => set.extend(&other),
    }
}

fn nothing_to_repeat(offset: usize) -> RegexError {
    RegexError::syntax(offset, "there is nothing to repeat before this quantifier")
}
