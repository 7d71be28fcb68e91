//! Runs of labs: on a thread of their own for the workbench ([`Session`]), or here and now without a screen ([`execute`]).
//!
//! A session never waits for its listener: it adds to an inbox that the listener locks only to take the reports out,
//! and it makes a picture only when the listener has asked for one. A panic becomes an
//! [`Outcome`].

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{io, mem, thread};

use mlsys_lab::control::{Command, Control, Limits, StopReason};
use mlsys_lab::device::{Backend, DeviceId, DeviceInfo, DeviceState};
use mlsys_lab::lab::{Lab, Run};
use mlsys_lab::params::Params;
use mlsys_lab::report::{FrameTrigger, Report, RunData, Sink};
use mlsys_lab::schema::Schema;

use crate::console::Console;
use crate::outcome::{CompletedRun, Outcome, guarded};
use crate::process::{Interrupt, Loss};
use crate::record::{About, Recording};
use crate::sources::{Sources, WithArtifacts};

pub const RUN_THREAD: &str = "run-";

/// Panels to be drawn. A frame costs the run time, some as much as many steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Panels {
    /// Every panel of the lab: the run may pause, and any of them may be looked at.
    All,
    /// Those that are visible now.
    These(Vec<&'static str>),
}

pub struct Session {
    commands: Sender<Command>,
    stop: Arc<AtomicBool>,
    shared: Arc<Shared>,
}

struct Shared {
    inbox: Mutex<Inbox>,
    wanted_panels: Mutex<Panels>,
    /// Whether the run has begun to wait for a command since the last `has_settled`.
    settled: AtomicBool,
    wake: Box<dyn Fn() + Send + Sync>,
}

#[derive(Default)]
struct Inbox {
    reports: Vec<Report>,
    ended: Option<(Outcome, Duration)>,
}

impl Session {
    /// Starts a run; `wake` is called, from the run's thread, when the inbox is no longer empty.
    pub fn start(
        lab: impl Lab + 'static,
        params: Params,
        device: DeviceId,
        limits: Limits,
        wake: impl Fn() + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let (commands, inbound) = mpsc::channel();
        let stop = Arc::new(AtomicBool::new(false));
        let shared = Arc::new(Shared {
            inbox: Mutex::default(),
            wanted_panels: Mutex::new(Panels::All),
            settled: AtomicBool::new(false),
            wake: Box::new(wake),
        });
        let session = Self { commands, stop: Arc::clone(&stop), shared: Arc::clone(&shared) };
        thread::Builder::new().name(format!("{RUN_THREAD}{}", lab.schema().kind)).spawn(
            move || {
                let started = Instant::now();
                let mut sink = RunSink { shared: &shared, serving: None };
                let mut control = Control::steered(inbound, limits, stop);
                let waits = Arc::clone(&shared);
                control.when_settled(move || {
                    waits.settled.store(true, Ordering::Relaxed);
                    (waits.wake)();
                });
                let run = Run { params, device, sink: &mut sink, control };
                let outcome = guarded(&lab, run);
                shared.lock().ended = Some((outcome, started.elapsed()));
                (shared.wake)();
            },
        )?;
        Ok(session)
    }

    /// Sends a command; a run that has ended ignores it.
    pub fn send(&self, command: Command) {
        if command == Command::Stop {
            self.stop.store(true, Ordering::Relaxed);
        }
        // The channel is closed once the run has ended.
        let _ = self.commands.send(command);
    }

    /// Asks for fresh pictures with the next step; a pending request for all panels remains.
    pub fn want_pictures(&self, panels: Panels) {
        let mut wanted = self.shared.wanted_panels();
        if *wanted != Panels::All {
            *wanted = panels;
        }
    }

    /// Whether the run has begun to wait for a command since the last call.
    pub fn has_settled(&self) -> bool {
        self.shared.settled.swap(false, Ordering::Relaxed)
    }

