//! From flags to what the decoder is asked.

use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

use formwork::candle::{LoadedModel, Prompt};
use formwork::decode::{GenerateRequest, Generation, ModelInfo, Provenance, SchemaValidator, StopConditions};
use formwork::sample::{SamplingParams, fresh_seed};
use formwork::{CompiledConstraint, Constraint, Spelling, Vocabulary, schema_options_from_json};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::args::GenerateArgs;
use crate::error::Error;

/// What is asked, as far as the model doesn't matter.
#[derive(Debug)]
pub(super) struct Task {
    constraint: Option<Constraint>,
    constraint_sha256: Option<String>,
    /// The schema's file, for errors.
    file: Option<std::path::PathBuf>,
    validator: Option<SchemaValidator>,
    parameters: SamplingParams,
    warnings: Vec<String>,
}

/// What is asked of a loaded model.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) vocabulary: Vocabulary,
    pub(super) compiled: Option<CompiledConstraint>,
    parameters: SamplingParams,
    provenance: Provenance,
    seed: u64,
}

impl Task {
    /// Reads the constraint and checks what can be checked without the model.
    pub(super) fn new(args: &GenerateArgs) -> Result<Self, Error> {
        let given = &args.constraint;
        for (flag, file) in [("gbnf", &given.gbnf), ("lark", &given.lark)] {
            if file.is_some() {
                return Err(Error::unsupported_constraint(flag));
            }
        }
        let options = given.options()?;
        let mut task = Self {
            constraint: None,
            constraint_sha256: None,
            file: given.schema.clone(),
            validator: None,
            parameters: args.sampling.params()?,
            warnings: Vec::new(),
        };
        if let Some(path) = &given.schema {
            task.schema(path, &options)?;
        } else if let Some(pattern) = &given.regex {
            task.constraint = Some(Constraint::regex(pattern).map_err(|e| Error::constraint(None, e))?);
            task.constraint_sha256 = Some(hex(&Sha256::digest(pattern)));
        }
        if let Some(constraint) = &task.constraint {
            // A contradiction is found before a model is fetched and loaded.
            constraint.automaton(Spelling::default()).map_err(|e| Error::constraint(task.file.as_deref(), e))?;
        }
        Ok(task)
    }

    fn schema(&mut self, path: &Path, options: &Value) -> Result<(), Error> {
        let bytes = std::fs::read(path).map_err(|e| Error::unreadable(path, e))?;
        self.constraint_sha256 = Some(hex(&Sha256::digest(&bytes)));
        let text = String::from_utf8(bytes).map_err(|e| Error::not_utf8(path, e.utf8_error().valid_up_to()))?;
        let text = text.trim_start_matches('\u{feff}');
        let read = schema_options_from_json(options).map_err(|e| Error::constraint(Some(path), e))?;
        let constraint = Constraint::json_schema_text(text, &read).map_err(|e| Error::constraint(Some(path), e))?;
        for warning in constraint.warnings() {
            self.warnings.push(format!("{}: {}", path.display(), warning.message));
        }
        for narrowed in constraint.narrowed() {
            let formwork::Narrowed { pointer, keyword, reason } = narrowed;
            self.warnings.push(format!("{}: `{keyword}` at {pointer} is enforced without {reason}", path.display()));
        }
        for relaxed in constraint.relaxed() {
            let formwork::Relaxed { pointer, keyword, reason } = relaxed;
            self.warnings.push(format!("{}: `{keyword}` at {pointer} is not enforced: {reason}", path.display()));
        }
        self.constraint = Some(constraint);
        // Read above already, and a schema that the validator can't use only goes without validation.
        let value: Value = serde_json::from_str(text).unwrap_or_default();
        let draft = options.get("draft").and_then(Value::as_str);
        match SchemaValidator::with_documents(&value, draft, &read.documents) {
            Ok(validator) => self.validator = Some(validator),
            Err(error) => self.warnings.push(format!("the result will not be validated: {}", error.full_message())),
        }
        Ok(())
    }

    /// What the person should know before anything is generated.
    pub(super) fn warnings(&self) -> impl Iterator<Item = String> + '_ {
        self.warnings.iter().cloned()
    }

    /// Compiles the constraint for the model's vocabulary.
    pub(super) fn prepare(&self, loaded: &LoadedModel) -> Result<Prepared, Error> {
        let file = self.file.as_deref();
        let tokens = loaded.file.gguf_tokens().map_err(Error::model)?;
        let vocabulary = Vocabulary::from_gguf(tokens)
            .and_then(|vocabulary| vocabulary.padded_to(loaded.model.vocab_size()))
            .map_err(|e| Error::constraint(None, e))?;
        let begin = Instant::now();
        let compiled = match &self.constraint {
            Some(constraint) => Some(constraint.compile(&vocabulary).map_err(|e| Error::constraint(file, e))?),
            None => None,
        };
        let compile_us = u64::try_from(begin.elapsed().as_micros()).unwrap_or(u64::MAX);
        let mut provenance = Provenance::default().tokenizer_sha256(loaded.tokenizer.sha256()).model(ModelInfo {
            id: loaded.file.name(),
            sha256: loaded.file.sha256().map_err(Error::model)?,
            dtype: loaded.file.dtype().to_owned(),
            device: loaded.model.device().to_string(),
        });
        if let Some(sha256) = &self.constraint_sha256 {
            provenance = provenance.constraint_sha256(sha256).compile_us(compile_us);
        }
        Ok(Prepared { vocabulary, compiled, parameters: self.parameters.clone(), provenance, seed: fresh_seed() })
    }

    /// Fills in the report's `parse` and `validation`.
    pub(super) fn check(&self, generation: &mut Generation) {
        if self.file.is_some() {
            generation.check_json(self.validator.as_ref());
        }
    }
}

impl Prepared {
    /// The request for one sequence.
    pub(super) fn request(&self, args: &GenerateArgs, prompt: &Prompt, sequence: u64) -> GenerateRequest {
        let stop =
            StopConditions::default().strings(args.stop.iter().map(String::as_str)).include_stop(args.include_stop);
        let mut request = GenerateRequest::new(prompt.ids.clone())
            .sampling(self.parameters.clone())
            .stop(stop)
            .seed(args.seed.unwrap_or(self.seed))
            .sequence(sequence)
            // Only reports show them, and they take time.
            .logprobs(args.report.is_some() || args.json)
            .provenance(self.provenance.clone());
        if let Some(max_tokens) = args.max_tokens {
            request = request.max_tokens(max_tokens);
        }
        request
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a string can't fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
