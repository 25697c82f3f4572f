//! Runs the project's cases (`tests/cases`) through every path: bytes, completions, masks against the naive ones, masks from an artefact,
//! forks, rollbacks, uniform walks, and an independent validator.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;

use formwork::{
    Artefact, CompiledConstraint, Constraint, Error, Matcher, PrecomputeLimits, TokenEntry, TokenId, Vocabulary,
    oracle, precompute, schema_options_from_json,
};
use formwork_cases::{Case, Expectation, Place};
use serde_json::Value;

/// Cases that fail, with the reason; one that starts to pass fails the test that holds this list.
const KNOWN_FAILURES: &[(&str, &str)] = &[];

/// Multi-byte tokens of a case's vocabulary.
const MOST_TOKENS: usize = 160;

fn constraint(case: &Case) -> Result<Constraint, Error> {
    match &case.constraint {
        formwork_cases::Constraint::Schema(text) => {
            Constraint::json_schema_text(text, &schema_options_from_json(&case.options)?)
        }
        formwork_cases::Constraint::Regex(pattern) => Constraint::regex(pattern),
    }
}

/// Every single byte, pieces of the case's texts, an end, and a special token that no text spells.
fn vocabulary(case: &Case) -> Vocabulary {
    let mut pieces = BTreeSet::new();
    for text in texts(case) {
        let bytes = text.as_bytes();
        for length in [2, 3, 5, 8] {
            pieces.extend(bytes.windows(length).step_by(length.div_ceil(2)).map(<[u8]>::to_vec));
        }
    }
    for common in ["\": ", ", \"", "{\"", "\"}", "]}", "  ", "\n", "\\u", "00", "é", "🎉", "true", "null"] {
        pieces.insert(common.as_bytes().to_vec());
    }
    let every = pieces.len().div_ceil(MOST_TOKENS).max(1);
    bytes_and(pieces.into_iter().step_by(every))
}

/// A vocabulary of single bytes and the given tokens.
fn bytes_and(tokens: impl Iterator<Item = Vec<u8>>) -> Vocabulary {
    let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
    let mut entries: Vec<TokenEntry> = bytes.chain(tokens).map(TokenEntry::Text).collect();
    entries.push(TokenEntry::Special("<s>".to_owned()));
    entries.push(TokenEntry::Special("</s>".to_owned()));
    let eos = u32::try_from(entries.len() - 1).unwrap();
    Vocabulary::from_tokens(entries, &[eos]).unwrap()
}

fn texts(case: &Case) -> Vec<&str> {
    match &case.expect {
        Expectation::Language { accept, reject } => {
            accept.iter().map(String::as_str).chain(reject.iter().map(|r| r.text.as_str())).collect()
        }
        Expectation::Error(_) => Vec::new(),
    }
}

/// What is wrong with one case.
#[derive(Default)]
struct Faults(Vec<String>);

impl Faults {
    fn check(&mut self, good: bool, fault: impl FnOnce() -> String) {
        if !good {
            self.0.push(fault());
        }
    }
}

/// Runs a check on all cases that compile, under a vocabulary with long tokens and one without, and reports all faults at once.
fn each_language(check: impl Fn(&Case, &CompiledConstraint, &mut Faults)) {
    each_case(|case, faults| {
        if matches!(case.expect, Expectation::Error(_)) {
            return;
        }
        for vocabulary in [vocabulary(case), bytes_and(std::iter::empty())] {
            match constraint(case).and_then(|c| c.compile(&vocabulary)) {
                Ok(compiled) => check(case, &compiled, faults),
                Err(error) => faults.check(false, || format!("refused: {} ({error})", error.code())),
            }
        }
    });
}

fn each_case(check: impl Fn(&Case, &mut Faults)) {
    let mut report = Vec::new();
    for case in formwork_cases::all().unwrap() {
        let mut faults = Faults::default();
        check(&case, &mut faults);
        let known = KNOWN_FAILURES.iter().any(|(name, _)| *name == case.to_string());
        if !known {
            report.extend(faults.0.iter().map(|fault| format!("{case}: {fault}")));
        }
    }
    assert!(report.is_empty(), "{} faults\n{}", report.len(), report.join("\n"));
}

