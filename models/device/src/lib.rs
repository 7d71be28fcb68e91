//! The one place that knows which back end computes: finding devices, opening them, waiting for them.
//!
//! Back ends load foreign drivers, which may be missing, hang or panic. All of that happens on threads of
//! its own with a time limit; what comes back is a list, or an error that says what to do.

mod adam;
mod cpu;
#[cfg(feature = "cuda")]
mod cuda;
pub mod fused;
#[cfg(any(feature = "wgpu", feature = "cuda"))]
mod guard;
pub mod kernel;
pub mod lowering;
pub mod memory;
pub mod meter;
mod multiply;
pub mod timing;
#[cfg(feature = "wgpu")]
mod wgpu;
pub mod workers;

use std::thread;

use burn::tensor::{DType, Device};
use mlsys_lab::LabError;
use mlsys_lab::device::{Backend, DeviceId, DeviceInfo, DeviceState};

pub use adam::{Adam, Moments};
pub use multiply::{Multiply, multiply};

/// Why a back end has no such device.
#[derive(Debug, thiserror::Error)]
enum OpenError {
    #[cfg(not(all(feature = "wgpu", feature = "cuda")))]
    #[error("this build has no {0}; build without --no-default-features")]
    NotBuiltIn(&'static str),
    #[cfg(any(feature = "wgpu", feature = "cuda"))]
    #[error(transparent)]
    Driver(#[from] guard::DriverError),
    #[cfg(feature = "wgpu")]
    #[error(
        "no graphics adapter was found; install the GPU's Vulkan driver (a software one: Mesa's lavapipe)"
    )]
    NoAdapter,
    #[cfg(feature = "wgpu")]
    #[error("there is no adapter {0}")]
    NoSuchAdapter(usize),
    /// The adapter gives no device; the driver says why.
    #[cfg(feature = "wgpu")]
    #[error("{0}")]
    NoDevice(String),
    #[cfg(feature = "cuda")]
    #[error("no NVIDIA GPU was found; it takes a card and NVIDIA's driver (libcuda)")]
    NoCard,
    #[cfg(feature = "cuda")]
    #[error("there are {count} NVIDIA GPUs, counted from 0")]
    NoSuchCard { count: usize },
    #[cfg(feature = "cuda")]
    #[error(
        "the driver is there, but not {missing}; install the CUDA toolkit and set CUDA_PATH to its folder"
    )]
    Toolkit { missing: String },
}

/// Every device of every back end, usable or not, in the order of preference. Takes up to some seconds
/// where drivers are slow; prints nothing.
pub fn probe() -> Vec<DeviceInfo> {
    // The two are independent, and each may take its time.
    let probing = [Backend::Cuda, Backend::Wgpu]
        .map(|backend| (backend, thread::spawn(move || probe_backend(backend))));
    let mut devices = Vec::new();
    for (backend, probing) in probing {
        match probing.join() {
            Ok(Ok(found)) => devices.extend(found),
            Ok(Err(error)) => devices.push(unusable(backend, error.to_string())),
            Err(_) => devices.push(unusable(backend, "probing for it failed".to_owned())),
        }
    }
    devices.push(cpu::probe());
    devices
}

fn probe_backend(backend: Backend) -> Result<Vec<DeviceInfo>, OpenError> {
    match backend {
        Backend::Cpu => Ok(vec![cpu::probe()]),
        #[cfg(feature = "wgpu")]
        Backend::Wgpu => wgpu::probe(),
        #[cfg(not(feature = "wgpu"))]
        Backend::Wgpu => Err(OpenError::NotBuiltIn("wgpu")),
        #[cfg(feature = "cuda")]
        Backend::Cuda => cuda::probe(),
        #[cfg(not(feature = "cuda"))]
        Backend::Cuda => Err(OpenError::NotBuiltIn("CUDA")),
    }
}

/// The processor, found without waking any driver.
pub fn processor() -> DeviceInfo {
    cpu::probe()
}

pub fn open(id: DeviceId) -> Result<Device, LabError> {
    let opened = match id.backend {
        Backend::Cpu => Ok(Device::flex()),
        #[cfg(feature = "wgpu")]
        Backend::Wgpu => wgpu::open(id.index),
        #[cfg(not(feature = "wgpu"))]
        Backend::Wgpu => Err(OpenError::NotBuiltIn("wgpu")),
        #[cfg(feature = "cuda")]
        Backend::Cuda => cuda::open(id.index),
        #[cfg(not(feature = "cuda"))]
        Backend::Cuda => Err(OpenError::NotBuiltIn("CUDA")),
    };
    opened.map_err(|error| LabError::Device { device: id, reason: error.to_string() })
}

pub fn name(device: &Device, id: DeviceId) -> String {
    match id.backend {
        Backend::Cpu => cpu::name(),
        #[cfg(any(feature = "wgpu", feature = "cuda"))]
        Backend::Wgpu | Backend::Cuda => {
            device.identity().map_or_else(|| id.to_string(), |identity| identity.name)
        }
        #[cfg(not(any(feature = "wgpu", feature = "cuda")))]
        Backend::Wgpu | Backend::Cuda => {
            let _ = device;
            id.to_string()
        }
    }
}

/// Whether the device works behind the program's back, so that reading a result means waiting for it.
pub fn is_asynchronous(id: DeviceId) -> bool {
    match id.backend {
        Backend::Cpu => false,
        Backend::Wgpu | Backend::Cuda => true,
    }
}

/// Waits until the device has done everything asked of it; an error if it ran out of memory or was lost.
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
    fn probing_lists_every_back_end() {
        let devices = probe();
        for backend in Backend::ALL {
            let is_listed = devices.iter().any(|info| info.id.backend == backend);
            assert!(is_listed, "{backend}: {devices:?}");
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
            let message = open(id).err().unwrap().to_string();
            assert!(message.starts_with(&format!("device {id} cannot be used: ")), "{message}");
        }
    }
}
