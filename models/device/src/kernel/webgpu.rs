//! Kernels as WGSL on wgpu.
//!
//! Shaders are compiled with the checks of WebGPU: an index beyond an array reads or writes inside it or nothing, and a
//! loop ends after some 2^64 turns, so that even a wrong kernel stays within its own buffers.

mod adapter;

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use mlsys_kernel::types::Access;
use mlsys_kernel::{
    BoundArgument, Clock, DeviceError, LaunchRequest, LaunchResult, Machine, Target, Wgsl,
};
use wgpu::util::{BufferInitDescriptor, DeviceExt};
use wgpu::{
    BindGroup, BindGroupDescriptor, BindGroupEntry, BindGroupLayoutDescriptor,
    BindGroupLayoutEntry, BindingType, Buffer, BufferBindingType, BufferDescriptor, BufferUsages,
    CommandEncoder, CommandEncoderDescriptor, ComputePassDescriptor, ComputePassTimestampWrites,
    ComputePipeline, ComputePipelineDescriptor, Device, ErrorFilter, MapMode,
    PipelineCompilationOptions, PipelineLayoutDescriptor, PollType, QuerySet, QuerySetDescriptor,
    QueryType, ShaderModuleDescriptor, ShaderSource, ShaderStages,
};

use super::timed;
use crate::guard::{DriverError, TIMEOUT, guarded};
use adapter::{OpenAdapter, ready};
use mlsys_lab::median;

/// Runs a kernel on the adapter of this number, counted as probing lists them.
pub(super) fn launch(index: usize, work: &LaunchRequest<'_>) -> Result<LaunchResult, DeviceError> {
    let opened = match guarded(move || OpenAdapter::get(index)) {
        Ok(Ok(opened)) => opened,
        Ok(Err(error)) => return Err(DeviceError::NoDevice(error.to_string())),
        Err(error) => return Err(DeviceError::NoDevice(error.to_string())),
    };
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
    opened.check_size(work.start, &wgsl)?;
    let owned = OwnedLaunch::new(wgsl, work.start);
    let adapter = opened.clone();
    let answer = guarded(move || owned.run(&adapter)).map_err(LaunchError::from);
    answer.and_then(|answer| answer).map_err(|error| {
        // Whatever state it is in: the next launch opens the adapter anew.
        opened.forget();
        DeviceError::Failed(error.to_string())
    })
}

/// How a launch failed; strings are what wgpu or the driver says.
#[derive(Debug, thiserror::Error)]
enum LaunchError {
    #[error(transparent)]
    Driver(#[from] DriverError),
    #[error("its driver refused the kernel: {0}")]
    Refused(String),
    #[error("its driver complained: {0}")]
    Complaint(String),
    #[error("it did not end within {} s", .0.as_secs())]
    Timeout(Duration),
    #[error("waiting for it failed: {0}")]
    Wait(String),
    #[error("its memory cannot be read: {0}")]
    Read(String),
}

/// One launch, ready to be given to an adapter: nothing in it borrows, so that a driver that hangs keeps it.
struct OwnedLaunch {
    wgsl: Wgsl,
    grid: [u32; 3],
    contents: Vec<Vec<u8>>,
    /// The numbers, one after the other, as the uniform holds them.
    numbers: Vec<u8>,
}

struct Prepared {
    pipeline: ComputePipeline,
    group: BindGroup,
    /// Each storage buffer, and its contents before a launch where the kernel may write.
    buffers: Vec<(Buffer, Option<Buffer>)>,
    stamps: Option<Timestamps>,
}

/// Reads the adapter's clock around a kernel.
struct Timestamps {
    set: QuerySet,
    resolved: Buffer,
    tick: f64,
}

impl OwnedLaunch {
    fn new(wgsl: Wgsl, start: &Machine) -> Self {
        let (mut contents, mut numbers) = (Vec::new(), Vec::new());
        for given in start.bound_arguments() {
            match given {
                BoundArgument::Buffer { bytes, .. } => contents.push(bytes.to_vec()),
                BoundArgument::Number { bits, .. } => {
                    numbers.extend_from_slice(&(bits as u32).to_le_bytes())
                }
            }
        }
        Self { wgsl, grid: start.launch().grid_dim, contents, numbers }
    }

