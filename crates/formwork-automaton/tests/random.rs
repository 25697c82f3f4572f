//! Laws on random schemas: finished texts are valid, every prefix can be finished (whatever bytes are missing), and valid values are
//! accepted; a schema and its negation share nothing, and negated twice it is the same again.

use std::cell::Cell;
use std::collections::HashMap;
use std::time::{Duration, Instant};

use formwork_automaton::{Automaton, Fingerprint, Frames, JsonAutomaton, Key, Spelling, State, Step, Symbol};
use formwork_grammar::{Escapes, Limits, Numbers, PropertyOrder, SchemaOptions, Whitespace, schema_from_value};
use proptest::collection::vec;
use proptest::option::of as some;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, Reason, RngSeed, TestRng, TestRunner};
use serde_json::{Map, Value, json};

/// Small and large units; the last one has too many residues for shared states.
const UNITS: [&str; 8] = ["0.01", "0.25", "0.5", "1", "2", "7", "10", "12345.6"];

const NAMES: [&str; 5] = ["a", "ab", "b", "é", "k\n"];

/// A schema of all keywords that are enforced, nested and recursive.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(true)),
        Just(json!({"$ref": "#"})),
        Just(json!({"$ref": "#/$defs/d"})),
        select(vec!["null", "boolean", "integer", "number", "string", "array", "object"])
            .prop_map(|t| json!({"type": t})),
        (-20..20_i32, 0..20_i32, any::<bool>()).prop_map(|(lo, span, exclusive)| {
            let low = if exclusive { "exclusiveMinimum" } else { "minimum" };
            json!({"type": "number", low: f64::from(lo) / 4.0, "maximum": f64::from(lo + span) / 4.0})
        }),
        (-300..300_i32, 0..400_i32)
            .prop_map(|(lo, span)| json!({"type": "integer", "minimum": lo, "maximum": lo + span})),
        (select(&UNITS[..]), any::<bool>(), some(-20..20_i32)).prop_map(|(unit, integer, least)| {
            let unit: Value = serde_json::from_str(unit).unwrap_or_default();
            let mut out = json!({"type": if integer { "integer" } else { "number" }, "multipleOf": unit});
            if let Some(least) = least {
                out["minimum"] = json!(least);
                out["maximum"] = json!(least + 9);
            }
            out
        }),
        select(&UNITS[..]).prop_map(|unit| {
            let unit: Value = serde_json::from_str(unit).unwrap_or_default();
            json!({"not": {"multipleOf": unit}})
        }),
        (0..3_u8, 0..3_u8).prop_map(|(min, more)| json!({"type": "string", "minLength": min, "maxLength": min + more})),
        select(vec!["^a*$", "b", "^[a-c]{1,3}$", "é|x$", "^(ab)*$", "\\n", "^$"])
            .prop_map(|p| json!({"type": "string", "pattern": p})),
        vec(value(), 1..4).prop_map(|v| json!({"enum": v})),
        value().prop_map(|v| json!({"const": v})),
    ];
    let node = leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            (vec(inner.clone(), 0..3), some(inner.clone()), 0..3_u8, some(0..3_u8)).prop_map(
                |(prefix, items, min, more)| {
                    let mut out = json!({"type": "array", "minItems": min});
                    if !prefix.is_empty() {
                        out["prefixItems"] = json!(prefix);
                    }
                    if let Some(items) = items {
                        out["items"] = items;
                    }
                    if let Some(more) = more {
                        out["maxItems"] = json!(min + more);
                    }
                    out
                }
            ),
            (
                proptest::collection::btree_map(select(&NAMES[..]), inner.clone(), 0..4),
                proptest::collection::btree_set(select(&NAMES[..]), 0..3),
                some(prop_oneof![Just(json!(false)), inner.clone()]),
                any::<bool>(),
            )
                .prop_map(|(properties, required, additional, typed)| {
                    let properties: Map<String, Value> =
                        properties.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
                    let mut out = json!({"properties": properties, "required": required});
                    if typed {
                        out["type"] = json!("object");
                    }
                    if let Some(additional) = additional {
                        out["additionalProperties"] = additional;
                    }
                    out
                }),
            vec(inner.clone(), 1..4).prop_map(|v| json!({"anyOf": v})),
            vec(inner.clone(), 1..3).prop_map(|v| json!({"allOf": v})),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| json!({"anyOf": [a, {"type": "null"}], "allOf": [b]})),
            vec(inner.clone(), 1..4).prop_map(|v| json!({"oneOf": v})),
            inner.clone().prop_map(|a| json!({"not": a})),
            (inner.clone(), some(inner.clone()), some(inner.clone())).prop_map(|(condition, then, otherwise)| with(
                json!({"if": condition}),
                [("then", then), ("else", otherwise)]
            )),
            arrays(inner.clone()),
            objects(inner),
        ]
    });
    (node.clone(), node).prop_map(|(root, definition)| {
        let mut root = if root.is_object() { root } else { json!({"allOf": [root]}) };
        root["$defs"] = json!({"d": definition});
        root
    })
}

