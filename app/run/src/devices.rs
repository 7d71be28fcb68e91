//! The devices of this machine, probed once, with a limit on how long that may take.

use std::cell::OnceCell;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use mlsys_device::processor;
use mlsys_lab::device::{Backend, DeviceChoice, DeviceId, DeviceInfo, NoDevice, choose};

use crate::quiet;

/// A driver that has not answered by then is not going to.
pub const PROBE_LIMIT: Duration = Duration::from_secs(10);

/// What probing found.
#[derive(Clone, Debug)]
pub struct Probed {
    /// The devices, the processor always among them.
    pub devices: Vec<DeviceInfo>,
    /// Why the list may lack some, if probing did not come to its end.
    pub trouble: Option<String>,
}

/// Probes on a thread of its own, so that a driver that hangs or panics costs its devices and nothing else.
pub fn probe(limit: Duration) -> Probed {
    probe_with(limit, mlsys_device::probe)
}

fn probe_with(limit: Duration, probe: impl FnOnce() -> Vec<DeviceInfo> + Send + 'static) -> Probed {
    let (found, results) = mpsc::channel();
    let thread = thread::Builder::new().name("probe".to_owned()).spawn(move || {
        // The channel is closed if probing took too long.
        let _ = found.send(probe());
    });
    let trouble = match thread {
        Err(error) => format!("probing for devices could not start: {error}"),
        Ok(_) => match results.recv_timeout(limit) {
            Ok(devices) => {
                return Probed { devices, trouble: None };
            }
            Err(RecvTimeoutError::Timeout) => {
                format!(
                    "probing for devices did not end within {} s; only the processor is used",
                    limit.as_secs()
                )
            }
            Err(RecvTimeoutError::Disconnected) => {
                "probing for devices panicked; only the processor is used".to_owned()
            }
        },
    };
    Probed { devices: vec![processor()], trouble: Some(trouble) }
}

/// The devices, probed when first asked for.
#[derive(Default)]
pub struct Devices {
    probed: OnceCell<Probed>,
}

impl Devices {
    /// What probing found.
    pub fn found(&self) -> &Probed {
        self.probed.get_or_init(|| {
            // Drivers write about missing displays to standard error.
            quiet::hush();
            let probed = probe(PROBE_LIMIT);
            quiet::speak();
            probed
        })
    }

    /// The device for a choice, among the back ends that are acceptable, in their order.
    pub fn choose(
        &self,
        choice: DeviceChoice,
        acceptable: &[Backend],
    ) -> Result<DeviceInfo, NoDevice> {
        if choice == DeviceChoice::Exactly(DeviceId::CPU) && self.probed.get().is_none() {
            // The processor is always there: drivers need not be woken to find it.
            return Ok(processor());
        }
        let found = &self.found().devices;
        let id = choose(choice, found, acceptable)?;
        Ok(found.iter().find(|info| info.id == id).cloned().unwrap_or_else(processor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hanging_or_panicking_probe_leaves_the_processor() {
        let (never, wait) = mpsc::channel::<()>();
        let hangs = move || {
            let _ = wait.recv();
            Vec::new()
        };
        let probed = probe_with(Duration::from_millis(1), hangs);
        drop(never);
        assert_eq!(probed.devices, [processor()]);
        assert!(probed.trouble.is_some_and(|trouble| trouble.contains("did not end")));

        let probed = probe_with(Duration::from_secs(10), || panic!("no driver"));
        assert_eq!(probed.devices, [processor()]);
        assert!(probed.trouble.is_some_and(|trouble| trouble.contains("panicked")));
    }
}
