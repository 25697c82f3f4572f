//! Numbers against brute force: every prefix, every text, every value of a small range.

use std::collections::{HashMap, HashSet};

use formwork_grammar::{Bound, Decimal, NumberRules, Numbers, SchemaOptions, schema_from_value};
use proptest::prelude::*;
use serde_json::json;

use super::atom::NumberAtom;
use super::rules::Rules;
use super::track::{Mantissa, Part};
use super::values::values;
use crate::automaton::{Automaton, State};
use crate::frames::{FrameId, Frames};
use crate::json::{JsonAutomaton, Situation, Spelling};

fn d(text: &str) -> Decimal {
    Decimal::parse(text).unwrap()
}

fn atom(min: Option<&str>, max: Option<&str>, integer: bool, multiple: Option<&str>, not: &[&str]) -> NumberAtom {
    let bound = |text: &str| match text.strip_prefix('>') {
        Some(value) => Bound { value: d(value), exclusive: true },
        None => Bound { value: d(text), exclusive: false },
    };
    let rules =
        NumberRules { min: min.map(bound), max: max.map(bound), multiple_of: multiple.map(d), written_integer: false };
    not.iter().fold(NumberAtom::of_rules(&rules, integer), |atom, unit| {
        let other = NumberAtom { not_multiples: Box::new([d(unit)]), ..NumberAtom::default() };
        atom.meet(&other).unwrap()
    })
}

/// What is left after a prefix; `None` where it is dead.
fn read(rules: &Rules, text: &str) -> Option<Part> {
    let (negative, rest) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let mut part = Part::Mantissa(Mantissa::start(rules, negative)?);
    for byte in rest.bytes() {
        if !part.is_live(rules) {
            return None;
        }
        part = part.step(rules, byte)?;
    }
    part.is_live(rules).then_some(part)
}

fn accepts(rules: &Rules, text: &str) -> bool {
    read(rules, text).is_some_and(|track| track.accepts(rules))
}

/// The rest that finishes a live prefix, and that it does.
fn finish(rules: &Rules, text: &str) -> String {
    let track = read(rules, text).unwrap_or_else(|| panic!("{text} is dead"));
    let rest = String::from_utf8(track.rest(rules).unwrap_or_else(|| panic!("{text} has no rest"))).unwrap();
    let whole = format!("{text}{rest}");
    assert!(accepts(rules, &whole), "{text} is finished as {whole}");
    rest
}

fn rules(atom: &NumberAtom, numbers: Numbers) -> Rules {
    Rules::new(atom, numbers, 20)
}

fn check(atom: &NumberAtom, numbers: Numbers, good: &[&str], bad: &[&str], dead: &[&str]) {
    let rules = rules(atom, numbers);
    for text in good {
        assert!(accepts(&rules, text), "{atom:?} {text}");
        assert!(atom.holds(&d(text)), "{atom:?} {text}");
        for at in 1..text.len() {
            finish(&rules, &text[..at]);
        }
    }
    for text in bad {
        assert!(!accepts(&rules, text), "{atom:?} {text}");
    }
    for text in dead {
        assert!(read(&rules, text).is_none(), "{atom:?} {text}");
        assert!(text.len() == 1 || read(&rules, &text[..text.len() - 1]).is_some(), "{atom:?} {text} dies earlier");
    }
}

#[test]
fn multiples_of_decimals() {
    let cents = atom(None, None, false, Some("0.01"), &[]);
    check(&cents, Numbers::Plain, &["0.07", "1.10", "12", "-3.14", "0", "-0.0", "0.070"], &["0.001"], &["0.071", "1e"]);
    let tiny = atom(None, None, false, Some("1e-8"), &[]);
    check(&tiny, Numbers::Plain, &["0.00000001", "7", "0.0000000100"], &[], &["0.000000001"]);
    let large = atom(None, None, false, Some("123456789"), &[]);
    check(
        &large,
        Numbers::Plain,
        &["123456789", "0", "-246913578", "123456789.0", "0.00"],
        &["1", "12345678"],
        &["0.1"],
    );
    let none = atom(Some("1"), Some("6"), false, Some("7"), &[]);
    check(&none, Numbers::Plain, &[], &[], &["1", "6", "0", "-"]);
    let zero = atom(Some("-1"), Some("6"), false, Some("7"), &[]);
    check(&zero, Numbers::Plain, &["0", "-0", "0.000", "-0.0"], &[], &["1", "6", "-1", "0.1"]);
    let quarter = atom(None, None, false, Some("0.25"), &[]);
    check(&quarter, Numbers::Plain, &["0.5", "1.75", "3", "2.250"], &["1.7", "0.2"], &["0.3", "1.1", "0.255"]);
}

