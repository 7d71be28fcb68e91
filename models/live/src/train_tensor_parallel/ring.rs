//! Attention over a sequence that is cut over ranks: keys and values go round a ring (Liu et al. 2023, arXiv 2310.01889).
//!
//! Each rank keeps the queries of its own tokens. In every round it looks through the keys that are with it, folds what it
//! sees into a softmax that is not over yet (Milakov & Gimelshein 2018), and passes keys and values on. After as many rounds
//! as there are ranks every query has looked through every key, and no rank ever had more than one part of them.
//!
//! Backward goes round once more. With the logarithm L of each row's sum kept, the shares of any part of the keys can be
//! computed again by themselves: P = exp(S - L). So the same rounds give every slope (Dao et al. 2022, algorithm 4):
//!
//! ```text
//! dV += P^T dO    dP = dO V^T    dS = P (dP - D) with D = sum of dO O of each row    dQ += dS K    dK += dS^T Q
//! ```
//!
//! The slopes of keys and values travel with them, growing, and need one round more to come home.

use std::cmp::Ordering;

use burn::tensor::{Bool, Tensor, TensorData};
use mlsys_distributed::transport::CommError;
use mlsys_nn::flat_params;
use mlsys_nn::networks::{MASKED_SCORE, Positions, Transformer};

use super::collectives::Collectives;
use super::cut_pass::{WeightSlopes, leaf, slope_of};

/// What queries, keys and values are, all without autodiff.
#[derive(Clone)]
pub(super) struct QueryKeyValue {
    /// Of own tokens, `[batch, heads, own, head]`.
    pub(super) q: Tensor<4>,
    /// Of own tokens, `[batch, kv_heads, own, head]`.
    pub(super) k: Tensor<4>,
    pub(super) v: Tensor<4>,
}

#[derive(Clone)]
pub(super) struct AttentionOutput {
    /// What each head found, `[batch, heads, own, head]`.
    pub(super) mixed: Tensor<4>,
    /// The logarithm of each row's sum of exponentials, with the queries of a group stacked, `[batch, kv_heads, group own, 1]`.
    logarithm: Tensor<4>,
}

impl QueryKeyValue {
    /// What each own token takes from all tokens that are not ahead of it.
    pub(super) fn forward(
        &self,
        collectives: &mut Collectives<'_>,
    ) -> Result<AttentionOutput, CommError> {
        let (q, shape) = (self.stacked(self.q.clone()), self.q.dims());
        let (mut k, mut v) = (self.k.clone(), self.v.clone());
        let mut softmax: Option<Softmax> = None;
        let ranks = collectives.ranks();
        for round in 0..ranks {
            collectives.doing("computing attention");
            // Own keys come first, so that every row has seen a key before it meets one that tells it nothing.
            let order = token_order(collectives.rank(), round, ranks);
            if order != Ordering::Greater {
                let scores = self.scores(&q, &k, order);
                softmax = Some(match softmax {
                    None => Softmax::begin(scores, &v),
                    Some(softmax) => softmax.and(scores, &v),
                });
            }
            if round + 1 < ranks {
                [k, v] = exchange(collectives, "keys and values", [k, v])?;
            }
        }
        let Softmax { most, sum, weighted } =
            softmax.ok_or_else(|| CommError::Failed("has no keys of its own".to_owned()))?;
        Ok(AttentionOutput {
            mixed: (weighted / sum.clone()).reshape(shape),
            logarithm: most + sum.log(),
        })
    }

