//! Vocabularies for the tests, and a small generator of random numbers.

use std::path::PathBuf;

use formwork_mask::{TokenEntry, Vocabulary};

/// A small vocabulary with everything that is awkward: tokens that span structure, duplicates, holes, an empty token, parts of
/// characters, special tokens in between, two ends of sequence.
pub(crate) fn awkward() -> Vocabulary {
    let mut entries = Vec::new();
    let mut text = |bytes: &[u8]| entries.push(TokenEntry::Text(bytes.to_vec()));
    for byte in 0..=255_u8 {
        text(&[byte]);
    }
    let texts = [
        "",
        "a",
        "aa",
        "aaa",
        "ab",
        "abc",
        "abcabc",
        "zz",
        "hello",
        "helloworld",
        "\"a",
        "a\"",
        "\"\"",
        "\",\"",
        "[[",
        "[]",
        "][",
        "]]",
        "()",
        "[(",
        ")]",
        "]]]",
        "[[[[",
        "[a",
        "aa]",
        "(b)",
        "{a",
        "a}",
        "a,",
        ",a",
        ",b,",
        "a,b",
        "{a,b}",
        "aa,",
        "é",
        "€",
        "😀",
        "\u{0}",
        "\\\"",
        "\\n\"",
        "ba,c",
        "bc",
        "cba",
        "abcdefghijklmnopqrstuvwxyz",
        "éa",
        "a€",
    ];
    for t in texts {
        text(t.as_bytes());
    }
    for part in [
        &[0xc3][..],
        &[0xa9],
        &[0xe2, 0x82],
        &[0xac],
        &[0xf0, 0x9f, 0x98],
        &[0x98, 0x80],
        &[b'a', 0xc3],
        &[0xa9, b'a'],
        &[0x80, b'"'],
    ] {
        text(part);
    }
    entries.push(TokenEntry::Unused);
    entries.push(TokenEntry::Special("<|think|>".into()));
    entries.push(TokenEntry::Special("<|end|>".into()));
    entries.push(TokenEntry::Special("</s>".into()));
    entries.push(TokenEntry::Unused);
    entries.push(TokenEntry::Text(b"ab".to_vec()));
    // Enough words for base masks to be worth their while.
    for first in b'a'..=b'z' {
        for second in b'a'..=b'z' {
            entries.push(TokenEntry::Text(vec![first, second]));
            entries.push(TokenEntry::Text(vec![first, second, first, second, second]));
        }
    }
    entries.push(TokenEntry::Special("<|im_end|>".into()));
    let index = |name: &str| entries.iter().position(|e| *e == TokenEntry::Special(name.into())).unwrap();
    let eos = [u32::try_from(index("</s>")).unwrap(), u32::try_from(index("<|im_end|>")).unwrap()];
    Vocabulary::from_tokens(entries, &eos).unwrap()
}

/// A real tokenizer's file, where it is on this machine; says loudly where not.
pub(crate) fn real(name: &str) -> Option<PathBuf> {
    let home = std::env::var_os("HOME")?;
    let path = PathBuf::from(home).join(".cache/formwork-tokenizers").join(name).join("tokenizer.json");
    if path.exists() {
        return Some(path);
    }
    eprintln!("SKIPPED: {} is absent, so masks were not checked with the tokenizer {name}", path.display());
    None
}

/// xorshift64*: reproducible, and good enough to choose tokens with.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let word = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(word).unwrap() % n
    }
}
