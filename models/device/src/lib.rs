//! The one place that knows which back end computes: finding devices, opening them, waiting for them.
//!
//! Back ends load foreign drivers, which may be missing, hang or panic. All of that happens on threads of
//! its own with a time limit; what comes back is a list, or an error that says what to do.

mod adam;
pub mod choice;
mod cpu;
mod cuda;
#[cfg(any(feature = "wgpu", feature = "cuda"))]
mod guard;
pub mod kernel;
pub mod lowering;
pub mod memory;
pub mod meter;
mod multiply;
pub mod timing;
mod wgpu;
pub mod workers;

use std::thread;

use burn::tensor::{DType, Device};
use mlsys_lab::LabError;
use mlsys_lab::device::{Backend, DeviceId, DeviceInfo, DeviceState};

pub use adam::Adam;
pub use adam::Moments;
pub use multiply::{Multiply, multiply};

/// Every device of every back end, usable or not, in the order of preference. Takes up to some seconds
/// where drivers are slow; prints nothing.
pub fn probe() -> Vec<DeviceInfo> {
    // The two are independent, and each may take its time.
    let (cuda, wgpu) = (thread::spawn(cuda::probe), thread::spawn(wgpu::probe));
    let found = |probing: thread::JoinHandle<Vec<DeviceInfo>>, backend| {
        probing
            .join()
            .unwrap_or_else(|_| vec![unusable(backend, "probing for it failed".to_owned())])
    };
    let mut devices = found(cuda, Backend::Cuda);
    devices.extend(found(wgpu, Backend::Wgpu));
    devices.push(cpu::probe());
    devices
}

/// The processor, found without waking any driver.
pub fn processor() -> DeviceInfo {
    cpu::probe()
}

/// Opens a device, without autodiff.
///
/// # Errors
/// [`LabError::Device`] says why it cannot be had.
pub fn open(id: DeviceId) -> Result<Device, LabError> {
    let opened = match id.backend {
        Backend::Cpu => Ok(Device::flex()),
        Backend::Wgpu => wgpu::open(id.index),
        Backend::Cuda => cuda::open(id.index),
    };
    opened.map_err(|reason| LabError::Device { device: id, reason })
}

/// The name that its maker gave an open device.
pub fn name(device: &Device, id: DeviceId) -> String {
    match id.backend {
        Backend::Cpu => cpu::name(),
        Backend::Wgpu | Backend::Cuda => identified(device).unwrap_or_else(|| id.to_string()),
    }
}

#[cfg(any(feature = "wgpu", feature = "cuda"))]
fn identified(device: &Device) -> Option<String> {
    device.identity().map(|identity| identity.name)
}

#[cfg(not(any(feature = "wgpu", feature = "cuda")))]
fn identified(_device: &Device) -> Option<String> {
    None
}

/// Whether the device works behind the program's back, so that reading a result means waiting for it.
pub fn is_asynchronous(id: DeviceId) -> bool {
    match id.backend {
        Backend::Cpu => false,
        Backend::Wgpu | Backend::Cuda => true,
    }
}

/// Waits until the device has done everything asked of it.
///
/// # Errors
/// [`LabError::Failed`] if some of it failed: out of memory, or the device was lost.
pub fn sync(device: &Device, id: DeviceId) -> Result<(), LabError> {
    device.sync().map_err(|error| LabError::Failed { device: id, reason: error.to_string() })
}

/// Bytes of memory that a run may still take on the device, where the system tells.
pub fn free_memory(id: DeviceId) -> Option<u64> {
    match id.backend {
        Backend::Cpu => cpu::free_memory(),
        // A GPU's driver says so only when asked for too much; that is an error of the run.
        Backend::Wgpu | Backend::Cuda => None,
    }
}

/// The floating-point formats a device computes with.
fn precisions(device: &Device) -> Vec<String> {
    [("f64", DType::F64), ("f32", DType::F32), ("f16", DType::F16), ("bf16", DType::BF16)]
        .into_iter()
        .filter(|&(_, dtype)| device.supports_dtype(dtype))
        .map(|(name, _)| name.to_owned())
        .collect()
}

/// The entry of a back end of which no device can be used.
fn unusable(backend: Backend, reason: String) -> DeviceInfo {
    DeviceInfo {
        id: DeviceId { backend, index: 0 },
        name: backend.to_string(),
        memory_bytes: None,
        precisions: Vec::new(),
        driver: None,
        state: DeviceState::Unusable(reason),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probing_lists_every_back_end_and_the_cpu_is_always_usable() {
        let devices = probe();
        for backend in Backend::ALL {
            assert!(
                devices.iter().any(|info| info.id.backend == backend),
                "{backend}: {devices:?}"
            );
        }
        let cpu = devices.last().unwrap();
        assert_eq!((cpu.id, &cpu.state), (DeviceId::CPU, &DeviceState::Usable));
        assert!(cpu.precisions.iter().any(|precision| precision == "f32"));
        for info in &devices {
            match &info.state {
                DeviceState::Unusable(reason) => assert!(reason.len() > 20, "{info:?}"),
                DeviceState::Usable | DeviceState::Software => {
                    assert!(open(info.id).is_ok(), "{info:?}")
                }
            }
        }
    }

    #[test]
    fn a_device_that_is_not_there_is_an_error_that_says_so() {
        for backend in [Backend::Wgpu, Backend::Cuda] {
            let id = DeviceId { backend, index: 99 };
            let message = open(id).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(message.starts_with(&format!("device {id} cannot be used: ")), "{message}");
        }
    }
}
