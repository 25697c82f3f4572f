//! Reads tensors of a GGUF file onto a device.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use candle_core::Tensor;
use candle_core::quantized::{QMatMul, QStorage, QTensor};

use crate::device::Device;
use crate::error::{Error, Result};
use crate::gguf::{Header, TensorEntry, TensorType};

/// Reads tensors by name and remembers which were asked for.
pub(crate) struct TensorReader<'a> {
    path: &'a Path,
    file: &'a File,
    entries: HashMap<&'a str, &'a TensorEntry>,
    taken: HashSet<String>,
    device: Device,
    candle_device: &'a candle_core::Device,
    bytes: Vec<u8>,
}

impl<'a> TensorReader<'a> {
    pub(crate) fn new(
        header: &'a Header,
        file: &'a File,
        device: Device,
        candle_device: &'a candle_core::Device,
    ) -> Self {
        Self {
            path: header.metadata.path(),
            file,
            entries: header.tensors.iter().map(|t| (&*t.name, t)).collect(),
            taken: HashSet::new(),
            device,
            candle_device,
            bytes: Vec::new(),
        }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.entries.contains_key(name)
    }

    pub(crate) fn entry(&self, name: &str) -> Result<&'a TensorEntry> {
        self.entries.get(name).copied().ok_or_else(|| Error::tensor(self.path, name, "it is missing"))
    }

    /// The names asked for so far.
    pub(crate) fn taken(&self) -> &HashSet<String> {
        &self.taken
    }

    /// A matrix of `[rows, columns]`, in the file's quantisation or a faster one.
    pub(crate) fn matrix(&mut self, name: &str, shape: [usize; 2]) -> Result<QMatMul> {
        self.bytes.clear();
        let tensor_type = self.append(name, &shape)?;
        self.to_matrix(tensor_type, shape)
    }

    /// Matrices of equally many columns: one below the other as a single matrix where their types agree, else each for
    /// itself.
    pub(crate) fn matrices(&mut self, parts: &[(&str, [usize; 2])]) -> Result<Vec<QMatMul>> {
        let mut types = Vec::new();
        for (name, _) in parts {
            types.push(self.entry(name)?.tensor_type);
        }
        let [first, rest @ ..] = types.as_slice() else {
            return Ok(Vec::new());
        };
        if rest.iter().any(|other| other != first) {
            return parts.iter().map(|&(name, shape)| self.matrix(name, shape)).collect();
        }
        self.bytes.clear();
        let mut rows = 0;
        let mut columns = 0;
        for (name, shape) in parts {
            self.append(name, shape)?;
            [_, columns] = *shape;
            rows += shape[0];
        }
        Ok(vec![self.to_matrix(*first, [rows, columns])?])
    }

    /// A vector, as plain numbers on the device.
    pub(crate) fn vector(&mut self, name: &str, len: usize) -> Result<Tensor> {
        self.load(name, &[len])?.dequantize(self.candle_device).map_err(|source| Error::compute(self.device, source))
    }

    /// A vector, as plain numbers in memory.
    pub(crate) fn numbers(&mut self, name: &str, len: usize) -> Result<Vec<f32>> {
        self.vector(name, len)?.to_vec1().map_err(|source| Error::compute(self.device, source))
    }

    fn load(&mut self, name: &str, shape: &[usize]) -> Result<QTensor> {
        self.bytes.clear();
        let tensor_type = self.append(name, shape)?;
        to_candle(tensor_type, shape, &self.bytes, self.candle_device)
            .map_err(|source| Error::compute(self.device, source))
    }

    /// Reads a tensor, which must have this shape, behind the bytes that are there already.
    fn append(&mut self, name: &str, shape: &[usize]) -> Result<TensorType> {
        let entry = self.entry(name)?;
        if entry.dims != shape {
            return Err(Error::tensor(self.path, name, format!("its shape is {:?}, not {shape:?}", entry.dims)));
        }
        self.taken.insert(name.to_owned());
        read_bytes(self.path, self.file, entry, &mut self.bytes)?;
        Ok(entry.tensor_type)
    }

    fn to_matrix(&self, tensor_type: TensorType, shape: [usize; 2]) -> Result<QMatMul> {
        let tensor = to_candle(tensor_type, &shape, &self.bytes, self.candle_device);
        let tensor = if self.device == Device::Cpu { tensor.and_then(quicken) } else { tensor };
        tensor
            .and_then(|tensor| QMatMul::from_arc(Arc::new(tensor)))
            .map_err(|source| Error::compute(self.device, source))
    }
}

/// Reads a tensor's bytes behind those that are there.
pub(crate) fn read_bytes(path: &Path, mut file: &File, entry: &TensorEntry, bytes: &mut Vec<u8>) -> Result<()> {
    let start = bytes.len();
    let len = usize::try_from(entry.byte_len).unwrap_or(usize::MAX);
    bytes.resize(start.saturating_add(len), 0);
    file.seek(SeekFrom::Start(entry.start))
        .and_then(|_| file.read_exact(&mut bytes[start..]))
        .map_err(|e| Error::io("reading", path, e))
}

/// A tensor from its bytes.
pub(crate) fn to_candle(
    tensor_type: TensorType,
    shape: &[usize],
    bytes: &[u8],
    device: &candle_core::Device,
) -> candle_core::Result<QTensor> {
    let storage = QStorage::from_data(Cow::Borrowed(bytes), device, tensor_type.to_candle())?;
    QTensor::new(storage, shape)
}

/// The same numbers in a quantisation that the processor multiplies fast: a tensor of a slow type becomes `Q8_0`.
///
/// `Q8_0` keeps eight bits of each number where the slow types have four or five, so little is lost (at most 1/254 of a
/// block's largest number).
pub(crate) fn quicken(tensor: QTensor) -> candle_core::Result<QTensor> {
    if TensorType::from_candle(tensor.dtype()).is_slow() {
        let numbers = tensor.dequantize(&candle_core::Device::Cpu)?;
        QTensor::quantize(&numbers, TensorType::Q8_0.to_candle())
    } else {
        Ok(tensor)
    }
}
