//! Four ways to compute attention, in burn's tensors, without autodiff.
//!
//! All take queries, keys and values `[heads, sequence, head]` and give `[heads, sequence, head]`.

use burn::tensor::{Bool, Device, Tensor, TensorData};
use mlsys_nn::networks::MASKED_SCORE;
use mlsys_nn::random::Stream;

use super::tiles::{AttentionMask, Causality, Seen, Tile, Tiling};

/// Tokens that causal linear attention takes at once.
const CHUNK: usize = 64;

/// What attention is computed of.
#[derive(Clone)]
pub(super) struct Inputs {
    pub(super) q: Tensor<3>,
    pub(super) k: Tensor<3>,
    pub(super) v: Tensor<3>,
    /// What scores are multiplied by: logit_scale / √head.
    pub(super) scale: f64,
}

/// Told at the moments at which a way holds most; says whether it goes on.
pub(super) type Look<'a> = &'a mut dyn FnMut() -> Goes;

/// Whether something goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goes {
    /// It does.
    On,
    /// It ends.
    Ends,
}

/// The numbers of queries, keys and values, as drawn: standard normal.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Drawn {
    pub(super) heads: usize,
    pub(super) sequence: usize,
    pub(super) width: usize,
    pub(super) q: Vec<f32>,
    pub(super) k: Vec<f32>,
    pub(super) v: Vec<f32>,
}

impl Drawn {
    pub(super) fn new(seed: u64, [heads, sequence, width]: [usize; 3]) -> Self {
        let draw = |purpose: &str| {
            let mut stream = Stream::new(seed, purpose);
            let count = heads * sequence * width;
            (0..count).map(|_| stream.normal() as f32).collect()
        };
        Self {
            heads,
            sequence,
            width,
            q: draw("attention/queries"),
            k: draw("attention/keys"),
            v: draw("attention/values"),
        }
    }

    pub(super) fn on(&self, device: &Device, logit_scale: f64) -> Inputs {
        let shape = [self.heads, self.sequence, self.width];
        let tensor =
            |numbers: &[f32]| Tensor::from_data(TensorData::new(numbers.to_vec(), shape), device);
        Inputs {
            q: tensor(&self.q),
            k: tensor(&self.k),
            v: tensor(&self.v),
            scale: logit_scale / (self.width as f64).sqrt(),
        }
    }
}

impl Inputs {
    fn sequence(&self) -> usize {
        self.q.dims()[1]
    }

