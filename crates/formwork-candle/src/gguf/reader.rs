//! Reads a GGUF header.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use super::metadata::{Metadata, Value};
use super::tensor_type::TensorType;
use crate::error::{Error, Result};

const MAGIC: &[u8; 4] = b"GGUF";
const DEFAULT_ALIGNMENT: u64 = 32;
const MAX_NAME_BYTES: u64 = 65_535;
const MAX_DIMENSIONS: u32 = 4;
/// Room reserved for an array before its first element is read: an array's length is the file's word only.
const MAX_RESERVED: usize = 1 << 16;

/// Where a tensor lies and what it is.
#[derive(Clone, Debug)]
pub(crate) struct TensorEntry {
    pub(crate) name: String,
    /// Outermost first, as candle counts them.
    pub(crate) dims: Vec<usize>,
    pub(crate) tensor_type: TensorType,
    /// Position in the file.
    pub(crate) start: u64,
    pub(crate) byte_len: u64,
}

/// A GGUF file's header, checked: every tensor lies inside the file.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    pub(crate) metadata: Metadata,
    /// In the file's order.
    pub(crate) tensors: Vec<TensorEntry>,
    /// Number of metadata entries, as the file counts them.
    pub(crate) metadata_count: u64,
    /// The metadata entries' place in the file.
    pub(crate) metadata_bytes: std::ops::Range<u64>,
    pub(crate) alignment: u64,
    pub(crate) file_len: u64,
}

impl Header {
    /// Opens a file and reads its header.
    pub(crate) fn open(path: &Path) -> Result<(Self, File)> {
        let file = File::open(path).map_err(|e| Error::io("opening", path, e))?;
        let about = file.metadata().map_err(|e| Error::io("opening", path, e))?;
        if !about.is_file() {
            return Err(Error::not_gguf(path, "it is no regular file"));
        }
        let header = Self::read(&file, about.len(), path)?;
        Ok((header, file))
    }

    fn read(file: &File, file_len: u64, path: &Path) -> Result<Self> {
        let mut reader = Reader { input: BufReader::with_capacity(1 << 16, file), path, position: 0, file_len };
        if file_len == 0 {
            return Err(Error::not_gguf(path, "it is empty"));
        }
        let mut magic = [0; 4];
        if file_len < 4 {
            return Err(Error::not_gguf(path, "it is shorter than four bytes"));
        }
        reader.fill(&mut magic)?;
        if &magic != MAGIC {
            return Err(Error::not_gguf(path, format!("it starts with \"{}\", not \"GGUF\"", magic.escape_ascii())));
        }
        let version = reader.u32()?;
        if version.swap_bytes() <= 3 {
            return Err(Error::unsupported(path, "big-endian numbers"));
        }
        if !(2..=3).contains(&version) {
            return Err(Error::unsupported(path, format!("version {version} of the GGUF format")));
        }
        let tensor_count = reader.u64()?;
        let metadata_count = reader.u64()?;
        // Shortest entries: a name's length, a type and a byte; a name's length, two numbers and an offset.
        reader.expect_room(metadata_count, 13, "metadata entries")?;
        reader.expect_room(tensor_count, 24, "tensors")?;

        let metadata_start = reader.position;
        let mut values = HashMap::new();
        for _ in 0..metadata_count {
            let key = reader.name()?;
            let value_type = reader.u32()?;
            let value = reader.value(value_type, &key)?;
            values.insert(key, value);
        }
        let metadata_bytes = metadata_start..reader.position;
        let metadata = Metadata::new(path, values);
        let alignment = match metadata.size("general.alignment")? {
            None => DEFAULT_ALIGNMENT,
            Some(n) if n.is_power_of_two() && (8..=1 << 20).contains(&n) => n as u64,
            Some(n) => {
                return Err(Error::bad_header(path, format!("an alignment of {n} bytes")));
            }
        };

        let mut tensors = Vec::new();
        for _ in 0..tensor_count {
            tensors.push(reader.tensor_entry()?);
        }
        let data_start = reader.position.next_multiple_of(alignment);
        for tensor in &mut tensors {
            let start = data_start.checked_add(tensor.start);
            let end = start.and_then(|start| start.checked_add(tensor.byte_len));
            match (start, end) {
                (Some(start), Some(end)) if end <= file_len => tensor.start = start,
                _ => {
                    let end = end.map_or_else(|| "far beyond".to_owned(), |n| n.to_string());
                    return Err(Error::truncated(
                        path,
                        format!("the tensor {} ends at byte {end}, the file has {file_len}", tensor.name),
                    ));
                }
            }
        }
        Ok(Self { metadata, tensors, metadata_count, metadata_bytes, alignment, file_len })
    }
}

struct Reader<'a> {
    input: BufReader<&'a File>,
    path: &'a Path,
    position: u64,
    file_len: u64,
}

