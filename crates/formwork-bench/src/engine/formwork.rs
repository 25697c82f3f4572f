//! Formwork as an engine, through its front door.

use formwork::{CompiledConstraint, Constraint, Matcher, SchemaOptions, TokenId, Vocabulary, Whitespace};
use serde_json::Value;

use super::{Compiled, Engine, Sequence};

/// The longest run of blanks that is accepted.
const FLEXIBLE_BLANKS: u16 = 8;

struct Formwork {
    vocabulary: Vocabulary,
    options: SchemaOptions,
}

pub(super) fn start(vocabulary: Vocabulary, spaced: bool) -> Box<dyn Engine> {
    vocabulary.prepare();
    Box::new(Formwork { vocabulary, options: options(spaced) })
}

/// How schemas are read: with one space after `,` and `:`, or with blanks wherever JSON has them.
pub(crate) fn options(spaced: bool) -> SchemaOptions {
    let whitespace = if spaced { Whitespace::Spaced } else { Whitespace::Flexible(FLEXIBLE_BLANKS) };
    SchemaOptions::default().whitespace(whitespace)
}

impl Engine for Formwork {
    fn compile<'a>(&'a self, schema: &Value) -> Result<Box<dyn Compiled + 'a>, String> {
        let constraint = Constraint::json_schema_with(schema, &self.options).map_err(|e| e.to_string())?;
        let compiled = constraint.compile(&self.vocabulary).map_err(|e| e.to_string())?;
        Ok(Box::new(compiled))
    }
}

impl Compiled for CompiledConstraint {
    fn sequence(&self) -> Result<Box<dyn Sequence + '_>, String> {
        Ok(Box::new(self.matcher()))
    }
}

impl Sequence for Matcher {
    fn mask(&mut self) -> Result<&[u32], String> {
        Ok(self.mask().map_err(|e| e.to_string())?.words())
    }

    fn advance(&mut self, token: u32) -> Result<(), String> {
        self.advance(TokenId::new(token)).map_err(|e| e.to_string())
    }
}
