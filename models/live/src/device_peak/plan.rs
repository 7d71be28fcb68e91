//! What is measured, in which order.

use std::time::Duration;

use mlsys_lab::params::Origin;
use mlsys_lab::{LabError, Params};

use mlsys_device::meter::{Arithmetic, Meter, Precision, Units};
use mlsys_device::timing::Pace;

/// The smallest working set of the ladder, in bytes.
const LOWEST_RUNG: u64 = 16 * 1024;

/// The parameters.
pub(super) struct Plan {
    pub(super) precision: Precision,
    pub(super) buffer_bytes: u64,
    pub(super) repetitions: usize,
    pub(super) measurements: Vec<Measurement>,
}

/// One thing that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measurement {
    /// Multiply-adds in registers.
    Arithmetic,
    /// One buffer copied to another.
    Copy,
    /// A buffer summed up.
    Read,
    /// The smallest operation.
    Launch,
    /// A working set of so many bytes, summed up again and again.
    Rung(u64),
}

impl Plan {
    /// What the parameters ask for on a device whose last cache has so many bytes, where it tells.
    pub(super) fn read(params: &Params, last_cache: Option<u64>) -> Result<Self, LabError> {
        let given = params.size("buffer_bytes")? as u64;
        let buffer_bytes = match params.origin("buffer_bytes") {
            Some(Origin::Default) => beyond(given, last_cache),
            Some(Origin::Set | Origin::Table(_) | Origin::Seed) | None => given,
        };
        // What the device may lack comes first, so that it is told before anything is waited for.
        let mut measurements = vec![
            Measurement::Arithmetic,
            Measurement::Copy,
            Measurement::Read,
            Measurement::Launch,
        ];
        if params.bool("ladder")? {
            measurements.extend(rungs(buffer_bytes).map(Measurement::Rung));
        }
        Ok(Self {
            precision: Precision::read(params)?,
            buffer_bytes,
            repetitions: params.size("repetitions")?,
            measurements,
        })
    }
}

/// A buffer that nobody chose is made too large for the last cache, or reading it would not need the memory.
fn beyond(buffer_bytes: u64, last_cache: Option<u64>) -> u64 {
    /// Beyond this, machines might not have the memory.
    const MOST: u64 = 512 << 20;
    let wanted = last_cache.map_or(0, |cache| 2 * cache).next_power_of_two();
    buffer_bytes.max(wanted.min(MOST))
}

/// Working sets of a ladder up to a buffer: powers of two.
fn rungs(buffer_bytes: u64) -> impl Iterator<Item = u64> {
    let double = |bytes: &u64| bytes.checked_mul(2);
    std::iter::successors(Some(LOWEST_RUNG), double).take_while(move |bytes| *bytes <= buffer_bytes)
}

impl Measurement {
    /// What is told while it is prepared and done.
    pub(super) fn status(self, plan: &Plan) -> String {
        let buffer = size(plan.buffer_bytes);
        match self {
            Self::Arithmetic => format!("multiplying and adding in {}", plan.precision.name()),
            Self::Copy => format!("copying {buffer}"),
            Self::Read => format!("reading {buffer}"),
            Self::Launch => "starting the smallest operation".to_owned(),
            Self::Rung(bytes) => format!("reading {} again and again", size(bytes)),
        }
    }

    /// Its name in pictures.
    pub(super) fn name(self) -> String {
        match self {
            Self::Arithmetic => "multiply-add".to_owned(),
            Self::Copy => "copy".to_owned(),
            Self::Read => "read".to_owned(),
            Self::Launch => "launch".to_owned(),
            Self::Rung(bytes) => size(bytes),
        }
    }

    /// How long is measured at once: all of it together stays within the lab's budget.
    pub(super) fn pace(self) -> Pace {
        let [slice, least, most] = match self {
            Self::Arithmetic | Self::Copy | Self::Read => [2, 10, 80],
            Self::Launch | Self::Rung(_) => [1, 4, 15],
        };
        Pace {
            slice: Duration::from_millis(slice),
            least: Duration::from_millis(least),
            most: Duration::from_millis(most),
        }
    }

    /// Makes its buffers.
    pub(super) fn prepare(self, meter: &Meter, plan: &Plan) -> Result<Arithmetic, LabError> {
        let pass = match self {
            Self::Arithmetic => return meter.arithmetic(Units::Plain),
            Self::Copy => meter.copy(plan.buffer_bytes)?,
            Self::Read => meter.read(plan.buffer_bytes)?,
            Self::Launch => meter.launch(),
            Self::Rung(bytes) => meter.read_again(bytes)?,
        };
        Ok(Arithmetic::Timed(pass))
    }
}

/// A size as caches are named.
pub(super) fn size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = UNITS.iter().find(|(unit, _)| bytes.is_multiple_of(*unit));
    match unit.filter(|_| bytes > 0) {
        Some((unit, name)) => format!("{} {name}", bytes / unit),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ladder_has_every_power_of_two_from_16_kib_to_the_buffer() {
        let all: Vec<u64> = rungs(1 << 25).collect();
        assert_eq!(all.len(), 12);
        assert_eq!((all[0], all[11]), (16_384, 1 << 25));
        assert_eq!(rungs(100_000).last(), Some(65_536));
        assert_eq!(rungs(1 << 32).last(), Some(1 << 32));
    }

    #[test]
    fn a_buffer_that_nobody_chose_is_too_large_for_the_last_cache() {
        const MIB: u64 = 1 << 20;
        for (cache, buffer) in [
            (None, 32),
            (Some(8 * MIB), 32),
            (Some(32 * MIB), 64),
            (Some(36 * MIB), 128),
            (Some(1024 * MIB), 512),
        ] {
            assert_eq!(beyond(32 * MIB, cache), buffer * MIB);
        }
    }

    #[test]
    fn sizes_are_named_as_caches_are() {
        for (bytes, name) in [
            (16_384, "16 KiB"),
            (1 << 25, "32 MiB"),
            (1 << 31, "2 GiB"),
            (1000, "1000 bytes"),
            (0, "0 bytes"),
        ] {
            assert_eq!(size(bytes), name);
        }
    }
}
