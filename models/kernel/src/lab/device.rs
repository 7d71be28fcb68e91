//! The same launch on the device of the run, held against the interpreter's.

use crate::lab::Job;
use crate::{
    Agreement, DeviceError, Fault, LaunchRequest, LaunchResult, Launcher, Machine, Progress,
    TOLERANCE, require_harmless,
};
use mlsys_lab::device::Backend;
use mlsys_lab::report::Report;
use mlsys_lab::{LabError, Params, Run};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Execution {
    Simulate,
    /// The interpreter first, to find faults and to count; then the device, which gives the run's results.
    Device,
    /// Both; the results are the interpreter's, and without a device that is all.
    Both,
}

impl Execution {
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        Ok(match params.text("execution")? {
            "device" => Self::Device,
            "both" => Self::Both,
            _ => Self::Simulate,
        })
    }

    /// Refuses at once what can have no result.
    pub(super) fn check(
        self,
        run: &Run<'_>,
        launcher: Option<&dyn Launcher>,
    ) -> Result<(), LabError> {
        match (self, usable(run, launcher)) {
            (Self::Device, Err(reason)) => {
                Err(LabError::Device { device: run.device, reason: reason.to_owned() })
            }
            (Self::Simulate | Self::Device | Self::Both, _) => Ok(()),
        }
    }

    /// Gives the launch to the run's device, once the interpreter has run it to its end, and reports how they agree.
    pub(super) fn carry_out(
        self,
        run: &mut Run<'_>,
        launcher: Option<&dyn Launcher>,
        job: &Job,
        machine: &mut Machine,
    ) -> Result<(), LabError> {
        if self == Self::Simulate || machine.progress() == Progress::Going {
            return Ok(());
        }
        run.sink.report(Report::Status(format!("on {}", run.device)));
        let answer = asked(run, launcher, job, machine);
        run.sink.report(Report::Status(String::new()));
        match (self, answer) {
            (Self::Both | Self::Simulate, Err(refusal)) => {
                let notice = format!("these are the interpreter's results alone: {refusal}");
                run.sink.report(Report::Notice(notice));
                Ok(())
            }
            (Self::Device, Err(refusal)) => Err(error(run, refusal)),
            (_, Ok(answer)) => {
                report(run, machine, &answer);
                rates(run, launcher, machine, &answer);
                if self == Self::Device {
                    machine.overwrite(&answer.buffers);
                }
                Ok(())
            }
        }
    }
}

/// The launcher for the run's device, or why only the interpreter can run kernels here.
fn usable<'a>(
    run: &Run<'_>,
    launcher: Option<&'a dyn Launcher>,
) -> Result<&'a dyn Launcher, &'static str> {
    let launcher = launcher
        .ok_or("nothing here runs kernels but the interpreter; set execution = simulate")?;
    if run.device.backend == Backend::Cpu {
        return Err(
            "it runs no kernels; choose a GPU with --device wgpu or --device cuda, or set execution = simulate",
        );
    }
    Ok(launcher)
}

fn asked(
    run: &Run<'_>,
    launcher: Option<&dyn Launcher>,
    job: &Job,
    machine: &Machine,
) -> Result<LaunchResult, DeviceError> {
    let launcher = usable(run, launcher).map_err(|reason| {
        DeviceError::NoDevice(format!("device {} cannot be used: {reason}", run.device))
    })?;
    let insists = run.params.bool("insist").unwrap_or(false);
    if let (Err(DeviceError::Harmful(reason)), false) = (require_harmless(machine), insists) {
        return Err(DeviceError::Harmful(format!(
            "{reason}; set insist = true to send it all the same, which may crash the driver"
        )));
    }
    let reasons = [
        (job.kernel.globals().next().is_some(), "__constant__ and __device__ variables are"),
        (job.kernel.cuda().contains("__half "), "half is"),
        (job.kernel.cuda().contains("__nv_bfloat16 "), "bfloat16 is"),
    ];
    if let (Backend::Cuda, Some((_, what))) =
        (run.device.backend, reasons.iter().find(|(holds, _)| *holds))
    {
        let message = format!("{what} not given to CUDA's compiler here; use a buffer of float");
        return Err(DeviceError::Failed(message));
    }
    let start = job.start().map_err(|error| DeviceError::Failed(error.to_string()))?;
    launcher
        .launch(run.device, &LaunchRequest { kernel: &job.kernel, file: &job.file, start: &start })
}

fn error(run: &Run<'_>, refusal: DeviceError) -> LabError {
    let reason = refusal.to_string();
    let device = run.device;
    match refusal {
        DeviceError::NoDevice(_) | DeviceError::Untranslated { .. } | DeviceError::TooLarge(_) => {
            LabError::Device { device, reason }
        }
        DeviceError::Harmful(_) | DeviceError::Failed(_) => LabError::Failed { device, reason },
    }
}

fn report(run: &mut Run<'_>, machine: &Machine, answer: &LaunchResult) {
    let agreement = Agreement::new(machine, &answer.buffers);
    run.scalar("device_matches", agreement.all_agree());
    run.scalar("device_mismatches", agreement.differing as i64);
    run.scalar("device_compared", agreement.compared as i64);
    run.scalar("device_max_difference", agreement.largest);
    run.scalar("device_seconds", answer.seconds);
    run.scalar("device_launches", answer.launches as i64);
    run.scalar("device_clock", answer.clock.name());
    if let Some(first) = agreement.first {
        // What C leaves open, each device answers in its own way.
        let open = [Fault::Uninitialized, Fault::DivisionByZero, Fault::Shift, Fault::Overflow];
        let found = machine.findings();
        let cause = open.into_iter().find(|fault| found.count(*fault) > 0);
        let cause = cause.map_or_else(String::new, |fault| {
            let count = found.count(fault);
            format!(
                "; the interpreter found {} ({count}), and C does not define the result",
                fault.name()
            )
        });
        run.sink.report(Report::Notice(format!(
            "{} and the interpreter differ in {} of {} elements (whole numbers must be equal, floats within {TOLERANCE:e} of the larger); the first is {}[{}]: {} there, {} here{cause}",
            run.device,
            agreement.differing,
            agreement.compared,
            first.buffer,
            first.element,
            first.device,
            first.interpreter,
        )));
    }
}

/// What the kernel moved a second, and of what the device's memory moves at most.
fn rates(
    run: &mut Run<'_>,
    launcher: Option<&dyn Launcher>,
    machine: &Machine,
    answer: &LaunchResult,
) {
    let totals = machine.totals();
    let bytes = totals.load.used + totals.store.used + totals.atomic.used;
    if answer.seconds <= 0.0 || bytes == 0 {
        return;
    }
    let rate = bytes as f64 / answer.seconds;
    run.scalar("device_bytes_per_second", rate);
    let device = run.device;
    let status = format!("measuring the memory of {device}");
    run.sink.report(Report::Status(status));
    let most = launcher.and_then(|launcher| launcher.bandwidth(device));
    run.sink.report(Report::Status(String::new()));
    if let Some(most) = most.filter(|most| *most > 0.0) {
        run.scalar("device_bandwidth", most);
        run.scalar("device_fraction_of_bandwidth", rate / most);
    }
}
