//! What is judged: the ranks of the four dimensions and the network each runs over, everything else that is chosen, and
//! the machines.

use mlsys_lab::{LabError, Params};
use mlsys_sim::memory::Stage;
use mlsys_sim::network::Network;

use super::model::Model;

/// A dimension of parallelism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dimension {
    /// Every layer's matrices are split.
    Tensor,
    /// The sequence is split.
    Context,
    /// The layers are split into stages.
    Pipeline,
    /// The batch is split.
    Data,
}

impl Dimension {
    /// From the innermost, whose ranks are neighbours, to the outermost: the order of Llama 3 (arXiv 2407.21783,
    /// section 3.3.2), which gives the fastest network to the dimension with the most traffic.
    pub(super) const ALL: [Self; 4] = [Self::Tensor, Self::Context, Self::Pipeline, Self::Data];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Tensor => "tensor",
            Self::Context => "context",
            Self::Pipeline => "pipeline",
            Self::Data => "data",
        }
    }
}

/// Ranks of each dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Layout {
    pub(super) tensor: i64,
    pub(super) context: i64,
    pub(super) pipeline: i64,
    pub(super) data: i64,
}

/// What the ranks of a dimension talk over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// One rank: no communication.
    Alone,
    /// All of a group lie in one server.
    Server,
    /// Some of a group lie in different servers, and the slowest link sets the pace.
    Network,
}

impl Layout {
    /// tensor*context*pipeline*data, unless it is beyond 64 bits.
    pub(super) fn devices(self) -> Option<i64> {
        self.model_ranks()?.checked_mul(self.data)
    }

    /// tensor*context*pipeline: the ranks that hold one copy of the model between them.
    pub(super) fn model_ranks(self) -> Option<i64> {
        let ranks = self.tensor.checked_mul(self.context)?;
        ranks.checked_mul(self.pipeline)
    }

    pub(super) const fn ranks(self, dimension: Dimension) -> i64 {
        match dimension {
            Dimension::Tensor => self.tensor,
            Dimension::Context => self.context,
            Dimension::Pipeline => self.pipeline,
            Dimension::Data => self.data,
        }
    }

    /// Ranks that hold the same weights: gradients are summed over them, and states may be sharded over them.
    pub(super) fn replicas(self) -> f64 {
        self.context as f64 * self.data as f64
    }

    /// The network of a dimension's groups, given the devices in a server and the innermost dimension filling
    /// it first. A group that sums gradients has the ranks of context and data.
    pub(super) fn reach(self, dimension: Dimension, server: i64) -> Reach {
        let whole = |ranks: Option<i64>| {
            let inside = ranks.is_some_and(|ranks| ranks <= server && server % ranks == 0);
            if inside { Reach::Server } else { Reach::Network }
        };
        let alone = match dimension {
            Dimension::Data => self.data == 1 && self.context == 1,
            Dimension::Tensor | Dimension::Context | Dimension::Pipeline => {
                self.ranks(dimension) == 1
            }
        };
        if alone {
            return Reach::Alone;
        }
        match dimension {
            Dimension::Tensor => whole(Some(self.tensor)),
            Dimension::Context => whole(self.tensor.checked_mul(self.context)),
            Dimension::Pipeline => whole(self.model_ranks()),
            Dimension::Data => whole(self.devices()),
        }
    }

    /// The four numbers, from the innermost.
    pub(super) fn short(self) -> String {
        let Self { tensor, context, pipeline, data } = self;
        format!("{tensor}.{context}.{pipeline}.{data}")
    }

    /// As papers write it.
    pub(super) fn name(self) -> String {
        let Self { tensor, context, pipeline, data } = self;
        format!("TP {tensor}, CP {context}, PP {pipeline}, DP {data}")
    }
}

/// What the backward pass computes again instead of reading it from memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Recompute {
    None,
    Selective,
    Full,
}

impl Recompute {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Selective => "selective",
            Self::Full => "full",
        }
    }
}

/// A layout and how it is run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) layout: Layout,
    /// b, sequences of a microbatch.
    pub(super) microbatch: i64,
    /// m, microbatches of a pipeline and step.
    pub(super) microbatches: i64,
    /// v, model chunks of a stage.
    pub(super) chunks: i64,
    pub(super) stage: Stage,
    pub(super) recompute: Recompute,
}

impl Plan {
    /// (p - 1)/(m*v), over the ideal time (Narayanan et al. 2021, section 2.2.2).
    pub(super) fn bubble(&self) -> f64 {
        (self.layout.pipeline - 1) as f64 / (self.microbatches as f64 * self.chunks as f64)
    }

    /// Sequences of a step.
    pub(super) fn batch(&self) -> f64 {
        self.microbatches as f64 * self.microbatch as f64 * self.layout.data as f64
    }