/// Splits a text into tokens that a seed chooses.
fn split(vocabulary: &Vocabulary, text: &[u8], seed: &mut u64) -> Vec<TokenId> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let fitting: Vec<TokenId> =
            vocabulary.ids().filter(|id| vocabulary.bytes(*id).is_some_and(|b| rest.starts_with(b))).collect();
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let token = fitting[usize::try_from(*seed >> 33).unwrap() % fitting.len()];
        at += vocabulary.bytes(token).unwrap().len();
        tokens.push(token);
    }
    tokens
}

/// Where a text is rejected, and whether it is complete where it is not.
fn judge(compiled: &CompiledConstraint, text: &[u8]) -> (Option<usize>, bool) {
    let mut matcher = compiled.matcher();
    match matcher.advance_bytes(text) {
        Ok(()) => (None, matcher.is_accepting()),
        Err(error) => (error.byte_offset(), false),
    }
}

#[test]
fn constraints_that_are_refused_say_why_and_where() {
    each_case(|case, faults| {
        let Expectation::Error(expected) = &case.expect else { return };
        let Err(error) = constraint(case).and_then(|c| c.compile(&vocabulary(case))) else {
            return faults.check(false, || format!("accepted, but {} was expected", expected.code));
        };
        faults
            .check(error.code() == expected.code, || format!("{}: {error}, expected {}", error.code(), expected.code));
        match &expected.place {
            None => {}
            Some(Place::Pointer(pointer)) => faults.check(error.pointer() == Some(pointer), || {
                format!("at {:?}, expected {pointer:?}: {error}", error.pointer())
            }),
            Some(Place::LineColumn(line, column)) => {
                faults.check(error.line_column() == Some((*line, *column)), || {
                    format!("at {:?}, expected {:?}: {error}", error.line_column(), (line, column))
                });
            }
        }
    });
}

#[test]
fn bytes_decide_every_text() {
    each_language(|case, compiled, faults| {
        let Expectation::Language { accept, reject } = &case.expect else { return };
        for text in accept {
            let verdict = judge(compiled, text.as_bytes());
            faults.check(verdict == (None, true), || format!("{text:?} is not accepted: {verdict:?}"));
        }
        for rejected in reject {
            let verdict = judge(compiled, rejected.text.as_bytes());
            faults.check(verdict == (rejected.at, false), || {
                format!("{:?} is rejected at {verdict:?}, expected {:?}", rejected.text, rejected.at)
            });
        }
    });
}

#[test]
fn every_accepted_prefix_has_a_completion() {
    each_language(|case, compiled, faults| {
        let validator = validator(case);
        for text in texts(case) {
            let bytes = text.as_bytes();
            let mut matcher = compiled.matcher();
            for at in 0..=bytes.len() {
                let completion = matcher.shortest_completion().bytes().unwrap();
                let whole = [&bytes[..at], &completion].concat();
                let shown = String::from_utf8_lossy(&whole).into_owned();
                faults.check(judge(compiled, &whole) == (None, true), || {
                    format!("{:?} completed to {shown:?} is not accepted", String::from_utf8_lossy(&bytes[..at]))
                });
                faults.check(String::from_utf8(whole).is_ok(), || format!("{shown:?} is not UTF-8"));
                if let Some(validator) = &validator {
                    let valid = serde_json::from_str(&shown).is_ok_and(|value| validator.is_valid(&value));
                    faults.check(valid, || format!("the completed text {shown:?} is not valid"));
                }
                let step = bytes.get(at..=at);
                if step.is_none_or(|byte| matcher.advance_bytes(byte).is_err()) {
                    break;
                }
            }
        }
    });
}

#[test]
fn masks_equal_stepping() {
    each_language(check_masks);
}

#[test]
fn masks_from_an_artefact_equal_stepping() {
    each_language(|case, compiled, faults| {
        let limits = PrecomputeLimits::default().states(200);
        let masks = precompute(compiled, &limits, &mut |_| {}).unwrap();
        let constraint = constraint(case).unwrap();
        let bytes = masks.to_bytes(compiled, &constraint.fingerprint());
        let artefact = Artefact::from_bytes(bytes, "case").unwrap();
        let loaded = constraint.compile_with(compiled.vocabulary(), artefact).unwrap();
        check_masks(case, &loaded, faults);
        let stats = loaded.cache_stats();
        faults
            .check(texts(case).is_empty() || stats.loaded > 0, || format!("nothing came from the artefact: {stats:?}"));
    });
}

