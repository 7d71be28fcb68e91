//! A network's weights as one row of numbers, in the order in which the module names its parameters: what travels between
//! workers, what is cut into chunks and shards, and what two runs are compared by.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::optim::GradientsParams;
use burn::tensor::{Tensor, TensorData};
use mlsys_device::{Moments, workers};
use serde::Deserialize;
use std::ops::Range;

/// Why numbers could not be read from a device; the end of a sentence that begins with what read them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ReadError(pub String);

/// The parameters of a module in their order: where each lies in the row.
pub fn ranges<M: Module>(module: &M) -> Vec<Range<usize>> {
    struct Ranges(Vec<Range<usize>>);
    impl ModuleVisitor for Ranges {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            let begin = self.0.last().map_or(0, |range| range.end);
            self.0.push(begin..begin + param.shape().num_elements());
        }
    }
    let mut ranges = Ranges(Vec::new());
    module.visit(&mut ranges);
    ranges.0
}

pub fn len<M: Module>(module: &M) -> usize {
    ranges(module).last().map_or(0, |range| range.end)
}

/// The values of every parameter in one row each.
pub fn rows<M: Module>(module: &M) -> Vec<Tensor<1>> {
    struct Rows(Vec<Tensor<1>>);
    impl ModuleVisitor for Rows {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            self.0.push(param.val().without_autodiff().reshape([-1]));
        }
    }
    let mut rows = Rows(Vec::new());
    module.visit(&mut rows);
    rows.0
}

/// The gradient of every parameter in one row each, taken out of `gradients`; zero where the loss does not depend on one.
pub fn gradient_rows<M: Module>(module: &M, gradients: &mut GradientsParams) -> Vec<Tensor<1>> {
    struct Slopes<'a>(&'a mut GradientsParams, Vec<Tensor<1>>);
    impl ModuleVisitor for Slopes<'_> {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            let slope = self.0.remove::<D>(param.id);
            let slope = slope.unwrap_or_else(|| param.val().without_autodiff().zeros_like());
            self.1.push(slope.reshape([-1]));
        }
    }
    let mut slopes = Slopes(gradients, Vec::new());
    module.visit(&mut slopes);
    slopes.1
}

pub fn weights<M: Module>(module: &M) -> Result<Vec<f32>, ReadError> {
    read(rows(module), len(module))
}

/// The gradients of the weights, as [`gradient_rows`] gives them.
pub fn gradients<M: Module>(
    module: &M,
    gradients: &mut GradientsParams,
) -> Result<Vec<f32>, ReadError> {
    read(gradient_rows(module, gradients), len(module))
}

/// The module with other weights, as leaves of a new graph. Of numbers that are missing the old ones stay.
pub fn with_weights<M: Module>(module: M, row: &[f32]) -> M {
    struct Replace<'a>(&'a [f32]);
    impl ModuleMapper for Replace<'_> {
        fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
            let shape = param.shape();
            let Some((own, rest)) = self.0.split_at_checked(shape.num_elements()) else {
                return param;
            };
            self.0 = rest;
            param.map(|old| {
                let data = TensorData::new(own.to_vec(), shape);
                let new = Tensor::from_data(data, (&old.device(), old.dtype()));
                if old.is_require_grad() { new.require_grad() } else { new }
            })
        }
    }
    module.map(&mut Replace(row))
}

/// The numbers of a row that lie in some ranges, one range after the other.
pub fn gather(row: &[f32], ranges: &[Range<usize>]) -> Vec<f32> {
    let pieces = ranges.iter().filter_map(|range| row.get(range.clone()));
    pieces.flatten().copied().collect()
}

/// Puts numbers where [`gather`] took them from.
pub fn scatter(row: &mut [f32], ranges: &[Range<usize>], numbers: &[f32]) {
    let mut rest = numbers;
    for range in ranges {
        let own = row.get_mut(range.clone()).zip(rest.split_at_checked(range.len()));
        if let Some((own, (piece, after))) = own {
            own.copy_from_slice(piece);
            rest = after;
        }
    }
}

fn read(pieces: Vec<Tensor<1>>, count: usize) -> Result<Vec<f32>, ReadError> {
    if pieces.is_empty() {
        return Ok(Vec::new());
    }
    numbers(Tensor::cat(pieces, 0), count)
}

/// The numbers of a tensor on a device that does not fail.
pub fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}

/// The numbers of a tensor, which must be `count`.
pub fn numbers<const D: usize>(tensor: Tensor<D>, count: usize) -> Result<Vec<f32>, ReadError> {
    let read = workers::read(tensor).map_err(|error| ReadError(error.to_string()))?;
    match read.len() {
        len if len == count => Ok(read),
        len => Err(ReadError(format!("read {len} numbers from its device where {count} belong"))),
    }
}

