//! NVIDIA GPUs. Kernels are CUDA C++ that NVRTC compiles on this machine, so besides the driver that takes
//! the NVRTC library and the CUDA headers.

use std::path::{Path, PathBuf};
use std::{env, fs};

use burn::backend::DispatchDevice;
use burn::tensor::{Device, DeviceType};
use mlsys_lab::device::{Backend, DeviceId, DeviceInfo, DeviceState};

use crate::OpenError;
use crate::guard::guarded;

pub(super) fn probe() -> Result<Vec<DeviceInfo>, OpenError> {
    let devices = guarded(|| {
        // Lists nothing where the driver's library cannot be loaded.
        let count = cards().len();
        // Opening a device without these panics deep inside the back end.
        let missing = missing_toolkit();
        let info = |index| {
            let id = DeviceId { backend: Backend::Cuda, index };
            let unusable = |reason: String| DeviceInfo {
                id,
                name: format!("NVIDIA GPU {index}"),
                ..super::unusable(Backend::Cuda, reason)
            };
            let info = match &missing {
                Some(reason) => unusable(reason.to_string()),
                None => guarded(move || describe(id))
                    .unwrap_or_else(|reason| unusable(reason.to_string())),
            };
            DeviceInfo { driver: driver_version(), ..info }
        };
        (0..count).map(info).collect::<Vec<_>>()
    })?;
    if devices.is_empty() { Err(OpenError::NoCard) } else { Ok(devices) }
}

fn describe(id: DeviceId) -> DeviceInfo {
    let device = Device::cuda(id.index);
    let identity = device.identity();
    DeviceInfo {
        id,
        name: identity.map_or_else(|| format!("NVIDIA GPU {}", id.index), |identity| identity.name),
        memory_bytes: memory(&device),
        precisions: super::precisions(&device),
        driver: None,
        state: DeviceState::Usable,
    }
}

pub(super) fn open(index: usize) -> Result<Device, OpenError> {
    ready(index)?;
    let device = guarded(move || {
        let device = Device::cuda(index);
        device.identity();
        device
    });
    Ok(device?)
}

/// Whether there is a card of this number, and what compiling kernels for it takes.
pub(super) fn ready(index: usize) -> Result<(), OpenError> {
    let count = guarded(|| cards().len())?;
    if count == 0 {
        return Err(OpenError::NoCard);
    }
    if index >= count {
        return Err(OpenError::NoSuchCard { count });
    }
    missing_toolkit().map_or(Ok(()), Err)
}

fn cards() -> Vec<Device> {
    Device::enumerate(DeviceType::Cuda).into_iter().collect()
}

fn memory(device: &Device) -> Option<u64> {
    let DispatchDevice::Cube(device) = device.as_dispatch() else { return None };
    device.client().properties().memory.max_memory()
}

// What compiling kernels at run time needs besides the driver. Files are looked for rather than loaded, because the
// loader of the CUDA bindings panics where a library is missing.

/// What is missing of the toolkit; none if everything is there.
fn missing_toolkit() -> Option<OpenError> {
    let compiler = (!has_nvrtc()).then_some("the library NVRTC (libnvrtc)");
    let headers = (!has_headers()).then_some("the CUDA headers (cuda_fp16.h)");
    let parts: Vec<_> = compiler.into_iter().chain(headers).collect();
    (!parts.is_empty()).then(|| OpenError::Toolkit { missing: parts.join(" nor ") })
}

fn driver_version() -> Option<String> {
    let version = fs::read_to_string("/sys/module/nvidia/version").ok()?;
    Some(format!("NVIDIA driver {}", version.trim()))
}

fn has_headers() -> bool {
    cubecl_cuda::install::cuda_path().is_some_and(|path| path.join("include/cuda_fp16.h").is_file())
}

fn has_nvrtc() -> bool {
    let variable = if cfg!(windows) { "PATH" } else { "LD_LIBRARY_PATH" };
    let listed = env::var_os(variable);
    let listed = listed.iter().flat_map(|listed| env::split_paths(listed));
    let standard = ["/lib", "/lib64", "/usr/lib", "/usr/lib64"].map(PathBuf::from);
    listed.chain(standard).any(|folder| holds_nvrtc(&folder)) || is_in_loader_cache()
}

fn holds_nvrtc(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with("libnvrtc.so") || (name.starts_with("nvrtc64_") && name.ends_with(".dll"))
    })
}

/// Linux keeps the names of all libraries in configured folders in one file.
fn is_in_loader_cache() -> bool {
    const NAME: &[u8] = b"libnvrtc.so";
    fs::read("/etc/ld.so.cache")
        .is_ok_and(|cache| cache.windows(NAME.len()).any(|window| window == NAME))
}
