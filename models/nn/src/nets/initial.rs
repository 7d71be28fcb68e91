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
    values: Values,
}

/// Whether parameters have values.
#[derive(Clone, Copy)]
enum Values {
    Drawn,
    /// They have shapes only: what burn records without computing needs no memory.
    Absent,
}

impl<'a> Initial<'a> {
    /// The parameters that `rule` and `seed` give, on `device`.
    pub fn new(rule: Initialization, seed: u64, device: &'a Device) -> Self {
        Self { rule, stream: Stream::new(seed, "weights"), device, values: Values::Drawn }
    }

    /// Parameters that have shapes and no values, for a device that records and computes nothing.
    pub fn shapes(device: &'a Device) -> Self {
        Self { values: Values::Absent, ..Self::new(Initialization::Zeros, 0, device) }
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
        let stream = &mut self.stream;
        // Adding zero turns -0 into 0, so that a weight that starts at zero has one bit pattern.
        let draw = |count| (0..count).map(|_| (deviation * stream.normal() + 0.0) as f32).collect();
        parameter(shape, self.values, self.device, draw)
    }

    /// Biases, all zero.
    pub(super) fn biases(&self, count: usize) -> Param<Tensor<1>> {
        parameter([count], self.values, self.device, |count| vec![0.0; count])
    }

    /// Factors, all one.
    pub(super) fn ones(&self, count: usize) -> Param<Tensor<1>> {
        parameter([count], self.values, self.device, |count| vec![1.0; count])
    }
}

fn parameter<const D: usize>(
    shape: [usize; D],
    values: Values,
    device: &Device,
    fill: impl FnOnce(usize) -> Vec<f32>,
) -> Param<Tensor<D>> {
    match values {
        Values::Drawn => {
            let values = fill(shape.iter().product());
            Param::from_data(TensorData::new(values, shape), device)
        }
        Values::Absent => Param::from_tensor(Tensor::empty(shape, device)),
    }
}
