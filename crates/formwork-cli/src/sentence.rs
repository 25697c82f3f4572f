//! Makes one sentence of an error: what happened, why, and what to do.

use std::error::Error as StdError;

/// An error with its sources, as far as they add something.
pub(crate) fn of(error: &dyn StdError) -> String {
    let mut sentence = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let reason = plain_os_error(&cause.to_string());
        if !reason.is_empty() && !sentence.contains(&reason) {
            sentence.push_str(": ");
            sentence.push_str(&reason);
        }
        source = cause.source();
    }
    sentence.trim_end_matches('.').to_owned()
}

/// Adds the way out.
pub(crate) fn with_help(sentence: String, help: Option<&str>) -> String {
    match help {
        Some(help) => format!("{sentence}; {}", help.trim_end_matches('.')),
        None => sentence,
    }
}

/// Leaves the number out of the system's "No such file or directory (os error 2)".
fn plain_os_error(text: &str) -> String {
    let plain = text.split(" (os error").next().unwrap_or(text);
    let mut chars = plain.chars();
    match chars.next() {
        // "No such file" becomes part of a sentence; "JSON" stays.
        Some(first) if !chars.as_str().starts_with(char::is_uppercase) => first.to_lowercase().chain(chars).collect(),
        _ => plain.to_owned(),
    }
}

/// What clap says over several lines, in one sentence that names the help.
pub(crate) fn of_usage(rendered: &str) -> String {
    let (said, usage) = rendered.split_once("Usage:").unwrap_or((rendered, ""));
    let mut sentence = String::new();
    for line in said.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("For more information"))
    {
        let line = line.strip_prefix("error: ").unwrap_or(line);
        match line.strip_prefix("tip: ") {
            Some(_) => sentence.push_str("; "),
            None if sentence.is_empty() => {}
            None if sentence.ends_with(':') || line.starts_with('[') => sentence.push(' '),
            None => sentence.push_str(", "),
        }
        sentence.push_str(line.strip_prefix("tip: ").unwrap_or(line));
    }
    let command: Vec<&str> =
        usage.split_whitespace().take_while(|word| word.starts_with(|c: char| c.is_ascii_lowercase())).collect();
    let command = if command.is_empty() { "formwork".to_owned() } else { command.join(" ") };
    format!("{sentence}; see `{command} --help`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_becomes_one_sentence() {
        let rendered = "error: unexpected argument '--shema' found\n\n  tip: a similar argument exists: '--schema'\n\nUsage: formwork generate --schema <FILE>\n\nFor more information, try '--help'.\n";
        assert_eq!(
            of_usage(rendered),
            "unexpected argument '--shema' found; a similar argument exists: '--schema'; see `formwork generate --help`"
        );
        let rendered = "error: the following required arguments were not provided:\n  --prompt <TEXT>\n\nUsage: formwork generate --prompt <TEXT>\n";
        assert_eq!(
            of_usage(rendered),
            "the following required arguments were not provided: --prompt <TEXT>; see `formwork generate --help`"
        );
    }

    #[test]
    fn system_errors_lose_their_numbers() {
        assert_eq!(plain_os_error("No such file or directory (os error 2)"), "no such file or directory");
        assert_eq!(plain_os_error("JSON ends"), "JSON ends");
        assert_eq!(plain_os_error(""), "");
    }
}