impl Reader<'_> {
    fn fill(&mut self, bytes: &mut [u8]) -> Result<()> {
        let len = bytes.len() as u64;
        if len > self.file_len - self.position {
            return Err(self.ends_early());
        }
        self.input.read_exact(bytes).map_err(|e| Error::io("reading", self.path, e))?;
        self.position += len;
        Ok(())
    }

    fn ends_early(&self) -> Error {
        Error::truncated(self.path, format!("its {} bytes end within the header", self.file_len))
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Refuses `count` things of at least `least` bytes each where the file's rest can't hold them.
    fn expect_room(&self, count: u64, least: u64, what: &str) -> Result<()> {
        let room = self.file_len - self.position;
        if count.checked_mul(least).is_none_or(|needed| needed > room) {
            return Err(Error::truncated(
                self.path,
                format!("the header tells of {count} {what}, and {room} bytes follow"),
            ));
        }
        Ok(())
    }

    fn bytes(&mut self) -> Result<Vec<u8>> {
        let len = self.u64()?;
        self.expect_room(len, 1, "bytes of text")?;
        let mut bytes = vec![0; usize::try_from(len).map_err(|_| self.ends_early())?];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn name(&mut self) -> Result<String> {
        let start = self.position;
        let len = self.u64()?;
        if len > MAX_NAME_BYTES {
            return Err(Error::bad_header(self.path, format!("a name of {len} bytes at byte {start}")));
        }
        let mut bytes = vec![0; usize::try_from(len).map_err(|_| self.ends_early())?];
        self.fill(&mut bytes)?;
        String::from_utf8(bytes)
            .map_err(|_| Error::bad_header(self.path, format!("a name that is not UTF-8 at byte {start}")))
    }

    fn value(&mut self, value_type: u32, key: &str) -> Result<Value> {
        Ok(match value_type {
            0 => Value::Int(i128::from(u8::from_le_bytes(self.array()?))),
            1 => Value::Int(i128::from(i8::from_le_bytes(self.array()?))),
            2 => Value::Int(i128::from(u16::from_le_bytes(self.array()?))),
            3 => Value::Int(i128::from(i16::from_le_bytes(self.array()?))),
            4 => Value::Int(i128::from(self.u32()?)),
            5 => Value::Int(i128::from(i32::from_le_bytes(self.array()?))),
            6 => Value::Float(f64::from(f32::from_le_bytes(self.array()?))),
            7 => Value::Bool(self.array::<1>()? != [0]),
            // Texts for people (a name, a licence) need not be perfect UTF-8; tokens must be.
            8 => Value::Text(String::from_utf8_lossy(&self.bytes()?).into_owned()),
            9 => self.array_value(key)?,
            10 => Value::Int(i128::from(self.u64()?)),
            11 => Value::Int(i128::from(i64::from_le_bytes(self.array()?))),
            12 => Value::Float(f64::from_le_bytes(self.array()?)),
            other => {
                return Err(Error::bad_header(
                    self.path,
                    format!("the metadata entry {key} has the unknown type {other}"),
                ));
            }
        })
    }

    fn array_value(&mut self, key: &str) -> Result<Value> {
        let element_type = self.u32()?;
        let count = self.u64()?;
        let least = match element_type {
            0 | 1 | 7 => 1,
            2 | 3 => 2,
            4..=6 => 4,
            _ => 8,
        };
        self.expect_room(count, least, "array elements")?;
        let reserved = usize::try_from(count).map_or(MAX_RESERVED, |n| n.min(MAX_RESERVED));
        Ok(match element_type {
            8 => {
                let mut texts = Vec::with_capacity(reserved);
                for index in 0..count {
                    let text = String::from_utf8(self.bytes()?)
                        .map_err(|_| Error::bad_header(self.path, format!("element {index} of {key} is not UTF-8")))?;
                    texts.push(text);
                }
                Value::Texts(texts)
            }
            6 | 12 => {
                let mut floats = Vec::with_capacity(reserved);
                for _ in 0..count {
                    floats.push(if element_type == 6 {
                        f32::from_le_bytes(self.array()?)
                    } else {
                        #[expect(clippy::cast_possible_truncation, reason = "scores, not sums")]
                        let single = f64::from_le_bytes(self.array()?) as f32;
                        single
                    });
                }
                Value::Floats(floats)
            }
            0..=5 | 7 | 10 | 11 => {
                let mut ints = Vec::with_capacity(reserved);
                for _ in 0..count {
                    ints.push(self.int(element_type)?);
                }
                Value::Ints(ints)
            }
            other => {
                return Err(Error::bad_header(self.path, format!("{key} is an array of the unsupported type {other}")));
            }
        })
    }

    fn int(&mut self, value_type: u32) -> Result<i64> {
        Ok(match value_type {
            0 | 7 => i64::from(u8::from_le_bytes(self.array()?)),
            1 => i64::from(i8::from_le_bytes(self.array()?)),
            2 => i64::from(u16::from_le_bytes(self.array()?)),
            3 => i64::from(i16::from_le_bytes(self.array()?)),
            4 => i64::from(self.u32()?),
            5 => i64::from(i32::from_le_bytes(self.array()?)),
            // Nothing that is read here counts beyond 2⁶³.
            10 => i64::try_from(self.u64()?).unwrap_or(i64::MAX),
            _ => i64::from_le_bytes(self.array()?),
        })
    }

    fn tensor_entry(&mut self) -> Result<TensorEntry> {
        let name = self.name()?;
        let dimensions = self.u32()?;
        if !(1..=MAX_DIMENSIONS).contains(&dimensions) {
            return Err(Error::tensor(self.path, &name, format!("it has {dimensions} dimensions")));
        }
        let mut dims = Vec::new();
        for _ in 0..dimensions {
            let dim = self.u64()?;
            dims.push(usize::try_from(dim).unwrap_or(usize::MAX));
        }
        // The file counts the contiguous dimension first.
        dims.reverse();
        let tensor_type = TensorType::from_number(self.u32()?)
            .map_err(|name| Error::unsupported(self.path, format!("the tensor type {name}")))?;
        let start = self.u64()?;
        let byte_len = tensor_type.byte_len(&dims).ok_or_else(|| {
            Error::tensor(self.path, &name, format!("no {} tensor has the shape {dims:?}", tensor_type.name()))
        })?;
        Ok(TensorEntry { name, dims, tensor_type, start, byte_len })
    }
}
