//! How many bytes live on a device: by its own allocator, or on the processor by the system's.

use burn::tensor::Device;
use mlsys_lab::DeviceId;
use mlsys_lab::device::Backend;

use super::cpu;

/// Bytes that live tensors take, by the device's allocator. The processor's back end keeps no count: there it is all that
/// the program has allocated, so that only differences say something of tensors.
pub fn in_use(device: &Device, id: DeviceId) -> Option<u64> {
    match id.backend {
        Backend::Cpu => cpu::allocated(),
        Backend::Wgpu | Backend::Cuda => device.memory_pool_usage().map(|usage| usage.bytes_in_use),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepMemory {
    /// Bytes that the forward pass left behind for the backward pass, with the batch.
    pub kept: u64,
    /// Most bytes in use at a moment that was looked at, with what was there before.
    pub most: u64,
}

pub struct MemoryGauge<'a> {
    device: &'a Device,
    id: DeviceId,
    before: u64,
    held: StepMemory,
}

impl<'a> MemoryGauge<'a> {
    /// Before the forward pass, where the device tells.
    pub fn open(device: &'a Device, id: DeviceId) -> Option<Self> {
        let before = in_use(device, id)?;
        let held = StepMemory { kept: 0, most: before };
        Some(Self { device, id, before, held })
    }

    /// After the forward pass, when nothing of the backward pass has begun.
    pub fn forward_ends(&mut self) {
        self.held.kept = self.look().saturating_sub(self.before);
    }

    pub fn look(&mut self) -> u64 {
        let now = in_use(self.device, self.id).unwrap_or(0);
        self.held.most = self.held.most.max(now);
        now
    }

    /// After the backward pass, while the gradients are there.
    pub fn close(mut self) -> StepMemory {
        self.look();
        self.held
    }
}
