//! Where burn's graph begins and ends: leaves, and the slopes of a rank's weights, collected piece by piece.

use burn::module::{Module, ModuleVisitor, Param};
use burn::optim::GradientsParams;
use burn::tensor::{Gradients, Tensor};

use mlsys_distributed::transport::CommError;
use mlsys_nn::flat_params;
use mlsys_nn::nets::Transformer;

/// Slopes of weights so far.
pub(super) struct Slopes(GradientsParams);

impl Slopes {
    /// None yet.
    pub(super) fn none() -> Self {
        Self(GradientsParams::new())
    }

    /// Takes those of a part of the network out of what a backward pass found. Every weight lies in one piece only, so
    /// that nothing is added.
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
    ///
    /// # Errors
    /// If the device gives back something else than numbers.
    pub(super) fn row(mut self, network: &Transformer) -> Result<Vec<f32>, CommError> {
        Ok(flat_params::gradients(network, &mut self.0)?)
    }
}

/// The same numbers as the beginning of a new graph.
pub(super) fn leaf<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    x.autodiff().require_grad()
}

/// The slope of a leaf.
pub(super) fn slope_of<const D: usize>(
    leaf: &Tensor<D>,
    gradients: &mut Gradients,
) -> Result<Tensor<D>, CommError> {
    let lost = || CommError::Failed("found no slope where its graph begins".to_owned());
    leaf.grad_remove(gradients).ok_or_else(lost)
}
