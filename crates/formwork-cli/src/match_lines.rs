//! `formwork match`: constraints and texts as JSON lines in, verdicts as JSON lines out.

mod answer;
mod request;
mod through_bytes;
mod through_masks;
mod walks;

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use formwork::{Constraint, SchemaOptions, TokenEntry, Vocabulary, Whitespace, schema_options_from_json};

use crate::args::MatchArgs;
use crate::error::Error;
use crate::listed::Warning;
use crate::match_lines::answer::{Answer, Decided, ErrorBody, Outcome, TextAnswer, Unsatisfiable};
use crate::match_lines::request::{Kind, Request};
use crate::output::{self, Status};
use crate::{sentence, tokenizer_file};

/// Answers every line.
pub(crate) fn run(args: &MatchArgs) -> Result<Status, Error> {
    let context = Context::new(args)?;
    let mut lines: Box<dyn BufRead> = match args.requests.as_path() {
        path if path == Path::new("-") => Box::new(BufReader::new(io::stdin())),
        path => Box::new(BufReader::new(File::open(path).map_err(|e| Error::unreadable(path, e))?)),
    };
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        if lines.read_until(b'\n', &mut line).map_err(Error::stdin)? == 0 {
            break;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let answer = match request::parse(&line, number) {
            Ok(request) => context.answer(request),
            Err(malformed) => *malformed,
        };
        output::print(&answer.line())?;
    }
    Ok(Status::Good)
}

/// What all lines share.
struct Context {
    bytes: Vocabulary,
    tokens: Option<Vocabulary>,
    complete: bool,
    oracle: bool,
}

impl Context {
    fn new(args: &MatchArgs) -> Result<Self, Error> {
        let tokens = match &args.tokenizer {
            Some(path) => {
                let vocabulary = tokenizer_file::open(path)?;
                vocabulary.prepare();
                Some(vocabulary)
            }
            None => None,
        };
        let mut entries: Vec<TokenEntry> = (0..=u8::MAX).map(|byte| TokenEntry::Text(vec![byte])).collect();
        entries.push(TokenEntry::Special("</s>".to_owned()));
        let bytes = Vocabulary::from_tokens(entries, &[256]).map_err(|e| Error::constraint(None, e))?;
        Ok(Self { bytes, tokens, complete: args.complete, oracle: args.oracle })
    }

    fn answer(&self, request: Request) -> Answer {
        let mut warnings = request.warnings.clone();
        let outcome = match self.decide(&request, &mut warnings) {
            Ok(outcome) => outcome,
            Err(error) if error.is_unsatisfiable() => Outcome::Unsatisfiable {
                unsatisfiable: Unsatisfiable { pointer: error.pointer().map(str::to_owned), message: said(&error) },
                texts: request.texts.iter().map(|_| self.rejected_at_once()).collect(),
                narrowed: [],
                undecided: 0,
            },
            Err(error) => {
                let body = ErrorBody::new(error.code(), said(&error));
                Outcome::Refused { error: body.at_pointer(error.pointer()).at_line(error.line_column()) }
            }
        };
        Answer::new(request.id, outcome, warnings)
    }

    fn decide(&self, request: &Request, warnings: &mut Vec<Warning>) -> Result<Outcome, formwork::Error> {
        let (constraint, options) = match &request.kind {
            Kind::Schema(schema) => {
                let options = schema_options_from_json(&request.options)?;
                (Constraint::json_schema_with(schema, &options)?, options)
            }
            Kind::Regex(pattern) => {
                // Read all the same: a misspelt option is a mistake here too.
                let options = schema_options_from_json(&request.options)?;
                if options != SchemaOptions::default() {
                    warnings.push(Warning::of_request("the options are a schema's, and say nothing about a regex"));
                }
                (Constraint::regex(pattern)?, SchemaOptions::default())
            }
            Kind::Unsupported(kind) => {
                let message = format!("`{kind}` constraints are not supported yet; `schema` and `regex` are");
                return Ok(Outcome::Refused { error: ErrorBody::new("unsupported_constraint", message) });
            }
        };
        warnings.extend(constraint.warnings().iter().map(Warning::from));
        let by_bytes = constraint.compile(&self.bytes)?;
        let by_tokens = match &self.tokens {
            Some(vocabulary) => Some(constraint.compile(vocabulary)?),
            None => None,
        };
        if by_tokens.as_ref().is_some_and(|c| c.vocabulary().eos().is_empty()) {
            warnings
                .push(Warning::of_request("the tokenizer names no token that ends a text, so none is ever allowed"));
        }
        let trailing = match options.whitespace {
            Whitespace::Flexible(most) => usize::from(most),
            _ => 0,
        };
        let mut decided = Decided {
            narrowed: constraint.narrowed().iter().map(Into::into).collect(),
            relaxed: constraint.relaxed().iter().map(Into::into).collect(),
            ..Decided::default()
        };
        for text in &request.texts {
            let verdict = through_bytes::judge(&by_bytes, text, trailing, self.complete);
            let core = &text.as_bytes()[..verdict.core];
            let masks = by_tokens.as_ref().map(|c| through_masks::drive(c, core, self.oracle));
            decided.texts.push(TextAnswer::new(verdict, masks));
        }
        if let Some(count) = request.walks {
            let drawn = walks::draw(by_tokens.as_ref().unwrap_or(&by_bytes), count, request.seed);
            decided.walk_errors = drawn.errors;
            decided.walks = Some(drawn.texts);
        }
        decided.undecided = by_bytes.automaton().undecided() + by_tokens.map_or(0, |c| c.undecided());
        Ok(Outcome::Decided(decided))
    }

    /// The verdict on every text of a constraint that nothing satisfies.
    fn rejected_at_once(&self) -> TextAnswer {
        let masks = self.tokens.as_ref().map(|_| through_masks::Verdict::nothing_allowed(self.oracle));
        TextAnswer::new(through_bytes::Verdict::nothing_accepted(self.complete), masks)
    }
}

fn said(error: &formwork::Error) -> String {
    sentence::with_help(sentence::of(error), error.help())
}
