//! A network's row of weights rounded, matrix by matrix; biases and the scales of norms stay in 32 bits.

use std::time::Instant;

use burn::tensor::{Device, Tensor};
use mlsys_device as device;
use mlsys_lab::{DeviceId, LabError, median};
use mlsys_nn::baseline::{Layer, Trained};
use mlsys_nn::data::{Examples, Form, Vocabulary};
use mlsys_nn::networks::{Activation, Inputs, Network};
use mlsys_nn::train::{EvaluationSet, batch};
use mlsys_sim::quantizer::{Bytes, Grid, Matrix, Noise, Quantized, Scheme};

use super::forward::forward;
use super::params::{Knobs, Method};

/// Lloyd's iterations at most; they end where nothing moves.
const ITERATIONS: usize = 50;

const FLOAT: usize = 4;

#[derive(Clone)]
pub(super) struct Rounded {
    pub(super) row: Vec<f32>,
    /// Each layer, `[inputs, outputs]`.
    pub(super) layers: Vec<Quantized>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Size {
    pub(super) before: usize,
    /// Packed weights, and scales with whatever goes with them.
    pub(super) matrices: Bytes,
    pub(super) others: usize,
    pub(super) weights: usize,
}

pub(super) fn of_layer(knobs: &Knobs, layer: &Layer, row: &[f32]) -> Quantized {
    let weights = layer.matrix(row);
    let matrix = Matrix::by_inputs(layer.inputs, layer.outputs);
    let Knobs { bits, scheme, granularity, .. } = *knobs;
    match knobs.method {
        Method::Round | Method::Aware => {
            Quantized::linear(&weights, matrix, bits, scheme, granularity)
        }
        Method::Kmeans => Quantized::kmeans(&weights, matrix, 1 << bits, ITERATIONS),
        Method::Nf4 => Quantized::nf4(&weights, matrix, granularity),
    }
}

impl Rounded {
    pub(super) fn new(knobs: &Knobs, layers: &[Layer], row: &[f32]) -> Self {
        let rounded = layers.iter().map(|layer| of_layer(knobs, layer, row));
        Self::with(layers, row, rounded.collect())
    }

    pub(super) fn with(layers: &[Layer], row: &[f32], rounded: Vec<Quantized>) -> Self {
        let mut row = row.to_vec();
        for (layer, own) in layers.iter().zip(&rounded) {
            layer.put(&mut row, &own.back);
        }
        Self { row, layers: rounded }
    }

    /// What rounding did to each layer of the weights it was made from.
    pub(super) fn noise(&self, layers: &[Layer], row: &[f32]) -> Vec<Noise> {
        let pairs = layers.iter().zip(&self.layers);
        pairs.map(|(layer, own)| own.noise(&layer.matrix(row))).collect()
    }

    pub(super) fn size(&self) -> Size {
        let parts = self.layers.iter().map(|layer| layer.storage());
        let weights: usize = parts.clone().map(|storage| storage.weights).sum();
        Size {
            before: FLOAT * self.row.len(),
            matrices: parts.fold(Bytes::default(), |sum, storage| sum + storage.parts()),
            others: FLOAT * self.row.len().saturating_sub(weights),
            weights,
        }
    }
}

impl Size {
    pub(super) fn after(&self) -> usize {
        self.matrices.all() + self.others
    }

    pub(super) fn ratio(&self) -> f64 {
        self.before as f64 / self.after().max(1) as f64
    }

    /// Stored bits of the matrices over their weights.
    pub(super) fn bits_per_weight(&self) -> f64 {
        8.0 * self.matrices.all() as f64 / self.weights.max(1) as f64
    }
}

// The grids that the inputs of layers are rounded to, calibrated on examples that the network has learned from.

pub(super) const EXAMPLES: usize = 256;

/// Numbers kept of what comes into a layer, evenly taken from all: enough to see its range and its outermost thousandth.
const KEPT: usize = 16_384;

/// Inputs of each layer of the trained network; none where a layer shares another's input or reads tokens.
pub(super) struct Observed(Vec<Vec<f32>>);

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct InputGrids(Vec<Option<Grid>>);

impl Observed {
    /// Looks at the first examples. The extremes of all numbers are among those that are kept.
    pub(super) fn new(
        network: &Network,
        layers: usize,
        activation: Activation,
        examples: &Examples,
        device: &Device,
    ) -> Self {
        let mut seen = vec![Vec::new(); layers];
        let indices: Vec<usize> = (0..examples.len().min(EXAMPLES)).collect();
        if indices.is_empty() {
            return Self(seen);
        }
        let (inputs, _) = batch(examples, &indices, device);
        forward(network, inputs, activation, &mut |layer, x| {
            seen[layer] = thinned(x.clone());
            x
        });
        Self(seen)
    }

