//! Which weights and units are left.

use burn::tensor::Device;
use mlsys_distributed::transport::CommError;
use mlsys_nn::baseline::{Layer, Trained};
use mlsys_nn::data::{Batches, Examples};
use mlsys_nn::flat_params::{self, Optimizer, Rule};
use mlsys_nn::networks::{Activation, Network};
use mlsys_nn::random::Stream;
use mlsys_sim::pruning::mask;

use crate::fine_tune::loss_and_gradient;

use super::network::{Body, Kind, PrunableGroup, Side, narrowed};
use super::params::{Choice, Method, Scope};

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Masks {
    /// Of each layer `[inputs, outputs]`, row-major: whether a weight stays.
    pub(super) masks: Vec<Vec<bool>>,
    pub(super) units: Vec<Vec<bool>>,
    /// The size below which a layer's weights went, or a part's units by norm; none where sizes do not decide.
    pub(super) thresholds: Vec<Option<f64>>,
}

pub(super) struct Candidates<'a> {
    pub(super) body: &'a Body,
    pub(super) row: &'a [f32],
    /// A random score for each weight of each layer, for method `random`.
    pub(super) draws: &'a [Vec<f64>],
}

impl Masks {
    pub(super) fn none(body: &Body) -> Self {
        let layers = body.layers.iter();
        let parts = body.parts.iter();
        Self {
            masks: layers.map(|layer| vec![true; size(layer)]).collect(),
            units: parts.map(|part| vec![true; part.count]).collect(),
            thresholds: vec![None; body.layers.len()],
        }
    }

    /// What is left after choosing among what is left now.
    pub(super) fn choose(&self, from: &Candidates<'_>, choice: Choice) -> Self {
        let one_by_one = || self.weights(&self.scores(from, choice.method), choice);
        match choice.method {
            Method::Magnitude => one_by_one(),
            Method::Random => {
                Self { thresholds: vec![None; from.body.layers.len()], ..one_by_one() }
            }
            Method::Groups => {
                let sizes = self.sizes(from);
                let layers = from.body.layers.iter().zip(&sizes);
                let mask = |(layer, sizes): (&Layer, &Vec<f64>)| {
                    mask::groups_of_inputs(sizes, layer.outputs, choice.keep, choice.group)
                };
                Self {
                    masks: layers.map(mask).collect(),
                    units: self.units.clone(),
                    thresholds: vec![None; sizes.len()],
                }
            }
            Method::Neurons => self.without(Kind::Units, from, choice),
            Method::Heads => self.without(Kind::Heads, from, choice),
        }
    }

    /// By what weights are chosen: numbers drawn for each, or their sizes.
    pub(super) fn scores(&self, from: &Candidates<'_>, method: Method) -> Vec<Vec<f64>> {
        if method == Method::Random { self.alive(from.draws.to_vec()) } else { self.sizes(from) }
    }

    fn sizes(&self, from: &Candidates<'_>) -> Vec<Vec<f64>> {
        let of = |layer: &Layer| {
            let matrix = layer.matrix(from.row);
            matrix.iter().map(|weight| f64::from(weight.abs())).collect()
        };
        self.alive(from.body.layers.iter().map(of).collect())
    }

    /// The same scores, and those of weights that went before below all others.
    fn alive(&self, mut scores: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
        for (score, stays) in scores.iter_mut().flatten().zip(self.masks.iter().flatten()) {
            if !stays {
                *score = f64::NEG_INFINITY;
            }
        }
        scores
    }

    fn weights(&self, scores: &[Vec<f64>], choice: Choice) -> Self {
        let masks = match choice.scope {
            Scope::Global => mask::global(scores, choice.sparsity),
            Scope::Layer => mask::by_layer(scores, choice.sparsity),
        };
        let of_layers = scores.iter().zip(&masks);
        let mut thresholds: Vec<Option<f64>> =
            of_layers.map(|(scores, mask)| mask::threshold(scores, mask)).collect();
        if choice.scope == Scope::Global {
            let least = thresholds.iter().copied().flatten().min_by(f64::total_cmp);
            thresholds.fill(least);
        }
        Self { masks, units: self.units.clone(), thresholds }
    }

