//! `suite`: the verdicts of the official JSON Schema test suite.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use formwork::{Draft, Format, SchemaOptions, schema_options_from_json};
use indicatif::ProgressBar;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::corpus::{self, Test};
use crate::error::Error;
use crate::judge::{Compiled, Verdict, caught, open_spelling};
use crate::output::write_json;

/// Holds verdicts against those of the official JSON Schema test suite.
///
/// Example: formwork-bench suite suite.jsonl.xz --remotes remotes.json --json out.json
#[derive(clap::Args)]
pub(crate) struct Args {
    /// JSON lines with `draft`, `file`, `optional`, `group`, `schema` and `tests`, or the same compressed with xz.
    suite: PathBuf,
    /// The documents that schemas refer to: a JSON object of them by URI.
    #[arg(long)]
    remotes: Option<PathBuf>,
    /// Write the report here.
    #[arg(long)]
    json: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Group {
    draft: String,
    file: String,
    optional: bool,
    #[serde(rename = "group")]
    name: String,
    schema: Value,
    tests: Vec<Test>,
}

#[derive(Debug, Default, Serialize)]
struct Tally {
    right: usize,
    wrong_accepts: usize,
    wrong_rejects: usize,
    narrowed: usize,
    refused: usize,
    total: usize,
}

#[derive(Debug, Serialize)]
struct Listed {
    draft: String,
    file: String,
    group: String,
    test: Option<String>,
    outcome: &'static str,
    reason: String,
}

#[derive(Debug, Default, Serialize)]
struct Report {
    drafts: BTreeMap<String, BTreeMap<&'static str, Tally>>,
    listed: Vec<Listed>,
    undecided: u64,
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let groups: Vec<Group> = corpus::lines(&args.suite)?;
    let remotes = match &args.remotes {
        Some(path) => remotes(path)?,
        None => SchemaOptions::default(),
    };
    let mut report = Report::default();
    let bar = ProgressBar::new(groups.len() as u64);
    for group in &groups {
        judge(group, &remotes, &mut report);
        bar.inc(1);
    }
    bar.finish_and_clear();
    report.print();
    if let Some(path) = &args.json {
        write_json(path, &report)?;
    }
    Ok(())
}

fn remotes(path: &Path) -> Result<SchemaOptions, Error> {
    let text = std::fs::read_to_string(path).map_err(Error::read(path))?;
    let documents: Value = serde_json::from_str(&text).map_err(|e| Error::Other(format!("{}: {e}", path.display())))?;
    schema_options_from_json(&json!({ "documents": documents }))
        .map_err(|e| Error::Other(format!("{}: {e}", path.display())))
}

fn judge(group: &Group, remotes: &SchemaOptions, report: &mut Report) {
    let draft = group.draft.trim_start_matches("draft");
    let asserted = group.file.starts_with("optional/format");
    let mut options = open_spelling(remotes.clone()).format(if asserted { Format::Enforce } else { Format::Annotate });
    if let Some(draft) = Draft::from_name(draft) {
        options = options.draft(draft);
    }
    let kind = if group.optional { "optional" } else { "mandatory" };
    let tally = report.drafts.entry(group.draft.clone()).or_default().entry(kind).or_default();
    tally.total += group.tests.len();
    let mut list = |test: Option<&Test>, outcome, reason: String| {
        report.listed.push(Listed {
            draft: group.draft.clone(),
            file: group.file.clone(),
            group: group.name.clone(),
            test: test.and_then(|test| test.description.clone()),
            outcome,
            reason,
        });
    };
    let compiled = match caught(|| Compiled::new(&group.schema, &options)) {
        Ok(Ok(compiled)) => compiled,
        Ok(Err(error)) => {
            tally.refused += group.tests.len();
            list(None, "refused", error.to_string());
            return;
        }
        Err(panic) => {
            tally.refused += group.tests.len();
            list(None, "panicked", panic);
            return;
        }
    };
    for test in &group.tests {
        let text = test.text();
        let verdict = match caught(|| compiled.by_bytes(&text)) {
            Ok(verdict) => verdict,
            Err(panic) => {
                tally.refused += 1;
                list(Some(test), "panicked", panic);
                continue;
            }
        };
        match (test.valid, verdict) {
            (true, Verdict::Complete) | (false, Verdict::Rejected(_)) => tally.right += 1,
            (false, Verdict::Complete) => {
                tally.wrong_accepts += 1;
                list(Some(test), "wrong_accept", text);
            }
            (true, Verdict::Rejected(at)) => {
                if let Some(narrowed) = compiled.constraint.narrowed().first() {
                    tally.narrowed += 1;
                    list(Some(test), "narrowed", format!("{text}: {} without {}", narrowed.pointer, narrowed.reason));
                } else {
                    tally.wrong_rejects += 1;
                    list(Some(test), "wrong_reject", format!("{text} at byte {at}"));
                }
            }
        }
    }
    report.undecided += compiled.undecided();
}

impl Report {
    #[expect(clippy::print_stdout, reason = "the table is the result")]
    fn print(&self) {
        println!("| draft | part | right | wrong accepts | wrong rejects | narrowed | refused | total |");
        println!("|---|---|---|---|---|---|---|---|");
        for (draft, parts) in &self.drafts {
            for (part, tally) in parts {
                let Tally { right, wrong_accepts, wrong_rejects, narrowed, refused, total } = tally;
                println!(
                    "| {draft} | {part} | {right} | {wrong_accepts} | {wrong_rejects} | {narrowed} | {refused} | {total} |"
                );
            }
        }
        println!();
        println!("undecided: {}", self.undecided);
        for case in &self.listed {
            let Listed { draft, file, group, test, outcome, reason } = case;
            let test = test.as_deref().unwrap_or("all");
            println!("{outcome}: {draft} {file} / {group} / {test}: {reason}");
        }
    }
}
