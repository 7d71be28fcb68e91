//! Kind `zero-memory`: bytes of weights, gradients and optimizer states on each rank, by ZeRO stage.

mod pictures;

use mlsys_lab::schema::{Schema, SchemaError};
use mlsys_lab::{Lab, LabError, Params, Run};

use mlsys_lab::picture;
use mlsys_lab::steps::finite;

/// The lab `zero-memory`.
pub struct ZeroMemory {
    schema: Schema,
}

impl ZeroMemory {
    /// The lab with its schema read.
    ///
    /// # Errors
    /// The schema does not read.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = Schema::parse(include_str!("../../labs/zero-memory.toml"))?;
        Ok(Self { schema })
    }
}

impl Lab for ZeroMemory {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let states = States::read(&run.params)?;
        let stage = Stage::of(run.params.int("stage")?);
        let capacity = run.params.float("capacity_bytes")?;
        let held = states.held(stage);
        let large = || "parameters and their bytes are too large for a product".to_owned();
        finite(run, "weight_bytes_per_rank", held.weights, large)?;
        finite(run, "gradient_bytes_per_rank", held.gradients, large)?;
        finite(run, "optimizer_bytes_per_rank", held.optimizer, large)?;
        finite(run, "bytes_per_rank", held.bytes(), large)?;
        let each = held.bytes() / states.parameters;
        finite(run, "bytes_per_parameter", each, large)?;
        finite(run, "communication_factor", stage.communication(), large)?;
        finite(run, "communication_bytes", states.sent(stage), large)?;
        run.scalar("fits", held.bytes() <= capacity);
        // Where a parameter takes no memory, any number of them fits.
        if (capacity / each).is_finite() {
            run.scalar("largest_parameters", capacity / each);
        }
        picture::offer(run, "stages", || states.by_stage(stage, capacity));
        picture::offer(run, "ranks", || states.by_ranks(stage, capacity));
        picture::offer(run, "conventions", || states.conventions(stage));
        picture::offer(run, "steps", || states.steps(stage, capacity));
        Ok(())
    }
}

/// What of a model's states is split over the data-parallel ranks (Rajbhandari et al. 2020, section 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// Nothing: every rank holds everything.
    Whole,
    /// Stage 1: the optimizer's states.
    Optimizer,
    /// Stage 2: and the gradients.
    Gradients,
    /// Stage 3: and the weights.
    Weights,
}

impl Stage {
    /// Every stage, 0 to 3.
    pub(crate) const ALL: [Self; 4] =
        [Self::Whole, Self::Optimizer, Self::Gradients, Self::Weights];

    /// The stage of a number that the schema has kept between 0 and 3.
    pub(crate) const fn of(stage: i64) -> Self {
        match stage {
            ..=0 => Self::Whole,
            1 => Self::Optimizer,
            2 => Self::Gradients,
            3.. => Self::Weights,
        }
    }

    /// Its number, 0 to 3.
    pub(crate) const fn number(self) -> u8 {
        self as u8
    }

    /// Elements that a rank sends per step, over parameters: 2 for a reduce-scatter of gradients and an all-gather of
    /// weights (or the all-reduce that is both), 3 where weights are gathered for the backward pass once more.
    pub(crate) const fn communication(self) -> f64 {
        match self {
            Self::Whole | Self::Optimizer | Self::Gradients => 2.0,
            Self::Weights => 3.0,
        }
    }

    const fn shards(self) -> &'static str {
        match self {
            Self::Whole => "nothing",
            Self::Optimizer => "optimizer states",
            Self::Gradients => "optimizer states and gradients",
            Self::Weights => "everything",
        }
    }
}

/// The states of a model in training, and over how many ranks they may be split.
#[derive(Clone, Copy, Debug)]
pub(crate) struct States {
    pub(crate) parameters: f64,
    /// N.
    pub(crate) ranks: f64,
    /// Bytes of one working weight.
    pub(crate) weight: f64,
    /// Bytes of one gradient.
    pub(crate) gradient: f64,
    /// Bytes of the optimizer's states for one parameter.
    pub(crate) optimizer: f64,
}

/// What one rank holds of them, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Held {
    pub(crate) weights: f64,
    pub(crate) gradients: f64,
    pub(crate) optimizer: f64,
}

impl Held {
    /// All of it.
    pub(crate) fn bytes(&self) -> f64 {
        self.weights + self.gradients + self.optimizer
    }
}

impl States {
    fn read(params: &Params) -> Result<Self, LabError> {
        Ok(Self {
            parameters: params.float("parameters")?,
            ranks: params.float("ranks")?,
            weight: params.float("weight_bytes_per_parameter")?,
            gradient: params.float("gradient_bytes_per_parameter")?,
            optimizer: params.float("optimizer_bytes_per_parameter")?,
        })
    }

    /// Bytes of one rank: each part whole, or a share of it from the stage on that splits it.
    pub(crate) fn held(&self, stage: Stage) -> Held {
        let part = |bytes: f64, from: Stage| {
            let whole = self.parameters * bytes;
            if stage >= from { whole / self.ranks } else { whole }
        };
        Held {
            weights: part(self.weight, Stage::Weights),
            gradients: part(self.gradient, Stage::Gradients),
            optimizer: part(self.optimizer, Stage::Optimizer),
        }
    }

    /// Bytes that a rank sends per step by ring, elements as large as weights.
    fn sent(&self, stage: Stage) -> f64 {
        let others = (self.ranks - 1.0) / self.ranks;
        stage.communication() * self.parameters * self.weight * others
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rajbhandari et al. 2020, Figure 1: 7.5 billion parameters on 64 ranks.
    const FIGURE_1: States =
        States { parameters: 7.5e9, ranks: 64.0, weight: 2.0, gradient: 2.0, optimizer: 12.0 };

    #[test]
    fn the_figure_of_the_paper_comes_out() {
        let printed = [120.0, 31.4, 16.6, 1.9];
        for (stage, gigabytes) in Stage::ALL.into_iter().zip(printed) {
            let bytes = FIGURE_1.held(stage).bytes();
            assert!((bytes / 1e9 - gigabytes).abs() < 0.05, "{stage:?}: {bytes}");
        }
    }

    #[test]
    fn all_ranks_together_hold_each_shard_once() {
        for stage in Stage::ALL {
            let held = FIGURE_1.held(stage);
            let whole = FIGURE_1.held(Stage::Whole);
            let copies = |part: f64, whole: f64| part * FIGURE_1.ranks / whole;
            let expected = |from: Stage| if stage >= from { 1.0 } else { FIGURE_1.ranks };
            assert_eq!(copies(held.weights, whole.weights), expected(Stage::Weights));
            assert_eq!(copies(held.gradients, whole.gradients), expected(Stage::Gradients));
            assert_eq!(copies(held.optimizer, whole.optimizer), expected(Stage::Optimizer));
        }
    }

    #[test]
    fn one_rank_shards_nothing_and_sends_nothing() {
        let alone = States { ranks: 1.0, ..FIGURE_1 };
        for stage in Stage::ALL {
            assert_eq!(alone.held(stage), alone.held(Stage::Whole));
            assert_eq!(alone.sent(stage), 0.0);
            assert_eq!(Stage::of(i64::from(stage.number())), stage);
        }
    }
}
