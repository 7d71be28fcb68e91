//! What steers a run from outside, read by the run between two steps.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};

use crate::value::Value;

/// An order to a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Wait before the next step.
    Pause,
    /// Go on.
    Resume,
    /// Do this many steps, then pause.
    Step(u64),
    /// Give a live parameter a value, already checked.
    Set {
        /// The parameter.
        name: String,
        /// Its new value.
        value: Value,
    },
    /// Draw now: a picture is wanted although the run may be paused.
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
    pace: Pace,
    stopped: Option<StopReason>,
}

/// Whether the next step waits for an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    Running,
    Paused,
    Steps(u64),
}

impl Control {
    /// A run that nobody steers; `stop` ends it.
    pub fn free(limits: Limits, stop: Arc<AtomicBool>) -> Self {
        Self {
            orders: None,
            stop,
            limits,
            started: Instant::now(),
            pace: Pace::Running,
            stopped: None,
        }
    }

    /// A run that takes orders; it ends when the sender is gone.
    pub fn steered(orders: Receiver<Command>, limits: Limits, stop: Arc<AtomicBool>) -> Self {
        Self {
            orders: Some(orders),
            ..Self::free(limits, stop)
        }
    }

    /// Called before each step with the number of steps done; blocks while the run is paused.
    pub fn turn(&mut self, steps_done: u64) -> Turn {
        let mut changes = Vec::new();
        loop {
            if let Some(reason) = self.must_stop(steps_done) {
                return self.end(reason);
            }
            let order = match (&self.orders, self.pace) {
                (None, _) => None,
                // Nothing to do until told: sleep in the channel, not in a loop.
                (Some(orders), Pace::Paused) => match orders.recv() {
                    Ok(order) => Some(order),
                    Err(_) => return self.end(StopReason::Asked),
                },
                (Some(orders), Pace::Running | Pace::Steps(_)) => match orders.try_recv() {
                    Ok(order) => Some(order),
                    Err(TryRecvError::Empty) => None,
                    Err(TryRecvError::Disconnected) => return self.end(StopReason::Asked),
                },
            };
            match order {
                Some(Command::Pause) => self.pace = Pace::Paused,
                Some(Command::Resume) => self.pace = Pace::Running,
                Some(Command::Step(steps)) => self.pace = Pace::Steps(steps),
                Some(Command::Set { name, value }) => changes.push((name, value)),
                Some(Command::Redraw) => return Turn::Redraw(changes),
                Some(Command::Stop) => return self.end(StopReason::Asked),
                None => match self.pace {
                    Pace::Running => return Turn::Go(changes),
                    Pace::Paused => {}
                    Pace::Steps(0) => self.pace = Pace::Paused,
                    Pace::Steps(left) => {
                        self.pace = Pace::Steps(left - 1);
                        return Turn::Go(changes);
                    }
                },
            }
        }
    }

    /// Whether the run must end now; for long work inside one step.
    pub fn interrupted(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
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
        } else if self.limits.steps.is_some_and(|most| steps_done >= most) {
            Some(StopReason::StepLimit)
        } else if self
            .limits
            .time
            .is_some_and(|most| self.started.elapsed() >= most)
        {
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
    fn knobs_turned_between_steps_arrive_together_with_the_next() {
        let set = |value: f64| Command::Set {
            name: "learning_rate".into(),
            value: Value::Float(value),
        };
        let (_sender, mut control) =
            steered(vec![set(0.1), Command::Pause, set(0.2), Command::Resume]);
        let changes = vec![
            ("learning_rate".to_owned(), Value::Float(0.1)),
            ("learning_rate".to_owned(), Value::Float(0.2)),
        ];
        assert_eq!(control.turn(0), Turn::Go(changes));
    }

    #[test]
    fn limits_and_a_lost_sender_end_the_run() {
        let limits = Limits {
            steps: Some(3),
            time: None,
        };
        let mut control = Control::free(limits, Arc::default());
        assert_eq!(control.turn(2), Turn::Go(vec![]));
        assert_eq!(control.turn(3), Turn::Stop(StopReason::StepLimit));
        assert_eq!(control.stop_reason(), Some(StopReason::StepLimit));
        let (sender, mut control) = steered(vec![]);
        drop(sender);
        assert_eq!(control.turn(0), Turn::Stop(StopReason::Asked));
        let limits = Limits {
            steps: None,
            time: Some(Duration::ZERO),
        };
        let mut control = Control::free(limits, Arc::default());
        assert_eq!(control.turn(0), Turn::Stop(StopReason::TimeLimit));
    }
}
