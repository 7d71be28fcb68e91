//! What rounding did, and what theory expects of it.

use super::Levels;

/// Sums over weights that were rounded.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Noise {
    /// Of the squares of the weights.
    pub signal: f64,
    /// Of the squares of the errors.
    pub error: f64,
    /// Of the squares of the steps that weights lie in.
    pub steps: f64,
    /// The largest error in half steps, of weights that are not cut off.
    pub worst: f64,
    /// Weights that lie beyond the last level by more than half a step.
    pub clipped: usize,
    /// Weights.
    pub weights: usize,
}

impl Noise {
    /// Counts a weight and what came back of it.
    pub fn add(&mut self, weight: f32, back: f32, levels: &Levels) {
        let (exact, error) = (f64::from(weight), f64::from(back) - f64::from(weight));
        if !error.is_finite() {
            return;
        }
        let step = levels.step(weight);
        self.signal += exact * exact;
        self.error += error * error;
        self.steps += step * step;
        self.weights += 1;
        if levels.clips(weight) {
            self.clipped += 1;
        } else if step > 0.0 {
            self.worst = self.worst.max(2.0 * error.abs() / step);
        }
    }

    /// The two together.
    pub fn and(self, other: Self) -> Self {
        Self {
            signal: self.signal + other.signal,
            error: self.error + other.error,
            steps: self.steps + other.steps,
            worst: self.worst.max(other.worst),
            clipped: self.clipped + other.clipped,
            weights: self.weights + other.weights,
        }
    }

    /// Signal over noise in decibels; none without a weight beside zero or without an error.
    pub fn sqnr_db(&self) -> Option<f64> {
        decibels(self.signal, self.error)
    }

    /// The same if errors were uniform over a step, with the variance step²/12.
    pub fn predicted_db(&self) -> Option<f64> {
        decibels(self.signal, self.steps / 12.0)
    }
}

fn decibels(signal: f64, noise: f64) -> Option<f64> {
    let ratio = 10.0 * (signal / noise).log10();
    ratio.is_finite().then_some(ratio)
}
