//! Bytes that a rank holds while a transformer trains: sharded states and kept activations.
//!
//! Same formulas as the labs `zero-memory` and `activation-memory`, for the planner of parallel layouts.

/// What of a model's states is split over the data-parallel ranks (Rajbhandari et al. 2020, section 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
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
    pub const ALL: [Self; 4] = [Self::Whole, Self::Optimizer, Self::Gradients, Self::Weights];

    /// The stage of a number that the schema has kept between 0 and 3.
    pub const fn from_number(stage: i64) -> Self {
        match stage {
            ..=0 => Self::Whole,
            1 => Self::Optimizer,
            2 => Self::Gradients,
            3.. => Self::Weights,
        }
    }

    pub const fn number(self) -> u8 {
        self as u8
    }

    /// Elements that a rank sends per step, over parameters: 2 for a reduce-scatter of gradients and an all-gather of
    /// weights (or the all-reduce that is both), 3 where weights are gathered for the backward pass once more.
    pub const fn communication(self) -> f64 {
        match self {
            Self::Whole | Self::Optimizer | Self::Gradients => 2.0,
            Self::Weights => 3.0,
        }
    }
}

/// The states of a model in training, and over how many ranks they may be split.
#[derive(Clone, Copy, Debug)]
pub struct States {
    pub parameters: f64,
    /// N.
    pub ranks: f64,
    pub weight: f64,
    pub gradient: f64,
    /// Bytes of the optimizer's states for one parameter.
    pub optimizer: f64,
}

/// What one rank holds of them, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Held {
    pub weights: f64,
    pub gradients: f64,
    pub optimizer: f64,
}

impl Held {
    pub fn bytes(&self) -> f64 {
        self.weights + self.gradients + self.optimizer
    }
}

impl States {
    /// Bytes of one rank: each part whole, or a share of it from the stage on that splits it.
    pub fn held(&self, stage: Stage) -> Held {
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
}

/// What is recomputed in the backward pass instead of kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recompute {
    None,
    /// The attention matrices, which are large and cheap to compute.
    Selective,
    /// Everything but the layer's input.
    Full,
}

/// One layer of a GPT with 2-byte activations, 1-byte dropout masks and an MLP of width 4h.
#[derive(Clone, Copy, Debug)]
pub struct Layer {
    pub sequence: f64,
    pub batch: f64,
    pub hidden: f64,
    pub heads: f64,
    /// t, over which the tensors within attention and MLP are split.
    pub tensor_ranks: f64,
    pub outside: Outside,
}

/// Where the tensors outside attention and MLP lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    Replicated,
    Sharded,
}

impl Layer {
    /// sbh, the elements of one activation of the layer's width.
    fn elements(&self) -> f64 {
        self.sequence * self.batch * self.hidden
    }

    /// 5as/h: what the attention matrices keep, in units of sbh.
    fn attention_term(&self) -> f64 {
        5.0 * self.heads * self.sequence / self.hidden
    }

    /// Bytes that one rank keeps.
    ///
    /// none and selective: sbh(10 + (24 + q)/t), with sequence parallelism sbh(34 + q)/t, where selective has q = 0;
    /// full: 2sbh.
    pub fn bytes(&self, recompute: Recompute) -> f64 {
        let q = match recompute {
            Recompute::None => self.attention_term(),
            Recompute::Selective => 0.0,
            Recompute::Full => return 2.0 * self.elements(),
        };
        let t = self.tensor_ranks;
        match self.outside {
            Outside::Replicated => self.elements() * (10.0 + (24.0 + q) / t),
            Outside::Sharded => self.elements() * (34.0 + q) / t,
        }
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
            assert_eq!(Stage::from_number(i64::from(stage.number())), stage);
        }
    }

    #[test]
    fn the_quadratic_part_alone_grows_fourfold() {
        let layer = |sequence: f64| Layer {
            sequence,
            batch: 1.0,
            hidden: 12288.0,
            heads: 96.0,
            tensor_ranks: 1.0,
            outside: Outside::Replicated,
        };
        let part = |sequence: f64| {
            let layer = layer(sequence);
            layer.bytes(Recompute::None) - layer.bytes(Recompute::Selective)
        };
        assert_eq!(part(4096.0), 4.0 * part(2048.0));
        let selective = |sequence: f64| layer(sequence).bytes(Recompute::Selective);
        assert_eq!(selective(4096.0), 2.0 * selective(2048.0));
    }
}
