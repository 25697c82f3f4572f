//! Spelling a text in the fewest tokens.

use formwork_automaton::{Symbol, TokenId};

use crate::error::Error;
use crate::vocabulary::Vocabulary;

/// The fewest tokens that spell the symbols one after another.
pub(crate) fn fewest_tokens(vocabulary: &Vocabulary, symbols: &[Symbol]) -> Result<Vec<TokenId>, Error> {
    let mut tokens = Vec::new();
    let mut text = Vec::new();
    for symbol in symbols {
        match symbol {
            Symbol::Byte(byte) => text.push(*byte),
            Symbol::Special(token) => {
                spell(vocabulary, &text, &mut tokens)?;
                text.clear();
                tokens.push(*token);
            }
        }
    }
    spell(vocabulary, &text, &mut tokens)?;
    Ok(tokens)
}

/// From the end backwards: the fewest tokens for each rest of the text, and the first of them.
fn spell(vocabulary: &Vocabulary, text: &[u8], tokens: &mut Vec<TokenId>) -> Result<(), Error> {
    let mut best: Vec<Option<(usize, usize, u32)>> = vec![None; text.len() + 1];
    best[text.len()] = Some((0, 0, 0));
    for at in (0..text.len()).rev() {
        for (length, id) in vocabulary.trie().prefixes_of(&text[at..]) {
            if let Some((rest, _, _)) = best[at + length]
                && best[at].is_none_or(|(count, _, _)| rest + 1 < count)
            {
                best[at] = Some((rest + 1, length, id));
            }
        }
    }
    let mut at = 0;
    while at < text.len() {
        let (_, length, id) =
            best[at].ok_or_else(|| Error::unspellable(format!("{:?}", String::from_utf8_lossy(text))))?;
        tokens.push(TokenId::new(id));
        at += length;
    }
    Ok(())
}

/// The tokens that a spelling of the symbols can begin with.
pub(crate) fn first_tokens(vocabulary: &Vocabulary, symbols: &[Symbol]) -> Vec<u32> {
    let bytes = symbols.iter().map_while(|symbol| match symbol {
        Symbol::Byte(byte) => Some(*byte),
        Symbol::Special(_) => None,
    });
    match symbols.first() {
        Some(Symbol::Special(token)) => vec![token.get()],
        _ => vocabulary.trie().prefixes_of(&bytes.collect::<Vec<u8>>()).map(|(_, id)| id).collect(),
    }
}

/// Each time the longest token that the rest of the text begins with; `None` where none does.
pub(crate) fn longest_tokens(vocabulary: &Vocabulary, text: &[u8]) -> Option<Vec<TokenId>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let (length, id) = vocabulary.trie().prefixes_of(&text[at..]).last()?;
        tokens.push(TokenId::new(id));
        at += length;
    }
    Some(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::TokenEntry;

    #[test]
    fn fewer_beats_longer() {
        let text = |t: &str| TokenEntry::Text(t.as_bytes().to_vec());
        let vocabulary = Vocabulary::from_tokens(
            vec![
                text("a"),
                text("abc"),
                text("ab"),
                text("cdef"),
                text("d"),
                text("e"),
                TokenEntry::Special("<x>".into()),
            ],
            &[],
        )
        .unwrap();
        let bytes = |t: &str| t.bytes().map(Symbol::Byte).collect::<Vec<_>>();
        let ids = |symbols: &[Symbol]| {
            fewest_tokens(&vocabulary, symbols).map(|t| t.into_iter().map(TokenId::get).collect::<Vec<_>>())
        };
        assert_eq!(ids(&bytes("abcdef")).unwrap(), [2, 3]);
        let longest = longest_tokens(&vocabulary, b"abcde");
        assert_eq!(longest, Some([1, 4, 5].map(TokenId::new).to_vec()));
        assert_eq!(longest_tokens(&vocabulary, b"abf"), None);
        assert!(ids(&[]).unwrap().is_empty());
        let mut mixed = bytes("ab");
        mixed.push(Symbol::Special(TokenId::new(6)));
        mixed.extend(bytes("a"));
        assert_eq!(ids(&mixed).unwrap(), [2, 6, 0]);
        assert_eq!(ids(&bytes("abf")).unwrap_err().code(), crate::Code::Unspellable);
    }
}
