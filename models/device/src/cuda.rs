//! NVIDIA GPUs. Kernels are CUDA C++ that NVRTC compiles on this machine, so besides the driver that takes
//! the NVRTC library and the CUDA headers.

use burn::tensor::Device;
use mlsys_lab::device::DeviceInfo;

#[cfg(feature = "cuda")]
mod toolkit;

#[cfg(feature = "cuda")]
pub(super) fn probe() -> Vec<DeviceInfo> {
    use mlsys_lab::device::{Backend, DeviceId, DeviceState};

    let found = super::guard::guarded(|| {
        // Lists nothing where the driver's library cannot be loaded.
        let count = cards().len();
        // Opening a device without these panics deep inside the back end.
        let missing = toolkit::missing();
        (0..count)
            .map(|index| {
                let id = DeviceId { backend: Backend::Cuda, index };
                let name = format!("NVIDIA GPU {index}");
                let unusable = |reason: String| DeviceInfo {
                    id,
                    name: name.clone(),
                    ..super::unusable(Backend::Cuda, reason)
                };
                let info = match &missing {
                    Some(reason) => unusable(reason.clone()),
                    None => super::guard::guarded(move || describe(id)).unwrap_or_else(unusable),
                };
                DeviceInfo { driver: toolkit::driver_version(), ..info }
            })
            .collect::<Vec<_>>()
    });

    fn describe(id: DeviceId) -> DeviceInfo {
        let device = Device::cuda(id.index);
        DeviceInfo {
            id,
            name: device
                .identity()
                .map_or_else(|| format!("NVIDIA GPU {}", id.index), |identity| identity.name),
            memory_bytes: memory(&device),
            precisions: super::precisions(&device),
            driver: None,
            state: DeviceState::Usable,
        }
    }

    match found {
        Ok(devices) if devices.is_empty() => {
            vec![super::unusable(Backend::Cuda, NO_CARD.to_owned())]
        }
        Ok(devices) => devices,
        Err(reason) => vec![super::unusable(Backend::Cuda, reason)],
    }
}

/// Opens the card of this number.
#[cfg(feature = "cuda")]
pub(super) fn open(index: usize) -> Result<Device, String> {
    ready(index)?;
    super::guard::guarded(move || {
        let device = Device::cuda(index);
        device.identity();
        device
    })
}

/// Whether there is a card of this number, and what compiling kernels for it takes.
#[cfg(feature = "cuda")]
pub(super) fn ready(index: usize) -> Result<(), String> {
    let count = super::guard::guarded(|| cards().len())?;
    if count == 0 {
        return Err(NO_CARD.to_owned());
    }
    if index >= count {
        return Err(format!("there are {count} NVIDIA GPUs, counted from 0"));
    }
    toolkit::missing().map_or(Ok(()), Err)
}

#[cfg(feature = "cuda")]
fn cards() -> Vec<Device> {
    Device::enumerate(burn::tensor::DeviceType::Cuda).into_iter().collect()
}

/// The card's memory in bytes.
#[cfg(feature = "cuda")]
fn memory(device: &Device) -> Option<u64> {
    use burn::backend::DispatchDevice;

    let DispatchDevice::Cube(device) = device.as_dispatch() else {
        return None;
    };
    device.client().properties().memory.max_memory()
}

#[cfg(feature = "cuda")]
const NO_CARD: &str = "no NVIDIA GPU was found; it takes a card and NVIDIA's driver (libcuda)";

#[cfg(not(feature = "cuda"))]
pub(super) fn probe() -> Vec<DeviceInfo> {
    vec![super::unusable(mlsys_lab::Backend::Cuda, NOT_BUILT_IN.to_owned())]
}

#[cfg(not(feature = "cuda"))]
pub(super) fn open(_index: usize) -> Result<Device, String> {
    Err(NOT_BUILT_IN.to_owned())
}

#[cfg(not(feature = "cuda"))]
const NOT_BUILT_IN: &str = "this build has no CUDA; build without --no-default-features";
