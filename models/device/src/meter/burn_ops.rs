//! Bandwidth and the cost of a start by burn's own operations, on any device; on a GPU also burn's probe of its arithmetic.

#[cfg(any(feature = "wgpu", feature = "cuda"))]
use crate::meter::{ComputeUnits, Precision};
use crate::timing::Workload;
use burn::tensor::{DType, Device, Tensor};
use mlsys_lab::{DeviceId, LabError};
use std::hint::black_box;
use std::time::Instant;

/// Something that burn computes, done over and over; its operands are on the device already.
struct Computing<F> {
    device: Device,
    id: DeviceId,
    compute: F,
    amount: f64,
    waits: Waits,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Waits {
    /// After the last operation: what starting the others costs is hidden behind them.
    Once,
    /// After each: starting it is what is measured.
    EachTime,
}

/// One number added to every element: reads one buffer and writes another.
pub(super) fn copy(device: &Device, id: DeviceId, bytes: u64) -> Box<dyn Workload> {
    let (operand, count) = ones(device, bytes / 4);
    let add = move || operand.clone().add_scalar(1.0);
    timed(device, id, add, (8.0 * count, Waits::Once))
}

pub(super) fn read(device: &Device, id: DeviceId, bytes: u64) -> Box<dyn Workload> {
    let (operand, count) = ones(device, bytes / 4);
    timed(device, id, move || operand.clone().sum(), (4.0 * count, Waits::Once))
}

/// NaN if the device gives no number.
pub(super) fn checksum(device: &Device, bytes: u64) -> f64 {
    let (operand, count) = ones(device, bytes / 4);
    operand.sum().into_data().iter::<f64>().next().unwrap_or(f64::NAN) / count
}

pub(super) fn launch(device: &Device, id: DeviceId) -> Box<dyn Workload> {
    let (operand, count) = ones(device, 1);
    let add = move || operand.clone().add_scalar(1.0);
    timed(device, id, add, (count, Waits::EachTime))
}

fn ones(device: &Device, count: u64) -> (Tensor<1>, f64) {
    let count = usize::try_from(count).unwrap_or(usize::MAX).max(1);
    (Tensor::ones([count], (device, DType::F32)), count as f64)
}

/// Work of which only passes are counted.
pub fn computing<T>(
    device: &Device,
    id: DeviceId,
    compute: impl Fn() -> T + 'static,
) -> Box<dyn Workload> {
    timed(device, id, compute, (1.0, Waits::Once))
}

fn timed<T>(
    device: &Device,
    id: DeviceId,
    compute: impl Fn() -> T + 'static,
    (amount, waits): (f64, Waits),
) -> Box<dyn Workload> {
    Box::new(Computing { device: device.clone(), id, compute, amount, waits })
}

impl<T, F: Fn() -> T> Workload for Computing<F> {
    fn amount(&self) -> f64 {
        self.amount
    }

    fn time(&mut self, passes: u64) -> Result<f64, LabError> {
        crate::sync(&self.device, self.id)?;
        let started = Instant::now();
        for _ in 0..passes {
            drop(black_box((self.compute)()));
            if self.waits == Waits::EachTime {
                crate::sync(&self.device, self.id)?;
            }
        }
        crate::sync(&self.device, self.id)?;
        Ok(started.elapsed().as_secs_f64())
    }
}

/// The highest rate in flop/s that burn's probe reaches, which it keeps for later calls: by chains of multiply-adds in
/// registers, or by tiles on matrix units.
#[cfg(any(feature = "wgpu", feature = "cuda"))]
pub(super) fn peak(device: &Device, precision: Precision, units: ComputeUnits) -> Option<f64> {
    use burn::backend::DispatchDevice;
    use burn::cubecl::ir::{ElemType, FloatKind};
    use burn::cubecl::throughput::{compute_throughput_key, select_cmma_tile};
    use burn::tensor::{ThroughputKey, ThroughputMode};

    const ANY_TILE: (usize, usize, usize) = (usize::MAX, usize::MAX, usize::MAX);
    let kind = match precision {
        Precision::Fp32 => FloatKind::F32,
        Precision::Fp16 => FloatKind::F16,
        Precision::Bf16 => FloatKind::BF16,
    };
    let dtype = ElemType::Float(kind);
    let mut keys = vec![ThroughputKey { mode: ThroughputMode::ComputeDirect { dtype } }];
    let operand = match (precision, units) {
        (Precision::Fp32, ComputeUnits::Plain) => None,
        // burn's products in single precision run on matrix units in TF32 where there are some.
        (Precision::Fp32, ComputeUnits::Products) => Some(ElemType::Float(FloatKind::TF32)),
        (Precision::Fp16 | Precision::Bf16, ComputeUnits::Plain | ComputeUnits::Products) => {
            Some(dtype)
        }
    };
    if let (Some(operand), DispatchDevice::Cube(cube)) = (operand, device.as_dispatch()) {
        let sums = ElemType::Float(FloatKind::F32);
        let tile = select_cmma_tile(&cube.client(), operand, operand, sums, ANY_TILE);
        if tile.is_some() {
            keys.push(compute_throughput_key(tile, operand, sums));
        }
    }
    device
        .performance_stats(&keys)
        .into_iter()
        .filter_map(|stat| Some(stat.value.ok()?.ops_per_s()))
        .filter(|rate| rate.is_finite() && *rate > 0.0)
        .reduce(f64::max)
}
