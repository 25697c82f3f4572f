//! `formwork generate`: a constraint, a prompt and a model in, text that obeys the constraint out.

mod prompt;
mod request;

use std::io;
use std::ops::ControlFlow;

use formwork::candle::{Device, LoadedModel, Message, Prompt};
use formwork::decode::{
    Constraint, FinishReason, Generation, Hooks, MatcherConstraint, ParseStatus, ValidationStatus, generate,
};

use crate::args::GenerateArgs;
use crate::error::Error;
use crate::generate::request::Task;
use crate::output::{self, Status};
use crate::progress::Spinner;
use crate::whole_file::WholeFile;
use crate::{interrupt, model};

/// Generates, prints, reports.
pub(crate) fn run(args: &GenerateArgs) -> Result<Status, Error> {
    // What can be said without the model is said before it is loaded.
    let task = Task::new(args)?;
    let text = prompt::read(&args.prompt)?;
    let report = args.report.as_deref().map(|path| WholeFile::check("report", path)).transpose()?;
    if args.n == 0 {
        return Err(Error::usage("--n 0 asks for nothing; give 1 or more"));
    }
    interrupt::listen()?;

    let path = model::locate(&args.model)?;
    let spinner = Spinner::new("loading the model");
    let loaded = LoadedModel::open(path, Device::Cpu).map_err(Error::model)?;
    drop(spinner);
    let prompt = if args.raw { loaded.plain_prompt(text) } else { loaded.render_chat(&[Message::user(text)], true) };
    let prompt = prompt.map_err(Error::model)?;
    let prepared = task.prepare(&loaded)?;
    for warning in task.warnings().chain(prompt.warning.iter().map(ToString::to_string)) {
        output::complain(&format!("warning: {warning}"));
    }

    interrupt::generation_begins();
    let mut generations = Vec::new();
    let mut status = Status::Good;
    let mut printed = Ok(());
    for sequence in 0..args.n {
        let (mut generation, shown) = one(args, &prepared, &loaded, &prompt, sequence)?;
        task.check(&mut generation);
        printed = shown.and_then(|()| finish(args, &generation));
        let ended = judge(&generation);
        let shortfall = shortfall(&generation);
        generations.push(generation);
        if printed.is_err() {
            // Nobody reads the text any more; the report still comes.
            break;
        }
        if let Some(shortfall) = shortfall {
            output::complain(&shortfall);
        }
        match ended {
            Status::Good => {}
            Status::Interrupted => {
                status = ended;
                break;
            }
            _ => status = ended,
        }
    }
    if let Some(report) = report {
        let json = match &generations[..] {
            [generation] if args.n == 1 => serde_json::to_vec_pretty(generation),
            all => serde_json::to_vec_pretty(all),
        };
        let mut json = json.map_err(|e| Error::stdout(io::Error::other(e)))?;
        json.push(b'\n');
        report.write(&json)?;
    }
    printed.map(|()| status)
}

/// One sequence; and whether its text could be shown while it came.
fn one(
    args: &GenerateArgs,
    prepared: &request::Prepared,
    loaded: &LoadedModel,
    prompt: &Prompt,
    sequence: u64,
) -> Result<(Generation, Result<(), Error>), Error> {
    let request = prepared.request(args, prompt, sequence);
    let mut constraint = prepared.compiled.as_ref().map(|compiled| MatcherConstraint::new(compiled.matcher()));
    let constraint = constraint.as_mut().map(|constraint| constraint as &mut dyn Constraint);
    // A line being printed and a spinner would write over each other.
    let spinner = (!args.stream).then(|| Spinner::new("reading the prompt"));
    let mut characters = 0;
    let mut shown = Ok(());
    let mut show = |delta: &str| {
        if let Some(spinner) = &spinner {
            characters += delta.chars().count();
            spinner.generated(characters);
            return ControlFlow::Continue(());
        }
        match output::print(delta.as_bytes()) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                shown = Err(error);
                ControlFlow::Break(())
            }
        }
    };
    let hooks = Hooks::new().on_text(&mut show).cancel(interrupt::flag());
    let generation = generate(&request, loaded.model.clone(), constraint, &prepared.vocabulary, hooks);
    drop(spinner);
    Ok((generation.map_err(Error::decode)?, shown))
}

/// Prints what the person asked for when a sequence has ended.
fn finish(args: &GenerateArgs, generation: &Generation) -> Result<(), Error> {
    let mut line = match (args.json, args.stream) {
        (true, _) => serde_json::to_vec(generation).map_err(|e| Error::stdout(io::Error::other(e)))?,
        (false, true) => Vec::new(),
        (false, false) => generation.text.clone().into_bytes(),
    };
    line.push(b'\n');
    output::print(&line)
}

fn judge(generation: &Generation) -> Status {
    match generation.finish_reason {
        FinishReason::Cancelled => Status::Interrupted,
        _ if shortfall(generation).is_some() => Status::Incomplete,
        _ => Status::Good,
    }
}

/// What keeps a text from being whole and valid, in one sentence.
fn shortfall(generation: &Generation) -> Option<String> {
    match generation.finish_reason {
        FinishReason::Cancelled => return Some("interrupted; the text is incomplete".to_owned()),
        FinishReason::MaxTokens => {
            let tokens = generation.usage.completion_tokens;
            return Some(format!("the text was cut after {tokens} tokens; raise --max-tokens for more"));
        }
        FinishReason::Error => {
            let said = generation.error.as_ref().map_or("it failed", |failure| failure.message.as_str());
            let help = generation.error.as_ref().and_then(|failure| failure.help.as_deref());
            return Some(crate::sentence::with_help(format!("the text is incomplete: {said}"), help));
        }
        _ => {}
    }
    if generation.parse.status == ParseStatus::Failed {
        let place = generation
            .parse
            .error
            .as_ref()
            .map_or_else(String::new, |e| format!(" at line {}, column {}: {}", e.line, e.column, e.message));
        return Some(format!("the text is not JSON{place}"));
    }
    if generation.validation.status == ValidationStatus::Invalid {
        let first = generation.validation.errors.first();
        let said = first
            .map_or_else(String::new, |v| format!(": {} (at {:?}, {})", v.message, v.instance_path, v.schema_path));
        return Some(format!("the text is not valid{said}"));
    }
    None
}
