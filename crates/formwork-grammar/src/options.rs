//! The options of a JSON Schema constraint: what texts of a valid value may be written.

use serde_json::Value;

/// How a schema is read and how its values may be spelled.
///
/// ```
/// use formwork_grammar::{SchemaOptions, Whitespace};
/// let options = SchemaOptions::default().whitespace(Whitespace::Flexible(4)).lenient(true);
/// assert_eq!(options.whitespace, Whitespace::Flexible(4));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct SchemaOptions {
    /// The draft; `None`: by `$schema`, else 2020-12.
    pub draft: Option<Draft>,
    /// The blanks between tokens.
    pub whitespace: Whitespace,
    /// The order of an object's members.
    pub property_order: PropertyOrder,
    /// Whether `format` is enforced.
    pub format: Format,
    /// The escapes allowed in strings.
    pub escapes: Escapes,
    /// The spellings of numbers.
    pub numbers: Numbers,
    /// Leaves keywords that can't be enforced to the validation of the result, and lists them, instead of refusing the schema.
    pub lenient: bool,
    /// Documents that references may lead to, each with the URI it is found at.
    pub documents: Vec<(String, Value)>,
    /// Bounds on what a schema may cost.
    pub limits: Limits,
}

impl SchemaOptions {
    /// Sets the draft.
    #[must_use]
    pub fn draft(mut self, draft: Draft) -> Self {
        self.draft = Some(draft);
        self
    }

    /// Sets the blanks between tokens.
    #[must_use]
    pub fn whitespace(mut self, whitespace: Whitespace) -> Self {
        self.whitespace = whitespace;
        self
    }

    /// Sets the order of an object's members.
    #[must_use]
    pub fn property_order(mut self, order: PropertyOrder) -> Self {
        self.property_order = order;
        self
    }

    /// Sets whether `format` is enforced.
    #[must_use]
    pub fn format(mut self, format: Format) -> Self {
        self.format = format;
        self
    }

    /// Sets the escapes allowed in strings.
    #[must_use]
    pub fn escapes(mut self, escapes: Escapes) -> Self {
        self.escapes = escapes;
        self
    }

    /// Sets the spellings of numbers.
    #[must_use]
    pub fn numbers(mut self, numbers: Numbers) -> Self {
        self.numbers = numbers;
        self
    }

    /// Sets whether keywords that can't be enforced are left to validation.
    #[must_use]
    pub fn lenient(mut self, lenient: bool) -> Self {
        self.lenient = lenient;
        self
    }

    /// Adds a document that references may lead to. The drafts' metaschemas need not be added.
    ///
    /// ```
    /// use formwork_grammar::{SchemaOptions, parse_schema};
    /// let options = SchemaOptions::default().document("https://example.com/name", serde_json::json!({"type": "string"}));
    /// assert!(parse_schema(r#"{"$ref": "https://example.com/name"}"#, &options).is_ok());
    /// ```
    #[must_use]
    pub fn document(mut self, uri: impl Into<String>, document: Value) -> Self {
        self.documents.push((uri.into(), document));
        self
    }

    /// Sets the bounds on what a schema may cost.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }
}

/// The drafts of JSON Schema, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Draft {
    /// Draft 4.
    Draft4,
    /// Draft 6.
    Draft6,
    /// Draft 7.
    Draft7,
    /// 2019-09.
    Draft201909,
    /// 2020-12.
    Draft202012,
}

impl Draft {
    /// Every draft, oldest first.
    pub const ALL: [Self; 5] = [Self::Draft4, Self::Draft6, Self::Draft7, Self::Draft201909, Self::Draft202012];

    /// The name, as options spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Draft4 => "4",
            Self::Draft6 => "6",
            Self::Draft7 => "7",
            Self::Draft201909 => "2019-09",
            Self::Draft202012 => "2020-12",
        }
    }

    /// Where its metaschemas stand below `json-schema.org`.
    pub(crate) fn folder(self) -> &'static str {
        match self {
            Self::Draft4 => "draft-04/",
            Self::Draft6 => "draft-06/",
            Self::Draft7 => "draft-07/",
            Self::Draft201909 => "draft/2019-09/",
            Self::Draft202012 => "draft/2020-12/",
        }
    }

    /// The draft of a name as options spell it: `4`, `6`, `7`, `2019-09`, `2020-12`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|draft| draft.name() == name)
    }

    /// The draft that a `$schema` URI names.
    pub fn from_uri(uri: &str) -> Option<Self> {
        let uri = uri.trim_end_matches('#').trim_end_matches('/');
        let path = uri.strip_prefix("http://").or_else(|| uri.strip_prefix("https://"))?;
        let path = path.strip_prefix("json-schema.org/")?;
        Self::ALL.into_iter().find(|draft| path.strip_prefix(draft.folder()) == Some("schema"))
    }
}

/// The blanks between tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Whitespace {
    /// None.
    Compact,
    /// One space after `,` and `:`, as Python's `json` writes.
    #[default]
    Spaced,
    /// An exact pretty print: a line for each member, indented by so many spaces a level.
    Indent(u8),
    /// Up to so many blanks, tabs or line breaks wherever JSON allows them.
    Flexible(u16),
}

/// The order of an object's members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum PropertyOrder {
    /// Declared properties in the order of the schema, then others.
    #[default]
    Schema,
    /// Any order.
    Any,
}

/// Whether `format` is enforced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Format {
    /// Every known format is.
    #[default]
    Enforce,
    /// None is.
    Annotate,
}

/// The escapes allowed in strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Escapes {
    /// Only what must be escaped, in its short form where it has one.
    #[default]
    Canonical,
    /// Every spelling that RFC 8259 allows.
    Any,
}

/// The spellings of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Numbers {
    /// Decimal notation; exponents only where a number has no bound.
    #[default]
    Plain,
    /// Every spelling: `1e2` and `1.0` are integers too. Some are larger than a 64-bit float can be.
    Any,
}

/// Bounds on what a schema may cost; each is named in the error that it causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Limits {
    /// Subschemas, references resolved once.
    pub nodes: u32,
    /// Alternatives of one position that are tracked side by side.
    pub alternatives: u32,
    /// Containers nested in the output beyond which none is opened but those that the shortest completion needs.
    pub depth: u32,
    /// Digits in a row before or after a number's point, where no bound of the schema needs more.
    pub digits: u32,
    /// Bytes of the shortest text that the schema allows.
    pub shortest_text: u32,
    /// Bytes, roughly, of the tables that an automaton keeps. From half of them on, new sequences begin with new tables; where they are
    /// full, a sequence under way that comes to where none was before goes on by the shortest completion.
    pub table_bytes: u32,
    /// Steps that it may take to see that the schema has a value: alternatives that are put together, plans and values that are
    /// looked at, and, many to a step, places in patterns that are gone through.
    pub steps: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            nodes: 200_000,
            alternatives: 4_096,
            depth: 100,
            digits: 20,
            shortest_text: 1 << 24,
            table_bytes: 1 << 29,
            steps: 1 << 21,
        }
    }
}
