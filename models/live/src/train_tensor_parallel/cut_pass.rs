//! Forward and backward through a transformer with matrices cut over ranks (Shoeybi et al. 2019, section 3), or
//! with its sequence cut around them as well (Korthikanti et al. 2022, section 4.2).
//!
//! Each half of a block is `x + cut(norm(x))`. Between the norm and the cut matrices the rows *enter*, behind them they
//! *leave*. Messages cannot be differentiated by burn, so its graph ends at each of them and begins anew with a leaf: the
//! slope of what came is given to what was sent by the operation's own transpose, which is a message again.
//!
//! ```text
//!                   forward                    backward, its transpose
//! tensor            enter   nothing            all-reduce
//!                   leave   all-reduce         nothing
//! tensor-sequence   enter   all-gather         reduce-scatter
//!                   leave   reduce-scatter     all-gather
//! ```
//!
//! Why the slope is summed where rows enter: each rank's columns give a slope of the same rows of the norm, and the rows
//! serve all of them. The cut lies behind the norm, so that the norm's own factors get the whole slope on every rank.

use burn::module::{Module, ModuleVisitor, Param};
use burn::optim::GradientsParams;
use burn::tensor::{Gradients, Tensor};
use mlsys_distributed::transport::CommError;
use mlsys_nn::flat_params;
use mlsys_nn::networks::{Positions, RmsNorm, Transformer};

use super::collectives::Collectives;
use super::params::{Mode, Sums};

pub(super) struct SavedHalf {
    /// A leaf: rows that came in, own rows.
    x: Tensor<2>,
    normal: Tensor<2>,
    /// A leaf: what came of its messages, all rows.
    entered: Tensor<2>,
    /// A term of the sum that the half adds, all rows.
    term: Tensor<2>,
}

pub(super) struct CutPass<'a, 'p> {
    pub(super) network: &'a Transformer,
    pub(super) collectives: &'a mut Collectives<'p>,
    pub(super) mode: Mode,
    pub(super) sums: Sums,
    pub(super) batch: usize,
}

impl CutPass<'_, '_> {
    /// Rows of vectors through all blocks, `[rows, width]` to the same, without autodiff.
    pub(super) fn forward(
        &mut self,
        mut x: Tensor<2>,
        at: &Positions,
    ) -> Result<(Tensor<2>, Vec<SavedHalf>), CommError> {
        let mut halves = Vec::with_capacity(2 * self.network.blocks.len());
        let (network, batch) = (self.network, self.batch);
        for block in &network.blocks {
            let attend = |rows| block.attention.forward(rows, batch, at);
            x = self.half(x, &block.attention_norm, attend, &mut halves)?;
            let change = |rows| block.mlp.forward(rows);
            x = self.half(x, &block.mlp_norm, change, &mut halves)?;
        }
        Ok((x, halves))
    }

    /// The slope of the last rows to that of the first; slopes of all weights on the way are collected.
    pub(super) fn backward(
        &mut self,
        saved: Vec<SavedHalf>,
        mut slope: Tensor<2>,
        found: &mut WeightSlopes,
    ) -> Result<Tensor<2>, CommError> {
        let network = self.network;
        for (index, half) in saved.into_iter().enumerate().rev() {
            let block = &network.blocks[index / 2];
            self.collectives.doing("computing the backward pass of a block");
            let whole = self.gather(slope.clone())?;
            let mut gradients = (half.term * whole).sum().backward();
            let entering = slope_of(&half.entered, &mut gradients)?;
            let norm = if index % 2 == 0 {
                found.take(&block.attention, &mut gradients);
                &block.attention_norm
            } else {
                found.take(&block.mlp, &mut gradients);
                &block.mlp_norm
            };
            let entering = self.sum(entering)?;
            let mut gradients = (half.normal * entering).sum().backward();
            slope = slope + slope_of(&half.x, &mut gradients)?;
            found.take(norm, &mut gradients);
        }
        Ok(slope)
    }

    fn half(
        &mut self,
        x: Tensor<2>,
        norm: &RmsNorm,
        cut: impl Fn(Tensor<2>) -> Tensor<2>,
        halves: &mut Vec<SavedHalf>,
    ) -> Result<Tensor<2>, CommError> {
        self.collectives.doing("computing the forward pass of a block");
        let own = leaf(x.clone());
        let normal = norm.forward(own.clone());
        let entered = leaf(self.gather(normal.clone().without_autodiff())?);
        let term = cut(entered.clone());
        let sum = self.leave(term.clone().without_autodiff())?;
        halves.push(SavedHalf { x: own, normal, entered, term });
        Ok(x + sum)
    }

    /// Own rows as all rows: what enters, and the slope of what leaves.
    fn gather(&mut self, own: Tensor<2>) -> Result<Tensor<2>, CommError> {
        match self.mode {
            Mode::Tensor | Mode::Context => Ok(own),
            Mode::TensorSequence => self.collectives.all_gather(own, self.batch),
        }
    }

    /// The sum of all ranks' terms as own rows: what leaves, and the slope of what enters.
    fn sum(&mut self, term: Tensor<2>) -> Result<Tensor<2>, CommError> {
        match self.mode {
            Mode::Tensor | Mode::Context => self.collectives.all_reduce(term),
            Mode::TensorSequence => self.collectives.reduce_scatter(term, self.batch),
        }
    }

    fn leave(&mut self, term: Tensor<2>) -> Result<Tensor<2>, CommError> {
        match (self.sums, self.mode) {
            (Sums::Done, _) => self.sum(term),
            // One term of the sum for the sum.
            (Sums::LeftOut, Mode::Tensor | Mode::Context) => Ok(term),
            (Sums::LeftOut, Mode::TensorSequence) => {
                Ok(self.collectives.own_tokens(term, self.batch))
            }
        }
    }
}

// Where burn's graph begins and ends: leaves, and the slopes of a rank's weights, collected piece by piece.

pub(super) struct WeightSlopes(GradientsParams);

impl WeightSlopes {
    pub(super) fn none() -> Self {
        Self(GradientsParams::new())
    }

    /// Takes a part's gradients out of a backward pass; every weight lies in one piece, so that nothing is added.
    pub(super) fn take<M: Module>(&mut self, part: &M, gradients: &mut Gradients) {
        struct Move<'a>(GradientsParams, &'a mut GradientsParams);
        impl ModuleVisitor for Move<'_> {
            fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
                if let Some(slope) = self.0.remove::<D>(param.id) {
                    self.1.register(param.id, slope);
                }
            }
        }
        let found = GradientsParams::from_module(gradients, part);
        part.visit(&mut Move(found, &mut self.0));
    }

    /// All of them as a row, in the order in which the network names its weights.
    pub(super) fn row(mut self, network: &Transformer) -> Result<Vec<f32>, CommError> {
        Ok(flat_params::gradients(network, &mut self.0)?)
    }
}

/// The same numbers as the beginning of a new graph.
pub(super) fn leaf<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    x.autodiff().require_grad()
}

pub(super) fn slope_of<const D: usize>(
    leaf: &Tensor<D>,
    gradients: &mut Gradients,
) -> Result<Tensor<D>, CommError> {
    let lost = || CommError::Failed("found no slope where its graph begins".to_owned());
    leaf.grad_remove(gradients).ok_or_else(lost)
}
