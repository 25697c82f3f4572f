//! A constraint: what was read from a schema or a regular expression, before it meets a vocabulary.

use std::sync::Arc;

use formwork_automaton::{ByteSet, JsonAutomaton, LangPool, RegexAutomaton, Spelling};
use formwork_grammar::{Narrowed, Regex, Relaxed, Schema, SchemaOptions, Warning, parse_schema, schema_from_value};
use formwork_mask::{Artefact, CompiledConstraint, Vocabulary};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::error::Error;

/// A checked constraint. Compiling it with a [`Vocabulary`] gives what masks come from.
///
/// ```
/// use formwork::Constraint;
/// assert!(Constraint::regex("[0-9]{4}-[0-9]{2}").is_ok());
/// assert_eq!(Constraint::regex("[0-9").unwrap_err().code(), "regex_syntax");
/// ```
#[derive(Clone, Debug)]
pub struct Constraint(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Schema { schema: Box<Schema>, options: Box<SchemaOptions>, text: Box<str> },
    Regex { regex: Regex, pattern: Box<str> },
}

impl Constraint {
    /// A JSON Schema with the default options.
    ///
    /// # Errors
    /// See [`Constraint::json_schema_with`].
    pub fn json_schema(schema: &Value) -> Result<Self, Error> {
        Self::json_schema_with(schema, &SchemaOptions::default())
    }

    /// A JSON Schema.
    ///
    /// # Errors
    /// A keyword with a wrong value, one that can't be enforced, a reference that leads nowhere: each with its JSON pointer.
    pub fn json_schema_with(schema: &Value, options: &SchemaOptions) -> Result<Self, Error> {
        let text = schema.to_string().into();
        let schema = Box::new(schema_from_value(schema, options)?);
        Ok(Self(Kind::Schema { schema, options: Box::new(options.clone()), text }))
    }

    /// A JSON Schema's text.
    ///
    /// # Errors
    /// Also where the text is not JSON, with line and column.
    pub fn json_schema_text(text: &str, options: &SchemaOptions) -> Result<Self, Error> {
        let schema = Box::new(parse_schema(text, options)?);
        Ok(Self(Kind::Schema { schema, options: Box::new(options.clone()), text: text.into() }))
    }

    /// A regular expression in the dialect of the `regex` crate, which the whole text must match.
    ///
    /// # Errors
    /// An expression that can't be read, with its place.
    pub fn regex(pattern: &str) -> Result<Self, Error> {
        Ok(Self(Kind::Regex { regex: Regex::parse_rust(pattern)?, pattern: pattern.into() }))
    }

    /// Keywords of the schema that are not enforced, only validated afterwards: empty unless the options are lenient.
    pub fn relaxed(&self) -> &[Relaxed] {
        match &self.0 {
            Kind::Schema { schema, .. } => schema.relaxed(),
            Kind::Regex { .. } => &[],
        }
    }

    /// Keywords of the schema that are enforced by a narrower language: what is generated is valid, but some valid texts never come.
    pub fn narrowed(&self) -> &[Narrowed] {
        match &self.0 {
            Kind::Schema { schema, .. } => schema.narrowed(),
            Kind::Regex { .. } => &[],
        }
    }

    /// What looks like a mistake in the schema but is legal.
    pub fn warnings(&self) -> &[Warning] {
        match &self.0 {
            Kind::Schema { schema, .. } => schema.warnings(),
            Kind::Regex { .. } => &[],
        }
    }

