//! The lab `lowering` from outside: what it counts, and what it says to settings that it has no form for.

use mlsys_analytic::Lowering;
use mlsys_lab::device::Backend;
use mlsys_lab::{DeviceId, Frame, RunData, Value};
use mlsys_sim::lowering::{Build, Target, Toolchain, ToolchainError, Work};

use crate::run::{run_lab, settings};

/// A device that computes as the processor does, but for one element, and compilers for one target.
struct Pretended {
    off: f32,
}

impl Toolchain for Pretended {
    fn compile_seconds(&self, build: Build, target: Target) -> Result<f64, ToolchainError> {
        assert_eq!(build.block, 64);
        let none = || ToolchainError::Compiler("no compiler for it".to_owned());
        (target == Target::Wgsl).then_some(0.25).ok_or_else(none)
    }

    fn run(&self, device: DeviceId, work: &Work) -> Result<Vec<f32>, ToolchainError> {
        assert_eq!(device.backend, Backend::Wgpu);
        if self.off.is_nan() {
            return Err(ToolchainError::Driver("its driver ended".to_owned()));
        }
        let mut found = work.reference();
        found[1] += self.off;
        // Elementwise kernels give back what fills the last load as well.
        found.resize(work.output.len(), 7.0);
        Ok(found)
    }
}

fn run_on(off: f32, backend: Backend, set: &[&str]) -> RunData {
    let lab = Lowering::new().expect("a schema").with_toolchain(Box::new(Pretended { off }));
    let (data, ended) = run_lab(&lab, DeviceId { backend, index: 0 }, &settings(set));
    ended.expect("a run");
    data
}

fn page<'a>(data: &'a RunData, panel: &str) -> &'a str {
    let Frame::Text(page) = &data.frames[panel].1 else { panic!("{panel} is no text") };
    page
}

#[test]
fn a_devices_result_is_held_against_the_processors() {
    let data = run_on(0.0, Backend::Wgpu, &["vector_width=4", "elements=1001"]);
    assert_eq!(data.metric("max_difference"), Some(Value::Float(0.0)));
    assert_eq!(data.metric("compile_seconds.wgsl"), Some(Value::Float(0.25)));
    assert_eq!(data.metric("compile_seconds.cuda"), None);
    assert!(data.notices.is_empty());
    let data = run_on(0.5, Backend::Wgpu, &["kernel=softmax-row"]);
    let far = data.metric("max_difference").and_then(|far| far.as_f64());
    assert!(far.is_some_and(|far| far > 1.0), "{far:?}");
    assert!(page(&data, "run").contains("  farthest"));
}

#[test]
fn without_a_device_the_reason_is_reported() {
    for (off, backend, said) in [
        (0.0, Backend::Cpu, "no compiler for the processor"),
        (f32::NAN, Backend::Wgpu, "its driver ended"),
    ] {
        let data = run_on(off, backend, &[]);
        assert_eq!(data.metric("max_difference"), None);
        assert!(data.notices.iter().any(|notice| notice.contains(said)));
        assert!(page(&data, "run").contains(said));
    }
    let data = run_on(f32::NAN, Backend::Wgpu, &["run=false"]);
    assert!(data.notices.is_empty() && page(&data, "run").starts_with("Nothing was run"));
}
