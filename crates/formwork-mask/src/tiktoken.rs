//! tiktoken's rank files: a line per token, base64 and rank.

use crate::entry::TokenEntry;
use crate::error::Error;

const FILE: &str = "rank file";

/// The rows of the vocabulary that a rank file and its special tokens describe.
pub(crate) fn read(ranks: &[u8], special: &[(&str, u32)]) -> Result<Vec<TokenEntry>, Error> {
    let mut rows: Vec<(u32, TokenEntry)> = Vec::new();
    for (number, line) in (1..).zip(ranks.split(|&b| b == b'\n')) {
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        let row =
            parse(line).ok_or_else(|| Error::malformed(FILE, number, 1, "a line is base64, a space and a number"))?;
        rows.push(row);
    }
    rows.extend(special.iter().map(|&(name, id)| (id, TokenEntry::Special(name.to_owned()))));
    rows.sort_by_key(|&(id, _)| id);

    let most = rows.len().saturating_mul(4) + 65_536;
    let mut entries = Vec::with_capacity(rows.len());
    for (id, entry) in rows {
        let index = id as usize;
        if index >= most {
            return Err(Error::incomplete(FILE, format!("id {id} is far beyond the number of tokens")));
        }
        if index < entries.len() {
            return Err(Error::incomplete(FILE, format!("id {id} is given twice")));
        }
        entries.resize(index, TokenEntry::Unused);
        entries.push(entry);
    }
    Ok(entries)
}

fn parse(line: &[u8]) -> Option<(u32, TokenEntry)> {
    let line = std::str::from_utf8(line).ok()?;
    let (text, rank) = line.split_once(' ')?;
    Some((rank.parse().ok()?, TokenEntry::Text(base64(text)?)))
}

/// Standard base64 with padding.
fn base64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    let mut buffer = 0_u32;
    let mut bits = 0;
    for digit in digits.bytes() {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        buffer = buffer << 6 | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from(buffer >> bits & 0xff).ok()?);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_ranks() {
        let entries = read(b"IQ== 0\nw6k= 2\n4pY= 3\n", &[("<|end|>", 1)]).unwrap();
        let text = |t: &[u8]| TokenEntry::Text(t.to_vec());
        assert_eq!(
            entries,
            [text(b"!"), TokenEntry::Special("<|end|>".into()), text("é".as_bytes()), text(&[0xe2, 0x96])]
        );
    }

    #[test]
    fn refuses_what_is_not_a_rank_file() {
        assert_eq!(read(b"IQ== 0\nhello\n", &[]).unwrap_err().place(), Some((2, 1)));
        assert!(read(b"IQ== 0\nIg== 0\n", &[]).is_err());
        assert!(read(b"IQ== 4000000000\n", &[]).is_err());
    }
}
