//! How the program ends: the exit codes, and the errors that lead to one.

use std::io::{self, Write};

use mlsys_lab::LabError;
use mlsys_lab::device::NoDevice;
use mlsys_lab::registry::UnknownKind;

use crate::record::RecordError;

/// The exit codes, in the order in which the first that applies wins; passing is what is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Ctrl-C or a request to terminate.
    Interrupted,
    /// Something was typed wrong, or a lesson is not valid.
    Usage,
    /// A device that is needed is missing.
    DeviceMissing,
    /// A run failed: out of memory, device lost, too slow, not finite.
    RunFailed,
    /// A check or an answer failed.
    CheckFailed,
    /// All passed.
    Passed,
}

impl Exit {
    /// The number the operating system sees.
    pub fn code(self) -> u8 {
        match self {
            Self::Interrupted => 130,
            Self::Usage => 2,
            Self::DeviceMissing => 3,
            Self::RunFailed => 4,
            Self::CheckFailed => 1,
            Self::Passed => 0,
        }
    }

    /// The graver of two ends.
    pub fn and(self, other: Self) -> Self {
        self.min(other)
    }

    /// Ends the program, without the clean-up that libraries ask for at exit: a driver's threads may be at work, such
    /// as those that look for devices, and a driver taken apart beneath its own threads crashes.
    #[cfg(unix)]
    pub fn leave(self) -> ! {
        let _ = io::stdout().flush();
        signal_hook::low_level::exit(self.code().into())
    }

    /// Ends the program.
    #[cfg(not(unix))]
    pub fn leave(self) -> ! {
        let _ = io::stdout().flush();
        std::process::exit(self.code().into())
    }
}

/// Why a command could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Standard output was closed by its reader, which is no error.
    #[error("standard output is closed")]
    Closed,
    /// Something was typed wrong, or a file that was named cannot be used.
    #[error("{0}")]
    Usage(String),
    /// A device that is needed is missing.
    #[error("{0}")]
    Device(#[from] NoDevice),
    /// A run failed.
    #[error("{0}")]
    Run(String),
    /// Ctrl-C.
    #[error("interrupted{0}")]
    Interrupted(String),
    /// Output could not be written.
    #[error("output cannot be written: {0}")]
    Output(io::Error),
}

impl Failure {
    /// What was typed wrong.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    /// The exit code it leads to.
    pub fn exit(&self) -> Exit {
        match self {
            Self::Closed => Exit::Passed,
            Self::Usage(_) => Exit::Usage,
            Self::Device(_) => Exit::DeviceMissing,
            Self::Run(_) | Self::Output(_) => Exit::RunFailed,
            Self::Interrupted(_) => Exit::Interrupted,
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe { Self::Closed } else { Self::Output(error) }
    }
}

impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Self {
        Self::Usage(error.to_string())
    }
}

impl From<UnknownKind> for Failure {
    fn from(unknown: UnknownKind) -> Self {
        Self::Usage(unknown.to_string())
    }
}

/// The exit code that an error of a lab leads to.
pub fn of_lab_error(error: &LabError) -> Exit {
    match error {
        LabError::Param(_) | LabError::Contradiction { .. } | LabError::Expression { .. } => {
            Exit::Usage
        }
        LabError::Device { .. } | LabError::Worker(_) => Exit::DeviceMissing,
        LabError::NotFinite { .. } | LabError::Data(_) | LabError::Failed { .. } => Exit::RunFailed,
    }
}

#[cfg(test)]
mod tests {
    use super::Exit;

    #[test]
    fn the_first_that_applies_of_130_2_3_4_1_wins() {
        let order = [130, 2, 3, 4, 1, 0];
        let exits = [
            Exit::CheckFailed,
            Exit::Passed,
            Exit::RunFailed,
            Exit::DeviceMissing,
            Exit::Interrupted,
            Exit::Usage,
        ];
        for a in exits {
            for b in exits {
                let first = order.iter().find(|code| [a.code(), b.code()].contains(code));
                assert_eq!(Some(&a.and(b).code()), first);
            }
        }
    }
}
