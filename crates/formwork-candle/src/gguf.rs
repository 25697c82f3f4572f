//! GGUF files: the header as plain data, every length checked against the file before anything is allocated for it.
//!
//! The format: <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>. candle has a reader too; this one refuses
//! nested arrays, overlong names, shapes that overflow and tensors outside the file, says which of these it was, and
//! keeps where the metadata lies, so that a converted file can carry it over byte by byte.

mod metadata;
mod reader;
mod tensor_type;

pub(crate) use metadata::Metadata;
pub(crate) use reader::{Header, TensorEntry};
pub(crate) use tensor_type::TensorType;
