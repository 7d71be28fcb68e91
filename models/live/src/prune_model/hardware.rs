//! What a chip with tensor cores would gain: a roofline of each layer's product.

use mlsys_nn::baseline::Layer;
use mlsys_nn::networks::Architecture;
use mlsys_sim::pruning::mask::Ranked;
use mlsys_sim::pruning::{Format, Widths, mask};

use super::chip::Chip;
use super::masks::{Candidates, Masks};
use super::network::{Body, Side};
use super::params::{Knobs, Method, Scope};

/// Bytes of a number in 16 bits.
const NUMBER: f64 = 2.0;

/// How many times faster the matrix units are where at most two of four weights are there: NVIDIA A100 whitepaper.
const SPARSE: f64 = 2.0;

/// Bytes of 2:4 weights in 16 bits over those of dense ones, with two bits a place: Mishra et al. 2021.
const PACKED: f64 = 0.5625;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Product {
    pub(super) layer: String,
    /// Seconds with all weights, and as pruned.
    pub(super) dense: f64,
    pub(super) pruned: f64,
    /// Whether memory limits the pruned one, and not arithmetic.
    pub(super) waits_for_memory: bool,
    /// What makes it faster, or what is missing.
    pub(super) why: &'static str,
}

/// Every layer's product on a chip, all weights there and as pruned, for `items` images or tokens. A pattern counts where
/// groups are what was chosen by: zeros that fit by chance are no promise.
pub(super) fn products(
    chip: &Chip,
    body: &Body,
    (uses, items): (&[Uses], f64),
    cut: &Masks,
    method: Method,
) -> Vec<Product> {
    let product = |(index, (layer, uses)): (usize, (&Layer, &Uses))| {
        let full = layer.inputs as f64 * layer.outputs as f64;
        let share = |side| {
            let stays = body.stays(&cut.units, index, side);
            mask::count(&stays) as f64 / stays.len().max(1) as f64
        };
        let (fed, left) = (share(Side::Inputs), share(Side::Outputs));
        let matrix = full * fed * left;
        let through = items * (uses.numbers_in * fed + uses.numbers_out * left);
        let flops = 2.0 * items * uses.places * matrix;
        let dense = chip.roof.seconds(
            2.0 * items * uses.places * full,
            NUMBER * (full + items * (uses.numbers_in + uses.numbers_out)),
        );
        let fits = method == Method::Groups
            && chip.skips_two_of_four
            && cut.masks.get(index).is_some_and(|mask| is_two_of_four(mask, layer.outputs));
        let (flops, weights, why) = if fits {
            let why = "2 of 4: half the multiply-adds, 0.5625 of the weight bytes";
            (flops / SPARSE, PACKED * matrix, why)
        } else if matrix < full {
            (flops, matrix, "a smaller matrix")
        } else if chip.skips_two_of_four {
            (flops, matrix, "no 2 of 4: zeros are multiplied")
        } else {
            (flops, matrix, "no units for zeros")
        };
        let bytes = NUMBER * (weights + through);
        Product {
            layer: layer.name.clone(),
            dense,
            pruned: chip.roof.seconds(flops, bytes),
            waits_for_memory: flops / chip.roof.peak <= bytes / chip.roof.bandwidth,
            why,
        }
    };
    body.layers.iter().zip(uses).enumerate().map(product).collect()
}

/// How often a layer's weights are used for one image, or one token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Uses {
    /// Places of a convolution, else 1.
    pub(super) places: f64,
    numbers_in: f64,
    numbers_out: f64,
}

pub(super) fn uses(architecture: &Architecture, layers: &[Layer]) -> Vec<Uses> {
    let once = |layer: &Layer| Uses {
        places: 1.0,
        numbers_in: layer.inputs as f64,
        numbers_out: layer.outputs as f64,
    };
    let mut uses: Vec<Uses> = layers.iter().map(once).collect();
    if let Architecture::Cnn(config) = architecture {
        for (uses, shape) in uses.iter_mut().zip(config.convolutions()) {
            let square = |edge: usize| (edge * edge) as f64;
            *uses = Uses {
                places: square(shape.edge_out),
                numbers_in: shape.channels_in as f64 * square(shape.edge_in),
                numbers_out: shape.channels_out as f64 * square(shape.edge_out),
            };
        }
    }
    uses
}

