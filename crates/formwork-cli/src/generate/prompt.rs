//! The prompt, from wherever the person has it.

use std::io::{self, Read};
use std::path::Path;

use crate::error::Error;

/// Reads a prompt as the flag gives it: a text, `@FILE`, or `-` for standard input.
pub(super) fn read(given: &str) -> Result<String, Error> {
    let (bytes, place) = match given.strip_prefix('@') {
        _ if given == "-" => {
            let mut bytes = Vec::new();
            io::stdin().read_to_end(&mut bytes).map_err(Error::stdin)?;
            (bytes, "on standard input".to_owned())
        }
        Some(file) => {
            let path = Path::new(file);
            (std::fs::read(path).map_err(|e| Error::unreadable(path, e))?, format!("in {file}"))
        }
        None => (given.as_bytes().to_vec(), "given by --prompt".to_owned()),
    };
    let text = String::from_utf8(bytes)
        .map_err(|e| Error::prompt(format!("{place} is not UTF-8 at byte {}", e.utf8_error().valid_up_to())))?;
    if text.trim().is_empty() {
        return Err(Error::prompt(format!("{place} is empty")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_are_read() {
        assert_eq!(read("Hi").unwrap(), "Hi");
        assert_eq!(
            read(" ").unwrap_err().to_string(),
            "the prompt given by --prompt is empty; say what the model is to write"
        );
        assert_eq!(read("@/no/such/file").unwrap_err().code(), "unreadable_file");
        let file = tempfile::NamedTempFile::new().unwrap();
        let given = format!("@{}", file.path().display());
        assert_eq!(read(&given).unwrap_err().code(), "bad_prompt");
        std::fs::write(file.path(), b"ab\xff").unwrap();
        assert!(read(&given).unwrap_err().to_string().contains("is not UTF-8 at byte 2"));
        std::fs::write(file.path(), "Zürich\n").unwrap();
        assert_eq!(read(&given).unwrap(), "Zürich\n");
    }
}
