//! Kernels as CUDA C on NVIDIA GPUs: text from the tokens that were checked through NVRTC, one rounding an operation.

#[expect(
    unsafe_code,
    reason = "a kernel's launch is unsafe in the bindings of CUDA's driver; this module is that launch and nothing else"
)]
mod launch;

use std::sync::Arc;

use cudarc::driver::sys::{CUfunction_attribute_enum, cudaError_enum};
use cudarc::driver::{CudaContext, CudaFunction, CudaSlice, CudaStream, DriverError};
use cudarc::nvrtc::{CompileError, CompileOptions, compile_ptx_with_opts};
use mlsys_kernel::types::Access;
use mlsys_kernel::{BoundArgument, Clock, DeviceError, LaunchRequest, LaunchResult, Machine};

use super::timed;
use crate::guard::guarded;
use mlsys_lab::median;

/// Bytes of shared memory that a block may have without asking, what the kernel declares and what the launch adds
/// together; of declared ones it never has more.
const DEFAULT_SHARED_BYTES: u32 = 48 * 1024;

pub(super) fn launch(index: usize, work: &LaunchRequest<'_>) -> Result<LaunchResult, DeviceError> {
    crate::cuda::ready(index).map_err(|error| DeviceError::NoDevice(error.to_string()))?;
    let declared = work.kernel.static_shared();
    if declared > DEFAULT_SHARED_BYTES {
        return Err(DeviceError::TooLarge(format!(
            "a block may declare at most {DEFAULT_SHARED_BYTES} bytes of shared memory, and the kernel declares {declared}; make the array 'extern' and give its bytes with the launch"
        )));
    }
    let owned = OwnedLaunch::new(work);
    guarded(move || owned.run(index))
        .unwrap_or_else(|error| Err(DeviceError::Failed(error.to_string())))
}

/// A launch; nothing in it borrows, so that a driver that hangs keeps it.
struct OwnedLaunch {
    file: String,
    source: String,
    grid: [u32; 3],
    block: [u32; 3],
    dynamic_shared: u32,
    shared: u32,
    arguments: Vec<Argument<(Vec<u8>, Access)>>,
}

/// An argument of a kernel, its buffers in one form or another.
enum Argument<B> {
    Buffer(B),
    /// Bits, the low ones of 64; a kernel takes as many as its parameter has.
    Number(u64),
}

struct OnCard {
    used: CudaSlice<u8>,
    /// What is in it before a launch, where the kernel may write.
    pristine: Option<CudaSlice<u8>>,
}

struct Prepared {
    stream: Arc<CudaStream>,
    function: CudaFunction,
    arguments: Vec<Argument<OnCard>>,
}

impl OwnedLaunch {
    fn new(work: &LaunchRequest<'_>) -> Self {
        let start: &Machine = work.start;
        let launch = start.launch();
        let arguments = start.bound_arguments().map(|given| match given {
            BoundArgument::Buffer { bytes, access, .. } => {
                Argument::Buffer((bytes.to_vec(), access))
            }
            BoundArgument::Number { bits, .. } => Argument::Number(bits),
        });
        Self {
            file: work.file.to_owned(),
            source: work.kernel.cuda().to_owned(),
            grid: launch.grid_dim,
            block: launch.block_dim,
            dynamic_shared: launch.dynamic_shared,
            shared: start.shared_bytes(),
            arguments: arguments.collect(),
        }
    }

    /// Runs it: once without a clock, then some times with one.
    fn run(&self, index: usize) -> Result<LaunchResult, DeviceError> {
        let context = CudaContext::new(index).map_err(failed)?;
        let mut ready = self.prepare(&context)?;
        self.launch(&mut ready).map_err(failed)?;
        let times = timed(|| self.launch(&mut ready)).map_err(failed)?;
        let mut buffers = Vec::new();
        for argument in &ready.arguments {
            if let Argument::Buffer(buffer) = argument {
                buffers.push(ready.stream.clone_dtoh(&buffer.used).map_err(failed)?);
            }
        }
        Ok(LaunchResult {
            buffers,
            launches: times.len(),
            seconds: median(times.into_iter()).unwrap_or(0.0),
            clock: Clock::Device,
        })
    }

