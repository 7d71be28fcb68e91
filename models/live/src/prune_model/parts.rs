//! What can go whole: hidden units, channels, attention heads; and where in the matrices each of them lies.

use mlsys_nn::baseline::{Layer, Trained};
use mlsys_nn::nets::{Architecture, TransformerConfig};

/// Matrices of a block of a transformer.
const OF_BLOCK: usize = 7;

/// A network as this lab takes it apart.
pub(super) struct Body {
    /// The matrices that something is multiplied by, from the input on; a transformer's embedding is none.
    pub(super) layers: Vec<Layer>,
    pub(super) parts: Vec<Part>,
}

/// Things of a kind that lie side by side, and of which each can go alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Such as `hidden layer` or `block 1, heads`.
    pub(super) what: String,
    pub(super) kind: Kind,
    pub(super) count: usize,
    slots: Vec<Slot>,
}

/// What goes whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Hidden units or channels.
    Units,
    /// Attention heads; where query heads share keys and values, a group of them.
    Heads,
}

/// Where in a matrix the things of a part lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot {
    /// The matrix, from 0.
    layer: usize,
    side: Side,
    /// Rows or columns of each, side by side.
    each: usize,
    norm: Norm,
}

/// A side of a matrix `[inputs, outputs]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Inputs,
    Outputs,
}

/// Whether weights decide about what they belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Norm {
    Counts,
    Ignored,
}

impl Body {
    pub(super) fn of(trained: &Trained) -> Self {
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
    pub(super) fn beside(&self, len: usize) -> usize {
        let matrices = self.layers.iter().map(|layer| layer.weights.len());
        len - matrices.sum::<usize>().min(len)
    }

    /// Whether each row or column of a matrix stays.
    pub(super) fn stays(&self, units: &[Vec<bool>], layer: usize, side: Side) -> Vec<bool> {
        let len = self.layers.get(layer).map_or(0, |layer| match side {
            Side::Inputs => layer.inputs,
            Side::Outputs => layer.outputs,
        });
        let mut stays = vec![true; len];
        for (part, units) in self.parts.iter().zip(units) {
            for slot in &part.slots {
                if (slot.layer, slot.side) == (layer, side) {
                    for (place, stays) in stays.iter_mut().enumerate() {
                        *stays &= units.get(place / slot.each.max(1)).copied().unwrap_or(true);
                    }
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
    pub(super) fn norms(&self, part: &Part, row: &[f32]) -> Vec<f64> {
        let mut squares = vec![0.0_f64; part.count];
        let counted = part.slots.iter().filter(|slot| slot.norm == Norm::Counts);
        for slot in counted {
            let Some(layer) = self.layers.get(slot.layer) else {
                continue;
            };
            for (place, weight) in layer.matrix(row).into_iter().enumerate() {
                let along = match slot.side {
                    Side::Inputs => place / layer.outputs,
                    Side::Outputs => place % layer.outputs,
                };
                if let Some(sum) = squares.get_mut(along / slot.each.max(1)) {
                    *sum += f64::from(weight).powi(2);
                }
            }
        }
        squares.into_iter().map(f64::sqrt).collect()
    }
}

/// The hidden layers of a chain. After a convolution a unit is a channel, which gives on several numbers in a row.
fn chain(layers: &[Layer]) -> Vec<Part> {
    let pairs = layers.windows(2).enumerate();
    pairs
        .filter_map(|(index, pair)| {
            let [own, next] = pair else { return None };
            let slot = |layer, side, each, norm| Slot { layer, side, each, norm };
            let each = (next.inputs / own.outputs.max(1)).max(1);
            Some(Part {
                what: own.what.clone(),
                kind: Kind::Units,
                count: own.outputs,
                slots: vec![
                    slot(index, Side::Outputs, 1, Norm::Counts),
                    slot(index + 1, Side::Inputs, each, Norm::Ignored),
                ],
            })
        })
        .collect()
}

/// The heads and the gated units of a block.
fn of_block(config: &TransformerConfig, block: usize) -> [Part; 2] {
    let slot =
        |matrix, side, each, norm| Slot { layer: block * OF_BLOCK + matrix, side, each, norm };
    // Query heads that share keys and values go together: a key/value head is of no use without them.
    let shared = config.width / config.kv_heads.max(1);
    let head = config.head();
    let name = |what| format!("block {}, {what}", block + 1);
    [
        Part {
            what: name(if config.kv_heads < config.heads { "groups of heads" } else { "heads" }),
            kind: Kind::Heads,
            count: config.kv_heads,
            slots: vec![
                slot(0, Side::Outputs, shared, Norm::Counts),
                slot(1, Side::Outputs, head, Norm::Counts),
                slot(2, Side::Outputs, head, Norm::Counts),
                slot(3, Side::Inputs, shared, Norm::Counts),
            ],
        },
        Part {
            what: name("gated units"),
            kind: Kind::Units,
            count: config.ffn,
            slots: vec![
                slot(4, Side::Outputs, 1, Norm::Counts),
                slot(5, Side::Outputs, 1, Norm::Counts),
                slot(6, Side::Inputs, 1, Norm::Ignored),
            ],
        },
    ]
}