/// A schema with more members.
fn with<const N: usize>(mut schema: Value, members: [(&str, Option<Value>); N]) -> Value {
    for (key, value) in members {
        if let Some(value) = value {
            schema[key] = value;
        }
    }
    schema
}

/// What is counted, compared and left over in arrays.
fn arrays(inner: impl Strategy<Value = Value> + Clone) -> impl Strategy<Value = Value> {
    (
        vec(inner.clone(), 0..3),
        some(inner.clone()),
        some((inner.clone(), 0..3_u8, some(0..3_u8))),
        any::<bool>(),
        some(inner),
        (0..3_u8, some(0..3_u8)),
    )
        .prop_map(|(prefix, items, contains, unique, unevaluated, (min, more))| {
            let mut out = json!({"type": "array", "minItems": min, "uniqueItems": unique});
            if let Some((contains, least, more)) = contains {
                out["contains"] = contains;
                out["minContains"] = json!(least);
                out = with(out, [("maxContains", more.map(|more| json!(least + more)))]);
            }
            let prefix = (!prefix.is_empty()).then(|| json!(prefix));
            let most = more.map(|more| json!(min + more));
            let members =
                [("prefixItems", prefix), ("items", items), ("unevaluatedItems", unevaluated), ("maxItems", most)];
            with(out, members)
        })
}

/// What is counted, named and left over in objects.
fn objects(inner: impl Strategy<Value = Value> + Clone) -> impl Strategy<Value = Value> {
    let name = || select(&NAMES[..]);
    let pattern = select(vec!["a", "^b", "^[a-zé]$", "[^a]"]);
    (
        proptest::collection::btree_map(name(), inner.clone(), 0..3),
        proptest::collection::btree_map(pattern.clone(), inner.clone(), 0..3),
        some(inner.clone()),
        some(prop_oneof![pattern.prop_map(|p| json!({"pattern": p})), Just(json!({"maxLength": 1})), inner.clone()]),
        some((name(), vec(name(), 0..2))),
        some((name(), inner.clone())),
        some(inner),
        (0..2_u8, some(0..3_u8), any::<bool>()),
    )
        .prop_map(|(properties, patterns, additional, names, keys, schemas, unevaluated, (min, more, typed))| {
            let out = json!({"properties": properties, "patternProperties": patterns, "minProperties": min});
            with(
                out,
                [
                    ("type", typed.then(|| json!("object"))),
                    ("additionalProperties", additional),
                    ("propertyNames", names),
                    ("dependentRequired", keys.map(|(key, keys)| json!({key: keys}))),
                    ("dependentSchemas", schemas.map(|(key, schema)| json!({key: schema}))),
                    ("unevaluatedProperties", unevaluated),
                    ("maxProperties", more.map(|more| json!(min + more))),
                ],
            )
        })
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-300..300_i32).prop_map(Value::from),
        (-40..40_i32).prop_map(|n| Value::from(f64::from(n) / 4.0 + 0.25)),
        select(vec!["", "a", "ab", "abab", "b", "é", "x", "xé", "\n", "a\"\\"]).prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(select(&NAMES[..]), inner, 0..4)
                .prop_map(|map| { Value::Object(map.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()) }),
        ]
    })
}

