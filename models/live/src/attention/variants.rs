//! Four variants of attention, in burn's tensors, without autodiff.
//!
//! All take queries, keys and values `[heads, sequence, head]` and give `[heads, sequence, head]`.

use std::ops::{ControlFlow, Range};

use burn::tensor::{Bool, Device, Tensor, TensorData};
use mlsys_nn::flat_params::values;
use mlsys_nn::networks::MASKED_SCORE;

use super::exact::{Exact, RandomInputs};
use super::tiles::{AttentionMask, Coverage, Tile, Tiling};
use super::{Knobs, Setup};

const CHUNK: usize = 64;

/// Queries, keys and values on a device, `[heads, sequence, head]`.
#[derive(Clone)]
pub(super) struct Inputs {
    pub(super) q: Tensor<3>,
    pub(super) k: Tensor<3>,
    pub(super) v: Tensor<3>,
    /// What scores are multiplied by: logit_scale / √head.
    pub(super) scale: f64,
}

/// Called when a variant holds most memory; decides whether it continues.
pub(super) type Probe<'a> = &'a mut dyn FnMut() -> ControlFlow<()>;

impl Inputs {
    pub(super) fn new(drawn: &RandomInputs, device: &Device, logit_scale: f64) -> Self {
        let shape = [drawn.heads, drawn.sequence, drawn.width];
        let tensor =
            |numbers: &[f32]| Tensor::from_data(TensorData::new(numbers.to_vec(), shape), device);
        Self {
            q: tensor(&drawn.q),
            k: tensor(&drawn.k),
            v: tensor(&drawn.v),
            scale: logit_scale / (drawn.width as f64).sqrt(),
        }
    }

    fn sequence(&self) -> usize {
        self.q.dims()[1]
    }

    /// All scores at once, then their softmax, then the values: three matrices of N x N numbers come and go.
    pub(super) fn naive(&self, hidden: Option<&Hidden>, probe: Probe<'_>) -> Tensor<3> {
        let scores = self.scores(hidden);
        let most = scores.clone().max_dim(2);
        let shares = (scores - most).exp();
        let sum = shares.clone().sum_dim(2);
        let _ = probe();
        shares.matmul(self.v.clone()) / sum
    }

    /// The same without the maximum: right for small scores, and no number where an exponential overflows.
    pub(super) fn without_max(&self, hidden: Option<&Hidden>) -> Tensor<3> {
        let shares = self.scores(hidden).exp();
        let sum = shares.clone().sum_dim(2);
        shares.matmul(self.v.clone()) / sum
    }

    fn scores(&self, hidden: Option<&Hidden>) -> Tensor<3> {
        let scores = self.q.clone().matmul(self.k.clone().swap_dims(1, 2)) * self.scale;
        match hidden {
            Some(hidden) => hidden.fill(scores, MASKED_SCORE),
            None => scores,
        }
    }

    /// Tile by tile, with a softmax that is corrected when its maximum grows; no more of the scores than a tile is ever there.
    /// Tiles of which nothing is seen are left out. Nothing if it is ended between two tiles, of which there may be thousands.
    pub(super) fn tiled(
        &self,
        tiling: Tiling,
        mask: AttentionMask,
        probe: Probe<'_>,
    ) -> Option<Tensor<3>> {
        let mut bands = Vec::new();
        for queries in tiling.bands(self.sequence()) {
            let q = cut(&self.q, &queries);
            let mut softmax: Option<Softmax> = None;
            for tile in tiling.band(queries, self.sequence(), mask) {
                let (k, v) = (cut(&self.k, &tile.keys), cut(&self.v, &tile.keys));
                let scores = q.clone().matmul(k.swap_dims(1, 2)) * self.scale;
                let scores = match mask.coverage(&tile) {
                    Coverage::All | Coverage::Nothing => scores,
                    Coverage::Part => {
                        Hidden::in_tile(&tile, mask, &scores.device()).fill(scores, MASKED_SCORE)
                    }
                };
                softmax = Some(Softmax::extend(softmax, scores, v));
                if probe().is_break() {
                    return None;
                }
            }
            bands.extend(softmax);
        }
        let output = bands.into_iter().map(|band| band.weighted / band.sum).collect();
        Some(Tensor::cat(output, 1))
    }

    /// A product of features in the place of the exponential: f(q) · (f(k)ᵀ v) / f(q) · Σ f(k) with f = elu + 1, which is
    /// positive. Causal, the sums grow along the sequence, some tokens at once.
    pub(super) fn linear(&self, mask: AttentionMask, probe: Probe<'_>) -> Tensor<3> {
        let (q, k) = (feature(self.q.clone()), feature(self.k.clone()));
        if mask.causal {
            return self.linear_causal(q, k, probe);
        }
        let state = k.clone().swap_dims(1, 2).matmul(self.v.clone());
        let total = k.sum_dim(1).swap_dims(1, 2);
        let _ = probe();
        q.clone().matmul(state) / q.matmul(total)
    }

