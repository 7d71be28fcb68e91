use std::{fs, thread};

use burn::tensor::Device;
use mlsys_lab::device::{DeviceId, DeviceInfo, DeviceState};

pub(super) fn probe() -> DeviceInfo {
    DeviceInfo {
        id: DeviceId::CPU,
        name: name(),
        memory_bytes: kibibytes("MemTotal"),
        precisions: super::precisions(&Device::flex()),
        driver: Some("burn flex".to_owned()),
        state: DeviceState::Usable,
    }
}

/// The processor's model and how many threads it runs at once.
pub(super) fn name() -> String {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let model =
        field("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    format!("{model}, {threads} threads")
}

/// Bytes of the largest cache that the first core has or shares, where the system tells.
pub(super) fn last_cache() -> Option<u64> {
    let caches = fs::read_dir("/sys/devices/system/cpu/cpu0/cache").ok()?;
    let sizes = caches.filter_map(|cache| {
        let text = fs::read_to_string(cache.ok()?.path().join("size")).ok()?;
        let kibibytes: u64 = text.trim().strip_suffix('K')?.parse().ok()?;
        Some(kibibytes * 1024)
    });
    sizes.max()
}

/// Bytes that programs may still take, as the kernel estimates them.
pub(super) fn free_memory() -> Option<u64> {
    kibibytes("MemAvailable")
}

/// Bytes that the program has allocated and not freed, where the C library counts them. Asking takes a fraction of a
/// millisecond; not asking costs nothing, unlike an allocator that counts.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(super) fn allocated() -> Option<u64> {
    use malloc_info::info::{SystemType, TotalType};

    let counts = malloc_info::malloc_info().ok()?;
    let of_system = |kind| counts.system.iter().find(|part| part.r#type == kind);
    let of_total = |kind| counts.total.iter().find(|part| part.r#type == kind);
    let heaps = of_system(SystemType::Current)?.size;
    let free = of_total(TotalType::Fast)?.size + of_total(TotalType::Rest)?.size;
    let mapped = of_total(TotalType::Mmap)?.size;
    Some((heaps.saturating_sub(free) + mapped) as u64)
}

/// Bytes that the program has allocated and not freed: not available here.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(super) fn allocated() -> Option<u64> {
    None
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

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    #[test]
    fn allocations_are_counted_until_freed() {
        // Far more than other tests allocate meanwhile.
        let bytes = 1 << 28;
        let before = super::allocated().unwrap();
        // A block that is never read is not allocated at all in an optimised build.
        let block = std::hint::black_box(vec![1_u8; bytes]);
        let with = super::allocated().unwrap();
        assert!(with.abs_diff(before + block.len() as u64) < 1 << 26, "{before} {with}");
        drop(block);
        assert!(super::allocated().unwrap().abs_diff(before) < 1 << 26);
    }
}