    /// Microbatches whose activations a stage keeps at most, in whole stages: of `1f1b`, or of the interleaved
    /// schedule if a stage has several chunks.
    pub(super) fn in_flight(&self, stage: i64) -> f64 {
        let (p, m, v) = (self.layout.pipeline, self.microbatches, self.chunks);
        if v == 1 {
            return m.min(p - stage) as f64;
        }
        // Not in 64 bits: a pipeline of 10^18 stages is refused by rules, in words.
        let (p, m, v, stage) = (p as f64, m as f64, v as f64, stage as f64);
        let ahead = 2.0 * (p - 1.0 - stage) + (v - 1.0) * p + 1.0;
        ahead.min(m * v) / v
    }
}

/// The machines, and by which conventions they are counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cluster {
    /// Memory of one device, in bytes.
    pub(super) capacity: f64,
    /// Devices of a server.
    pub(super) server: i64,
    /// Between devices of a server.
    pub(super) inside: Network,
    /// Between servers, for each device.
    pub(super) between: Network,
    /// Dense peak of one device, in flop/s.
    pub(super) peak: f64,
    /// Share of peak that one device reaches on this model's layers, without waiting.
    pub(super) efficiency: f64,
    /// Bytes of one working weight.
    pub(super) weight: f64,
    /// Bytes of one gradient.
    pub(super) gradient: f64,
    /// Bytes of the optimizer's states of one parameter.
    pub(super) optimizer: f64,
}

/// Bytes of one activation.
pub(super) const ACTIVATION: f64 = 2.0;

impl Cluster {
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        let link = |latency: &str, bandwidth: &str| {
            let (seconds, bytes) = (params.float(latency)?, params.float(bandwidth)?);
            // The network names the parameters of labs that have but one.
            match Network::new(seconds, bytes) {
                Err(LabError::Contradiction { message, .. }) => {
                    Err(LabError::contradiction([latency, bandwidth], message))
                }
                network => network,
            }
        };
        Ok(Self {
            capacity: params.float("capacity_bytes")?,
            server: params.int("devices_per_server")?,
            inside: link("inside_latency_seconds", "inside_bandwidth_bytes_per_second")?,
            between: link("between_latency_seconds", "between_bandwidth_bytes_per_second")?,
            peak: params.float("peak_flops_per_second")?,
            efficiency: params.float("matmul_efficiency")?,
            weight: params.float("weight_bytes_per_parameter")?,
            gradient: params.float("gradient_bytes_per_parameter")?,
            optimizer: params.float("optimizer_bytes_per_parameter")?,
        })
    }
}

/// The model on the machines: everything that a plan is judged against.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    pub(super) model: Model,
    pub(super) cluster: Cluster,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_dimension_has_the_server_for_itself() {
        let layout = Layout { tensor: 8, context: 16, pipeline: 16, data: 8 };
        assert_eq!(layout.devices(), Some(16_384));
        for (dimension, server, reach) in [
            (Dimension::Tensor, 8, Reach::Server),
            (Dimension::Tensor, 4, Reach::Network),
            // Nine do not divide among groups of eight: some group lies across.
            (Dimension::Tensor, 9, Reach::Network),
            (Dimension::Context, 8, Reach::Network),
            (Dimension::Context, 128, Reach::Server),
            (Dimension::Pipeline, 2048, Reach::Server),
            (Dimension::Data, 16_384, Reach::Server),
            (Dimension::Data, 8, Reach::Network),
        ] {
            assert_eq!(layout.reach(dimension, server), reach, "{dimension:?} {server}");
        }
        let alone = Layout { context: 1, ..layout };
        assert_eq!(alone.reach(Dimension::Context, 8), Reach::Alone);
        // Context ranks hold the same weights, and sum gradients though there is one data rank.
        let summed = Layout { data: 1, ..layout };
        assert_eq!(summed.reach(Dimension::Data, 8), Reach::Network);
    }

    fn plan(pipeline: i64, microbatches: i64, chunks: i64) -> Plan {
        Plan {
            layout: Layout { tensor: 1, context: 1, pipeline, data: 1 },
            microbatch: 1,
            microbatches,
            chunks,
            stage: Stage::Whole,
            recompute: Recompute::None,
        }
    }

    #[test]
    fn the_last_stage_keeps_one_microbatch_and_the_first_as_many_as_there_are_stages() {
        let one = plan(4, 8, 1);
        assert_eq!([0, 1, 2, 3].map(|s| one.in_flight(s)), [4.0, 3.0, 2.0, 1.0]);
        assert_eq!(plan(4, 2, 1).in_flight(0), 2.0);
    }

    /// Korthikanti et al. 2022, section 4.2.3: L layers times 1 + (p - 1)/(p*m) with m chunks a stage, on the first
    /// stage; the schedule as published has one more chunk in flight than it warms up with.
    #[test]
    fn interleaving_keeps_more() {
        for (pipeline, chunks) in [(4, 2), (8, 4), (16, 8)] {
            let kept = plan(pipeline, 64, chunks).in_flight(0);
            let p = pipeline as f64;
            let published = p * (1.0 + (p - 1.0) / (p * chunks as f64));
            assert!(kept >= published - 1e-9 && kept < 1.5 * published, "{kept} {published}");
        }
    }
}
