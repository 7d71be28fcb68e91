//! The memory that the workers of a run share, asked for once, before they take any of it.

use mlsys_lab::{DeviceId, LabError};

use mlsys_device as device;

/// Free when the run began, because later free memory excludes what the run itself holds.
#[derive(Clone, Copy, Debug)]
pub struct MemoryBudget {
    id: DeviceId,
    /// Bytes; nothing where the device does not say.
    free: Option<u64>,
}

impl MemoryBudget {
    pub fn for_device(id: DeviceId) -> Self {
        let free = device::free_memory(id);
        Self { id, free }
    }

    pub fn with(free: u64) -> Self {
        Self { id: DeviceId::CPU, free: Some(free) }
    }

    /// Refuses a run that takes `needed` bytes in all, before the system ends the program for it. `who` takes them, such as
    /// "4 workers with this model"; `smaller` names the parameters that bear on it, such as "workers or hidden".
    pub fn require(self, needed: u64, who: &str, smaller: &str) -> Result<(), LabError> {
        match self.free {
            Some(free) if needed > free => Err(LabError::Failed {
                device: self.id,
                reason: format!(
                    "{who} take about {:.1} GB, and {:.1} GB are free; make {smaller} smaller",
                    needed as f64 / 1e9,
                    free as f64 / 1e9
                ),
            }),
            Some(_) | None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_large_is_refused_with_what_to_do() {
        let budget = MemoryBudget::with(2_000_000_000);
        let ask = |needed| budget.require(needed, "4 workers", "hidden or layers");
        assert!(ask(2_000_000_000).is_ok());
        let message = ask(3_100_000_000).unwrap_err().to_string();
        let expected =
            "4 workers take about 3.1 GB, and 2.0 GB are free; make hidden or layers smaller";
        assert!(message.contains(expected), "{message}");
    }
}
