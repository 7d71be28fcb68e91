//! The tensors that a layer keeps, as Korthikanti et al. 2022, section 4.1, list them.

use super::{Layer, Outside, Recompute};

/// What a tensor's size is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    /// sbh elements: a vector of the model's width for each token.
    Width,
    /// as^2b elements: a number for each head and each pair of tokens.
    Pairs,
}

/// Whether tensor parallelism splits a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Split {
    /// It lies within attention or the MLP: each rank has its share.
    Ranks,
    /// Each rank has all of it, unless the sequence is split as well.
    Sequence,
}

/// One tensor that the backward pass reads.
#[derive(Debug)]
pub(super) struct Term {
    pub(super) name: &'static str,
    /// Its bytes on one rank alone.
    pub(super) formula: &'static str,
    /// Bytes for each element that `unit` counts.
    factor: f64,
    unit: Unit,
    split: Split,
}

const fn term(
    name: &'static str,
    formula: &'static str,
    factor: f64,
    unit: Unit,
    split: Split,
) -> Term {
    Term { name, formula, factor, unit, split }
}

/// The layer's input, which full recomputation starts from.
const INPUT: &str = "input of norm 1";

/// In the order of the forward pass.
pub(super) const TERMS: [Term; 14] = [
    term(INPUT, "2sbh", 2.0, Unit::Width, Split::Sequence),
    term("input of Q, K, V", "2sbh", 2.0, Unit::Width, Split::Sequence),
    term("Q and K", "4sbh", 4.0, Unit::Width, Split::Ranks),
    term("softmax output", "2as^2b", 2.0, Unit::Pairs, Split::Ranks),
    term("softmax dropout mask", "as^2b", 1.0, Unit::Pairs, Split::Ranks),
    term("attention weights", "2as^2b", 2.0, Unit::Pairs, Split::Ranks),
    term("V", "2sbh", 2.0, Unit::Width, Split::Ranks),
    term("input of projection", "2sbh", 2.0, Unit::Width, Split::Ranks),
    term("attention dropout mask", "sbh", 1.0, Unit::Width, Split::Sequence),
    term("input of norm 2", "2sbh", 2.0, Unit::Width, Split::Sequence),
    term("input of MLP", "2sbh", 2.0, Unit::Width, Split::Sequence),
    term("input of GELU", "8sbh", 8.0, Unit::Width, Split::Ranks),
    term("output of GELU", "8sbh", 8.0, Unit::Width, Split::Ranks),
    term("MLP dropout mask", "sbh", 1.0, Unit::Width, Split::Sequence),
];

impl Term {
    /// Bytes that one rank keeps of it.
    pub(super) fn bytes(&self, layer: &Layer, recompute: Recompute) -> f64 {
        let is_input = self.name == INPUT;
        match (recompute, self.unit) {
            // The layer's input is kept whole on each rank.
            (Recompute::Full, _) if is_input => return self.factor * layer.elements(),
            (Recompute::Full, _) | (Recompute::Selective, Unit::Pairs) => return 0.0,
            (Recompute::None, _) | (Recompute::Selective, Unit::Width) => {}
        }
        let elements = match self.unit {
            Unit::Width => layer.elements(),
            Unit::Pairs => layer.heads * layer.sequence * layer.sequence * layer.batch,
        };
        let ranks = match (self.split, layer.outside) {
            (Split::Ranks, _) | (Split::Sequence, Outside::Sharded) => layer.tensor_ranks,
            (Split::Sequence, Outside::Replicated) => 1.0,
        };
        self.factor * elements / ranks
    }
}
