//! RFC 5890 host names with U-labels, narrowed to scripts in everyday use.
//!
//! The characters are PVALID (RFC 5892), in normal form whatever stands beside them, and of a known direction.

use super::Rules;
use super::hostname::label;
use crate::lang::{Lang, LangError};

/// RFC 5891's separators.
const SEPARATORS: &str = ".\\u{3002}\\u{FF0E}\\u{FF61}";

/// Letters and digits written from left to right.
const LETTERS: &str = "[\\u{DF}-\\u{F6}\\u{F8}-\\u{17F}\\u{1A1}\\u{1B0}\\u{1CE}-\\u{1DC}\\u{218}-\\u{21B}\\u{1E00}-\\u{1EFF}\
    \\u{3AC}-\\u{3CE}\\u{390}\\u{430}-\\u{45F}\\u{461}-\\u{52F}\\u{561}-\\u{586}&&\\p{Ll}&&[^\\u{133}\\u{140}\\u{149}\\u{17F}\\u{1E9A}\\u{1E9B}]]\
    \\u{10D0}-\\u{10FA}\\u{905}-\\u{939}\\u{966}-\\u{96F}\
    \\u{E01}-\\u{E30}\\u{E32}\\u{E40}-\\u{E46}\\u{E50}-\\u{E59}\\u{F0B}\
    \\u{3005}-\\u{3007}\\u{3041}-\\u{3096}\\u{309D}\\u{309E}\\u{30A1}-\\u{30FA}\\u{30FC}-\\u{30FE}\
    \\u{3400}-\\u{4DBF}\\u{4E00}-\\u{9FFC}\\u{AC00}-\\u{D7A3}";

/// Vowel signs that stand beside their letter.
const SPACING_MARKS: &str = "\\u{903}\\u{93E}-\\u{940}\\u{949}-\\u{94C}";

/// Marks without a direction of their own.
const MARKS: &str = "\\u{901}\\u{902}\\u{941}-\\u{948}\\u{94D}\\u{E31}\\u{E34}-\\u{E39}\\u{E47}-\\u{E4E}";

/// The middle dot, the Greek numeral sign, the Katakana middle dot and the joiners: what may stand beside them is said by
/// [`contexts`].
const CONTEXTUAL: &str = "\\u{B7}\\u{375}\\u{30FB}\\u{200C}\\u{200D}";

/// Letters written from right to left, the Hebrew punctuation that stands between them included.
const RIGHT_TO_LEFT: &str = "\\u{5D0}-\\u{5EA}\\u{5F0}-\\u{5F4}\\u{620}-\\u{63F}\\u{641}-\\u{64A}\\u{66E}\\u{66F}\\u{671}-\\u{674}\
    \\u{679}-\\u{6D3}\\u{6D5}\\u{6EE}\\u{6EF}\\u{6FA}-\\u{6FF}";

/// Digits that stand in labels of either direction, besides ASCII's.
const EXTENDED_DIGITS: &str = "\\u{6F0}-\\u{6F9}";

/// Digits that stand only between letters written from right to left.
const ARABIC_DIGITS: &str = "\\u{660}-\\u{669}";

/// Arabic letters that join to the next one.
const JOINS_AHEAD: &str = "\\u{626}\\u{628}\\u{62A}-\\u{62E}\\u{633}-\\u{63F}\\u{641}-\\u{647}\\u{649}\\u{64A}\\u{679}-\\u{687}\
    \\u{69A}-\\u{6BF}\\u{6CC}";

/// Arabic letters that join only to the one before.
const JOINS_BACK: &str = "\\u{622}-\\u{625}\\u{627}\\u{629}\\u{62F}-\\u{632}\\u{648}\\u{688}-\\u{699}\\u{6C0}\\u{6D5}";

pub(super) fn hostname(rules: Rules<'_>) -> Result<Lang, LangError> {
    let separator = format!("[{SEPARATORS}]");
    // In Punycode k labels of n characters together take at most 5k + 4n - 1 octets.
    let mut patterns = vec![name(&separator), "[\\x00-\\x7F]{1,253}|.{1,55}".to_owned()];
    patterns.extend(contexts(&separator));
    rules.all(&patterns)
}

