//! How a tensor's numbers are stored: the types that candle computes with, and the names of those that it doesn't.

use candle_core::quantized::GgmlDType;

/// A tensor type that can be loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TensorType(GgmlDType);

impl TensorType {
    pub(crate) const Q8_0: Self = Self(GgmlDType::Q8_0);

    /// The type with this number in a GGUF file; else the number's name, for the message.
    pub(crate) fn from_number(number: u32) -> Result<Self, String> {
        Ok(Self(match number {
            0 => GgmlDType::F32,
            1 => GgmlDType::F16,
            2 => GgmlDType::Q4_0,
            3 => GgmlDType::Q4_1,
            6 => GgmlDType::Q5_0,
            7 => GgmlDType::Q5_1,
            8 => GgmlDType::Q8_0,
            10 => GgmlDType::Q2K,
            11 => GgmlDType::Q3K,
            12 => GgmlDType::Q4K,
            13 => GgmlDType::Q5K,
            14 => GgmlDType::Q6K,
            30 => GgmlDType::BF16,
            16 => return Err("IQ2_XXS".to_owned()),
            17 => return Err("IQ2_XS".to_owned()),
            18 => return Err("IQ3_XXS".to_owned()),
            19 => return Err("IQ1_S".to_owned()),
            20 => return Err("IQ4_NL".to_owned()),
            21 => return Err("IQ3_S".to_owned()),
            22 => return Err("IQ2_S".to_owned()),
            23 => return Err("IQ4_XS".to_owned()),
            29 => return Err("IQ1_M".to_owned()),
            34 => return Err("TQ1_0".to_owned()),
            35 => return Err("TQ2_0".to_owned()),
            39 => return Err("MXFP4".to_owned()),
            other => return Err(format!("number {other}")),
        }))
    }

    /// The type's number in a GGUF file.
    pub(crate) fn number(self) -> u32 {
        match self.0 {
            GgmlDType::F32 => 0,
            GgmlDType::F16 => 1,
            GgmlDType::Q4_0 => 2,
            GgmlDType::Q4_1 => 3,
            GgmlDType::Q5_0 => 6,
            GgmlDType::Q5_1 => 7,
            GgmlDType::Q8_0 => 8,
            GgmlDType::Q8_1 => 9,
            GgmlDType::Q2K => 10,
            GgmlDType::Q3K => 11,
            GgmlDType::Q4K => 12,
            GgmlDType::Q5K => 13,
            GgmlDType::Q6K => 14,
            GgmlDType::Q8K => 15,
            GgmlDType::BF16 => 30,
        }
    }

    /// The name as file names and reports spell it.
    pub(crate) fn name(self) -> &'static str {
        match self.0 {
            GgmlDType::F32 => "F32",
            GgmlDType::F16 => "F16",
            GgmlDType::BF16 => "BF16",
            GgmlDType::Q4_0 => "Q4_0",
            GgmlDType::Q4_1 => "Q4_1",
            GgmlDType::Q5_0 => "Q5_0",
            GgmlDType::Q5_1 => "Q5_1",
            GgmlDType::Q8_0 => "Q8_0",
            GgmlDType::Q8_1 => "Q8_1",
            GgmlDType::Q2K => "Q2_K",
            GgmlDType::Q3K => "Q3_K",
            GgmlDType::Q4K => "Q4_K",
            GgmlDType::Q5K => "Q5_K",
            GgmlDType::Q6K => "Q6_K",
            GgmlDType::Q8K => "Q8_K",
        }
    }

    pub(crate) fn from_candle(dtype: GgmlDType) -> Self {
        Self(dtype)
    }

    pub(crate) fn to_candle(self) -> GgmlDType {
        self.0
    }

    /// Whether candle multiplies this type with scalar code on x86, at a third of the speed of `Q8_0`.
    pub(crate) fn is_slow(self) -> bool {
        matches!(self.0, GgmlDType::Q4_1 | GgmlDType::Q5_0 | GgmlDType::Q5_1)
    }

    /// Bytes of a tensor with these dimensions (last one contiguous); `None` where they don't make whole blocks or
    /// don't fit an address.
    pub(crate) fn byte_len(self, dims: &[usize]) -> Option<u64> {
        let last = *dims.last()?;
        let block = self.0.block_size();
        if last == 0 || !last.is_multiple_of(block) {
            return None;
        }
        let elements = dims.iter().try_fold(1_usize, |n, &d| n.checked_mul(d))?;
        // Twelve bytes an element, the most that any step of loading needs, must fit an address too.
        elements.checked_mul(12).filter(|_| elements > 0)?;
        u64::try_from((elements / block).checked_mul(self.0.type_size())?).ok()
    }
}