#[test]
fn integers_by_value_and_by_spelling() {
    let typed = atom(None, None, true, None, &[]);
    check(&typed, Numbers::Plain, &["0", "-7"], &["-", "-0"], &["1.", "-0", "1e", "01"]);
    let ones = atom(None, None, false, Some("1"), &[]);
    check(&ones, Numbers::Plain, &["0", "1.0", "-0", "-7.000"], &["1."], &["1.1", "1e"]);
    let any = ["0", "-0", "1.0", "1e2", "1E+2", "100e-2", "1.5e1", "0e-9", "-0.0E0", "1e-0", "1e002"];
    check(&typed, Numbers::Any, &any, &["1.5", "1e-1", "15e-1", "10e-2"], &["1e-1", "10e-2", "1e0002", "1e309"]);
    let broken = atom(None, None, false, None, &["1"]);
    check(&broken, Numbers::Plain, &["0.5", "-1.01"], &["0", "1", "1.0", "-0.0"], &[]);
    check(&broken, Numbers::Any, &["5e-1", "10.5E0", "1e-9"], &["50e-1", "0e0"], &["0e", "1e1", "1e+"]);
}

#[test]
fn exponents_within_bounds() {
    let range = atom(Some("150"), Some("250"), false, None, &[]);
    check(&range, Numbers::Any, &["2e2", "1.5e2", "25E1", "20000e-2", "0.02e4", "250.0"], &["3e2", "1.4e2"], &[]);
    check(&range, Numbers::Any, &[], &[], &["2e1", "3", "251", "0e", "-"]);
    let small = atom(Some(">0"), Some(">1e-30"), false, None, &[]);
    check(&small, Numbers::Any, &["1e-31", "0.5e-30", "1e-276"], &["0", "1e-30"], &["0e", "1e+"]);
    let thousands = atom(None, None, true, Some("1000"), &[]);
    check(&thousands, Numbers::Any, &["1e3", "5000", "5000.0", "50000000E-4", "0"], &["1e2"], &["2e-"]);
    let free = atom(None, None, false, None, &[]);
    let good = ["1e5", "-1E-7", "0.5e+280", "1e0"];
    check(&free, Numbers::Plain, &good, &["1e", "1."], &["1e281", "1e999", "e", "1.e"]);
    check(&free, Numbers::Any, &good, &["1e", "1."], &["1e309", "1e999", "e", "1.e"]);
    check(&free, Numbers::Any, &["1e308", "-1.7e308", "17e307"], &[], &["1.8e308", "19e307"]);
}

#[test]
fn bounds_near_the_largest_float_hold() {
    let one = format!("1{}", "0".repeat(308));
    let more = format!("12{}", "0".repeat(307));
    let highest = atom(None, Some("1e308"), false, None, &[]);
    check(&highest, Numbers::Any, &["1e308", "9e307", "-1.7e308"], &["1.2e308", "11e307"], &[]);
    let only = atom(Some("1e308"), Some("1e308"), false, None, &[]);
    check(&only, Numbers::Plain, &[&one], &[&more, "1e308"], &[]);
    check(&only, Numbers::Any, &["1e308"], &["1.2e308"], &[]);
    let below = atom(Some("-1.5e308"), Some("-1e308"), true, None, &[]);
    check(&below, Numbers::Plain, &[&format!("-{one}"), &format!("-{more}")], &[&one], &[]);
    check(&below, Numbers::Any, &["-1e308", "-1.5e308"], &["-1.6e308", "-9e307"], &[]);
}

