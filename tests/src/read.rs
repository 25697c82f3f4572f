//! TOML text → cases.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::case::{Case, Constraint, Expectation, ExpectedError, Place, Rejected};
use crate::error::Error;

const KINDS: [&str; 2] = ["schema", "regex"];

/// Every case of the project, in the order of file names.
///
/// # Errors
/// A file that can't be read or is not a case file.
pub fn all() -> Result<Vec<Case>, Error> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let mut cases = Vec::new();
    for kind in KINDS {
        for path in files(&root.join(kind))? {
            let text = std::fs::read_to_string(&path).map_err(|e| Error::unreadable(&path, e))?;
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            cases.extend(parse(&name, &text)?);
        }
    }
    Ok(cases)
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let unreadable = |e| Error::unreadable(folder, e);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|e| e == "toml") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Reads one file's text; `file` is its name for messages.
///
/// # Errors
/// Text that is no TOML, an unknown field, or a case that doesn't say one thing.
///
/// ```
/// let cases = formwork_cases::parse("numbers", r#"
/// about = "An example."
/// [[case]]
/// name = "three"
/// why = "const is one value"
/// schema = '{"const": 3}'
/// accept = ["3"]
/// reject = [{ text = "4", at = 0 }]
/// "#)?;
/// assert_eq!(cases[0].name, "three");
/// # Ok::<(), formwork_cases::Error>(())
/// ```
pub fn parse(file: &str, text: &str) -> Result<Vec<Case>, Error> {
    let raw: RawFile = toml::from_str(text).map_err(|e| Error::malformed(file, e))?;
    if raw.about.is_empty() || raw.case.is_empty() {
        return Err(Error::contradiction(file, "", "a file says what it is about, and has cases"));
    }
    let mut cases: Vec<Case> = Vec::with_capacity(raw.case.len());
    for case in raw.case {
        let case = case.check(file)?;
        if cases.iter().any(|other| other.name == case.name) {
            return Err(Error::contradiction(file, &case.name, "another case has this name"));
        }
        cases.push(case);
    }
    Ok(cases)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    about: String,
    case: Vec<RawCase>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCase {
    name: String,
    why: String,
    schema: Option<String>,
    regex: Option<String>,
    #[serde(default)]
    options: Value,
    #[serde(default = "yes")]
    cross_check: bool,
    #[serde(default)]
    accept: Vec<String>,
    #[serde(default)]
    reject: Vec<RawRejected>,
    error: Option<RawError>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRejected {
    text: String,
    at: Option<usize>,
    #[serde(default)]
    unfinished: bool,
    #[serde(default)]
    valid: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawError {
    code: String,
    pointer: Option<String>,
    line: Option<usize>,
    column: Option<usize>,
}

fn yes() -> bool {
    true
}

impl RawCase {
    fn check(self, file: &str) -> Result<Case, Error> {
        let wrong = |reason| Error::contradiction(file, &self.name, reason);
        let constraint = match (self.schema, self.regex) {
            (Some(schema), None) => Constraint::Schema(schema),
            (None, Some(regex)) => Constraint::Regex(regex),
            _ => return Err(wrong("it needs one of `schema` and `regex`")),
        };
        if self.why.is_empty() {
            return Err(wrong("it says no why"));
        }
        let texts = !self.accept.is_empty() || !self.reject.is_empty();
        let expect = match self.error {
            Some(_) if texts => return Err(wrong("a constraint that is refused decides no texts")),
            None if self.accept.is_empty() => return Err(wrong("it accepts nothing")),
            None => {
                let mut reject = Vec::with_capacity(self.reject.len());
                for raw in self.reject {
                    if raw.at.is_some() == raw.unfinished {
                        return Err(wrong("a rejected text needs one of `at` and `unfinished`"));
                    }
                    reject.push(Rejected { text: raw.text, at: raw.at, valid: raw.valid });
                }
                Expectation::Language { accept: self.accept, reject }
            }
            Some(raw) => {
                let place = match (raw.pointer, raw.line, raw.column) {
                    (Some(pointer), None, None) => Some(Place::Pointer(pointer)),
                    (None, Some(line), Some(column)) => Some(Place::LineColumn(line, column)),
                    (None, None, None) => None,
                    _ => return Err(wrong("an error's place is a pointer, or a line and a column")),
                };
                Expectation::Error(ExpectedError { code: raw.code, place })
            }
        };
        Ok(Case {
            file: file.to_owned(),
            name: self.name,
            why: self.why,
            constraint,
            options: self.options,
            cross_check: self.cross_check,
            expect,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(case: &str) -> String {
        let text = format!("about = \"a\"\n[[case]]\nname = \"n\"\n{case}");
        parse("file", &text).unwrap_err().to_string()
    }

    #[test]
    fn every_file_is_read() {
        let cases = all().unwrap();
        assert!(cases.iter().any(|c| matches!(c.constraint, Constraint::Schema(_))));
        assert!(cases.iter().any(|c| matches!(c.constraint, Constraint::Regex(_))));
    }

    #[test]
    fn half_said_cases_are_refused() {
        assert_eq!(refused("why = \"w\"\naccept = [\"\"]"), "file, case \"n\": it needs one of `schema` and `regex`");
        assert_eq!(refused("why = \"w\"\nregex = \"a\""), "file, case \"n\": it accepts nothing");
        assert_eq!(
            refused("why = \"w\"\nregex = \"a\"\naccept = [\"a\"]\nreject = [{ text = \"b\" }]"),
            "file, case \"n\": a rejected text needs one of `at` and `unfinished`"
        );
        assert!(refused("why = \"w\"\nregex = \"a\"\nacept = [\"a\"]").contains("unknown field"));
    }

    #[test]
    fn options_are_read_as_json() {
        let text = "about = \"a\"\n[[case]]\nname = \"n\"\nwhy = \"w\"\nschema = \"true\"\noptions = { whitespace = { flexible = 2 }, escapes = \"any\" }\naccept = [\"1\"]";
        let cases = parse("file", text).unwrap();
        assert_eq!(cases[0].options, serde_json::json!({"whitespace": {"flexible": 2}, "escapes": "any"}));
    }
}
