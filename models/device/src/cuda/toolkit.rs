//! What compiling kernels at run time needs besides the driver. Files are looked for rather than loaded,
//! because the loader of the CUDA bindings panics where a library is missing.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// What is missing, as a sentence that says what to install; none if everything is there.
pub(super) fn missing() -> Option<String> {
    let compiler = (!has_nvrtc()).then_some("the library NVRTC (libnvrtc)");
    let headers = (!has_headers()).then_some("the CUDA headers (cuda_fp16.h)");
    let parts: Vec<_> = compiler.into_iter().chain(headers).collect();
    (!parts.is_empty()).then(|| {
        format!(
            "the driver is there, but not {}; install the CUDA toolkit and set CUDA_PATH to its folder",
            parts.join(" nor ")
        )
    })
}

/// The version of the kernel driver, where the system tells.
pub(super) fn driver_version() -> Option<String> {
    let version = fs::read_to_string("/sys/module/nvidia/version").ok()?;
    Some(format!("NVIDIA driver {}", version.trim()))
}

fn has_headers() -> bool {
    cubecl_cuda::install::cuda_path().is_some_and(|path| path.join("include/cuda_fp16.h").is_file())
}

/// Whether the system's loader would find the library.
fn has_nvrtc() -> bool {
    let variable = if cfg!(windows) { "PATH" } else { "LD_LIBRARY_PATH" };
    let listed = env::var_os(variable).unwrap_or_default();
    let standard = ["/lib", "/lib64", "/usr/lib", "/usr/lib64"].map(PathBuf::from);
    let folders = env::split_paths(&listed).chain(standard);
    folders.into_iter().any(|folder| holds_nvrtc(&folder)) || is_in_loader_cache()
}

fn holds_nvrtc(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else {
        return false;
    };
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
