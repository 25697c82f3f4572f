//! The flags that name a constraint and its options.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Map, Value, json};

use crate::error::Error;

/// The heading in the help; set for each flag, so that the flags after them don't come under it.
const SCHEMA_OPTIONS: &str = "Schema options";

/// The constraint, and how a schema's values may be spelled.
#[derive(Debug, Args)]
pub(crate) struct ConstraintArgs {
    /// A JSON Schema that the text's value must satisfy.
    #[arg(long, value_name = "FILE", group = "constraint", help_heading = "Constraint")]
    pub(crate) schema: Option<PathBuf>,
    /// A regular expression (of the `regex` crate) that the whole text must match.
    #[arg(long, value_name = "RE", group = "constraint", help_heading = "Constraint")]
    pub(crate) regex: Option<String>,
    /// A GBNF grammar; not supported yet.
    #[arg(long, value_name = "FILE", group = "constraint", hide = true)]
    pub(crate) gbnf: Option<PathBuf>,
    /// A Lark grammar; not supported yet.
    #[arg(long, value_name = "FILE", group = "constraint", hide = true)]
    pub(crate) lark: Option<PathBuf>,
    #[command(flatten)]
    options: OptionArgs,
}

/// The options of a schema, by the names that requests use.
#[derive(Debug, Args)]
struct OptionArgs {
    /// The schema's draft: 4, 6, 7, 2019-09 or 2020-12 [default: by `$schema`, else 2020-12].
    #[arg(long, value_name = "DRAFT", help_heading = SCHEMA_OPTIONS)]
    draft: Option<String>,
    /// Blanks: compact, spaced, indent:N (an exact pretty print) or flexible:N (up to N wherever JSON allows them)
    /// [default: spaced].
    #[arg(long, value_name = "KIND", help_heading = SCHEMA_OPTIONS)]
    whitespace: Option<String>,
    /// Members in the schema's order (schema) or in any [default: schema].
    #[arg(long, value_name = "ORDER", help_heading = SCHEMA_OPTIONS)]
    property_order: Option<String>,
    /// Whether `format` is enforced (enforce) or ignored (annotate) [default: enforce].
    #[arg(long, value_name = "MODE", help_heading = SCHEMA_OPTIONS)]
    format: Option<String>,
    /// Escapes only where needed (canonical), or every spelling of JSON (any) [default: canonical].
    #[arg(long, value_name = "KIND", help_heading = SCHEMA_OPTIONS)]
    escapes: Option<String>,
    /// Plain decimals (plain), or every spelling of JSON (any) [default: plain].
    #[arg(long, value_name = "KIND", help_heading = SCHEMA_OPTIONS)]
    numbers: Option<String>,
    /// The documents that the schema refers to: a JSON object of schemas by URI. Nothing is fetched.
    #[arg(long, value_name = "FILE", help_heading = SCHEMA_OPTIONS)]
    documents: Option<PathBuf>,
    /// Leaves keywords that can't be enforced to the validation of the result.
    #[arg(long, help_heading = SCHEMA_OPTIONS)]
    lenient: bool,
    /// A bound on what a schema may cost, such as depth=20; more than one by repeating the flag.
    #[arg(long, value_name = "NAME=VALUE", help_heading = SCHEMA_OPTIONS)]
    limits: Vec<String>,
}

impl ConstraintArgs {
    /// The schema's options as JSON, spelled as in requests.
    pub(crate) fn options(&self) -> Result<Value, Error> {
        let given = &self.options;
        let mut options = Map::new();
        for (name, value) in [
            ("draft", &given.draft),
            ("property_order", &given.property_order),
            ("format", &given.format),
            ("escapes", &given.escapes),
            ("numbers", &given.numbers),
        ] {
            if let Some(value) = value {
                options.insert(name.to_owned(), json!(value));
            }
        }
        if let Some(value) = &given.whitespace {
            options.insert("whitespace".to_owned(), whitespace(value));
        }
        if let Some(path) = &given.documents {
            let text = std::fs::read_to_string(path).map_err(|e| Error::unreadable(path, e))?;
            let documents: Value = serde_json::from_str(&text)
                .map_err(|e| Error::usage(format!("--documents {} is not JSON: {e}", path.display())))?;
            options.insert("documents".to_owned(), documents);
        }
        if given.lenient {
            options.insert("lenient".to_owned(), json!(true));
        }
        if !given.limits.is_empty() {
            options.insert("limits".to_owned(), Value::Object(limits(&given.limits)?));
        }
        let name = options.keys().next().map(|name| name.replace('_', "-"));
        match name {
            Some(name) if self.schema.is_none() => Err(Error::usage(format!(
                "--{name} is an option of a JSON Schema; give --schema with it, or leave it out"
            ))),
            _ => Ok(Value::Object(options)),
        }
    }
}

/// `indent:2` as `{"indent": 2}`; everything else as it is, for the library to judge.
fn whitespace(text: &str) -> Value {
    match text.split_once(':') {
        Some((kind, n)) => match n.parse::<u64>() {
            Ok(n) => json!({kind: n}),
            Err(_) => json!({kind: n}),
        },
        None => json!(text),
    }
}

fn limits(given: &[String]) -> Result<Map<String, Value>, Error> {
    let mut limits = Map::new();
    for limit in given {
        let number = limit.split_once('=').and_then(|(name, value)| Some((name, value.parse::<u64>().ok()?)));
        let Some((name, value)) = number else {
            return Err(Error::usage(format!("--limits {limit} is not NAME=VALUE with a number; write depth=20, say")));
        };
        limits.insert(name.to_owned(), json!(value));
    }
    Ok(limits)
}
