//! Data flows downwards only: no crate may depend on a later one.

use cargo_metadata::{DependencyKind, MetadataCommand};

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

#[test]
fn dependencies_point_upstream() {
    let metadata = MetadataCommand::new().no_deps().exec().unwrap();
    for package in &metadata.packages {
        let Some(own) = layer(&package.name) else {
            assert_eq!(package.name.as_str(), "formwork-cases", "{} has no layer", package.name);
            assert!(
                package.dependencies.iter().all(|d| layer(&d.name).is_none()),
                "the case reader knows a crate of ours"
            );
            continue;
        };
        for dependency in package.dependencies.iter().filter(|d| d.kind == DependencyKind::Normal) {
            let upstream = layer(&dependency.name).is_none_or(|other| other < own);
            assert!(upstream, "{} depends on {}", package.name, dependency.name);
        }
    }
}

#[test]
fn the_crates_below_the_model_build_without_it() {
    let metadata = MetadataCommand::new().no_deps().exec().unwrap();
    for package in metadata.packages.iter().filter(|p| layer(&p.name).is_some_and(|l| l < 5)) {
        let heavy = package.dependencies.iter().find(|d| d.name.starts_with("candle") || d.name == "tokenizers");
        assert!(heavy.is_none(), "{} depends on {}", package.name, heavy.map_or("", |d| &d.name));
    }
}
