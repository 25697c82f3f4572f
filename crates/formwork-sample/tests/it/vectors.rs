//! The worked cases of `vectors/sampling.jsonl`, made by an independent program.

use std::path::PathBuf;

use formwork_sample::{ExplainRequest, Probability};
use serde_json::Value;

const TOLERANCE: f64 = 1e-6;

fn shared() -> PathBuf {
    std::env::var_os("FORMWORK_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from)
}

fn check_candidates(place: &str, got: &[Probability], wanted: &Value) {
    let wanted = wanted.as_array().unwrap();
    let got_ids: Vec<_> = got.iter().map(|p| u64::from(p.id)).collect();
    let wanted_ids: Vec<_> = wanted.iter().map(|p| p["id"].as_u64().unwrap()).collect();
    assert_eq!(got_ids, wanted_ids, "{place}: the candidates");
    for (got, wanted) in got.iter().zip(wanted) {
        let wanted = wanted["prob"].as_f64().unwrap();
        assert!((got.prob - wanted).abs() < TOLERANCE, "{place}: token {} has {}, not {wanted}", got.id, got.prob);
    }
}

fn check(case: &Value) {
    let name = case["name"].as_str().unwrap();
    let request: ExplainRequest =
        serde_json::from_value(case["request"].clone()).unwrap_or_else(|err| panic!("{name}: {err}"));
    let got = request.explain().unwrap_or_else(|err| panic!("{name}: {err}"));
    let wanted = &case["expect"];
    let got_stages: Vec<_> = got.stages.iter().map(|s| s.name.as_str()).collect();
    let wanted_stages = wanted["stages"].as_array().unwrap();
    let wanted_names: Vec<_> = wanted_stages.iter().map(|s| s["name"].as_str().unwrap()).collect();
    assert_eq!(got_stages, wanted_names, "{name}: the stages");
    for (got, wanted) in got.stages.iter().zip(wanted_stages) {
        check_candidates(&format!("{name}, {}", got.name), &got.candidates, &wanted["candidates"]);
    }
    check_candidates(&format!("{name}, final"), &got.final_, &wanted["final"]);
    assert_eq!(u64::from(got.chosen), wanted["chosen"].as_u64().unwrap(), "{name}: the token");
    assert_eq!(serde_json::to_value(&got.relaxed).unwrap(), wanted["relaxed"], "{name}: relaxed");
}

#[test]
fn every_worked_case() {
    let path = shared().join("vectors/sampling.jsonl");
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("SKIPPED: the worked cases are not at {}; set FORMWORK_SHARED to their folder", path.display());
        return;
    };
    let mut count = 0;
    for line in text.lines() {
        check(&serde_json::from_str(line).unwrap());
        count += 1;
    }
    assert_eq!(count, 151, "cases read");
}
