//! Kind `kernel` with a device: a fake one with set answers, so that nothing here depends on a GPU.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mlsys_kernel::{
    BoundArgument, Clock, DeviceError, Extensions, KernelLab, LaunchRequest, LaunchResult,
    Launcher, Progress,
};
use mlsys_lab::device::Backend;
use mlsys_lab::{DeviceId, LabError, RunData, Value};

use crate::run::{run_lab, settings};

const GPU: DeviceId = DeviceId { backend: Backend::Wgpu, index: 0 };

/// What the device does with a kernel.
#[derive(Clone, Copy)]
enum Habit {
    Right,
    /// The same, but for the last element of the last buffer, which it doubles.
    Wrong,
    Refuses,
}

struct Pretended {
    habit: Habit,
    launches: Arc<AtomicUsize>,
}

impl Launcher for Pretended {
    fn launch(
        &self,
        device: DeviceId,
        work: &LaunchRequest<'_>,
    ) -> Result<LaunchResult, DeviceError> {
        assert_eq!(device, GPU);
        self.launches.fetch_add(1, Ordering::Relaxed);
        let mut machine = work.start.clone();
        machine.run(100_000);
        assert_eq!(machine.progress(), Progress::Finished);
        let contents = machine.bound_arguments().filter_map(|given| match given {
            BoundArgument::Buffer { bytes, .. } => Some(bytes.to_vec()),
            BoundArgument::Number { .. } => None,
        });
        let mut buffers: Vec<Vec<u8>> = contents.collect();
        match (self.habit, buffers.last_mut()) {
            (Habit::Refuses, _) => return Err(DeviceError::TooLarge("it is small".to_owned())),
            (Habit::Wrong, Some(last)) => {
                let at = last.len() - 4;
                let value =
                    f32::from_le_bytes([last[at], last[at + 1], last[at + 2], last[at + 3]]);
                last[at..].copy_from_slice(&(2.0 * value).to_le_bytes());
            }
            (Habit::Right | Habit::Wrong, _) => {}
        }
        Ok(LaunchResult { buffers, seconds: 2e-6, launches: 3, clock: Clock::Device })
    }

    fn bandwidth(&self, device: DeviceId) -> Option<f64> {
        assert_eq!(device, GPU);
        Some(1e9)
    }
}

/// What a run on such a device reports, and how often the device was asked.
fn run(habit: Habit, set: &[&str]) -> (RunData, Result<(), LabError>, usize) {
    let launches = Arc::new(AtomicUsize::new(0));
    let launcher = Pretended { habit, launches: Arc::clone(&launches) };
    let lab = KernelLab::new().expect("the schema reads").with_extensions(Extensions {
        launcher: Some(Box::new(launcher)),
        ..Extensions::default()
    });
    let (data, ended) = run_lab(&lab, GPU, &settings(set));
    (data, ended, launches.load(Ordering::Relaxed))
}

#[test]
fn a_device_that_agrees_is_timed_and_its_bandwidth_told() {
    for execution in ["execution=both", "execution=device"] {
        let (data, ended, _) = run(Habit::Right, &[execution]);
        assert!(ended.is_ok(), "{ended:?}");
        for (name, value) in [
            ("correct", Value::Bool(true)),
            ("device_matches", Value::Bool(true)),
            ("device_mismatches", Value::Int(0)),
            ("device_compared", Value::Int(8)),
            ("device_max_difference", Value::Float(0.0)),
            ("device_seconds", Value::Float(2e-6)),
            ("device_launches", Value::Int(3)),
            ("device_clock", Value::from("device")),
            // Eight additions: two floats read and one written each.
            ("device_bytes_per_second", Value::Float(96.0 / 2e-6)),
            ("device_bandwidth", Value::Float(1e9)),
            ("device_fraction_of_bandwidth", Value::Float(96.0 / 2e-6 / 1e9)),
        ] {
            assert_eq!(data.metric(name), Some(value), "{execution} {name}");
        }
    }
}

#[test]
fn a_differing_device_names_the_first_element() {
    for (execution, correct) in [("execution=both", true), ("execution=device", false)] {
        let (data, ended, _) = run(Habit::Wrong, &[execution]);
        assert!(ended.is_ok(), "{ended:?}");
        assert_eq!(data.metric("device_matches"), Some(Value::Bool(false)));
        assert_eq!(data.metric("device_mismatches"), Some(Value::Int(1)));
        assert_eq!(data.metric("correct"), Some(Value::Bool(correct)));
        let told = data.notices.join("; ");
        assert!(told.contains("the first is C[7]: 228 there, 114 here"), "{told}");
    }
}

#[test]
fn faulty_kernels_are_not_launched() {
    let faulty = ["example=vector-add-unguarded", "elements=10"];
    let with = |more: &[&'static str]| [&faulty[..], more].concat();
    let (data, ended, asked) = run(Habit::Right, &with(&["execution=both"]));
    assert!(ended.is_ok() && asked == 0, "{ended:?}");
    let told = data.notices.join("; ");
    assert!(told.contains("not sent, because the interpreter found out of bounds"), "{told}");
    assert!(told.contains("insist = true"), "{told}");
    assert_eq!(data.metric("device_matches"), None);
    let (_, ended, asked) = run(Habit::Right, &with(&["execution=device"]));
    assert!(matches!(ended, Err(LabError::Failed { .. })) && asked == 0, "{ended:?}");
    let (data, ended, asked) = run(Habit::Right, &with(&["execution=both", "insist=true"]));
    assert!(ended.is_ok() && asked == 1, "{ended:?}");
    assert_eq!(data.metric("device_matches"), Some(Value::Bool(true)));
    let endless = [
        "example=custom",
        "source=__global__ void k(int *a) { while (true) a[0] = 1; }",
        "execution=device",
        "insist=true",
        "max_instructions=1000",
    ];
    let (_, ended, asked) = run(Habit::Right, &endless);
    assert!(matches!(ended, Err(LabError::Failed { .. })) && asked == 0, "{ended:?}");
}

#[test]
fn a_refusing_device_is_an_error_or_a_notice() {
    let (data, ended, asked) = run(Habit::Refuses, &["execution=both"]);
    assert!(ended.is_ok() && asked == 1, "{ended:?}");
    let told = data.notices.join("; ");
    assert!(told.contains("the interpreter's results alone: it is small"), "{told}");
    assert_eq!(data.metric("correct"), Some(Value::Bool(true)));
    let (_, ended, _) = run(Habit::Refuses, &["execution=device"]);
    assert!(matches!(ended, Err(LabError::Device { .. })), "{ended:?}");
    // And the interpreter alone asks no device.
    let (_, ended, asked) = run(Habit::Refuses, &["execution=simulate"]);
    assert!(ended.is_ok() && asked == 0, "{ended:?}");
}
