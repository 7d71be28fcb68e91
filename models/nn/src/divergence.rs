//! When a loss means that a run has diverged.

/// Losses in a row above the ceiling that are a divergence, at least: fewer are a spike, from which a run may recover.
const PATIENCE: u64 = 10;

/// In a long run one of a hundred losses: a network with nothing left to learn has spikes of dozens of steps under
/// Adam, whose second moments have decayed.
const LOSSES_A_SPIKE: u64 = 100;

#[derive(Clone, Copy)]
pub struct DivergenceCheck {
    /// What guessing costs: the logarithm of the number of classes.
    guessing: f64,
    /// Known after the first loss.
    ceiling: Option<f64>,
    seen: u64,
    /// The last losses that were above the ceiling.
    above: u64,
}

impl DivergenceCheck {
    pub fn new(guessing: f64) -> Self {
        Self { guessing, ceiling: None, seen: 0, above: 0 }
    }

    /// Nothing seen yet, and the first loss is no yardstick: where updates begin within the first step, what that step
    /// costs may be their doing already. What guessing costs is what it would have begun with.
    pub fn from_guessing(guessing: f64) -> Self {
        Self { ceiling: Some(10.0 * guessing), ..Self::new(guessing) }
    }

    /// A knob was turned: what comes next is measured against itself, because another activation or fewer examples
    /// a step may cost more than ten times the old first loss without anything having gone wrong.
    pub fn begin_anew(&mut self) {
        *self = Self::new(self.guessing);
    }

    /// Why a loss means that the run has diverged, if it does.
    pub fn judge(&mut self, loss: f64) -> Option<&'static str> {
        // A lucky first batch must not make an ordinary loss look divergent: at least the cost of guessing counts.
        let ceiling = *self.ceiling.get_or_insert(10.0 * loss.max(self.guessing));
        self.seen += 1;
        self.above = if loss > ceiling { self.above + 1 } else { 0 };
        if !loss.is_finite() {
            Some("the loss is no longer a finite number")
        } else if self.above >= PATIENCE.max(self.seen / LOSSES_A_SPIKE) {
            Some("the loss stayed above ten times the first one")
        } else {
            None
        }
    }
}

/// Why weights mean that a run has diverged, if they do: an update of the last step may break them while its loss,
/// which comes from before the update, is an ordinary number.
pub fn check_weights(weights: &[f32]) -> Option<&'static str> {
    let broken = weights.iter().any(|weight| !weight.is_finite());
    broken.then_some("a weight is no longer a finite number")
}

pub fn at_rate(what: &str, rate: f64) -> String {
    format!(
        "{what}: at learning rate {} each update overshoots and the next gradient is larger still; a smaller rate keeps \
         the steps short",
        mlsys_lab::value::number(rate)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The index of the loss that ends a run, with each loss as often as the second number says.
    fn end(mut check: DivergenceCheck, losses: &[(f64, u32)]) -> Option<usize> {
        let mut all = losses.iter().flat_map(|&(loss, times)| (0..times).map(move |_| loss));
        all.position(|loss| check.judge(loss).is_some())
    }

    #[test]
    fn divergence_is_a_loss_that_stays_tenfold_or_is_not_finite() {
        let two = || DivergenceCheck::new(2.0_f64.ln());
        assert_eq!(end(two(), &[(1.0, 1), (10.0, 50), (10.1, 9), (10.0, 1), (1e6, 10)]), Some(70));
        // ln 2 is 0.69: after a lucky first batch the ceiling is 6.9.
        assert_eq!(end(two(), &[(0.01, 1), (6.9, 20), (7.0, 20)]), Some(30));
        assert_eq!(end(two(), &[(f64::NAN, 1)]), Some(0));
        assert_eq!(end(two(), &[(0.5, 1), (f64::INFINITY, 1)]), Some(1));
        let guessing = 64.0_f64.ln();
        let stale = DivergenceCheck::from_guessing(guessing);
        assert_eq!(end(stale, &[(41.5, 1), (41.6, 10)]), Some(10));
        assert_eq!(end(DivergenceCheck::new(guessing), &[(41.6, 20)]), None);
    }

    #[test]
    fn spikes_are_no_divergence() {
        let spikes = [(1.0, 1), (1e6, 9), (0.1, 1)].repeat(5);
        assert_eq!(end(DivergenceCheck::new(1.0), &spikes), None);
        let late = [(0.7, 100_000), (50.0, 1000)];
        assert_eq!(end(DivergenceCheck::new(0.7), &late), None);
        assert_eq!(end(DivergenceCheck::new(0.7), &[late[0], (50.0, 1100)]), Some(101_009));
        let mut turned = DivergenceCheck::new(0.7);
        assert_eq!(turned.judge(0.7), None);
        turned.begin_anew();
        assert_eq!(end(turned, &[(9.0, 20), (91.0, 10)]), Some(29));
    }

    #[test]
    fn a_weight_that_is_no_number_is_a_divergence() {
        assert_eq!(check_weights(&[1.0, -2.0]), None);
        assert!(check_weights(&[1.0, f32::INFINITY]).is_some());
        assert!(check_weights(&[f32::NAN]).is_some());
    }
}
