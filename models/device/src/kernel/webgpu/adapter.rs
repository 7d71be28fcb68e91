//! An adapter opened for kernels, and what it takes.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use mlsys_kernel::{DeviceError, Machine, Subgroups, Wgsl};
use wgpu::{
    Adapter, Backends, Device, DeviceDescriptor, DeviceType, Features, Instance,
    InstanceDescriptor, Limits, Queue,
};

use crate::OpenError;
use crate::guard::DriverError;
use crate::wgpu::{loader_lock, no_adapter};

const WARP: u32 = 32;

static ALL: Mutex<Vec<OpenAdapter>> = Mutex::new(Vec::new());

/// The instance of each graphics API that was asked for, kept so that forgetting an adapter never destroys one.
static INSTANCES: Mutex<Vec<(Backends, Instance)>> = Mutex::new(Vec::new());

#[derive(Clone)]
pub(super) struct OpenAdapter {
    index: usize,
    pub(super) device: Device,
    pub(super) queue: Queue,
    pub(super) subgroups: Subgroups,
    /// Nanoseconds of a tick of its clock, if it can be read.
    pub(super) tick: Option<f64>,
    /// The first error outside an error scope.
    pub(super) complaint: Arc<Mutex<Option<String>>>,
    limits: Limits,
    name: String,
}

impl OpenAdapter {
    pub(super) fn get(index: usize) -> Result<Self, OpenError> {
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = all.iter().find(|opened| opened.index == index) {
            return Ok(opened.clone());
        }
        let opened = Self::open(index)?;
        all.push(opened.clone());
        Ok(opened)
    }

    /// Has the adapter opened anew when it is asked for again.
    pub(super) fn forget(&self) {
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|opened| opened.index != self.index);
    }

    fn open(index: usize) -> Result<Self, OpenError> {
        let _alone = loader_lock();
        let adapter = adapters()?.into_iter().nth(index).ok_or_else(|| no_adapter(index))?;
        let info = adapter.get_info();
        let wanted = Features::TIMESTAMP_QUERY | Features::SUBGROUP | Features::SUBGROUP_BARRIER;
        let features = adapter.features() & wanted;
        // Everything the adapter has: the usual limits are 256 threads a block and 16 KiB of shared memory.
        let limits = adapter.limits();
        let asked = adapter.request_device(&DeviceDescriptor {
            label: Some("kernels"),
            required_features: features,
            required_limits: limits.clone(),
            ..DeviceDescriptor::default()
        });
        let (device, queue) =
            ready(asked)?.map_err(|error| OpenError::NoDevice(error.to_string()))?;
        let complaint = Arc::new(Mutex::new(None));
        let first = Arc::clone(&complaint);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert(error.to_string());
        }));
        let groups = features.contains(Features::SUBGROUP | Features::SUBGROUP_BARRIER);
        let of_32 = info.subgroup_min_size == WARP && info.subgroup_max_size == WARP;
        let tick = f64::from(queue.get_timestamp_period());
        Ok(Self {
            index,
            subgroups: if groups && of_32 { Subgroups::Of32 } else { Subgroups::Other },
            tick: features.contains(Features::TIMESTAMP_QUERY).then_some(tick),
            device,
            queue,
            complaint,
            limits,
            name: info.name,
        })
    }

    /// Refuses a launch beyond a limit of the adapter, with both numbers.
    pub(super) fn check_size(&self, start: &Machine, wgsl: &Wgsl) -> Result<(), DeviceError> {
        let (limits, launch) = (&self.limits, start.launch());
        let bytes = |name: &str| start.bytes_of(name).len() as u64;
        let largest = wgsl.buffers.iter().map(|buffer| bytes(&buffer.name)).max();
        let [x, y, z] = launch.block_dim.map(u64::from);
        let blocks = launch.grid_dim.into_iter().max().unwrap_or(1);
        let [in_block, in_x, in_y, in_z, in_grid, shared, buffers] = [
            limits.max_compute_invocations_per_workgroup,
            limits.max_compute_workgroup_size_x,
            limits.max_compute_workgroup_size_y,
            limits.max_compute_workgroup_size_z,
            limits.max_compute_workgroups_per_dimension,
            limits.max_compute_workgroup_storage_size,
            limits.max_storage_buffers_per_shader_stage,
        ]
        .map(u64::from);
        let in_buffer = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
        for (asked, most, of) in [
            (launch.threads_per_block(), in_block, "threads in a block"),
            (x, in_x, "threads of a block in x"),
            (y, in_y, "threads of a block in y"),
            (z, in_z, "threads of a block in z"),
            (u64::from(blocks), in_grid, "blocks in one dimension of a grid"),
            (u64::from(start.shared_bytes()), shared, "bytes of shared memory a block"),
            (wgsl.buffers.len() as u64, buffers, "buffers"),
            (largest.unwrap_or(0), in_buffer, "bytes in one buffer"),
        ] {
            if asked > most {
                return Err(DeviceError::TooLarge(format!(
                    "{} takes at most {most} {of}, and the launch has {asked}",
                    self.name
                )));
            }
        }
        Ok(())
    }
}

/// The adapters of the graphics API that burn takes, in its order: the first API with an adapter that is no processor
/// in disguise, else the first with any.
fn adapters() -> Result<Vec<Adapter>, DriverError> {
    let chain: &[Backends] = if cfg!(target_os = "macos") {
        &[Backends::METAL]
    } else {
        &[Backends::VULKAN, Backends::DX12, Backends::GL]
    };
    let mut software = Vec::new();
    for &api in chain {
        let found = ready(instance(api).enumerate_adapters(api))?;
        let is_card = |adapter: &Adapter| adapter.get_info().device_type != DeviceType::Cpu;
        if found.iter().any(is_card) {
            return Ok(listed(found));
        }
        if software.is_empty() {
            software = found;
        }
    }
    Ok(listed(software))
}

fn instance(api: Backends) -> Instance {
    let mut all = INSTANCES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, instance)) = all.iter().find(|(of, _)| *of == api) {
        return instance.clone();
    }
    let instance = Instance::new(InstanceDescriptor {
        backends: api,
        ..InstanceDescriptor::new_without_display_handle()
    });
    all.push((api, instance.clone()));
    instance
}

/// As burn lists them: one processor in disguise at most.
fn listed(mut adapters: Vec<Adapter>) -> Vec<Adapter> {
    let mut processors = 0;
    adapters.retain(|adapter| {
        processors += usize::from(adapter.get_info().device_type == DeviceType::Cpu);
        processors < 2 || adapter.get_info().device_type != DeviceType::Cpu
    });
    adapters
}

/// The result of a future of wgpu, which outside of a browser is there at once.
pub(super) fn ready<T>(future: impl Future<Output = T>) -> Result<T, DriverError> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Ok(value),
        Poll::Pending => Err(DriverError::Pending),
    }
}
