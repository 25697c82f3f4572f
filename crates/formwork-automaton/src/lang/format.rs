//! The languages of JSON Schema's string formats, each by the grammar of its RFC.

mod address;
mod content;
mod date_time;
mod email;
mod hostname;
mod idn;
mod pointer;
mod regular_expression;
mod uri;
mod uri_template;
mod uuid;

use std::sync::PoisonError;

use formwork_grammar::{Regex, StringFormat};

use super::{Anchor, Lang, LangError, Langs};

impl Langs {
    /// The texts of a format, built at the first call. Where [`StringFormat::narrowed`] says that some are left out, a text
    /// outside the language may be of the format nevertheless: [`Langs::not_format`] is its other side.
    ///
    /// ```
    /// use formwork_automaton::{ByteSet, LangLimits, Langs};
    /// use formwork_grammar::StringFormat;
    /// let langs = Langs::new(ByteSet::all(), LangLimits::default());
    /// let date = langs.format(StringFormat::Date)?;
    /// assert!(langs.contains(date, "2024-02-29") && !langs.contains(date, "2023-02-29"));
    /// # Ok::<(), formwork_automaton::LangError>(())
    /// ```
    ///
    /// # Errors
    /// Where [`LangLimits::max_nfa`](super::LangLimits::max_nfa) is too small for it.
    pub fn format(&self, format: StringFormat) -> Result<Lang, LangError> {
        self.built_once(format, Side::In, |rules| rules.format(format))
    }

    /// The texts that are certainly not of a format: the complement of [`Langs::format`], or a part of it where that one leaves
    /// texts out.
    ///
    /// ```
    /// use formwork_automaton::{ByteSet, LangLimits, Langs};
    /// use formwork_grammar::StringFormat;
    /// let langs = Langs::new(ByteSet::all(), LangLimits::default());
    /// let (email, not_email) = (langs.format(StringFormat::Email)?, langs.not_format(StringFormat::Email)?);
    /// let undecided = "me@xn--bcher-kva.example";
    /// assert!(!langs.contains(email, undecided) && !langs.contains(not_email, undecided));
    /// # Ok::<(), formwork_automaton::LangError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Langs::format`].
    pub fn not_format(&self, format: StringFormat) -> Result<Lang, LangError> {
        self.built_once(format, Side::Out, |rules| match rules.wider(format) {
            Some(wider) => Ok(self.not(wider?)),
            None => Ok(self.not(self.format(format)?)),
        })
    }

    fn built_once(
        &self,
        format: StringFormat,
        side: Side,
        build: impl FnOnce(Rules<'_>) -> Result<Lang, LangError>,
    ) -> Result<Lang, LangError> {
        let known = || self.common.formats.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&lang) = known().get(&(format, side)) {
            return Ok(lang);
        }
        let lang = build(Rules(self))?;
        known().insert((format, side), lang);
        Ok(lang)
    }
}

/// Texts of a format, or texts that are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Side {
    In,
    Out,
}

/// Makes languages from patterns.
#[derive(Clone, Copy)]
struct Rules<'a>(&'a Langs);

impl Rules<'_> {
    fn format(self, format: StringFormat) -> Result<Lang, LangError> {
        match format {
            StringFormat::DateTime => date_time::date_time(self),
            StringFormat::Date => date_time::date(self),
            StringFormat::Time => date_time::time(self),
            StringFormat::Duration => date_time::duration(self),
            StringFormat::Email => email::email(self),
            StringFormat::IdnEmail => email::idn_email(self),
            StringFormat::Hostname => hostname::hostname(self),
            StringFormat::IdnHostname => idn::hostname(self),
            StringFormat::Ipv4 => self.whole(&address::ipv4()),
            StringFormat::Ipv6 => self.whole(&address::ipv6()),
            StringFormat::Uri => self.whole(&uri::Grammar::URI.absolute()),
            StringFormat::UriReference => self.whole(&uri::Grammar::URI.reference()),
            StringFormat::Iri => self.whole(&uri::Grammar::IRI.absolute()),
            StringFormat::IriReference => self.whole(&uri::Grammar::IRI.reference()),
            StringFormat::UriTemplate => self.whole(&uri_template::template("")),
            StringFormat::Uuid => self.whole(uuid::UUID),
            StringFormat::JsonPointer => self.whole(pointer::ABSOLUTE),
            StringFormat::RelativeJsonPointer => self.whole(&pointer::relative()),
            StringFormat::Regex => regular_expression::regular_expression(self),
            StringFormat::Base64 => self.whole(content::BASE64),
            StringFormat::Json => self.whole(&content::json(content::DEPTH)),
        }
    }

    /// A language that has all texts of the format, where [`Rules::format`] has not.
    fn wider(self, format: StringFormat) -> Option<Result<Lang, LangError>> {
        format.narrowed()?;
        Some(match format {
            StringFormat::Email | StringFormat::IdnEmail => self.whole(".+@.+"),
            StringFormat::Hostname => hostname::unchecked(self),
            StringFormat::IdnHostname => self.whole("[A-Za-z0-9.\\-\\u{80}-\\u{10FFFF}]+"),
            StringFormat::UriTemplate => self.whole(&uri_template::template("=,!@|")),
            StringFormat::RelativeJsonPointer => self.whole(&pointer::with_index_manipulation()),
            StringFormat::Regex => self.whole("[^*+?)].*|"),
            StringFormat::Base64 => self.whole(content::ANY_BASE64),
            StringFormat::Json => self.whole(content::LIKE_JSON),
            _ => Ok(self.0.any()),
        })
    }

    /// The texts that a pattern in the `regex` crate's syntax matches as a whole; its `.` is any character.
    fn whole(self, pattern: &str) -> Result<Lang, LangError> {
        let regex = Regex::parse_rust(&format!("(?s:{pattern})")).map_err(LangError::syntax)?;
        self.0.regex(&regex, Anchor::Full)
    }

    /// The texts that match all of the patterns.
    fn all<P: AsRef<str>>(self, patterns: &[P]) -> Result<Lang, LangError> {
        patterns.iter().try_fold(self.0.any(), |all, pattern| Ok(self.0.and(all, self.whole(pattern.as_ref())?)))
    }
}
