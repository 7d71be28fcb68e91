//! Rotary positions (Su et al. 2021, arXiv:2104.09864): queries and keys are turned by angles that grow with the position.

use burn::tensor::{Bool, DType, Device, Tensor, TensorData};

/// The slowest rotation of a position turns once in about this many radians of tokens (Su et al. 2021).
pub(crate) const ROTARY_BASE: f64 = 10_000.0;

/// What all blocks need to know of positions.
pub(crate) struct Positions {
    /// Cosine of every pair's angle, twice, `[1, 1, time, 2, head / 2]`.
    cosine: Tensor<5>,
    /// Minus its sine, then its sine; the same shape.
    sine: Tensor<5>,
    /// Whether a column is a token ahead of its row's, `[1, 1, time, time]`.
    pub(super) ahead: Tensor<4, Bool>,
}

impl Positions {
    /// The angles of `time` positions for heads of `head` numbers. They are made anew for every pass, because that costs
    /// less than a thousandth of it and needs no state that could have another number format than the weights.
    pub(crate) fn new(time: usize, head: usize, dtype: DType, device: &Device) -> Self {
        Self::from_position(0, time, head, dtype, device)
    }

    /// The same for `time` positions from the position `first` on: a part of a sequence.
    pub(crate) fn from_position(
        first: usize,
        time: usize,
        head: usize,
        dtype: DType,
        device: &Device,
    ) -> Self {
        let pairs = head / 2;
        let angles: Vec<f64> = (first..first + time)
            .flat_map(|position| (0..pairs).map(move |pair| angle(position, pair, head)))
            .collect();
        // Each position's angles for the first halves of the pairs, then for the second.
        let table = |first: fn(f64) -> f64, second: fn(f64) -> f64| {
            let of = |angles: &[f64]| -> Vec<f64> {
                let halves = [first, second].map(|function| angles.iter().copied().map(function));
                halves.into_iter().flatten().collect()
            };
            let values: Vec<f64> = angles.chunks(pairs.max(1)).flat_map(of).collect();
            let data = TensorData::new(values, [1, 1, time, 2, pairs]);
            Tensor::<5>::from_data(data, (device, dtype))
        };
        Self {
            cosine: table(f64::cos, f64::cos),
            sine: table(|angle| -angle.sin(), f64::sin),
            ahead: Tensor::tril_mask([1, 1, time, time], 0, device),
        }
    }

    /// Turns each pair of numbers of a head by its position's angles: number i and number i + head / 2 are a pair.
    ///
    /// `[batch, heads, time, head]` to the same. With (a, b) a pair: a cos - b sin, b cos + a sin.
    pub(super) fn turn(&self, x: Tensor<4>) -> Tensor<4> {
        let [batch, heads, time, head] = x.dims();
        let pairs = x.reshape([batch, heads, time, 2, head / 2]);
        let swapped = pairs.clone().flip([3]); // (b, a)
        let turned = pairs * self.cosine.clone() + swapped * self.sine.clone();
        turned.reshape([batch, heads, time, head])
    }

    /// Turns by the same angles the other way, which is what the gradient by something turned needs.
    pub(crate) fn turn_back(&self, x: Tensor<4>) -> Tensor<4> {
        let [batch, heads, time, head] = x.dims();
        let pairs = x.reshape([batch, heads, time, 2, head / 2]);
        let swapped = pairs.clone().flip([3]); // (b, a)
        let turned = pairs * self.cosine.clone() - swapped * self.sine.clone();
        turned.reshape([batch, heads, time, head])
    }
}

/// The angle in radians by which a pair of numbers is turned: the first pair by a radian a token, the last hardly.
fn angle(position: usize, pair: usize, head: usize) -> f64 {
    position as f64 * ROTARY_BASE.powf(-2.0 * pair as f64 / head as f64)
}
