//! Kernels as WGSL on wgpu.
//!
//! Shaders are compiled with the checks of WebGPU: an index beyond an array reads or writes inside it or nothing, and a
//! loop ends after some 2^64 turns, so that even a wrong kernel stays within its own buffers.

mod opened;
mod order;

use mlsys_kernel::{DeviceError, LaunchRequest, LaunchResult, Target};

use crate::guard::guarded;
use opened::OpenAdapter;
use order::OwnedLaunch;

/// Runs a kernel on the adapter of this number, counted as probing lists them.
pub(super) fn launch(index: usize, work: &LaunchRequest<'_>) -> Result<LaunchResult, DeviceError> {
    let opened = guarded(move || OpenAdapter::of(index))
        .and_then(|opened| opened)
        .map_err(DeviceError::NoDevice)?;
    let launch = work.start.launch();
    let target = Target {
        block_dim: launch.block_dim,
        dynamic_shared: launch.dynamic_shared,
        subgroups: opened.subgroups,
    };
    let wgsl = work.kernel.wgsl(target).map_err(|diagnostics| DeviceError::Untranslated {
        file: work.file.to_owned(),
        diagnostics,
    })?;
    opened.takes(work.start, &wgsl).map_err(DeviceError::TooLarge)?;
    let order = OwnedLaunch::new(wgsl, work.start);
    let run = {
        let opened = opened.clone();
        move || order.run(&opened)
    };
    let answer = guarded(run).and_then(|answer| answer);
    if answer.is_err() {
        // Whatever state it is in: the next launch opens the adapter anew.
        opened.forget();
    }
    answer.map_err(DeviceError::Failed)
}
