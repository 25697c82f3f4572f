//! The report: its JSON, its checks, its replay.

use formwork_decode::{
    Comparison, GenerateRequest, Generation, ModelInfo, ParseStatus, Provenance, Recorded, SchemaValidator,
    StopConditions, ValidationStatus,
};
use formwork_sample::SamplingParams;
use serde_json::{Value, json};

use crate::toy::{OneOf, Tokens, hashing, id, run, script};

fn constrained() -> Generation {
    let tokens = Tokens::new(&["{", "}", "\"a\"", ":", "1", "2", "\"a\":", ""]);
    let texts = [br#"{"a":1}"#.to_vec(), br#"{"a":12}"#.to_vec()];
    let mut constraint = OneOf::new(&tokens, &texts);
    let model = ModelInfo { id: "table".into(), sha256: "00".into(), dtype: "f32".into(), device: "cpu".into() };
    let request = GenerateRequest::new([id(3), id(3)])
        .seed(7)
        .max_tokens(9)
        .logprobs(true)
        .stop(StopConditions::default().strings(["2"]))
        .sampling(SamplingParams::default().temperature(0.8).top_k(3).min_tokens(1))
        .provenance(Provenance::default().model(model).tokenizer_sha256("11").constraint_sha256("22").compile_us(5));
    let mut done = run(&request, hashing(tokens.len(), 5), Some(&mut constraint), &tokens).unwrap();
    let schema = json!({"properties": {"a": {"maximum": 1}}});
    done.check_json(Some(&SchemaValidator::new(&schema, None).unwrap()));
    done
}

#[test]
fn a_report_as_json() {
    let mut report = serde_json::to_value(constrained()).unwrap();
    // Times differ from run to run; that they are there is what counts.
    let timing = report["timing_us"].as_object_mut().unwrap();
    for (name, time) in timing.iter_mut() {
        assert!(time.as_f64().is_some_and(|t| t >= 0.0), "{name}: {time}");
        *time = Value::from("…");
    }
    report["reproduce"]["formwork"] = Value::from("…");
    // The last digits depend on the machine's `exp`.
    for step in report["reproduce"]["steps"].as_array_mut().unwrap() {
        for logprob in step["logprob"].as_object_mut().unwrap().values_mut() {
            *logprob = Value::from((logprob.as_f64().unwrap() * 1e9).round() / 1e9 + 0.0);
        }
    }
    insta::assert_snapshot!(serde_json::to_string_pretty(&report).unwrap());
}

#[test]
fn a_report_can_be_replayed() {
    let done = constrained();
    let written = serde_json::to_string(&done).unwrap();
    let recorded = Recorded::from_report(&written).unwrap();
    assert_eq!(recorded.compare(&done), Comparison::Same { largest_difference: Some(0.0) });

    let again = |recorded: &Recorded, salt: u64, seed: u64| {
        let tokens = Tokens::new(&["{", "}", "\"a\"", ":", "1", "2", "\"a\":", ""]);
        let texts = [br#"{"a":1}"#.to_vec(), br#"{"a":12}"#.to_vec()];
        let mut constraint = OneOf::new(&tokens, &texts);
        let request = recorded.request().seed(seed);
        run(&request, hashing(tokens.len(), salt), Some(&mut constraint), &tokens).unwrap()
    };
    let same = again(&recorded, 5, 7);
    assert_eq!(recorded.compare(&same), Comparison::Same { largest_difference: Some(0.0) });
    assert_eq!(same.reproduce.params, done.reproduce.params);

    // Another seed: some draw differs. The first token is forced.
    let other = (8..40).map(|seed| again(&recorded, 5, seed)).find(|g| g.text != done.text).unwrap();
    let Comparison::Differs { step, draw_differs, .. } = recorded.compare(&other) else {
        panic!("the texts differ");
    };
    assert!(draw_differs && step > 0);

    // Another model with the same numbers: the probabilities differ.
    let other = again(&recorded, 6, 7);
    match recorded.compare(&other) {
        Comparison::Same { largest_difference } => assert!(largest_difference.unwrap() > 0.0),
        Comparison::Differs { draw_differs, .. } => assert!(!draw_differs),
        _ => unreachable!(),
    }
    assert_eq!(Recorded::from_report("{}").unwrap_err().code(), "invalid_report");
}

#[test]
fn log_probabilities_sum_over_the_path() {
    let done = constrained();
    let joint = done.joint_logprob().unwrap();
    let steps: Vec<_> = done.reproduce.steps.iter().map(|step| step.logprob.unwrap()).collect();
    let sum: f64 = steps.iter().map(|p| p.grammar).sum();
    assert!((joint.grammar - sum).abs() < 1e-12);
    let forced: Vec<_> = done.reproduce.steps.iter().filter(|step| step.forced).collect();
    assert!(!forced.is_empty());
    for step in forced {
        let p = step.logprob.unwrap();
        assert!(
            p.raw < 0.0 && p.grammar.abs() < 1e-9 && p.final_.abs() < 1e-12,
            "forced, yet not certain to the model"
        );
    }
}

#[test]
fn logprobs_change_no_token() {
    let tokens = Tokens::new(&["a", "b", "aa", "ba", ""]);
    let texts: Vec<_> = ["abab", "aaaa", "bababa", "ba"].map(|t| t.as_bytes().to_vec()).to_vec();
    for seed in 0..50 {
        let go = |logprobs| {
            let mut constraint = OneOf::new(&tokens, &texts);
            let request = GenerateRequest::new([id(1)]).seed(seed).logprobs(logprobs);
            run(&request, hashing(5, 1), Some(&mut constraint), &tokens).unwrap().reproduce.output_ids
        };
        assert_eq!(go(true), go(false));
    }
}

fn checked(text: &str, schema: Option<Value>) -> (ParseStatus, ValidationStatus, Generation) {
    let tokens = Tokens::new(&[text, ""]);
    let mut done = run(&GenerateRequest::new([]), script(&tokens, &[0]), None, &tokens).unwrap();
    assert_eq!((done.parse.status, done.validation.status), (ParseStatus::NotApplicable, ValidationStatus::NotRun));
    let validator = schema.map(|schema| SchemaValidator::new(&schema, None).unwrap());
    done.check_json(validator.as_ref());
    (done.parse.status, done.validation.status, done)
}

#[test]
fn parsing_and_validity_are_separate() {
    let schema = || Some(json!({"required": ["a"], "properties": {"a": {"type": "integer", "multipleOf": 0.5}}}));
    let (parse, validation, _) = checked(r#"{"a": 1}"#, schema());
    assert_eq!((parse, validation), (ParseStatus::Ok, ValidationStatus::Valid));
    let (parse, validation, done) = checked(r#"{"a": "x"}"#, schema());
    assert_eq!((parse, validation), (ParseStatus::Ok, ValidationStatus::Invalid));
    assert_eq!(done.validation.errors[0].instance_path, "/a");
    assert_eq!(done.validation.errors[0].schema_path, "/properties/a/type");
    let (parse, validation, done) = checked("{\"a\":\n 1", schema());
    assert_eq!((parse, validation), (ParseStatus::Failed, ValidationStatus::NotRun));
    let error = done.parse.error.unwrap();
    assert_eq!((error.line, error.column), (2, 2));
    let (parse, validation, _) = checked("[]", None);
    assert_eq!((parse, validation), (ParseStatus::Ok, ValidationStatus::NotRun));
}

#[test]
fn numbers_are_validated_as_written() {
    let validator = SchemaValidator::new(
        &json!({"type": "integer", "maximum": 1e19, "enum": [10_000_000_000_000_000_000_u64, 3]}),
        None,
    )
    .unwrap();
    for (text, status) in [
        ("10000000000000000000", ValidationStatus::Valid),
        ("3.0", ValidationStatus::Valid),
        ("10000000000000000001", ValidationStatus::Invalid),
        ("3.5", ValidationStatus::Invalid),
    ] {
        assert_eq!(validator.validate(&serde_json::from_str(text).unwrap()).status, status, "{text}");
    }
}

#[test]
fn a_broken_schema_is_named() {
    let err = SchemaValidator::new(&json!({"properties": {"a": {"type": 3}}}), None).unwrap_err();
    assert_eq!((err.code(), err.pointer()), ("invalid_schema", Some("/properties/a/type")));
    assert_eq!(SchemaValidator::new(&json!({}), Some("5")).unwrap_err().code(), "invalid_schema");
}

#[test]
fn seeds_decide_everything() {
    let tokens = Tokens::new(&["a", "b", "c", ""]);
    let go = |seed: u64, sequence| {
        let request = GenerateRequest::new([]).seed(seed).sequence(sequence).max_tokens(20);
        run(&request, hashing(4, 3), None, &tokens).unwrap().reproduce.output_ids
    };
    assert_eq!(go(1, 0), go(1, 0));
    assert!((0..20).any(|seed| go(seed, 0) != go(seed, 1)));
    let fresh = |_| run(&GenerateRequest::new([]), hashing(4, 3), None, &tokens).unwrap().reproduce.seed;
    assert_ne!(fresh(0), fresh(1));
}
