//! A network without the units that were removed: really smaller, not only with zeros.

use burn::module::{Module, ModuleMapper, Param};
use burn::tensor::{Device, Tensor, TensorData};
use mlsys_nn::baseline::{Layer, Trained};
use mlsys_nn::networks::{Architecture, Network, TransformerConfig};
use mlsys_sim::pruning::mask;

/// The network without what goes whole, on a device that may be one with autodiff. `stays` says of each number of its row
/// whether it stays; those of a parameter form a smaller rectangle.
pub(super) fn narrowed(network: &Network, stays: &[bool], device: &Device) -> Network {
    struct Narrowing<'a> {
        stays: &'a [bool],
        device: &'a Device,
    }
    impl ModuleMapper for Narrowing<'_> {
        fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
            let tensor = param.val().without_autodiff();
            let dims = tensor.dims();
            let (own, rest) = self.stays.split_at(dims.iter().product());
            self.stays = rest;
            let mut stride = own.len();
            let shape = dims.map(|dim| {
                stride /= dim;
                let mut there = vec![false; dim];
                let left = own.iter().enumerate().filter(|(_, stays)| **stays);
                left.for_each(|(place, _)| there[place / stride % dim] = true);
                mask::count(&there)
            });
            let numbers = tensor.into_data().iter::<f32>().zip(own).collect::<Vec<_>>();
            let left = numbers.into_iter().filter(|(_, stays)| **stays);
            let left: Vec<f32> = left.map(|(number, _)| number).collect();
            // A leaf of its own: what was selected would still hang on what it was selected from.
            Param::from_data(TensorData::new(left, shape), self.device)
        }
    }
    let mut narrow = network.clone().map(&mut Narrowing { stays, device });
    if let (Network::Transformer(whole), Network::Transformer(narrow)) = (network, &mut narrow) {
        for (whole, block) in whole.blocks.iter().zip(&mut narrow.blocks) {
            let attention = &mut block.attention;
            let head = whole.attention.query.dims()[1] / whole.attention.heads;
            attention.heads = attention.query.dims()[1] / head;
            attention.kv_heads = attention.key.dims()[1] / head;
        }
    }
    narrow
}

// What can go whole: hidden units, channels, attention heads; and where in the matrices each of them lies.

const OF_BLOCK: usize = 7;

pub(super) struct Body {
    /// The matrices that something is multiplied by, from the input on; a transformer's embedding is none.
    pub(super) layers: Vec<Layer>,
    pub(super) parts: Vec<PrunableGroup>,
}

/// Things of a kind that lie side by side, and of which each can go alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PrunableGroup {
    /// Such as `hidden layer` or `block 1, heads`.
    pub(super) what: String,
    pub(super) kind: Kind,
    pub(super) count: usize,
    places: Vec<MatrixSide>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Units,
    /// Attention heads; where query heads share keys and values, a group of them.
    Heads,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MatrixSide {
    layer: usize,
    side: Side,
    /// Rows or columns of each, side by side.
    each: usize,
    /// Whether weights here decide about what they belong to.
    counts: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Inputs,
    Outputs,
}

impl Body {
    pub(super) fn new(trained: &Trained) -> Self {
        let layers = trained.layers();
        match &trained.architecture {
            Architecture::Transformer(config) => Self {
                parts: (0..config.depth).flat_map(|block| of_block(config, block)).collect(),
                layers: layers.into_iter().skip(1).collect(),
            },
            Architecture::Mlp(_) | Architecture::Cnn(_) | Architecture::Filters(_) => {
                Self { parts: chain(&layers), layers }
            }
        }
    }

    /// Numbers of the whole network that are in no matrix: biases, scales of norms, an embedding.
    pub(super) fn outside_matrices(&self, len: usize) -> usize {
        let matrices = self.layers.iter().map(|layer| layer.weights.len());
        len - matrices.sum::<usize>().min(len)
    }