    /// What tells the constraint from others: SHA-256 over its kind, the schema's JSON (however it is spaced) with the options, or the
    /// expression.
    ///
    /// ```
    /// use formwork::{Constraint, SchemaOptions};
    /// let text = Constraint::json_schema_text("{ \"type\": \"null\" }", &SchemaOptions::default())?;
    /// let value = Constraint::json_schema(&serde_json::json!({"type": "null"}))?;
    /// assert_eq!(text.fingerprint(), value.fingerprint());
    /// assert_ne!(text.fingerprint(), Constraint::regex("null")?.fingerprint());
    /// # Ok::<(), formwork::Error>(())
    /// ```
    pub fn fingerprint(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        let mut part = |text: &str| {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        };
        match &self.0 {
            Kind::Schema { options, text, .. } => {
                // It was read before; what can't be read again only goes as it stands.
                let json = serde_json::from_str(text).map_or_else(|_| text.to_string(), |json: Value| json.to_string());
                part("schema");
                part(&json);
                // All options with their names, those to come too.
                part(&format!("{options:?}"));
            }
            Kind::Regex { pattern, .. } => {
                part("regex");
                part(pattern);
            }
        }
        hash.finalize().into()
    }

    /// Compiles for a vocabulary, with masks that were computed ahead of time ([`precompute`](crate::precompute)).
    ///
    /// ```
    /// use formwork::{Artefact, Constraint, PrecomputeLimits, TokenEntry, Vocabulary, precompute};
    /// # let entries = (0..=255).map(|b| TokenEntry::Text(vec![b])).collect();
    /// # let vocabulary = Vocabulary::from_tokens(entries, &[])?;
    /// let constraint = Constraint::json_schema(&serde_json::json!({"type": "boolean"}))?;
    /// let compiled = constraint.compile(&vocabulary)?;
    /// let masks = precompute(&compiled, &PrecomputeLimits::default(), &mut |_| {})?;
    /// let bytes = masks.to_bytes(&compiled, &constraint.fingerprint()); // to be kept in a file
    ///
    /// let compiled = constraint.compile_with(&vocabulary, Artefact::from_bytes(bytes, "boolean")?)?;
    /// compiled.matcher().mask()?;
    /// assert_eq!(compiled.cache_stats().computed, 0);
    /// # Ok::<(), formwork::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Constraint::compile`]; and where the artefact was made for another constraint, other options or another vocabulary.
    pub fn compile_with(&self, vocabulary: &Vocabulary, artefact: Artefact) -> Result<CompiledConstraint, Error> {
        Ok(self.compile(vocabulary)?.with_artefact(artefact, &self.fingerprint())?)
    }

    /// Compiles for a vocabulary. The result is cheap to clone and shared by threads.
    ///
    /// # Errors
    /// A constraint that no text satisfies, or none that the vocabulary can spell; a pattern without an automaton; a limit exceeded.
    pub fn compile(&self, vocabulary: &Vocabulary) -> Result<CompiledConstraint, Error> {
        let words = vocabulary.single_bytes();
        let alphabet: ByteSet = (0..=u8::MAX).filter(|b| words[usize::from(b >> 6)] >> (b & 63) & 1 == 1).collect();
        let longest_token = u32::try_from(vocabulary.longest_token()).unwrap_or(u32::MAX);
        let automaton = self.automaton_with(Spelling { alphabet, longest_token }, vocabulary.langs())?;
        Ok(CompiledConstraint::new(automaton, vocabulary)?)
    }

    /// The automaton alone, for texts that the given bytes can spell.
    ///
    /// # Errors
    /// As [`Constraint::compile`].
    pub fn automaton(&self, spelling: Spelling) -> Result<Arc<dyn formwork_automaton::Automaton>, Error> {
        self.automaton_with(spelling, &LangPool::default())
    }

    fn automaton_with(
        &self,
        spelling: Spelling,
        langs: &LangPool,
    ) -> Result<Arc<dyn formwork_automaton::Automaton>, Error> {
        Ok(match &self.0 {
            Kind::Schema { schema, options, .. } => {
                Arc::new(JsonAutomaton::with_langs((**schema).clone(), options, spelling, langs)?)
            }
            Kind::Regex { regex, .. } => Arc::new(RegexAutomaton::new(regex, spelling)?),
        })
    }
}
