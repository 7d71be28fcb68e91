//! The loss of every step, read from the device when waiting for it costs nothing, and judged.

use burn::tensor::Tensor;

use mlsys_nn::divergence::Ceiling;

/// Losses on their way from the device.
pub(super) struct Losses {
    /// `[1]` each, with their steps.
    unread: Vec<(u64, Tensor<1>)>,
    ceiling: Ceiling,
}

impl Losses {
    /// On an asynchronous device, losses are read after this many steps at the latest.
    const MOST_UNREAD: usize = 100;

    pub(super) fn new(classes: usize) -> Self {
        Self { unread: Vec::new(), ceiling: Ceiling::new((classes as f64).ln()) }
    }

    /// A knob was turned: see [`Ceiling::begin_anew`].
    pub(super) fn begin_anew(&mut self) {
        self.ceiling.begin_anew();
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
        steps.into_iter().zip(Tensor::cat(losses, 0).into_data().iter::<f64>()).collect()
    }

    /// Why a loss means that the run has diverged, if it does.
    pub(super) fn judge(&mut self, loss: f64) -> Option<&'static str> {
        self.ceiling.judge(loss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
