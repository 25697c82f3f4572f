//! SHA-256 of files, and of bytes on their way into one.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

/// Bytes read at once.
const PIECE: usize = 1 << 18;

/// A digest in hexadecimal.
pub(crate) fn hex(digest: &[u8]) -> String {
    let mut text = String::with_capacity(2 * digest.len());
    for byte in digest {
        // Writing to a `String` never fails.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// A file's SHA-256 in hexadecimal; `progress` hears how many bytes are done.
pub(crate) fn file_sha256(path: &Path, progress: &mut dyn FnMut(u64)) -> Result<String> {
    let mut file = File::open(path).map_err(|e| Error::io("opening", path, e))?;
    let mut hasher = Sha256::new();
    let mut piece = vec![0; PIECE];
    let mut done = 0;
    loop {
        let read = match file.read(&mut piece) {
            Ok(0) => return Ok(hex(&hasher.finalize())),
            Ok(read) => read,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(Error::io("reading", path, e)),
        };
        hasher.update(&piece[..read]);
        done += read as u64;
        progress(done);
    }
}

/// The SHA-256 of texts, each with its length, so that no two lists share one.
pub(crate) fn texts_sha256<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let mut hasher = Sha256::new();
    for text in texts {
        hasher.update((text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    hex(&hasher.finalize())
}

/// Hashes and counts what is written through it.
pub(crate) struct HashingWriter<W> {
    inner: W,
    hasher: Sha256,
    written: u64,
}

impl<W: Write> HashingWriter<W> {
    pub(crate) fn new(inner: W) -> Self {
        Self { inner, hasher: Sha256::new(), written: 0 }
    }

    /// Bytes written so far.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// The writer below and the SHA-256 in hexadecimal.
    pub(crate) fn finish(self) -> (W, String) {
        (self.inner, hex(&self.hasher.finalize()))
    }
}

impl<W: Write> Write for HashingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        self.written += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_what_it_writes() {
        let mut writer = HashingWriter::new(Vec::new());
        writer.write_all(b"abc").unwrap();
        assert_eq!(writer.written(), 3);
        let (bytes, sha256) = writer.finish();
        assert_eq!(bytes, b"abc");
        assert_eq!(sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn lists_of_texts_differ_by_their_borders() {
        assert_ne!(texts_sha256(["ab", "c"]), texts_sha256(["a", "bc"]));
    }
}
