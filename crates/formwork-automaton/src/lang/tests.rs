//! What languages accept, where they go dead, and the laws of their algebra.

mod laws;
mod near;
mod oracle;
mod patterns;

use formwork_grammar::Regex;

use super::{Anchor, ByteSet, Lang, LangLimits, LangState, Langs};

fn langs() -> Langs {
    Langs::new(ByteSet::all(), LangLimits::default())
}

fn search(langs: &Langs, pattern: &str) -> Lang {
    let regex = Regex::parse_ecma(pattern).unwrap_or_else(|e| panic!("{pattern}: {e}"));
    langs.regex(&regex, Anchor::Search).unwrap_or_else(|e| panic!("{pattern}: {e}"))
}

/// The pattern, searched for, finds something in all of `accepts` and in none of `rejects`.
fn check(pattern: &str, accepts: &[&str], rejects: &[&str]) {
    let langs = langs();
    check_lang(&langs, search(&langs, pattern), pattern, accepts, rejects);
}

fn check_lang(langs: &Langs, lang: Lang, what: &str, accepts: &[&str], rejects: &[&str]) {
    let complement = langs.not(lang);
    for text in accepts {
        assert!(langs.contains(lang, text), "{what} should accept {text:?}");
        assert!(!langs.contains(complement, text), "not {what} should reject {text:?}");
    }
    for text in rejects {
        assert!(!langs.contains(lang, text), "{what} should reject {text:?}");
        assert!(langs.contains(complement, text), "not {what} should accept {text:?}");
    }
}

/// The state after some bytes.
fn after(langs: &Langs, lang: Lang, text: &[u8]) -> Option<LangState> {
    text.iter().try_fold(langs.start(lang)?, |s, &b| langs.step(s, b))
}

/// The witness of a state is accepted and as long as `shortest` says.
fn check_witness(langs: &Langs, s: LangState) {
    let mut at = s;
    let mut length = 0;
    while let Some(byte) = langs.shortest_next(at) {
        at = langs.step(at, byte).expect("a witness is live");
        length += 1;
    }
    assert!(langs.is_accepting(at));
    assert_eq!(length, langs.shortest(s));
}
