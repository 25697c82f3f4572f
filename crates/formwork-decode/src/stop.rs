//! Stop conditions of the request: strings, found across the borders of tokens, and tokens.

use formwork_automaton::TokenId;
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// What ends a generation besides the constraint, the budget and the tokens that end a text.
///
/// ```
/// use formwork_decode::StopConditions;
/// let stop: StopConditions = serde_json::from_str(r#"{"strings": ["\n\n"], "include_stop": true}"#)?;
/// assert_eq!(stop, StopConditions::default().strings(["\n\n"]).include_stop(true));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct StopConditions {
    /// Texts after which to stop. The first to be complete counts; of two that end together the longer one.
    pub strings: Vec<String>,
    /// Ids of tokens after which to stop.
    pub token_ids: Vec<u32>,
    /// Whether the stop string, or the stop token's text, stays in the text.
    pub include_stop: bool,
    /// Whether strings and tokens stop under a constraint too. By default they don't: a stop string may well occur inside a
    /// JSON string, and cutting there would leave the text incomplete.
    pub in_constrained: bool,
}

impl StopConditions {
    /// Sets the strings.
    #[must_use]
    pub fn strings<S: Into<String>>(mut self, strings: impl IntoIterator<Item = S>) -> Self {
        self.strings = strings.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the tokens.
    #[must_use]
    pub fn token_ids(mut self, token_ids: impl IntoIterator<Item = u32>) -> Self {
        self.token_ids = token_ids.into_iter().collect();
        self
    }

    /// Sets whether what stopped stays in the text.
    #[must_use]
    pub const fn include_stop(mut self, include_stop: bool) -> Self {
        self.include_stop = include_stop;
        self
    }

    /// Sets whether to stop under a constraint too.
    #[must_use]
    pub const fn in_constrained(mut self, in_constrained: bool) -> Self {
        self.in_constrained = in_constrained;
        self
    }

    /// Whether there is nothing to stop at.
    pub const fn is_empty(&self) -> bool {
        self.strings.is_empty() && self.token_ids.is_empty()
    }

    pub(crate) fn stops_at(&self, token: TokenId) -> bool {
        self.token_ids.contains(&token.get())
    }
}

/// Finds stop strings in a stream of bytes: the automaton of Aho and Corasick, a trie of the strings whose nodes know the
/// longest other node that is a suffix of them.
#[derive(Clone, Debug)]
pub(crate) struct StopFinder {
    nodes: Vec<Node>,
    at: usize,
}

#[derive(Clone, Debug, Default)]
struct Node {
    next: Vec<(u8, usize)>,
    suffix: usize,
    depth: usize,
    /// The longest string that ends here.
    found: Option<usize>,
}

impl StopFinder {
    /// # Errors
    /// An empty string would stop everywhere.
    pub(crate) fn new(strings: &[String]) -> Result<Self, Error> {
        let mut nodes = vec![Node::default()];
        for (index, string) in strings.iter().enumerate() {
            if string.is_empty() {
                return Err(Error::empty_stop(index));
            }
            let mut at = 0;
            for (depth, byte) in (1..).zip(string.bytes()) {
                at = if let Some(next) = child(&nodes, at, byte) {
                    next
                } else {
                    nodes.push(Node { depth, ..Node::default() });
                    let next = nodes.len() - 1;
                    nodes[at].next.push((byte, next));
                    next
                };
            }
            nodes[at].found.get_or_insert(index);
        }
        link_suffixes(&mut nodes);
        Ok(Self { nodes, at: 0 })
    }

    /// Reads a byte; the string that is complete with it, if one is.
    pub(crate) fn read(&mut self, byte: u8) -> Option<usize> {
        self.at = follow(&self.nodes, self.at, byte);
        self.nodes[self.at].found
    }

    /// How many of the last bytes could be the beginning of a stop string.
    pub(crate) fn held(&self) -> usize {
        self.nodes[self.at].depth
    }
}

fn child(nodes: &[Node], at: usize, byte: u8) -> Option<usize> {
    nodes[at].next.iter().find(|(b, _)| *b == byte).map(|(_, next)| *next)
}

/// The longest node that is a suffix of `at` and `byte`.
fn follow(nodes: &[Node], mut at: usize, byte: u8) -> usize {
    loop {
        if let Some(next) = child(nodes, at, byte) {
            return next;
        }
        if at == 0 {
            return 0;
        }
        at = nodes[at].suffix;
    }
}

/// Breadth first, so that shorter nodes are linked before longer ones need them.
fn link_suffixes(nodes: &mut [Node]) {
    let mut queue = std::collections::VecDeque::from([0]);
    while let Some(at) = queue.pop_front() {
        for (byte, next) in nodes[at].next.clone() {
            let suffix = if at == 0 { 0 } else { follow(nodes, nodes[at].suffix, byte) };
            nodes[next].suffix = suffix;
            nodes[next].found = nodes[next].found.or(nodes[suffix].found);
            queue.push_back(next);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn naive(strings: &[String], text: &[u8]) -> Option<(usize, usize)> {
        (1..=text.len()).find_map(|end| {
            let ending = strings.iter().enumerate().filter(|(_, s)| text[..end].ends_with(s.as_bytes()));
            // Of equal strings the first.
            ending.max_by_key(|(i, s)| (s.len(), std::cmp::Reverse(*i))).map(|(i, _)| (i, end))
        })
    }

    proptest! {
        #[test]
        fn finds_what_comparing_finds(strings in proptest::collection::vec("[ab]{1,4}", 0..5), text in "[abc]{0,30}") {
            let mut finder = StopFinder::new(&strings).unwrap();
            let mut found = None;
            for (end, byte) in (1..).zip(text.bytes()) {
                if let Some(index) = finder.read(byte) {
                    found = Some((index, end));
                    break;
                }
                let read = &text[..end];
                let held = (0..=read.len()).rev().find(|&n| {
                    strings.iter().any(|s| n < s.len() && s.as_bytes().starts_with(&read.as_bytes()[end - n..]))
                });
                prop_assert_eq!(finder.held(), held.unwrap_or(0));
            }
            prop_assert_eq!(found, naive(&strings, text.as_bytes()));
        }
    }

    #[test]
    fn an_empty_string_is_refused() {
        let strings = ["a".to_owned(), String::new()];
        assert_eq!(StopFinder::new(&strings).unwrap_err().code(), "empty_stop");
    }
}