    pub(super) fn stays(&self, units: &[Vec<bool>], layer: usize, side: Side) -> Vec<bool> {
        let len = self.layers.get(layer).map_or(0, |layer| match side {
            Side::Inputs => layer.inputs,
            Side::Outputs => layer.outputs,
        });
        let mut stays = vec![true; len];
        for (part, units) in self.parts.iter().zip(units) {
            for own in part.places.iter().filter(|own| (own.layer, own.side) == (layer, side)) {
                for (place, stays) in stays.iter_mut().enumerate() {
                    *stays &= units.get(place / own.each.max(1)).copied().unwrap_or(true);
                }
            }
        }
        stays
    }

    /// Which weights of each matrix stay if these units do: a removed unit takes its inputs and outputs along.
    pub(super) fn masks(&self, units: &[Vec<bool>]) -> Vec<Vec<bool>> {
        let of = |layer| {
            let outputs = self.stays(units, layer, Side::Outputs);
            let inputs = self.stays(units, layer, Side::Inputs).into_iter();
            inputs.flat_map(|fed| outputs.iter().map(move |stays| fed && *stays)).collect()
        };
        (0..self.layers.len()).map(of).collect()
    }

    /// The norm of each thing of a part: of a hidden unit that of the weights that come into it, of a head that of its
    /// columns of the projections to queries, keys and values and of its rows of the projection of what it found.
    pub(super) fn norms(&self, part: &PrunableGroup, row: &[f32]) -> Vec<f64> {
        let mut squares = vec![0.0_f64; part.count];
        for own in part.places.iter().filter(|own| own.counts) {
            let layer = &self.layers[own.layer];
            for (place, weight) in layer.matrix(row).into_iter().enumerate() {
                let along = match own.side {
                    Side::Inputs => place / layer.outputs,
                    Side::Outputs => place % layer.outputs,
                };
                squares[along / own.each] += f64::from(weight).powi(2);
            }
        }
        squares.into_iter().map(f64::sqrt).collect()
    }
}

/// The hidden layers of a chain. After a convolution a unit is a channel, which gives on several numbers in a row.
fn chain(layers: &[Layer]) -> Vec<PrunableGroup> {
    let group = |(index, pair): (usize, &[Layer])| {
        let [own, next] = pair else { return None };
        let each = (next.inputs / own.outputs.max(1)).max(1);
        Some(PrunableGroup {
            what: own.what.clone(),
            kind: Kind::Units,
            count: own.outputs,
            places: vec![
                MatrixSide { layer: index, side: Side::Outputs, each: 1, counts: true },
                MatrixSide { layer: index + 1, side: Side::Inputs, each, counts: false },
            ],
        })
    };
    layers.windows(2).enumerate().filter_map(group).collect()
}

fn of_block(config: &TransformerConfig, block: usize) -> [PrunableGroup; 2] {
    let place = |matrix, side, each| MatrixSide {
        layer: block * OF_BLOCK + matrix,
        side,
        each,
        counts: true,
    };
    // Query heads that share keys and values go together: a key/value head is of no use without them.
    let shared = config.queries() / config.kv_heads.max(1);
    let head = config.head();
    let name = |what| format!("block {}, {what}", block + 1);
    [
        PrunableGroup {
            what: name(if config.kv_heads < config.heads { "groups of heads" } else { "heads" }),
            kind: Kind::Heads,
            count: config.kv_heads,
            places: vec![
                place(0, Side::Outputs, shared),
                place(1, Side::Outputs, head),
                place(2, Side::Outputs, head),
                place(3, Side::Inputs, shared),
            ],
        },
        PrunableGroup {
            what: name("gated units"),
            kind: Kind::Units,
            count: config.ffn,
            places: vec![
                place(4, Side::Outputs, 1),
                place(5, Side::Outputs, 1),
                MatrixSide { counts: false, ..place(6, Side::Inputs, 1) },
            ],
        },
    ]
}