/// Whether of every four inputs of each output at most two are there.
fn is_two_of_four(mask: &[bool], outputs: usize) -> bool {
    let rows: Vec<&[bool]> = mask.chunks(outputs.max(1)).collect();
    rows.chunks(4)
        .all(|four| (0..outputs).all(|output| four.iter().filter(|row| row[output]).count() <= 2))
}

// Bytes of what is left, in each of three formats.

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
    /// Of them scales, biases and other numbers that are in no matrix.
    pub(super) other_bytes: u64,
}

impl Size {
    /// Of a network of `len` numbers with this left. What went whole is not there at all.
    pub(super) fn new(body: &Body, len: usize, cut: &Masks, knobs: &Knobs) -> Self {
        let widths = widths(knobs);
        let left = |mask: &Vec<bool>| {
            if cut.is_narrower() { vec![true; mask::count(mask)] } else { mask.clone() }
        };
        let masks: Vec<Vec<bool>> = cut.masks.iter().map(left).collect();
        let mut numbers = body.outside_matrices(len) as u64;
        for (index, layer) in body.layers.iter().enumerate() {
            let outputs = body.stays(&cut.units, index, Side::Outputs);
            let left = mask::count(&outputs) as u64;
            if layer.biases.is_some() {
                numbers -= outputs.len() as u64 - left;
            }
            if knobs.value_bits < 32 {
                numbers += left;
            }
        }
        let others = SIDE * numbers;
        let bytes = |format: Format| {
            let bits: u64 = masks.iter().map(|mask| format.bits(mask, widths)).sum();
            bits.div_ceil(8) + others
        };
        Self { bytes: Format::ALL.map(bytes), other_bytes: others }
    }

    /// The smallest, and the plainest of equal ones.
    pub(super) fn best(&self) -> (Format, u64) {
        let [dense, ..] = self.bytes;
        let all = Format::ALL.into_iter().zip(self.bytes);
        all.min_by_key(|(_, bytes)| *bytes).unwrap_or((Format::Dense, dense))
    }
}

