//! One run of a lab on a thread of its own: orders go down, reports come up, a panic becomes an outcome.
//!
//! The run never waits for the listener: it adds to an inbox that the listener locks only to take the
//! reports out, and it makes a picture only when the listener has asked for one.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use mlsys_lab::LabError;
use mlsys_lab::control::{Command, Control, Limits, StopReason};
use mlsys_lab::device::DeviceId;
use mlsys_lab::lab::{Lab, Run};
use mlsys_lab::params::Params;
use mlsys_lab::report::{FrameTrigger, Report, Sink};

/// What the names of the threads that run labs begin with.
pub const RUN_THREAD: &str = "run-";

/// How a run ended.
#[derive(Debug)]
pub enum Outcome {
    /// It did all its steps, or diverged, which is a result.
    Finished,
    /// It was stopped before its last step.
    Stopped(StopReason),
    /// It failed, and why.
    Failed(LabError),
    /// It, or the back end under it, panicked with this message.
    Panicked(String),
}

/// Panels to be drawn. A frame costs the run time, some as much as many steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Panels {
    /// Whatever the lab can draw: the run may stand still from now on, and any of them may be looked at.
    All,
    /// Those that can be seen now.
    These(Vec<&'static str>),
}

/// A run that is going on or has ended.
pub struct Session {
    orders: Sender<Command>,
    stop: Arc<AtomicBool>,
    shared: Arc<Shared>,
}

/// What the run and the listener share.
struct Shared {
    inbox: Mutex<Inbox>,
    pictures_wanted: Mutex<Panels>,
    /// Whether the run has come to wait for a command since the last `has_settled`.
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
    ) -> Result<Self, std::io::Error> {
        let (orders, inbound) = mpsc::channel();
        let stop = Arc::new(AtomicBool::new(false));
        let shared = Arc::new(Shared {
            inbox: Mutex::default(),
            pictures_wanted: Mutex::new(Panels::All),
            settled: AtomicBool::new(false),
            wake: Box::new(wake),
        });
        let session = Self { orders, stop: Arc::clone(&stop), shared: Arc::clone(&shared) };
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
                let mut run = Run { params, device, sink: &mut sink, control };
                let outcome = guarded(&lab, &mut run);
                shared.lock().ended = Some((outcome, started.elapsed()));
                (shared.wake)();
            },
        )?;
        Ok(session)
    }

    /// Gives the run an order; a run that has ended ignores it.
    pub fn order(&self, command: Command) {
        if command == Command::Stop {
            self.stop.store(true, Ordering::Relaxed);
        }
        // The receiver is gone exactly when the run has ended, and then there is nothing to steer.
        let _ = self.orders.send(command);
    }

    /// Asks for fresh pictures with the next step; who has asked for all still gets all.
    pub fn want_pictures(&self, panels: Panels) {
        let mut wanted = self.shared.pictures_wanted();
        if *wanted != Panels::All {
            *wanted = panels;
        }
    }

    /// Whether the run has come to wait for an order since the last call.
    pub fn has_settled(&self) -> bool {
        self.shared.settled.swap(false, Ordering::Relaxed)
    }

    /// Takes what has been reported since the last call, and the outcome once there is one.
    pub fn take(&self) -> (Vec<Report>, Option<(Outcome, Duration)>) {
        let mut inbox = self.shared.lock();
        (std::mem::take(&mut inbox.reports), inbox.ended.take())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Runs a lab and turns whatever happens into an outcome, a panic in the lab or the back end included.
pub fn guarded(lab: &dyn Lab, run: &mut Run<'_>) -> Outcome {
    match catch_unwind(AssertUnwindSafe(|| lab.run(run))) {
        Err(panic) => Outcome::Panicked(panic_message(panic.as_ref())),
        Ok(Err(error)) => Outcome::Failed(error),
        Ok(Ok(())) => match run.control.stop_reason() {
            Some(reason) => Outcome::Stopped(reason),
            None => Outcome::Finished,
        },
    }
}

/// The sentence a panic carries, on one line.
pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    text.lines().next().unwrap_or("no message").to_owned()
}

impl Shared {
    fn pictures_wanted(&self) -> MutexGuard<'_, Panels> {
        self.pictures_wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The inbox; a listener that panicked while it took reports out has left it whole.
    fn lock(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The run's end of the inbox.
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

    fn wants_frame(&mut self, panel: &str, moment: FrameTrigger) -> bool {
        match moment {
            FrameTrigger::Asked | FrameTrigger::Final => true,
            FrameTrigger::Running => {
                let serving = self.serving.get_or_insert_with(|| {
                    let none = Panels::These(Vec::new());
                    std::mem::replace(&mut *self.shared.pictures_wanted(), none)
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

#[cfg(test)]
mod tests {
    use super::*;
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
            pictures_wanted: Mutex::new(Panels::These(vec!["memory"])),
            settled: AtomicBool::new(false),
            wake: Box::new(|| ()),
        };
        let mut sink = RunSink { shared: &shared, serving: None };
        let running = FrameTrigger::Running;
        assert!(sink.wants_frame("memory", running));
        *shared.pictures_wanted() = Panels::These(vec!["weights"]);
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
    fn a_panic_in_a_run_is_an_outcome_and_keeps_what_was_reported() {
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
            let (more, ended) = session.take();
            reports.extend(more);
            if let Some((outcome, _)) = ended {
                break outcome;
            }
        };
        assert!(matches!(outcome, Outcome::Panicked(message) if message == "device lost"));
        assert_eq!(reports.len(), 1);
    }
}
