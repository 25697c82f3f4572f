//! A slow matcher that shares nothing with the automata: it tries all ways through the tree.

use std::collections::BTreeSet;

use formwork_grammar::Regex;

/// Where matches that begin at `from` end, in characters.
fn ends(regex: &Regex, text: &[char], from: usize) -> BTreeSet<usize> {
    match regex {
        Regex::Empty => BTreeSet::from([from]),
        Regex::Class(ranges) => text
            .get(from)
            .filter(|c| ranges.iter().any(|(a, b)| (a..=b).contains(c)))
            .map(|_| from + 1)
            .into_iter()
            .collect(),
        Regex::Concat(parts) => parts.iter().fold(BTreeSet::from([from]), |at, part| {
            at.iter().flat_map(|&from| ends(part, text, from)).collect()
        }),
        Regex::Alternation(parts) => parts
            .iter()
            .flat_map(|part| ends(part, text, from))
            .collect(),
        Regex::Repeat { node, min, max } => {
            let mut found = BTreeSet::new();
            let mut at = BTreeSet::from([from]);
            let mut round = 0;
            // Beyond the minimum, rounds that read nothing are of no use.
            while !at.is_empty()
                && max.is_none_or(|max| round <= max)
                && round <= *min + 2 + u32::try_from(text.len()).unwrap()
            {
                if round >= *min {
                    found.extend(&at);
                }
                at = at.iter().flat_map(|&from| ends(node, text, from)).collect();
                round += 1;
            }
            found
        }
        Regex::Start => (from == 0).then_some(from).into_iter().collect(),
        Regex::End => (from == text.len()).then_some(from).into_iter().collect(),
        Regex::WordBoundary { negated } => {
            let word = |at: Option<usize>| {
                at.and_then(|i| text.get(i))
                    .is_some_and(|c| c.is_ascii_alphanumeric() || *c == '_')
            };
            let boundary = word(from.checked_sub(1)) != word(Some(from));
            (boundary != *negated).then_some(from).into_iter().collect()
        }
        Regex::Look {
            behind: false,
            negated,
            node,
        } => (ends(node, text, from).is_empty() == *negated)
            .then_some(from)
            .into_iter()
            .collect(),
        Regex::Look {
            behind: true,
            negated,
            node,
        } => {
            let found = (0..=from).any(|begin| ends(node, text, begin).contains(&from));
            (found != *negated).then_some(from).into_iter().collect()
        }
    }
}

pub(super) fn matches_all(regex: &Regex, text: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    ends(regex, &text, 0).contains(&text.len())
}

pub(super) fn matches_somewhere(regex: &Regex, text: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    (0..=text.len()).any(|from| !ends(regex, &text, from).is_empty())
}
