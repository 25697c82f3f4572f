//! The parts that layers are made of: matrices, alone or joined, and norms.

use candle_core::quantized::QMatMul;
use candle_core::{D, Tensor};
use candle_nn::Module;

use crate::error::Result;
use crate::tensors::TensorReader;

/// From so many rows of input on, unpacking a matrix once and multiplying plain numbers is faster than multiplying
/// packed ones row by row.
pub(super) const MANY_ROWS: usize = 64;
/// The largest matrix that is unpacked, in numbers: 64 MiB as plain ones.
const MAX_UNPACKED: usize = 1 << 24;

/// A matrix, quantised or not.
#[derive(Clone)]
pub(super) struct Linear(QMatMul);

impl Linear {
    pub(super) fn load(tensors: &mut TensorReader<'_>, name: &str, shape: [usize; 2]) -> Result<Self> {
        tensors.matrix(name, shape).map(Self)
    }

    /// The product of each row with the matrix.
    pub(super) fn forward(&self, x: &Tensor) -> candle_core::Result<Tensor> {
        let QMatMul::QTensor(packed) = &self.0 else {
            return self.0.forward(x);
        };
        let inputs = x.dim(D::Minus1)?;
        let rows = x.elem_count() / inputs;
        if rows < MANY_ROWS || packed.shape().elem_count() > MAX_UNPACKED || !x.device().is_cpu() {
            return self.0.forward(x);
        }
        let matrix = packed.dequantize(x.device())?;
        let product = x.reshape((rows, inputs))?.matmul(&matrix.t()?)?;
        let mut shape = x.dims().to_vec();
        shape.pop();
        shape.push(product.dim(D::Minus1)?);
        product.reshape(shape)
    }

    /// Rows of the matrix.
    pub(super) fn embedding(&self, ids: &Tensor) -> candle_core::Result<Tensor> {
        self.0.embedding(ids)
    }
}

/// Several matrices that read the same input. Where their types agree they are one, so that the input is prepared and
/// the threads are called together once for all of them.
pub(super) struct Joined {
    matrices: Vec<Linear>,
    /// Outputs of each part.
    lens: Vec<usize>,
}

impl Joined {
    pub(super) fn load(tensors: &mut TensorReader<'_>, parts: &[(String, usize)], inputs: usize) -> Result<Self> {
        let names: Vec<(&str, [usize; 2])> =
            parts.iter().map(|(name, outputs)| (name.as_str(), [*outputs, inputs])).collect();
        Ok(Self {
            matrices: tensors.matrices(&names)?.into_iter().map(Linear).collect(),
            lens: parts.iter().map(|&(_, outputs)| outputs).collect(),
        })
    }

    /// Each part's output.
    pub(super) fn forward(&self, x: &Tensor) -> candle_core::Result<Vec<Tensor>> {
        let [joined] = self.matrices.as_slice() else {
            return self.matrices.iter().map(|matrix| matrix.forward(x)).collect();
        };
        let all = joined.forward(x)?;
        let mut start = 0;
        self.lens
            .iter()
            .map(|&len| {
                let part = all.narrow(D::Minus1, start, len);
                start += len;
                part
            })
            .collect()
    }
}

/// A root-mean-square norm.
pub(super) struct Norm {
    weight: Tensor,
    epsilon: f32,
}

impl Norm {
    pub(super) fn new(weight: Tensor, epsilon: f32) -> Self {
        Self { weight, epsilon }
    }

    pub(super) fn forward(&self, x: &Tensor) -> candle_core::Result<Tensor> {
        candle_nn::ops::rms_norm(x, &self.weight, self.epsilon)
    }
}