fn options() -> impl Strategy<Value = SchemaOptions> {
    (
        prop_oneof![
            Just(Whitespace::Compact),
            Just(Whitespace::Spaced),
            Just(Whitespace::Indent(1)),
            Just(Whitespace::Flexible(2))
        ],
        prop_oneof![Just(PropertyOrder::Schema), Just(PropertyOrder::Any)],
        prop_oneof![Just(Escapes::Canonical), Just(Escapes::Any)],
        prop_oneof![Just(Numbers::Plain), Just(Numbers::Any)],
    )
        .prop_map(|(whitespace, order, escapes, numbers)| {
            // The validator reckons with floats where they look exact.
            let mut limits = Limits::default();
            limits.digits = DIGITS;
            let options = SchemaOptions::default().whitespace(whitespace).property_order(order);
            options.escapes(escapes).numbers(numbers).limits(limits)
        })
}

/// Bytes that lead somewhere interesting more often than all 256 would.
const BYTES: &[u8] = b"{}[]\",: \n\\0123456789.-eEtrufalsnab\xc3\xa9kxu/d8c\xf0\x9f\x98\x80";

fn step(automaton: &JsonAutomaton, seq: &mut Frames, state: State, byte: u8) -> Option<State> {
    match automaton.step(seq, state, Symbol::Byte(byte)) {
        Step::To(next) => Some(next),
        Step::Dead | Step::Limit(_) => None,
    }
}

/// Follows the witness; the whole text.
fn finish(automaton: &JsonAutomaton, seq: &mut Frames, mut state: State, text: &[u8]) -> Result<Vec<u8>, String> {
    let mut whole = text.to_vec();
    for symbol in automaton.witness(seq, state).symbols {
        let Symbol::Byte(byte) = symbol else { return Err("a special token".to_owned()) };
        whole.push(byte);
        let shown = String::from_utf8_lossy(&whole).into_owned();
        state = step(automaton, seq, state, byte).ok_or(format!("the witness is refused: {shown:?}"))?;
    }
    if automaton.is_accepting(seq, state) {
        Ok(whole)
    } else {
        Err(format!("the witness does not end: {:?}", String::from_utf8_lossy(&whole)))
    }
}

/// Walks at random, finishing by the witness after `length` bytes; at each byte the witness must finish the prefix too.
fn walk(automaton: &JsonAutomaton, rng: &mut TestRng, length: usize) -> Result<Vec<Vec<u8>>, String> {
    let mut seq = Frames::new();
    let mut state = automaton.start(&mut seq);
    let mut text = Vec::new();
    let mut finished = Vec::new();
    for _ in 0..length {
        let mark = seq.mark();
        finished.push(finish(automaton, &mut seq, state, &text)?);
        seq.truncate(mark);
        let mut live: Vec<u8> = Vec::new();
        for &byte in BYTES {
            let mark = seq.mark();
            if step(automaton, &mut seq, state, byte).is_some() {
                live.push(byte);
            }
            seq.truncate(mark);
        }
        if live.is_empty() {
            break;
        }
        let byte = live[rng.random_range(0..live.len())];
        text.push(byte);
        state = step(automaton, &mut seq, state, byte).ok_or("a live byte died")?;
    }
    Ok(finished)
}

/// A value as one of the texts that the options allow.
fn spell(value: &Value, options: &SchemaOptions) -> Option<String> {
    match options.whitespace {
        Whitespace::Compact | Whitespace::Flexible(_) => serde_json::to_string(value).ok(),
        _ => None,
    }
}

