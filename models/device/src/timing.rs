//! Timing that can be trusted: warm up, repeat, take the median, tell the spread.

use std::time::Duration;

use mlsys_lab::{LabError, median};

const MOST_PASSES: u64 = 1 << 24;

const MOST_SLICES: usize = 64;

pub trait Workload {
    /// Bytes, floating-point operations or starts in one pass.
    fn amount(&self) -> f64;

    /// Runs `passes` passes and waits until they are done: the seconds of all passes together.
    fn time(&mut self, passes: u64) -> Result<f64, LabError>;
}

pub struct RepeatTimer {
    pass: Box<dyn Workload>,
    passes: u64,
    pace: Pace,
    /// Slices that a repetition has at least: one that was disturbed must not be all there is.
    least_slices: usize,
    times: Timings,
}

/// How long is measured at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// A slice: as many passes as take about so long are timed together. Short, so that some slice of a repetition is
    /// not interrupted even on a busy machine; long enough that reading the clock does not show.
    pub slice: Duration,
    /// A repetition: slices are done until several of them agree on the fastest, for whatever else the machine does only
    /// adds time; at least for so long.
    pub least: Duration,
    pub most: Duration,
}

const AGREEING: usize = 3;

/// Slices agree if their times are at most this multiple of the fastest.
const AGREEMENT: f64 = 1.1;

#[derive(Clone, Debug, PartialEq)]
pub struct Timings {
    /// Bytes, floating-point operations or starts in a pass.
    pub amount: f64,
    /// Seconds of the very first pass, with everything that happens only once.
    pub first: f64,
    /// Seconds of a pass in each repetition.
    pub seconds: Vec<f64>,
}

impl RepeatTimer {
    /// Warms up: does the work once, then as often as fills a slice.
    pub fn warm_up(mut pass: Box<dyn Workload>, pace: Pace) -> Result<Self, LabError> {
        let first = pass.time(1)?;
        let wanted = pace.slice.as_secs_f64();
        let (mut passes, mut seconds) = (1, pass.time(1)?);
        while seconds < wanted / 2.0 && passes < MOST_PASSES {
            passes = more(passes, seconds, wanted);
            seconds = pass.time(passes)?;
        }
        let times = Timings { amount: pass.amount(), first, seconds: Vec::new() };
        let is_long = seconds * AGREEING as f64 > pace.most.as_secs_f64();
        Ok(Self { pass, passes, pace, least_slices: if is_long { 1 } else { AGREEING }, times })
    }

    /// One repetition; cut short if the run is to end.
    pub fn repeat(&mut self, interrupted: impl Fn() -> bool) -> Result<(), LabError> {
        let [least, most] = [self.pace.least, self.pace.most].map(|span| span.as_secs_f64());
        let (mut slices, mut spent): (Vec<f64>, f64) = (Vec::new(), 0.0);
        let mut fastest = f64::INFINITY;
        while slices.len() < MOST_SLICES {
            let seconds = self.pass.time(self.passes)?;
            slices.push(seconds);
            spent += seconds;
            fastest = fastest.min(seconds);
            let near = |seconds: &&f64| **seconds <= AGREEMENT * fastest;
            let agree = slices.iter().filter(near).count() >= AGREEING;
            let over = spent >= most && slices.len() >= self.least_slices;
            if (agree && spent >= least) || over || interrupted() {
                break;
            }
        }
        self.times.seconds.push(fastest / self.passes as f64);
        Ok(())
    }

    pub fn times(&self) -> &Timings {
        &self.times
    }
}

/// More passes, so that they take about as long as wanted; never many times as many, for the first ones may mislead.
fn more(passes: u64, seconds: f64, wanted: f64) -> u64 {
    let factor = (wanted / seconds.max(1e-9)).clamp(2.0, 16.0);
    ((passes as f64 * factor).ceil() as u64).min(MOST_PASSES)
}

impl Timings {
    /// The rate by the median time; none before the first repetition.
    pub fn rate(&self) -> Option<f64> {
        Some(self.amount / self.median()?)
    }

    pub fn median(&self) -> Option<f64> {
        median(self.seconds.iter().copied()).filter(|seconds| *seconds > 0.0)
    }

