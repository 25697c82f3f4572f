//! The keywords that the drafts know: since when, until when, and which hold subschemas.

use crate::options::Draft;

/// A keyword of some draft.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) name: &'static str,
    /// The first draft that has it.
    pub(super) since: Draft,
    /// The last draft in which it is enforced.
    pub(super) until: Draft,
    pub(super) vocabulary: Vocabulary,
    pub(super) holds: Holds,
}

/// The part of JSON Schema that a keyword belongs to; a metaschema may leave some out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Vocabulary {
    Core,
    Applicator,
    Unevaluated,
    Validation,
    Format,
    /// It says nothing about the value, whatever the draft.
    Annotation,
}

/// What subschemas a keyword's value holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    Nothing,
    Schema,
    Schemas,
    /// One or, up to 2019-09, a list.
    SchemaOrSchemas,
    Named,
}

impl Known {
    /// The keyword of this name, of whatever draft.
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        KEYWORDS.binary_search_by(|known| known.name.cmp(name)).ok().map(|at| &KEYWORDS[at])
    }

    /// Whether the draft has it.
    pub(super) fn is_in(&self, draft: Draft) -> bool {
        (self.since..=self.until).contains(&draft)
    }

    /// The keyword that an unknown name was probably meant to be.
    pub(super) fn near(name: &str) -> Option<&'static Self> {
        KEYWORDS.iter().find(|known| known.vocabulary != Vocabulary::Annotation && nearly_equal(known.name, name))
    }
}

/// The vocabularies that a schema's metaschema switches on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Vocabularies(u8);

impl Vocabularies {
    /// What the drafts' own metaschemas switch on.
    pub(super) const ALL: Self = Self(u8::MAX);
    /// What can't be switched off.
    pub(super) const BASE: Self = Self(1 << Vocabulary::Core as u8 | 1 << Vocabulary::Annotation as u8);

    pub(super) fn contains(self, vocabulary: Vocabulary) -> bool {
        self.0 & (1 << vocabulary as u8) != 0
    }

    /// Whether anything is known of the vocabulary that a URI names.
    pub(super) fn knows(uri: &str) -> bool {
        Self::BASE.with_uri(uri).is_some()
    }

    /// Adds the vocabulary that a URI names; `None` where nothing is known of it.
    pub(super) fn with_uri(self, uri: &str) -> Option<Self> {
        let old = "https://json-schema.org/draft/2019-09/vocab/";
        let new = "https://json-schema.org/draft/2020-12/vocab/";
        let name = uri.strip_prefix(old).or_else(|| uri.strip_prefix(new))?;
        let added: &[Vocabulary] = match name {
            // `unevaluated*` have a vocabulary of their own since 2020-12 only.
            "applicator" if uri.starts_with(old) => &[Vocabulary::Applicator, Vocabulary::Unevaluated],
            "applicator" => &[Vocabulary::Applicator],
            "unevaluated" => &[Vocabulary::Unevaluated],
            "validation" => &[Vocabulary::Validation],
            "format" | "format-annotation" | "format-assertion" => &[Vocabulary::Format],
            "core" | "meta-data" | "content" => &[],
            _ => return None,
        };
        Some(Self(added.iter().fold(self.0, |bits, v| bits | 1 << *v as u8)))
    }
}

const fn k(name: &'static str, since: Draft, until: Draft, vocabulary: Vocabulary, holds: Holds) -> Known {
    Known { name, since, until, vocabulary, holds }
}

const D4: Draft = Draft::Draft4;
const D6: Draft = Draft::Draft6;
const D7: Draft = Draft::Draft7;
const D19: Draft = Draft::Draft201909;
const D20: Draft = Draft::Draft202012;

