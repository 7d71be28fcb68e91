//! The kernels of the lab `lowering`: compiled by what burn's back ends compile with, and run on the devices that they
//! open.

#[cfg(any(feature = "wgpu", feature = "cuda"))]
mod compiled;

use mlsys_lab::DeviceId;
use mlsys_sim::lowering::{Build, Target, Toolchain, ToolchainError, Work};

/// The compilers and devices of this build.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compilers;

impl Toolchain for Compilers {
    fn compile_seconds(&self, build: Build, target: Target) -> Result<f64, ToolchainError> {
        match target {
            Target::Ir | Target::Wgsl | Target::Cuda => Ok(seconds(build, target)?),
            Target::Spirv | Target::Hip | Target::Metal => {
                Err("beforehand; no compiler here".into())
            }
            Target::Ptx => Err("by NVRTC where CUDA is".into()),
        }
    }

    fn run(&self, device: DeviceId, work: &Work) -> Result<Vec<f32>, ToolchainError> {
        Ok(run(device, work)?)
    }
}

#[cfg(any(feature = "wgpu", feature = "cuda"))]
use compiled::{run, seconds};

#[cfg(not(any(feature = "wgpu", feature = "cuda")))]
fn seconds(_: Build, _: Target) -> Result<f64, String> {
    Err("beforehand; this program is for the processor alone".to_owned())
}

#[cfg(not(any(feature = "wgpu", feature = "cuda")))]
fn run(device: DeviceId, _: &Work) -> Result<Vec<f32>, String> {
    Err(super::open(device)
        .map_or_else(|error| error.to_string(), |_| "nothing here runs it".to_owned()))
}