/// Which characters make a name, by RFC 5893: with a label from right to left every label has a direction.
pub(super) fn name(separator: &str) -> String {
    let ascii = "[A-Za-z0-9\\-]+";
    let first = format!("[a-z0-9{LETTERS}{EXTENDED_DIGITS}{CONTEXTUAL}]");
    let inner = format!("[a-z0-9{LETTERS}{EXTENDED_DIGITS}{CONTEXTUAL}{SPACING_MARKS}{MARKS}\\-]");
    let undirected = format!("(?:{ascii}|{first}{inner}*)");

    let last = format!("[a-z0-9{LETTERS}{EXTENDED_DIGITS}{SPACING_MARKS}][{MARKS}]*");
    let left_to_right = format!("[A-Za-z][A-Za-z0-9\\-]*|[a-z{LETTERS}](?:[{MARKS}]*|{inner}*{last})");
    let digits = [format!("0-9{EXTENDED_DIGITS}"), ARABIC_DIGITS.to_owned()];
    let [european, arabic] = digits.map(|digits| {
        format!("[{RIGHT_TO_LEFT}](?:[{RIGHT_TO_LEFT}{digits}\\u{{200C}}\\-]*[{RIGHT_TO_LEFT}{digits}])?")
    });
    let directed = format!("(?:{left_to_right}|{european}|{arabic})");
    format!("(?:{undirected}(?:{separator}{undirected})*|{directed}(?:{separator}{directed})*)")
}

/// What must hold in a name besides: hyphens, lengths, and what single characters stand beside.
pub(super) fn contexts(separator: &str) -> [String; 2] {
    // An A-label has 63 octets: so many characters fit however they are mixed.
    let bounds = [("\\x00-\\x7F", 63), ("\\x00-\\u{6FF}", 20), ("\\x00-\\u{10FFFF}", 14)];
    let shapes = bounds.map(|(chars, most)| {
        let outer = format!("[{chars}&&[^\\-{SEPARATORS}]]");
        let inner = format!("[{chars}&&[^{SEPARATORS}]]");
        label(&outer, &inner, most)
    });
    let shape = format!("(?:{})", shapes.join("|"));
    [format!("{shape}(?:{separator}{shape})*"), neighbours()]
}

/// RFC 5892's appendix A, and marks in the order of normal form: a text of units that depend on nothing outside them.
fn neighbours() -> String {
    let kana_or_han = "\\u{3005}\\u{3007}\\u{3041}-\\u{3096}\\u{309D}\\u{309E}\\u{30A1}-\\u{30FA}\\u{30FD}\\u{30FE}\\u{3400}-\\u{9FFF}";
    let (greek, hebrew) = ("\\u{376}-\\u{3FF}", "\\u{5D0}-\\u{5F2}");
    let (devanagari, virama) = ("\\u{900}-\\u{94C}\\u{94E}-\\u{97F}", "\\u{94D}");
    let (thai, below, tones) =
        ("\\u{E01}-\\u{E30}\\u{E32}\\u{E40}-\\u{E46}\\u{E50}-\\u{E59}", "[\\u{E38}\\u{E39}]*", "[\\u{E48}-\\u{E4B}]*");
    let thai_marks = "\\u{E31}\\u{E34}-\\u{E37}\\u{E47}\\u{E4C}-\\u{E4E}";
    let units = [
        format!(
            "[^l\\u{{B7}}\\u{{375}}{hebrew}\\u{{5F3}}\\u{{5F4}}{devanagari}{virama}\\u{{E00}}-\\u{{E7F}}\\u{{30FB}}\\u{{200C}}\\u{{200D}}{JOINS_AHEAD}]"
        ),
        "l(?:\\u{B7}l)*".to_owned(),
        format!("\\u{{375}}[{greek}]"),
        format!("[{hebrew}][\\u{{5F3}}\\u{{5F4}}]*"),
        format!("\\u{{30FB}}+[{kana_or_han}]"),
        format!("[{devanagari}](?:{virama}[\\u{{200C}}\\u{{200D}}]?)*"),
        format!("[{thai}](?:{below}{tones}[{thai_marks}])*{below}{tones}"),
        format!("(?:[{JOINS_AHEAD}]+\\u{{200C}})*[{JOINS_AHEAD}{JOINS_BACK}]"),
    ];
    format!("(?:{})*", units.join("|"))
}
