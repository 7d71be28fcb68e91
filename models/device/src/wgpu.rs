//! GPUs through Vulkan, Metal or Direct3D.

use std::sync::{Mutex, MutexGuard, PoisonError};

use burn::tensor::{Device, DeviceType};
use mlsys_lab::device::{Backend, DeviceId, DeviceInfo, DeviceState};

use crate::OpenError;
use crate::guard::guarded;

/// Held while an instance of a graphics API may come or go, burn's or our own: the Vulkan loader crashes when that
/// happens on several threads at once, and burn's lock keeps off burn only.
static LOADER: Mutex<()> = Mutex::new(());

pub(super) fn loader_lock() -> MutexGuard<'static, ()> {
    // A poisoned lock guards no data that could be half written.
    LOADER.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn probe() -> Result<Vec<DeviceInfo>, OpenError> {
    let devices = guarded(|| {
        let _alone = loader_lock();
        adapters().into_iter().enumerate().map(|(index, device)| describe(index, &device)).collect()
    });
    let devices: Vec<DeviceInfo> = devices?;
    if devices.is_empty() { Err(OpenError::NoAdapter) } else { Ok(devices) }
}

fn describe(index: usize, device: &Device) -> DeviceInfo {
    // Opens the device, which is what may fail.
    let identity = device.identity();
    let card = identity.as_ref().is_some_and(|identity| identity.physical.is_some());
    let name = identity.as_ref().map(|identity| identity.name.clone());
    DeviceInfo {
        id: DeviceId { backend: Backend::Wgpu, index },
        name: name.unwrap_or_else(|| format!("adapter {index}")),
        memory_bytes: None,
        precisions: super::precisions(device),
        driver: identity.map(|identity| identity.fingerprint),
        state: if card { DeviceState::Usable } else { DeviceState::Software },
    }
}

/// Opens the adapter of this number, counted as probing lists them.
pub(super) fn open(index: usize) -> Result<Device, OpenError> {
    let found = guarded(move || {
        let _alone = loader_lock();
        let device = adapters().into_iter().nth(index)?;
        device.identity();
        Some(device)
    });
    found?.ok_or_else(|| no_adapter(index))
}

pub(super) fn no_adapter(index: usize) -> OpenError {
    if index == 0 { OpenError::NoAdapter } else { OpenError::NoSuchAdapter(index) }
}

fn adapters() -> Vec<Device> {
    Device::enumerate(DeviceType::Wgpu).into_iter().collect()
}