    /// Runs it: once without a clock, then some times with one.
    fn run(&self, opened: &OpenAdapter) -> Result<LaunchResult, LaunchError> {
        let device = &opened.device;
        let scopes = [ErrorFilter::Internal, ErrorFilter::OutOfMemory, ErrorFilter::Validation]
            .map(|filter| device.push_error_scope(filter));
        let prepared = self.prepare(opened);
        // The last one that was pushed is the first to go.
        let mut refused = None;
        for scope in scopes.into_iter().rev() {
            refused = refused.or(ready(scope.pop())?);
        }
        if let Some(error) = refused {
            return Err(LaunchError::Refused(error.to_string()));
        }
        let mut clock = Clock::Device;
        self.launch(opened, &prepared)?;
        let times = timed(|| {
            let (seconds, by) = self.launch(opened, &prepared)?;
            // If the timestamps did not advance, the host clock is used.
            if by == Clock::Host {
                clock = Clock::Host;
            }
            Ok::<_, LaunchError>(seconds)
        })?;
        let buffers = prepared.buffers.iter().zip(&self.contents);
        let buffers = buffers
            .map(|((buffer, pristine), contents)| match pristine {
                Some(_) => read(opened, buffer),
                None => Ok(contents.clone()),
            })
            .collect::<Result<_, LaunchError>>()?;
        Ok(LaunchResult {
            buffers,
            launches: times.len(),
            seconds: median(times.into_iter()).unwrap_or(0.0),
            clock,
        })
    }

    fn prepare(&self, opened: &OpenAdapter) -> Prepared {
        let device = &opened.device;
        let init = |contents: &[u8], usage: BufferUsages| {
            device.create_buffer_init(&BufferInitDescriptor { label: None, contents, usage })
        };
        let mut buffers = Vec::new();
        for (binding, contents) in self.wgsl.buffers.iter().zip(&self.contents) {
            let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC;
            let pristine = match binding.access {
                Access::Mutable => Some(init(contents, BufferUsages::COPY_SRC)),
                Access::Constant => None,
            };
            buffers.push((init(contents, usage), pristine));
        }
        // Every binding is in the layout, also one that the kernel never looks at.
        let storage = self.wgsl.buffers.iter().map(|binding| BufferBindingType::Storage {
            read_only: binding.access == Access::Constant,
        });
        let uniform = (!self.wgsl.numbers.is_empty()).then_some(BufferBindingType::Uniform);
        let entries: Vec<_> = (0..)
            .zip(storage.chain(uniform))
            .map(|(binding, ty)| BindGroupLayoutEntry {
                binding,
                visibility: ShaderStages::COMPUTE,
                ty: BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
                count: None,
            })
            .collect();
        let layout = device.create_bind_group_layout(&BindGroupLayoutDescriptor {
            label: None,
            entries: &entries,
        });
        let mut numbers = self.numbers.clone();
        numbers.resize(numbers.len().next_multiple_of(16).max(16), 0);
        let numbers = init(&numbers, BufferUsages::UNIFORM);
        let uniform = uniform.map(|_| &numbers);
        let bound = buffers.iter().map(|(buffer, _)| buffer).chain(uniform);
        let entries: Vec<_> = (0..)
            .zip(bound)
            .map(|(binding, buffer)| BindGroupEntry {
                binding,
                resource: buffer.as_entire_binding(),
            })
            .collect();
        let group = device.create_bind_group(&BindGroupDescriptor {
            label: None,
            layout: &layout,
            entries: &entries,
        });
        let module = device.create_shader_module(ShaderModuleDescriptor {
            label: Some(&self.wgsl.entry),
            source: ShaderSource::Wgsl(self.wgsl.text.as_str().into()),
        });
        let layout = device.create_pipeline_layout(&PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let pipeline = device.create_compute_pipeline(&ComputePipelineDescriptor {
            label: Some(&self.wgsl.entry),
            layout: Some(&layout),
            module: &module,
            entry_point: Some(&self.wgsl.entry),
            compilation_options: PipelineCompilationOptions {
                // Shared memory holds nothing at the start, in CUDA as here.
                zero_initialize_workgroup_memory: false,
                ..PipelineCompilationOptions::default()
            },
            cache: None,
        });
        Prepared {
            pipeline,
            group,
            buffers,
            stamps: opened.tick.map(|tick| Timestamps::new(device, tick)),
        }
    }

    /// One launch on fresh contents; the seconds it took, and by which clock.
    fn launch(&self, opened: &OpenAdapter, ready: &Prepared) -> Result<(f64, Clock), LaunchError> {
        // The contents first, and waited for, so that the processor's clock sees the kernel alone.
        submit(opened, |encoder| {
            for (buffer, pristine) in &ready.buffers {
                if let Some(pristine) = pristine {
                    encoder.copy_buffer_to_buffer(pristine, 0, buffer, 0, pristine.size());
                }
            }
        })?;
        let begun = Instant::now();
        submit(opened, |encoder| {
            let mut pass = encoder.begin_compute_pass(&ComputePassDescriptor {
                label: Some(&self.wgsl.entry),
                timestamp_writes: ready.stamps.as_ref().map(Timestamps::writes),
            });
            pass.set_pipeline(&ready.pipeline);
            pass.set_bind_group(0, &ready.group, &[]);
            let [x, y, z] = self.grid;
            pass.dispatch_workgroups(x, y, z);
        })?;
        let elapsed = begun.elapsed().as_secs_f64();
        let stamped = match &ready.stamps {
            Some(stamps) => stamps.read(opened)?,
            None => None,
        };
        Ok(match stamped {
            Some(seconds) => (seconds, Clock::Device),
            None => (elapsed, Clock::Host),
        })
    }
}

impl Timestamps {
    fn new(device: &Device, tick: f64) -> Self {
        Self {
            set: device.create_query_set(&QuerySetDescriptor {
                label: None,
                ty: QueryType::Timestamp,
                count: 2,
            }),
            resolved: device.create_buffer(&BufferDescriptor {
                label: None,
                size: 16,
                usage: BufferUsages::QUERY_RESOLVE | BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            }),
            tick,
        }
    }

