//! What the two dialects read, and what they refuse with which code and place.

use super::Regex;

fn ecma(pattern: &str) -> Regex {
    Regex::parse_ecma(pattern).unwrap_or_else(|e| panic!("{pattern}: {e}"))
}

fn refused(pattern: &str, code: &str, offset: usize) {
    let error = Regex::parse_ecma(pattern).expect_err(pattern);
    assert_eq!((error.code(), error.offset()), (code, offset), "{pattern}: {error}");
}

#[test]
fn the_tree() {
    assert_eq!(ecma(""), Regex::Empty);
    assert_eq!(ecma("ab"), Regex::literal("ab"));
    assert_eq!(ecma("a|"), Regex::Alternation(vec![Regex::literal("a"), Regex::Empty]));
    assert_eq!(ecma("(?:a)"), ecma("(?<name>a)"));
    assert_eq!(ecma("a+?"), ecma("a{1,}"));
    assert_eq!(ecma("a{3}"), ecma("a{3,3}"));
    assert_eq!(ecma("[^]"), Regex::Class(vec![('\0', char::MAX)]));
    assert_eq!(ecma("[]"), Regex::Class(Vec::new()));
    assert_eq!(ecma("[^\\W]"), ecma("\\w"));
    assert_eq!(ecma("(?<!a)"), Regex::look(true, true, Regex::literal("a")));
}

#[test]
fn what_authors_rely_on() {
    assert_eq!(ecma(r"\-\_\@\#\%\ \/\'\:\~\=\!"), Regex::literal("-_@#% /':~=!"));
    assert_eq!(ecma("{}]"), Regex::literal("{}]"));
    assert_eq!(ecma("a{,3}"), Regex::literal("a{,3}"));
    assert_eq!(ecma("a{x"), Regex::literal("a{x"));
    assert_eq!(ecma(r"[\w-z]"), ecma("[0-9A-Z_a-z-]"));
    assert_eq!(ecma("[a-]"), ecma("[-a]"));
    assert_eq!(ecma(r"\uD83D\uDE00"), ecma(r"\u{1F600}"));
    assert_eq!(ecma(r"\uD83D"), Regex::Class(Vec::new()));
    assert_eq!(ecma(r"\cJ\x41\0"), Regex::literal("\nA\0"));
    assert_eq!(ecma(r"[\b]"), Regex::literal("\u{8}"));
    assert_eq!(ecma(r"\p{gc=Lu}"), ecma(r"\p{Lu}"));
    assert_eq!(ecma(r"\p{sc=Grek}"), ecma(r"\p{Script=Greek}"));
    assert_eq!(ecma(r"\P{ASCII}"), ecma(r"[^\0-\x7f]"));
    assert_eq!(ecma("(?=a)*"), Regex::Repeat { node: Box::new(ecma("(?=a)")), min: 0, max: None });
}

#[test]
fn what_is_refused() {
    refused("a(b", "regex_syntax", 1);
    refused("a)", "regex_syntax", 1);
    refused("[a", "regex_syntax", 0);
    refused("x[z-a]", "regex_syntax", 2);
    refused("*a", "regex_syntax", 0);
    refused("a**", "regex_syntax", 2);
    refused("^*", "regex_syntax", 1);
    refused("{2}", "regex_syntax", 0);
    refused("a{3,2}", "regex_syntax", 1);
    refused(r"a\", "regex_syntax", 1);
    refused(r"\Z", "regex_syntax", 0);
    refused(r"é\a", "regex_syntax", 2);
    refused(r"\xZ", "regex_syntax", 0);
    refused(r"\u{110000}", "regex_syntax", 0);
    refused(r"\p{Nonsense}", "regex_syntax", 0);
    refused(r"\01", "regex_syntax", 0);
    refused(r"(a)\1", "regex_back_reference", 3);
    refused(r"(?<n>a)\k<n>", "regex_back_reference", 7);
    refused("(?i:a)", "regex_unsupported", 0);
    refused("a{9999999}", "regex_limit", 1);
    refused(&"(".repeat(100_000), "regex_limit", 200);
}

#[test]
fn the_regex_crates_dialect() {
    let rust = |pattern: &str| Regex::parse_rust(pattern).unwrap_or_else(|e| panic!("{pattern}: {e}"));
    assert_eq!(rust("(?x) a b # c"), Regex::literal("ab"));
    assert_eq!(rust(r"[[:digit:]]"), ecma("[0-9]"));
    assert_eq!(rust("^a$"), ecma("^a$"));
    assert!(matches!(rust(r"\b"), Regex::Alternation(_)));
    assert_eq!(rust(r"(?-u:\b)"), Regex::WordBoundary { negated: false });
    assert_eq!(Regex::parse_rust(r"(?=a)").unwrap_err().code(), "regex_unsupported");
    assert_eq!(Regex::parse_rust(r"(a)\1").unwrap_err().code(), "regex_back_reference");
    assert_eq!(Regex::parse_rust("a(").unwrap_err().offset(), 1);
    assert!(Regex::parse_rust(&"(".repeat(10_000)).is_err());
}
