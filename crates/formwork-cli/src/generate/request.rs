//! From flags to what the decoder is asked.

use std::time::Instant;

use formwork::candle::{LoadedModel, Prompt};
use formwork::decode::{GenerateRequest, Generation, ModelInfo, Provenance, SchemaValidator, StopConditions};
use formwork::sample::{SamplingParams, fresh_seed};
use formwork::{Artefact, CompiledConstraint, Draft, Spelling, Vocabulary};
use serde_json::Value;

use crate::args::GenerateArgs;
use crate::error::Error;
use crate::given::Given;

/// What is asked, as far as the model doesn't matter.
#[derive(Debug)]
pub(super) struct Task {
    given: Option<Given>,
    artefact: Option<Artefact>,
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
        let given = Given::read(&args.constraint)?;
        let artefact = args.artefact.as_deref().map(Artefact::open).transpose();
        let mut task = Self {
            given: None,
            artefact: artefact.map_err(|e| Error::constraint(None, e))?,
            validator: None,
            parameters: args.sampling.params()?,
            warnings: Vec::new(),
        };
        let Some(given) = given else { return Ok(task) };
        task.warnings = given.warnings();
        if given.file.is_some() {
            // Read above already, and a schema that the validator can't use only goes without validation.
            let value: Value = serde_json::from_str(&given.text).unwrap_or_default();
            let draft = given.options.draft.map(Draft::name);
            match SchemaValidator::with_documents(&value, draft, &given.options.documents) {
                Ok(validator) => task.validator = Some(validator),
                Err(error) => task.warnings.push(format!("the result will not be validated: {}", error.full_message())),
            }
        }
        if let Some(artefact) = &task.artefact {
            artefact.check_constraint(&given.constraint.fingerprint()).map_err(|e| Error::constraint(None, e))?;
        }
        // A contradiction is found before a model is fetched and loaded.
        given.constraint.automaton(Spelling::default()).map_err(|e| given.error(e))?;
        task.given = Some(given);
        Ok(task)
    }

    /// What the person should know before anything is generated.
    pub(super) fn warnings(&self) -> impl Iterator<Item = String> + '_ {
        self.warnings.iter().cloned()
    }

    /// Compiles the constraint for the model's vocabulary.
    pub(super) fn prepare(&self, loaded: &LoadedModel) -> Result<Prepared, Error> {
        let tokens = loaded.file.gguf_tokens().map_err(Error::model)?;
        let vocabulary = Vocabulary::from_gguf(tokens)
            .and_then(|vocabulary| vocabulary.padded_to(loaded.model.vocab_size()))
            .map_err(|e| Error::constraint(None, e))?;
        let begin = Instant::now();
        let compiled = match &self.given {
            Some(given) => {
                let compiled = given.constraint.compile(&vocabulary).map_err(|e| given.error(e))?;
                Some(match &self.artefact {
                    Some(artefact) => compiled
                        .with_artefact(artefact.clone(), &given.constraint.fingerprint())
                        .map_err(|e| Error::constraint(None, e))?,
                    None => compiled,
                })
            }
            None => None,
        };
        let compile_us = u64::try_from(begin.elapsed().as_micros()).unwrap_or(u64::MAX);
        let mut provenance = Provenance::default().tokenizer_sha256(loaded.tokenizer.sha256()).model(ModelInfo {
            id: loaded.file.name(),
            sha256: loaded.file.sha256().map_err(Error::model)?,
            dtype: loaded.file.dtype().to_owned(),
            device: loaded.model.device().to_string(),
        });
        if let Some(given) = &self.given {
            provenance = provenance.constraint_sha256(given.sha256()).compile_us(compile_us);
        }
        Ok(Prepared { vocabulary, compiled, parameters: self.parameters.clone(), provenance, seed: fresh_seed() })
    }

    /// Fills in the report's `parse` and `validation`.
    pub(super) fn check(&self, generation: &mut Generation) {
        if self.given.as_ref().is_some_and(|given| given.file.is_some()) {
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
