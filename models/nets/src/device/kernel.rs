//! Kernels that the learner wrote, on real devices: CUDA C as it is through NVRTC, its translation into WGSL on wgpu.
//!
//! Each has a device of its own, apart from the one that burn computes on, so that a kernel that brings its device down
//! takes no tensor with it.

#[cfg(feature = "cuda")]
mod nvidia;
#[cfg(feature = "wgpu")]
mod webgpu;

use std::time::Duration;

use mlsys_lab::DeviceId;
use mlsys_lab::device::Backend;
use mlsys_machines::kernel::{Answer, Launcher, Refusal, Work};

/// Launches are timed until there are so many,
const MOST_LAUNCHES: usize = 9;

/// or until they took so long together; one is timed in any case.
const LONG_ENOUGH: Duration = Duration::from_millis(300);

/// Runs kernels on the devices of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Devices;

impl Launcher for Devices {
    fn launch(&self, device: DeviceId, work: &Work<'_>) -> Result<Answer, Refusal> {
        match device.backend {
            Backend::Cpu => Err(Refusal::NoDevice(
                "the processor runs no kernels; choose a GPU".to_owned(),
            )),
            #[cfg(feature = "wgpu")]
            Backend::Wgpu => webgpu::launch(device.index, work),
            #[cfg(feature = "cuda")]
            Backend::Cuda => nvidia::launch(device.index, work),
            #[cfg(not(feature = "wgpu"))]
            Backend::Wgpu => super::wgpu::open(device.index)
                .map_or_else(|reason| Err(Refusal::NoDevice(reason)), |_| unbuilt()),
            #[cfg(not(feature = "cuda"))]
            Backend::Cuda => super::cuda::open(device.index)
                .map_or_else(|reason| Err(Refusal::NoDevice(reason)), |_| unbuilt()),
        }
    }
}

#[cfg(not(all(feature = "wgpu", feature = "cuda")))]
fn unbuilt() -> Result<Answer, Refusal> {
    Err(Refusal::NoDevice(
        "this build runs no kernels there".to_owned(),
    ))
}

/// The middle one of some times; of an even number the mean of the two.
#[cfg(any(feature = "wgpu", feature = "cuda"))]
fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    match times.len() {
        0 => 0.0,
        length if length % 2 == 1 => times[length / 2],
        length => (times[length / 2 - 1] + times[length / 2]) / 2.0,
    }
}

/// Whether another launch is worth timing.
#[cfg(any(feature = "wgpu", feature = "cuda"))]
fn again(times: &[f64]) -> bool {
    times.len() < MOST_LAUNCHES && times.iter().sum::<f64>() < LONG_ENOUGH.as_secs_f64()
}
