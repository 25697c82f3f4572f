//! `masks --oracle`: masks held against plain byte stepping, token by token.

use std::path::Path;

use formwork::{Constraint, Matcher, TokenId, Vocabulary, oracle};
use serde::Serialize;

use super::instances::{Case, Instance};
use super::progress;
use crate::engine::formwork_options;
use crate::error::Error;
use crate::output::write_json;

/// Of the masks that were known already, one in so many is checked, too.
const KNOWN: u64 = 40;

/// Mask errors that are listed.
const LISTED: usize = 100;

/// What came of it.
#[derive(Default, Serialize)]
struct Checked {
    tokenizer: String,
    vocabulary: usize,
    schemas: usize,
    refused: usize,
    masks: u64,
    /// Masks that were computed at a step, each of which is checked.
    computed: u64,
    /// Of the others.
    known: u64,
    mask_errors: u64,
    errors: Vec<MaskError>,
}

/// A mask that differs.
#[derive(Serialize)]
struct MaskError {
    schema: String,
    instance: usize,
    token_index: usize,
    tokens: Vec<u32>,
}

/// Checks the masks on the way through each instance.
pub(super) fn check(
    cases: &[Case],
    vocabulary: &Vocabulary,
    tokenizer: &Path,
    json: Option<&Path>,
) -> Result<(), Error> {
    let mut checked = Checked {
        tokenizer: tokenizer.display().to_string(),
        vocabulary: vocabulary.len(),
        schemas: cases.len(),
        ..Checked::default()
    };
    let progress = progress(cases.len());
    for case in cases {
        let compiled =
            Constraint::json_schema_with(&case.schema, &formwork_options(false)).map(|c| c.compile(vocabulary));
        if let Ok(Ok(compiled)) = compiled {
            for (index, instance) in case.instances.iter().enumerate() {
                walk(compiled.matcher(), case, index, instance, &mut checked)?;
            }
        } else {
            checked.refused += 1;
        }
        progress.inc(1);
    }
    progress.finish_and_clear();
    checked.print();
    if let Some(path) = json {
        write_json(path, &checked)?;
    }
    if checked.mask_errors > 0 {
        return Err(Error::Other(format!("{} masks differ from plain byte stepping", checked.mask_errors)));
    }
    Ok(())
}

fn walk(
    mut matcher: Matcher,
    case: &Case,
    index: usize,
    instance: &Instance,
    checked: &mut Checked,
) -> Result<(), Error> {
    let failed = |e: String| Error::engine("formwork", format!("{}: {e}", case.name));
    for at in 0..=instance.tokens.len() {
        let before = matcher.masks_computed();
        let next = instance.tokens.get(at).map(|id| TokenId::new(*id));
        let mask = matcher.mask().map_err(|e| failed(e.to_string()))?;
        let allowed = next.is_some_and(|id| mask.allows(id));
        let is_new = matcher.masks_computed() > before;
        checked.masks += 1;
        checked.computed += u64::from(is_new);
        let is_taken = !is_new && checked.masks.is_multiple_of(KNOWN);
        checked.known += u64::from(is_taken);
        if is_new || is_taken {
            let tokens: Vec<u32> = oracle::differences(&mut matcher).into_iter().map(TokenId::get).collect();
            if !tokens.is_empty() {
                checked.mask_errors += 1;
                if checked.errors.len() < LISTED {
                    let schema = case.name.clone();
                    checked.errors.push(MaskError { schema, instance: index, token_index: at, tokens });
                }
            }
        }
        let Some(next) = next.filter(|_| allowed) else { break };
        matcher.advance(next).map_err(|e| failed(e.to_string()))?;
    }
    Ok(())
}

impl Checked {
    #[expect(clippy::print_stdout, reason = "a program's output")]
    fn print(&self) {
        println!("{} ({} tokens), against plain byte stepping", self.tokenizer, self.vocabulary);
        println!("schemas            {:>10}   refused {}", self.schemas, self.refused);
        println!("masks              {:>10}", self.masks);
        println!("checked, computed  {:>10}", self.computed);
        println!("checked, known     {:>10}", self.known);
        println!("mask errors        {:>10}", self.mask_errors);
        for MaskError { schema, instance, token_index, tokens } in &self.errors {
            println!("  {schema}, instance {instance}, token {token_index}: tokens {tokens:?} differ");
        }
    }
}
