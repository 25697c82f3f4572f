//! ECMA-262 regular expressions that are valid with and without the `u` flag, their groups nested to a bounded depth.

use std::fmt::Write as _;

use super::Rules;
use crate::lang::{Lang, LangError};

/// How deep groups are nested at most.
const DEPTH: u32 = 4;

/// General categories and scripts that every version of ECMA-262 with `\p` knows.
const PROPERTIES: &str = "L|Lu|Ll|Lt|Lm|Lo|M|Mn|Mc|Me|N|Nd|Nl|No|P|Pc|Pd|Ps|Pe|Pi|Pf|Po|S|Sm|Sc|Sk|So|Z|Zs|Zl|Zp|C|Cc|Cf\
    |Alphabetic|Uppercase|Lowercase|White_Space\
    |(?:Script|sc)=(?:Latin|Greek|Cyrillic|Han|Hiragana|Katakana|Hangul|Arabic|Hebrew|Devanagari|Thai)";

const NAME: &str = "[A-Za-z_$][A-Za-z0-9_$]*";

/// A flat grammar says what may stand beside what; a second one, which sees only parentheses, nests them.
pub(super) fn regular_expression(rules: Rules<'_>) -> Result<Lang, LangError> {
    // Two groups may share a name; one alone can't.
    let named = "\\(\\?<[A-Za-z_$]";
    let twice = rules.whole(&format!(".*{named}.*{named}.*"))?;
    Ok(rules.0.minus(rules.all(&[flat(), nested(DEPTH)])?, twice))
}

fn flat() -> String {
    let escape = format!(
        "\\\\(?:[dDsSwWtnvfr\\^$\\\\.*+?()\\[\\]{{}}|/]|c[A-Za-z]|x[0-9A-Fa-f]{{2}}|u[0-9A-Fa-f]{{4}}|[pP]\\{{(?:{PROPERTIES})\\}})"
    );
    let control = "\\x00-\\x1F\\x7F\\u{2028}\\u{2029}";
    let atom = format!("(?:[^\\^$\\\\.*+?()\\[\\]{{}}|{control}]|\\.|{escape}|{})", class(&escape, control));
    let quantifier = quantifier();
    let open = format!("\\((?:\\?(?:[:=!]|<[=!]|<{NAME}>))?");
    format!("(?:{atom}{quantifier}|\\){quantifier}|[\\^$|]|\\\\[bB]|{open})*")
}

/// `[…]`: a hyphen stands first, last, or in a range whose ends are in order.
fn class(escape: &str, control: &str) -> String {
    let mut ranges = String::new();
    for low in (b'!'..=b'~').filter(u8::is_ascii_graphic).map(char::from) {
        if !matches!(low, '\\' | ']' | '[' | '-' | '^') {
            let _ = write!(ranges, "\\x{:02X}-[\\x{:02X}-~&&[^\\\\\\]\\[\\-]]|", u32::from(low), u32::from(low));
        }
    }
    for (low, high) in [('À', 'ÿ'), ('Α', 'ω'), ('α', 'ω'), ('А', 'я'), ('а', 'я'), ('א', 'ת'), ('ก', '๛')]
    {
        let _ = write!(ranges, "{low}-[{low}-{high}]|");
    }
    for (low, high) in [('ぁ', 'ゟ'), ('ァ', 'ヿ'), ('一', '\u{9FFF}'), ('가', '힣')] {
        let _ = write!(ranges, "{low}-[{low}-{high}]|");
    }
    let digits = "0123456789ABCDEF";
    for (at, low) in digits.chars().enumerate().take(15) {
        let higher = digits.get(at + 1..).unwrap_or_default();
        let (any, lower_case) = ("[0-9A-Fa-f]{3}", higher.to_ascii_lowercase());
        let low = format!("[{low}{}]", low.to_ascii_lowercase());
        let _ = write!(ranges, "\\\\u{low}{any}-\\\\u[{higher}{lower_case}]{any}|");
    }
    format!("\\[\\^?-?(?:{ranges}[^\\\\\\]\\-{control}]|{escape}|\\\\-)*-?\\]")
}

/// Nothing, or a quantifier whose bounds are in order: of different lengths, or of one length up to two.
fn quantifier() -> String {
    let number = "(?:0|[1-9][0-9]{0,3})";
    let mut bounds =
        format!("{number},?|[0-9],[1-9][0-9]{{1,3}}|[1-9][0-9],[1-9][0-9]{{2,3}}|[1-9][0-9]{{2}},[1-9][0-9]{{3}}");
    for low in 0..=9 {
        let _ = write!(bounds, "|{low},[{low}-9]");
        if low > 0 {
            for digit in 0..=9 {
                let _ = write!(bounds, "|{low}{digit},{low}[{digit}-9]");
            }
        }
        if (1..9).contains(&low) {
            let _ = write!(bounds, "|{low}[0-9],[{}-9][0-9]", low + 1);
        }
    }
    format!("(?:(?:[*+?]|\\{{(?:{bounds})\\}})\\??)?")
}

/// Balanced parentheses, `depth` deep. No quantifier follows a look-around.
fn nested(depth: u32) -> String {
    let plain = "[^()\\\\\\[\\]*+?{]|\\\\.|\\[(?:[^\\\\\\]]|\\\\.)*\\]";
    let quantifiers = "[*+?{]*";
    let mut level = format!("(?:(?:{plain}){quantifiers})*");
    for _ in 0..depth {
        let group = format!("\\((?:\\?:|\\?<{NAME}>)?{level}\\)");
        level = format!("(?:(?:{plain}|{group}){quantifiers}|\\(\\?<?[=!]{level}\\))*");
    }
    level
}
