//! Mailboxes of RFC 5321, and of RFC 6531 with Unicode.

use super::{Rules, address, hostname, idn};
use crate::lang::{Lang, LangError};

/// RFC 5321's lengths: 64 octets before the `@`, 254 in all (erratum 1690).
pub(super) fn email(rules: Rules<'_>) -> Result<Lang, LangError> {
    let mailbox = format!("{}@(?:{}|{})", local_part(""), hostname::name(), address_literal());
    rules.all(&[mailbox, ".{1,64}@[^@\"]*".to_owned(), ".{1,254}".to_owned()])
}

/// The lengths are octets of UTF-8, so that texts beyond ASCII get fewer characters.
pub(super) fn idn_email(rules: Rules<'_>) -> Result<Lang, LangError> {
    let local = local_part("\\u{80}-\\u{10FFFF}");
    let octets = "(?:[\\x00-\\x7F]{1,64}|[\\x00-\\u{7FF}]{1,32}|[\\x00-\\u{FFFF}]{1,21}|.{1,16})";
    let lengths = format!("[\\x00-\\x7F]{{1,254}}|{octets}@(?:[\\x00-\\x7F&&[^@\"]]{{1,189}}|[^@\"]{{1,55}})");
    let mailbox = format!("{local}@(?:{}|{})", idn::name("\\."), address_literal());
    let mut patterns = vec![mailbox, ".{1,64}@[^@\"]*".to_owned(), lengths];
    patterns.extend(idn::contexts("\\.").into_iter().map(|domain| format!("{local}@(?:{domain}|\\[.*)")));
    rules.all(&patterns)
}

/// A dot-atom or a quoted string, with more characters than ASCII's.
fn local_part(more: &str) -> String {
    let atom = format!("[A-Za-z0-9!#$%&'*+/=?\\^_`{{|}}~{more}\\-]+");
    let quoted = format!("\"(?:[ !#-\\[\\]-~{more}]|\\\\[ -~])*\"");
    format!("(?:{atom}(?:\\.{atom})*|{quoted})")
}

/// An IP address in brackets: IANA has registered no other tag than IPv6's.
fn address_literal() -> String {
    format!("\\[(?:{}|[Ii][Pp][Vv]6:{})\\]", address::ipv4(), address::ipv6_in_mail())
}