    fn prepare(&self, context: &Arc<CudaContext>) -> Result<Prepared, DeviceError> {
        let (major, minor) = context.compute_capability().map_err(failed)?;
        let card = format!("sm_{major}{minor}");
        let options = CompileOptions {
            // Each operation rounds by itself, as C has it and the interpreter does.
            fmad: Some(false),
            name: Some(self.file.clone()),
            options: vec![format!("--gpu-architecture=compute_{major}{minor}")],
            ..CompileOptions::default()
        };
        let ptx = compile_ptx_with_opts(&self.source, options)
            .map_err(|error| uncompiled(error, &card))?;
        let name = entry(&ptx.to_src())
            .ok_or_else(|| DeviceError::Failed("NVRTC made no kernel of the text".to_owned()))?;
        let module = context.load_module(ptx).map_err(|error| unloaded(error, &card))?;
        let function = module.load_function(&name).map_err(failed)?;
        if self.dynamic_shared > 0 && self.shared > DEFAULT_SHARED_BYTES {
            let most = CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            // At most 227 KiB, which the launch was checked for.
            function.set_attribute(most, self.dynamic_shared as i32).map_err(|error| {
                let asked = self.shared;
                DeviceError::TooLarge(format!(
                    "it gives no block {asked} bytes of shared memory: {error}"
                ))
            })?;
        }
        let stream = context.new_stream().map_err(failed)?;
        let mut arguments = Vec::new();
        for argument in &self.arguments {
            arguments.push(match argument {
                Argument::Buffer((bytes, access)) => Argument::Buffer(OnCard {
                    used: stream.clone_htod(bytes).map_err(failed)?,
                    pristine: match access {
                        Access::Mutable => Some(stream.clone_htod(bytes).map_err(failed)?),
                        Access::Constant => None,
                    },
                }),
                Argument::Number(bits) => Argument::Number(*bits),
            });
        }
        Ok(Prepared { stream, function, arguments })
    }

    /// One launch on fresh contents; the seconds it took by the card's clock.
    fn launch(&self, ready: &mut Prepared) -> Result<f64, DriverError> {
        for argument in &mut ready.arguments {
            if let Argument::Buffer(OnCard { used, pristine: Some(pristine) }) = argument {
                ready.stream.memcpy_dtod(&*pristine, used)?;
            }
        }
        let (begin, end) = self.submit(ready)?;
        ready.stream.synchronize()?;
        Ok(f64::from(begin.elapsed_ms(&end)?) * 1e-3)
    }
}

/// The kernel's name in PTX, where C++ has mangled it.
fn entry(ptx: &str) -> Option<String> {
    let (_, rest) = ptx.split_once(".entry")?;
    let name = rest.trim_start().split(|c: char| c == '(' || c.is_whitespace());
    name.into_iter().next().filter(|name| !name.is_empty()).map(str::to_owned)
}

fn failed(error: DriverError) -> DeviceError {
    DeviceError::Failed(format!("CUDA says: {error}"))
}

fn unloaded(error: DriverError, card: &str) -> DeviceError {
    // The toolkit is younger than the driver.
    if error.0 == cudaError_enum::CUDA_ERROR_UNSUPPORTED_PTX_VERSION {
        return DeviceError::Failed(format!("CUDA says: {error}; {}", unfit(card)));
    }
    failed(error)
}

fn unfit(card: &str) -> String {
    format!("the CUDA toolkit and the driver or card do not fit (card {card})")
}

fn uncompiled(error: CompileError, card: &str) -> DeviceError {
    DeviceError::Failed(match error {
        CompileError::CompileError { log, .. } => {
            let message = format!("NVRTC says: {}", log.to_string_lossy().trim());
            // A toolkit knows the cards of its time only.
            if message.contains("invalid value for --gpu-architecture") {
                format!("{message}; {}", unfit(card))
            } else {
                message
            }
        }
        error @ (CompileError::CreationError(_)
        | CompileError::GetLogError(_)
        | CompileError::GetPtxError(_)
        | CompileError::DestroyError(_)) => format!("NVRTC failed: {error}"),
    })
}

#[cfg(test)]
mod tests {
    use super::entry;

    #[test]
    fn the_name_of_a_kernel_is_found_in_its_ptx() {
        let ptx = "//\n.version 8.4\n.target sm_90\n.address_size 64\n\n\t// .globl\t_Z3addPKfPfi\n.func (.param .b32 r) help()\n{\n}\n.visible .entry _Z3addPKfPfi(\n\t.param .u64 a\n)";
        assert_eq!(entry(ptx).as_deref(), Some("_Z3addPKfPfi"));
        assert_eq!(entry("nothing"), None);
    }
}
