//! The roof of the device at hand, measured between the repetitions of what is compared with it, so that whatever else the machine
//! does disturbs both.

use std::time::Duration;

use mlsys_lab::LabError;

use super::Roof;
use mlsys_device::meter::{Arithmetic, Meter, Pass, Units};

/// How long one look at the arithmetic takes.
const SLICE: Duration = Duration::from_millis(2);

/// The ceilings so far.
pub(crate) struct Ceilings {
    peak: f64,
    bandwidth: f64,
    /// Looks again at the arithmetic, where that is timed: work and how often it is done at once.
    again: Option<(Box<dyn Pass>, u64)>,
}

impl Ceilings {
    /// Measures both.
    pub(crate) fn measure(
        meter: &Meter,
        baseline: Option<f64>,
        interrupted: impl Fn() -> bool,
    ) -> Result<Self, LabError> {
        let bandwidth = meter.bandwidth(&interrupted)?;
        let mut ceilings = Self { peak: baseline.unwrap_or(0.0), bandwidth, again: None };
        if baseline.is_none() {
            match meter.arithmetic(Units::Products)? {
                Arithmetic::Told(rate) => ceilings.peak = rate,
                Arithmetic::Timed(mut pass) => {
                    pass.time(1)?;
                    let once = pass.time(1)?;
                    let passes = (SLICE.as_secs_f64() / once.max(1e-9)).clamp(1.0, 1e6);
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
    pub(crate) fn look_again(&mut self) -> Result<(), LabError> {
        if let Some((pass, passes)) = &mut self.again {
            let seconds = pass.time(*passes)?.max(f64::MIN_POSITIVE);
            self.peak = self.peak.max(pass.amount() * *passes as f64 / seconds);
        }
        Ok(())
    }

    /// The roof by what has been seen.
    pub(crate) fn roof(&self) -> Roof {
        Roof { name: "this machine".to_owned(), peak: self.peak, bandwidth: self.bandwidth }
    }
}