fn accepts(automaton: &JsonAutomaton, text: &str) -> bool {
    let mut seq = Frames::new();
    let mut state = automaton.start(&mut seq);
    for byte in text.bytes() {
        match step(automaton, &mut seq, state, byte) {
            Some(next) => state = next,
            None => return false,
        }
    }
    automaton.is_accepting(&seq, state)
}

fn cases() -> u32 {
    std::env::var("FORMWORK_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(400)
}

/// The same cases every time, but where more rounds are asked for.
fn seed() -> RngSeed {
    if std::env::var_os("FORMWORK_ROUNDS").is_some() { RngSeed::Random } else { RngSeed::Fixed(1) }
}

/// What a round came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Held,
    /// The law held, and a limit left some question open.
    Undecided,
    Unsatisfiable,
    /// The schema, or what it is made into, is refused.
    Refused,
}

/// Tries a law on as many inputs as are asked for, and says what the rounds came to.
#[expect(clippy::print_stderr, reason = "long runs show how far they are")]
fn hold<S: Strategy>(law: &str, inputs: S, round: impl Fn(S::Value) -> Result<Outcome, TestCaseError>) {
    /// Rounds that take longer are shown.
    const LONG: Duration = Duration::from_secs(20);
    let config = Config {
        cases: cases(),
        max_shrink_iters: 2_000,
        rng_seed: seed(),
        failure_persistence: None,
        ..Config::default()
    };
    let counts =
        [Outcome::Held, Outcome::Undecided, Outcome::Unsatisfiable, Outcome::Refused].map(|o| (o, Cell::new(0)));
    let (done, slowest) = (Cell::new(0), Cell::new(Duration::ZERO));
    let ended = TestRunner::new(config).run(&inputs, |input| {
        let shown = format!("{input:?}");
        let began = Instant::now();
        let outcome = round(input)?;
        if began.elapsed() > LONG {
            eprintln!("{law}: {:?} took {:?}: {shown}", outcome, began.elapsed());
        }
        slowest.set(slowest.get().max(began.elapsed()));
        for (_, count) in counts.iter().filter(|(of, _)| *of == outcome) {
            count.set(count.get() + 1);
        }
        done.set(done.get() + 1);
        if done.get() % 10_000 == 0 {
            eprintln!("{law}: {} of {} rounds", done.get(), cases());
        }
        Ok(())
    });
    let shown: Vec<String> =
        counts.iter().map(|(of, count)| format!("{of:?} {}", count.get()).to_lowercase()).collect();
    eprintln!("{law}: {} rounds: {}; the slowest took {:?}", done.get(), shown.join(", "), slowest.get());
    if let Err(error) = ended {
        panic!("{law}: {error}");
    }
}

fn failed(message: impl Into<Reason>) -> TestCaseError {
    TestCaseError::fail(message)
}

/// The automaton, or what its absence means.
fn automaton(
    schema: &Value,
    options: &SchemaOptions,
    spelling: Spelling,
) -> Result<Result<JsonAutomaton, Outcome>, TestCaseError> {
    let Ok(checked) = schema_from_value(schema, options) else { return Ok(Err(Outcome::Refused)) };
    match JsonAutomaton::new(checked, options, spelling) {
        Ok(automaton) => Ok(Ok(automaton)),
        Err(error) if error.code() == "undecided" || error.to_string().contains("limit `steps`") => {
            Ok(Err(Outcome::Undecided))
        }
        Err(error) if error.is_unsatisfiable() || error.code() == "unspellable" => Ok(Err(Outcome::Unsatisfiable)),
        Err(error) => Err(failed(format!("{schema}: {error}"))),
    }
}

fn outcome(automaton: &JsonAutomaton) -> Outcome {
    if automaton.undecided() > 0 { Outcome::Undecided } else { Outcome::Held }
}

fn validator(schema: &Value) -> Result<jsonschema::Validator, TestCaseError> {
    jsonschema::validator_for(schema).map_err(|e| failed(e.to_string()))
}