    fn writes(&self) -> ComputePassTimestampWrites<'_> {
        ComputePassTimestampWrites {
            query_set: &self.set,
            beginning_of_pass_write_index: Some(0),
            end_of_pass_write_index: Some(1),
        }
    }

    /// Seconds between the two; none if the clock did not move.
    fn read(&self, opened: &OpenAdapter) -> Result<Option<f64>, LaunchError> {
        submit(opened, |encoder| {
            encoder.resolve_query_set(&self.set, 0..2, &self.resolved, 0);
        })?;
        let bytes = read(opened, &self.resolved)?;
        let stamp = |at: usize| {
            let bytes = bytes.get(at..at + 8)?;
            Some(u64::from_le_bytes(bytes.try_into().ok()?))
        };
        let ticks = match (stamp(0), stamp(8)) {
            (Some(begin), Some(end)) => end.saturating_sub(begin),
            (None, _) | (_, None) => 0,
        };
        Ok((ticks > 0).then_some(ticks as f64 * self.tick * 1e-9))
    }
}

fn submit(
    opened: &OpenAdapter,
    record: impl FnOnce(&mut CommandEncoder),
) -> Result<(), LaunchError> {
    let device = &opened.device;
    let mut encoder = device.create_command_encoder(&CommandEncoderDescriptor::default());
    record(&mut encoder);
    opened.queue.submit([encoder.finish()]);
    wait(opened)
}

fn wait(opened: &OpenAdapter) -> Result<(), LaunchError> {
    // Somewhat less than a driver is given in all, so that it is this sentence that is read.
    let timeout = TIMEOUT - Duration::from_secs(2);
    let waited =
        opened.device.poll(PollType::Wait { submission_index: None, timeout: Some(timeout) });
    let mut complaint = opened.complaint.lock().unwrap_or_else(PoisonError::into_inner);
    match (complaint.take(), waited) {
        (Some(complaint), _) => Err(LaunchError::Complaint(complaint)),
        (None, Err(wgpu::PollError::Timeout)) => Err(LaunchError::Timeout(timeout)),
        (None, Err(error)) => Err(LaunchError::Wait(error.to_string())),
        (None, Ok(_)) => Ok(()),
    }
}

fn read(opened: &OpenAdapter, buffer: &Buffer) -> Result<Vec<u8>, LaunchError> {
    let staging = opened.device.create_buffer(&BufferDescriptor {
        label: None,
        size: buffer.size(),
        usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    submit(opened, |encoder| {
        encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, buffer.size());
    })?;
    // That it failed shows where the bytes are asked for.
    staging.map_async(MapMode::Read, .., |_| ());
    wait(opened)?;
    let view =
        staging.get_mapped_range(..).map_err(|error| LaunchError::Read(error.to_string()))?;
    Ok(view.to_vec())
}