/// Drives a case's texts through the masks.
fn check_masks(case: &Case, compiled: &CompiledConstraint, faults: &mut Faults) {
    let vocabulary = compiled.vocabulary();
    let mut seed = 1;
    for text in texts(case) {
        let (rejected_at, complete) = judge(compiled, text.as_bytes());
        let tokens = split(vocabulary, text.as_bytes(), &mut seed);
        let mut matcher = compiled.matcher();
        let mut at = 0;
        let mut read = 0;
        for token in &tokens {
            look(&mut matcher, text, at, faults);
            let allowed = matcher.mask().is_ok_and(|mask| mask.allows(*token));
            let end = at + vocabulary.bytes(*token).map_or(0, <[u8]>::len);
            let live = rejected_at.is_none_or(|offset| end <= offset);
            faults.check(allowed == live, || format!("{text:?}: the token at {at}..{end} is allowed: {allowed}"));
            if matcher.advance(*token).is_err() {
                break;
            }
            at = end;
            read += 1;
        }
        if read == tokens.len() {
            look(&mut matcher, text, at, faults);
            let ends = matcher.mask().is_ok_and(|mask| vocabulary.eos().iter().all(|eos| mask.allows(*eos)));
            faults.check(ends == complete, || format!("{text:?}: the end is allowed: {ends}"));
        }
    }
}

/// Compares the mask here with the naive one, and the end's bit with the state.
fn look(matcher: &mut Matcher, text: &str, at: usize, faults: &mut Faults) {
    let wrong = oracle::differences(matcher);
    faults.check(wrong.is_empty(), || {
        let shown: Vec<String> = wrong
            .iter()
            .take(5)
            .map(|id| {
                String::from_utf8_lossy(matcher.constraint().vocabulary().bytes(*id).unwrap_or(b"<special>")).into()
            })
            .collect();
        format!("{text:?} at {at}: {} bits of the mask are wrong, {shown:?} among them", wrong.len())
    });
    let accepting = matcher.is_accepting();
    let eos = matcher.constraint().vocabulary().eos().to_vec();
    let ends = matcher.mask().is_ok_and(|mask| eos.iter().any(|id| mask.allows(*id)));
    faults.check(ends == accepting, || format!("{text:?} at {at}: the end's bit is {ends}"));
}

#[test]
fn forks_and_rollbacks_change_nothing() {
    each_language(|case, compiled, faults| {
        let mut seed = 7;
        for text in texts(case) {
            let mut tokens = split(compiled.vocabulary(), text.as_bytes(), &mut seed);
            let legal = compiled.matcher().try_advance(&tokens);
            tokens.truncate(legal);
            let mut matcher = compiled.matcher();
            let mut masks = Vec::new();
            for token in &tokens {
                masks.push(matcher.mask().cloned().ok());
                let mut fork = matcher.fork();
                faults.check(fork.mask().cloned().ok() == masks.last().cloned().flatten(), || {
                    format!("{text:?}: a fork has another mask")
                });
                // The fork goes its own way first: the original must not notice.
                let other = masks.last().and_then(|m| m.as_ref()?.iter().find(|id| id != token));
                if let Some(other) = other {
                    faults.check(fork.advance(other).is_ok(), || format!("{text:?}: a fork refuses an allowed token"));
                }
                faults.check(matcher.advance(*token).is_ok(), || format!("{text:?}: refused after a fork"));
            }
            let end = (matcher.is_accepting(), matcher.shortest_completion(), matcher.mask().cloned().ok());
            for back in 1..=tokens.len() {
                let at = tokens.len() - back;
                faults.check(matcher.rollback(back).is_ok(), || format!("{text:?}: {back} steps can't be taken back"));
                faults.check(matcher.mask().cloned().ok() == masks[at], || {
                    format!("{text:?}: another mask after {back} steps back")
                });
                let again = matcher.try_advance(&tokens[at..]);
                faults.check(again == back, || format!("{text:?}: {again} of {back} tokens after as many steps back"));
            }
            let again = (matcher.is_accepting(), matcher.shortest_completion(), matcher.mask().cloned().ok());
            faults.check(end == again, || format!("{text:?}: another end after rollbacks"));
        }
    });
}

