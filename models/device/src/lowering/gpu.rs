//! cubecl's compilers, which burn's GPU back ends use.

use std::time::Instant;

use burn::backend::DispatchDevice;
use burn::cubecl::Compiler;
use burn::cubecl::client::Client;
use burn::cubecl::prelude::*;
use burn::cubecl::server::Handle;
use burn::cubecl::std::tensor::TensorHandle;
use mlsys_lab::{DeviceId, median};
use mlsys_sim::lowering::{Build, Kernel, RADIUS, SCALE, Target, ToolchainError, Work};

use crate::guard::guarded;

#[expect(unreachable_pub, reason = "shown to learners as they stand")]
mod kernels {
    use burn::cubecl;
    use burn::cubecl::prelude::*;

    include!("../../../lowering/src/kernels.rs");
}

#[expect(unreachable_pub, reason = "public in the workspace that it is shared with")]
mod built {
    use super::kernels;
    use burn::cubecl;

    include!("../../../lowering/src/built.rs");
}

const TIMES: usize = 5;

/// The median time in which a kernel becomes its form for a target, from the function on.
pub(super) fn seconds(build: Build, target: Target) -> Result<f64, ToolchainError> {
    let times = guarded(move || {
        let timed = |_| -> Result<f64, ToolchainError> {
            let started = Instant::now();
            make(build, target)?;
            Ok(started.elapsed().as_secs_f64())
        };
        (0..TIMES).map(timed).collect::<Result<Vec<f64>, _>>()
    });
    let times = times.map_err(|error| ToolchainError::Driver(error.to_string()))??;
    median(times.into_iter()).ok_or(ToolchainError::NotTimed)
}

fn make(build: Build, target: Target) -> Result<(), ToolchainError> {
    let kernel = built::kernel(build.kernel.name(), build.block, build.width);
    let definition =
        define_kernel(&*kernel).map_err(|error| ToolchainError::Compiler(error.to_string()))?;
    let text = match target {
        Target::Wgsl => wgsl(definition)?,
        Target::Cuda => cuda(definition)?,
        Target::Ir | Target::Spirv | Target::Hip | Target::Metal | Target::Ptx => {
            definition.body.to_string()
        }
    };
    std::hint::black_box(text);
    Ok(())
}

fn text<C: Compiler>(
    mut compiler: C,
    options: &C::CompilationOptions,
    definition: KernelDefinition,
) -> Result<String, ToolchainError> {
    let made = compiler.compile(definition, options);
    let made = made.map_err(|error| ToolchainError::Compiler(error.to_string()))?;
    Ok(made.to_string())
}

#[cfg(feature = "wgpu")]
fn wgsl(definition: KernelDefinition) -> Result<String, ToolchainError> {
    use burn::cubecl::WgpuCompilationOptions;
    use burn::cubecl::wgpu::WgslCompiler;

    text(WgslCompiler, &WgpuCompilationOptions::default(), definition)
}

#[cfg(not(feature = "wgpu"))]
fn wgsl(_: KernelDefinition) -> Result<String, ToolchainError> {
    Err(ToolchainError::Beforehand("this program is without wgpu"))
}

#[cfg(feature = "cuda")]
fn cuda(definition: KernelDefinition) -> Result<String, ToolchainError> {
    use cubecl_cuda::{CudaCompilationOptions, CudaCompiler};

    let options = CudaCompilationOptions::default();
    text(CudaCompiler::default(), &options, definition)
}

#[cfg(not(feature = "cuda"))]
fn cuda(_: KernelDefinition) -> Result<String, ToolchainError> {
    Err(ToolchainError::Beforehand("this program is without CUDA"))
}

/// Runs a kernel on a device that burn opens, compiled by whatever the device is for.
pub(super) fn run(id: DeviceId, work: &Work) -> Result<Vec<f32>, ToolchainError> {
    let device = crate::open(id).map_err(ToolchainError::Device)?;
    let work = work.clone();
    let answer = guarded(move || {
        let DispatchDevice::Cube(cube) = device.as_dispatch() else {
            return Err(ToolchainError::NoKernels(id));
        };
        launch(&cube.client(), &work)
    });
    answer.map_err(|error| ToolchainError::Driver(error.to_string()))?
}

fn launch(client: &Client, work: &Work) -> Result<Vec<f32>, ToolchainError> {
    let buffer =
        |contents: &Vec<f32>| (client.create_from_slice(f32::as_bytes(contents)), contents.len());
    let [x, y] = work.blocks;
    let Build { kernel, block, width } = work.build;
    let count = CubeCount::Static(x, y, 1);
    let dim = CubeDim::new_1d(block as u32);
    let inputs: Vec<(Handle, usize)> = work.inputs.iter().map(buffer).collect();
    let output = buffer(&work.output);
    let a = || argument(inputs.first().unwrap_or(&output));
    let b = || argument(inputs.get(1).unwrap_or(&output));
    let out = || argument(&output);
    match kernel {
        Kernel::VectorAdd => {
            kernels::vector_add::launch(client, count, dim, width, a(), b(), out())
        }
        Kernel::Relu => kernels::relu::launch(client, count, dim, width, a(), out()),
        Kernel::Saxpy => kernels::saxpy::launch(client, count, dim, width, a(), out(), SCALE),
        Kernel::WindowSum => {
            kernels::window_sum::launch(client, count, dim, a(), out(), block, RADIUS)
        }
        Kernel::MatmulTile => {
            let side = work.build.side();
            let tile = CubeDim::new_2d(side as u32, side as u32);
            kernels::matmul_tile::launch(client, count, tile, a(), b(), out(), work.size, side)
        }
        Kernel::SoftmaxRow => {
            kernels::softmax_row::launch(client, count, dim, a(), out(), work.size, block)
        }
    }
    let bytes =
        client.read_one(output.0).map_err(|error| ToolchainError::Driver(error.to_string()))?;
    Ok(f32::from_bytes(&bytes).to_vec())
}

fn argument((handle, elements): &(Handle, usize)) -> BufferArg {
    let whole = TensorHandle::new_contiguous([*elements], handle.clone(), f32::cube_type());
    whole.into_arg().into_buffer_arg()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_compiles_for_every_available_target() {
        for kernel in Kernel::ALL {
            let build = Build { kernel, block: 64, width: 1 };
            for target in [Target::Ir, Target::Wgsl, Target::Cuda] {
                let built = match target {
                    Target::Wgsl => cfg!(feature = "wgpu"),
                    Target::Cuda => cfg!(feature = "cuda"),
                    Target::Ir | Target::Spirv | Target::Hip | Target::Metal | Target::Ptx => true,
                };
                let seconds = seconds(build, target);
                assert_eq!(seconds.is_ok(), built, "{kernel:?} {target:?}: {seconds:?}");
                assert!(seconds.is_ok_and(|seconds| seconds > 0.0) || !built);
            }
        }
    }
}