    pub(super) fn layer(&self, layer: usize) -> &[f32] {
        self.0.get(layer).map_or(&[], Vec::as_slice)
    }

    pub(super) fn grids(&self, knobs: &Knobs) -> InputGrids {
        let Some((bits, calibration)) = knobs.activations else { return InputGrids::default() };
        let grid = |seen: &Vec<f32>| {
            (!seen.is_empty()).then(|| calibration.grid(seen, bits, Scheme::Affine))
        };
        InputGrids(self.0.iter().map(grid).collect())
    }
}

fn thinned(x: Tensor<2>) -> Vec<f32> {
    let all: Vec<f32> = x.into_data().iter::<f32>().collect();
    let every = all.len().div_ceil(KEPT).max(1);
    let mut kept: Vec<f32> = all.iter().copied().step_by(every).collect();
    let finite = || all.iter().copied().filter(|x| x.is_finite());
    kept.extend(finite().min_by(f32::total_cmp));
    kept.extend(finite().max_by(f32::total_cmp));
    kept
}

impl InputGrids {
    #[cfg(test)]
    pub(super) fn just(grid: Grid) -> Self {
        Self(vec![Some(grid)])
    }

    pub(super) fn layer(&self, layer: usize) -> Option<Grid> {
        self.0.get(layer).copied().flatten()
    }

    /// What comes into a layer, rounded; the same numbers if it has no grid.
    pub(super) fn round(&self, layer: usize, x: Tensor<2>) -> Tensor<2> {
        let Some(grid) = self.layer(layer) else { return x };
        // round(x/S) within the integers, counted from the one that stands for zero.
        let (low, high) = (grid.low - grid.zero, grid.high - grid.zero);
        let places = x.div_scalar(grid.scale).round();
        places.clamp(low as f32, high as f32).mul_scalar(grid.scale)
    }

    /// The same for a backward pass, which goes as if nothing had been rounded (straight through, Bengio et al. 2013).
    pub(super) fn round_straight_through(&self, layer: usize, x: Tensor<2>) -> Tensor<2> {
        if self.layer(layer).is_none() {
            return x;
        }
        let still = x.clone().detach();
        let rounded = self.round(layer, still.clone());
        x + (rounded - still)
    }
}

/// Passes that are timed, the median of which counts.
const TIMED: usize = 3;

pub(super) struct Judge {
    id: DeviceId,
    /// Without autodiff.
    device: Device,
    activation: Activation,
    set: EvaluationSet,
    pub(super) examples: Examples,
    pub(super) vocabulary: Option<Vocabulary>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Answers {
    pub(super) loss: f64,
    /// Share right; minus the loss where answers are tokens.
    pub(super) score: f64,
    pub(super) classes: Vec<usize>,
}

impl Judge {
    pub(super) fn new(trained: &Trained, id: DeviceId, device: &Device) -> Result<Self, LabError> {
        let examples = trained.fresh()?;
        let language = if trained.data.dataset.form() == Form::Tokens {
            trained.data()?.language
        } else {
            None
        };
        Ok(Self {
            id,
            device: device.clone(),
            activation: trained.activation,
            set: EvaluationSet::new(&examples, device),
            examples,
            vocabulary: language.map(|language| language.vocabulary),
        })
    }

    pub(super) fn reads_tokens(&self) -> bool {
        matches!(self.examples, Examples::Sequence(_))
    }

    /// What a network without autodiff answers, if the inputs of its layers are rounded to these grids.
    pub(super) fn answers(&self, network: &Network, grids: &InputGrids) -> Answers {
        let mut through = |inputs: Inputs| {
            forward(network, inputs, self.activation, &mut |layer, x| grids.round(layer, x))
        };
        let (verdict, classes) = self.set.answers(&mut through);
        Answers {
            score: if self.reads_tokens() { -verdict.loss } else { verdict.accuracy },
            loss: verdict.loss,
            classes,
        }
    }

    /// Seconds to answer all examples: the median of a few times, after one that does not count.
    pub(super) fn seconds(&self, network: &Network, grids: &InputGrids) -> Result<f64, LabError> {
        let mut times = Vec::with_capacity(TIMED);
        for time in 0..=TIMED {
            device::sync(&self.device, self.id)?;
            let begun = Instant::now();
            // The answers are read, so that whatever the device put off is done.
            self.answers(network, grids);
            if time > 0 {
                times.push(begun.elapsed().as_secs_f64());
            }
        }
        Ok(median(times.into_iter()).unwrap_or(f64::NAN))
    }
}

impl Answers {
    pub(super) fn changed(&self, before: &Self) -> Vec<usize> {
        let pairs = self.classes.iter().zip(&before.classes);
        let changed = pairs.enumerate().filter(|(_, (now, then))| now != then);
        changed.map(|(index, _)| index).collect()
    }
}
