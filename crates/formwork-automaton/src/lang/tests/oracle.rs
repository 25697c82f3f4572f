//! A slow matcher that shares nothing with the automata: it follows all ways through the tree at once.

use formwork_grammar::Regex;

/// A set of places in a text of at most 127 characters, as bits.
type Places = u128;

fn all(text: &[char]) -> Places {
    assert!(text.len() < 128);
    Places::MAX >> (127 - text.len())
}

fn each(places: Places) -> impl Iterator<Item = usize> {
    (0..128).filter(move |place| places >> place & 1 == 1)
}

/// Those of the places for which something holds.
fn keep(places: Places, holds: impl Fn(usize) -> bool) -> Places {
    each(places).filter(|&place| holds(place)).fold(0, |kept, place| kept | 1 << place)
}

/// Where matches that begin at one of the places end.
fn ends(regex: &Regex, text: &[char], from: Places) -> Places {
    match regex {
        Regex::Empty => from,
        Regex::Class(ranges) => {
            let matches = |place: usize| {
                text.get(place).is_some_and(|c| ranges.iter().any(|(first, last)| (first..=last).contains(&c)))
            };
            keep(from, matches) << 1
        }
        Regex::Concat(parts) => parts.iter().fold(from, |from, part| ends(part, text, from)),
        Regex::Alternation(parts) => parts.iter().fold(0, |found, part| found | ends(part, text, from)),
        Regex::Repeat { node, min, max } => {
            let mut found = 0;
            let mut at = from;
            // Beyond the minimum, rounds that read nothing are of no use.
            for round in 0..=max.unwrap_or(u32::MAX).min(min + 128) {
                if round >= *min {
                    if at & !found == 0 {
                        break;
                    }
                    found |= at;
                }
                at = ends(node, text, at);
            }
            found
        }
        Regex::Start => from & 1,
        Regex::End => from & 1 << text.len(),
        Regex::WordBoundary { negated } => keep(from, |place| {
            let word = |at: Option<usize>| {
                at.and_then(|i| text.get(i)).is_some_and(|c| c.is_ascii_alphanumeric() || *c == '_')
            };
            (word(place.checked_sub(1)) != word(Some(place))) != *negated
        }),
        Regex::Look { behind: false, negated, node } => {
            keep(from, |place| (ends(node, text, 1 << place) == 0) == *negated)
        }
        Regex::Look { behind: true, negated, node } => keep(from, |place| {
            let before = Places::MAX >> (127 - place);
            (ends(node, text, before) >> place & 1 == 1) != *negated
        }),
    }
}

pub(super) fn matches_all(regex: &Regex, text: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    ends(regex, &text, 1) >> text.len() & 1 == 1
}

pub(super) fn matches_somewhere(regex: &Regex, text: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    ends(regex, &text, all(&text)) != 0
}
