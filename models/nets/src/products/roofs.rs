//! The roof of the device at hand, measured beside the products: in the same seconds, so that whatever else the machine
//! does disturbs both.

use std::time::Duration;

use mlsys_lab::LabError;

use crate::device::meter::{Arithmetic, Meter, Pass, Units};
use crate::roof::Roof;
use crate::timing::{Clock, Pace};

/// Least and most bytes of the buffer whose reading and copying gives the memory's ceiling.
const BUFFER: [u64; 2] = [32 << 20, 256 << 20];

const PACE: Pace = Pace {
    slice: Duration::from_millis(2),
    least: Duration::from_millis(20),
    most: Duration::from_millis(80),
};

/// The ceilings so far.
pub(super) struct Ceilings {
    peak: f64,
    bandwidth: f64,
    /// Looks again at the arithmetic, where that is timed: work and how often it is done at once.
    again: Option<(Box<dyn Pass>, u64)>,
}

impl Ceilings {
    /// Measures both.
    pub(super) fn measure(
        meter: &Meter,
        baseline: Option<f64>,
        interrupted: impl Fn() -> bool,
    ) -> Result<Self, LabError> {
        let mut bandwidth = 0.0_f64;
        let [least, most] = BUFFER;
        // Too large for the last cache, where its size is known or can be guessed.
        let buffer = meter
            .last_cache()
            .map_or(least, |cache| (2 * cache).clamp(least, most));
        for pass in [meter.read(buffer)?, meter.copy(buffer)?] {
            let mut clock = Clock::warm_up(pass, PACE)?;
            clock.repeat(&interrupted)?;
            bandwidth = bandwidth.max(clock.times().rate().unwrap_or(0.0));
        }
        let mut ceilings = Self {
            peak: baseline.unwrap_or(0.0),
            bandwidth,
            again: None,
        };
        if baseline.is_none() {
            match meter.arithmetic(Units::Products)? {
                Arithmetic::Told(rate) => ceilings.peak = rate,
                Arithmetic::Timed(mut pass) => {
                    pass.time(1)?;
                    let once = pass.time(1)?;
                    let passes = (PACE.slice.as_secs_f64() / once.max(1e-9)).clamp(1.0, 1e6);
                    ceilings.again = Some((pass, passes as u64));
                    for _ in 0..8 {
                        ceilings.look_again()?;
                    }
                }
            }
        }
        Ok(ceilings)
    }

    /// Times the arithmetic once more: a ceiling is the most that was ever seen.
    pub(super) fn look_again(&mut self) -> Result<(), LabError> {
        if let Some((pass, passes)) = &mut self.again {
            let seconds = pass.time(*passes)?.max(f64::MIN_POSITIVE);
            self.peak = self.peak.max(pass.amount() * *passes as f64 / seconds);
        }
        Ok(())
    }

    /// The roof by what has been seen.
    pub(super) fn roof(&self) -> Roof {
        Roof {
            name: "this machine".to_owned(),
            peak: self.peak,
            bandwidth: self.bandwidth,
        }
    }
}
