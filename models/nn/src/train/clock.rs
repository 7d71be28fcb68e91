//! How long steps and their phases take.

use std::collections::VecDeque;
use std::time::Instant;

use burn::tensor::Device;

use crate::train::Timing;
use mlsys_lab::{median, named_enum};

named_enum! {
    /// A phase of a step by its metric.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Phase {
        /// Assembling the batch and copying it to the device.
        Data = "data_seconds",
        Forward = "forward_seconds",
        Backward = "backward_seconds",
        Update = "update_seconds",
    }
}

/// Stops the time of one step, phase by phase. What runs between [`Stopwatch::resume`] and the phase before it
/// (measuring norms) belongs to no phase.
pub struct Stopwatch<'a> {
    device: &'a Device,
    timing: Timing,
    lap: Instant,
    phases: [f64; 4],
}

impl<'a> Stopwatch<'a> {
    pub fn start(device: &'a Device, timing: Timing) -> Self {
        Self { device, timing, lap: Instant::now(), phases: [0.0; 4] }
    }

    pub fn end(&mut self, phase: Phase) {
        self.wait();
        let now = Instant::now();
        self.phases[phase as usize] = (now - self.lap).as_secs_f64();
        self.lap = now;
    }

    /// Leaves out what ran since the last phase ended.
    pub fn resume(&mut self) {
        self.wait();
        self.lap = Instant::now();
    }

    pub fn phases(self) -> [f64; 4] {
        self.phases
    }

    fn wait(&self) {
        match self.timing {
            Timing::Steps => {}
            // An error of the device shows when the next result is read, with more to say.
            Timing::Phases => drop(self.device.sync()),
        }
    }
}

#[derive(Default)]
pub struct StepTimes {
    recent: VecDeque<StepTime>,
    /// On an asynchronous device: since when it has done nothing but steps, and how many were begun.
    window: Option<(Instant, usize)>,
}

/// Seconds of a step, and of its phases where each was timed.
type StepTime = (f64, Option<[f64; 4]>);

impl StepTimes {
    const RECENT: usize = 20;

    pub fn push_phases(&mut self, phases: [f64; 4]) {
        self.push((phases.iter().sum(), Some(phases)));
    }

    /// A step begins. The device is idle if there is no window yet.
    pub fn open_window(&mut self) {
        let (_, steps) = self.window.get_or_insert_with(|| (Instant::now(), 0));
        *steps += 1;
    }

    /// The device has finished all steps begun: takes in their mean time.
    pub fn close_window(&mut self) {
        if let Some((since, steps)) = self.window.take() {
            self.push_together(since.elapsed().as_secs_f64(), steps);
        }
    }

    /// Time passed in which the device did other things: the steps begun are not timed.
    pub fn void_window(&mut self) {
        self.window = None;
    }

    fn push_together(&mut self, seconds: f64, steps: usize) {
        for _ in 0..steps.min(Self::RECENT) {
            self.push((seconds / steps as f64, None));
        }
    }

    fn push(&mut self, time: StepTime) {
        if self.recent.len() == Self::RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(time);
    }

    /// Forgets all, as after a knob that changes what a step does.
    pub fn clear(&mut self) {
        self.recent.clear();
        self.window = None;
    }

    pub fn seconds_per_step(&self) -> Option<f64> {
        median(self.recent.iter().map(|(seconds, _)| *seconds))
    }

    pub fn seconds_of(&self, phase: Phase) -> Option<f64> {
        median(self.recent.iter().filter_map(|(_, phases)| Some((*phases)?[phase as usize])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_the_last_twenty_steps_counts() {
        let mut times = StepTimes::default();
        assert_eq!(times.seconds_per_step(), None);
        times.push_together(9.0, 3);
        assert_eq!(times.seconds_per_step(), Some(3.0));
        assert_eq!(times.seconds_of(Phase::Forward), None);
        for step in 0..20 {
            times.push_phases([0.0, 1.0, f64::from(step), 0.0]);
        }
        assert_eq!(times.seconds_per_step(), Some(10.5));
        assert_eq!(times.seconds_of(Phase::Forward), Some(1.0));
    }
}
