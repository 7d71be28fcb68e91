use std::fs;
use std::thread;

use burn::tensor::Device;
use mlsys_lab::device::{DeviceId, DeviceInfo, DeviceState};

/// The processor, which is always there.
pub(super) fn probe() -> DeviceInfo {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let model =
        field("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    DeviceInfo {
        id: DeviceId::CPU,
        name: format!("{model}, {threads} threads"),
        memory_bytes: kibibytes("MemTotal"),
        precisions: super::precisions(&Device::flex()),
        driver: Some("burn flex".to_owned()),
        state: DeviceState::Usable,
    }
}

/// Bytes that programs may still take, as the kernel estimates them.
pub(super) fn free_memory() -> Option<u64> {
    kibibytes("MemAvailable")
}

fn kibibytes(name: &str) -> Option<u64> {
    let text = field("/proc/meminfo", name)?;
    let count: u64 = text.strip_suffix("kB")?.trim().parse().ok()?;
    Some(count * 1024)
}

/// The value of the first line `name : value` of a file, on systems that have it.
fn field(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let value = text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim().to_owned())
    })?;
    (!value.is_empty()).then_some(value)
}
