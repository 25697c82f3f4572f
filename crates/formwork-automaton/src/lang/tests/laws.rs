//! Random patterns: against the slow matcher, against brute force, and the laws of the algebra.

use std::collections::{BTreeSet, HashSet};

use formwork_grammar::Regex;
use proptest::prelude::*;
use proptest::strategy::Union;

use super::oracle::{matches_all, matches_somewhere};
use super::{after, check_witness, langs};
use crate::char_class::CharClass;
use crate::lang::{Anchor, ByteSet, Lang, LangLimits, LangState, Langs};

fn class() -> impl Strategy<Value = Regex> {
    prop_oneof![
        4 => Just(Regex::literal("a")),
        4 => Just(Regex::literal("b")),
        1 => Just(Regex::literal("é")),
        1 => Just(Regex::Class(vec![('a', 'b')])),
        1 => Just(Regex::Class(vec![('\0', 'a'), ('c', char::MAX)])),
        1 => Just(Regex::Class(vec![('\0', char::MAX)])),
        1 => Just(Regex::Class(Vec::new())),
    ]
}

/// Parts of patterns with loops of many characters.
const PIECES: [&str; 12] = [
    "[^<>]*",
    "[a-z0-9]+",
    "(-[a-z0-9]+)*",
    "([._-][a-z0-9]+)*",
    r"\S+",
    r"( \S+)*",
    ".?",
    "[^.]",
    r"[^ .]+\.?",
    "é",
    r"\w*",
    "[^-]{2}",
];

/// Characters that these tell apart.
const CHARS: [char; 10] = ['a', 'z', '0', '-', '.', ' ', '<', '_', 'é', '€'];

/// Patterns over a small alphabet, with look-around or without.
fn pattern(assertions: bool) -> BoxedStrategy<Regex> {
    let mut leaves = vec![(6, class().boxed()), (1, Just(Regex::Empty).boxed())];
    if assertions {
        leaves.push((1, Just(Regex::Start).boxed()));
        leaves.push((1, Just(Regex::End).boxed()));
        leaves.push((1, any::<bool>().prop_map(|negated| Regex::WordBoundary { negated }).boxed()));
    }
    Union::new_weighted(leaves)
        .prop_recursive(4, 16, 3, move |inner| {
            let repeat = (inner.clone(), 0..4_u32, prop::option::of(0..8_u32)).prop_map(|(node, min, more)| {
                Regex::Repeat { node: Box::new(node), min, max: more.map(|more| min + more) }
            });
            let mut branches = vec![
                (3, prop::collection::vec(inner.clone(), 0..4).prop_map(Regex::Concat).boxed()),
                (2, prop::collection::vec(inner.clone(), 1..4).prop_map(Regex::Alternation).boxed()),
                (2, repeat.boxed()),
            ];
            if assertions {
                let look = (inner, any::<bool>(), any::<bool>()).prop_map(|(node, behind, negated)| Regex::Look {
                    behind,
                    negated,
                    node: Box::new(node),
                });
                branches.push((1, look.boxed()));
            }
            Union::new_weighted(branches)
        })
        .boxed()
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop_oneof![3 => Just('a'), 3 => Just('b'), 1 => Just('é'), 1 => Just('-'), 1 => Just('è')],
        0..9,
    )
    .prop_map(String::from_iter)
}

/// What counted loops repeat.
fn body() -> impl Strategy<Value = Regex> {
    prop::sample::select(vec!["a", "[ab]", "ab", "a|bb", "ab?", "é|a", "a+b", "[^]", "(a|b|é)a?", "(ab*)?"])
        .prop_map(|source| Regex::parse_ecma(source).unwrap())
}

/// All texts of at most `length` characters over a few.
fn all_texts(chars: &[char], length: usize) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut last = all.clone();
    for _ in 0..length {
        last = last.iter().flat_map(|t| chars.iter().map(move |c| format!("{t}{c}"))).collect();
        all.extend_from_slice(&last);
    }
    all
}

