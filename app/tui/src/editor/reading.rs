//! Reading a kernel's text on a thread: what is asked for, and what waits for the answer.

use mlsys_kernel::{Diagnostic, Kernel};
use mlsys_run::storage::Draft;

/// A text to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelText {
    pub source: KernelSource,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KernelSource {
    /// The open editor, at this revision of all that were typed in the session.
    Editor(u64),
    /// A draft that another program saved while its editor is closed.
    Saved(Draft),
}

#[derive(Debug)]
pub struct KernelRead {
    pub kernel: KernelText,
    pub complaints: Vec<Diagnostic>,
}

impl KernelText {
    pub fn read(self) -> KernelRead {
        let complaints = match Kernel::parse("kernel.cu", &self.text) {
            Ok(_) => Vec::new(),
            Err(refused) => refused.diagnostics,
        };
        KernelRead { kernel: self, complaints }
    }
}

/// What the complaints of an editor are about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// An earlier text, or none; the text has to be read.
    #[default]
    Due,
    /// The text of this revision is being read.
    Going(u64),
    /// The text has changed since the one of this revision was given away.
    Behind(u64),
    Current,
}

impl Reading {
    /// The text has changed.
    pub fn changed(self) -> Self {
        match self {
            Self::Going(revision) | Self::Behind(revision) => Self::Behind(revision),
            Self::Due | Self::Current => Self::Due,
        }
    }
}

/// What is done once the text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    Run,
    /// Run it if nothing is wrong, and say nothing otherwise.
    RunIfSound,
    NextComplaint,
}
