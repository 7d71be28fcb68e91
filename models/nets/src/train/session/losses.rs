//! The loss of every step, read from the device when waiting for it costs nothing, and judged.

use burn::tensor::Tensor;

/// Losses on their way from the device.
pub(super) struct Losses {
    /// `[1]` each, with their steps.
    unread: Vec<(u64, Tensor<1>)>,
    /// What guessing costs: the logarithm of the number of classes.
    guessing: f64,
    /// A loss above this is a divergence; known after the first one.
    ceiling: Option<f64>,
}

impl Losses {
    /// On an asynchronous device, losses are read after this many steps at the latest.
    const MOST_UNREAD: usize = 100;

    pub(super) fn new(classes: usize) -> Self {
        Self {
            unread: Vec::new(),
            guessing: (classes as f64).ln(),
            ceiling: None,
        }
    }

    /// A knob was turned: what comes next is measured against itself, because another activation or fewer examples
    /// a step may cost more than ten times the old first loss without anything having gone wrong.
    pub(super) fn begin_anew(&mut self) {
        self.ceiling = None;
    }

    pub(super) fn push(&mut self, step: u64, loss: Tensor<1>) {
        self.unread.push((step, loss));
    }

    pub(super) fn must_be_read(&self) -> bool {
        self.unread.len() >= Self::MOST_UNREAD
    }

    /// Reads what is still on the device, in one transfer.
    pub(super) fn read(&mut self) -> Vec<(u64, f64)> {
        let (steps, losses): (Vec<u64>, Vec<Tensor<1>>) = self.unread.drain(..).unzip();
        if losses.is_empty() {
            return Vec::new();
        }
        steps
            .into_iter()
            .zip(Tensor::cat(losses, 0).into_data().iter::<f64>())
            .collect()
    }

    /// Why a loss means that the run has diverged, if it does.
    pub(super) fn judge(&mut self, loss: f64) -> Option<&'static str> {
        // A lucky first batch must not make an ordinary loss look like a divergence: count from what guessing
        // costs, if that is more.
        let ceiling = *self.ceiling.get_or_insert(10.0 * loss.max(self.guessing));
        if !loss.is_finite() {
            Some("the loss is no longer a finite number")
        } else if loss > ceiling {
            Some("the loss is more than ten times what it was at the start")
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_ten_times_the_first_or_not_finite_is_a_divergence() {
        let verdicts = |losses: &[f64]| {
            let mut judge = Losses::new(2);
            losses
                .iter()
                .map(|&loss| judge.judge(loss).is_some())
                .collect::<Vec<_>>()
        };
        assert_eq!(verdicts(&[1.0, 10.0, 10.1]), [false, false, true]);
        // ln 2 is 0.69: after a lucky first batch the ceiling is 6.9.
        assert_eq!(verdicts(&[0.01, 6.9, 7.0]), [false, false, true]);
        assert_eq!(
            verdicts(&[f64::NAN, 0.5, f64::INFINITY]),
            [true, false, true]
        );
    }

    #[test]
    fn a_turned_knob_moves_the_ceiling() {
        let mut losses = Losses::new(2);
        assert!(losses.judge(0.7).is_none());
        losses.begin_anew();
        assert!(losses.judge(9.0).is_none());
        assert!(losses.judge(91.0).is_some());
    }

    #[test]
    fn losses_are_read_in_order_and_once() {
        let device = burn::tensor::Device::flex();
        let mut losses = Losses::new(2);
        assert_eq!(losses.read(), []);
        for step in 1..=3 {
            losses.push(step, Tensor::from_floats([step as f32 / 2.0], &device));
        }
        assert_eq!(losses.read(), [(1, 0.5), (2, 1.0), (3, 1.5)]);
        assert_eq!(losses.read(), []);
    }
}