#[test]
fn negations_leave_what_is_between() {
    let odd = atom(Some("0"), Some("9"), true, None, &["2"]);
    check(&odd, Numbers::Plain, &["1", "9"], &["0", "2"], &["0", "2", "10"]);
    let nothing = atom(None, None, true, None, &["1"]);
    assert!(read(&rules(&nothing, Numbers::Plain), "").is_none());
    assert!(read(&rules(&nothing, Numbers::Any), "").is_none());
    let rough = atom(Some("10"), Some("20"), true, None, &["2", "3", "5", "7"]);
    check(&rough, Numbers::Plain, &["11", "13", "17", "19"], &["10", "12"], &["10", "12", "14", "15", "16", "18", "2"]);
    let not_zero = atom(Some("-1"), Some("1"), true, None, &["1e500"]);
    check(&not_zero, Numbers::Plain, &["1", "-1"], &[], &["0", "-0"]);
}

#[test]
fn shortest_rests() {
    let cases = [
        (atom(Some("1000"), None, true, None, &[]), Numbers::Plain, "1", "000"),
        (atom(Some("1000"), None, true, None, &[]), Numbers::Any, "1", "e3"),
        (atom(Some("1.25"), Some("1.5"), false, None, &[]), Numbers::Plain, "1", ".3"),
        (atom(None, None, false, Some("7"), &[]), Numbers::Plain, "3", "5"),
        (atom(None, None, false, Some("1e20"), &[]), Numbers::Plain, "3", "00000000000000000000"),
        (atom(None, None, false, Some("1e20"), &[]), Numbers::Any, "3", "e20"),
        (atom(None, None, true, None, &[]), Numbers::Any, "3.5", "e1"),
        (atom(None, Some("1"), false, None, &[]), Numbers::Any, "31", "e-2"),
    ];
    for (atom, numbers, text, rest) in cases {
        assert_eq!(finish(&rules(&atom, numbers), text), rest, "{atom:?} {text}");
    }
}

#[test]
fn numbers_stay_finite_floats() {
    for (min, multiple) in [("1e307", None), ("5e299", Some("3")), ("0", Some("1e-250")), ("0", None)] {
        let atom = atom(Some(min), None, false, multiple, &[]);
        for numbers in [Numbers::Plain, Numbers::Any] {
            let rules = rules(&atom, numbers);
            let digits = "9".repeat(usize::from(rules.whole));
            assert!(read(&rules, &format!("{digits}0")).is_none());
            let exponents = rules.exponent.map_or(0, |size| size + 1);
            let texts =
                (0..=exponents).flat_map(|size| [format!("{digits}e{size}"), format!("1e{size}"), format!("2e{size}")]);
            for text in texts.chain([digits.clone()]).filter(|text| accepts(&rules, text)) {
                assert!(text.parse::<f64>().unwrap().is_finite(), "{text}");
            }
        }
    }
}

#[test]
fn memory_is_flat() {
    let options = SchemaOptions::default();
    let schema = schema_from_value(&json!(true), &options).unwrap();
    let automaton = JsonAutomaton::new(schema, &options, Spelling::default()).unwrap();
    // A unit with few residues, and one whose numbers are read as long ones.
    for unit in ["7", "123456789"] {
        let id = automaton.number_atoms.intern(atom(Some("0"), None, true, Some(unit), &[]));
        let rules = automaton.number_rules(id);
        let tracks = |step: usize| {
            for n in (1_000_000_u64..90_000_000).step_by(step) {
                let mut seq = Frames::new();
                let mut state = State { id: 0, a: 0, b: 0, c: 0, frame: FrameId::NONE };
                let text = n.to_string();
                for (at, byte) in text.bytes().enumerate() {
                    let next = if at == 0 {
                        automaton.start_number(&mut seq, &[(0, id)], u16::MAX, byte, state)
                    } else {
                        match automaton.situations.get(state.id) {
                            Situation::Number { alts, active } => automaton.step_number(alts, *active, state, byte),
                            Situation::LongNumber { alts, active } => {
                                automaton.step_long(&mut seq, alts, *active, state, byte)
                            }
                            other => panic!("{other:?}"),
                        }
                    };
                    state = next.unwrap();
                }
                let is_multiple = n % unit.parse::<u64>().unwrap() == 0;
                assert_eq!(automaton.is_accepting(&seq, state), is_multiple);
                let rest = automaton.complete(&seq, state);
                assert_eq!(String::from_utf8(rest).unwrap(), finish(&rules, &text));
            }
            (automaton.number_tracks.len(), automaton.situations.len())
        };
        let some = tracks(10_007);
        assert_eq!(tracks(9_973), some);
    }
}

