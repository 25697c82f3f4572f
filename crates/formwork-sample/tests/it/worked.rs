//! Cases that can be checked by hand; each says why its numbers are what they are.

use formwork_sample::ExplainRequest;
use serde_json::Value;

fn check(case: &Value) {
    let name = case["name"].as_str().unwrap();
    let request: ExplainRequest =
        serde_json::from_value(case["request"].clone()).unwrap_or_else(|err| panic!("{name}: {err}"));
    let got = request.explain().unwrap_or_else(|err| panic!("{name}: {err}"));
    let stages: Vec<_> = got.stages.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(serde_json::to_value(stages).unwrap(), case["stages"], "{name}");
    let ids: Vec<_> = got.final_.iter().map(|p| p.id).collect();
    let wanted = case["final"].as_array().unwrap();
    let wanted_ids: Vec<_> = wanted.iter().map(|p| p[0].clone()).collect();
    assert_eq!(serde_json::to_value(ids).unwrap(), Value::from(wanted_ids), "{name}");
    for (got, wanted) in got.final_.iter().zip(wanted) {
        let wanted = wanted[1].as_f64().unwrap();
        assert!((got.prob - wanted).abs() < 2e-6, "{name}: token {} has {}, not {wanted}", got.id, got.prob);
    }
    assert_eq!(Value::from(got.chosen), case["chosen"], "{name}");
    assert_eq!(serde_json::to_value(&got.relaxed).unwrap(), case["relaxed"], "{name}");
}

#[test]
fn every_case() {
    let text = include_str!("worked.jsonl");
    assert!(text.lines().count() > 12);
    for line in text.lines() {
        check(&serde_json::from_str(line).unwrap());
    }
}
