//! The devices of this machine, probed once with a limit on how long that may take, and the highest rate measured on
//! each, which expressions of lessons call `device.peak_flops_per_second`.
//!
//! Probing loads the drivers of all back ends, which may hang, crash, and keep tens of megabytes until the process ends.
//! So the program probes in a child process; a driver is loaded here once a lab runs on it.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use std::{env, thread};

use mlsys_device::processor;
use mlsys_lab::device::{Backend, DeviceChoice, DeviceId, DeviceInfo, NoDevice, choose};
use mlsys_lab::params::Params;
use mlsys_lab::report::RunData;
use serde::{Deserialize, Serialize};

use crate::{child, process, record};

/// A driver that has not answered by then is not going to.
pub const PROBE_LIMIT: Duration = Duration::from_secs(10);

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Probed {
    /// The devices, the processor always among them.
    pub devices: Vec<DeviceInfo>,
    /// Why the list may lack some, if probing did not come to its end.
    pub trouble: Option<String>,
}

/// What loads the drivers.
#[derive(Clone, Debug)]
pub enum Prober {
    /// A thread: a driver that crashes ends the process, and what drivers keep stays.
    Thread,
    /// This program, called with [`Prober::COMMAND`].
    Program(PathBuf),
}

impl Prober {
    /// The hidden command that writes the devices to standard output, as JSON.
    pub const COMMAND: &str = "probe-devices";

    /// The program that is running.
    pub fn own_program() -> Self {
        env::current_exe().map_or(Self::Thread, Self::Program)
    }

    /// The devices; a driver that fails costs only its own.
    pub fn probe(&self, limit: Duration) -> Probed {
        let Self::Program(program) = self else { return probe_with(limit, mlsys_device::probe) };
        let mut command = Command::new(program);
        command.arg(Self::COMMAND);
        // A group of its own: a job that is stopped while it starts would wait for a child that has been stopped as well.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let trouble = match child::run(command, Vec::new(), limit) {
            // The program may have been replaced since it started.
            Err(_) => return probe_with(limit, mlsys_device::probe),
            Ok(None) => timed_out(limit),
            Ok(Some(ended)) if ended.status.success() => match serde_json::from_slice(&ended.out) {
                Ok(probed) => return probed,
                Err(error) => {
                    format!(
                        "probing for devices gave no list ({error}); only the processor is used"
                    )
                }
            },
            Ok(Some(ended)) => format!(
                "a driver crashed while devices were probed ({}); only the processor is used",
                ended.status
            ),
        };
        Probed { devices: vec![processor()], trouble: Some(trouble) }
    }
}

fn timed_out(limit: Duration) -> String {
    format!(
        "probing for devices did not end within {} s; only the processor is used",
        limit.as_secs()
    )
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
            Err(RecvTimeoutError::Timeout) => timed_out(limit),
            Err(RecvTimeoutError::Disconnected) => {
                "probing for devices panicked; only the processor is used".to_owned()
            }
        },
    };
    Probed { devices: vec![processor()], trouble: Some(trouble) }
}

/// The devices, probed when first asked for.
pub struct Devices {
    prober: Prober,
    probed: OnceCell<Probed>,
}

impl Devices {
    pub fn new(prober: Prober) -> Self {
        Self { prober, probed: OnceCell::new() }
    }

    pub fn found(&self) -> &Probed {
        self.probed.get_or_init(|| {
            // Drivers write about missing displays to standard error.
            process::hush();
            let probed = self.prober.probe(PROBE_LIMIT);
            process::speak();
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

const LAB: &str = "device-peak";

const METRIC: &str = "peak_flops_per_second";

/// The parameter and value of runs that count: labs compute in single precision.
const PRECISION: (&str, &str) = ("precision", "fp32");

/// Rates in flop/s, by the device's name.
pub type Peaks = BTreeMap<String, f64>;

/// The rate that the newest finished run in a folder measured on a device.
pub fn recorded_peak(runs: &Path, device: &str) -> Option<f64> {
    record::newest_metric(runs, LAB, device, PRECISION, METRIC)
}

pub fn recorded_peaks(runs: &Path, devices: &[DeviceInfo]) -> Peaks {
    let names = devices.iter().map(|device| &device.name);
    names.filter_map(|name| Some((name.clone(), recorded_peak(runs, name)?))).collect()
}

/// The rate that a run measured, if it is a run of that lab.
pub fn peak_measured_by(kind: &str, params: &Params, data: &RunData) -> Option<f64> {
    let (param, value) = PRECISION;
    let fits = kind == LAB && params.text(param).ok() == Some(value);
    fits.then(|| data.metric(METRIC)?.as_f64()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mlsys_lab::{Settings, Tables, Value};

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

    #[cfg(unix)]
    #[test]
    fn a_program_that_crashes_hangs_or_lists_nothing_leaves_the_processor() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        let probed = |script: &str, limit: u64| {
            std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
            std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
            Prober::Program(program.clone()).probe(Duration::from_secs(limit))
        };
        for (script, limit, said) in [
            ("kill -SEGV $$", 60, "a driver crashed while devices were probed"),
            ("echo Vulkan", 60, "gave no list"),
            ("exec sleep 60", 0, "did not end within 0 s"),
        ] {
            let Probed { devices, trouble } = probed(script, limit);
            assert_eq!(devices, [processor()]);
            assert!(trouble.as_ref().is_some_and(|trouble| trouble.contains(said)), "{trouble:?}");
        }
        let listed = Probed { devices: vec![processor(), processor()], trouble: None };
        let script = format!("echo '{}'", serde_json::to_string(&listed).unwrap());
        let Probed { devices, trouble } = probed(&script, 60);
        assert_eq!((devices, trouble), (listed.devices, None));
    }

    #[test]
    fn only_a_single_precision_run_of_device_peak_counts() {
        let lab = mlsys_registry::built_in().find(LAB).unwrap();
        assert!(lab.schema().metric(METRIC).is_some());
        let mut data = RunData::default();
        data.scalars.insert(METRIC.into(), Value::Float(2e11));
        let params = |set: &str| {
            let settings = Settings::from_pairs([set]).unwrap();
            Params::resolve(lab.schema(), &settings, Tables::builtin(), None).unwrap()
        };
        let fp32 = params("precision=fp32");
        assert_eq!(peak_measured_by(LAB, &fp32, &data), Some(2e11));
        assert_eq!(peak_measured_by(LAB, &params("precision=fp16"), &data), None);
        assert_eq!(peak_measured_by("matmul-bench", &fp32, &data), None);
        assert_eq!(peak_measured_by(LAB, &fp32, &RunData::default()), None);
    }
}