/// Numbers are sketched in thousandths.
const SCALE: i64 = 1_000;

fn plain(n: i64) -> Decimal {
    let sign = if n < 0 { "-" } else { "" };
    d(&format!("{sign}{}.{:03}", n.abs() / SCALE, n.abs() % SCALE))
}

/// An atom in thousandths, for an oracle that doesn't share any arithmetic with it.
#[derive(Clone, Debug)]
struct Sketch {
    min: Option<(i64, bool)>,
    max: Option<(i64, bool)>,
    integer: bool,
    multiple: Option<i64>,
    not_multiples: Vec<i64>,
}

impl Sketch {
    fn atom(&self) -> Option<NumberAtom> {
        let bound = |&(n, exclusive): &(i64, bool)| Bound { value: plain(n), exclusive };
        let rules = NumberRules {
            min: self.min.as_ref().map(bound),
            max: self.max.as_ref().map(bound),
            multiple_of: self.multiple.map(plain),
            written_integer: false,
        };
        let whole = NumberAtom::of_rules(&rules, self.integer).meet(&NumberAtom::default())?;
        self.not_multiples.iter().try_fold(whole, |atom, unit| {
            atom.meet(&NumberAtom { not_multiples: Box::new([plain(*unit)]), ..NumberAtom::default() })
        })
    }

    /// Whether `n` times 10^−(3 + `finer`) satisfies it.
    fn holds(&self, n: i64, finer: u32) -> bool {
        let tens = 10_i64.pow(finer);
        self.min.is_none_or(|(min, exclusive)| n > min * tens || (n == min * tens && !exclusive))
            && self.max.is_none_or(|(max, exclusive)| n < max * tens || (n == max * tens && !exclusive))
            && (!self.integer || n % (SCALE * tens) == 0)
            && self.multiple.is_none_or(|unit| n % (unit * tens) == 0)
            && self.not_multiples.iter().all(|unit| n % (unit * tens) != 0)
    }
}

const UNITS: [i64; 20] =
    [1, 3, 7, 10, 20, 50, 70, 125, 250, 300, 1_000, 1_500, 2_000, 3_000, 7_000, 8_000, 12_000, 20_000, 75_000, 100_000];

fn sketch() -> impl Strategy<Value = Sketch> {
    let bound = || {
        let value = prop_oneof![
            Just(0_i64),
            (-30..30_i64).prop_map(|n| n * 1_000),
            (-300..300_i64).prop_map(|n| n * 100),
            -50_000..50_000_i64
        ];
        proptest::option::of((value, any::<bool>()))
    };
    (
        bound(),
        bound(),
        proptest::bool::weighted(0.25),
        proptest::option::of(proptest::sample::select(&UNITS[..])),
        proptest::collection::vec(proptest::sample::select(&UNITS[..]), 0..3),
    )
        .prop_map(|(min, max, integer, multiple, not_multiples)| Sketch {
            min,
            max,
            integer,
            multiple,
            not_multiples,
        })
}