fn check_valid(schema: &Value, validator: &jsonschema::Validator, text: &[u8]) -> Result<(), TestCaseError> {
    let shown = String::from_utf8_lossy(text);
    let value: Value = serde_json::from_slice(text).map_err(|e| failed(format!("{schema}: {shown:?}: {e}")))?;
    prop_assert!(validator.is_valid(&value), "{schema}: {shown} is not valid");
    Ok(())
}

fn rng() -> impl Strategy<Value = TestRng> {
    Just(()).prop_perturb(|(), rng| rng)
}

#[test]
fn texts_are_valid_and_valid_values_are_texts() {
    let inputs = (schema(), options(), vec(value(), 8), rng());
    hold("texts are valid, and valid values are texts", inputs, |(schema, options, values, mut rng)| {
        let validator = validator(&schema)?;
        let automaton = match automaton(&schema, &options, Spelling::default())? {
            Ok(automaton) => automaton,
            Err(Outcome::Unsatisfiable) => {
                for value in &values {
                    prop_assert!(!validator.is_valid(value), "{schema} is called unsatisfiable, but {value} is valid");
                }
                return Ok(Outcome::Unsatisfiable);
            }
            Err(other) => return Ok(other),
        };
        for length in [3, 12, 40] {
            for text in walk(&automaton, &mut rng, length).map_err(|e| failed(format!("{schema}: {e}")))? {
                check_valid(&schema, &validator, &text)?;
            }
        }
        for value in &values {
            let Some(text) = spell(value, &options) else { continue };
            let valid = validator.is_valid(value);
            let accepted = accepts(&automaton, &text);
            prop_assert!(valid || !accepted, "{schema}: {text} is accepted");
            // In schema order, a valid value may stand in another order.
            let any = options.property_order == PropertyOrder::Any;
            let whole = options.numbers == Numbers::Any || !text.contains(".0") && !text.contains("-0");
            prop_assert!(
                !valid || accepted || !any || !whole || automaton.undecided() > 0,
                "{schema}: {text} is rejected"
            );
        }
        Ok(outcome(&automaton))
    });
}

#[test]
fn no_prefix_is_a_dead_end_whatever_bytes_are_missing() {
    let inputs = (schema(), options(), vec(select(BYTES), 1..8), rng());
    hold("no prefix is a dead end, whatever bytes are missing", inputs, |(schema, options, missing, mut rng)| {
        let validator = validator(&schema)?;
        let mut spelling = Spelling::default();
        for byte in &missing {
            spelling.alphabet.remove(*byte);
        }
        let automaton = match automaton(&schema, &options, spelling)? {
            Ok(automaton) => automaton,
            Err(other) => return Ok(other),
        };
        let without = || format!("{schema} without {:?}", String::from_utf8_lossy(&missing));
        for length in [3, 12, 40] {
            for text in walk(&automaton, &mut rng, length).map_err(|e| failed(format!("{}: {e}", without())))? {
                prop_assert!(
                    !text.iter().any(|byte| missing.contains(byte)),
                    "{}: {}",
                    without(),
                    String::from_utf8_lossy(&text)
                );
                check_valid(&schema, &validator, &text)?;
            }
        }
        Ok(outcome(&automaton))
    });
}

/// All spellings of every value in every order, so that only what is valid makes a difference; and numbers that are [`short`].
fn liberal() -> SchemaOptions {
    let mut limits = Limits::default();
    limits.digits = DIGITS;
    let options = SchemaOptions::default().whitespace(Whitespace::Flexible(2)).property_order(PropertyOrder::Any);
    options.escapes(Escapes::Any).numbers(Numbers::Any).limits(limits)
}

/// Digits of numbers that conditions are held against.
const DIGITS: u32 = 6;

/// Whether all numbers of a text are shorter than some conditions limit them to.
fn short(text: &str) -> bool {
    let is_exponent = |pair: &[u8]| pair[0].is_ascii_digit() && matches!(pair[1], b'e' | b'E');
    let mut runs = text.split(|c: char| !c.is_ascii_digit());
    runs.all(|run| run.len() <= DIGITS as usize) && !text.as_bytes().windows(2).any(is_exponent)
}

