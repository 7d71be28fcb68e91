//! Kernels in CUDA C through the interpreter and on every device that is here, held against each other element by
//! element: the folder `corpus`, a kernel a file, and kernels written at random.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod corpus;
mod devices;
mod entry;
mod generator;
mod lowering;
mod random;
mod refusals;

use mlsys_kernel::{Argument, Kernel, Launch, LaunchRequest, Machine, Progress};

/// Warp instructions that no kernel here needs.
const BUDGET: u64 = 5_000_000;

/// A kernel with what it is launched on.
pub(crate) struct Case {
    pub(crate) file: String,
    pub(crate) source: String,
    pub(crate) kernel: Kernel,
    pub(crate) launch: Launch,
    pub(crate) arguments: Vec<Argument>,
}

impl Case {
    /// The launch, before its first instruction.
    pub(crate) fn start(&self) -> Machine {
        self.kernel
            .launch(self.launch.clone(), &self.arguments)
            .unwrap_or_else(|error| panic!("{}: {error}", self.file))
    }

    /// The launch by the interpreter, which must end and find nothing.
    pub(crate) fn ended(&self) -> Machine {
        let mut machine = self.start();
        machine.run(BUDGET);
        assert_eq!(machine.progress(), Progress::Finished, "{}", self.file);
        let findings = machine.findings();
        assert!(findings.is_clean(), "{}: {:?}", self.file, findings.first());
        machine
    }

    /// The same as a device takes it.
    pub(crate) fn work<'a>(&'a self, start: &'a Machine) -> LaunchRequest<'a> {
        LaunchRequest { kernel: &self.kernel, source: &self.source, file: &self.file, start }
    }
}