/// Every text of a number with so many digits and such exponents, with its value times 10^(`fraction` + `size`).
fn texts(whole: u32, fraction: u32, size: Option<u32>) -> Vec<(String, i64)> {
    let mut mantissas = Vec::new();
    for n in 0..10_i64.pow(whole) {
        mantissas.push((n.to_string(), n * 10_i64.pow(fraction)));
        for digits in 1..=fraction {
            let width = digits as usize;
            for f in 0..10_i64.pow(digits) {
                mantissas
                    .push((format!("{n}.{f:0width$}"), n * 10_i64.pow(fraction) + f * 10_i64.pow(fraction - digits)));
            }
        }
    }
    let Some(size) = size else { return mantissas };
    let mut out = Vec::new();
    for (text, value) in mantissas {
        let scaled = value * 10_i64.pow(size);
        for (exponent, zeros) in (0..=size).flat_map(|e| ["", "0", "00"].map(|zeros| (e, zeros))) {
            let (up, down) = (value * 10_i64.pow(size + exponent), value * 10_i64.pow(size - exponent));
            out.push((format!("{text}e{zeros}{exponent}"), up));
            out.push((format!("{text}e+{zeros}{exponent}"), up));
            out.push((format!("{text}e-{zeros}{exponent}"), down));
        }
        out.push((text, scaled));
    }
    out
}

/// Holds rules against all texts: what is accepted, which prefixes are live, and how short their rests are.
fn against_texts(
    sketch: &Sketch,
    rules: &Rules,
    texts: &[(String, i64)],
    finer: u32,
    spelled: bool,
) -> Result<(), String> {
    let mut live: HashMap<String, usize> = HashMap::new();
    let mut prefixes: HashSet<String> = HashSet::new();
    for (text, value) in texts {
        for sign in ["", "-"] {
            let value = if sign == "-" { -value } else { *value };
            let text = format!("{sign}{text}");
            let whole = !spelled || !sketch.integer || (!text.contains('.') && text != "-0");
            let good = whole && sketch.holds(value, finer);
            for at in 0..=text.len() {
                prefixes.insert(text[..at].to_owned());
                if good {
                    let rest = text.len() - at;
                    live.entry(text[..at].to_owned()).and_modify(|n| *n = rest.min(*n)).or_insert(rest);
                }
            }
        }
    }
    // Prefixes of what is read with a sign begin with it: before it, nothing is read.
    for prefix in prefixes.iter().filter(|p| !p.is_empty()) {
        let track = read(rules, prefix);
        if track.is_some() != live.contains_key(prefix) {
            return Err(format!("{prefix}: live is {}", track.is_some()));
        }
        let Some(track) = track else { continue };
        if track.accepts(rules) != (live[prefix] == 0) {
            return Err(format!("{prefix}: accepting is {}", track.accepts(rules)));
        }
        let rest = track.rest(rules).ok_or(format!("{prefix}: no rest"))?;
        let whole = format!("{prefix}{}", String::from_utf8_lossy(&rest));
        if !accepts(rules, &whole) || rest.len() != live[prefix] {
            return Err(format!("{prefix}: the rest is {whole}, of {} bytes", live[prefix]));
        }
    }
    Ok(())
}

