//! The cache: what is found, what is installed, what is refused. Nothing here asks the network.

use std::fs;

use candle_core::quantized::GgmlDType;
use formwork_candle::{Device, LoadedModel, ModelCache, Source};

use crate::tiny::Tiny;

#[test]
fn a_file_put_there_by_hand_is_the_default_model() {
    let dir = tempfile::tempdir().unwrap();
    let cache = ModelCache::new(dir.path().join("cache"));
    assert_eq!(cache.find_default(), None);
    let path = cache.default_path();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::rename(Tiny::new(GgmlDType::Q8_0).write(dir.path()), &path).unwrap();
    let mut news = 0;
    let found = Source::Default.locate(&cache, &mut |_| news += 1).unwrap();
    assert_eq!((found, news), (path, 0));
    // There is nothing to compare its checksum with.
    let error = cache.check_default(&mut |_| {}).unwrap_err();
    assert_eq!(error.code(), "pull_failed");
}

#[test]
fn a_wrong_original_is_refused_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let cache = ModelCache::new(dir.path());
    let models = cache.default_path().parent().unwrap().to_owned();
    fs::create_dir_all(&models).unwrap();
    let original = models.join("SmolLM2-135M-Instruct.Q4_1.gguf");
    fs::write(&original, "GGUF, but not that one").unwrap();
    let error = cache.pull_default(&mut |_| {}).unwrap_err();
    assert_eq!(error.code(), "checksum_mismatch");
    assert_eq!(error.path(), Some(&*original));
    assert_eq!(cache.find_default(), None);
    let names: Vec<String> = fs::read_dir(&models)
        .unwrap()
        .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name != ".lock")
        .collect();
    assert_eq!(names, ["SmolLM2-135M-Instruct.Q4_1.gguf"]);
}

#[test]
fn a_cache_that_cannot_be_made_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let error = ModelCache::new(&file).pull_default(&mut |_| {}).unwrap_err();
    assert_eq!(error.code(), "io");
}

#[test]
fn a_hub_id_needs_the_hub() {
    if cfg!(feature = "hub") {
        return;
    }
    let source = Source::parse("owner/name").unwrap();
    let error = source.locate(&ModelCache::new("/nonexistent"), &mut |_| {}).unwrap_err();
    assert_eq!(error.code(), "hub_not_built");
    assert!(error.help().unwrap().contains("\"hub\""));
}

/// The whole way: the published file, put there by hand, is checked, converted, and then only looked at.
#[test]
fn the_original_is_converted_once() {
    let Some(original) = std::env::var_os("FORMWORK_ORIGINAL_MODEL") else {
        eprintln!("SKIPPED: FORMWORK_ORIGINAL_MODEL does not name SmolLM2-135M-Instruct.Q4_1.gguf");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let cache = ModelCache::new(dir.path());
    let path = cache.default_path();
    let by_hand = path.with_file_name("SmolLM2-135M-Instruct.Q4_1.gguf");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::copy(original, by_hand).unwrap();
    assert_eq!(cache.pull_default(&mut |_| {}).unwrap(), path);
    assert_eq!(cache.check_default(&mut |_| {}).unwrap(), path);
    let loaded = LoadedModel::open(&path, Device::Cpu).unwrap();
    assert_eq!(loaded.file.dtype(), "Q8_0");

    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, bytes).unwrap();
    let error = cache.check_default(&mut |_| {}).unwrap_err();
    assert_eq!(error.code(), "checksum_mismatch");
}
