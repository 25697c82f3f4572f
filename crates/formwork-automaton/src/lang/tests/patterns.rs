//! Patterns with the texts they accept and reject.

use formwork_grammar::Regex;

use super::{after, check, check_lang, check_witness, langs, search};
use crate::char_class::CharClass;
use crate::lang::{Anchor, ByteSet, LangLimits, Langs};

#[test]
fn anchors() {
    check("abc", &["abc", "xabcx", "abcabc"], &["", "ab", "acb"]);
    check("^abc$", &["abc"], &["", "xabc", "abcx", "abc\n"]);
    check("^abc", &["abc", "abcd"], &["xabc"]);
    check("abc$", &["abc", "xabc"], &["abcx"]);
    check("^a|b$", &["a", "ax", "b", "xb"], &["", "xa", "bx"]);
    check("(^a|b)c", &["ac", "bc", "xbc"], &["xac"]);
    check("a^b", &[], &["ab", "a", "b"]);
    check("(a|^)b(c|$)", &["b", "ab", "bc", "xabcx"], &["xb", "bx"]);
    check("^$", &[""], &["a"]);
    check("$^", &[""], &["a"]);
    check("(^$|a)b", &["ab"], &["", "b"]);
    check("", &["", "a"], &[]);
    check("x*", &["", "a"], &[]);
    check("[]", &[], &["", "a"]);
    check("^[^]$", &["a", "\n", "é", "😀"], &["", "ab"]);
}

#[test]
fn classes_are_ecma() {
    check(r"^\d$", &["0", "9"], &["०", "a"]);
    check(r"^\w$", &["a", "_", "Z"], &["é", "-"]);
    check(r"^\s$", &[" ", "\u{FEFF}", "\u{A0}", "\u{2028}", "\u{3000}", "\n"], &["\u{200B}", "a", "\u{85}"]);
    check(r"^.$", &["a", "\u{85}", "😀"], &["\n", "\r", "\u{2028}", "\u{2029}", ""]);
    check(r"^\p{Lu}\P{Lu}$", &["Éa"], &["aé", "ÉÉ"]);
    check(r"^\p{Script=Greek}+$", &["αβγ"], &["abc"]);
    check(r"^[\p{L}\p{N}_-]+$", &["añ-9"], &["a b"]);
    check(r"^\u{1F600}\uD83D\uDE00$", &["😀😀"], &["😀"]);
    check(r"^[\uD83D\uDE00-\u{1F610}]$", &["😀", "😐"], &["x"]);
    check(r"^\uD83D$", &[], &["😀", "\u{FFFD}"]);
    check(r"^[\0-\x1f\cA]$", &["\0", "\u{1f}", "\u{1}"], &[" "]);
    check(r"^[a\-z]$", &["a", "-", "z"], &["b"]);
    check(r"^[\w-.]$", &["a", "-", "."], &["+"]);
    check(r"^\-\_\@\#\%\ \/\'$", &["-_@#% /'"], &[]);
    check(r"^{}]a{,2}$", &["{}]a{,2}"], &["aa"]);
}

#[test]
fn repeats() {
    check("^a{2,3}$", &["aa", "aaa"], &["a", "aaaa"]);
    check("^(ab?){2,}$", &["aa", "abab", "aba"], &["a", "ab", "b"]);
    check("^(a?){3,5}$", &["", "a", "aaaaa"], &["aaaaaa"]);
    check("^(a|b*)*c{0}$", &["", "abba"], &["c"]);
    let fifty = "é".repeat(50);
    check(r"^.{50,2000}$", &[&fifty, &"x".repeat(2000)], &[&"x".repeat(49), &"x".repeat(2001)]);
    check(r"^\w{1,255}-x$", &["a-x", &format!("{}-x", "a".repeat(255))], &["-x", &format!("{}-x", "a".repeat(256))]);
    check(
        r"a\w{40,60}b",
        &[&format!("a{}b", "b".repeat(50)), &format!("aa{}b", "c".repeat(60))],
        &[&format!("a{}b", "c".repeat(61)), &format!("a{}b", "c".repeat(39))],
    );
    check(r"^(\S+\s+){0,199}\S+$", &["a b c"], &[" a", "a "]);
    check("^(a{2,40}b){2,100}$", &["aabaab", "aaaaabaab"], &["aab", "abaab"]);
    check(
        "^([a-z]{30,}[0-9]){3}$",
        &[&format!("{0}1{0}2{0}3", "q".repeat(31))],
        &[&format!("{0}1{0}2{0}3", "q".repeat(29))],
    );
}

