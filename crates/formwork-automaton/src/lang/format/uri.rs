//! URIs (RFC 3986) and IRIs (RFC 3987), whose grammars differ only in the characters that may stand unescaped.

use super::address;

/// The characters that one of the two grammars adds to ASCII's.
#[derive(Clone, Copy)]
pub(super) struct Grammar {
    /// Anywhere but in the scheme and port.
    unreserved: &'static str,
    /// In the query.
    private: &'static str,
}

/// RFC 3987's `ucschar`.
pub(super) const UCSCHAR: &str = concat!(
    r"\u{A0}-\u{D7FF}\u{F900}-\u{FDCF}\u{FDF0}-\u{FFEF}\u{10000}-\u{1FFFD}\u{20000}-\u{2FFFD}\u{30000}-\u{3FFFD}",
    r"\u{40000}-\u{4FFFD}\u{50000}-\u{5FFFD}\u{60000}-\u{6FFFD}\u{70000}-\u{7FFFD}\u{80000}-\u{8FFFD}",
    r"\u{90000}-\u{9FFFD}\u{A0000}-\u{AFFFD}\u{B0000}-\u{BFFFD}\u{C0000}-\u{CFFFD}\u{D0000}-\u{DFFFD}\u{E1000}-\u{EFFFD}",
);

/// RFC 3987's `iprivate`.
pub(super) const IPRIVATE: &str = r"\u{E000}-\u{F8FF}\u{F0000}-\u{FFFFD}\u{100000}-\u{10FFFD}";

/// One escaped octet.
pub(super) const PERCENT: &str = "%[0-9A-Fa-f][0-9A-Fa-f]";

const SUB_DELIMS: &str = "!$&'()*+,;=";

impl Grammar {
    pub(super) const URI: Self = Self { unreserved: "", private: "" };
    pub(super) const IRI: Self = Self { unreserved: UCSCHAR, private: IPRIVATE };

    /// With a scheme.
    pub(super) fn absolute(self) -> String {
        let hierarchy = format!(
            "(?://{}{}|{}|{})?",
            self.authority(),
            self.path_after_authority(),
            self.path_absolute(),
            self.path("")
        );
        format!("[A-Za-z][A-Za-z0-9+.\\-]*:{hierarchy}{}", self.query_and_fragment())
    }

    /// With a scheme, or relative.
    pub(super) fn reference(self) -> String {
        // The first segment of a relative path has no colon, or it would be read as a scheme.
        let first = format!("(?:{}|{PERCENT})+", self.class("@"));
        let path = format!("{first}(?:/{})*", self.segment());
        let relative =
            format!("(?://{}{}|{}|{path})?", self.authority(), self.path_after_authority(), self.path_absolute());
        format!("(?:{}|{relative}{})", self.absolute(), self.query_and_fragment())
    }

    /// `unreserved`, `sub-delims` and more characters as a class.
    fn class(self, more: &str) -> String {
        format!("[A-Za-z0-9._~{SUB_DELIMS}{more}{}\\-]", self.unreserved)
    }

    fn segment(self) -> String {
        format!("(?:{}|{PERCENT})*", self.class(":@"))
    }

    fn authority(self) -> String {
        let user = format!("(?:{}|{PERCENT})*", self.class(":"));
        // An IPv4 address is a registered name too.
        let name = format!("(?:{}|{PERCENT})*", self.class(""));
        let future = format!("[Vv][0-9A-Fa-f]+\\.[A-Za-z0-9._~{SUB_DELIMS}:\\-]+");
        let literal = format!("\\[(?:{}|{future})\\]", address::ipv6());
        format!("(?:{user}@)?(?:{literal}|{name})(?::[0-9]*)?")
    }

    fn path_after_authority(self) -> String {
        format!("(?:/{})*", self.segment())
    }

    fn path_absolute(self) -> String {
        self.path("/") + "|/"
    }

    /// A path whose first segment, after `before`, is not empty.
    fn path(self, before: &str) -> String {
        let first = format!("(?:{}|{PERCENT})+", self.class(":@"));
        format!("{before}{first}(?:/{})*", self.segment())
    }

    fn query_and_fragment(self) -> String {
        let fragment = self.class(":@/?");
        let query = self.class(&format!(":@/?{}", self.private));
        format!("(?:\\?(?:{query}|{PERCENT})*)?(?:#(?:{fragment}|{PERCENT})*)?")
    }
}
