//! Vocabularies that lack bytes, met by JSON schemas: what is left is offered, and where nothing is left, compiling says why.

use std::sync::Arc;

use formwork_automaton::{ByteSet, CompileError, JsonAutomaton, Spelling};
use formwork_grammar::{SchemaOptions, parse_schema};
use formwork_mask::{CompiledConstraint, Matcher, TokenEntry, Vocabulary, oracle};

use crate::vocabularies::Random;

/// A vocabulary of all printable ASCII but some characters, of some longer tokens, and an end.
fn without(missing: &str, longer: &[&str]) -> Vocabulary {
    let single = (b' '..=b'~').filter(|byte| !missing.contains(char::from(*byte))).map(|byte| vec![byte]);
    let mut entries: Vec<TokenEntry> =
        single.chain(longer.iter().map(|text| text.as_bytes().to_vec())).map(TokenEntry::Text).collect();
    entries.push(TokenEntry::Special("</s>".into()));
    let eos = u32::try_from(entries.len() - 1).unwrap();
    Vocabulary::from_tokens(entries, &[eos]).unwrap()
}

fn compile(schema: &str, vocabulary: &Vocabulary) -> Result<Matcher, CompileError> {
    let options = SchemaOptions::default();
    let words = vocabulary.single_bytes();
    let alphabet: ByteSet = (0..=u8::MAX).filter(|b| words[usize::from(b >> 6)] >> (b & 63) & 1 == 1).collect();
    let longest_token = u32::try_from(vocabulary.longest_token()).unwrap();
    let schema = parse_schema(schema, &options).unwrap();
    let automaton = JsonAutomaton::new(schema, &options, Spelling { alphabet, longest_token })?;
    Ok(CompiledConstraint::new(Arc::new(automaton), vocabulary).unwrap().matcher())
}

/// The texts of the tokens in a matcher's mask, which is held against the oracle.
fn offered(matcher: &mut Matcher) -> Vec<String> {
    assert_eq!(oracle::differences(matcher), []);
    let vocabulary = matcher.constraint().vocabulary().clone();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    matcher.mask().unwrap().iter().map(|token| vocabulary.bytes(token).map_or_else(|| "</s>".into(), text)).collect()
}

#[test]
fn that_no_text_is_spelled_with_are_refused() {
    for (schema, missing) in [
        (r#"{"type": "string"}"#, "\""),
        (r#"{"type": "object"}"#, "{"),
        (r#"{"type": "object", "required": ["a"]}"#, ":"),
        (r#"{"type": "array", "minItems": 2}"#, ","),
        (r#"{"type": "array"}"#, "]"),
        (r#"{"const": "\n"}"#, "\\"),
        (r#"{"type": "boolean"}"#, "e"),
        (r#"{"const": -1.5}"#, "-"),
        (r#"{"const": -1.5}"#, "."),
        (r#"{"const": 75}"#, "7"),
    ] {
        assert!(compile(schema, &without("", &[])).is_ok(), "{schema}");
        let error = compile(schema, &without(missing, &[])).unwrap_err();
        let named = format!("can't spell {:?} (U+", missing.chars().next().unwrap());
        assert!(error.code() == "unspellable" && error.to_string().contains(&named), "{schema}: {error}");
    }
}

#[test]
fn that_lack_one_alternative_offer_the_others() {
    let schema = r#"{"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 1, "maximum": 3}]}"#;
    let mut matcher = compile(schema, &without("\"", &["1", "12", "\"a", "\"\""])).unwrap();
    assert_eq!(offered(&mut matcher), ["1", "2", "3", "1"]);
    let mut matcher = compile(r#"{"type": "array", "items": {"const": true}}"#, &without(",", &["]]", "],"])).unwrap();
    matcher.advance_bytes(b"[true").unwrap();
    assert_eq!(offered(&mut matcher), ["]"]);
}

#[test]
fn with_tokens_that_no_single_bytes_spell_equal_the_oracle() {
    let vocabulary = without("qz", &["aq", "zz", "é", "aé", "bb", "abab", "\",\"", "qqq"]);
    for schema in [r#"{"type": "string", "maxLength": 9}"#, r#"{"type": "object"}"#, r#"{"items": {"type": "string"}}"#]
    {
        let mut matcher = compile(schema, &vocabulary).unwrap();
        let mut random = Random::new(7);
        for _ in 0..60 {
            offered(&mut matcher);
            let tokens: Vec<_> = matcher.mask().unwrap().iter().collect();
            matcher.advance(tokens[random.below(tokens.len())]).unwrap();
            if matcher.is_finished() {
                break;
            }
        }
    }
}
