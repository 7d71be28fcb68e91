//! The most that a device's memory moves, in a fraction of a second: a ceiling to hold other rates against.

use std::time::Duration;

use mlsys_lab::LabError;

use super::Meter;
use crate::timing::{Clock, Pace};

/// Least and most bytes of the buffer that is read and copied.
const BUFFER: [u64; 2] = [32 << 20, 256 << 20];

const PACE: Pace = Pace {
    slice: Duration::from_millis(2),
    least: Duration::from_millis(20),
    most: Duration::from_millis(80),
};

impl Meter {
    /// Bytes a second: the larger rate of reading a buffer and of copying one, reads and writes counted.
    ///
    /// # Errors
    /// The device fails.
    pub fn bandwidth(&self, interrupted: &dyn Fn() -> bool) -> Result<f64, LabError> {
        let [least, most] = BUFFER;
        // Too large for the last cache, where its size is known or can be guessed.
        let buffer = self.last_cache().map_or(least, |cache| (2 * cache).clamp(least, most));
        let mut bandwidth = 0.0_f64;
        for pass in [self.read(buffer)?, self.copy(buffer)?] {
            let mut clock = Clock::warm_up(pass, PACE)?;
            clock.repeat(interrupted)?;
            bandwidth = bandwidth.max(clock.times().rate().unwrap_or(0.0));
        }
        Ok(bandwidth)
    }
}
