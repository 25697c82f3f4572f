//! The string formats that JSON Schema names.

/// A `format` that is enforced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StringFormat {
    /// RFC 3339 date and time.
    DateTime,
    /// RFC 3339 full date.
    Date,
    /// RFC 3339 full time.
    Time,
    /// ISO 8601 duration, as RFC 3339's appendix A writes it.
    Duration,
    /// RFC 5321 mailbox.
    Email,
    /// RFC 6531 mailbox.
    IdnEmail,
    /// RFC 1123 host name.
    Hostname,
    /// RFC 5890 host name.
    IdnHostname,
    /// Dotted-quad IPv4 address.
    Ipv4,
    /// RFC 4291 IPv6 address.
    Ipv6,
    /// RFC 3986 URI.
    Uri,
    /// RFC 3986 URI or relative reference.
    UriReference,
    /// RFC 3987 IRI.
    Iri,
    /// RFC 3987 IRI or relative reference.
    IriReference,
    /// RFC 6570 URI template.
    UriTemplate,
    /// RFC 4122 UUID.
    Uuid,
    /// RFC 6901 JSON pointer.
    JsonPointer,
    /// Relative JSON pointer.
    RelativeJsonPointer,
    /// ECMA-262 regular expression.
    Regex,
    /// RFC 4648 Base64, which no `format` names: it is a `contentEncoding`.
    Base64,
    /// JSON text, which no `format` names: it is a `contentMediaType`.
    Json,
}

impl StringFormat {
    /// The format with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "date-time" => Self::DateTime,
            "date" => Self::Date,
            "time" => Self::Time,
            "duration" => Self::Duration,
            "email" => Self::Email,
            "idn-email" => Self::IdnEmail,
            "hostname" => Self::Hostname,
            "idn-hostname" => Self::IdnHostname,
            "ipv4" => Self::Ipv4,
            "ipv6" => Self::Ipv6,
            "uri" => Self::Uri,
            "uri-reference" => Self::UriReference,
            "iri" => Self::Iri,
            "iri-reference" => Self::IriReference,
            "uri-template" => Self::UriTemplate,
            "uuid" => Self::Uuid,
            "json-pointer" => Self::JsonPointer,
            "relative-json-pointer" => Self::RelativeJsonPointer,
            "regex" => Self::Regex,
            _ => return None,
        })
    }

    /// All that `format` can name, in the order of their declaration.
    pub const ALL: [Self; 19] = [
        Self::DateTime,
        Self::Date,
        Self::Time,
        Self::Duration,
        Self::Email,
        Self::IdnEmail,
        Self::Hostname,
        Self::IdnHostname,
        Self::Ipv4,
        Self::Ipv6,
        Self::Uri,
        Self::UriReference,
        Self::Iri,
        Self::IriReference,
        Self::UriTemplate,
        Self::Uuid,
        Self::JsonPointer,
        Self::RelativeJsonPointer,
        Self::Regex,
    ];

    /// The content with this encoding and this media type.
    pub(crate) fn of_content(keyword: &str, name: &str) -> Option<Self> {
        match (keyword, name) {
            ("contentEncoding", "base64") => Some(Self::Base64),
            ("contentMediaType", "application/json") => Some(Self::Json),
            _ => None,
        }
    }

    /// The name that schemas give it.
    ///
    /// ```
    /// use formwork_grammar::StringFormat;
    /// assert_eq!(StringFormat::UriReference.name(), "uri-reference");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Self::DateTime => "date-time",
            Self::Date => "date",
            Self::Time => "time",
            Self::Duration => "duration",
            Self::Email => "email",
            Self::IdnEmail => "idn-email",
            Self::Hostname => "hostname",
            Self::IdnHostname => "idn-hostname",
            Self::Ipv4 => "ipv4",
            Self::Ipv6 => "ipv6",
            Self::Uri => "uri",
            Self::UriReference => "uri-reference",
            Self::Iri => "iri",
            Self::IriReference => "iri-reference",
            Self::UriTemplate => "uri-template",
            Self::Uuid => "uuid",
            Self::JsonPointer => "json-pointer",
            Self::RelativeJsonPointer => "relative-json-pointer",
            Self::Regex => "regex",
            Self::Base64 => "base64",
            Self::Json => "application/json",
        }
    }

    /// Which of the format's texts its automaton leaves out; `None` where it has all of them.
    ///
    /// What is left out is never produced, but it is of the format nevertheless: the automaton's complement is not that of
    /// the format.
    pub const fn narrowed(self) -> Option<&'static str> {
        match self {
            Self::Email | Self::Hostname => {
                Some("labels with hyphens in third and fourth place (`xn--…`), whose Punycode can't be checked")
            }
            Self::IdnHostname => Some(
                "labels of Punycode (`xn--…`), labels beyond ASCII that might be longer than 63 octets in Punycode, \
                 characters of other scripts than Latin, Greek, Cyrillic, Armenian, Georgian, Hebrew, Arabic, Devanagari, \
                 Thai, Hangul, Kana and Han, and combining marks that might not be in normal form",
            ),
            Self::IdnEmail => Some(
                "domains that `idn-hostname` leaves out, and parts beyond ASCII that might be longer than SMTP's octets",
            ),
            Self::RelativeJsonPointer => Some("index manipulation (`0+1`, `0-1`)"),
            Self::UriTemplate => Some("expressions with an operator that RFC 6570 reserves (`=`, `,`, `!`, `@`, `|`)"),
            Self::Regex => Some(
                "groups nested more than four deep, back-references, a second named group, `\\u{…}`, repeat bounds above 9999 \
                 or close together above 99, and ranges in a class whose ends are both beyond ASCII or written with escapes \
                 (but for common alphabets and `\\uXXXX-\\uYYYY` whose first digits differ)",
            ),
            Self::Base64 => Some("encodings whose unused last bits are not zero"),
            Self::Json => Some("documents with values nested more than three deep"),
            Self::DateTime
            | Self::Date
            | Self::Time
            | Self::Duration
            | Self::Ipv4
            | Self::Ipv6
            | Self::Uri
            | Self::UriReference
            | Self::Iri
            | Self::IriReference
            | Self::Uuid
            | Self::JsonPointer => None,
        }
    }
}