    /// The slopes of queries, keys and values from the slope of what was found.
    pub(super) fn backward(
        &self,
        found: &AttentionOutput,
        slope: Tensor<4>,
        collectives: &mut Collectives<'_>,
    ) -> Result<QueryKeyValue, CommError> {
        let (q, shape) = (self.stacked(self.q.clone()), self.q.dims());
        let (slope, mixed) = (self.stacked(slope), self.stacked(found.mixed.clone()));
        let level = (slope.clone() * mixed).sum_dim(3); // D, [batch, kv_heads, group own, 1]
        let scale = self.scale();
        let mut dq = q.zeros_like();
        let (mut k, mut v) = (self.k.clone(), self.v.clone());
        let (mut dk, mut dv) = (k.zeros_like(), v.zeros_like());
        let ranks = collectives.ranks();
        for round in 0..ranks {
            collectives.doing("computing the backward pass of attention");
            let order = token_order(collectives.rank(), round, ranks);
            if order != Ordering::Greater {
                let shares = (self.scores(&q, &k, order) - found.logarithm.clone()).exp();
                dv = dv + shares.clone().swap_dims(2, 3).matmul(slope.clone());
                let of_shares = slope.clone().matmul(v.clone().swap_dims(2, 3));
                let of_scores = shares * (of_shares - level.clone()) * scale;
                dq = dq + of_scores.clone().matmul(k.clone());
                dk = dk + of_scores.swap_dims(2, 3).matmul(q.clone());
            }
            if round + 1 < ranks {
                [k, v, dk, dv] =
                    exchange(collectives, "keys, values and their slopes", [k, v, dk, dv])?;
            } else {
                // The keys are not needed any more; their slopes go the last step home.
                [dk, dv] = exchange(collectives, "slopes of keys and values", [dk, dv])?;
            }
        }
        Ok(QueryKeyValue { q: dq.reshape(shape), k: dk, v: dv })
    }

    /// `[batch, heads, own, head]` with the queries that share a key/value head together, `[batch, kv_heads, group own, head]`.
    fn stacked(&self, x: Tensor<4>) -> Tensor<4> {
        let ([batch, heads, own, head], [_, kv_heads, _, _]) = (x.dims(), self.k.dims());
        x.reshape([batch, kv_heads, heads / kv_heads * own, head])
    }

    fn scale(&self) -> f64 {
        let [_, _, _, head] = self.q.dims();
        1.0 / (head as f64).sqrt()
    }

    /// q kᵀ / √head, `[batch, kv_heads, group own, own]`; forbidden where the key is ahead.
    fn scores(&self, q: &Tensor<4>, k: &Tensor<4>, order: Ordering) -> Tensor<4> {
        let scores = q.clone().matmul(k.clone().swap_dims(2, 3)) * self.scale();
        if order != Ordering::Equal {
            return scores;
        }
        let [_, _, rows, own] = scores.dims();
        let ahead = (0..rows).flat_map(|row| (0..own).map(move |key| key > row % own));
        let data = TensorData::new(ahead.collect::<Vec<bool>>(), [1, 1, rows, own]);
        let ahead = Tensor::<4, Bool>::from_data(data, &scores.device());
        let all = ahead.expand(scores.dims());
        scores.mask_fill(all, MASKED_SCORE)
    }

    fn without_autodiff(&self) -> Self {
        Self {
            q: self.q.clone().without_autodiff(),
            k: self.k.clone().without_autodiff(),
            v: self.v.clone().without_autodiff(),
        }
    }
}

/// The origin of the keys held in a round: a rank's own first, then those of the previous rank, and so on.
pub(super) fn holder(rank: usize, round: usize, ranks: usize) -> usize {
    (rank + ranks - round % ranks) % ranks
}

/// Position of the held keys relative to the tokens of a rank: before them, the same, or after them and masked.
fn token_order(rank: usize, round: usize, ranks: usize) -> Ordering {
    holder(rank, round, ranks).cmp(&rank)
}

fn exchange<const N: usize>(
    collectives: &mut Collectives<'_>,
    what: &'static str,
    tensors: [Tensor<4>; N],
) -> Result<[Tensor<4>; N], CommError> {
    let shapes = tensors.each_ref().map(Tensor::dims);
    let count = |shape: &[usize; 4]| shape.iter().product::<usize>();
    let all: usize = shapes.iter().map(count).sum();
    let rows = tensors.map(|tensor| tensor.reshape([-1])).to_vec();
    let numbers: Vec<f32> = flat_params::numbers::<1>(Tensor::cat(rows, 0), all)?;
    let came = collectives.pass_on(what, numbers)?;
    let mut begin = 0;
    Ok(shapes.map(|shape| {
        let end = begin + count(&shape);
        let own = came[begin..end].to_vec();
        begin = end;
        collectives.tensor(own, shape)
    }))
}