    /// (largest - smallest) / median.
    pub fn spread(&self) -> Option<f64> {
        let median = self.median()?;
        let low = self.seconds.iter().copied().fold(f64::INFINITY, f64::min);
        let high = self.seconds.iter().copied().fold(0.0, f64::max);
        Some((high - low) / median)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::rc::Rc;

    struct Scripted {
        each: f64,
        asked: Rc<RefCell<Vec<u64>>>,
        extra: Vec<f64>,
    }

    impl Workload for Scripted {
        fn amount(&self) -> f64 {
            100.0
        }

        fn time(&mut self, passes: u64) -> Result<f64, LabError> {
            self.asked.borrow_mut().push(passes);
            Ok(self.each * passes as f64 + self.extra.pop().unwrap_or(0.0))
        }
    }

    fn clock(each: f64, extra: Vec<f64>) -> (RepeatTimer, Rc<RefCell<Vec<u64>>>) {
        let asked = Rc::default();
        let pass = Scripted { each, asked: Rc::clone(&asked), extra };
        let pace = Pace {
            slice: Duration::from_millis(10),
            least: Duration::from_millis(20),
            most: Duration::from_millis(500),
        };
        (RepeatTimer::warm_up(Box::new(pass), pace).unwrap(), asked)
    }

    #[test]
    fn one_time_costs_are_in_the_warm_up() {
        let (mut clock, asked) = clock(0.001, vec![5.0]);
        assert_eq!(clock.times().first, 5.001);
        assert!(asked.borrow().last().is_some_and(|passes| *passes >= 5));
        for _ in 0..3 {
            clock.repeat(|| false).unwrap();
        }
        let times = clock.times();
        assert_eq!(times.seconds.len(), 3);
        assert!((times.rate().unwrap() - 100_000.0).abs() < 1e-6);
        assert!(times.spread().unwrap() < 1e-9);
    }

    #[test]
    fn slices_are_done_until_three_agree_on_the_fastest() {
        // What is popped last: the fourth and fifth call are the second and third slice.
        let (mut clock, asked) = clock(0.02, vec![0.03, 0.1, 0.0, 0.0, 0.0]);
        clock.repeat(|| false).unwrap();
        assert_eq!(clock.times().seconds, [0.02]);
        assert_eq!(asked.borrow().len(), 2 + 5);
        // One disturbed slice is not all there is.
        let (mut clock, asked) = self::clock(0.02, vec![7.0, 0.0, 0.0]);
        clock.repeat(|| false).unwrap();
        assert_eq!(clock.times().seconds, [0.02]);
        assert_eq!(asked.borrow().len(), 2 + 3);
        // It never gets quiet: the fastest of what there was time for.
        let (mut clock, asked) = self::clock(0.02, vec![0.3, 0.2, 0.1, 0.0, 0.0]);
        clock.repeat(|| false).unwrap();
        assert!((clock.times().seconds[0] - 0.12).abs() < 1e-12);
        assert_eq!(asked.borrow().len(), 2 + 3);
    }

    #[test]
    fn a_long_slice_and_a_run_that_ends_are_done_once() {
        let (mut long, asked) = clock(1.0, Vec::new());
        long.repeat(|| false).unwrap();
        assert_eq!(*asked.borrow(), [1, 1, 1]);
        let (mut stopped, asked) = clock(0.02, Vec::new());
        stopped.repeat(|| true).unwrap();
        assert_eq!(*asked.borrow(), [1, 1, 1]);
        let (mut instant, asked) = clock(0.0, Vec::new());
        asked.borrow_mut().clear();
        instant.repeat(|| false).unwrap();
        assert_eq!(asked.borrow().len(), MOST_SLICES);
    }

    #[test]
    fn the_spread_is_told_in_medians() {
        let times = Timings { amount: 6.0, first: 9.0, seconds: vec![3.0, 1.0, 2.0] };
        assert_eq!((times.rate(), times.spread()), (Some(3.0), Some(1.0)));
        let none = Timings { seconds: Vec::new(), ..times };
        assert_eq!((none.rate(), none.spread()), (None, None));
    }

    #[test]
    fn passes_grow_by_bounded_steps() {
        for (passes, seconds, wanted, expected) in [
            (1, 0.0, 1.0, 16),
            (10, 0.5, 1.0, 20),
            (10, 0.9, 1.0, 20),
            (MOST_PASSES, 1e-9, 1.0, MOST_PASSES),
        ] {
            assert_eq!(more(passes, seconds, wanted), expected);
        }
    }
}