    /// The reports since the last call, and the outcome once there is one.
    pub fn drain(&self) -> (Vec<Report>, Option<(Outcome, Duration)>) {
        let mut inbox = self.shared.lock();
        (mem::take(&mut inbox.reports), inbox.ended.take())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl Shared {
    fn wanted_panels(&self) -> MutexGuard<'_, Panels> {
        self.wanted_panels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The inbox, which a listener that panicked has left whole.
    fn lock(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct RunSink<'a> {
    shared: &'a Shared,
    /// The panels asked for when the pictures now being made were begun; what is asked for since is for the next.
    serving: Option<Panels>,
}

impl Sink for RunSink<'_> {
    fn report(&mut self, report: Report) {
        let was_empty = {
            let mut inbox = self.shared.lock();
            let was_empty = inbox.reports.is_empty();
            inbox.reports.push(report);
            was_empty
        };
        if was_empty {
            (self.shared.wake)();
        }
    }

    fn wants_frame(&mut self, panel: &str, trigger: FrameTrigger) -> bool {
        match trigger {
            FrameTrigger::Asked | FrameTrigger::Final => true,
            FrameTrigger::Running => {
                let serving = self.serving.get_or_insert_with(|| {
                    let none = Panels::These(Vec::new());
                    mem::replace(&mut *self.shared.wanted_panels(), none)
                });
                match serving {
                    Panels::All => true,
                    Panels::These(names) => names.contains(&panel),
                }
            }
        }
    }

    fn frames_done(&mut self) {
        self.serving = None;
    }
}

pub struct RunRequest<'a> {
    pub label: &'a str,
    pub lab: &'static dyn Lab,
    pub params: Params,
    pub device: DeviceInfo,
    pub limits: Limits,
    /// The lesson and the lab's name in it, if a lesson asks.
    pub lesson: Option<(&'a str, &'a str)>,
    /// The folder for the record, if one is kept.
    pub runs: Option<&'a Path>,
    pub sources: Sources,
}

/// The longest a lesson's lab may run: ten times its budget and at least a minute; software adapters are slow and get ten.
pub fn time_limit(schema: &Schema, device: &DeviceInfo) -> Duration {
    match (&device.state, device.id.backend) {
        (DeviceState::Software, Backend::Wgpu | Backend::Cuda) => Duration::from_secs(600),
        _ => Duration::from_secs_f64((10.0 * schema.budget.unwrap_or(0.0)).clamp(60.0, 86_400.0)),
    }
}

/// Runs a lab to its end, its limits, or Ctrl-C. A record that cannot be kept is one warning and does not end the run.
pub fn execute(
    request: RunRequest<'_>,
    interrupt: &Interrupt,
    console: &mut Console,
) -> CompletedRun {
    let started = Instant::now();
    let schema = request.lab.schema();
    let device = schema.uses_device(&request.params).then_some(&request.device);
    let about = About { schema, params: &request.params, device, lesson: request.lesson };
    let mut sink = ProgressSink {
        data: RunData::default(),
        recording: Recording::default(),
        label: request.label,
        started,
        console,
        lost: None,
    };
    if let Some(runs) = request.runs {
        let begun = sink.recording.start(runs, &about);
        sink.warn_of(begun);
    }
    let run = Run {
        params: request.params,
        device: request.device.id,
        sink: &mut sink,
        control: Control::free(request.limits, interrupt.flag()),
    };
    let outcome = guarded(&WithArtifacts::new(request.lab, request.sources), run);
    let elapsed = started.elapsed();
    sink.console.clear_progress();
    if let Some(record) = sink.recording.take() {
        let folder = record.folder().to_owned();
        let ended = record.finish(&sink.data.frames, outcome.recorded(), elapsed);
        if ended.is_ok() && matches!(outcome, Outcome::Stopped(StopReason::Asked)) {
            sink.console.note(format_args!("what it reported is in {}", folder.display()));
        }
        sink.warn_of(ended);
    }
    CompletedRun { data: sink.data, outcome, elapsed, lost: sink.lost }
}

/// Collects the reports, passes them on to the record, and shows how far the run is.
struct ProgressSink<'a> {
    data: RunData,
    recording: Recording,
    label: &'a str,
    started: Instant,
    console: &'a mut Console,
    lost: Option<Loss>,
}

