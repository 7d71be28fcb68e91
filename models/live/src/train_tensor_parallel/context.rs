//! Forward and backward where each rank has its part of every sequence and all weights: only attention looks at other
//! tokens, so only there anything is sent.

use burn::tensor::Tensor;

use super::link::Link;
use super::ring::{Found, Looking};
use super::slopes::{Slopes, leaf, slope_of};
use mlsys_distributed::transport::CommError;
use mlsys_nn::nets::{Positions, Transformer};

/// A block that has run forward.
struct Ran {
    /// A leaf: rows that came in, before attention.
    x: Tensor<2>,
    /// Queries, keys and values of them.
    looking: Looking,
    /// What attention found.
    found: Found,
    /// Leaves again: the rows past attention, and what its heads found.
    past: Tensor<2>,
    mixed: Tensor<4>,
    /// The rows that the block ends with.
    end: Tensor<2>,
}

/// A rank's way through the blocks.
pub(super) struct Pass<'a, 'p> {
    pub(super) network: &'a Transformer,
    pub(super) link: &'a mut Link<'p>,
    /// Sequences.
    pub(super) batch: usize,
}

/// All blocks, from the input on.
pub(super) struct Walked(Vec<Ran>);

impl Pass<'_, '_> {
    /// Own rows of vectors through all blocks, `[rows, width]` to the same, without autodiff.
    pub(super) fn forward(
        &mut self,
        mut x: Tensor<2>,
        at: &Positions,
    ) -> Result<(Tensor<2>, Walked), CommError> {
        let mut walked = Vec::with_capacity(self.network.blocks.len());
        for block in &self.network.blocks {
            self.link.doing("computing the forward pass of a block");
            let own = leaf(x.clone());
            let normal = block.attention_norm.forward(own.clone());
            let (q, k, v) = block.attention.project(normal, self.batch, at);
            let looking = Looking { q, k, v };
            let found = looking.without_autodiff().forward(self.link)?;
            let (past, mixed) = (leaf(x), leaf(found.mixed.clone()));
            let between = past.clone() + block.attention.join(mixed.clone());
            let normal = block.mlp_norm.forward(between.clone());
            let end = between + block.mlp.forward(normal);
            x = end.clone().without_autodiff();
            walked.push(Ran { x: own, looking, found, past, mixed, end });
        }
        Ok((x, Walked(walked)))
    }

    /// The slope of the last rows to that of the first; slopes of all weights on the way are collected.
    pub(super) fn backward(
        &mut self,
        walked: Walked,
        mut slope: Tensor<2>,
        slopes: &mut Slopes,
    ) -> Result<Tensor<2>, CommError> {
        let network = self.network;
        for (block, ran) in network.blocks.iter().zip(walked.0).rev() {
            self.link.doing("computing the backward pass of a block");
            let mut gradients = (ran.end * slope).sum().backward();
            let past = slope_of(&ran.past, &mut gradients)?;
            let mixed = slope_of(&ran.mixed, &mut gradients)?;
            slopes.take(block, &mut gradients);
            let plain = ran.looking.without_autodiff();
            let back = plain.backward(&ran.found, mixed, self.link)?;
            let looking = ran.looking;
            let along = (looking.q * back.q).sum() + (looking.k * back.k).sum();
            let mut gradients = (along + (looking.v * back.v).sum()).backward();
            slope = past + slope_of(&ran.x, &mut gradients)?;
            slopes.take(block, &mut gradients);
        }
        Ok(slope)
    }
}

impl Looking {
    /// The same numbers outside burn's graph.
    fn without_autodiff(&self) -> Self {
        Self {
            q: self.q.clone().without_autodiff(),
            k: self.k.clone().without_autodiff(),
            v: self.v.clone().without_autodiff(),
        }
    }
}