#[test]
fn look_around() {
    check("^(?!foo)bar.*", &["bar", "barfoo"], &["foo", "foobar", "xbar"]);
    check("^(?!foo).*$", &["bar", "fo", ""], &["foo", "foobar"]);
    check(r"^(?=.*\d)(?=.*[a-z])(?=.*[A-Z]).{4,8}$", &["aB3x", "xxxxB3a"], &["aB3", "abcd", "aB3456789"]);
    check(r"^(?!.*--)[a-z-]+$", &["a-b-c"], &["a--b", "A"]);
    check(r"^(?!-)[a-z-]{1,63}(?<!-)$", &["a", "a-b"], &["-a", "a-", "-"]);
    check(r"foo(?!bar)", &["foo", "foobaz", "foobarfoo"], &["foobar"]);
    check(r"(?<!\d)\d{3}(?!\d)", &["123", "a123b", "1234 567"], &["1234", "12"]);
    check(r"(?<=^|,)x", &["x", "a,x"], &["ax"]);
    check(r"^((?!ab).)*$", &["", "aab".get(..1).unwrap(), "ba", "bbb"], &["ab", "xxabxx"]);
    check(r"^(?:(?=a)\w|b)*$", &["abab"], &["c", "abc"]);
    check(r"\bfoo\b", &["foo", "a foo b", "foo.", ",foo"], &["foobar", "xfoo", "fo"]);
    check(r"^\b\w+\b$", &["abc"], &["", "a b", " a"]);
    check(r"\Boo\B", &["foox"], &["foo", "oox"]);
    check(r"^(?!$)", &["a"], &[""]);
    check(r"^(?=a|$)", &["", "ab"], &["b"]);
    check(r"^.*(?<=abc)$", &["abc", "xabc"], &["ab", "abcd"]);
    check(r"a$(?<!ba)", &["a", "ca"], &["ba", "ab"]);
    check(r"(?<=\bfoo)d", &["food", " food"], &["xfood"]);
    check(r"^(?=.{5,10}$)[a-z]+(-[a-z]+)*$", &["abc-d", "abcdefghij"], &["abcd", "abcdefghijk", "-abcd"]);
    check(r"^(?!(?:a|b)$)", &["", "ab", "c"], &["a", "b"]);
    let langs = langs();
    for refused in ["(?<=a(?=b))", r"(?<=a\b)", "(?<=a$)"] {
        let error = langs.regex(&Regex::parse_ecma(refused).unwrap(), Anchor::Search).unwrap_err();
        assert_eq!(error.code(), "regex_lookaround", "{refused}");
    }
}

#[test]
fn states_die_at_once() {
    let langs = langs();
    let word = search(&langs, "^(foo|fob)$");
    assert!(after(&langs, word, b"fo").is_some());
    assert!(after(&langs, word, b"fa").is_none());
    let contradiction = langs.and(search(&langs, "^[a-c]+$"), search(&langs, "[^a-c]"));
    assert!(langs.is_empty(contradiction));
    let ends = langs.and(search(&langs, "^[ab]*a$"), search(&langs, "^[ab]*b$"));
    assert!(langs.is_empty(ends));
    // `x` can't be followed by anything that both want.
    let both = langs.and(search(&langs, "^(x1|y2)$"), search(&langs, "^(x2|y2)$"));
    assert!(after(&langs, both, b"x").is_none());
    assert!(after(&langs, both, b"y").is_some());
    assert_eq!(langs.undecided(), 0);
}

#[test]
fn bytes_outside_the_alphabet_are_gone_before_liveness() {
    let mut alphabet = ByteSet::all();
    alphabet.remove(b'b');
    alphabet.remove(0xA9);
    let langs = Langs::new(alphabet, LangLimits::default());
    assert!(langs.is_empty(search(&langs, "^abc$")));
    let e = search(&langs, "^[é-ê]$");
    assert!(!langs.contains(e, "é") && langs.contains(e, "ê"));
    assert!(langs.is_empty(search(&langs, "^é$")));
    let some = search(&langs, "^(ab|ac)$");
    assert_eq!(langs.count(langs.start(some).unwrap(), 10), 1);
    assert!(langs.is_empty(langs.literals(["b", "ab"])));
    let not_a = langs.not(langs.literals(["a"]));
    assert!(after(&langs, not_a, b"b").is_none() && after(&langs, not_a, b"a").is_some());
}

#[test]
fn literals_stay_finite_sets() {
    let langs = langs();
    let set = langs.literals(["red", "green", "blue", "grey", "red"]);
    check_lang(&langs, set, "colours", &["red", "grey"], &["", "re", "redd", "gre"]);
    let texts = langs.literal_set(set).unwrap();
    assert_eq!(texts.iter().collect::<Vec<_>>(), ["blue", "green", "grey", "red"]);
    let with_g = langs.and(set, search(&langs, "^g"));
    assert_eq!(langs.literal_set(with_g).unwrap().len(), 2);
    let rest = langs.minus(set, with_g);
    assert_eq!(langs.literal_set(rest).unwrap().iter().collect::<Vec<_>>(), ["blue", "red"]);
    assert!(langs.is_disjoint(rest, with_g));
    assert_eq!(langs.or(rest, with_g), set);
    let start = langs.start(set).unwrap();
    assert_eq!((langs.shortest(start), langs.chars_to_accept(start), langs.count(start, 100)), (3, 3, 4));
    let g = langs.step(start, b'g').unwrap();
    assert_eq!((langs.shortest(g), langs.count(g, 1)), (3, 1));
    check_witness(&langs, g);
}