    fn linear_causal(&self, q: Tensor<3>, k: Tensor<3>, probe: Probe<'_>) -> Tensor<3> {
        let [heads, _, width] = q.dims();
        let device = q.device();
        let mut state = Tensor::<3>::zeros([heads, width, width], &device);
        let mut total = Tensor::<3>::zeros([heads, width, 1], &device);
        let tiling = Tiling { rows: CHUNK, columns: CHUNK };
        let mask = AttentionMask { causal: true, window: None };
        let mut chunks = Vec::new();
        let triangle =
            |n: usize| Hidden::in_tile(&Tile { queries: 0..n, keys: 0..n }, mask, &device);
        let whole = triangle(CHUNK);
        for own in tiling.bands(self.sequence()) {
            let (q, k, v) = (cut(&q, &own), cut(&k, &own), cut(&self.v, &own));
            let hidden = if own.len() == CHUNK { whole.clone() } else { triangle(own.len()) };
            let near = hidden.fill(q.clone().matmul(k.clone().swap_dims(1, 2)), 0.0);
            let found = q.clone().matmul(state.clone()) + near.clone().matmul(v.clone());
            chunks.push(found / (q.matmul(total.clone()) + near.sum_dim(2)));
            let _ = probe();
            let turned = k.swap_dims(1, 2);
            state = state + turned.clone().matmul(v);
            total = total + turned.sum_dim(2);
        }
        Tensor::cat(chunks, 1)
    }
}

#[derive(Clone)]
pub(super) struct Hidden(Tensor<3, Bool>);

impl Hidden {
    /// Of all queries against all keys; nothing if all are seen.
    pub(super) fn over(sequence: usize, mask: AttentionMask, device: &Device) -> Option<Self> {
        let whole = Tile { queries: 0..sequence, keys: 0..sequence };
        (mask.coverage(&whole) != Coverage::All).then(|| Self::in_tile(&whole, mask, device))
    }

    /// `[heads, queries, keys]` with a value in place of the hidden pairs.
    fn fill(&self, x: Tensor<3>, value: f64) -> Tensor<3> {
        let all = self.0.clone().expand(x.dims());
        x.mask_fill(all, value)
    }

    fn in_tile(tile: &Tile, mask: AttentionMask, device: &Device) -> Self {
        let keys = || tile.keys.clone();
        let queries = tile.queries.clone();
        let hidden = queries.flat_map(|query| keys().map(move |key| !mask.sees(query, key)));
        let shape = [1, tile.queries.len(), tile.keys.len()];
        let data = TensorData::new(hidden.collect::<Vec<bool>>(), shape);
        Self(Tensor::from_data(data, device))
    }
}

/// A softmax that has seen some of its rows, with the values it weighs (Milakov & Gimelshein 2018; Dao et al. 2022).
struct Softmax {
    most: Tensor<3>,
    sum: Tensor<3>,
    weighted: Tensor<3>,
}

impl Softmax {
    /// What was before, if anything, and one tile more: m' = max(m, m of the tile); sum and values so far times exp(m - m').
    fn extend(before: Option<Self>, scores: Tensor<3>, v: Tensor<3>) -> Self {
        let here = scores.clone().max_dim(2);
        let Some(before) = before else {
            let shares = (scores - here.clone()).exp();
            return Self { most: here, sum: shares.clone().sum_dim(2), weighted: shares.matmul(v) };
        };
        let most = before.most.clone().max_pair(here);
        let correction = (before.most - most.clone()).exp();
        let shares = (scores - most.clone()).exp();
        Self {
            most,
            sum: before.sum * correction.clone() + shares.clone().sum_dim(2),
            weighted: before.weighted * correction + shares.matmul(v),
        }
    }
}

/// elu(x) + 1: x + 1 above 0, exp(x) below.
fn feature(x: Tensor<3>) -> Tensor<3> {
    let below = x.clone().clamp_max(0.0).exp();
    x.clamp_min(0.0) + below
}

fn cut(x: &Tensor<3>, tokens: &Range<usize>) -> Tensor<3> {
    let [heads, _, width] = x.dims();
    x.clone().slice([0..heads, tokens.clone(), 0..width])
}

pub(super) const VARIANTS: [&str; 4] = ["naive", "tiled", "window", "linear"];

pub(super) struct Comparison {
    /// The largest difference of each variant over the largest output.
    pub(super) differences: [f64; 4],
    /// Outputs that are no numbers if the maximum is not subtracted.
    pub(super) non_finite: u64,
    /// What the last query of the first head finds by each variant.
    pub(super) last: [Vec<f32>; 4],
    pub(super) exact: Vec<f64>,
}

impl Comparison {
    /// Computes all variants. `probe` is called after each tile of those that have tiles; nothing if it ends them.
    pub(super) fn new(
        setup: &Setup,
        knobs: &Knobs,
        random: &RandomInputs,
        device: &Device,
        probe: Probe<'_>,
    ) -> Option<Self> {
        let (mask, windowed) = (setup.mask(None), setup.mask(Some(knobs.window)));
        let inputs = Inputs::new(random, device, knobs.logit_scale);
        let hidden = Hidden::over(setup.sequence, mask, device);
        let results = [
            inputs.naive(hidden.as_ref(), &mut || ControlFlow::Continue(())),
            inputs.tiled(knobs.tiling, mask, probe)?,
            inputs.tiled(knobs.tiling, windowed, probe)?,
            inputs.linear(mask, &mut || ControlFlow::Continue(())),
        ]
        .map(values);
        let without_max = values(inputs.without_max(hidden.as_ref()));
        let exact = Exact::compute(random, mask, knobs.logit_scale);
        let end = setup.sequence * setup.width;
        Some(Self {
            differences: results.each_ref().map(|result| exact.difference(result)),
            non_finite: without_max.iter().filter(|x| !x.is_finite()).count() as u64,
            last: results.each_ref().map(|result| result[end - setup.width..end].to_vec()),
            exact: exact.last().to_vec(),
        })
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct TimedLength {
    pub(super) sequence: usize,
    /// Median seconds, and most bytes beyond what was there before, of each timed variant.
    pub(super) seconds: [Option<f64>; 3],
    pub(super) bytes: [Option<u64>; 3],
}

pub(super) const TIMED: [&str; 3] = ["naive", "tiled", "linear"];