/// Sorted by name.
const KEYWORDS: &[Known] = &[
    k("$anchor", D19, D20, Vocabulary::Core, Holds::Nothing),
    k("$comment", D7, D20, Vocabulary::Annotation, Holds::Nothing),
    k("$defs", D19, D20, Vocabulary::Annotation, Holds::Named),
    k("$dynamicAnchor", D20, D20, Vocabulary::Core, Holds::Nothing),
    k("$dynamicRef", D20, D20, Vocabulary::Core, Holds::Nothing),
    k("$id", D6, D20, Vocabulary::Core, Holds::Nothing),
    k("$recursiveAnchor", D19, D19, Vocabulary::Core, Holds::Nothing),
    k("$recursiveRef", D19, D19, Vocabulary::Core, Holds::Nothing),
    k("$ref", D4, D20, Vocabulary::Core, Holds::Nothing),
    k("$schema", D4, D20, Vocabulary::Core, Holds::Nothing),
    k("$vocabulary", D19, D20, Vocabulary::Annotation, Holds::Nothing),
    k("additionalItems", D4, D19, Vocabulary::Applicator, Holds::Schema),
    k("additionalProperties", D4, D20, Vocabulary::Applicator, Holds::Schema),
    k("allOf", D4, D20, Vocabulary::Applicator, Holds::Schemas),
    k("anyOf", D4, D20, Vocabulary::Applicator, Holds::Schemas),
    k("const", D6, D20, Vocabulary::Validation, Holds::Nothing),
    k("contains", D6, D20, Vocabulary::Applicator, Holds::Schema),
    k("contentEncoding", D7, D20, Vocabulary::Core, Holds::Nothing),
    k("contentMediaType", D7, D20, Vocabulary::Core, Holds::Nothing),
    k("contentSchema", D19, D20, Vocabulary::Annotation, Holds::Schema),
    k("default", D4, D20, Vocabulary::Annotation, Holds::Nothing),
    k("definitions", D4, D20, Vocabulary::Annotation, Holds::Named),
    // The specifications from 2019-09 on let it go; implementations and the official suite keep it.
    k("dependencies", D4, D20, Vocabulary::Applicator, Holds::Named),
    k("dependentRequired", D19, D20, Vocabulary::Validation, Holds::Nothing),
    k("dependentSchemas", D19, D20, Vocabulary::Applicator, Holds::Named),
    k("deprecated", D19, D20, Vocabulary::Annotation, Holds::Nothing),
    k("description", D4, D20, Vocabulary::Annotation, Holds::Nothing),
    k("else", D7, D20, Vocabulary::Applicator, Holds::Schema),
    k("enum", D4, D20, Vocabulary::Validation, Holds::Nothing),
    k("example", D4, D20, Vocabulary::Annotation, Holds::Nothing),
    k("examples", D6, D20, Vocabulary::Annotation, Holds::Nothing),
    k("exclusiveMaximum", D4, D20, Vocabulary::Validation, Holds::Nothing),
    k("exclusiveMinimum", D4, D20, Vocabulary::Validation, Holds::Nothing),
    k("format", D4, D20, Vocabulary::Format, Holds::Nothing),
    k("id", D4, D4, Vocabulary::Annotation, Holds::Nothing),
    k("if", D7, D20, Vocabulary::Applicator, Holds::Schema),
    k("items", D4, D20, Vocabulary::Applicator, Holds::SchemaOrSchemas),
    k("maxContains", D19, D20, Vocabulary::Validation, Holds::Nothing),
    k("maxItems", D4, D20, Vocabulary::Validation, Holds::Nothing),
    k("maxLength", D4, D20, Vocabulary::Validation, Holds::Nothing),
    k("maxProperties", D4, D20, Vocabulary::Validation, Holds::Nothing),
    k("maximum", D4, D20, Vocabulary::Validation, Holds::Nothing),
    k("minContains", D19, D20, Vocabulary::Validation, Holds::Nothing),
    k("minItems", D4, D20, Vocabulary::Validation, Holds::Nothing),
    k("minLength", D4, D20, Vocabulary::Validation, Holds::Nothing),
    k("minProperties", D4, D20, Vocabulary::Validation, Holds::Nothing),
    k("minimum", D4, D20, Vocabulary::Validation, Holds::Nothing),
    k("multipleOf", D4, D20, Vocabulary::Validation, Holds::Nothing),
    k("not", D4, D20, Vocabulary::Applicator, Holds::Schema),
    k("oneOf", D4, D20, Vocabulary::Applicator, Holds::Schemas),
    k("pattern", D4, D20, Vocabulary::Validation, Holds::Nothing),
    k("patternProperties", D4, D20, Vocabulary::Applicator, Holds::Named),
    k("prefixItems", D20, D20, Vocabulary::Applicator, Holds::Schemas),
    k("properties", D4, D20, Vocabulary::Applicator, Holds::Named),
    k("propertyNames", D6, D20, Vocabulary::Applicator, Holds::Schema),
    k("readOnly", D7, D20, Vocabulary::Annotation, Holds::Nothing),
    k("required", D4, D20, Vocabulary::Validation, Holds::Nothing),
    k("then", D7, D20, Vocabulary::Applicator, Holds::Schema),
    k("title", D4, D20, Vocabulary::Annotation, Holds::Nothing),
    k("type", D4, D20, Vocabulary::Validation, Holds::Nothing),
    k("unevaluatedItems", D19, D20, Vocabulary::Unevaluated, Holds::Schema),
    k("unevaluatedProperties", D19, D20, Vocabulary::Unevaluated, Holds::Schema),
    k("uniqueItems", D4, D20, Vocabulary::Validation, Holds::Nothing),
    k("writeOnly", D7, D20, Vocabulary::Annotation, Holds::Nothing),
];

