//! Why a run ends before its last step.

use mlsys_lab::{LabError, Run};

use mlsys_nn::flat_params::ReadError;

use crate::transport::CommError;

/// Why a run ends before its last step.
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
    ///
    /// # Errors
    /// If it failed.
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
