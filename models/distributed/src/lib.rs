//! Training on several workers, each a thread with its own device handle; the numbers that travel are the real ones.
//!
//! [`transport`] carries messages with a time limit on every wait and counts them; [`worker_pool`] gives workers their orders
//! and turns any failure (panic, early end, hang, wrong shape) into one sentence about its root cause. [`collective`] carries
//! out one worker's part of a plan of `mlsys_sim::collective`, which is also what is counted, timed by the model and drawn.
//! [`model`] is the trained model, [`reference`] a single worker on the whole batch for comparison.
//!
//! Workers do not multiply threads: all of them hand the large operations of the processor's back end to one pool with as
//! many threads as cores, and a worker that waits for a message sleeps.

pub mod collective;
pub mod model;
pub mod reference;
pub mod transport;
pub mod worker_pool;

use crate::transport::CommError;
use mlsys_lab::{LabError, Run};
use mlsys_nn::flat_params::ReadError;

#[derive(Debug)]
pub enum StepError {
    Stopped,
    Failed(LabError),
    /// What it computes by itself, without workers, went wrong.
    Comm(CommError),
}

impl From<LabError> for StepError {
    fn from(error: LabError) -> Self {
        Self::Failed(error)
    }
}

impl From<CommError> for StepError {
    fn from(error: CommError) -> Self {
        Self::Comm(error)
    }
}

impl From<ReadError> for StepError {
    fn from(error: ReadError) -> Self {
        Self::Comm(error.into())
    }
}

impl StepError {
    /// Ends the run: to have been asked for it is no failure.
    pub fn end(self, run: &mut Run<'_>) -> Result<(), LabError> {
        let reason = match self {
            Self::Stopped => {
                // The control notes why.
                run.control.must_end();
                return Ok(());
            }
            Self::Failed(error) => return Err(error),
            Self::Comm(CommError::Failed(what)) => format!("the run {what}"),
            // A run without workers waits for no message.
            Self::Comm(
                CommError::TimedOut { .. }
                | CommError::Disconnected { .. }
                | CommError::Mismatch { .. }
                | CommError::Aborted,
            ) => "the run was ended".to_owned(),
        };
        let device = run.device;
        Err(LabError::Failed { device, reason })
    }
}
