//! Real automata and vocabularies under the loop.

use std::sync::Arc;

use formwork_automaton::{Automaton, JsonAutomaton, RegexAutomaton, Spelling};
use formwork_decode::{
    Constraint, FinishReason, GenerateRequest, MatcherConstraint, SchemaValidator, ValidationStatus,
};
use formwork_grammar::{Regex, SchemaOptions, parse_schema};
use formwork_mask::{CompiledConstraint, TokenEntry, Vocabulary};
use proptest::prelude::*;
use serde_json::Value;

use crate::toy::{hashing, id, run};

/// Every byte, some longer tokens, and one that ends a text.
fn vocabulary() -> Vocabulary {
    let longer = [
        "aa", "ab", "abc", "\":", "{\"", "\",\"", "\"}", "\"]", "],", "[1", "12", "00", " \"", ", ", ": ", "true",
        "name", "\"name\"", "}}", "]}", "tags",
    ];
    let entries = (0..=u8::MAX)
        .map(|byte| TokenEntry::Text(vec![byte]))
        .chain(longer.iter().map(|text| TokenEntry::Text(text.as_bytes().to_vec())))
        .chain([TokenEntry::Special("<end>".into()), TokenEntry::Special("<other>".into())])
        .collect();
    let end = u32::try_from(256 + longer.len()).unwrap();
    Vocabulary::from_tokens(entries, &[end]).unwrap()
}

fn regex(pattern: &str, vocabulary: &Vocabulary) -> CompiledConstraint {
    let regex = Regex::parse_rust(pattern).unwrap();
    compile(Arc::new(RegexAutomaton::new(&regex, Spelling::default()).unwrap()), vocabulary)
}

fn schema(schema: &str, vocabulary: &Vocabulary) -> CompiledConstraint {
    let options = SchemaOptions::default();
    let schema = parse_schema(schema, &options).unwrap();
    compile(Arc::new(JsonAutomaton::new(schema, &options, Spelling::default()).unwrap()), vocabulary)
}

fn compile(automaton: Arc<dyn Automaton>, vocabulary: &Vocabulary) -> CompiledConstraint {
    CompiledConstraint::new(automaton, vocabulary).unwrap()
}

const SCHEMAS: [&str; 3] = [
    r#"{"type": "object", "properties": {"name": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"},
        "minItems": 1}}, "required": ["name"], "additionalProperties": false}"#,
    r#"{"type": "array", "items": {"type": "array", "items": {"type": "integer"}, "minItems": 2}, "minItems": 1}"#,
    r##"{"type": "object", "properties": {"a": {"$ref": "#"}, "b": {"enum": ["x", "yes", 12]}}, "required": ["b"]}"##,
];

/// The rows within every budget, against trying each token by itself.
fn check_rows(constraint: &CompiledConstraint, tokens: &[usize]) {
    let mut matcher = constraint.matcher();
    for token in tokens {
        if matcher.is_token_legal(id(*token)) {
            matcher.advance(id(*token)).unwrap();
        }
    }
    if matcher.is_finished() {
        return;
    }
    let at_least = MatcherConstraint::new(matcher.fork()).needed().unwrap();
    for remaining in at_least.saturating_sub(1)..at_least + 5 {
        let mut row = MatcherConstraint::new(matcher.fork());
        let row = row.mask_within(remaining).unwrap().to_vec();
        assert!(row.iter().any(|word| *word != 0), "nothing fits {remaining} more");
        for token in constraint.vocabulary().ids() {
            let legal = matcher.is_token_legal(token);
            let mut one = MatcherConstraint::new(matcher.fork());
            one.needed().unwrap();
            let wanted = legal && one.fits(token, remaining).unwrap();
            let got = row[token.index() / 32] >> (token.get() % 32) & 1 == 1;
            assert_eq!(got, wanted, "token {token} with {remaining} more");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn rows_within_a_budget_are_those_of_each_token(which in 0usize..5, tokens in prop::collection::vec(0usize..278, 0..200)) {
        let vocabulary = vocabulary();
        let constraint = match which {
            0..3 => schema(SCHEMAS[which], &vocabulary),
            3 => regex("(abc|ab){2,5}", &vocabulary),
            _ => regex("[a-c]+(12|true)?", &vocabulary),
        };
        check_rows(&constraint, &tokens);
    }

    #[test]
    fn any_budget_that_holds_the_shortest_text_gives_a_valid_one(which in 0usize..3, salt: u64, spare in 0usize..40) {
        let vocabulary = vocabulary();
        let constraint = schema(SCHEMAS[which], &vocabulary);
        let needed = MatcherConstraint::new(constraint.matcher()).needed().unwrap();
        let go = |budget| {
            let request = GenerateRequest::new([id(0)]).seed(salt).max_tokens(budget);
            let mut constraint = MatcherConstraint::new(constraint.matcher());
            run(&request, hashing(vocabulary.len(), salt), Some(&mut constraint), &vocabulary)
        };
        let mut done = go(needed + spare).unwrap();
        prop_assert!(matches!(done.finish_reason, FinishReason::Grammar | FinishReason::Eos), "{:?}", done.error);
        let schema: Value = serde_json::from_str(SCHEMAS[which]).unwrap();
        done.check_json(Some(&SchemaValidator::new(&schema, None).unwrap()));
        prop_assert_eq!(done.validation.status, ValidationStatus::Valid, "{}", done.text);
        let err = go(needed - 1).unwrap_err();
        prop_assert_eq!(err.needed_tokens(), Some(needed));
    }
}

#[test]
fn a_finished_regex_needs_no_end() {
    let vocabulary = vocabulary();
    let constraint = regex("abc", &vocabulary);
    let mut matcher = MatcherConstraint::new(constraint.matcher());
    assert_eq!(matcher.needed().unwrap(), 1);
    let request = GenerateRequest::new([]).seed(1).max_tokens(1);
    let done = run(&request, hashing(vocabulary.len(), 1), Some(&mut matcher), &vocabulary).unwrap();
    assert_eq!((done.text.as_str(), done.finish_reason), ("abc", FinishReason::Grammar));
    assert_eq!(done.usage.forced_tokens, 1, "within the budget only one token fits");
}

#[test]
fn an_open_regex_keeps_a_token_for_the_end() {
    let vocabulary = vocabulary();
    let constraint = regex("a+", &vocabulary);
    let mut matcher = MatcherConstraint::new(constraint.matcher());
    assert_eq!(matcher.needed().unwrap(), 2);
    for budget in 2..8 {
        let mut matcher = MatcherConstraint::new(constraint.matcher());
        let request = GenerateRequest::new([]).seed(1).max_tokens(budget);
        let done = run(&request, hashing(vocabulary.len(), 1), Some(&mut matcher), &vocabulary).unwrap();
        assert_eq!(done.finish_reason, FinishReason::Eos);
    }
}
