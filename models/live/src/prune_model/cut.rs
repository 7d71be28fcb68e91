//! Which weights and units are left.

use mlsys_sim::pruning::mask;

use super::parts::{Body, Kind, Part, Side};
use super::setup::{Choice, Method, Scope};
use mlsys_nn::baseline::Layer;
use mlsys_nn::random::Stream;

/// What is left of a network.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cut {
    /// Of each layer `[inputs, outputs]`, row-major: whether a weight stays.
    pub(super) masks: Vec<Vec<bool>>,
    /// Of each part: whether a unit, or a head, stays.
    pub(super) units: Vec<Vec<bool>>,
    /// Of each layer the size below which weights went, or of each part the norm below which units did; none where
    /// sizes do not decide.
    pub(super) thresholds: Vec<Option<f64>>,
}

/// What weights are chosen from.
pub(super) struct Field<'a> {
    pub(super) body: &'a Body,
    /// All weights, in the network's order.
    pub(super) row: &'a [f32],
    /// A number for each weight of each layer, for those who choose by chance.
    pub(super) draws: &'a [Vec<f64>],
}

impl Cut {
    /// Nothing is removed.
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
    pub(super) fn choose(&self, field: &Field<'_>, choice: Choice) -> Self {
        match choice.method {
            Method::Magnitude => self.weights(&self.scores(field, choice.method), choice),
            Method::Random => Self {
                thresholds: vec![None; field.body.layers.len()],
                ..self.weights(&self.scores(field, choice.method), choice)
            },
            Method::Groups => {
                let sizes = self.sizes(field);
                let layers = field.body.layers.iter().zip(&sizes);
                let mask = |(layer, sizes): (&Layer, &Vec<f64>)| {
                    mask::groups_of_inputs(sizes, layer.outputs, choice.keep, choice.group)
                };
                Self {
                    masks: layers.map(mask).collect(),
                    units: self.units.clone(),
                    thresholds: vec![None; sizes.len()],
                }
            }
            Method::Neurons => self.without(Kind::Units, field, choice),
            Method::Heads => self.without(Kind::Heads, field, choice),
        }
    }

    /// By what weights are chosen: numbers drawn for each, or their sizes.
    pub(super) fn scores(&self, field: &Field<'_>, method: Method) -> Vec<Vec<f64>> {
        match method {
            Method::Random => self.alive(field.draws.to_vec()),
            Method::Magnitude | Method::Groups | Method::Neurons | Method::Heads => {
                self.sizes(field)
            }
        }
    }

    /// The size of each weight.
    fn sizes(&self, field: &Field<'_>) -> Vec<Vec<f64>> {
        let of = |layer: &Layer| {
            let matrix = layer.matrix(field.row);
            matrix.iter().map(|weight| f64::from(weight.abs())).collect()
        };
        self.alive(field.body.layers.iter().map(of).collect())
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
        Self { masks, units: self.units.clone(), thresholds }
    }

    /// The norm of each thing of each part, as [`Body::norms`] has it; minus infinity where it is gone.
    pub(super) fn norms(&self, field: &Field<'_>) -> Vec<Vec<f64>> {
        let parts = field.body.parts.iter().zip(&self.units);
        let of = |(part, units): (&Part, &Vec<bool>)| {
            let norms = field.body.norms(part, field.row).into_iter().zip(units);
            norms.map(|(norm, stays)| if *stays { norm } else { f64::NEG_INFINITY }).collect()
        };
        parts.map(of).collect()
    }

    fn without(&self, kind: Kind, field: &Field<'_>, choice: Choice) -> Self {
        let parts = &field.body.parts;
        let is_of = |place: &usize| parts.get(*place).is_some_and(|part| part.kind == kind);
        let (places, norms): (Vec<usize>, Vec<Vec<f64>>) =
            self.norms(field).into_iter().enumerate().filter(|(place, _)| is_of(place)).unzip();
        let left = match choice.scope {
            Scope::Layer => norms
                .iter()
                .map(|norms| mask::largest(norms, left(choice.sparsity, norms.len(), 1)))
                .collect(),
            Scope::Global => best_of_all(&norms, choice.sparsity),
        };
        let mut units = self.units.clone();
        let mut thresholds = vec![None; units.len()];
        for ((place, norms), left) in places.into_iter().zip(&norms).zip(left) {
            if let (Some(units), Some(at)) = (units.get_mut(place), thresholds.get_mut(place)) {
                *at = mask::threshold(norms, &left);
                *units = left;
            }
        }
        Self { masks: field.body.masks(&units), units, thresholds }
    }

    /// Weights that stay.
    pub(super) fn kept(&self) -> usize {
        self.masks.iter().map(|mask| mask::count(mask)).sum()
    }

    /// All weights.
    pub(super) fn weights_in_all(&self) -> usize {
        self.masks.iter().map(Vec::len).sum()
    }

    /// How many of a kind stay, and all; outputs are of none.
    pub(super) fn left_of(&self, kind: Kind, body: &Body) -> (usize, usize) {
        let parts = body.parts.iter().zip(&self.units);
        let units = parts.filter(|(part, _)| part.kind == kind).map(|(_, units)| units);
        units.fold((0, 0), |(left, all), units| (left + mask::count(units), all + units.len()))
    }

    /// Whether something is gone whole.
    pub(super) fn is_narrower(&self) -> bool {
        self.units.iter().flatten().any(|stays| !stays)
    }

    /// Whether each number of the network's row stays: weights by their masks, biases with their unit.
    pub(super) fn row(&self, body: &Body, len: usize) -> Vec<bool> {
        let mut row = vec![1.0; len];
        for (layer, mask) in body.layers.iter().zip(&self.masks) {
            let ones: Vec<f32> = mask.iter().map(|stays| f32::from(u8::from(*stays))).collect();
            layer.put(&mut row, &ones);
        }
        let mut row: Vec<bool> = row.into_iter().map(|one| one > 0.5).collect();
        for (index, layer) in body.layers.iter().enumerate() {
            let biases = layer.biases.clone().and_then(|range| row.get_mut(range));
            let units = body.stays(&self.units, index, Side::Outputs);
            for (bias, stays) in biases.unwrap_or_default().iter_mut().zip(units) {
                *bias = stays;
            }
        }
        row
    }
}

/// So many numbers for each layer, each weight with an equal chance to have the largest.
pub(super) fn draws(body: &Body, seed: u64) -> Vec<Vec<f64>> {
    let mut stream = Stream::new(seed, "prune/random");
    let of = |layer: &Layer| (0..size(layer)).map(|_| stream.uniform()).collect();
    body.layers.iter().map(of).collect()
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
