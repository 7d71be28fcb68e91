//! Which weights and units are left.

use mlsys_machines::pruning::mask;

use super::setup::{Choice, Method, Scope};
use crate::baseline::Layer;
use crate::random::Stream;

/// What is left of a network.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cut {
    /// Of each layer `[inputs, outputs]`, row-major: whether a weight stays.
    pub(super) masks: Vec<Vec<bool>>,
    /// Of each hidden layer: whether a unit stays.
    pub(super) units: Vec<Vec<bool>>,
    /// Of each layer the size below which weights went, or of each hidden layer the norm below which units did; none
    /// where sizes do not decide.
    pub(super) thresholds: Vec<Option<f64>>,
}

/// What weights are chosen from.
pub(super) struct Field<'a> {
    pub(super) layers: &'a [Layer],
    /// All weights, in the network's order.
    pub(super) row: &'a [f32],
    /// A number for each weight of each layer, for those who choose by chance.
    pub(super) draws: &'a [Vec<f64>],
}

impl Cut {
    /// Nothing is removed.
    pub(super) fn none(layers: &[Layer]) -> Self {
        let (_, hidden) = layers.split_last().unzip();
        let hidden: &[Layer] = hidden.unwrap_or_default();
        Self {
            masks: layers.iter().map(|layer| vec![true; size(layer)]).collect(),
            units: hidden
                .iter()
                .map(|layer| vec![true; layer.outputs])
                .collect(),
            thresholds: vec![None; layers.len()],
        }
    }

    /// What is left after choosing among what is left now.
    pub(super) fn choose(&self, field: &Field<'_>, choice: Choice) -> Self {
        match choice.method {
            Method::Magnitude => self.weights(&self.scores(field, choice.method), choice),
            Method::Random => Self {
                thresholds: vec![None; field.layers.len()],
                ..self.weights(&self.scores(field, choice.method), choice)
            },
            Method::Groups => {
                let sizes = self.sizes(field);
                let layers = field.layers.iter().zip(&sizes);
                let mask = |(layer, sizes): (&Layer, &Vec<f64>)| {
                    mask::groups_of_inputs(sizes, layer.outputs, choice.keep, choice.group)
                };
                Self {
                    masks: layers.map(mask).collect(),
                    units: self.units.clone(),
                    thresholds: vec![None; sizes.len()],
                }
            }
            Method::Neurons => self.without_units(field, choice),
        }
    }

    /// By what weights are chosen: numbers drawn for each, or their sizes.
    pub(super) fn scores(&self, field: &Field<'_>, method: Method) -> Vec<Vec<f64>> {
        match method {
            Method::Random => self.alive(field.draws.to_vec()),
            Method::Magnitude | Method::Groups | Method::Neurons => self.sizes(field),
        }
    }

    /// The size of each weight.
    fn sizes(&self, field: &Field<'_>) -> Vec<Vec<f64>> {
        let of = |layer: &Layer| {
            let matrix = layer.matrix(field.row);
            matrix
                .iter()
                .map(|weight| f64::from(weight.abs()))
                .collect()
        };
        self.alive(field.layers.iter().map(of).collect())
    }

