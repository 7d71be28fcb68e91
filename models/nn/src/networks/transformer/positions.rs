//! Rotary positions (Su et al. 2021, arXiv:2104.09864): queries and keys are turned by angles that grow with the position.

use burn::tensor::{Bool, DType, Device, Tensor, TensorData};
use mlsys_device::fused::{self, Heads};
use mlsys_sim::model_config::RotaryScaling;

/// The usual base (Su et al. 2021).
pub(super) const ROTARY_BASE: f64 = 10_000.0;

/// How positions turn heads: pair i of a head by base^(-2i/head) radians a token, so that the slowest turns by one radian
/// in about `base` tokens.
#[derive(Clone, Copy, Debug)]
pub struct Rotary {
    /// Numbers of a head.
    pub head: usize,
    pub base: f64,
    pub scaling: RotaryScaling,
}

impl From<usize> for Rotary {
    fn from(head: usize) -> Self {
        Self { head, base: ROTARY_BASE, scaling: RotaryScaling::Unscaled }
    }
}

pub struct Positions {
    /// Cosine of every pair's angle, twice, `[rows, 1, time, 2, head / 2]`, with one row for all sequences or one each.
    cosine: Tensor<5>,
    /// Minus its sine, then its sine; the same shape.
    sine: Tensor<5>,
    /// Whether a column is a token that its row's must not look at, mostly because it lies ahead: `[1, 1, time, time]`,
    /// or `[rows, 1, time, seen]` with keys of other tokens.
    pub(super) ahead: Tensor<4, Bool>,
    view: View,
}

/// Which keys the tokens look through.
#[derive(Clone, Copy)]
enum View {
    /// Their own, up to each token's, in every sequence alike.
    Own,
    /// Those that `ahead` leaves.
    Listed,
}

/// Where a pass over new tokens stands in its sequences; one row for all sequences that stand alike.
pub struct TokenPositions {
    /// Positions of the new tokens, as many in each row.
    pub new: Vec<Vec<usize>>,
    /// Positions of all tokens whose keys are looked through, as many in each row; absent where a place holds none.
    pub seen: Vec<Vec<Option<usize>>>,
    /// Tokens that one looks back at, itself included; absent if at all.
    pub window: Option<usize>,
}

impl Positions {
    /// The angles of `time` positions for heads of `head` numbers. They are made anew for every pass, because that costs
    /// less than a thousandth of it and needs no state that could have another number format than the weights.
    pub fn new(time: usize, rotary: impl Into<Rotary>, dtype: DType, device: &Device) -> Self {
        Self::from_position(0, time, rotary, dtype, device)
    }

    /// The same for `time` positions from the position `first` on: a part of a sequence.
    pub fn from_position(
        first: usize,
        time: usize,
        rotary: impl Into<Rotary>,
        dtype: DType,
        device: &Device,
    ) -> Self {
        let new: Vec<usize> = (first..first + time).collect();
        let [cosine, sine] = angles(&[new], rotary.into(), dtype, device);
        let ahead = Tensor::tril_mask([1, 1, time, time], 0, device);
        Self { cosine, sine, ahead, view: View::Own }
    }

    pub fn among(standing: &TokenPositions, rotary: Rotary, dtype: DType, device: &Device) -> Self {
        let [cosine, sine] = angles(&standing.new, rotary, dtype, device);
        let rows = standing.new.len();
        let time = standing.new.first().map_or(0, Vec::len);
        let seen = standing.seen.first().map_or(0, Vec::len);
        let hidden = standing.new.iter().zip(&standing.seen);
        let hidden: Vec<bool> = hidden
            .flat_map(|(new, seen)| new.iter().flat_map(|at| seen.iter().map(move |key| (at, key))))
            .map(|(at, key)| standing.hides(*at, *key))
            .collect();
        let ahead = TensorData::new(hidden, [rows, 1, time, seen]);
        Self { cosine, sine, ahead: Tensor::from_data(ahead, device), view: View::Listed }
    }

    /// Turns each pair of numbers of a head by its position's angles: number i and number i + head / 2 are a pair.
    ///
    /// `[batch, heads, time, head]` to the same. With (a, b) a pair: a cos - b sin, b cos + a sin.
    pub(super) fn turn(&self, x: Tensor<4>) -> Tensor<4> {
        rotate(x, &self.cosine, self.sine.clone())
    }

    /// Turns by the same angles the other way, which is what the gradient by something turned needs.
    pub fn turn_back(&self, x: Tensor<4>) -> Tensor<4> {
        rotate(x, &self.cosine, self.sine.clone().neg())
    }

    /// Attention of queries, keys and values `[rows, heads * head]` that are not turned yet, in one pass over memory where
    /// the device has one.
    pub(super) fn attend(&self, rows: [&Tensor<2>; 3], heads: Heads) -> Option<Tensor<2>> {
        match self.view {
            View::Own => fused::causal_attention(rows, heads, [&self.cosine, &self.sine]),
            View::Listed => None,
        }
    }
}

fn rotate(x: Tensor<4>, cosine: &Tensor<5>, sine: Tensor<5>) -> Tensor<4> {
    let [batch, heads, time, head] = x.dims();
    let pairs = x.reshape([batch, heads, time, 2, head / 2]);
    let swapped = pairs.clone().flip([3]); // (b, a)
    let turned = pairs * cosine.clone() + swapped * sine;
    turned.reshape([batch, heads, time, head])
}

impl TokenPositions {
    fn hides(&self, at: usize, key: Option<usize>) -> bool {
        key.is_none_or(|key| key > at || self.window.is_some_and(|window| at - key >= window))
    }
}

/// Cosines and sines of positions, a row of as many each: `[rows, 1, time, 2, head / 2]`.
fn angles(
    rows: &[Vec<usize>],
    Rotary { head, base, scaling }: Rotary,
    dtype: DType,
    device: &Device,
) -> [Tensor<5>; 2] {
    let (pairs, time) = (head / 2, rows.first().map_or(0, Vec::len));
    // In radians: the first pair is turned by one a token, the last hardly.
    let (speeds, amplitude) = (scaling.speeds(head, base), scaling.amplitude());
    let turned = |&position: &usize| speeds.iter().map(move |speed| position as f64 * speed);
    let angles: Vec<f64> = rows.iter().flatten().flat_map(turned).collect();
    // Each position's angles for the first halves of the pairs, then for the second.
    let table = |first: fn(f64) -> f64, second: fn(f64) -> f64| {
        let of = |angles: &[f64]| -> Vec<f64> {
            let halves = [first, second]
                .map(|function| angles.iter().map(move |angle| amplitude * function(*angle)));
            halves.into_iter().flatten().collect()
        };
        let values: Vec<f64> = angles.chunks(pairs.max(1)).flat_map(of).collect();
        let data = TensorData::new(values, [rows.len(), 1, time, 2, pairs]);
        Tensor::<5>::from_data(data, (device, dtype))
    };
    [table(f64::cos, f64::cos), table(|angle| -angle.sin(), f64::sin)]
}
