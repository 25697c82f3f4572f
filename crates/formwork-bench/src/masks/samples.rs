//! Every sample by itself: which text came before it, and what it took.

use std::io::{BufWriter, Write};
use std::path::Path;

use formwork_mask::Vocabulary;

use super::instances::Case;
use super::report::Run;
use crate::error::Error;

/// Bytes of the text before a sample that are told.
const TAIL: usize = 40;

/// Writes tab-separated lines: engine, schema, instance, token, nanoseconds of the mask and of the advance after it, and how the text before
/// them ends.
pub(crate) fn write(path: &Path, runs: &[Run], cases: &[Case], vocabulary: &Vocabulary) -> Result<(), Error> {
    let mut out = BufWriter::new(std::fs::File::create(path).map_err(Error::write(path))?);
    for run in runs {
        let kind = run.kind.name();
        for (record, case) in run.records.iter().zip(cases) {
            let mut times = record.mask_ns.iter().zip(&record.advance_ns);
            for (index, instance) in case.instances.iter().enumerate() {
                let mut text: Vec<u8> = Vec::new();
                for (step, (mask, advance)) in times.by_ref().enumerate() {
                    let tail = String::from_utf8_lossy(&text[text.len().saturating_sub(TAIL)..]);
                    let name = &record.name;
                    writeln!(out, "{kind}\t{name}\t{index}\t{step}\t{mask}\t{advance}\t{tail:?}")
                        .map_err(Error::write(path))?;
                    // No advance follows the last mask of an instance.
                    if *advance == 0 {
                        break;
                    }
                    let token = instance.tokens.get(step).copied().map(formwork::TokenId::new);
                    text.extend_from_slice(token.and_then(|token| vocabulary.bytes(token)).unwrap_or_default());
                }
            }
        }
    }
    out.flush().map_err(Error::write(path))
}
