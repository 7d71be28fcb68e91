//! Kernels that the learner wrote, on real devices: CUDA C as it is through NVRTC, its translation into WGSL on wgpu.
//!
//! On wgpu they have a device of their own, apart from the one that burn computes on, so that a kernel that brings it down
//! takes no tensor with it. On CUDA a program has one context a card, and shares it.

#[cfg(feature = "cuda")]
mod nvidia;
#[cfg(any(feature = "wgpu", feature = "cuda"))]
mod timing;
#[cfg(feature = "wgpu")]
mod webgpu;

use std::collections::BTreeMap;
use std::sync::Mutex;

use mlsys_kernel::{DeviceError, LaunchRequest, LaunchResult, Launcher};
use mlsys_lab::DeviceId;
use mlsys_lab::device::Backend;

use super::meter::{Meter, Precision};

/// Runs kernels on the devices of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Devices;

impl Launcher for Devices {
    fn launch(
        &self,
        device: DeviceId,
        work: &LaunchRequest<'_>,
    ) -> Result<LaunchResult, DeviceError> {
        match device.backend {
            Backend::Cpu => {
                Err(DeviceError::NoDevice("the processor runs no kernels; choose a GPU".to_owned()))
            }
            Backend::Wgpu => webgpu::launch(device.index, work),
            Backend::Cuda => nvidia::launch(device.index, work),
        }
    }

    fn bandwidth(&self, device: DeviceId) -> Option<f64> {
        /// What each device was found to reach: it does not change while the program runs.
        static SEEN: Mutex<BTreeMap<(Backend, usize), f64>> = Mutex::new(BTreeMap::new());
        let mut seen = SEEN.lock().ok()?;
        let key = (device.backend, device.index);
        if let Some(bandwidth) = seen.get(&key) {
            return Some(*bandwidth);
        }
        let meter = Meter::open(device, Precision::Fp32).ok()?;
        let bandwidth = meter.bandwidth(&|| false).ok()?;
        seen.insert(key, bandwidth);
        Some(bandwidth)
    }
}

/// A build without wgpu says so.
#[cfg(not(feature = "wgpu"))]
mod webgpu {
    use mlsys_kernel::{DeviceError, LaunchRequest, LaunchResult};

    pub(super) fn launch(index: usize, _: &LaunchRequest<'_>) -> Result<LaunchResult, DeviceError> {
        let missing = crate::wgpu::open(index).err();
        Err(DeviceError::NoDevice(missing.unwrap_or_default()))
    }
}

/// A build without CUDA says so.
#[cfg(not(feature = "cuda"))]
mod nvidia {
    use mlsys_kernel::{DeviceError, LaunchRequest, LaunchResult};

    pub(super) fn launch(index: usize, _: &LaunchRequest<'_>) -> Result<LaunchResult, DeviceError> {
        let missing = crate::cuda::open(index).err();
        Err(DeviceError::NoDevice(missing.unwrap_or_default()))
    }
}
