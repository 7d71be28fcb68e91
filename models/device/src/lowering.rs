//! The kernels of the lab `lowering`: compiled by the compilers of burn's back ends, and run on their devices.

use mlsys_lab::DeviceId;
use mlsys_sim::lowering::{Build, Target, Toolchain, ToolchainError, Work};

#[derive(Clone, Copy, Debug, Default)]
pub struct Compilers;

impl Toolchain for Compilers {
    fn compile_seconds(&self, build: Build, target: Target) -> Result<f64, ToolchainError> {
        match target {
            Target::Ir | Target::Wgsl | Target::Cuda => gpu::seconds(build, target),
            Target::Spirv | Target::Hip | Target::Metal => {
                Err(ToolchainError::Beforehand("no compiler here"))
            }
            Target::Ptx => Err(ToolchainError::OnlyNvrtc),
        }
    }

    fn run(&self, device: DeviceId, work: &Work) -> Result<Vec<f32>, ToolchainError> {
        gpu::run(device, work)
    }
}

#[cfg(any(feature = "wgpu", feature = "cuda"))]
mod gpu;

#[cfg(not(any(feature = "wgpu", feature = "cuda")))]
mod gpu {
    use super::*;

    pub(super) fn seconds(_: Build, _: Target) -> Result<f64, ToolchainError> {
        Err(ToolchainError::Beforehand("this program is for the processor alone"))
    }

    pub(super) fn run(device: DeviceId, _: &Work) -> Result<Vec<f32>, ToolchainError> {
        crate::open(device).map_err(ToolchainError::Device)?;
        Err(ToolchainError::NoRunner)
    }
}
