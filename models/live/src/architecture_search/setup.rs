//! Parameters as the run needs them: what is fixed, and the knobs that may be turned between two candidates.

use mlsys_lab::{LabError, Params};

use super::latency::{Clock, chip};
use super::proposals::{Budget, METHODS, Method};
use super::space::Candidate;
use mlsys_device::choice::pick;
use mlsys_nn::baseline::Recipe;
use mlsys_nn::data::{DataConfig, Dataset};
use mlsys_nn::nets::Activation;

/// Adam's, for every candidate.
const LEARNING_RATE: f64 = 0.003;

/// What cannot change during a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setup {
    pub(super) method: Method,
    pub(super) population: usize,
    pub(super) training_steps: u64,
    pub(super) batch_size: usize,
    pub(super) seed: u64,
}

/// What may change between two candidates.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Knobs {
    pub(super) evaluations: usize,
    pub(super) clock: Clock,
    /// Images of an inference.
    pub(super) images: usize,
    pub(super) budgets: Budgets,
}

/// What a candidate may take at most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Budgets {
    pub(super) seconds: Option<f64>,
    pub(super) parameters: Option<u64>,
}

const CLOCKS: [(&str, Which); 2] = [("measured", Which::Measured), ("modelled", Which::Modelled)];

/// The kind of clock that parameter `latency` names.
#[derive(Clone, Copy)]
enum Which {
    Measured,
    Modelled,
}

impl Setup {
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        Ok(Self {
            method: pick(params, "method", &METHODS)?,
            population: params.size("population")?,
            training_steps: params.size("training_steps")? as u64,
            batch_size: params.size("batch_size")?,
            seed: params.int("seed")?.unsigned_abs(),
        })
    }

    /// How a candidate is trained.
    pub(super) fn recipe(&self, candidate: Candidate) -> Recipe {
        Recipe {
            data: self.data(),
            architecture: candidate.architecture(),
            activation: Activation::Relu,
            learning_rate: LEARNING_RATE,
            batch_size: self.batch_size,
            steps: self.training_steps,
            seed: self.seed,
        }
    }

    pub(super) fn data(&self) -> DataConfig {
        DataConfig::new(Dataset::Digits, self.seed)
    }
}

impl Knobs {
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        let parameters = params.optional_int("max_parameters");
        Ok(Self {
            evaluations: params.size("evaluations")?,
            clock: match pick(params, "latency", &CLOCKS)? {
                Which::Measured => Clock::Measured,
                Which::Modelled => Clock::Modelled(chip(params.text("gpu")?)?),
            },
            images: params.size("latency_batch")?,
            budgets: Budgets {
                seconds: params.optional_float("max_latency_seconds"),
                parameters: parameters.map(i64::unsigned_abs),
            },
        })
    }
}

impl Budgets {
    /// Whether a network that takes so much meets them.
    pub(super) fn judge(&self, seconds: f64, parameters: u64) -> Budget {
        let late = self.seconds.is_some_and(|most| seconds > most);
        let large = self.parameters.is_some_and(|most| parameters > most);
        if late || large { Budget::Over } else { Budget::Within }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::architecture_search::lab;
    use mlsys_device::choice::must_be_listed;

    #[test]
    fn the_schema_lists_exactly_the_cases_that_are_read() {
        let lab = lab().unwrap();
        must_be_listed(&lab, "method", &METHODS);
        must_be_listed(&lab, "latency", &CLOCKS);
    }

    #[test]
    fn a_budget_that_is_met_exactly_is_met() {
        let budgets = Budgets { seconds: Some(2.0), parameters: Some(100) };
        assert_eq!(budgets.judge(2.0, 100), Budget::Within);
        assert_eq!(budgets.judge(2.1, 100), Budget::Over);
        assert_eq!(budgets.judge(2.0, 101), Budget::Over);
        let none = Budgets { seconds: None, parameters: None };
        assert_eq!(none.judge(f64::MAX, u64::MAX), Budget::Within);
    }
}