    /// All scores at once, then their softmax, then the values: three matrices of N x N numbers come and go.
    pub(super) fn naive(&self, hidden: Option<&Hidden>, look: Look<'_>) -> Tensor<3> {
        let scores = self.scores(hidden);
        let most = scores.clone().max_dim(2);
        let shares = (scores - most).exp();
        let sum = shares.clone().sum_dim(2);
        look();
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
            Some(Hidden(mask)) => {
                let all = mask.clone().expand(scores.dims());
                scores.mask_fill(all, MASKED_SCORE)
            }
            None => scores,
        }
    }

    /// Tile by tile, with a softmax that is corrected when its maximum grows; no more of the scores than a tile is ever there.
    /// Tiles of which nothing is seen are left out. Nothing if it is ended between two tiles, of which there may be thousands.
    pub(super) fn tiled(
        &self,
        tiling: Tiling,
        mask_of: AttentionMask,
        look: Look<'_>,
    ) -> Option<Tiled> {
        let mut bands = Vec::new();
        for queries in tiling.bands(self.sequence()) {
            let q = cut(&self.q, &queries);
            let mut softmax: Option<Softmax> = None;
            for tile in tiling.band(queries, self.sequence(), mask_of) {
                let (k, v) = (cut(&self.k, &tile.keys), cut(&self.v, &tile.keys));
                let scores = q.clone().matmul(k.swap_dims(1, 2)) * self.scale;
                let scores = match mask_of.of(&tile) {
                    Seen::All | Seen::Nothing => scores,
                    Seen::Part => {
                        let Hidden(mask) = Hidden::in_tile(&tile, mask_of, &scores.device());
                        let all = mask.expand(scores.dims());
                        scores.mask_fill(all, MASKED_SCORE)
                    }
                };
                softmax = Some(Softmax::of(softmax, scores, v));
                if look() == Goes::Ends {
                    return None;
                }
            }
            bands.extend(softmax);
        }
        let most = bands.iter().map(|band| band.most.clone()).collect();
        let sum = bands.iter().map(|band| band.sum.clone()).collect();
        let output = bands.into_iter().map(|band| band.weighted / band.sum).collect();
        Some(Tiled {
            output: Tensor::cat(output, 1),
            most: Tensor::cat(most, 1),
            sum: Tensor::cat(sum, 1),
        })
    }

    /// A product of features in the place of the exponential: f(q) · (f(k)ᵀ v) / f(q) · Σ f(k) with f = elu + 1, which is
    /// positive. Causal, the sums grow along the sequence, some tokens at once.
    pub(super) fn linear(&self, ahead: Causality, look: Look<'_>) -> Tensor<3> {
        let (q, k) = (feature(self.q.clone()), feature(self.k.clone()));
        match ahead {
            Causality::Seen => {
                let state = k.clone().swap_dims(1, 2).matmul(self.v.clone());
                let total = k.sum_dim(1).swap_dims(1, 2);
                look();
                q.clone().matmul(state) / q.matmul(total)
            }
            Causality::Hidden => self.linear_causal(q, k, look),
        }
    }

    fn linear_causal(&self, q: Tensor<3>, k: Tensor<3>, look: Look<'_>) -> Tensor<3> {
        let [heads, _, width] = q.dims();
        let device = q.device();
        let mut state = Tensor::<3>::zeros([heads, width, width], &device);
        let mut total = Tensor::<3>::zeros([heads, width, 1], &device);
        let tiling = Tiling { rows: CHUNK, columns: CHUNK };
        let mask_of = AttentionMask { ahead: Causality::Hidden, window: None };
        let mut chunks = Vec::new();
        let mut known: Option<(usize, Hidden)> = None;
        for own in tiling.bands(self.sequence()) {
            let (q, k, v) = (cut(&q, &own), cut(&k, &own), cut(&self.v, &own));
            let mask = match &known {
                Some((length, mask)) if *length == own.len() => mask.clone(),
                Some(_) | None => {
                    let tile = Tile { queries: 0..own.len(), keys: 0..own.len() };
                    let mask = Hidden::in_tile(&tile, mask_of, &device);
                    known = Some((own.len(), mask.clone()));
                    mask
                }
            };
            let near = q.clone().matmul(k.clone().swap_dims(1, 2));
            let all = mask.0.expand(near.dims());
            let near = near.mask_fill(all, 0.0);
            let found = q.clone().matmul(state.clone()) + near.clone().matmul(v.clone());
            chunks.push(found / (q.matmul(total.clone()) + near.sum_dim(2)));
            look();
            let turned = k.swap_dims(1, 2);
            state = state + turned.clone().matmul(v);
            total = total + turned.sum_dim(2);
        }
        Tensor::cat(chunks, 1)
    }
}

/// The pairs that do not count, `[1, queries, keys]`.
#[derive(Clone)]
pub(super) struct Hidden(Tensor<3, Bool>);

impl Hidden {
    /// Of all queries against all keys; nothing if all are seen.
    pub(super) fn of(sequence: usize, mask_of: AttentionMask, device: &Device) -> Option<Self> {
        let whole = Tile { queries: 0..sequence, keys: 0..sequence };
        (mask_of.of(&whole) != Seen::All).then(|| Self::in_tile(&whole, mask_of, device))
    }

    fn in_tile(tile: &Tile, mask_of: AttentionMask, device: &Device) -> Self {
        let keys = || tile.keys.clone();
        let queries = tile.queries.clone();
        let hidden = queries.flat_map(|query| keys().map(move |key| !mask_of.sees(query, key)));
        let shape = [1, tile.queries.len(), tile.keys.len()];
        let data = TensorData::new(hidden.collect::<Vec<bool>>(), shape);
        Self(Tensor::from_data(data, device))
    }
}

/// What the tiles found.
pub(super) struct Tiled {
    /// `[heads, sequence, head]`
    pub(super) output: Tensor<3>,
    /// The largest score of each row, `[heads, sequence, 1]`.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests hold it against the instant lab"))]
    pub(super) most: Tensor<3>,
    /// The sum of exp(score - most) of each row, `[heads, sequence, 1]`.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests hold it against the instant lab"))]
    pub(super) sum: Tensor<3>,
}

/// A softmax that has seen some of its rows, with the values it weighs (Milakov & Gimelshein 2018; Dao et al. 2022).
struct Softmax {
    most: Tensor<3>,
    sum: Tensor<3>,
    weighted: Tensor<3>,
}

impl Softmax {
    /// What was before, if anything, and one tile more: m' = max(m, m of the tile); sum and values so far times exp(m - m').
    fn of(before: Option<Self>, scores: Tensor<3>, v: Tensor<3>) -> Self {
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

fn cut(x: &Tensor<3>, tokens: &std::ops::Range<usize>) -> Tensor<3> {
    let [heads, _, width] = x.dims();
    x.clone().slice([0..heads, tokens.clone(), 0..width])
}
