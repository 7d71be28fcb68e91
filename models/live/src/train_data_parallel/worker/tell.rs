//! What a worker tells of a step when it is over, and nobody times it any more.

use super::{Replica, bytes, cut};
use crate::train_data_parallel::task::{Answer, Average, Broken, Held, Row, Want, Zero};
use mlsys_distributed::transport::CommError;
use mlsys_nn::flat_params;

/// What a step leaves to be told.
#[derive(Default)]
pub(super) struct Left {
    pub(super) loss: Option<f64>,
    pub(super) average: Average,
    pub(super) samples: Vec<f32>,
    /// Bytes of the gradient, once it was summed.
    pub(super) gradient: u64,
    /// The gradient that was applied last; nothing if none was due.
    pub(super) applied: Option<Vec<f32>>,
    /// All weights as they were put together for the forward pass, where they are sharded.
    pub(super) seen: Option<Vec<f32>>,
}

impl Replica {
    /// What it has to say of the step that it did last.
    pub(super) fn tell(&mut self, rows: Want) -> Result<Answer, CommError> {
        let left = std::mem::take(&mut self.left);
        let row = match rows {
            Want::Yes => self.row(left.applied, left.average)?,
            Want::No => None,
        };
        let weights = match &self.network {
            Some(network) => flat_params::weights(network)?,
            None => self.shard.clone(),
        };
        Ok(Answer {
            loss: left.loss,
            digest: Some(hash(left.seen.as_ref().unwrap_or(&weights))),
            broken: if weights.iter().all(|weight| weight.is_finite()) {
                Broken::No
            } else {
                Broken::Yes
            },
            held: Held {
                weights: bytes(weights.len()),
                gradient: left.gradient,
                optimizer: self.optimizer.bytes(),
                left_out: bytes(self.left_out.len()),
                late: self.late.iter().map(|late| bytes(late.len())).sum(),
            },
            row,
            samples: left.samples,
        })
    }

    /// What it tells of gradient and weights: nothing where another tells the same.
    fn row(&self, applied: Option<Vec<f32>>, average: Average) -> Result<Option<Row>, CommError> {
        if self.zero == Zero::Nothing && average == Average::Gradients && self.rank > 0 {
            return Ok(None);
        }
        let mut row = self.own()?;
        row.gradient = applied.unwrap_or_else(|| vec![0.0; row.weights.len()]);
        Ok(Some(row))
    }

    /// The weights that it answers for.
    fn own(&self) -> Result<Row, CommError> {
        let weights = match &self.network {
            Some(network) => flat_params::weights(network)?,
            None => {
                let all = self.architecture.parameters() as usize;
                let split = mlsys_sim::collective::Split::new(all, self.workers);
                return Ok(Row {
                    range: split.piece(self.rank),
                    gradient: Vec::new(),
                    weights: self.shard.clone(),
                });
            }
        };
        let split = mlsys_sim::collective::Split::new(weights.len(), self.workers);
        Ok(match self.zero {
            Zero::Nothing => Row { range: 0..weights.len(), gradient: Vec::new(), weights },
            Zero::Optimizer | Zero::Gradients | Zero::Weights => Row {
                range: split.piece(self.rank),
                gradient: Vec::new(),
                weights: cut(&weights, split.piece(self.rank)),
            },
        })
    }

    pub(super) fn show(&self) -> Result<Answer, CommError> {
        Ok(Answer { row: Some(self.own()?), ..Answer::default() })
    }
}

/// FNV-1a over the bits of numbers.
fn hash(numbers: &[f32]) -> u64 {
    numbers.iter().fold(0xcbf2_9ce4_8422_2325, |hash, number| {
        (hash ^ u64::from(number.to_bits())).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