/// A softmax that has seen some of its row, with the values it weighs.
struct Softmax {
    /// The largest score so far, `[.., rows, 1]`.
    most: Tensor<4>,
    /// The sum of exp(score - most), `[.., rows, 1]`.
    sum: Tensor<4>,
    /// The sum of exp(score - most) times the value, `[.., rows, head]`.
    weighted: Tensor<4>,
}

impl Softmax {
    fn begin(scores: Tensor<4>, v: &Tensor<4>) -> Self {
        let most = scores.clone().max_dim(3);
        let shares = (scores - most.clone()).exp();
        Self { most, sum: shares.clone().sum_dim(3), weighted: shares.matmul(v.clone()) }
    }

    /// The same with more of the row: what was summed under a smaller maximum is scaled down.
    fn and(self, scores: Tensor<4>, v: &Tensor<4>) -> Self {
        let more = Self::begin(scores, v);
        let most = self.most.clone().max_pair(more.most.clone());
        let (old, new) = ((self.most - most.clone()).exp(), (more.most - most.clone()).exp());
        Self {
            most,
            sum: self.sum * old.clone() + more.sum * new.clone(),
            weighted: self.weighted * old + more.weighted * new,
        }
    }
}

// Forward and backward where each rank has its part of every sequence and all weights: only attention looks at other
// tokens, so only there anything is sent.

pub(super) struct SavedBlock {
    /// A leaf: rows that came in, before attention.
    x: Tensor<2>,
    attended: QueryKeyValue,
    found: AttentionOutput,
    /// Leaves again: the rows past attention, and what its heads found.
    past: Tensor<2>,
    mixed: Tensor<4>,
    end: Tensor<2>,
}

pub(super) struct ContextPass<'a, 'p> {
    pub(super) network: &'a Transformer,
    pub(super) collectives: &'a mut Collectives<'p>,
    pub(super) batch: usize,
}

impl ContextPass<'_, '_> {
    /// Own rows of vectors through all blocks, `[rows, width]` to the same, without autodiff.
    pub(super) fn forward(
        &mut self,
        mut x: Tensor<2>,
        at: &Positions,
    ) -> Result<(Tensor<2>, Vec<SavedBlock>), CommError> {
        let mut saved = Vec::with_capacity(self.network.blocks.len());
        for block in &self.network.blocks {
            self.collectives.doing("computing the forward pass of a block");
            let own = leaf(x.clone());
            let normal = block.attention_norm.forward(own.clone());
            let [q, k, v] = block.attention.project(normal, self.batch, at);
            let attended = QueryKeyValue { q, k, v };
            let found = attended.without_autodiff().forward(self.collectives)?;
            let (past, mixed) = (leaf(x), leaf(found.mixed.clone()));
            let between = past.clone() + block.attention.join(mixed.clone());
            let normal = block.mlp_norm.forward(between.clone());
            let end = between + block.mlp.forward(normal);
            x = end.clone().without_autodiff();
            saved.push(SavedBlock { x: own, attended, found, past, mixed, end });
        }
        Ok((x, saved))
    }

    /// The slope of the last rows to that of the first; slopes of all weights on the way are collected.
    pub(super) fn backward(
        &mut self,
        saved: Vec<SavedBlock>,
        mut slope: Tensor<2>,
        slopes: &mut WeightSlopes,
    ) -> Result<Tensor<2>, CommError> {
        let network = self.network;
        for (block, ran) in network.blocks.iter().zip(saved).rev() {
            self.collectives.doing("computing the backward pass of a block");
            let mut gradients = (ran.end * slope).sum().backward();
            let past = slope_of(&ran.past, &mut gradients)?;
            let mixed = slope_of(&ran.mixed, &mut gradients)?;
            slopes.take(block, &mut gradients);
            let plain = ran.attended.without_autodiff();
            let back = plain.backward(&ran.found, mixed, self.collectives)?;
            let attended = ran.attended;
            let along = (attended.q * back.q).sum() + (attended.k * back.k).sum();
            let mut gradients = (along + (attended.v * back.v).sum()).backward();
            slope = past + slope_of(&ran.x, &mut gradients)?;
            slopes.take(block, &mut gradients);
        }
        Ok(slope)
    }
}