#[test]
fn uniform_walks_are_accepted_and_valid() {
    each_language(|case, compiled, faults| {
        let validator = validator(case);
        let mut seed = 3_u64;
        for _ in 0..12 {
            let mut matcher = compiled.matcher();
            let mut text = Vec::new();
            for _ in 0..60 {
                let mask = match matcher.mask() {
                    Ok(mask) => mask,
                    Err(error) => {
                        faults.check(false, || format!("after {:?}: {error}", String::from_utf8_lossy(&text)));
                        break;
                    }
                };
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let nth = usize::try_from(seed >> 33).unwrap() % mask.count().max(1);
                let Some(token) = mask.iter().nth(nth) else { break };
                text.extend(compiled.vocabulary().bytes(token).unwrap_or_default());
                faults.check(matcher.advance(token).is_ok(), || "an allowed token is refused".to_owned());
                if compiled.vocabulary().eos().contains(&token) {
                    break;
                }
            }
            text.extend(matcher.shortest_completion().bytes().unwrap());
            let shown = String::from_utf8_lossy(&text).into_owned();
            faults.check(judge(compiled, &text) == (None, true), || format!("the walk {shown:?} is not accepted"));
            faults.check(String::from_utf8(text).is_ok(), || format!("the walk {shown:?} is not UTF-8"));
            if let Some(validator) = &validator {
                let valid = serde_json::from_str(&shown).is_ok_and(|value| validator.is_valid(&value));
                faults.check(valid, || format!("the walk {shown:?} is not valid"));
            }
        }
    });
}

#[test]
fn an_independent_validator_agrees() {
    each_case(|case, faults| {
        let (Some(validator), Expectation::Language { accept, reject }) = (validator(case), &case.expect) else {
            return;
        };
        let valid = |text: &str| serde_json::from_str::<Value>(text).is_ok_and(|value| validator.is_valid(&value));
        for text in accept {
            faults.check(valid(text), || format!("{text:?} should be accepted, but is not valid"));
        }
        for rejected in reject {
            let text = &rejected.text;
            faults.check(valid(text) == rejected.valid, || {
                format!("{text:?} is valid: {}, but the case says {}", !rejected.valid, rejected.valid)
            });
        }
    });
}

/// The validator of a case's schema, where it should agree with the case.
fn validator(case: &Case) -> Option<jsonschema::Validator> {
    let formwork_cases::Constraint::Schema(text) = &case.constraint else { return None };
    if !case.cross_check || matches!(case.expect, Expectation::Error(_)) {
        return None;
    }
    let schema: Value = serde_json::from_str(text).unwrap();
    let draft = match case.options.get("draft").and_then(Value::as_str) {
        Some("4") => jsonschema::Draft::Draft4,
        Some("6") => jsonschema::Draft::Draft6,
        Some("7") => jsonschema::Draft::Draft7,
        Some("2019-09") => jsonschema::Draft::Draft201909,
        _ => jsonschema::Draft::Draft202012,
    };
    Some(jsonschema::options().with_draft(draft).should_validate_formats(false).build(&schema).unwrap())
}

#[test]
fn known_failures_still_fail() {
    let names: Vec<String> = formwork_cases::all().unwrap().iter().map(ToString::to_string).collect();
    for (name, reason) in KNOWN_FAILURES {
        assert!(names.iter().any(|n| n == name), "no case is called {name} ({reason})");
        let case = formwork_cases::all().unwrap().into_iter().find(|c| c.to_string() == *name).unwrap();
        assert!(!passes(&case), "{name} passes now: take it off the list");
    }
}

/// Whether the bytes decide a case's texts as it says.
fn passes(case: &Case) -> bool {
    let compiled = constraint(case).and_then(|c| c.compile(&vocabulary(case)));
    match (&case.expect, compiled) {
        (Expectation::Error(expected), Err(error)) => error.code() == expected.code,
        (Expectation::Language { accept, reject }, Ok(compiled)) => {
            accept.iter().all(|text| judge(&compiled, text.as_bytes()) == (None, true))
                && reject.iter().all(|r| judge(&compiled, r.text.as_bytes()) == (r.at, false))
        }
        _ => false,
    }
}