// How a row of gradients changes a row of weights: what each worker does to its own shard, be that all or a part.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rule {
    /// The gradient itself.
    Sgd,
    /// A running sum of gradients, each 0.9 of the last.
    Momentum,
    /// The gradient over the root of its running mean square.
    RmsProp,
    /// A running mean of gradients over the root of their running mean square.
    Adam,
    /// Adam, with weight decay taken from the weights instead of put into the gradient.
    AdamW,
}

impl Rule {
    pub fn moments(self) -> u64 {
        match self {
            Self::Sgd => 0,
            Self::Momentum | Self::RmsProp => 1,
            Self::Adam | Self::AdamW => 2,
        }
    }
}

/// A rule with its state for one row of weights, without weight decay.
#[derive(Default)]
pub enum Optimizer {
    #[default]
    Sgd,
    Momentum(Vec<f32>),
    RmsProp(Vec<f32>),
    Adam(Moments),
}

impl Optimizer {
    pub fn new(rule: Rule) -> Self {
        match rule {
            Rule::Sgd => Self::Sgd,
            Rule::Momentum => Self::Momentum(Vec::new()),
            Rule::RmsProp => Self::RmsProp(Vec::new()),
            Rule::Adam | Rule::AdamW => Self::Adam(Moments::default()),
        }
    }

    /// One update of the weights in place. A row of the same length each time.
    pub fn update(&mut self, weights: &mut [f32], gradient: &[f32], rate: f64) {
        let rate = rate as f32;
        match self {
            Self::Sgd => {
                for (weight, slope) in weights.iter_mut().zip(gradient) {
                    *weight -= rate * slope;
                }
            }
            Self::Momentum(sums) => {
                sums.resize(weights.len(), 0.0);
                for ((weight, sum), slope) in weights.iter_mut().zip(sums).zip(gradient) {
                    *sum = 0.9 * *sum + slope;
                    *weight -= rate * *sum;
                }
            }
            Self::RmsProp(squares) => {
                squares.resize(weights.len(), 0.0);
                for ((weight, square), slope) in weights.iter_mut().zip(squares).zip(gradient) {
                    *square = 0.99 * *square + 0.01 * slope * slope;
                    *weight -= rate * slope / (square.sqrt() + 1e-8);
                }
            }
            Self::Adam(moments) => moments.update(weights, gradient, rate),
        }
    }

    /// The state of `weights` weights, one row for each moment.
    pub fn state(&mut self, weights: usize) -> Vec<&mut [f32]> {
        match self {
            Self::Sgd => Vec::new(),
            Self::Momentum(row) | Self::RmsProp(row) => {
                row.resize(weights, 0.0);
                vec![row]
            }
            Self::Adam(moments) => moments.rows(weights).into(),
        }
    }

    pub fn bytes(&self) -> u64 {
        match self {
            Self::Sgd => 0,
            Self::Momentum(row) | Self::RmsProp(row) => 4 * row.len() as u64,
            Self::Adam(moments) => moments.bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::networks::{Activation, Architecture, Initialization, MlpConfig, Network};
    use crate::train::{self, UpdateKnobs};
    use burn::tensor::Device;
    use mlsys_lab::DeviceId;

    fn mlp(device: &Device) -> Network {
        let sizes = MlpConfig { inputs: 3, hidden: vec![2], outputs: 2 };
        Architecture::Mlp(sizes).init(Initialization::He, 1, device)
    }

    #[test]
    fn flat_params_round_trip() {
        let network = mlp(&Device::flex().autodiff());
        assert_eq!(ranges(&network), [0..6, 6..8, 8..12, 12..14]);
        let row: Vec<f32> = (0..14).map(|number| number as f32).collect();
        let network = with_weights(network, &row);
        assert_eq!(weights(&network).unwrap(), row);
        assert_eq!(len(&network), 14);
    }

    /// A row is updated as a network is, by every rule.
    #[test]
    fn rows_and_networks_are_updated_alike() {
        let device = Device::flex().autodiff();
        let knobs = UpdateKnobs::at_rate(0.1);
        for rule in [Rule::Sgd, Rule::Momentum, Rule::RmsProp, Rule::Adam, Rule::AdamW] {
            let mut network = mlp(&device);
            let mut row = weights(&network).unwrap();
            let mut whole = train::Optimizer::new(rule, DeviceId::CPU);
            let mut flat = Optimizer::new(rule);
            for step in 0..3 {
                let x = Tensor::<2>::from_floats([[0.3, -0.7, 0.2 * step as f32]], &device);
                let slopes = || {
                    let loss = network.forward(x.clone(), Activation::Tanh).square().sum();
                    GradientsParams::from_grads(loss.backward(), &network)
                };
                flat.update(&mut row, &gradients(&network, &mut slopes()).unwrap(), 0.1);
                let slopes = slopes();
                network = whole.update(network, slopes, knobs);
            }
            let apart = weights(&network).unwrap().into_iter().zip(&row);
            let most = apart.fold(0.0_f32, |most, (a, b)| most.max((a - b).abs()));
            assert!(most < 1e-5, "{rule:?}: {most}");
            assert_eq!(flat.bytes(), 4 * 14 * rule.moments());
        }
    }
}
