//! Steering a run from outside: commands, limits and the stop flag, which the run reads between two steps.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::value::Value;

/// A command to a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Wait before the next step.
    Pause,
    Resume,
    /// Do this many steps more than those already ordered and not yet done, then pause.
    Step(u64),
    /// Give a live parameter a value, already checked.
    Set {
        name: String,
        value: Value,
    },
    /// The least time from step to step, so that a person can watch; zero is full speed.
    Pace(Duration),
    /// Draw now, although the run may be paused; while ordered steps are left, after them.
    Redraw,
    /// End the run; what it has reported stays.
    Stop,
}

/// What a run does next.
#[derive(Clone, Debug, PartialEq)]
pub enum NextStep {
    /// Do a step; the changes take effect with it.
    Go(Vec<(String, Value)>),
    /// Pictures are wanted, no step.
    Redraw(Vec<(String, Value)>),
    Stop(StopReason),
}

/// Why a run ended before its last step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// A stop was requested.
    Asked,
    /// It did as many steps as it was allowed.
    StepLimit,
    /// It took as long as it was allowed.
    TimeLimit,
}

/// How far a run may go.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    pub steps: Option<u64>,
    pub time: Option<Duration>,
}

/// The run's end of the command channel, with its limits and the stop flag.
pub struct Control {
    commands: Option<Receiver<Command>>,
    stop: Arc<AtomicBool>,
    limits: Limits,
    started: Instant,
    pace_state: PaceState,
    phase: Phase,
    /// Knobs that were turned before the run's own first step.
    early: Vec<(String, Value)>,
    /// Whether a picture is to be drawn when the ordered steps are done.
    redraw: bool,
    interval: Duration,
    /// When the last step was let go.
    last: Option<Instant>,
    stopped: Option<StopReason>,
    /// Called each time the run is about to wait for a command.
    settled: Option<Box<dyn FnMut() + Send>>,
}

/// Whether the next step waits for a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PaceState {
    Running,
    Paused,
    Steps(u64),
}

/// Which work a step belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The run itself.
    Run,
    /// Work that comes before the run's first step.
    WarmUp,
}

/// The command channel is closed.
struct Disconnected;

impl Control {
    /// A run without a command channel; `stop` ends it.
    pub fn free(limits: Limits, stop: Arc<AtomicBool>) -> Self {
        Self {
            commands: None,
            stop,
            limits,
            started: Instant::now(),
            pace_state: PaceState::Running,
            phase: Phase::Run,
            early: Vec::new(),
            redraw: false,
            interval: Duration::ZERO,
            last: None,
            stopped: None,
            settled: None,
        }
    }