pub(super) fn widths(knobs: &Knobs) -> Widths {
    Widths { value: knobs.value_bits, offset: knobs.offset_bits }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Curves {
    key: (Method, Scope, u32, u32),
    pub(super) points: Vec<(f64, Size)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Crossing {
    pub(super) sparsity: f64,
    pub(super) bytes: f64,
    pub(super) smaller: Format,
    pub(super) larger: Format,
}

impl Curves {
    /// The curves of this network; `none` is the network before anything is removed. Where weights do not go one by one
    /// the curves are those of the smallest weights.
    pub(super) fn compute(none: &Masks, from: &Candidates<'_>, knobs: &Knobs) -> Self {
        let key = Self::key(knobs);
        let scores = none.scores(from, key.0);
        // A large network is sorted once, and not once a point.
        let ranked: Vec<Ranked> = match key.1 {
            Scope::Global => vec![Ranked::new(scores.concat())],
            Scope::Layer => scores.iter().cloned().map(Ranked::new).collect(),
        };
        let at = |sparsity| {
            let all = ranked.iter().flat_map(|of| of.without(sparsity));
            let mut all = all.collect::<Vec<bool>>().into_iter();
            let masks = scores.iter().map(|own| all.by_ref().take(own.len()).collect());
            let cut = Masks { masks: masks.collect(), ..none.clone() };
            (sparsity, Size::new(from.body, from.row.len(), &cut, knobs))
        };
        Self { key, points: GRID.into_iter().map(at).collect() }
    }

    pub(super) fn matches(&self, knobs: &Knobs) -> bool {
        self.key == Self::key(knobs)
    }

    fn key(knobs: &Knobs) -> (Method, Scope, u32, u32) {
        let is_random = knobs.choice.method == Method::Random;
        let method = if is_random { Method::Random } else { Method::Magnitude };
        (method, knobs.choice.scope, knobs.value_bits, knobs.offset_bits)
    }

    /// Where the curves cross, on straight lines between the places at which they were computed.
    pub(super) fn crossings(&self) -> Vec<Crossing> {
        let pairs = [(0, 1), (0, 2), (1, 2)].into_iter();
        let windows = || self.points.windows(2);
        pairs.flat_map(|(a, b)| windows().filter_map(move |pair| crossing(pair, a, b))).collect()
    }
}

fn crossing(pair: &[(f64, Size)], one: usize, other: usize) -> Option<Crossing> {
    let [(left, before), (right, after)] = pair else { return None };
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

#[cfg(test)]
mod tests {
    use mlsys_nn::cases::Model;
    use mlsys_sim::pruning::Stored;
    use mlsys_sim::quantizer::{Granularity, Matrix, Quantized, Scheme};

    use super::*;
    use crate::prune_model::masks::{draws, zero_removed};
    use crate::prune_model::params::Choice;
    use crate::prune_model::tests::{HALF, chosen, knobs, small};

    #[test]
    fn the_pattern_is_looked_for_along_the_inputs() {
        let (t, f) = (true, false);
        // Two outputs, four inputs and one more.
        let fits = [t, f, t, t, f, f, f, t, t, t];
        assert!(is_two_of_four(&fits, 2));
        let mut three = fits;
        three[6] = t;
        assert!(!is_two_of_four(&three, 2));
        assert!(!is_two_of_four(&[t; 8], 2));
    }

    #[test]
    fn formats_round_trip_in_their_bytes() {
        let trained = small(Model::Mlp, 8);
        let layers = trained.layers();
        for (bits, offset) in [(4, 5), (3, 2), (8, 1), (32, 6)] {
            let set = [format!("value_bits={bits}"), format!("offset_bits={offset}")];
            let knobs = knobs(&[set[0].as_str(), set[1].as_str()]);
            let cut = chosen(&trained, Choice { sparsity: 0.9, ..HALF });
            let size = Size::new(&Body::new(&trained), trained.weights.len(), &cut, &knobs);
            let mut written = [0_u64; 3];
            for (layer, kept) in layers.iter().zip(&cut.masks) {
                let mut matrix = layer.matrix(&trained.weights);
                zero_removed(&mut matrix, kept);
                let codes: Vec<u32> = if bits == 32 {
                    matrix.iter().map(|weight| weight.to_bits()).collect()
                } else {
                    let shape = Matrix::by_inputs(layer.inputs, layer.outputs);
                    let scheme = Scheme::SymmetricRestricted;
                    let rounded =
                        Quantized::linear(&matrix, shape, bits, scheme, Granularity::Channel);
                    let pattern = |code: &i32| (*code as u32) & ((1 << bits) - 1);
                    rounded.codes.iter().map(pattern).collect()
                };
                for (format, written) in Format::ALL.into_iter().zip(&mut written) {
                    let stored = Stored::encode(format, &codes, kept, widths(&knobs));
                    let wanted = codes.iter().zip(kept);
                    let wanted = wanted.map(|(code, kept)| if *kept { *code } else { 0 }).collect();
                    assert_eq!(stored.decode(), Some(wanted), "{format:?}");
                    *written += stored.bits();
                }
            }
            // 18 outputs with a bias each, and a scale each where weights are rounded.
            let others = if bits == 32 { 18 * 4 } else { 18 * 8 };
            assert_eq!(size.bytes, written.map(|bits| bits.div_ceil(8) + others));
        }
    }

    #[test]
    fn bitmap_beats_dense_storage_above_one_over_the_bits() {
        let trained = small(Model::Mlp, 8);
        let body = Body::new(&trained);
        let knobs = knobs(&["value_bits=4", "scope=layer"]);
        let from = Candidates { body: &body, row: &trained.weights, draws: &[] };
        let curves = Curves::compute(&Masks::none(&body), &from, &knobs);
        let crossing = curves
            .crossings()
            .into_iter()
            .find(|at| (at.smaller, at.larger) == (Format::Bitmap, Format::Dense))
            .unwrap();
        assert!((crossing.sparsity - 0.25).abs() < 0.002, "{crossing:?}");
    }

    #[test]
    fn curves_equal_pruning_from_scratch() {
        let trained = small(Model::Cnn, 2);
        let body = Body::new(&trained);
        let none = Masks::none(&body);
        let draws = draws(&body, 1);
        let from = Candidates { body: &body, row: &trained.weights, draws: &draws };
        for set in [
            &["scope=layer", "value_bits=4"][..],
            &["scope=global", "offset_bits=2"],
            &["method=random", "scope=layer"],
            &["method=random"],
        ] {
            let knobs = knobs(set);
            for (sparsity, size) in Curves::compute(&none, &from, &knobs).points {
                let choice = Choice { sparsity, ..knobs.choice };
                let anew =
                    Size::new(&body, trained.weights.len(), &none.choose(&from, choice), &knobs);
                assert_eq!(size, anew, "{set:?} {sparsity}");
            }
        }
    }
}
