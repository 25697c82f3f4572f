//! The corpus: schemas with instances and what is right for each, a JSON line per schema.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::Error;
use crate::python_json;

/// A schema with its instances.
#[derive(Debug, Deserialize)]
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) case: Case,
}

/// What a line holds besides its name.
#[derive(Debug, Deserialize)]
pub(crate) struct Case {
    pub(crate) schema: Value,
    pub(crate) tests: Vec<Test>,
}

/// An instance.
#[derive(Debug, Deserialize)]
pub(crate) struct Test {
    pub(crate) description: Option<String>,
    pub(crate) valid: bool,
    pub(crate) data: Value,
}

impl Test {
    /// The instance as text.
    pub(crate) fn text(&self) -> String {
        python_json::dumps(&self.data)
    }
}

/// Reads a corpus of schemas with instances.
pub(crate) fn read(path: &Path) -> Result<Vec<Line>, Error> {
    lines(path)
}

/// Reads JSON lines, compressed with xz where the name ends so.
pub(crate) fn lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, Error> {
    let file = File::open(path).map_err(Error::read(path))?;
    let reader: Box<dyn Read> = if path.extension().is_some_and(|e| e == "xz") {
        Box::new(xz2::read::XzDecoder::new(file))
    } else {
        Box::new(file)
    };
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(BufReader::new(reader).lines()) {
        let line = line.map_err(Error::read(path))?;
        if line.trim().is_empty() {
            continue;
        }
        let parsed = serde_json::from_str(&line).map_err(|error| Error::Line {
            path: path.into(),
            line: number,
            message: error.to_string(),
        })?;
        lines.push(parsed);
    }
    Ok(lines)
}

/// Shuffles with a fixed seed, so that every run and engine sees the same order.
pub(crate) fn shuffle<T>(items: &mut [T]) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for last in (1..items.len()).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let choice = usize::try_from(state >> 33).unwrap_or(0) % (last + 1);
        items.swap(last, choice);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_lines_and_names_the_broken_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("corpus.jsonl");
        let good = r#"{"name": "a", "case": {"schema": true, "tests": [{"valid": true, "data": {"x": 1}}]}}"#;
        std::fs::write(&path, format!("{good}\n\n{good}\n")).unwrap();
        let lines = read(&path).unwrap();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0].case.tests[0].text(), r#"{"x": 1}"#);
        std::fs::write(&path, format!("{good}\n{{\n")).unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("corpus.jsonl:2:"));
    }

    #[test]
    fn shuffling_keeps_everything() {
        let mut items: Vec<u32> = (0..100).collect();
        shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }
}
