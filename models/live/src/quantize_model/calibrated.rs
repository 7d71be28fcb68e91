//! The grids that the inputs of layers are rounded to, calibrated on examples that the network has learned from.

use burn::tensor::{Device, Tensor};
use mlsys_sim::quantizer::{Grid, Scheme};

use super::pass;
use super::setup::Knobs;
use mlsys_nn::data::Examples;
use mlsys_nn::nets::{Activation, Network};
use mlsys_nn::train::batch;

/// Examples that ranges are found from.
pub(super) const EXAMPLES: usize = 256;

/// Numbers kept of what comes into a layer, evenly taken from all: enough to see its range and its outermost thousandth.
const KEPT: usize = 16_384;

/// What came into each layer of the network as it was trained; nothing where a layer shares another's input, or has
/// tokens.
pub(super) struct Observed(Vec<Vec<f32>>);

/// One grid for the input of each layer that has one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct InputGrids(Vec<Option<Grid>>);

impl Observed {
    /// Looks at the first examples. The extremes of all numbers are among those that are kept.
    pub(super) fn of(
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
        pass::forward(network, inputs, activation, &mut |layer, x| {
            if let Some(own) = seen.get_mut(layer) {
                *own = thinned(x.clone());
            }
            x
        });
        Self(seen)
    }

    /// What came into a layer.
    pub(super) fn layer(&self, layer: usize) -> &[f32] {
        self.0.get(layer).map_or(&[], Vec::as_slice)
    }

    /// The grids that the knobs ask for.
    pub(super) fn grids(&self, knobs: &Knobs) -> InputGrids {
        let Some((bits, calibration)) = knobs.activations else {
            return InputGrids::default();
        };
        let grid = |seen: &Vec<f32>| {
            let some = !seen.is_empty();
            some.then(|| calibration.grid(seen, bits, Scheme::Affine))
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
    /// A grid for the first layer alone.
    #[cfg(test)]
    pub(super) fn just(grid: Grid) -> Self {
        Self(vec![Some(grid)])
    }

    /// The grid of a layer's input.
    pub(super) fn layer(&self, layer: usize) -> Option<Grid> {
        self.0.get(layer).copied().flatten()
    }

    /// What comes into a layer, rounded; the same numbers if it has no grid.
    pub(super) fn round(&self, layer: usize, x: Tensor<2>) -> Tensor<2> {
        let Some(grid) = self.layer(layer) else {
            return x;
        };
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
