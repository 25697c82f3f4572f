//! Data flows downwards only: no crate may depend on a later one.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::Command;

use serde_json::Value;

/// The crates from the first to the last; a crate may depend on those before it.
const LAYERS: &[&[&str]] = &[
    &["formwork-grammar"],
    &["formwork-automaton"],
    &["formwork-mask"],
    &["formwork-sample"],
    &["formwork-decode"],
    &["formwork-candle"],
    &["formwork"],
    &["formwork-cli", "formwork-bench"],
];

fn layer(name: &str) -> Option<usize> {
    LAYERS.iter().position(|crates| crates.contains(&name))
}

/// A package of the workspace, and what it depends on where it is not for tests or build scripts.
struct Package {
    name: String,
    dependencies: Vec<String>,
}

/// Cargo's own answer, read as plain JSON: a crate for it would give the tests' dependencies other features than the command's.
fn packages() -> Vec<Package> {
    let arguments = ["metadata", "--no-deps", "--format-version", "1"];
    let output = Command::new(env!("CARGO")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let name = |value: &Value| value["name"].as_str().unwrap().to_owned();
    let normal = |package: &Value| {
        let dependencies = package["dependencies"].as_array().unwrap().iter();
        dependencies.filter(|dependency| dependency["kind"].is_null()).map(name).collect()
    };
    let packages = metadata["packages"].as_array().unwrap().iter();
    packages.map(|package| Package { name: name(package), dependencies: normal(package) }).collect()
}

#[test]
fn dependencies_point_upstream() {
    let packages = packages();
    assert!(LAYERS.iter().flat_map(|crates| *crates).all(|name| packages.iter().any(|p| p.name == *name)));
    for Package { name, dependencies } in &packages {
        let Some(own) = layer(name) else {
            assert_eq!(name, "formwork-cases", "{name} has no layer");
            assert!(dependencies.iter().all(|d| layer(d).is_none()), "the case reader knows a crate of ours");
            continue;
        };
        for dependency in dependencies {
            assert!(layer(dependency).is_none_or(|other| other < own), "{name} depends on {dependency}");
        }
    }
}

#[test]
fn the_crates_below_the_model_build_without_it() {
    for Package { name, dependencies } in packages().iter().filter(|p| layer(&p.name).is_some_and(|l| l < 5)) {
        let heavy = dependencies.iter().find(|d| d.starts_with("candle") || *d == "tokenizers");
        assert!(heavy.is_none(), "{name} depends on {heavy:?}");
    }
}
