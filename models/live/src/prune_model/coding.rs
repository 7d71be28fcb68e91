//! The weights that are left as a file holds them: rounded to few bits, and Huffman-coded.

use mlsys_nn::baseline::Layer;
use mlsys_sim::pruning::huffman::{CodedSize, Frequencies};
use mlsys_sim::quantizer::{Granularity, Matrix, Quantized, Scheme};

use super::hardware::{Size, widths};
use super::masks::Masks;
use super::network::Body;
use super::params::{Coding, Knobs};

/// Each output has a scale of its own.
fn quantized(layer: &Layer, row: &[f32], bits: u32) -> Quantized {
    let shape = Matrix::by_inputs(layer.inputs, layer.outputs);
    let scheme = Scheme::SymmetricRestricted;
    Quantized::linear(&layer.matrix(row), shape, bits, scheme, Granularity::Channel)
}

/// All weights with those of matrices rounded; biases stay as they are.
pub(super) fn rounded(body: &Body, row: &[f32], bits: u32) -> Vec<f32> {
    let mut rounded = row.to_vec();
    for layer in &body.layers {
        layer.put(&mut rounded, &quantized(layer, row, bits).back);
    }
    rounded
}

/// The smallest file: its format and bytes, and what Huffman codes take where they are asked for.
pub(super) struct Stored {
    pub(super) format: &'static str,
    pub(super) bytes: u64,
    pub(super) coded: Option<CodedSize>,
}

impl Stored {
    /// Of a network with these weights, of which `cut` says what is left.
    pub(super) fn new(body: &Body, row: &[f32], cut: &Masks, knobs: &Knobs) -> Self {
        let size = Size::new(body, row.len(), cut, knobs);
        let (format, bytes) = size.best();
        let fixed = Self { format: format.name(), bytes, coded: None };
        match knobs.coding {
            Coding::Fixed => fixed,
            Coding::Huffman => {
                let coded = huffman(body, row, cut, knobs);
                let bytes = coded.bits.div_ceil(8) + size.other_bytes;
                let coded = Some(coded);
                if bytes < fixed.bytes {
                    Self { format: "huffman", bytes, coded }
                } else {
                    Self { coded, ..fixed }
                }
            }
        }
    }
}

fn huffman(body: &Body, row: &[f32], cut: &Masks, knobs: &Knobs) -> CodedSize {
    let mut frequencies = Frequencies::new(widths(knobs));
    for (layer, mask) in body.layers.iter().zip(&cut.masks) {
        let codes = quantized(layer, row, knobs.value_bits).codes;
        if cut.is_narrower() {
            // Removed units leave no gap in smaller matrices.
            let left = codes.iter().zip(mask).filter(|(_, stays)| **stays);
            let left: Vec<i32> = left.map(|(code, _)| *code).collect();
            frequencies.add_layer(&left, &vec![true; left.len()]);
        } else {
            frequencies.add_layer(&codes, mask);
        }
    }
    frequencies.coded()
}
