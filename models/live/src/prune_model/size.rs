//! Bytes of what is left, in each of three formats.

use mlsys_sim::pruning::mask::{self, Ranked};
use mlsys_sim::pruning::{Format, Widths};

use super::cut::{Cut, Field};
use super::parts::{Body, Side};
use super::setup::{Knobs, Method, Scope};

/// Bytes of a scale, and of a number that is in no matrix.
const SIDE: u64 = 4;

/// Shares of weights removed at which the curves are computed; closer where little is left.
const GRID: [f64; 27] = [
    0.0, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75,
    0.8, 0.85, 0.9, 0.925, 0.95, 0.96, 0.97, 0.98, 0.99, 0.995,
];

/// Bytes in every format, in the order of [`Format::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) bytes: [u64; 3],
}

impl Size {
    /// Of a network of `len` numbers with this left. What went whole is not there at all.
    pub(super) fn of(body: &Body, len: usize, cut: &Cut, knobs: &Knobs) -> Self {
        let widths = widths(knobs);
        let outputs = |layer| body.stays(&cut.units, layer, Side::Outputs);
        let narrow: Vec<Vec<bool>> = if cut.is_narrower() {
            cut.masks.iter().map(|mask| vec![true; mask::count(mask)]).collect()
        } else {
            Vec::new()
        };
        let masks = if cut.is_narrower() { &narrow } else { &cut.masks };
        let mut numbers = body.beside(len) as u64;
        for (index, layer) in body.layers.iter().enumerate() {
            let outputs = outputs(index);
            let left = mask::count(&outputs) as u64;
            if layer.biases.is_some() {
                numbers -= outputs.len() as u64 - left;
            }
            if knobs.value_bits < 32 {
                numbers += left;
            }
        }
        let beside = SIDE * numbers;
        Self {
            bytes: Format::ALL.map(|format| {
                let bits: u64 = masks.iter().map(|mask| format.bits(mask, widths)).sum();
                bits.div_ceil(8) + beside
            }),
        }
    }

    /// The smallest, and the plainest of equal ones.
    pub(super) fn best(&self) -> (Format, u64) {
        let all = Format::ALL.into_iter().zip(self.bytes);
        let best = all.min_by_key(|(_, bytes)| *bytes);
        best.unwrap_or((Format::Dense, self.bytes[0]))
    }
}

/// The widths of the numbers that are written.
pub(super) fn widths(knobs: &Knobs) -> Widths {
    Widths { value: knobs.value_bits, offset: knobs.offset_bits }
}

/// Bytes against the share removed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Curves {
    of: (Method, Scope, u32, u32),
    /// Share removed, and bytes in each format.
    pub(super) points: Vec<(f64, Size)>,
}

/// A place where one format becomes smaller than another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Crossing {
    pub(super) sparsity: f64,
    pub(super) bytes: f64,
    /// What is smaller from here on.
    pub(super) smaller: Format,
    pub(super) larger: Format,
}

impl Curves {
    /// The curves of this network; `none` is the network before anything is removed. Where weights do not go one by one
    /// the curves are those of the smallest weights.
    pub(super) fn compute(none: &Cut, field: &Field<'_>, knobs: &Knobs) -> Self {
        let of = Self::key(knobs);
        let scores = none.scores(field, of.0);
        // A large network is sorted once, and not once a point.
        let ranked: Vec<Ranked> = match of.1 {
            Scope::Global => vec![Ranked::new(scores.concat())],
            Scope::Layer => scores.iter().cloned().map(Ranked::new).collect(),
        };
        let at = |sparsity| {
            let all = ranked.iter().flat_map(|of| of.without(sparsity));
            let mut all = all.collect::<Vec<bool>>().into_iter();
            let masks = scores.iter().map(|own| all.by_ref().take(own.len()).collect());
            let cut = Cut { masks: masks.collect(), ..none.clone() };
            (sparsity, Size::of(field.body, field.row.len(), &cut, knobs))
        };
        Self { of, points: GRID.into_iter().map(at).collect() }
    }

    /// Whether they are the curves of these knobs.
    pub(super) fn are_of(&self, knobs: &Knobs) -> bool {
        self.of == Self::key(knobs)
    }

    fn key(knobs: &Knobs) -> (Method, Scope, u32, u32) {
        let method = match knobs.choice.method {
            Method::Random => Method::Random,
            Method::Magnitude | Method::Groups | Method::Neurons | Method::Heads => {
                Method::Magnitude
            }
        };
        (method, knobs.choice.scope, knobs.value_bits, knobs.offset_bits)
    }

    /// Where the curves cross, on straight lines between the places at which they were computed.
    pub(super) fn crossings(&self) -> Vec<Crossing> {
        let pairs = [(0, 1), (0, 2), (1, 2)];
        let crossings = pairs.into_iter().flat_map(|(one, other)| {
            self.points.windows(2).filter_map(move |pair| crossing(pair, one, other))
        });
        crossings.collect()
    }
}

fn crossing(pair: &[(f64, Size)], one: usize, other: usize) -> Option<Crossing> {
    let [(left, before), (right, after)] = pair else {
        return None;
    };
    let gap = |size: &Size| size.bytes[one] as f64 - size.bytes[other] as f64;
    let (first, last) = (gap(before), gap(after));
    // From one side to the other; where they meet at an end, that belongs to the piece before.
    if first == 0.0 || first * last > 0.0 {
        return None;
    }
    let share = first / (first - last);
    let mix = |a: f64, b: f64| a + (b - a) * share;
    let (smaller, larger) = if first < 0.0 { (other, one) } else { (one, other) };
    Some(Crossing {
        sparsity: mix(*left, *right),
        bytes: mix(before.bytes[one] as f64, after.bytes[one] as f64),
        smaller: Format::ALL[smaller],
        larger: Format::ALL[larger],
    })
}
