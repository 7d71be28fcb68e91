//! What steers a run from outside, read by the run between two steps.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use crate::value::Value;

/// An order to a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Wait before the next step.
    Pause,
    /// Go on.
    Resume,
    /// Do this many steps, besides those that were ordered and not yet done, then pause.
    Step(u64),
    /// Give a live parameter a value, already checked.
    Set {
        /// The parameter.
        name: String,
        /// Its new value.
        value: Value,
    },
    /// Let at least this long pass from step to step, so that a person can watch; zero is full speed.
    Pace(Duration),
    /// Draw now: a picture is wanted although the run may be paused. While ordered steps are left, it is drawn after them.
    Redraw,
    /// End the run; what it has reported stays.
    Stop,
}

/// What a run does next.
#[derive(Clone, Debug, PartialEq)]
pub enum Turn {
    /// Do a step; the changes take effect with it.
    Go(Vec<(String, Value)>),
    /// Pictures are wanted, no step.
    Redraw(Vec<(String, Value)>),
    /// End.
    Stop(StopReason),
}

/// Why a run ended before its last step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// Somebody asked for it.
    Asked,
    /// It did as many steps as it was allowed.
    StepLimit,
    /// It took as long as it was allowed.
    TimeLimit,
}

/// How far a run may go.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// Steps.
    pub steps: Option<u64>,
    /// Wall-clock time.
    pub time: Option<Duration>,
}

/// The run's end of the wire: orders from outside, limits, and the stop flag.
pub struct Control {
    orders: Option<Receiver<Command>>,
    stop: Arc<AtomicBool>,
    limits: Limits,
    started: Instant,
    gait: Gait,
    stage: Stage,
    /// Knobs that were turned before the run's own first step.
    early: Vec<(String, Value)>,
    /// Whether a picture is to be drawn when the ordered steps are done.
    redraw: bool,
    interval: Duration,
    /// When the last step was let go.
    last: Option<Instant>,
    stopped: Option<StopReason>,
    /// Told each time the run is about to wait for an order.
    settled: Option<Box<dyn FnMut() + Send>>,
}

/// Whether the next step waits for an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gait {
    Running,
    Paused,
    Steps(u64),
}

/// Whose steps are let go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The run's.
    Own,
    /// Those of work that comes before the run's own.
    Before,
}

/// Whoever gave orders is gone.
struct Gone;

impl Control {
    /// A run that nobody steers; `stop` ends it.
    pub fn free(limits: Limits, stop: Arc<AtomicBool>) -> Self {
        Self {
            orders: None,
            stop,
            limits,
            started: Instant::now(),
            gait: Gait::Running,
            stage: Stage::Own,
            early: Vec::new(),
            redraw: false,
            interval: Duration::ZERO,
            last: None,
            stopped: None,
            settled: None,
        }
    }

