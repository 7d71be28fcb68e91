//! Whatever burn computes, as work to be timed.

use std::hint::black_box;
use std::time::Instant;

use burn::tensor::Device;
use mlsys_lab::{DeviceId, LabError};

use super::Pass;

/// Work whose passes are counted and nothing in them: what is computed must be on the device already.
pub fn computing<T>(
    device: &Device,
    id: DeviceId,
    compute: impl Fn() -> T + 'static,
) -> Box<dyn Pass> {
    Box::new(Computing { device: device.clone(), id, compute })
}

struct Computing<F> {
    device: Device,
    id: DeviceId,
    compute: F,
}

impl<T, F: Fn() -> T> Pass for Computing<F> {
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