fn small() -> Langs {
    Langs::new(b"ab\xC3\xA9".iter().copied().collect(), LangLimits::default())
}

/// Every state that some text of the list leads to.
fn walk(langs: &Langs, lang: Lang, texts: &[String]) -> BTreeSet<LangState> {
    texts.iter().filter_map(|text| after(langs, lang, text.as_bytes())).collect()
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(600))]

    #[test]
    fn agrees_with_the_slow_matcher(regex in pattern(true), texts in prop::collection::vec(text(), 12)) {
        let langs = langs();
        let (Ok(full), Ok(some)) = (langs.regex(&regex, Anchor::Full), langs.regex(&regex, Anchor::Search)) else {
            return Ok(());
        };
        for text in &texts {
            prop_assert_eq!(langs.contains(full, text), matches_all(&regex, text), "full {:?}", text);
            prop_assert_eq!(langs.contains(some, text), matches_somewhere(&regex, text), "search {:?}", text);
        }
        prop_assert_eq!(langs.undecided(), 0);
    }

    #[test]
    fn counted_loops_agree(
        body in body(),
        min in 0..30_u32,
        more in prop::option::of(0..30_u32),
        before in prop::sample::select(vec!["", "a", "a*"]),
        runs in prop::collection::vec((prop::sample::select(vec!["a", "b", "ab", "é"]), 0..25_usize), 12),
    ) {
        let langs = langs();
        let regex = Regex::Concat(vec![
            Regex::parse_ecma(before).unwrap(),
            Regex::Repeat { node: Box::new(body), min, max: more.map(|more| min + more) },
            Regex::literal("b"),
        ]);
        let full = langs.regex(&regex, Anchor::Full).unwrap();
        let some = langs.regex(&regex, Anchor::Search).unwrap();
        for pair in runs.windows(2) {
            let text: String = pair.iter().map(|(part, times)| part.repeat(*times)).collect::<String>() + "b";
            prop_assert_eq!(langs.contains(full, &text), matches_all(&regex, &text), "full {:?}", text);
            prop_assert_eq!(langs.contains(some, &text), matches_somewhere(&regex, &text), "search {:?}", text);
        }
        for lang in [full, some] {
            check_witness(&langs, langs.start(lang).unwrap());
        }
    }

    #[test]
    fn algebra(a in pattern(true), b in pattern(true), texts in prop::collection::vec(text(), 12)) {
        let langs = langs();
        let (Ok(a), Ok(b)) = (langs.regex(&a, Anchor::Search), langs.regex(&b, Anchor::Full)) else { return Ok(()) };
        for text in &texts {
            let (in_a, in_b) = (langs.contains(a, text), langs.contains(b, text));
            prop_assert_eq!(langs.contains(langs.and(a, b), text), in_a && in_b);
            prop_assert_eq!(langs.contains(langs.or(a, b), text), in_a || in_b);
            prop_assert_eq!(langs.contains(langs.not(a), text), !in_a);
            prop_assert_eq!(langs.contains(langs.minus(a, b), text), in_a && !in_b);
        }
        prop_assert!(langs.is_empty(langs.and(a, langs.not(a))));
        prop_assert_eq!(langs.is_disjoint(a, b), langs.is_empty(langs.and(b, a)));
        prop_assert!(langs.is_empty(langs.minus(langs.and(a, b), a)));
        prop_assert!(langs.is_empty(langs.and(langs.not(langs.or(a, b)), a)));
        prop_assert_eq!(langs.undecided(), 0);
    }

    #[test]
    fn live_states_have_witnesses_and_dead_ones_none(a in pattern(true), b in pattern(true)) {
        let langs = small();
        let (Ok(a), Ok(b)) = (langs.regex(&a, Anchor::Search), langs.regex(&b, Anchor::Full)) else { return Ok(()) };
        let lang = langs.minus(a, b);
        let accepted: HashSet<String> =
            all_texts(&['a', 'b', 'é'], 5).into_iter().filter(|t| langs.contains(lang, t)).collect();
        for text in all_texts(&['a', 'b', 'é'], 3) {
            match after(&langs, lang, text.as_bytes()) {
                Some(s) => {
                    check_witness(&langs, s);
                    let nearest = accepted.iter().filter(|t| t.starts_with(&text)).map(|t| t.len() - text.len()).min();
                    if let Some(nearest) = nearest {
                        prop_assert!(langs.shortest(s) as usize <= nearest);
                        let chars = accepted
                            .iter()
                            .filter_map(|t| t.strip_prefix(&text))
                            .map(|t| t.chars().count())
                            .min();
                        prop_assert_eq!(Some(langs.chars_to_accept(s) as usize), chars);
                    } else {
                        prop_assert!(langs.chars_to_accept(s) > 2);
                    }
                }
                None => prop_assert!(!accepted.iter().any(|t| t.starts_with(&text)), "{:?} was dead", text),
            }
        }
    }
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn length_windows(a in pattern(true), b in pattern(false)) {
        let langs = small();
        let (Ok(a), Ok(b)) = (langs.regex(&a, Anchor::Search), langs.regex(&b, Anchor::Full)) else { return Ok(()) };
        for lang in [b, langs.minus(b, a)] {
            for s in walk(&langs, lang, &all_texts(&['a', 'b', 'é'], 2)) {
                let lengths: BTreeSet<u32> = all_texts(&['a', 'b', 'é'], 5)
                    .iter()
                    .filter(|t| t.bytes().try_fold(s, |s, b| langs.step(s, b)).is_some_and(|s| langs.is_accepting(s)))
                    .map(|t| u32::try_from(t.chars().count()).unwrap())
                    .collect();
                for min in 0..5 {
                    for max in min..5 {
                        let expected = lengths.range(min..=max).next().is_some();
                        prop_assert_eq!(langs.can_finish(s, min, Some(max)), expected, "{}..={} of {:?}", min, max, lengths);
                        let found = langs.completion(s, min, Some(max));
                        prop_assert_eq!(found.is_some(), expected);
                        if let Some(bytes) = found {
                            let text = String::from_utf8(bytes).unwrap();
                            prop_assert!((min..=max).contains(&u32::try_from(text.chars().count()).unwrap()));
                            let end = text.bytes().try_fold(s, |s, b| langs.step(s, b));
                            prop_assert!(end.is_some_and(|s| langs.is_accepting(s)));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn counts(a in pattern(true), b in pattern(true)) {
        let langs = small();
        let (Ok(a), Ok(b)) = (langs.regex(&a, Anchor::Search), langs.regex(&b, Anchor::Full)) else { return Ok(()) };
        let short = langs.regex(&Regex::Repeat { node: Box::new(Regex::Class(vec![('\0', char::MAX)])), min: 0, max: Some(4) }, Anchor::Full).unwrap();
        let lang = langs.and(langs.minus(a, b), short);
        let expected = all_texts(&['a', 'b', 'é'], 4).iter().filter(|t| langs.contains(lang, t)).count() as u64;
        let found = langs.start(lang).map_or(0, |s| langs.count(s, 1 << 40));
        prop_assert_eq!(found, expected);
        if let Some(s) = langs.start(lang) {
            prop_assert_eq!(langs.count(s, 3), expected.min(3));
        }
    }

    #[test]
    fn safe_characters(a in pattern(true), b in pattern(true)) {
        let langs = langs();
        let (Ok(a), Ok(b)) = (langs.regex(&a, Anchor::Search), langs.regex(&b, Anchor::Full)) else { return Ok(()) };
        for lang in [a, b, langs.and(a, langs.not(b))] {
            let Some(s) = langs.start(lang) else { continue };
            for class in [CharClass::Digit, CharClass::Lower] {
                let some: Vec<char> = "059abcz".chars().filter(|c| class.contains(*c)).collect();
                let texts = all_texts(&some, 4);
                let live = |n: usize| {
                    texts.iter().filter(|t| t.len() == n).all(|t| t.bytes().try_fold(s, |s, b| langs.step(s, b)).is_some())
                };
                let depth = (1..=4).take_while(|&n| live(n)).count();
                // The sample stands for the class: patterns tell `a`, `b` and the others apart.
                let safe = langs.safe_chars(s, class) as usize;
                prop_assert_eq!(safe.min(4), depth, "{:?}", class);
            }
        }
    }

    #[test]
    fn loops_read_what_they_say(
        pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 1..4),
        ends in any::<[bool; 2]>(),
        before in prop::collection::vec(prop::sample::select(&CHARS[..]), 0..3),
        picks in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 0..6),
    ) {
        let [start, end] = ends;
        let source = format!("{}{}{}", if start { "^" } else { "" }, pieces.concat(), if end { "$" } else { "" });
        let langs = langs();
        let lang = super::search(&langs, &source);
        let before: String = before.into_iter().collect();
        let Some(s) = after(&langs, lang, before.as_bytes()) else { return Ok(()) };
        let Some(found) = langs.char_loop(s, false) else { return Ok(()) };
        let of = |set: &ByteSet| -> Vec<char> {
            let is_in = |c: &char| set.contains(u8::try_from(*c).unwrap_or(0xFF));
            (' '..='\u{7f}').chain(['é', '€', '😀']).filter(is_in).collect()
        };
        let (inside, apart) = (of(&found.inside), of(&found.apart));
        let mut text = String::new();
        let mut parted = false;
        for (pick, apart_if_any) in picks {
            let parts = apart_if_any && !parted && !apart.is_empty();
            parted |= parts;
            let from = if parts { &apart } else { &inside };
            text.push(*pick.get(from));
        }
        let at = text.bytes().try_fold(s, |s, byte| langs.step(s, byte));
        prop_assert!(at.is_some(), "{}: {:?} after {:?}", source, text, before);
        for c in (0..=0x7F_u8).map(char::from).chain(['é', '€', '😀']) {
            let byte = u8::try_from(c).ok().filter(u8::is_ascii).unwrap_or(0xFF);
            let live = at.and_then(|at| c.to_string().bytes().try_fold(at, |s, byte| langs.step(s, byte))).is_some();
            let is_inside = found.inside.contains(byte);
            prop_assert!(live || !is_inside, "{}: {:?} then {:?}", source, text, c);
            prop_assert!(!live || is_inside || found.exits.contains(byte), "{}: {:?} then {:?}", source, text, c);
        }
    }

    #[test]
    fn dialect_of_the_regex_crate(source in "[ab(é|)*+?.^$\\[\\]{}1,2\\\\wdbB-]{1,12}", texts in prop::collection::vec(text(), 12)) {
        let Ok(oracle) = regex_automata::meta::Regex::new(&source) else { return Ok(()) };
        let Ok(regex) = Regex::parse_rust(&source) else { return Err(TestCaseError::fail(source)) };
        let langs = langs();
        let lang = langs.regex(&regex, Anchor::Search).unwrap();
        for text in &texts {
            prop_assert_eq!(langs.contains(lang, text), oracle.is_match(text), "{:?} on {:?}", source, text);
        }
    }
}

#[test]
fn threads_share_one_store() {
    let langs = langs();
    let lang = super::search(&langs, r"^(\S+\s){2,30}x?[^q]*$");
    let texts: Vec<String> = (0..200).map(|i| format!("{} b{i} c é{i} ", "ab".repeat(1 + i % 7))).collect();
    std::thread::scope(|scope| {
        for part in texts.chunks(50) {
            scope.spawn(|| part.iter().for_each(|text| assert!(langs.contains(lang, text))));
        }
    });
}
