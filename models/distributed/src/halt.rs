//! Why a run ends before its last step.

use mlsys_lab::{LabError, Run};

use mlsys_nn::flat::ReadError;

use crate::wire::Trouble;

/// Why a run goes no further.
#[derive(Debug)]
pub enum Halt {
    /// Somebody ended it.
    Asked,
    /// It failed.
    Failed(LabError),
    /// What it computes by itself, without workers, went wrong.
    Broken(Trouble),
}

impl From<LabError> for Halt {
    fn from(error: LabError) -> Self {
        Self::Failed(error)
    }
}

impl From<Trouble> for Halt {
    fn from(trouble: Trouble) -> Self {
        Self::Broken(trouble)
    }
}

impl From<ReadError> for Halt {
    fn from(error: ReadError) -> Self {
        Self::Broken(error.into())
    }
}

impl Halt {
    /// Ends the run: to have been asked for it is no failure.
    ///
    /// # Errors
    /// If it failed.
    pub fn end(self, run: &mut Run<'_>) -> Result<(), LabError> {
        let reason = match self {
            Self::Asked => {
                // The control notes why.
                run.control.must_end();
                return Ok(());
            }
            Self::Failed(error) => return Err(error),
            Self::Broken(Trouble::Failed(what)) => format!("the run {what}"),
            // Who works alone waits for nobody.
            Self::Broken(
                Trouble::Late { .. }
                | Trouble::Gone { .. }
                | Trouble::Wrong { .. }
                | Trouble::Aborted,
            ) => "the run was ended".to_owned(),
        };
        let device = run.device;
        Err(LabError::Failed { device, reason })
    }
}
