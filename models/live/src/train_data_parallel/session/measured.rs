//! How long steps take, of the workers and of one worker alone.

use std::collections::VecDeque;

use mlsys_device::timing::median;

/// Steps that count.
const MOST: usize = 99;

/// The wall seconds of the last steps with the knobs as they stand; of older ones until the first step with these.
#[derive(Default)]
pub(super) struct Measured {
    steps: VecDeque<Times>,
    knobs: Knobs,
}

/// One step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub(super) workers: f64,
    /// Nothing if none runs beside them.
    pub(super) one: Option<f64>,
}

/// Whether knobs were turned since the last step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Knobs {
    #[default]
    AsBefore,
    Turned,
}

impl Measured {
    /// Once the next step is done, those before it do not count.
    pub(super) fn turn(&mut self) {
        self.knobs = Knobs::Turned;
    }

    /// A step was done.
    pub(super) fn push(&mut self, times: Times) {
        if std::mem::take(&mut self.knobs) == Knobs::Turned {
            self.steps.clear();
        }
        if self.steps.len() == MOST {
            self.steps.pop_front();
        }
        self.steps.push_back(times);
    }

    /// The median of the workers.
    pub(super) fn workers(&self) -> Option<f64> {
        median(self.steps.iter().map(|times| times.workers))
    }

    /// The median of one alone.
    pub(super) fn one(&self) -> Option<f64> {
        median(self.steps.iter().filter_map(|times| times.one))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(measured: &mut Measured, workers: f64) {
        let one = Some(2.0 * workers);
        measured.push(Times { workers, one });
    }

    #[test]
    fn turned_knobs_count_from_the_next_step_on_and_old_steps_are_forgotten() {
        let mut measured = Measured::default();
        assert_eq!(measured.workers(), None);
        push(&mut measured, 8.0);
        measured.turn();
        assert_eq!((measured.workers(), measured.one()), (Some(8.0), Some(16.0)));
        push(&mut measured, 1.0);
        assert_eq!(measured.one(), Some(2.0));
        for _ in 0..MOST {
            push(&mut measured, 3.0);
        }
        assert_eq!(measured.workers(), Some(3.0));
        assert_eq!(measured.steps.len(), MOST);
    }
}
