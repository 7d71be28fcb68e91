//! Kernels with outputs and counts by hand, the semantics of C, every fault, and every complaint.

mod classics;
mod debugger;
mod diagnostics;
mod robust;
mod semantics;
mod wgsl;

use crate::*;

/// A launch of a text on buffers, run to its end.
pub(super) fn ran(text: &str, launch: Launch, arguments: &[Argument]) -> Machine {
    let mut machine = started(text, launch, arguments);
    assert_eq!(machine.run(10_000_000), Progress::Finished, "{text}");
    machine
}

pub(super) fn started(text: &str, launch: Launch, arguments: &[Argument]) -> Machine {
    let kernel = Kernel::parse("test.cu", text).unwrap_or_else(|refused| panic!("{refused}"));
    kernel.launch(launch, arguments).unwrap_or_else(|error| panic!("{error}"))
}

pub(super) fn all(machine: &Machine, buffer: &str) -> Vec<f64> {
    (0..).map_while(|element| machine.element(buffer, element)).collect()
}

pub(super) fn poison(count: usize) -> Argument {
    Argument::Buffer(Values::Poison(count))
}
