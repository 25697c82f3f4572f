//! The command as people and scripts use it: exit status, standard output, standard error.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking, and says loudly what it skips"
)]

#[cfg(feature = "model")]
mod generate;
mod match_lines;
mod shared_cases;
mod usage;

use std::io::Write;
use std::process::{Command, Stdio};

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