    /// Does what comes before the run's own steps, such as the training of the network that it starts from: there
    /// [`turn`](Self::turn) hears pause and stop as ever. What is ordered for the run's own steps waits for them: so many
    /// steps let go on what comes before them, and knobs that are turned take effect with the first. Pace and limit of
    /// steps do not count, and nobody is asked for pictures.
    pub fn before<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let stage = std::mem::replace(&mut self.stage, Stage::Before);
        let done = work(self);
        self.stage = stage;
        done
    }

    /// One that has nothing to say, to stand in for one that was lent.
    pub fn spent() -> Self {
        Self::free(Limits::default(), Arc::default())
    }

    /// A run that takes orders; it ends when the sender is gone.
    pub fn steered(orders: Receiver<Command>, limits: Limits, stop: Arc<AtomicBool>) -> Self {
        Self { orders: Some(orders), ..Self::free(limits, stop) }
    }

    /// Has somebody told each time a paused run has done its last step and is about to wait for an order.
    pub fn when_settled(&mut self, tell: impl FnMut() + Send + 'static) {
        self.settled = Some(Box::new(tell));
    }

    /// Called before each step with the number of steps done; blocks while the run is paused or ahead of its pace.
    pub fn turn(&mut self, steps_done: u64) -> Turn {
        let mut changes = match self.stage {
            Stage::Own => std::mem::take(&mut self.early),
            Stage::Before => Vec::new(),
        };
        loop {
            if let Some(reason) = self.must_stop(steps_done) {
                return self.end(reason);
            }
            let order = match self.next_order() {
                Ok(order) => order,
                Err(Gone) => return self.end(StopReason::Asked),
            };
            match order {
                Some(Command::Pause) => self.gait = Gait::Paused,
                Some(Command::Resume) => self.gait = Gait::Running,
                Some(Command::Step(steps)) => {
                    let left = match self.gait {
                        Gait::Steps(left) => left,
                        Gait::Running | Gait::Paused => 0,
                    };
                    self.gait = Gait::Steps(steps.saturating_add(left));
                }
                Some(Command::Set { name, value }) => match self.stage {
                    Stage::Own => changes.push((name, value)),
                    Stage::Before => self.early.push((name, value)),
                },
                Some(Command::Pace(interval)) => self.interval = interval,
                Some(Command::Redraw) => match (self.stage, self.gait) {
                    (Stage::Own | Stage::Before, Gait::Steps(1..)) => self.redraw = true,
                    // There is nothing to be seen yet; the run draws when it begins.
                    (Stage::Before, Gait::Steps(0) | Gait::Running | Gait::Paused) => {}
                    (Stage::Own, Gait::Steps(0) | Gait::Running | Gait::Paused) => {
                        self.redraw = false;
                        return Turn::Redraw(changes);
                    }
                },
                Some(Command::Stop) => return self.end(StopReason::Asked),
                None => match self.gait {
                    Gait::Paused => {}
                    Gait::Steps(0) => {
                        self.gait = Gait::Paused;
                        if std::mem::take(&mut self.redraw) {
                            return Turn::Redraw(changes);
                        }
                    }
                    Gait::Steps(left) => {
                        self.gait = match self.stage {
                            Stage::Own => Gait::Steps(left - 1),
                            Stage::Before => Gait::Steps(left),
                        };
                        return Turn::Go(changes);
                    }
                    Gait::Running => {
                        self.last = match self.stage {
                            Stage::Own => Some(Instant::now()),
                            Stage::Before => None,
                        };
                        return Turn::Go(changes);
                    }
                },
            }
        }
    }

    /// The next order; none when it is time for a step. Waits in the channel, never in a loop.
    fn next_order(&mut self) -> Result<Option<Command>, Gone> {
        let Some(orders) = &self.orders else {
            return Ok(None);
        };
        let wait = match (self.gait, self.last) {
            (Gait::Paused, _) => match (orders.try_recv(), &mut self.settled) {
                (Ok(order), _) => return Ok(Some(order)),
                (Err(TryRecvError::Disconnected), _) => return Err(Gone),
                (Err(TryRecvError::Empty), tell) => {
                    if let Some(tell) = tell {
                        tell();
                    }
                    return orders.recv().map(Some).map_err(|_| Gone);
                }
            },
            (Gait::Running, Some(last)) => self.interval.saturating_sub(last.elapsed()),
            (Gait::Running, None) | (Gait::Steps(_), _) => Duration::ZERO,
        };
        if wait.is_zero() {
            match orders.try_recv() {
                Ok(order) => Ok(Some(order)),
                Err(TryRecvError::Empty) => Ok(None),
                Err(TryRecvError::Disconnected) => Err(Gone),
            }
        } else {
            match orders.recv_timeout(wait) {
                Ok(order) => Ok(Some(order)),
                Err(RecvTimeoutError::Timeout) => Ok(None),
                Err(RecvTimeoutError::Disconnected) => Err(Gone),
            }
        }
    }

    /// Whether the run must end now; for long work inside one step.
    pub fn interrupted(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The same question for whoever cannot hold the control.
    pub fn interruption(&self) -> impl Fn() -> bool + 'static {
        let stop = Arc::clone(&self.stop);
        move || stop.load(Ordering::Relaxed)
    }

    /// Why the run must end now, if it must; for work within a step, or before the first. Whoever is told so ends.
    pub fn must_end(&mut self) -> Option<StopReason> {
        let reason = self.must_stop(0)?;
        self.stopped = Some(reason);
        Some(reason)
    }

    /// Why the run ended early, if it did.
    pub fn stop_reason(&self) -> Option<StopReason> {
        self.stopped
    }

    fn end(&mut self, reason: StopReason) -> Turn {
        self.stopped = Some(reason);
        Turn::Stop(reason)
    }

    fn must_stop(&self, steps_done: u64) -> Option<StopReason> {
        if self.interrupted() {
            Some(StopReason::Asked)
        } else if self.stage == Stage::Own
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

    fn steered(orders: Vec<Command>) -> (mpsc::Sender<Command>, Control) {
        let (sender, receiver) = mpsc::channel();
        for order in orders {
            sender.send(order).unwrap();
        }
        let control = Control::steered(receiver, Limits::default(), Arc::default());
        (sender, control)
    }

    #[test]
    fn a_paused_run_does_the_steps_it_is_told_and_waits_again() {
        let (sender, mut control) = steered(vec![Command::Pause, Command::Step(2)]);
        assert_eq!(control.turn(0), Turn::Go(vec![]));
        assert_eq!(control.turn(1), Turn::Go(vec![]));
        sender.send(Command::Stop).unwrap();
        assert_eq!(control.turn(2), Turn::Stop(StopReason::Asked));
    }

    #[test]
    fn steps_ordered_before_the_last_were_done_are_done_too_and_drawn_at_their_end() {
        let one = [Command::Step(1), Command::Redraw];
        let orders = [&[Command::Pause][..], &one, &one, &one].concat();
        let (sender, mut control) = steered(orders);
        for step in 0..3 {
            assert_eq!(control.turn(step), Turn::Go(vec![]));
        }
        assert_eq!(control.turn(3), Turn::Redraw(vec![]));
        sender.send(Command::Redraw).unwrap();
        assert_eq!(control.turn(3), Turn::Redraw(vec![]));
        sender.send(Command::Step(1)).unwrap();
        assert_eq!(control.turn(3), Turn::Go(vec![]));
        sender.send(Command::Stop).unwrap();
        assert_eq!(control.turn(4), Turn::Stop(StopReason::Asked));
    }

    #[test]
    fn a_run_tells_when_it_waits_and_not_while_it_steps() {
        let (sender, mut control) = steered(vec![Command::Pause, Command::Step(2)]);
        let (told, tells) = mpsc::channel();
        let stop = sender.clone();
        control.when_settled(move || {
            let _ = told.send(());
            // Whoever hears of it may give the next order at once.
            let _ = stop.send(Command::Stop);
        });
        assert_eq!(control.turn(0), Turn::Go(vec![]));
        assert_eq!(control.turn(1), Turn::Go(vec![]));
        assert!(tells.try_recv().is_err());
        assert_eq!(control.turn(2), Turn::Stop(StopReason::Asked));
        assert!(tells.try_recv().is_ok());
    }

    #[test]
    fn knobs_turned_between_steps_arrive_together_with_the_next() {
        let set =
            |value: f64| Command::Set { name: "learning_rate".into(), value: Value::Float(value) };
        let (_sender, mut control) =
            steered(vec![set(0.1), Command::Pause, set(0.2), Command::Resume]);
        let changes = vec![
            ("learning_rate".to_owned(), Value::Float(0.1)),
            ("learning_rate".to_owned(), Value::Float(0.2)),
        ];
        assert_eq!(control.turn(0), Turn::Go(changes));
    }

    #[test]
    fn before_its_first_step_a_run_can_be_paused_and_what_is_for_its_steps_waits_for_them() {
        let set = Command::Set { name: "learning_rate".into(), value: Value::Float(0.1) };
        let changes = vec![("learning_rate".to_owned(), Value::Float(0.1))];
        let (sender, receiver) = mpsc::channel();
        let limits = Limits { steps: Some(3), time: None };
        let mut control = Control::steered(receiver, limits, Arc::default());
        let pace = Command::Pace(Duration::from_secs(3600));
        for order in [pace, Command::Pause, Command::Redraw, set] {
            sender.send(order).unwrap();
        }
        let (told, tells) = mpsc::channel();
        let resume = sender.clone();
        control.when_settled(move || {
            told.send(()).unwrap();
            resume.send(Command::Step(2)).unwrap();
            resume.send(Command::Redraw).unwrap();
        });
        control.before(|control| {
            // Paused; then at full speed, for two steps of the run itself are ordered.
            for step in 70..80 {
                assert_eq!(control.turn(step), Turn::Go(vec![]));
            }
        });
        assert_eq!(tells.try_iter().count(), 1);
        assert_eq!(control.turn(0), Turn::Go(changes));
        assert_eq!(control.turn(1), Turn::Go(vec![]));
        assert_eq!(control.turn(2), Turn::Redraw(vec![]));
        sender.send(Command::Resume).unwrap();
        assert_eq!(control.turn(2), Turn::Go(vec![]));
        assert_eq!(control.turn(3), Turn::Stop(StopReason::StepLimit));
        let (sender, mut control) = steered(vec![Command::Pause]);
        sender.send(Command::Stop).unwrap();
        let ended = control.before(|control| control.turn(5));
        assert_eq!(ended, Turn::Stop(StopReason::Asked));
        assert_eq!(control.stop_reason(), Some(StopReason::Asked));
    }

    #[test]
    fn a_paced_run_waits_between_steps() {
        let pace = Duration::from_millis(20);
        let (_sender, mut control) = steered(vec![Command::Pace(pace)]);
        let started = Instant::now();
        for step in 0..3 {
            assert_eq!(control.turn(step), Turn::Go(vec![]));
        }
        assert!(started.elapsed() >= 2 * pace);
    }

    #[test]
    fn limits_and_a_lost_sender_end_the_run() {
        let limits = Limits { steps: Some(3), time: None };
        let mut control = Control::free(limits, Arc::default());
        assert_eq!(control.turn(2), Turn::Go(vec![]));
        assert_eq!(control.turn(3), Turn::Stop(StopReason::StepLimit));
        assert_eq!(control.stop_reason(), Some(StopReason::StepLimit));
        let (sender, mut control) = steered(vec![]);
        drop(sender);
        assert_eq!(control.turn(0), Turn::Stop(StopReason::Asked));
        let limits = Limits { steps: None, time: Some(Duration::ZERO) };
        let mut control = Control::free(limits, Arc::default());
        assert_eq!(control.turn(0), Turn::Stop(StopReason::TimeLimit));
    }
}
