//! Reports as files.

use std::path::Path;

use serde::Serialize;

use crate::error::Error;

/// Writes a report as indented JSON.
pub(crate) fn write_json(path: &Path, report: &impl Serialize) -> Result<(), Error> {
    let json = serde_json::to_vec_pretty(report).map_err(|e| Error::Other(e.to_string()))?;
    std::fs::write(path, json).map_err(Error::write(path))
}
