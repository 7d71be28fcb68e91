//! Which part of each weight a rank has.
//!
//! A part of a transformer is a transformer: one with fewer heads and a narrower gated layer; its attention and gated
//! layer end with what is one term of a sum. So a rank runs the same code as one worker does.

use std::ops::Range;

use burn::module::{Module, ModuleMapper, Param};
use burn::tensor::{Device, Tensor, TensorData};
use mlsys_nn::networks::{Initializer, Transformer, TransformerConfig};
use mlsys_sim::slices::Cut;

use super::params::Mode;

/// A weight of the whole transformer, in the order in which the module names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Weight {
    pub(super) name: &'static str,
    /// Rows and columns; a row of factors is one row.
    pub(super) shape: [usize; 2],
    pub(super) cut: Cut,
}

#[derive(Clone, Debug)]
pub(super) struct Layout {
    config: TransformerConfig,
    mode: Mode,
    ranks: usize,
    pub(super) weights: Vec<Weight>,
}

impl Layout {
    /// The layout of a mode. Ranks divide heads, key/value heads and the gated layer's width where the mode cuts them.
    pub(super) fn new(config: &TransformerConfig, mode: Mode, ranks: usize) -> Self {
        let (width, keys, ffn, vocab) = (config.width, config.keys(), config.ffn, config.vocab);
        let cut = |cut: Cut| if mode.cuts_matrices() { cut } else { Cut::Whole };
        let weight = |name, shape, cut| Weight { name, shape, cut };
        let mut weights = vec![weight("embedding", [vocab, width], Cut::Whole)];
        for _ in 0..config.depth {
            weights.extend([
                weight("norm", [1, width], Cut::Whole),
                weight("query", [width, width], cut(Cut::Columns)),
                weight("key", [width, keys], cut(Cut::Columns)),
                weight("value", [width, keys], cut(Cut::Columns)),
                weight("output", [width, width], cut(Cut::Rows)),
                weight("norm", [1, width], Cut::Whole),
                weight("gate", [width, ffn], cut(Cut::Columns)),
                weight("up", [width, ffn], cut(Cut::Columns)),
                weight("down", [ffn, width], cut(Cut::Rows)),
            ]);
        }
        weights.push(weight("norm", [1, width], Cut::Whole));
        weights.push(weight("head", [width, vocab], Cut::Whole));
        Self { config: config.clone(), mode, ranks, weights }
    }

    pub(super) fn matrices(&self) -> impl Iterator<Item = &Weight> {
        let block = self.weights.iter().skip(1).take(9);
        block.filter(|weight| weight.shape[0] > 1)
    }

    pub(super) fn len(&self) -> usize {
        self.weights.iter().map(Weight::len).sum()
    }

    pub(super) fn part(&self, whole: &[f32], rank: usize) -> Vec<f32> {
        let mut part = Vec::new();
        self.walk(rank, |own| part.extend_from_slice(&whole[own]));
        part
    }

    pub(super) fn put(&self, whole: &mut [f32], rank: usize, part: &[f32]) {
        let mut rest = part;
        self.walk(rank, |own| {
            let (piece, after) = rest.split_at(own.len().min(rest.len()));
            whole[own.start..own.start + piece.len()].copy_from_slice(piece);
            rest = after;
        });
    }

    /// Where the numbers lie in a rank's part that all ranks have and none computes the whole gradient of: those of the
    /// weights that are whole, where each rank sees some of the tokens only.
    pub(super) fn shared(&self) -> Vec<Range<usize>> {
        if self.mode.cuts_tokens() { self.replicated() } else { Vec::new() }
    }

    /// Where the numbers lie in a rank's part that all ranks have.
    pub(super) fn replicated(&self) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut begin = 0;
        for weight in &self.weights {
            let end = begin + self.own_len(weight);
            if weight.cut == Cut::Whole && self.ranks > 1 {
                found.push(begin..end);
            }
            begin = end;
        }
        found
    }

    /// A rank's part as a transformer on a device, from a row of its numbers.
    pub(super) fn build(&self, part: &[f32], device: &Device) -> Transformer {
        struct Fill<'a> {
            layout: &'a Layout,
            rest: &'a [f32],
            weights: std::slice::Iter<'a, Weight>,
            device: &'a Device,
        }
        impl ModuleMapper for Fill<'_> {
            fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
                let Some(weight) = self.weights.next() else { return param };
                let [rows, columns] = self.layout.own_shape(weight);
                let (own, rest) = self.rest.split_at(rows * columns);
                self.rest = rest;
                let shape = if D == 1 { vec![columns] } else { vec![rows, columns] };
                Param::from_data(TensorData::new(own.to_vec(), shape), self.device)
            }
        }
        let whole = self.config.init(&mut Initializer::shapes(device));
        let weights = self.weights.iter();
        let mut network = whole.map(&mut Fill { layout: self, rest: part, weights, device });
        let divided = if self.mode.cuts_matrices() { self.ranks } else { 1 };
        for block in &mut network.blocks {
            block.attention.heads /= divided;
            block.attention.kv_heads /= divided;
        }
        network
    }

    fn own_shape(&self, weight: &Weight) -> [usize; 2] {
        let [rows, columns] = weight.shape;
        match weight.cut {
            Cut::Columns => [rows, columns / self.ranks],
            Cut::Rows => [rows / self.ranks, columns],
            Cut::Whole => [rows, columns],
        }
    }

    fn own_len(&self, weight: &Weight) -> usize {
        let [rows, columns] = self.own_shape(weight);
        rows * columns
    }

    /// Calls with each run of neighbouring numbers of a rank's part, as places in the whole row.
    fn walk(&self, rank: usize, mut with: impl FnMut(Range<usize>)) {
        let mut begin = 0;
        for weight in &self.weights {
            let [rows, columns] = weight.shape;
            let [own_rows, own_columns] = self.own_shape(weight);
            match weight.cut {
                Cut::Columns => {
                    for row in 0..rows {
                        let first = begin + row * columns + rank * own_columns;
                        with(first..first + own_columns);
                    }
                }
                Cut::Rows => {
                    let first = begin + rank * own_rows * columns;
                    with(first..first + own_rows * columns);
                }
                Cut::Whole => with(begin..begin + rows * columns),
            }
            begin += weight.len();
        }
    }
}

impl Weight {
    fn len(&self) -> usize {
        self.shape[0] * self.shape[1]
    }
}
