//! States that are near each other, against all texts.

use std::collections::BTreeMap;

use super::super::NEAR_BYTES;
use super::{LangState, Langs, after, langs, search};

/// The states that the bytes lead to, up to so many of them.
fn reached(langs: &Langs, start: LangState, bytes: &[u8], depth: usize) -> Vec<LangState> {
    let mut seen = vec![start];
    let mut level = vec![start];
    for _ in 0..depth {
        let next = level.iter().flat_map(|s| bytes.iter().filter_map(|b| langs.step(*s, *b)));
        let mut next: Vec<LangState> = next.filter(|s| !seen.contains(s)).collect();
        next.sort_unstable();
        next.dedup();
        seen.extend(&next);
        level = next;
    }
    seen
}

/// Whether no text of at most so many of the bytes tells two states apart.
fn alike(
    langs: &Langs,
    bytes: &[u8],
    pair: (Option<LangState>, Option<LangState>),
    depth: u8,
    seen: &mut Seen,
) -> bool {
    let (Some(a), Some(b)) = pair else { return pair.0.is_none() && pair.1.is_none() };
    if a == b || seen.get(&(a, b)).is_some_and(|looked| *looked >= depth) {
        return true;
    }
    seen.insert((a, b), depth);
    langs.is_accepting(a) == langs.is_accepting(b)
        && (depth == 0
            || bytes.iter().all(|byte| {
                let next = (langs.step(a, *byte), langs.step(b, *byte));
                alike(langs, bytes, next, depth - 1, seen)
            }))
}

type Seen = BTreeMap<(LangState, LangState), u8>;

#[test]
fn are_told_apart_by_no_short_text() {
    let cases = [
        ("^[ab]{1,90}$", 60),
        ("^[ab]{40,90}$", 10),
        ("^(?:[ab]+ ){0,60}b$", 60),
        ("^([ab]{1,60} ){1,2}(é|b)*$", 50),
        ("^(aaaaa)*b{0,80}é?$", 50),
    ];
    let bytes = "ab é".as_bytes();
    for (pattern, least) in cases {
        let langs = langs();
        let lang = search(&langs, pattern);
        let start = langs.start(lang).unwrap();
        let states = reached(&langs, start, bytes, 100);
        for state in &states {
            langs.note_cost(*state, 1 << 40);
        }
        let mut merged = 0;
        for &state in &states {
            let (near, far) = langs.near(state).unwrap();
            merged += usize::from(near != state);
            assert!(alike(&langs, bytes, (Some(state), Some(near)), NEAR_BYTES, &mut Seen::new()), "{pattern}");
            let short = reached(&langs, state, bytes, NEAR_BYTES.into());
            assert!(short.iter().all(|s| langs.chars_to_accept(*s) <= far), "{pattern}");
        }
        assert!(merged >= least, "{pattern}: {merged} of {} states", states.len());
    }
}

#[test]
fn are_sought_where_that_costs_no_more_than_masks_have() {
    let langs = langs();
    let start = after(&langs, search(&langs, "^[ab]{1,90}$"), b"a").unwrap();
    assert_eq!(langs.near(start), None);
    langs.note_cost(start, 1);
    assert_eq!(langs.near(start), None);
    langs.note_cost(start, 1 << 20);
    assert!(langs.near(start).is_some());
}
