//! A network without the units that were removed: really smaller, not only with zeros.

use burn::module::Param;
use burn::nn::Linear;
use burn::tensor::{Device, Int, Tensor, TensorData};
use mlsys_nn::baseline::{Layer, Trained};
use mlsys_nn::networks::{
    Architecture, Attention, Cnn, Mlp, Network, SwiGlu, Transformer, TransformerConfig,
};

/// The network with only those hidden units and heads that stay, on a device that may be one with autodiff. A chain of
/// filters is as it was.
pub(super) fn narrowed(network: &Network, units: &[Vec<bool>], device: &Device) -> Network {
    let places = |units: &Vec<bool>| -> Vec<i64> {
        let places = units.iter().enumerate().filter(|(_, stays)| **stays);
        places.map(|(place, _)| place as i64).collect()
    };
    let cut = Narrowing { units: units.iter().map(places).collect(), device };
    match network {
        Network::Mlp(mlp) => Network::Mlp(cut.perceptron(mlp)),
        Network::Cnn(cnn) => Network::Cnn(cut.convolutional(cnn)),
        Network::Transformer(transformer) => Network::Transformer(cut.decoder(transformer)),
        Network::Filters(_) => network.clone(),
    }
}

struct Narrowing<'a> {
    /// Of each part the places of units that stay.
    units: Vec<Vec<i64>>,
    device: &'a Device,
}

impl Narrowing<'_> {
    /// The units of the previous layer that stay.
    fn before(&self, layer: usize) -> Option<&[i64]> {
        self.own(layer.checked_sub(1)?)
    }

    /// The units of a layer that stay; all outputs of the network do.
    fn own(&self, layer: usize) -> Option<&[i64]> {
        self.units.get(layer).map(Vec::as_slice)
    }

    fn perceptron(&self, mlp: &Mlp) -> Mlp {
        let layers = mlp.layers.iter().enumerate();
        let layers =
            layers.map(|(index, layer)| self.linear(layer, self.before(index), self.own(index)));
        Mlp { layers: layers.collect() }
    }

    fn convolutional(&self, cnn: &Cnn) -> Cnn {
        let mut narrow = cnn.clone();
        for (index, convolution) in narrow.convolutions.iter_mut().enumerate() {
            let weight = convolution.weight.val(); // [channels out, channels in, 3, 3]
            let weight = selected(weight, 1, self.before(index));
            let weight = selected(weight, 0, self.own(index));
            convolution.weight = self.parameter(weight);
            let bias = convolution.bias.val();
            convolution.bias = self.parameter(selected(bias, 0, self.own(index)));
        }
        // A channel comes into the last layer as an image, pixel after pixel.
        let last = cnn.convolutions.last();
        let channels = last.map_or(1, |last| last.bias.dims()[0]);
        let pixels = (cnn.head.weight.dims()[0] / channels.max(1)) as i64;
        let inputs = self.before(cnn.convolutions.len()).map(|channels| {
            let of = |channel: &i64| (channel * pixels)..((channel + 1) * pixels);
            channels.iter().flat_map(of).collect::<Vec<i64>>()
        });
        narrow.head = self.linear(&cnn.head, inputs.as_deref(), None);
        narrow
    }

    /// Of each block the heads come first and then the gated units, as in [`Body`].
    fn decoder(&self, whole: &Transformer) -> Transformer {
        let mut narrow = whole.clone();
        for (index, block) in narrow.blocks.iter_mut().enumerate() {
            if let Some(heads) = self.own(2 * index) {
                block.attention = self.attention(&block.attention, heads);
            }
            let (units, mlp) = (self.own(2 * index + 1), &block.mlp);
            block.mlp = SwiGlu {
                gate: self.parameter(selected(mlp.gate.val(), 1, units)),
                up: self.parameter(selected(mlp.up.val(), 1, units)),
                down: self.parameter(selected(mlp.down.val(), 0, units)),
            };
        }
        narrow
    }

    /// Fewer key/value heads, each as wide as before and with all its query heads.
    fn attention(&self, whole: &Attention, stay: &[i64]) -> Attention {
        let of = |columns: usize| {
            let each = (columns / whole.kv_heads.max(1)) as i64;
            let columns = stay.iter().flat_map(|head| head * each..(head + 1) * each);
            columns.collect::<Vec<i64>>()
        };
        let queries = of(whole.query.dims()[1]);
        let keys = of(whole.key.dims()[1]);
        let columns = |tensor, places: &[i64]| self.parameter(selected(tensor, 1, Some(places)));
        Attention {
            query: columns(whole.query.val(), &queries),
            key: columns(whole.key.val(), &keys),
            value: columns(whole.value.val(), &keys),
            output: self.parameter(selected(whole.output.val(), 0, Some(&queries))),
            heads: whole.heads / whole.kv_heads.max(1) * stay.len(),
            kv_heads: stay.len(),
        }
    }

    fn linear(&self, layer: &Linear, inputs: Option<&[i64]>, outputs: Option<&[i64]>) -> Linear {
        let weight = selected(layer.weight.val(), 0, inputs); // [inputs, outputs]
        let bias = layer.bias.as_ref().map(|bias| bias.val());
        Linear {
            weight: self.parameter(selected(weight, 1, outputs)),
            bias: bias.map(|bias| self.parameter(selected(bias, 0, outputs))),
        }
    }

    /// A leaf of its own: what was selected would still hang on what it was selected from.
    fn parameter<const D: usize>(&self, tensor: Tensor<D>) -> Param<Tensor<D>> {
        Param::from_data(tensor.into_data(), self.device)
    }
}

fn selected<const D: usize>(tensor: Tensor<D>, along: usize, places: Option<&[i64]>) -> Tensor<D> {
    let tensor = tensor.without_autodiff();
    let Some(places) = places else {
        return tensor;
    };
    let data = TensorData::new(places.to_vec(), [places.len()]);
    let places = Tensor::<1, Int>::from_data(data, &tensor.device());
    tensor.select(along, places)
}

// What can go whole: hidden units, channels, attention heads; and where in the matrices each of them lies.

const OF_BLOCK: usize = 7;

/// A network as this lab takes it apart.
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

/// Where in a matrix the things of a part lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MatrixSide {
    /// The matrix, from 0.
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

    /// Which weights of each matrix stay if these units do: one that goes takes along what comes into it and what it
    /// gives on.
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
    let shared = config.width / config.kv_heads.max(1);
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