    /// The norm of each thing of each part, as [`Body::norms`] has it; minus infinity where it is gone.
    pub(super) fn norms(&self, from: &Candidates<'_>) -> Vec<Vec<f64>> {
        let parts = from.body.parts.iter().zip(&self.units);
        let of = |(part, units): (&PrunableGroup, &Vec<bool>)| {
            let norms = from.body.norms(part, from.row).into_iter().zip(units);
            norms.map(|(norm, stays)| if *stays { norm } else { f64::NEG_INFINITY }).collect()
        };
        parts.map(of).collect()
    }

    fn without(&self, kind: Kind, from: &Candidates<'_>, choice: Choice) -> Self {
        let parts = &from.body.parts;
        let norms = self.norms(from).into_iter().enumerate();
        let (places, norms): (Vec<usize>, Vec<Vec<f64>>) =
            norms.filter(|(at, _)| parts[*at].kind == kind).unzip();
        let of_layer =
            |norms: &Vec<f64>| mask::largest(norms, left(choice.sparsity, norms.len(), 1));
        let left = match choice.scope {
            Scope::Layer => norms.iter().map(of_layer).collect(),
            Scope::Global => best_of_all(&norms, choice.sparsity),
        };
        let mut units = self.units.clone();
        let mut thresholds = vec![None; units.len()];
        for ((place, norms), left) in places.into_iter().zip(&norms).zip(left) {
            thresholds[place] = mask::threshold(norms, &left);
            units[place] = left;
        }
        Self { masks: from.body.masks(&units), units, thresholds }
    }

    pub(super) fn kept(&self) -> usize {
        self.masks.iter().map(|mask| mask::count(mask)).sum()
    }

    pub(super) fn weights_in_all(&self) -> usize {
        self.masks.iter().map(Vec::len).sum()
    }

    /// How many of a kind stay, and all; outputs are of none.
    pub(super) fn left_of(&self, kind: Kind, body: &Body) -> (usize, usize) {
        let parts = body.parts.iter().zip(&self.units);
        let units = parts.filter(|(part, _)| part.kind == kind).map(|(_, units)| units);
        units.fold((0, 0), |(left, all), units| (left + mask::count(units), all + units.len()))
    }

    pub(super) fn is_narrower(&self) -> bool {
        self.units.iter().flatten().any(|stays| !stays)
    }

    /// Whether each number of the network's row stays: weights by their masks, biases with their unit.
    pub(super) fn row(&self, body: &Body, len: usize) -> Vec<bool> {
        let mut ones = vec![1.0; len];
        for (layer, mask) in body.layers.iter().zip(&self.masks) {
            let mask: Vec<f32> = mask.iter().map(|stays| f32::from(u8::from(*stays))).collect();
            layer.put(&mut ones, &mask);
        }
        let mut row: Vec<bool> = ones.into_iter().map(|one| one > 0.5).collect();
        for (index, layer) in body.layers.iter().enumerate() {
            if let Some(biases) = layer.biases.clone() {
                row[biases].copy_from_slice(&body.stays(&self.units, index, Side::Outputs));
            }
        }
        row
    }
}

pub(super) fn draws(body: &Body, seed: u64) -> Vec<Vec<f64>> {
    let mut stream = Stream::new(seed, "prune/random");
    let of = |layer: &Layer| (0..size(layer)).map(|_| stream.uniform()).collect();
    body.layers.iter().map(of).collect()
}

fn size(layer: &Layer) -> usize {
    layer.inputs * layer.outputs
}

fn left(sparsity: f64, count: usize, least: usize) -> usize {
    (count - mask::removed(sparsity, count)).max(least.min(count))
}

/// The units of the largest norm in all layers together, and the largest of each layer in any case.
fn best_of_all(norms: &[Vec<f64>], sparsity: f64) -> Vec<Vec<bool>> {
    let mut scores = norms.to_vec();
    for scores in &mut scores {
        if let Some(best) = scores.iter_mut().max_by(|a, b| a.total_cmp(b)) {
            *best = f64::INFINITY;
        }
    }
    let all: usize = scores.iter().map(Vec::len).sum();
    mask::largest_of_all(&scores, left(sparsity, all, norms.len()))
}