/// A schema made of another one, which stands under `$defs` with its references to itself.
fn made_of(schema: &Value, make: impl Fn(Value) -> Value) -> Value {
    fn point(schema: &mut Value) {
        match schema {
            Value::Object(map) => {
                for (key, value) in map {
                    match value {
                        Value::String(to) if key == "$ref" && to == "#" => "#/$defs/a".clone_into(to),
                        Value::String(to) if key == "$ref" => "#/$defs/a/$defs/d".clone_into(to),
                        value => point(value),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(point),
            _ => {}
        }
    }
    let mut schema = schema.clone();
    point(&mut schema);
    let mut out = make(json!({"$ref": "#/$defs/a"}));
    out["$defs"] = json!({"a": schema});
    out
}

#[test]
fn nothing_satisfies_a_schema_and_its_negation() {
    hold("nothing satisfies A and not A", schema(), |schema| {
        let both = made_of(&schema, |a| json!({"allOf": [a.clone(), {"not": a}]}));
        let neither = made_of(&schema, |a| json!({"not": {"anyOf": [a.clone(), {"not": a}]}}));
        let mut worst = Outcome::Unsatisfiable;
        for schema in [both, neither] {
            match automaton(&schema, &liberal(), Spelling::default())? {
                Ok(automaton) => {
                    let mut seq = Frames::new();
                    let state = automaton.start(&mut seq);
                    let text =
                        finish(&automaton, &mut seq, state, b"").map_err(|e| failed(format!("{schema}: {e}")))?;
                    return Err(failed(format!("{schema}: {} is allowed", String::from_utf8_lossy(&text))));
                }
                Err(Outcome::Unsatisfiable) => {}
                Err(other) => worst = other,
            }
        }
        Ok(worst)
    });
}

#[test]
fn a_schema_is_the_negation_of_its_negation() {
    hold("not not A is A", (schema(), vec(value(), 8), rng()), |(schema, values, mut rng)| {
        let twice = made_of(&schema, |a| json!({"not": {"not": a}}));
        let (once, twice) = match (
            automaton(&schema, &liberal(), Spelling::default())?,
            automaton(&twice, &liberal(), Spelling::default())?,
        ) {
            (Ok(once), Ok(twice)) => (once, twice),
            (Err(Outcome::Unsatisfiable), Err(Outcome::Unsatisfiable)) => return Ok(Outcome::Unsatisfiable),
            (Err(Outcome::Refused), _) | (_, Err(Outcome::Refused)) => return Ok(Outcome::Refused),
            (Err(Outcome::Undecided), _) | (_, Err(Outcome::Undecided)) => return Ok(Outcome::Undecided),
            (Ok(a), _) | (_, Ok(a)) if a.undecided() > 0 => return Ok(Outcome::Undecided),
            _ => return Err(failed(format!("{schema}: only one of them is unsatisfiable"))),
        };
        let mut texts = Vec::new();
        for automaton in [&once, &twice] {
            for length in [3, 12, 40] {
                texts.extend(walk(automaton, &mut rng, length).map_err(|e| failed(format!("{schema}: {e}")))?);
            }
        }
        let texts = texts.iter().map(|text| String::from_utf8_lossy(text).into_owned());
        for text in texts.chain(values.iter().map(Value::to_string)).filter(|text| short(text)) {
            let [a, b] = [accepts(&once, &text), accepts(&twice, &text)];
            let open = once.undecided() + twice.undecided() > 0;
            prop_assert!(a == b || open, "{schema}: {text}: {a}, and {b} when negated twice");
        }
        Ok(if once.undecided() > 0 { Outcome::Undecided } else { outcome(&twice) })
    });
}

/// What states are after each byte of a text: fingerprints and signatures, by how many frames they look at.
fn described(automaton: &JsonAutomaton, text: &[u8]) -> Vec<[(Fingerprint, Key); 4]> {
    let mut seq = Frames::new();
    let mut state = automaton.start(&mut seq);
    let mut out = Vec::new();
    for &byte in text {
        out.push([0, 1, 2, 8].map(|depth| {
            let print = automaton.fingerprint(&seq, state, depth).expect("a schema's automaton always has one");
            (print, automaton.signature(&seq, state, depth))
        }));
        match step(automaton, &mut seq, state, byte) {
            Some(next) => state = next,
            None => break,
        }
    }
    out
}

#[test]
fn fingerprints_say_what_signatures_do_in_every_process() {
    let inputs = (schema(), options(), rng());
    hold("fingerprints say what signatures do, in every process", inputs, |(schema, options, mut rng)| {
        let (first, second) = match (
            automaton(&schema, &options, Spelling::default())?,
            automaton(&schema, &options, Spelling::default())?,
        ) {
            (Ok(first), Ok(second)) => (first, second),
            (Err(outcome), _) | (_, Err(outcome)) => return Ok(outcome),
        };
        let mut texts = Vec::new();
        for length in [3, 12, 40] {
            let walked = walk(&first, &mut rng, length).map_err(|e| failed(format!("{schema}: {e}")))?;
            // What is left open depends on what was asked before.
            texts.extend(walked.into_iter().last());
        }
        // The second reads other texts before, and the same ones in another order.
        walk(&second, &mut rng, 30).map_err(|e| failed(format!("{schema}: {e}")))?;
        let mut by_print: HashMap<Fingerprint, Key> = HashMap::new();
        let mut by_key: HashMap<Key, Fingerprint> = HashMap::new();
        for text in texts.iter().rev() {
            let [here, there] = [&first, &second].map(|automaton| described(automaton, text));
            let shown = String::from_utf8_lossy(text);
            for (at, (here, there)) in here.iter().zip(&there).enumerate() {
                for (depth, ((print, key), (other, _))) in here.iter().zip(there).enumerate() {
                    prop_assert!(
                        print == other || first.undecided() + second.undecided() > 0,
                        "{schema} under {options:?}: {shown} at {at}, depth {depth}"
                    );
                    let (key, print) = (key.clone(), *print);
                    prop_assert_eq!(
                        by_print.entry(print).or_insert_with(|| key.clone()),
                        &key,
                        "{}: {}",
                        schema,
                        shown
                    );
                    prop_assert_eq!(by_key.entry(key).or_insert(print), &print, "{}: {}", schema, shown);
                }
            }
        }
        Ok(outcome(&first))
    });
}

#[test]
fn fingerprints_do_not_go_by_what_was_read_before() {
    let schema = json!({
        "type": "array", "contains": {"properties": {"b": {"$ref": "#"}}, "required": ["b"]}, "minContains": 0,
        "prefixItems": [{"type": "object", "patternProperties": {"^[a-zé]$": true, "^b": {"type": "null"}}, "minProperties": 1}],
    });
    let options = SchemaOptions::default().whitespace(Whitespace::Indent(1)).property_order(PropertyOrder::Any);
    let make = || automaton(&schema, &options, Spelling::default()).unwrap().unwrap();
    let prints = |automaton: &JsonAutomaton| -> Vec<_> {
        let described = described(automaton, b"[\n {\n  \"x");
        described.iter().map(|at| at.each_ref().map(|(print, _)| *print)).collect()
    };
    let first = prints(&make());
    for text in [&b"[]"[..], b"[\n {\n  \"b", b"[\n {\n  \"bc\": null\n }\n]"] {
        let other = make();
        let mut seq = Frames::new();
        let mut state = other.start(&mut seq);
        for &byte in text {
            finish(&other, &mut seq, state, b"").unwrap();
            state = step(&other, &mut seq, state, byte).unwrap();
        }
        assert_eq!(prints(&other), first, "after {:?}", String::from_utf8_lossy(text));
    }
}
