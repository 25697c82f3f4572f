//! The table of byte-level BPE: which printable character stands for which byte.

/// The bytes of a token written in the byte-level alphabet; `None` where a character is not of that alphabet.
///
/// GPT-2's rule: printable Latin-1 bytes stand for themselves, the other 68 follow from U+0100 on in byte order.
pub(crate) fn decode(token: &str) -> Option<Vec<u8>> {
    token.chars().map(byte_of).collect()
}

fn byte_of(c: char) -> Option<u8> {
    match u32::from(c) {
        code @ (0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff) => u8::try_from(code).ok(),
        code @ 0x100..=0x120 => u8::try_from(code - 0x100).ok(),
        code @ 0x121..=0x142 => u8::try_from(code - 0x121 + 0x7f).ok(),
        0x143 => Some(0xad),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_one_character() {
        let mut seen = [0_u32; 256];
        for code in 0..0x200 {
            if let Some(byte) = char::from_u32(code).and_then(byte_of) {
                seen[usize::from(byte)] += 1;
            }
        }
        assert_eq!(seen, [1; 256]);
    }

    #[test]
    fn known_spellings() {
        assert_eq!(decode("Ġthe"), Some(b" the".to_vec()));
        assert_eq!(decode("Ċ"), Some(b"\n".to_vec()));
        assert_eq!(decode("Ã©"), Some("é".as_bytes().to_vec()));
        assert_eq!(decode("▁the"), None);
    }
}