    /// Does the work before the run's first step, such as training the network that it starts from. There
    /// [`next_step`](Self::next_step) obeys pause and stop. Ordered steps let the work go on and are not used up by it, knobs take
    /// effect with the run's first step, pace and the limit of steps do not apply, and no frames are requested.
    pub fn warm_up<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let phase = std::mem::replace(&mut self.phase, Phase::WarmUp);
        let done = work(self);
        self.phase = phase;
        done
    }

    /// A control that nothing commands, limits or stops; it takes the place of one that a nested run borrows.
    pub fn detached() -> Self {
        Self::free(Limits::default(), Arc::default())
    }

    /// A run that takes commands; it ends when the sender is dropped.
    pub fn steered(commands: Receiver<Command>, limits: Limits, stop: Arc<AtomicBool>) -> Self {
        Self { commands: Some(commands), ..Self::free(limits, stop) }
    }

    /// Calls `call` each time a paused run has done its last step and is about to wait for a command.
    pub fn when_settled(&mut self, call: impl FnMut() + Send + 'static) {
        self.settled = Some(Box::new(call));
    }

    /// Lets the next step follow at once: in a pause threads and caches go cold.
    pub fn skip_pause(&mut self) {
        self.last = None;
    }

    /// Called before each step with the number of steps done; blocks while the run is paused or ahead of its pace.
    pub fn next_step(&mut self, steps_done: u64) -> NextStep {
        let mut changes = Vec::new();
        if self.phase == Phase::Run {
            changes = std::mem::take(&mut self.early);
        }
        loop {
            if let Some(reason) = self.must_stop(steps_done) {
                return self.end(reason);
            }
            let Ok(command) = self.next_command() else { return self.end(StopReason::Asked) };
            match command {
                Some(Command::Pause) => self.pace_state = PaceState::Paused,
                Some(Command::Resume) => self.pace_state = PaceState::Running,
                Some(Command::Step(steps)) => {
                    let left = if let PaceState::Steps(left) = self.pace_state { left } else { 0 };
                    self.pace_state = PaceState::Steps(steps.saturating_add(left));
                }
                Some(Command::Set { name, value }) => match self.phase {
                    Phase::Run => changes.push((name, value)),
                    Phase::WarmUp => self.early.push((name, value)),
                },
                Some(Command::Pace(interval)) => self.interval = interval,
                // In the warm-up there is nothing to be seen yet; the run draws when it begins.
                Some(Command::Redraw) => {
                    if let PaceState::Steps(1..) = self.pace_state {
                        self.redraw = true;
                    } else if self.phase == Phase::Run {
                        self.redraw = false;
                        return NextStep::Redraw(changes);
                    }
                }
                Some(Command::Stop) => return self.end(StopReason::Asked),
                None => match self.pace_state {
                    PaceState::Paused => {}
                    PaceState::Steps(0) => {
                        self.pace_state = PaceState::Paused;
                        if std::mem::take(&mut self.redraw) {
                            return NextStep::Redraw(changes);
                        }
                    }
                    PaceState::Steps(left) => {
                        if self.phase == Phase::Run {
                            self.pace_state = PaceState::Steps(left - 1);
                        }
                        return NextStep::Go(changes);
                    }
                    PaceState::Running => {
                        self.last = (self.phase == Phase::Run).then(Instant::now);
                        return NextStep::Go(changes);
                    }
                },
            }
        }
    }

    /// The next command; none when it is time for a step. Blocks on the channel and never spins.
    fn next_command(&mut self) -> Result<Option<Command>, Disconnected> {
        let Some(commands) = &self.commands else { return Ok(None) };
        let wait = match (self.pace_state, self.last) {
            (PaceState::Running, Some(last)) => self.interval.saturating_sub(last.elapsed()),
            (PaceState::Paused | PaceState::Running | PaceState::Steps(_), _) => Duration::ZERO,
        };
        match commands.recv_timeout(wait) {
            Ok(command) => Ok(Some(command)),
            Err(RecvTimeoutError::Disconnected) => Err(Disconnected),
            Err(RecvTimeoutError::Timeout) if self.pace_state == PaceState::Paused => {
                if let Some(settled) = &mut self.settled {
                    settled();
                }
                commands.recv().map(Some).map_err(|_| Disconnected)
            }
            Err(RecvTimeoutError::Timeout) => Ok(None),
        }
    }

    /// Whether the run must end now; for long work inside one step.
    pub fn interrupted(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The same as a function, for code that cannot borrow the control.
    pub fn interruption(&self) -> impl Fn() -> bool + 'static {
        let stop = Arc::clone(&self.stop);
        move || stop.load(Ordering::Relaxed)
    }

    /// Why the run must end now, if it must; for work within a step, or before the first. The caller then ends the run.
    pub fn must_end(&mut self) -> Option<StopReason> {
        let reason = self.must_stop(0)?;
        self.stopped = Some(reason);
        Some(reason)
    }

    /// Why the run ended early, if it did.
    pub fn stop_reason(&self) -> Option<StopReason> {
        self.stopped
    }

    fn end(&mut self, reason: StopReason) -> NextStep {
        self.stopped = Some(reason);
        NextStep::Stop(reason)
    }

    fn must_stop(&self, steps_done: u64) -> Option<StopReason> {
        if self.interrupted() {
            Some(StopReason::Asked)
        } else if self.phase == Phase::Run
            && self.limits.steps.is_some_and(|most| steps_done >= most)
        {
            Some(StopReason::StepLimit)
        } else if self.limits.time.is_some_and(|most| self.started.elapsed() >= most) {
            Some(StopReason::TimeLimit)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    fn steered(commands: Vec<Command>) -> (mpsc::Sender<Command>, Control) {
        let (sender, receiver) = mpsc::channel();
        for command in commands {
            sender.send(command).unwrap();
        }
        let control = Control::steered(receiver, Limits::default(), Arc::default());
        (sender, control)
    }

    #[test]
    fn ordered_steps_add_up_and_are_drawn_last() {
        let one = [Command::Step(1), Command::Redraw];
        let commands = [&[Command::Pause][..], &one, &one, &one].concat();
        let (sender, mut control) = steered(commands);
        for step in 0..3 {
            assert_eq!(control.next_step(step), NextStep::Go(vec![]));
        }
        assert_eq!(control.next_step(3), NextStep::Redraw(vec![]));
        sender.send(Command::Redraw).unwrap();
        assert_eq!(control.next_step(3), NextStep::Redraw(vec![]));
        sender.send(Command::Step(1)).unwrap();
        assert_eq!(control.next_step(3), NextStep::Go(vec![]));
        sender.send(Command::Stop).unwrap();
        assert_eq!(control.next_step(4), NextStep::Stop(StopReason::Asked));
    }

    #[test]
    fn settled_is_called_only_when_waiting() {
        let (sender, mut control) = steered(vec![Command::Pause, Command::Step(2)]);
        let (called, calls) = mpsc::channel();
        let stop = sender.clone();
        control.when_settled(move || {
            let _ = called.send(());
            // The listener may send the next command at once.
            let _ = stop.send(Command::Stop);
        });
        assert_eq!(control.next_step(0), NextStep::Go(vec![]));
        assert_eq!(control.next_step(1), NextStep::Go(vec![]));
        assert!(calls.try_recv().is_err());
        assert_eq!(control.next_step(2), NextStep::Stop(StopReason::Asked));
        assert!(calls.try_recv().is_ok());
    }

    #[test]
    fn knobs_arrive_with_the_next_step() {
        let set =
            |value: f64| Command::Set { name: "learning_rate".into(), value: Value::Float(value) };
        let (_sender, mut control) =
            steered(vec![set(0.1), Command::Pause, set(0.2), Command::Resume]);
        let changes = vec![
            ("learning_rate".to_owned(), Value::Float(0.1)),
            ("learning_rate".to_owned(), Value::Float(0.2)),
        ];
        assert_eq!(control.next_step(0), NextStep::Go(changes));
    }

    #[test]
    fn warm_up_can_pause_and_keeps_commands_for_the_run() {
        let set = Command::Set { name: "learning_rate".into(), value: Value::Float(0.1) };
        let changes = vec![("learning_rate".to_owned(), Value::Float(0.1))];
        let (sender, receiver) = mpsc::channel();
        let limits = Limits { steps: Some(3), time: None };
        let mut control = Control::steered(receiver, limits, Arc::default());
        let pace = Command::Pace(Duration::from_secs(3600));
        for command in [pace, Command::Pause, Command::Redraw, set] {
            sender.send(command).unwrap();
        }
        let (called, calls) = mpsc::channel();
        let resume = sender.clone();
        control.when_settled(move || {
            called.send(()).unwrap();
            resume.send(Command::Step(2)).unwrap();
            resume.send(Command::Redraw).unwrap();
        });
        control.warm_up(|control| {
            // Paused; then at full speed, for two steps of the run itself are ordered.
            for step in 70..80 {
                assert_eq!(control.next_step(step), NextStep::Go(vec![]));
            }
        });
        assert_eq!(calls.try_iter().count(), 1);
        assert_eq!(control.next_step(0), NextStep::Go(changes));
        assert_eq!(control.next_step(1), NextStep::Go(vec![]));
        assert_eq!(control.next_step(2), NextStep::Redraw(vec![]));
        sender.send(Command::Resume).unwrap();
        assert_eq!(control.next_step(2), NextStep::Go(vec![]));
        assert_eq!(control.next_step(3), NextStep::Stop(StopReason::StepLimit));
        let (sender, mut control) = steered(vec![Command::Pause]);
        sender.send(Command::Stop).unwrap();
        let ended = control.warm_up(|control| control.next_step(5));
        assert_eq!(ended, NextStep::Stop(StopReason::Asked));
        assert_eq!(control.stop_reason(), Some(StopReason::Asked));
    }

    #[test]
    fn a_skipped_pause_delays_no_step() {
        let (_sender, mut control) = steered(vec![Command::Pace(Duration::from_secs(3600))]);
        for step in 0..3 {
            assert_eq!(control.next_step(step), NextStep::Go(vec![]));
            control.skip_pause();
        }
    }

    #[test]
    fn pace_delays_steps() {
        let pace = Duration::from_millis(20);
        let (_sender, mut control) = steered(vec![Command::Pace(pace)]);
        let started = Instant::now();
        for step in 0..3 {
            assert_eq!(control.next_step(step), NextStep::Go(vec![]));
        }
        assert!(started.elapsed() >= 2 * pace);
    }

    #[test]
    fn limits_and_a_closed_channel_end_the_run() {
        let limits = Limits { steps: Some(3), time: None };
        let mut control = Control::free(limits, Arc::default());
        assert_eq!(control.next_step(2), NextStep::Go(vec![]));
        assert_eq!(control.next_step(3), NextStep::Stop(StopReason::StepLimit));
        assert_eq!(control.stop_reason(), Some(StopReason::StepLimit));
        let (sender, mut control) = steered(vec![]);
        drop(sender);
        assert_eq!(control.next_step(0), NextStep::Stop(StopReason::Asked));
        let limits = Limits { steps: None, time: Some(Duration::ZERO) };
        let mut control = Control::free(limits, Arc::default());
        assert_eq!(control.next_step(0), NextStep::Stop(StopReason::TimeLimit));
    }
}
