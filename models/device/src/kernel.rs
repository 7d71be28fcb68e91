//! Kernels that the learner wrote, on real devices: CUDA C through NVRTC, its translation into WGSL on wgpu.
//!
//! On wgpu they have a device of their own, apart from the one that burn computes on, so that a kernel that brings it down
//! takes no tensor with it. On CUDA a program has one context a card, and shares it.

#[cfg(feature = "cuda")]
mod nvidia;
#[cfg(feature = "wgpu")]
mod webgpu;

use std::collections::BTreeMap;
use std::sync::Mutex;

use mlsys_kernel::{DeviceError, LaunchRequest, LaunchResult, Launcher};
use mlsys_lab::DeviceId;
use mlsys_lab::device::Backend;

#[cfg(not(all(feature = "wgpu", feature = "cuda")))]
use crate::OpenError;
use crate::meter::{Meter, Precision};

#[derive(Clone, Copy, Debug, Default)]
pub struct Devices;

impl Launcher for Devices {
    fn launch(
        &self,
        device: DeviceId,
        work: &LaunchRequest<'_>,
    ) -> Result<LaunchResult, DeviceError> {
        #[cfg(not(any(feature = "wgpu", feature = "cuda")))]
        let _ = work;
        match device.backend {
            Backend::Cpu => {
                Err(DeviceError::NoDevice("the processor runs no kernels; choose a GPU".to_owned()))
            }
            #[cfg(feature = "wgpu")]
            Backend::Wgpu => webgpu::launch(device.index, work),
            #[cfg(not(feature = "wgpu"))]
            Backend::Wgpu => Err(DeviceError::NoDevice(OpenError::NotBuiltIn("wgpu").to_string())),
            #[cfg(feature = "cuda")]
            Backend::Cuda => nvidia::launch(device.index, work),
            #[cfg(not(feature = "cuda"))]
            Backend::Cuda => Err(DeviceError::NoDevice(OpenError::NotBuiltIn("CUDA").to_string())),
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

/// Times launches, in seconds: at most nine, fewer where they take long, one in any case.
#[cfg(any(test, feature = "wgpu", feature = "cuda"))]
fn timed<E>(mut launch: impl FnMut() -> Result<f64, E>) -> Result<Vec<f64>, E> {
    const MOST_LAUNCHES: usize = 9;
    const LONG_ENOUGH: f64 = 0.3;
    let mut times = vec![launch()?];
    while times.len() < MOST_LAUNCHES && times.iter().sum::<f64>() < LONG_ENOUGH {
        times.push(launch()?);
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::timed;

    #[test]
    fn short_launches_are_timed_often_and_long_ones_once() {
        for (seconds, launches) in [(1e-6, 9), (0.1, 3), (0.14, 3), (0.4, 1)] {
            assert_eq!(timed(|| Ok::<_, ()>(seconds)).unwrap().len(), launches, "{seconds}");
        }
    }
}
