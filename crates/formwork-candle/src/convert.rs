//! Converts a GGUF file into one that the processor computes with quickly: tensors of slow types become `Q8_0`.

use std::io::{self, Write};
use std::path::Path;

use crate::error::{Error, Result};
use crate::gguf::{Header, TensorType};
use crate::tensors::{quicken, read_bytes, to_candle};

/// Whether a file has tensors worth converting.
pub(crate) fn is_worthwhile(header: &Header) -> bool {
    header.tensors.iter().any(|t| t.tensor_type.is_slow())
}

/// Writes the converted file: the metadata byte by byte as it is, then the tensors in the file's order. One tensor at a
/// time is in memory. `progress` hears how many bytes of the source are done, and of how many.
pub(crate) fn convert(
    source: &Path,
    target: &Path,
    output: &mut dyn Write,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<()> {
    let (header, file) = Header::open(source)?;
    let mut copied = Vec::new();
    let to_io = |e: io::Error| Error::io("writing", target, e);

    let mut head = Vec::new();
    head.extend_from_slice(b"GGUF");
    head.extend_from_slice(&3_u32.to_le_bytes());
    head.extend_from_slice(&(header.tensors.len() as u64).to_le_bytes());
    head.extend_from_slice(&header.metadata_count.to_le_bytes());
    read_range(source, &file, &header.metadata_bytes, &mut copied)?;
    head.extend_from_slice(&copied);
    let mut offset = 0_u64;
    for tensor in &header.tensors {
        let kept = new_type(tensor.tensor_type);
        let byte_len =
            kept.byte_len(&tensor.dims).ok_or_else(|| Error::tensor(source, &tensor.name, "it has no whole blocks"))?;
        head.extend_from_slice(&(tensor.name.len() as u64).to_le_bytes());
        head.extend_from_slice(tensor.name.as_bytes());
        head.extend_from_slice(&u32::try_from(tensor.dims.len()).unwrap_or(0).to_le_bytes());
        for &dim in tensor.dims.iter().rev() {
            head.extend_from_slice(&(dim as u64).to_le_bytes());
        }
        head.extend_from_slice(&kept.number().to_le_bytes());
        head.extend_from_slice(&offset.to_le_bytes());
        offset = (offset + byte_len).next_multiple_of(header.alignment);
    }
    pad(&mut head, header.alignment);
    output.write_all(&head).map_err(to_io)?;

    let total = header.tensors.iter().map(|t| t.byte_len).sum();
    let mut done = 0;
    let cpu = candle_core::Device::Cpu;
    for tensor in &header.tensors {
        copied.clear();
        read_bytes(source, &file, tensor, &mut copied)?;
        if tensor.tensor_type.is_slow() {
            let converted = to_candle(tensor.tensor_type, &tensor.dims, &copied, &cpu)
                .and_then(quicken)
                .map_err(|e| Error::compute(crate::Device::Cpu, e))?;
            let data = converted.data().map_err(|e| Error::compute(crate::Device::Cpu, e))?;
            copied.clear();
            copied.extend_from_slice(&data);
        }
        pad(&mut copied, header.alignment);
        output.write_all(&copied).map_err(to_io)?;
        done += tensor.byte_len;
        progress(done, total);
    }
    output.flush().map_err(to_io)
}

fn new_type(old: TensorType) -> TensorType {
    if old.is_slow() { TensorType::Q8_0 } else { old }
}

fn pad(bytes: &mut Vec<u8>, alignment: u64) {
    let len = (bytes.len() as u64).next_multiple_of(alignment);
    bytes.resize(usize::try_from(len).unwrap_or(bytes.len()), 0);
}

fn read_range(path: &Path, mut file: &std::fs::File, range: &std::ops::Range<u64>, bytes: &mut Vec<u8>) -> Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    bytes.resize(usize::try_from(range.end - range.start).unwrap_or(usize::MAX), 0);
    file.seek(SeekFrom::Start(range.start))
        .and_then(|_| file.read_exact(bytes))
        .map_err(|e| Error::io("reading", path, e))
}
