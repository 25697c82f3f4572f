//! The command as people and scripts use it: exit status, standard output, standard error.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking, and says loudly what it skips"
)]

mod compile;
#[cfg(feature = "model")]
mod generate;
mod match_lines;
mod shared_cases;
mod usage;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

/// What a run of the command left.
struct Done {
    status: Option<i32>,
    stdout: String,
    stderr: String,
}

/// Runs the command to its end.
fn formwork(args: &[&str], stdin: &[u8]) -> Done {
    run(Command::new(env!("CARGO_BIN_EXE_formwork")).args(args), stdin)
}

fn run(command: &mut Command, stdin: &[u8]) -> Done {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let input = stdin.to_vec();
    // A command that ends without reading its input closes the pipe.
    let feeder = std::thread::spawn(move || drop(pipe.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    Done {
        status: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Done {
    /// Asserts that a request was refused with one sentence, and returns it.
    fn refused(&self) -> &str {
        assert_eq!((self.status, self.stdout.as_str()), (Some(2), ""), "{}", self.stderr);
        assert_eq!(self.stderr.lines().count(), 1, "{}", self.stderr);
        self.stderr.trim_end().strip_prefix("formwork: ").unwrap()
    }
}

/// A vocabulary of all bytes, a few longer tokens, and an end.
fn tokenizer(folder: &Path) -> String {
    let mut vocab = serde_json::Map::new();
    let mut add = |token: String| {
        let id = vocab.len();
        vocab.insert(token, json!(id));
    };
    // The byte-level alphabet: printable bytes are themselves, the others stand above U+0100.
    let mut beyond = 0x100;
    for byte in 0..=255_u32 {
        let printable = matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF);
        let point = if printable { byte } else { beyond };
        beyond += u32::from(!printable);
        add(char::from_u32(point).unwrap().to_string());
    }
    for token in ["{\"", "\":", "Ġ\"", "true", "tr", "nu", "ll", "12", "]}"] {
        add(token.to_owned());
    }
    let end = vocab.len();
    let tokenizer = json!({
        "version": "1.0",
        "added_tokens": [{"id": end, "content": "<|im_end|>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}],
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
        "decoder": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
        "model": {"type": "BPE", "vocab": vocab, "merges": []},
    });
    let path = folder.join("tokenizer.json");
    std::fs::write(&path, tokenizer.to_string()).unwrap();
    path.display().to_string()
}

/// Writes a file, and gives its path.
fn file(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}
