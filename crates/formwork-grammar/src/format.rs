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
}
