//! llguidance as an engine: its own defaults (slicer, limits), its token trie built from the bytes that Formwork gets.

use std::sync::Arc;

use formwork_mask::Vocabulary;
use llguidance::api::TopLevelGrammar;
use llguidance::toktrie::{ApproximateTokEnv, SimpleVob, TokEnv, TokRxInfo, TokTrie};
use llguidance::{ParserFactory, TokenParser};
use serde_json::{Value, json};

use super::{Compiled, Engine, Sequence};
use crate::error::Error;

struct Llguidance {
    factory: ParserFactory,
    spaced: bool,
}

pub(super) fn start(vocabulary: &Vocabulary, spaced: bool) -> Result<Box<dyn Engine>, Error> {
    let environment = environment(vocabulary);
    let mut factory = ParserFactory::new_simple(&environment).map_err(|e| Error::engine("llguidance", e))?;
    factory.quiet();
    Ok(Box::new(Llguidance { factory, spaced }))
}

/// The token trie, with special tokens marked as llguidance wants them.
fn environment(vocabulary: &Vocabulary) -> TokEnv {
    let words: Vec<Vec<u8>> = vocabulary
        .ids()
        .map(|id| match (vocabulary.bytes(id), vocabulary.special_name(id)) {
            (Some(bytes), _) => bytes.to_vec(),
            (None, Some(name)) => [&[TokTrie::SPECIAL_TOKEN_MARKER], name.as_bytes()].concat(),
            (None, None) => Vec::new(),
        })
        .collect();
    let eos: Vec<u32> = vocabulary.eos().iter().map(|id| id.get()).collect();
    let size = u32::try_from(words.len()).unwrap_or(u32::MAX);
    let info = TokRxInfo::new(size, eos.first().copied().unwrap_or(0));
    let trie = TokTrie::from(&info, &words).with_eos_tokens(&eos);
    Arc::new(ApproximateTokEnv::new(trie))
}

impl Engine for Llguidance {
    fn compile<'a>(&'a self, schema: &Value) -> Result<Box<dyn Compiled + 'a>, String> {
        let mut schema = schema.clone();
        if self.spaced
            && let Some(object) = schema.as_object_mut()
        {
            let options = json!({"whitespace_flexible": false, "item_separator": ", ", "key_separator": ": "});
            object.insert("x-guidance".into(), options);
        }
        let grammar = TopLevelGrammar::from_json_schema(schema);
        let parser = self.factory.create_parser(grammar).map_err(first_line)?;
        Ok(Box::new(CompiledSchema { parser }))
    }
}

struct CompiledSchema {
    parser: TokenParser,
}

impl Compiled for CompiledSchema {
    fn sequence(&self) -> Result<Box<dyn Sequence + '_>, String> {
        // A clone shares the lexer's states with the original.
        let mut parser = self.parser.clone();
        parser.start_without_prompt();
        Ok(Box::new(ParserSequence { parser, mask: SimpleVob::new() }))
    }
}

struct ParserSequence {
    parser: TokenParser,
    mask: SimpleVob,
}

impl Sequence for ParserSequence {
    fn mask(&mut self) -> Result<&[u32], String> {
        self.mask = self.parser.compute_mask().map_err(first_line)?;
        Ok(self.mask.as_slice())
    }

    fn advance(&mut self, token: u32) -> Result<(), String> {
        match self.parser.consume_token(token).map_err(first_line)? {
            0 => Ok(()),
            _ => Err("asked to backtrack".into()),
        }
    }
}

fn first_line(error: impl std::fmt::Display) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}
