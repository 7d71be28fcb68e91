//! When a loss means that a run has diverged.

#[derive(Clone, Copy)]
pub struct DivergenceCheck {
    /// What guessing costs: the logarithm of the number of classes.
    guessing: f64,
    /// A loss above this is a divergence; known after the first one.
    ceiling: Option<f64>,
}

impl DivergenceCheck {
    pub fn new(guessing: f64) -> Self {
        Self { guessing, ceiling: None }
    }

    /// Nothing seen yet, and the first loss is no yardstick: where updates begin within the first step, what that step
    /// costs may be their doing already. What guessing costs is what it would have begun with.
    pub fn from_guessing(guessing: f64) -> Self {
        Self { guessing, ceiling: Some(10.0 * guessing) }
    }

    /// A knob was turned: what comes next is measured against itself, because another activation or fewer examples
    /// a step may cost more than ten times the old first loss without anything having gone wrong.
    pub fn begin_anew(&mut self) {
        self.ceiling = None;
    }

    /// Why a loss means that the run has diverged, if it does.
    pub fn judge(&mut self, loss: f64) -> Option<&'static str> {
        // A lucky first batch must not make an ordinary loss look divergent: at least the cost of guessing counts.
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

    #[test]
    fn divergence_is_tenfold_or_non_finite_loss() {
        let verdicts = |mut check: DivergenceCheck, losses: &[f64]| -> Vec<bool> {
            losses.iter().map(|&loss| check.judge(loss).is_some()).collect()
        };
        let two = || DivergenceCheck::new(2.0_f64.ln());
        assert_eq!(verdicts(two(), &[1.0, 10.0, 10.1]), [false, false, true]);
        // ln 2 is 0.69: after a lucky first batch the ceiling is 6.9.
        assert_eq!(verdicts(two(), &[0.01, 6.9, 7.0]), [false, false, true]);
        assert_eq!(verdicts(two(), &[f64::NAN, 0.5, f64::INFINITY]), [true, false, true]);
        let guessing = 64.0_f64.ln();
        assert_eq!(
            verdicts(DivergenceCheck::from_guessing(guessing), &[41.5, 41.6]),
            [false, true]
        );
        assert_eq!(verdicts(DivergenceCheck::new(guessing), &[41.6]), [false]);
        let mut turned = two();
        assert!(turned.judge(0.7).is_none());
        turned.begin_anew();
        assert_eq!(verdicts(turned, &[9.0, 91.0]), [false, true]);
    }

    #[test]
    fn a_weight_that_is_no_number_is_a_divergence() {
        assert_eq!(check_weights(&[1.0, -2.0]), None);
        assert!(check_weights(&[1.0, f32::INFINITY]).is_some());
        assert!(check_weights(&[f32::NAN]).is_some());
    }
}