#[test]
fn a_hundred_thousand_literals() {
    let langs = langs();
    let texts: Vec<String> = (0..100_000).map(|i| format!("key-{i:x}-{}", i * 7919 % 1000)).collect();
    let set = langs.literals(texts.iter().map(String::as_str));
    assert!(langs.contains(set, &texts[77_777]));
    assert!(!langs.contains(set, "key-"));
    assert_eq!(langs.count(langs.start(set).unwrap(), 1 << 20), 100_000);
}

#[test]
fn distances_and_windows() {
    let langs = langs();
    let s = langs.start(search(&langs, r"^(aé|bbb)+$")).unwrap();
    assert_eq!((langs.shortest(s), langs.chars_to_accept(s)), (3, 2));
    let e = langs.step(langs.step(s, b'a').unwrap(), 0xC3).unwrap();
    assert!(!langs.at_char_boundary(e));
    assert_eq!((langs.shortest(e), langs.chars_to_accept(e)), (1, 0));
    assert!(langs.can_finish(e, 0, Some(0)));
    assert!(!langs.can_finish(e, 1, Some(1)));
    assert!(langs.can_finish(e, 2, Some(2)));
    let even = langs.start(search(&langs, "^(aa)*$")).unwrap();
    assert!(langs.can_finish(even, 7, None) && langs.can_finish(even, 7, Some(8)));
    assert!(!langs.can_finish(even, 7, Some(7)));
    assert!(!langs.can_finish(even, 100_001, Some(100_001)));
    assert_eq!(langs.completion(even, 5, Some(9)).unwrap(), b"aaaaaa");
    let free = langs.start(langs.any()).unwrap();
    assert!(langs.can_finish(free, 1000, Some(1000)));
    assert_eq!(langs.completion(free, 3, None).unwrap(), b"aaa");
    let bounded = langs.start(search(&langs, "^.{0,2000}$")).unwrap();
    assert!(langs.can_finish(bounded, 2000, None) && !langs.can_finish(bounded, 2001, None));
}

#[test]
fn safe_characters() {
    let langs = langs();
    let safe = |pattern: &str, class| langs.safe_chars(langs.start(search(&langs, pattern)).unwrap(), class);
    assert_eq!(safe("a", CharClass::Text), u32::MAX);
    assert_eq!(safe("^[a-z]+$", CharClass::Lower), u32::MAX);
    assert_eq!(safe("^[a-z]+$", CharClass::Alnum), 0);
    assert_eq!(safe("^[a-z]{3,5}$", CharClass::Lower), 5);
    assert_eq!(safe(r"^[^\n]*$", CharClass::Text), u32::MAX);
    assert_eq!(safe(r"^[a-zé]*$", CharClass::Text), 0);
    assert_eq!(safe("^.{0,2000}$", CharClass::Ascii), 16);
    assert_eq!(langs.safe_chars(langs.start(langs.any()).unwrap(), CharClass::Text), u32::MAX);
    assert_eq!(langs.safe_chars(langs.start(langs.not(langs.literals(["aa"]))).unwrap(), CharClass::Text), u32::MAX);
}

#[test]
fn universal_once_found() {
    let langs = langs();
    let found = search(&langs, "ab");
    assert!(langs.is_universal(after(&langs, found, b"xxab").unwrap()));
    assert!(!langs.is_universal(after(&langs, found, b"xxa").unwrap()));
    assert!(langs.is_universal(after(&langs, search(&langs, r"^a[\s\S]*$"), b"a").unwrap()));
    let not_a = langs.not(search(&langs, "^a"));
    assert!(langs.is_universal(after(&langs, not_a, b"b").unwrap()));
}

#[test]
fn too_large_patterns_are_refused() {
    let langs = langs();
    let regex = Regex::parse_ecma("((a{1,500}b){1,500}c){1,500}").unwrap();
    assert_eq!(langs.regex(&regex, Anchor::Full).unwrap_err().code(), "regex_too_large");
    assert!(Regex::parse_ecma(&"(".repeat(10_000)).is_err());
}

#[test]
fn equal_patterns_are_one() {
    let langs = langs();
    assert_eq!(search(&langs, "a+b"), search(&langs, "a+b"));
    let (a, b) = (search(&langs, "^a"), search(&langs, "b$"));
    assert_eq!(langs.and(a, b), langs.and(b, a));
    assert_eq!(langs.or(a, langs.not(a)), langs.any());
    assert_eq!(langs.and(a, langs.not(a)), langs.none());
}
