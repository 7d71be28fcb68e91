//! Bandwidth and the cost of a start by burn's own operations, on any device.

use crate::meter::Workload;
use burn::tensor::{DType, Device, Tensor};
use mlsys_lab::{DeviceId, LabError};
use std::hint::black_box;
use std::time::Instant;

/// One operation on one tensor.
struct Operation {
    device: Device,
    id: DeviceId,
    operand: Tensor<1>,
    work: fn(&Tensor<1>) -> Tensor<1>,
    amount: f64,
    waits: Waits,
}

/// When the clock waits for the device.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waits {
    /// After the last operation: what starting the others costs is hidden behind them.
    Once,
    /// After each: starting it is what is measured.
    EachTime,
}

/// One number added to every element: reads one buffer and writes another.
pub(super) fn copy(device: &Device, id: DeviceId, bytes: u64) -> Box<dyn Workload> {
    let operand = ones(device, bytes / 4);
    Box::new(Operation {
        amount: 8.0 * operand.dims()[0] as f64,
        work: |operand| operand.clone().add_scalar(1.0),
        waits: Waits::Once,
        operand,
        device: device.clone(),
        id,
    })
}

/// The sum of a buffer.
pub(super) fn read(device: &Device, id: DeviceId, bytes: u64) -> Box<dyn Workload> {
    let operand = ones(device, bytes / 4);
    Box::new(Operation {
        amount: 4.0 * operand.dims()[0] as f64,
        work: |operand| operand.clone().sum(),
        waits: Waits::Once,
        operand,
        device: device.clone(),
        id,
    })
}

/// An addition of one element.
pub(super) fn launch(device: &Device, id: DeviceId) -> Box<dyn Workload> {
    Box::new(Operation {
        amount: 1.0,
        work: |operand| operand.clone().add_scalar(1.0),
        waits: Waits::EachTime,
        operand: ones(device, 1),
        device: device.clone(),
        id,
    })
}

fn ones(device: &Device, count: u64) -> Tensor<1> {
    let count = usize::try_from(count).unwrap_or(usize::MAX).max(1);
    Tensor::ones([count], (device, DType::F32))
}

impl Workload for Operation {
    fn amount(&self) -> f64 {
        self.amount
    }

    fn time(&mut self, passes: u64) -> Result<f64, LabError> {
        crate::sync(&self.device, self.id)?;
        let started = Instant::now();
        for _ in 0..passes {
            drop(black_box((self.work)(&self.operand)));
            if self.waits == Waits::EachTime {
                crate::sync(&self.device, self.id)?;
            }
        }
        crate::sync(&self.device, self.id)?;
        Ok(started.elapsed().as_secs_f64())
    }
}

// Whatever burn computes, as work to be timed.

/// Work of which only passes are counted: its operands must be on the device already.
pub fn computing<T>(
    device: &Device,
    id: DeviceId,
    compute: impl Fn() -> T + 'static,
) -> Box<dyn Workload> {
    Box::new(Computing { device: device.clone(), id, compute })
}

struct Computing<F> {
    device: Device,
    id: DeviceId,
    compute: F,
}

impl<T, F: Fn() -> T> Workload for Computing<F> {
    fn amount(&self) -> f64 {
        1.0
    }

    fn time(&mut self, passes: u64) -> Result<f64, LabError> {
        crate::sync(&self.device, self.id)?;
        let started = Instant::now();
        for _ in 0..passes {
            drop(black_box((self.compute)()));
        }
        crate::sync(&self.device, self.id)?;
        Ok(started.elapsed().as_secs_f64())
    }
}
