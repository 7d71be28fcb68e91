//! The launch itself: the one unsafe call of the workspace.

use cudarc::driver::sys::{CUevent_flags, cudaError_enum};
use cudarc::driver::{CudaEvent, DriverError, LaunchConfig, PushKernelArg};

use super::{Argument, OwnedLaunch, Prepared};

impl OwnedLaunch {
    /// Hands the kernel to the card, without waiting for it.
    ///
    /// # Returns
    /// What the card passes just before and just after the kernel, the waits for its buffers left out.
    pub(super) fn submit(
        &self,
        ready: &mut Prepared,
    ) -> Result<(CudaEvent, CudaEvent), DriverError> {
        let mut launch = ready.stream.launch_builder(&ready.function);
        for argument in &mut ready.arguments {
            match argument {
                Argument::Buffer(buffer) => launch.arg(&mut buffer.used),
                Argument::Number(bits) => launch.arg(&*bits),
            };
        }
        launch.record_kernel_launch(CUevent_flags::CU_EVENT_DEFAULT);
        let [x, y, z] = self.grid;
        let [width, height, depth] = self.block;
        let config = LaunchConfig {
            grid_dim: (x, y, z),
            block_dim: (width, height, depth),
            shared_mem_bytes: self.dynamic_shared,
        };
        // SAFETY: `LaunchArgs::launch` asks for three things.
        // 1. Arguments that fit the function. They come from `Machine::bound_arguments` of the kernel that NVRTC
        //    compiled, one for each parameter in its order. A pointer's is the address of a buffer on this card, which `ready`
        //    keeps alive until after `synchronize`. A number's is eight bytes with the value in the low ones; the
        //    driver copies as many as the parameter has, one, four or eight, and both sides are little-endian.
        // 2. No writing through what is borrowed as read. Every buffer is borrowed mutably, each is an allocation of
        //    its own, and it is not read before `synchronize` has returned.
        // 3. No access outside of the buffers. NVRTC compiled `Kernel::cuda`: the tokens that the interpreter read, written
        //    out again. Nothing else of the learner's text reaches it, so that no comment, directive or line splice can
        //    mean another program to it, and a declared name, which ends in `_k`, is no macro or function of its headers.
        //    The interpreter has run this very launch, on the same tokens, arguments and contents, to its end, within
        //    an instruction budget, and every access of every thread lay inside its buffer, aligned, with no race, no
        //    divergent barrier, and no number that C leaves open, be it read before it was written, divided by zero,
        //    shifted too far or too large for its type, and nothing asked for active lanes or addresses as numbers (`require_harmless`). The
        //    card's accesses are then those that were checked, but for an index computed from one of two things:
        //    floating point, which may differ in the last places, and what an atomic returns, which depends on who
        //    comes first.
        //    A kernel that failed the check comes here only if its author insisted, after a warning that it may bring
        //    down the driver and what else this program has on the card.
        let events = unsafe { launch.launch(config) }?;
        // They are there whenever they were asked for.
        events.ok_or(DriverError(cudaError_enum::CUDA_ERROR_NOT_FOUND))
    }
}
