//! The constraint that the flags name, read and checked.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use formwork::{Constraint, SchemaOptions, schema_options_from_json};
use sha2::{Digest, Sha256};

use crate::args::ConstraintArgs;
use crate::error::Error;

/// A constraint with what it was read from.
#[derive(Debug)]
pub(crate) struct Given {
    pub(crate) constraint: Constraint,
    /// The schema's file.
    pub(crate) file: Option<PathBuf>,
    /// The schema's text, or the expression.
    pub(crate) text: String,
    pub(crate) options: SchemaOptions,
    digest: [u8; 32],
}

impl Given {
    /// Reads the constraint; `None` where the flags name none.
    pub(crate) fn read(args: &ConstraintArgs) -> Result<Option<Self>, Error> {
        for (flag, file) in [("gbnf", &args.gbnf), ("lark", &args.lark)] {
            if file.is_some() {
                return Err(Error::unsupported_constraint(flag));
            }
        }
        let options = args.options()?;
        if let Some(path) = &args.schema {
            let options = schema_options_from_json(&options).map_err(|e| Error::constraint(Some(path.as_path()), e))?;
            return Self::schema(path, options).map(Some);
        }
        let Some(pattern) = &args.regex else { return Ok(None) };
        let constraint = Constraint::regex(pattern).map_err(|e| Error::constraint(None, e))?;
        let (text, digest) = (pattern.clone(), Sha256::digest(pattern).into());
        Ok(Some(Self { constraint, file: None, text, options: SchemaOptions::default(), digest }))
    }

    fn schema(path: &Path, options: SchemaOptions) -> Result<Self, Error> {
        let bytes = std::fs::read(path).map_err(|e| Error::unreadable(path, e))?;
        let digest = Sha256::digest(&bytes).into();
        let text = String::from_utf8(bytes).map_err(|e| Error::not_utf8(path, e.utf8_error().valid_up_to()))?;
        let text = text.trim_start_matches('\u{feff}').to_owned();
        let constraint = Constraint::json_schema_text(&text, &options).map_err(|e| Error::constraint(Some(path), e))?;
        Ok(Self { constraint, file: Some(path.to_owned()), text, options, digest })
    }

    /// SHA-256 of the file's bytes, or of the expression, in hexadecimal.
    pub(crate) fn sha256(&self) -> String {
        hex(&self.digest)
    }

    /// What it was read from, as the person named it.
    pub(crate) fn place(&self) -> String {
        self.file.as_deref().map_or_else(|| self.text.clone(), |file| file.display().to_string())
    }

    /// What the library says about the constraint, with its file.
    pub(crate) fn error(&self, error: impl Into<formwork::Error>) -> Error {
        Error::constraint(self.file.as_deref(), error)
    }

    /// What the person should know before the constraint is used.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let place = self.place();
        let warnings = self.constraint.warnings().iter().map(|warning| format!("{place}: {}", warning.message));
        let narrowed = self.constraint.narrowed().iter().map(|narrowed| {
            let formwork::Narrowed { pointer, keyword, reason } = narrowed;
            format!("{place}: `{keyword}` at {pointer} is enforced without {reason}")
        });
        let relaxed = self.constraint.relaxed().iter().map(|relaxed| {
            let formwork::Relaxed { pointer, keyword, reason } = relaxed;
            format!("{place}: `{keyword}` at {pointer} is not enforced: {reason}")
        });
        warnings.chain(narrowed).chain(relaxed).collect()
    }
}

/// Bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a string can't fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