/// Whether two names differ by case, or by one letter inserted, left out, replaced or swapped with its neighbour.
fn nearly_equal(a: &str, b: &str) -> bool {
    if a.eq_ignore_ascii_case(b) {
        return true;
    }
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len().abs_diff(b.len()) > 1 || a.len() < 4 {
        return false;
    }
    let start = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[start..], &b[start..]);
    match a.len().cmp(&b.len()) {
        std::cmp::Ordering::Less => a == &b[1..],
        std::cmp::Ordering::Greater => &a[1..] == b,
        std::cmp::Ordering::Equal => {
            a.get(1..) == b.get(1..) || (a.len() > 1 && a[0] == b[1] && a[1] == b[0] && a[2..] == b[2..])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_keyword_is_found() {
        assert!(KEYWORDS.is_sorted_by_key(|known| known.name));
        assert!(KEYWORDS.iter().all(|known| Known::named(known.name).is_some_and(|found| found.name == known.name)));
        assert!(Known::named("minlength").is_none());
    }

    #[test]
    fn misspellings_have_a_neighbour() {
        for (wrong, right) in
            [("maxLenght", "maxLength"), ("minlength", "minLength"), ("oneof", "oneOf"), ("patern", "pattern")]
        {
            assert_eq!(Known::near(wrong).map(|known| known.name), Some(right));
        }
        assert!(Known::near("x-internal").is_none() && Known::near("titel").is_none());
    }

    #[test]
    fn vocabularies_by_uri() {
        let new = Vocabularies::BASE.with_uri("https://json-schema.org/draft/2020-12/vocab/applicator").unwrap();
        let old = Vocabularies::BASE.with_uri("https://json-schema.org/draft/2019-09/vocab/applicator").unwrap();
        assert!(new.contains(Vocabulary::Applicator) && old.contains(Vocabulary::Applicator));
        assert!(!new.contains(Vocabulary::Unevaluated) && old.contains(Vocabulary::Unevaluated));
        assert!(!new.contains(Vocabulary::Validation));
        assert!(Vocabularies::knows("https://json-schema.org/draft/2019-09/vocab/core"));
        assert!(!Vocabularies::knows("https://example.com/vocab/units"));
    }
}
