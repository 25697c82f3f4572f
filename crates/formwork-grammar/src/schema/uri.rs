//! Resolution of URI references (RFC 3986, section 5), for whatever text stands there: schemas are named with blanks, brackets
//! and letters of every script, so nothing is refused.

/// The reference without its fragment, and the fragment.
pub(super) fn split_fragment(reference: &str) -> (&str, &str) {
    reference.split_once('#').unwrap_or((reference, ""))
}

/// A reference without fragment, seen from a base.
pub(super) fn resolve(base: &str, reference: &str) -> String {
    let (base, reference) = (Parts::of(base), Parts::of(reference));
    let mut target = Parts { scheme: base.scheme, ..reference };
    let path = if reference.scheme.is_some() {
        target.scheme = reference.scheme;
        remove_dot_segments(reference.path)
    } else if reference.authority.is_some() {
        remove_dot_segments(reference.path)
    } else {
        target.authority = base.authority;
        if reference.path.is_empty() {
            target.query = reference.query.or(base.query);
            base.path.to_owned()
        } else if reference.path.starts_with('/') {
            remove_dot_segments(reference.path)
        } else if base.authority.is_some() && base.path.is_empty() {
            remove_dot_segments(&format!("/{}", reference.path))
        } else {
            let folder = base.path.rfind('/').map_or("", |at| &base.path[..=at]);
            remove_dot_segments(&format!("{folder}{}", reference.path))
        }
    };
    let mut out = String::new();
    if let Some(scheme) = target.scheme {
        out.push_str(scheme);
        out.push(':');
    }
    if let Some(authority) = target.authority {
        out.push_str("//");
        out.push_str(authority);
    }
    out.push_str(&path);
    if let Some(query) = target.query {
        out.push('?');
        out.push_str(query);
    }
    out
}

#[derive(Clone, Copy)]
struct Parts<'a> {
    scheme: Option<&'a str>,
    authority: Option<&'a str>,
    path: &'a str,
    query: Option<&'a str>,
}

impl<'a> Parts<'a> {
    fn of(reference: &'a str) -> Self {
        let (rest, query) = match reference.split_once('?') {
            Some((rest, query)) => (rest, Some(query)),
            None => (reference, None),
        };
        let (scheme, rest) = match rest.split_once(':') {
            Some((scheme, after)) if is_scheme(scheme) => (Some(scheme), after),
            _ => (None, rest),
        };
        let (authority, path) = match rest.strip_prefix("//") {
            Some(after) => {
                let end = after.find('/').unwrap_or(after.len());
                (Some(&after[..end]), &after[end..])
            }
            None => (None, rest),
        };
        Self { scheme, authority, path, query }
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
}

/// The path without `.` and `..` (section 5.2.4).
fn remove_dot_segments(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut kept: Vec<&str> = Vec::new();
    let mut folder = false;
    for segment in path.strip_prefix('/').unwrap_or(path).split('/') {
        folder = matches!(segment, "." | "..");
        match segment {
            "." => {}
            ".." => {
                kept.pop();
            }
            _ => kept.push(segment),
        }
    }
    if folder {
        // The last segment was one of the two: what remains is a folder.
        kept.push("");
    }
    let joined = kept.join("/");
    if rooted { format!("/{joined}") } else { joined }
}

/// A fragment's text; `None` where its percent-encoding is broken.
pub(super) fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(b) = rest.next() {
        if b == b'%' {
            let high = char::from(rest.next()?).to_digit(16)?;
            let low = char::from(rest.next()?).to_digit(16)?;
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(b);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_of_rfc_3986() {
        // Sections 5.4.1 and 5.4.2, without those that are about fragments only.
        for (reference, target) in [
            ("g:h", "g:h"),
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            (";x", "http://a/b/c/;x"),
            ("g;x=1/../y", "http://a/b/c/y"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("./", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../..", "http://a/"),
            ("../../g", "http://a/g"),
            ("../../../g", "http://a/g"),
            ("/./g", "http://a/g"),
            ("/../g", "http://a/g"),
            ("g.", "http://a/b/c/g."),
            ("..g", "http://a/b/c/..g"),
            ("./../g", "http://a/b/g"),
            ("./g/.", "http://a/b/c/g/"),
            ("g/./h", "http://a/b/c/g/h"),
            ("g/../h", "http://a/b/c/h"),
            ("g?y/./x", "http://a/b/c/g?y/./x"),
        ] {
            assert_eq!(resolve("http://a/b/c/d;p?q", reference), target, "{reference}");
        }
    }

    #[test]
    fn other_bases() {
        assert_eq!(resolve("http://a", "b"), "http://a/b");
        assert_eq!(resolve("urn:uuid:1", ""), "urn:uuid:1");
        assert_eq!(resolve("urn:uuid:1", "urn:uuid:2"), "urn:uuid:2");
        assert_eq!(resolve("json-schema:///", "my schema.json"), "json-schema:///my schema.json");
        assert_eq!(resolve("json-schema:///a", "#not a scheme:x"), "json-schema:///#not a scheme:x");
    }

    #[test]
    fn percent_encoding() {
        assert_eq!(percent_decode("a%25b%C3%A9").as_deref(), Some("a%bé"));
        assert_eq!(percent_decode("%zz"), None);
        assert_eq!(percent_decode("%ff"), None);
    }
}
