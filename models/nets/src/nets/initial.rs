//! Initial weights, drawn on the host, so that two devices start from the same bits.

use burn::module::Param;
use burn::nn::Linear;
use burn::tensor::{Device, Tensor, TensorData};

use crate::random::Stream;

/// The rule by which weights start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Initialization {
    /// Normal with variance 2 / inputs, which keeps the size of activations under relu (He et al. 2015).
    He,
    /// Normal with variance 2 / (inputs + outputs), for tanh and sigmoid (Glorot & Bengio 2010).
    Xavier,
    /// All zero: every neuron of a layer is the same and stays so.
    Zeros,
}

impl Initialization {
    fn standard_deviation(self, fan_in: usize, fan_out: usize) -> f64 {
        match self {
            Self::He => (2.0 / fan_in as f64).sqrt(),
            Self::Xavier => (2.0 / (fan_in + fan_out) as f64).sqrt(),
            Self::Zeros => 0.0,
        }
    }
}

/// Makes initial parameters, layer by layer, from a stream of its own. Biases start at zero.
pub struct Initial<'a> {
    rule: Initialization,
    stream: Stream,
    device: &'a Device,
}

impl<'a> Initial<'a> {
    /// The parameters that `rule` and `seed` give, on `device`.
    pub fn new(rule: Initialization, seed: u64, device: &'a Device) -> Self {
        Self {
            rule,
            stream: Stream::new(seed, "weights"),
            device,
        }
    }

    /// A layer of neurons: weights `[inputs, outputs]`, biases `[outputs]`.
    pub fn linear(&mut self, inputs: usize, outputs: usize) -> Linear {
        Linear {
            weight: self.weights([inputs, outputs], inputs, outputs),
            bias: Some(self.biases(outputs)),
        }
    }

    /// Weights of any shape; every output is a sum of `fan_in` products, every input goes into `fan_out`.
    pub(super) fn weights<const D: usize>(
        &mut self,
        shape: [usize; D],
        fan_in: usize,
        fan_out: usize,
    ) -> Param<Tensor<D>> {
        let deviation = self.rule.standard_deviation(fan_in, fan_out);
        let count = shape.iter().product();
        // Adding zero turns -0 into 0, so that a weight that starts at zero has one bit pattern.
        let mut draw = || (deviation * self.stream.normal() + 0.0) as f32;
        let values: Vec<f32> = (0..count).map(|_| draw()).collect();
        Param::from_data(TensorData::new(values, shape), self.device)
    }

    /// Biases, all zero.
    pub(super) fn biases(&self, count: usize) -> Param<Tensor<1>> {
        Param::from_data(TensorData::zeros::<f32, _>([count]), self.device)
    }
}
