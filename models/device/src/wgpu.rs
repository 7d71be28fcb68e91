//! GPUs through Vulkan, Metal or Direct3D.

use burn::tensor::Device;
use mlsys_lab::device::DeviceInfo;

/// Held while an instance of a graphics API may come or go, burn's or our own: the Vulkan loader crashes when that
/// happens on several threads at once, and burn's lock keeps off burn only.
#[cfg(feature = "wgpu")]
static LOADER: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// Waits for the lock on the Vulkan loader.
#[cfg(feature = "wgpu")]
pub(super) fn loader_lock() -> std::sync::MutexGuard<'static, ()> {
    // One that panicked left nothing half done behind: there is nothing in it.
    LOADER.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(feature = "wgpu")]
pub(super) fn probe() -> Vec<DeviceInfo> {
    use mlsys_lab::device::{Backend, DeviceId, DeviceState};

    let found = super::guard::guarded(|| {
        let _alone = loader_lock();
        adapters()
            .into_iter()
            .enumerate()
            .map(|(index, device)| {
                // Opens the device, which is what may fail.
                let identity = device.identity();
                let card = identity.as_ref().is_some_and(|identity| identity.physical.is_some());
                DeviceInfo {
                    id: DeviceId { backend: Backend::Wgpu, index },
                    name: identity
                        .as_ref()
                        .map_or_else(|| format!("adapter {index}"), |i| i.name.clone()),
                    memory_bytes: None,
                    precisions: super::precisions(&device),
                    driver: identity.map(|identity| identity.fingerprint),
                    state: if card { DeviceState::Usable } else { DeviceState::Software },
                }
            })
            .collect::<Vec<_>>()
    });
    match found {
        Ok(devices) if devices.is_empty() => {
            vec![super::unusable(Backend::Wgpu, NO_ADAPTER.to_owned())]
        }
        Ok(devices) => devices,
        Err(reason) => vec![super::unusable(Backend::Wgpu, reason)],
    }
}

/// Opens the adapter of this number, counted as probing lists them.
#[cfg(feature = "wgpu")]
pub(super) fn open(index: usize) -> Result<Device, String> {
    super::guard::guarded(move || {
        let _alone = loader_lock();
        let device = adapters().into_iter().nth(index)?;
        device.identity();
        Some(device)
    })?
    .ok_or_else(|| {
        if index == 0 { NO_ADAPTER.to_owned() } else { format!("there is no adapter {index}") }
    })
}

#[cfg(feature = "wgpu")]
fn adapters() -> Vec<Device> {
    Device::enumerate(burn::tensor::DeviceType::Wgpu).into_iter().collect()
}

#[cfg(feature = "wgpu")]
pub(super) const NO_ADAPTER: &str = "no graphics adapter was found; install the GPU's Vulkan driver (a software one: Mesa's lavapipe)";

#[cfg(not(feature = "wgpu"))]
pub(super) fn probe() -> Vec<DeviceInfo> {
    vec![super::unusable(mlsys_lab::Backend::Wgpu, NOT_BUILT_IN.to_owned())]
}

#[cfg(not(feature = "wgpu"))]
pub(super) fn open(_index: usize) -> Result<Device, String> {
    Err(NOT_BUILT_IN.to_owned())
}

#[cfg(not(feature = "wgpu"))]
const NOT_BUILT_IN: &str = "this build has no wgpu; build without --no-default-features";
