//! Help, and flags that are wrong.

use crate::formwork;

fn help(args: &[&str]) -> String {
    let done = formwork(args, b"");
    assert_eq!((done.status, done.stderr.as_str()), (Some(0), ""));
    done.stdout
}

#[test]
fn help_has_an_example_at_every_level() {
    let levels: &[&[&str]] = if cfg!(feature = "model") {
        &[
            &["--help"],
            &["match", "--help"],
            &["compile", "--help"],
            &["generate", "--help"],
            &["model", "--help"],
            &["model", "pull", "--help"],
            &["model", "path", "--help"],
        ]
    } else {
        &[&["--help"], &["match", "--help"], &["compile", "--help"]]
    };
    for level in levels {
        assert!(help(level).contains("Example"), "{level:?}");
    }
}

#[test]
fn help_of_match() {
    insta::assert_snapshot!(help(&["match", "--help"]));
}

#[cfg(feature = "model")]
#[test]
fn help_of_generate() {
    insta::assert_snapshot!(help(&["generate", "--help"]));
}

#[test]
fn version() {
    assert_eq!(help(&["--version"]), concat!("formwork ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn wrong_flags_are_one_sentence() {
    assert_eq!(formwork(&[], b"").refused(), "say what to do; `formwork --help` lists the commands");
    assert_eq!(
        formwork(&["match", "--tokeniser", "x"], b"").refused(),
        "unexpected argument '--tokeniser' found; a similar argument exists: '--tokenizer'; see `formwork match --help`"
    );
    assert_eq!(
        formwork(&["match", "--oracle"], b"").refused(),
        "the following required arguments were not provided: --tokenizer <FILE>; see `formwork match --help`"
    );
    assert!(formwork(&["mach"], b"").refused().starts_with("unrecognized subcommand 'mach'"));
}

#[test]
fn files_that_cannot_be_read() {
    assert_eq!(
        formwork(&["match", "/no/such/file"], b"").refused(),
        "/no/such/file can't be read: no such file or directory"
    );
    assert_eq!(
        formwork(&["match", "--tokenizer", "/no/such/file"], b"").refused(),
        "/no/such/file can't be read: no such file or directory"
    );
}

#[test]
fn tokenizers_that_are_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokenizer.json");
    let shown = path.display().to_string();
    for (text, said) in [
        ("", "the file ends too early"),
        ("{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\"", "the file ends too early"),
        ("not json", "expected"),
        ("{}", ""),
        ("[]", ""),
    ] {
        std::fs::write(&path, text).unwrap();
        let done = formwork(&["match", "--tokenizer", &shown], b"");
        let sentence = done.refused();
        assert!(sentence.contains(&shown) && sentence.contains(said), "{text:?}: {sentence}");
    }
    std::fs::write(&path, "GGUF\u{3}").unwrap();
    let done = formwork(&["match", "--tokenizer", &shown], b"");
    assert!(done.refused().contains(&shown));
}