    /// The same scores, and those of weights that went before below all others.
    fn alive(&self, mut scores: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
        for (scores, mask) in scores.iter_mut().zip(&self.masks) {
            for (score, stays) in scores.iter_mut().zip(mask) {
                if !stays {
                    *score = f64::NEG_INFINITY;
                }
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
        let of_layers = of_layers.map(|(scores, mask)| mask::threshold(scores, mask));
        let thresholds: Vec<Option<f64>> = match choice.scope {
            Scope::Layer => of_layers.collect(),
            Scope::Global => {
                let least = of_layers.flatten().min_by(f64::total_cmp);
                vec![least; scores.len()]
            }
        };
        Self {
            masks,
            units: self.units.clone(),
            thresholds,
        }
    }

    /// The norm of what comes into each hidden unit; minus infinity where the unit is gone.
    pub(super) fn norms(&self, field: &Field<'_>) -> Vec<Vec<f64>> {
        let hidden = field.layers.iter().zip(&self.units);
        let of = |(layer, units): (&Layer, &Vec<bool>)| {
            let mut squares = vec![0.0_f64; layer.outputs];
            let matrix = layer.matrix(field.row);
            for inputs in matrix.chunks(layer.outputs.max(1)) {
                for (sum, weight) in squares.iter_mut().zip(inputs) {
                    *sum += f64::from(*weight).powi(2);
                }
            }
            let norms = squares.into_iter().zip(units);
            norms
                .map(|(square, stays)| {
                    if *stays {
                        square.sqrt()
                    } else {
                        f64::NEG_INFINITY
                    }
                })
                .collect()
        };
        hidden.map(of).collect()
    }

    fn without_units(&self, field: &Field<'_>, choice: Choice) -> Self {
        let norms = self.norms(field);
        let units = match choice.scope {
            Scope::Layer => norms
                .iter()
                .map(|norms| mask::largest(norms, left(choice.sparsity, norms.len(), 1)))
                .collect(),
            Scope::Global => best_of_all(&norms, choice.sparsity),
        };
        let mut thresholds: Vec<Option<f64>> = norms
            .iter()
            .zip(&units)
            .map(|(norms, units): (_, &Vec<bool>)| mask::threshold(norms, units))
            .collect();
        thresholds.resize(field.layers.len(), None);
        Self {
            masks: masks_of(field.layers, &units),
            units,
            thresholds,
        }
    }

    /// Weights that stay.
    pub(super) fn kept(&self) -> usize {
        self.masks.iter().map(|mask| mask::count(mask)).sum()
    }

    /// All weights.
    pub(super) fn weights_in_all(&self) -> usize {
        self.masks.iter().map(Vec::len).sum()
    }

    /// Units that stay, and all, without the outputs.
    pub(super) fn units_left(&self) -> (usize, usize) {
        let left = self.units.iter().map(|units| mask::count(units)).sum();
        (left, self.units.iter().map(Vec::len).sum())
    }

    /// Whether a whole unit is gone.
    pub(super) fn is_narrower(&self) -> bool {
        let (left, all) = self.units_left();
        left < all
    }

    /// Whether each number of the network's row stays: weights by their masks, biases with their unit.
    pub(super) fn row(&self, layers: &[Layer], len: usize) -> Vec<bool> {
        let mut row = vec![1.0; len];
        for (layer, mask) in layers.iter().zip(&self.masks) {
            let ones: Vec<f32> = mask
                .iter()
                .map(|stays| f32::from(u8::from(*stays)))
                .collect();
            layer.put(&mut row, &ones);
        }
        let mut row: Vec<bool> = row.into_iter().map(|one| one > 0.5).collect();
        for (layer, units) in layers.iter().zip(&self.units) {
            let biases = layer.biases.clone().and_then(|range| row.get_mut(range));
            for (bias, stays) in biases.unwrap_or_default().iter_mut().zip(units) {
                *bias = *stays;
            }
        }
        row
    }
}

/// So many numbers for each layer, each weight with an equal chance to have the largest.
pub(super) fn draws(layers: &[Layer], seed: u64) -> Vec<Vec<f64>> {
    let mut stream = Stream::new(seed, "prune/random");
    let of = |layer: &Layer| (0..size(layer)).map(|_| stream.uniform()).collect();
    layers.iter().map(of).collect()
}

fn size(layer: &Layer) -> usize {
    layer.inputs * layer.outputs
}

/// How many stay of so many, never fewer than `least`.
fn left(sparsity: f64, count: usize, least: usize) -> usize {
    (count - mask::removed(sparsity, count)).max(least.min(count))
}

/// The units of the largest norm in all layers together, and the largest of each layer in any case.
fn best_of_all(norms: &[Vec<f64>], sparsity: f64) -> Vec<Vec<bool>> {
    let mut scores = norms.to_vec();
    for scores in &mut scores {
        let best = scores.iter_mut().max_by(|a, b| a.total_cmp(b));
        if let Some(best) = best {
            *best = f64::INFINITY;
        }
    }
    let all: usize = scores.iter().map(Vec::len).sum();
    mask::largest_of_all(&scores, left(sparsity, all, norms.len()))
}

/// A unit that goes takes along what comes into it and what it gives on. After a convolution a unit is a channel, which
/// gives on several numbers in a row.
fn masks_of(layers: &[Layer], units: &[Vec<bool>]) -> Vec<Vec<bool>> {
    let of = |(index, layer): (usize, &Layer)| {
        let before = index.checked_sub(1).and_then(|before| units.get(before));
        let each = before.map_or(1, |units| (layer.inputs / units.len().max(1)).max(1));
        let is_fed = |input: usize| {
            let unit = before.and_then(|units| units.get(input / each));
            unit.copied().unwrap_or(true)
        };
        let stays = |output: usize| {
            let unit = units.get(index).and_then(|units| units.get(output));
            unit.copied().unwrap_or(true)
        };
        (0..layer.inputs)
            .flat_map(|input| (0..layer.outputs).map(move |output| (input, output)))
            .map(|(input, output)| is_fed(input) && stays(output))
            .collect()
    };
    layers.iter().enumerate().map(of).collect()
}