impl ProgressSink<'_> {
    fn warn_of(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            let sentence =
                format!("runs are not recorded: the data folder cannot be written ({error})");
            self.console.warn(&sentence);
            self.lost = Some(Loss::new(sentence, &error));
        }
    }
}

impl Sink for ProgressSink<'_> {
    fn report(&mut self, report: Report) {
        let recorded = self.recording.append([&report]);
        self.warn_of(recorded);
        self.data.apply(report);
        let (data, label, seconds) = (&self.data, self.label, self.started.elapsed().as_secs_f64());
        self.console.progress(|| {
            let loss = data.series.get("loss").and_then(|loss| loss.last());
            let loss = loss.map_or_else(String::new, |loss| format!(", loss {loss:.4}"));
            let status =
                if data.status.is_empty() { String::new() } else { format!(", {}", data.status) };
            format!("{label}: step {}{loss}, {seconds:.1} s{status}", data.step)
        });
    }

    fn wants_frame(&mut self, panel: &str, trigger: FrameTrigger) -> bool {
        self.data.wants_frame(panel, trigger)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mlsys_lab::LabError;
    use mlsys_lab::params::Settings;
    use mlsys_lab::schema::Schema;
    use mlsys_lab::tables::Tables;
    use std::sync::LazyLock;

    static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
        Schema::parse("kind='t'\ntitle='t'\nmodule='t'\nabout='t'\nsource='t'\nbudget=1.0").unwrap()
    });

    #[test]
    fn frame_requested_while_drawing_comes_next_step() {
        let shared = Shared {
            inbox: Mutex::default(),
            wanted_panels: Mutex::new(Panels::These(vec!["memory"])),
            settled: AtomicBool::new(false),
            wake: Box::new(|| ()),
        };
        let mut sink = RunSink { shared: &shared, serving: None };
        let running = FrameTrigger::Running;
        assert!(sink.wants_frame("memory", running));
        *shared.wanted_panels() = Panels::These(vec!["weights"]);
        assert!(sink.wants_frame("memory", running) && !sink.wants_frame("weights", running));
        sink.frames_done();
        assert!(sink.wants_frame("weights", running) && !sink.wants_frame("memory", running));
        sink.frames_done();
        assert!(!sink.wants_frame("weights", running));
        assert!(sink.wants_frame("weights", FrameTrigger::Asked));
        assert!(sink.wants_frame("weights", FrameTrigger::Final));
    }

    struct Panics;
    impl Lab for Panics {
        fn schema(&self) -> &Schema {
            &SCHEMA
        }
        fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
            run.scalar("steps_done", 3_i64);
            panic!("device lost\nsecond line");
        }
    }

    #[test]
    fn a_panic_is_an_outcome_and_keeps_earlier_reports() {
        let params = Params::resolve(&SCHEMA, &Settings::new(), Tables::builtin(), None).unwrap();
        let (woken, wakes) = mpsc::channel();
        let session =
            Session::start(&Panics, params, DeviceId::CPU, Limits::default(), move || {
                let _ = woken.send(());
            })
            .unwrap();
        let mut reports = Vec::new();
        let outcome = loop {
            wakes.recv().unwrap();
            let (more, ended) = session.drain();
            reports.extend(more);
            if let Some((outcome, _)) = ended {
                break outcome;
            }
        };
        assert!(matches!(outcome, Outcome::Panicked(message) if message == "device lost"));
        assert_eq!(reports.len(), 1);
    }

    fn limit(budget: f64, state: DeviceState) -> u64 {
        let text =
            format!("kind='t'\ntitle='t'\nmodule='t'\nabout='t'\nsource='t'\nbudget={budget:?}");
        let device = DeviceInfo {
            id: DeviceId { backend: Backend::Wgpu, index: 0 },
            name: String::new(),
            memory_bytes: None,
            precisions: vec![],
            driver: None,
            state,
        };
        time_limit(&Schema::parse(&text).unwrap(), &device).as_secs()
    }

    #[test]
    fn time_limits_follow_the_budget() {
        assert_eq!(limit(2.0, DeviceState::Usable), 60);
        assert_eq!(limit(9.0, DeviceState::Usable), 90);
        assert_eq!(limit(9.0, DeviceState::Software), 600);
    }
}
