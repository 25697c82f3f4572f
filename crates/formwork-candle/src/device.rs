//! Where a model computes.

use std::fmt;

use crate::error::Result;

/// Where a model computes.
///
/// ```
/// assert_eq!(formwork_candle::Device::Cuda(1).to_string(), "cuda:1");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Device {
    /// The processor.
    #[default]
    Cpu,
    /// The NVIDIA GPU with this number, from 0; needs the feature `cuda`.
    Cuda(usize),
}

impl Device {
    pub(crate) fn to_candle(self) -> Result<candle_core::Device> {
        match self {
            Self::Cpu => Ok(candle_core::Device::Cpu),
            #[cfg(feature = "cuda")]
            Self::Cuda(index) => {
                candle_core::Device::new_cuda(index).map_err(|source| crate::Error::compute(self, source))
            }
            #[cfg(not(feature = "cuda"))]
            Self::Cuda(_) => Err(crate::Error::device_not_built(self)),
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda(index) => write!(f, "cuda:{index}"),
        }
    }
}
