//! The corpus as token ids, the same for every engine.

use formwork_mask::Vocabulary;
use serde_json::Value;

use crate::corpus::Line;

/// A schema with its instances in tokens.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) schema: Value,
    pub(crate) instances: Vec<Instance>,
}

/// An instance in tokens, and whether the schema allows it.
pub(crate) struct Instance {
    pub(crate) valid: bool,
    pub(crate) tokens: Vec<u32>,
}

impl Case {
    /// Splits the instances into tokens; those that the vocabulary cannot spell are left out and counted.
    pub(crate) fn new(line: Line, vocabulary: &Vocabulary, unspellable: &mut usize) -> Self {
        let mut instances = Vec::new();
        for test in &line.case.tests {
            match vocabulary.longest_tokens(test.text().as_bytes()) {
                Some(tokens) => instances.push(Instance {
                    valid: test.valid,
                    tokens: tokens.into_iter().map(formwork::TokenId::get).collect(),
                }),
                None => *unspellable += 1,
            }
        }
        Self { name: line.name, schema: line.case.schema, instances }
    }
}
