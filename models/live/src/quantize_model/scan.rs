//! How much each layer minds being rounded: one layer at a time, at several widths.

use super::setup::{Knobs, Method};

/// Widths that are tried besides the one that is set.
const BITS: [u32; 5] = [2, 3, 4, 6, 8];

/// What a network answers with one layer rounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tried {
    /// Which, from 0.
    pub(super) layer: usize,
    /// To how many bits.
    pub(super) bits: u32,
    /// Accuracy, or minus the loss, beside that of the network as it was trained.
    pub(super) lost: f64,
}

/// What has been tried so far, and what is next.
pub(super) struct Scan {
    /// By what layers are rounded; none of it depends on the width that is set.
    by: Knobs,
    layers: usize,
    pub(super) tried: Vec<Tried>,
}

impl Scan {
    pub(super) fn new(knobs: &Knobs, layers: usize) -> Self {
        Self { by: plain(knobs), layers, tried: Vec::new() }
    }

    /// Follows the knobs: what was tried stays if it would come out the same.
    pub(super) fn follow(&mut self, knobs: &Knobs) {
        if plain(knobs) != self.by {
            *self = Self::new(knobs, self.layers);
        }
    }

    /// The widths that are tried for these knobs, ascending.
    pub(super) fn widths(knobs: &Knobs) -> Vec<u32> {
        if knobs.method == Method::Nf4 {
            return vec![4];
        }
        let mut widths = BITS.to_vec();
        if !widths.contains(&knobs.bits) {
            widths.push(knobs.bits);
            widths.sort_unstable();
        }
        widths
    }

    /// The layer to try next and the knobs to round it by: first all layers at the width that is set.
    pub(super) fn next(&self, knobs: &Knobs) -> Option<(usize, Knobs)> {
        let own = knobs.weight_bits();
        let others = Self::widths(knobs).into_iter().filter(|bits| *bits != own);
        let mut order = std::iter::once(own).chain(others);
        order.find_map(|bits| {
            let layer = (0..self.layers).find(|layer| self.lost(*layer, bits).is_none())?;
            Some((layer, Knobs { bits, ..self.by }))
        })
    }

    /// What rounding a layer to so many bits lost.
    pub(super) fn lost(&self, layer: usize, bits: u32) -> Option<f64> {
        let found = self.tried.iter().find(|tried| (tried.layer, tried.bits) == (layer, bits));
        found.map(|tried| tried.lost)
    }
}

/// The knobs that matter to a layer that is rounded alone, without training and with its inputs as they are.
fn plain(knobs: &Knobs) -> Knobs {
    Knobs {
        method: match knobs.method {
            Method::Aware => Method::Round,
            Method::Round | Method::Kmeans | Method::Nf4 => knobs.method,
        },
        bits: 0,
        activations: None,
        layer: 0,
        ..*knobs
    }
}
