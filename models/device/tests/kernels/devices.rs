//! The devices of this machine that run kernels.

use std::io::Write;
use std::sync::OnceLock;

use mlsys_device::kernel::Devices;
use mlsys_kernel::{Argument, DeviceError, Kernel, Launch, LaunchRequest, Launcher, Values};
use mlsys_lab::DeviceId;
use mlsys_lab::device::Backend;

/// Back ends, comma-separated, that must be there: where this is set, a test that finds none fails.
const EXPECTED: &str = "MLSYS_EXPECT_DEVICES";

/// The first device of each back end but the CPU. One that is missing is said aloud, past the harness, which keeps to
/// itself what a passing test prints.
pub(crate) fn devices() -> &'static [DeviceId] {
    static FOUND: OnceLock<Vec<DeviceId>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let expected = std::env::var(EXPECTED).unwrap_or_default();
        let mut found = Vec::new();
        for backend in [Backend::Cuda, Backend::Wgpu] {
            let device = DeviceId { backend, index: 0 };
            match probe(device) {
                Ok(()) => found.push(device),
                Err(reason) => {
                    let is_expected = expected.split(',').any(|name| name == backend.name());
                    assert!(!is_expected, "{EXPECTED} names {backend}, and {reason}");
                    // A failed write to standard error is ignored.
                    let _ = writeln!(
                        std::io::stderr(),
                        "\nNOT RUN on {backend}: kernels against the interpreter, since {reason}"
                    );
                }
            }
        }
        found
    })
}

fn probe(device: DeviceId) -> Result<(), DeviceError> {
    let source = "__global__ void one(int *a) { a[threadIdx.x] = 1; }";
    let kernel = Kernel::parse("one.cu", source).unwrap_or_else(|refused| panic!("{refused}"));
    let start = kernel
        .launch(Launch::line(1, 4), &[Argument::Buffer(Values::Poison(4))])
        .unwrap_or_else(|error| panic!("{error}"));
    let work = LaunchRequest { kernel: &kernel, source, file: "one.cu", start: &start };
    match Devices.launch(device, &work) {
        Ok(_) => Ok(()),
        Err(refusal @ DeviceError::NoDevice(_)) => Err(refusal),
        Err(refusal) => panic!("{device}: {refusal}"),
    }
}