/// Adam's rate, which is that of the training before.
const RATE: f64 = 0.003;

pub(super) struct FineTuner {
    /// As executed: with zeros, or without the units that are gone.
    network: Network,
    row: Vec<f32>,
    /// Which of them may be other than zero.
    stays: Vec<bool>,
    /// Which numbers of the whole network's row it has.
    inside: Vec<bool>,
    optimizer: Optimizer,
    activation: Activation,
    /// With autodiff.
    device: Device,
}

impl FineTuner {
    pub(super) fn new(
        trained: &Trained,
        body: &Body,
        row: &[f32],
        cut: &Masks,
        device: &Device,
    ) -> Result<Self, CommError> {
        let stays = cut.row(body, row.len());
        let mut held = row.to_vec();
        zero_removed(&mut held, &stays);
        let whole = trained.network_of(&held, device);
        let (network, inside) = if cut.is_narrower() {
            (narrowed(&whole, &stays, device), stays.clone())
        } else {
            (whole, vec![true; row.len()])
        };
        let inside_of = |stays: &[bool]| -> Vec<bool> {
            let pairs = stays.iter().zip(&inside).filter(|(_, inside)| **inside);
            pairs.map(|(stays, _)| *stays).collect()
        };
        Ok(Self {
            row: flat_params::weights(&network)?,
            stays: inside_of(&stays),
            network,
            inside,
            optimizer: Optimizer::new(Rule::Adam),
            activation: trained.activation,
            device: device.clone(),
        })
    }

    pub(super) fn step(
        &mut self,
        examples: &Examples,
        batches: &mut Batches,
    ) -> Result<f64, CommError> {
        let forward = |inputs| self.network.forward(inputs, self.activation);
        let (loss, gradient) =
            loss_and_gradient(&self.network, examples, batches, &self.device, forward)?;
        self.optimizer.update(&mut self.row, &gradient, RATE);
        // Adam moves a weight even without a slope, so it is the weights that are held, not their slopes.
        zero_removed(&mut self.row, &self.stays);
        self.network = flat_params::with_weights(self.network.take(), &self.row);
        Ok(loss)
    }

    /// The weights of the whole network, zero where they are gone, as the device has them.
    pub(super) fn whole(&self) -> Result<Vec<f32>, CommError> {
        let own = flat_params::weights(&self.network)?;
        let mut next = own.iter();
        let number = |inside: &bool| if *inside { next.next().copied() } else { None };
        let whole = self.inside.iter().map(number);
        Ok(whole.map(|number| number.unwrap_or(0.0)).collect())
    }

    pub(super) fn network(&self) -> Network {
        burn::module::Module::valid(&self.network)
    }

    /// The same with other weights, a row of the whole network.
    pub(super) fn network_with(&self, whole: &[f32]) -> Network {
        let own = whole.iter().zip(&self.inside).filter(|(_, inside)| **inside);
        let own: Vec<f32> = own.map(|(number, _)| *number).collect();
        flat_params::with_weights(self.network(), &own)
    }

    pub(super) fn weights(&self) -> &[f32] {
        &self.row
    }
}

pub(super) fn zero_removed(row: &mut [f32], stays: &[bool]) {
    for (weight, stays) in row.iter_mut().zip(stays) {
        if !stays {
            *weight = 0.0;
        }
    }
}

/// Numbers that should be zero and are not.
pub(super) fn resurrected(row: &[f32], stays: &[bool]) -> usize {
    let weights = row.iter().zip(stays);
    weights.filter(|(weight, stays)| !**stays && **weight != 0.0).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_that_came_back_is_counted_until_it_is_held() {
        let stays = [true, false, false, true];
        let mut row = [0.5, 0.1, 0.0, 0.0];
        assert_eq!(resurrected(&row, &stays), 1);
        zero_removed(&mut row, &stays);
        assert_eq!((resurrected(&row, &stays), row), (0, [0.5, 0.0, 0.0, 0.0]));
    }
}
