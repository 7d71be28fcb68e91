//! How what each worker has becomes what all have: gradients as plain sums or compressed, weights, an optimizer's state.

use super::{GRADIENT, Replica, STATE, WEIGHTS, cut};
use crate::train_data_parallel::compress::Compression;
use crate::train_data_parallel::task::{LeftOut, SAMPLED, Scheme, Zero};
use mlsys_distributed::collective::{carry_out, share};
use mlsys_distributed::transport::{CommError, Endpoint, Tag};
use mlsys_nn::flat_params;

impl Replica {
    /// From its own gradient to the mean of all, as far as it holds that. Gives back a few numbers of what it gave in.
    pub(super) fn exchange(
        &mut self,
        gradient: &mut Vec<f32>,
        scheme: &Scheme,
        endpoint: &mut Endpoint,
    ) -> Result<Vec<f32>, CommError> {
        let samples = if scheme.compression == Compression::None {
            let samples = samples(scheme, gradient);
            let plan = match self.zero {
                Zero::Nothing => &scheme.all_reduce,
                Zero::Optimizer | Zero::Gradients | Zero::Weights => &scheme.scatter,
            };
            carry_out(plan, endpoint, GRADIENT, gradient)?;
            samples
        } else {
            self.exchange_compressed(gradient, scheme, endpoint)?
        };
        let workers = self.workers as f32;
        gradient.iter_mut().for_each(|sum| *sum /= workers);
        match self.zero {
            Zero::Nothing | Zero::Optimizer => {}
            Zero::Gradients | Zero::Weights => {
                *gradient = cut(gradient, scheme.gather.split().piece(self.rank));
            }
        }
        Ok(samples)
    }

    fn exchange_compressed(
        &mut self,
        gradient: &mut [f32],
        scheme: &Scheme,
        endpoint: &mut Endpoint,
    ) -> Result<Vec<f32>, CommError> {
        endpoint.doing("compressing its gradient");
        for (g, left) in gradient.iter_mut().zip(&self.left_out) {
            *g += left;
        }
        let packed = scheme.compression.pack(gradient);
        self.left_out = match scheme.left_out {
            LeftOut::Lost => Vec::new(),
            LeftOut::Kept => {
                let mut sent = vec![0.0; gradient.len()];
                packed.add_to(&mut sent);
                let pairs = gradient.iter().zip(sent);
                pairs.map(|(g, sent)| g - sent).collect()
            }
        };
        const WHAT: &str = "compressed gradient";
        let samples = packed.first(SAMPLED);
        let all = share(&scheme.share, endpoint, WHAT, packed)?;
        gradient.fill(0.0);
        // In the order of ranks, so that all get the same bits.
        for (from, packed) in all.iter().enumerate() {
            if !packed.add_to(gradient) {
                let what = format!("it does not stand for {} numbers", gradient.len());
                let tag = Tag { what: WHAT, index: from };
                return Err(CommError::Mismatch { from, tag, what });
            }
        }
        Ok(samples)
    }

    /// Everybody's weights become the mean of all. Gives back a few of what they were.
    pub(super) fn average_weights(
        &mut self,
        scheme: &Scheme,
        endpoint: &mut Endpoint,
    ) -> Result<Vec<f32>, CommError> {
        let Some(network) = self.network.take() else {
            return Ok(Vec::new());
        };
        let mut weights = flat_params::weights(&network)?;
        let samples = samples(scheme, &weights);
        self.average(&mut weights, WEIGHTS, scheme, endpoint)?;
        self.network = Some(flat_params::with_weights(network, &weights));
        Ok(samples)
    }

    /// Makes workers alike that went their own ways: weights and the optimizer's state become the mean of all. Gradients
    /// that still wait are each worker's own, of weights that nobody has any more: they are given up.
    pub(super) fn join(
        &mut self,
        scheme: &Scheme,
        endpoint: &mut Endpoint,
    ) -> Result<(), CommError> {
        endpoint.doing("becoming like the others");
        self.average_weights(scheme, endpoint)?;
        let mut optimizer = std::mem::take(&mut self.optimizer);
        for row in optimizer.state(scheme.all_reduce.elements()) {
            self.average(row, STATE, scheme, endpoint)?;
        }
        self.optimizer = optimizer;
        self.late.clear();
        Ok(())
    }

    /// A row becomes the mean of everybody's.
    fn average(
        &self,
        row: &mut [f32],
        what: &'static str,
        scheme: &Scheme,
        endpoint: &mut Endpoint,
    ) -> Result<(), CommError> {
        carry_out(&scheme.all_reduce, endpoint, what, row)?;
        let workers = self.workers as f32;
        row.iter_mut().for_each(|sum| *sum /= workers);
        Ok(())
    }
}

/// The first numbers of each chunk, gaps where there are fewer.
fn samples(scheme: &Scheme, gradient: &[f32]) -> Vec<f32> {
    let split = scheme.all_reduce.split();
    let chunk = |piece| {
        let chunk = gradient.get(split.piece(piece)).unwrap_or_default();
        (0..SAMPLED).map(|k| chunk.get(k).copied().unwrap_or(f32::NAN))
    };
    (0..split.pieces()).flat_map(chunk).collect()
}
