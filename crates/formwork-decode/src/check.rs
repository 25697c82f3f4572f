//! Fills in a report's `parse` and `validation`, after the fact.

use crate::parse::parse_json;
use crate::report::Generation;
use crate::validation::SchemaValidator;

impl Generation {
    /// Reads the text as JSON and, where there is a validator and the text parses, validates the value.
    pub fn check_json(&mut self, validator: Option<&SchemaValidator>) {
        let (parse, value) = parse_json(&self.text);
        self.parse = parse;
        if let (Some(validator), Some(value)) = (validator, value) {
            self.validation = validator.validate(&value);
        }
    }
}
