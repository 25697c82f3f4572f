//! A vocabulary from a file, whatever kind of file it is.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use formwork::Vocabulary;

use crate::error::Error;

/// Reads a `tokenizer.json`, or the tokens in a GGUF file.
pub(crate) fn open(path: &Path) -> Result<Vocabulary, Error> {
    if is_gguf(path)? {
        return from_gguf(path);
    }
    Vocabulary::from_tokenizer_json(path).map_err(|e| Error::constraint(None, e))
}

fn is_gguf(path: &Path) -> Result<bool, Error> {
    let unreadable = |e| Error::unreadable(path, e);
    let mut start = Vec::new();
    File::open(path).map_err(unreadable)?.take(4).read_to_end(&mut start).map_err(unreadable)?;
    Ok(start == b"GGUF")
}

#[cfg(not(feature = "model"))]
fn from_gguf(path: &Path) -> Result<Vocabulary, Error> {
    Err(Error::gguf_not_built(path))
}

#[cfg(feature = "model")]
fn from_gguf(path: &Path) -> Result<Vocabulary, Error> {
    let tokens = formwork::candle::ModelFile::open(path).and_then(|file| file.gguf_tokens()).map_err(Error::model)?;
    Vocabulary::from_gguf(tokens).map_err(|e| Error::constraint(Some(path), e))
}