fn cases() -> u32 {
    std::env::var("FORMWORK_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(16)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn plain_numbers_by_brute_force(sketch in sketch()) {
        let Some(atom) = sketch.atom() else { return Ok(()) };
        let fraction = if sketch.integer { 0 } else { 2 };
        let rules = Rules::within(&atom, Numbers::Plain, 2, fraction, None);
        let texts: Vec<_> = texts(2, 2, None).into_iter().map(|(text, n)| (text, n * 10)).collect();
        against_texts(&sketch, &rules, &texts, 0, true).map_err(|e| TestCaseError::fail(format!("{atom:?}: {e}")))?;
    }

    #[test]
    fn all_spellings_by_brute_force(sketch in sketch(), two in proptest::bool::weighted(0.1)) {
        let Some(atom) = sketch.atom() else { return Ok(()) };
        let whole = if two { 2 } else { 1 };
        let rules = Rules::within(&atom, Numbers::Any, whole, 1, Some(2));
        against_texts(&sketch, &rules, &texts(u32::from(whole), 1, Some(2)), 0, false)
            .map_err(|e| TestCaseError::fail(format!("{atom:?}: {e}")))?;
    }

    #[test]
    fn complements_are_exact(sketch in sketch(), values in proptest::collection::vec(-120_000..120_000_i64, 200)) {
        let Some(atom) = sketch.atom() else { return Ok(()) };
        let complement = atom.complement();
        let own = values.iter().copied().chain([0, 1_000]).chain(sketch.min.map(|b| b.0)).chain(sketch.max.map(|b| b.0));
        for n in own {
            let value = plain(n);
            prop_assert_eq!(atom.holds(&value), sketch.holds(n, 0), "{:?} {}", atom, n);
            let other = complement.iter().any(|a| a.holds(&value));
            prop_assert!(atom.holds(&value) != other, "{atom:?} {n}");
        }
    }

    #[test]
    fn values_as_the_validator_sees_them(sketch in sketch(), values in proptest::collection::vec(-120_000..120_000_i64, 60)) {
        let Some(atom) = sketch.atom() else { return Ok(()) };
        let number = |n: i64| -> serde_json::Value { serde_json::from_str(&spelled(n)).unwrap() };
        let mut schema = json!({"type": if sketch.integer { "integer" } else { "number" }});
        for (bound, names) in [
            (sketch.min, ["minimum", "exclusiveMinimum"]),
            (sketch.max, ["maximum", "exclusiveMaximum"]),
        ] {
            if let Some((n, exclusive)) = bound {
                schema[names[usize::from(exclusive)]] = number(n);
            }
        }
        if let Some(unit) = sketch.multiple {
            schema["multipleOf"] = number(unit);
        }
        if !sketch.not_multiples.is_empty() {
            let units: Vec<_> = sketch.not_multiples.iter().map(|n| json!({"multipleOf": number(*n)})).collect();
            schema["not"] = json!({"anyOf": units});
        }
        let validator = jsonschema::validator_for(&schema).map_err(|e| TestCaseError::fail(e.to_string()))?;
        let rules = [Numbers::Plain, Numbers::Any].map(|numbers| rules(&atom, numbers));
        for n in values.into_iter().chain([0, 7_000, 12_000]) {
            let text = spelled(n);
            let valid = validator.is_valid(&number(n));
            for rules in &rules {
                prop_assert_eq!(accepts(rules, &text), valid, "{} {}", schema, text);
            }
        }
    }
}

/// Without zeros at the end.
fn spelled(n: i64) -> String {
    let sign = if n < 0 { "-" } else { "" };
    let text = format!("{sign}{}.{:03}", n.abs() / SCALE, n.abs() % SCALE);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[test]
fn values_where_they_are_few() {
    let cases = [
        (atom(Some("1"), Some("3"), true, None, &[]), Some("1 2 3")),
        (atom(Some("-2"), Some(">1"), true, None, &[]), Some("-2 -1 0")),
        (atom(Some("1.5"), Some("1.5"), false, None, &[]), Some("1.5")),
        (atom(Some(">0"), Some("1"), false, Some("0.25"), &["0.5"]), Some("0.25 0.75")),
        (atom(Some("-1"), Some("6"), false, Some("7"), &[]), Some("0")),
        (atom(None, None, false, Some("1e400"), &[]), Some("0")),
        (atom(Some("1"), Some("1"), true, None, &["1"]), Some("")),
        (atom(Some("1e300"), Some("1e300"), false, None, &[]), Some("1e300")),
        (atom(Some("1"), Some("5"), true, None, &[]), None),
        (atom(Some("1"), Some("1.1"), false, None, &[]), None),
        (atom(Some("1"), None, true, None, &[]), None),
        (atom(None, None, false, None, &[]), None),
    ];
    for (atom, expected) in cases {
        for numbers in [Numbers::Plain, Numbers::Any] {
            let found = values(&atom, &rules(&atom, numbers), 4);
            let expected = expected.map(|text: &str| text.split_whitespace().map(d).collect::<Vec<_>>());
            assert_eq!(found, expected, "{atom:?} {numbers:?}");
        }
    }
}
