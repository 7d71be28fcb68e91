//! burn's own probe of a GPU's arithmetic: chains of multiply-adds in registers, or tiles on its matrix units.

use burn::backend::DispatchDevice;
use burn::cubecl::ir::{ElemType, FloatKind};
use burn::cubecl::throughput::{compute_throughput_key, select_cmma_tile};
use burn::tensor::{Device, ThroughputKey, ThroughputMode};

use super::{ComputeUnits, Precision};

/// Tiles of any size will do.
const ANY_TILE: (usize, usize, usize) = (usize::MAX, usize::MAX, usize::MAX);

/// The highest rate in flop/s that the probe reaches, which it keeps for later calls.
pub(super) fn peak(
    device: &Device,
    precision: Precision,
    units: ComputeUnits,
) -> Result<f64, String> {
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
        .ok_or_else(|| {
            format!("burn's probe found no rate of its arithmetic in {}", precision.name())
        })
}
