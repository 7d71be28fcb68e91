//! What is judged: the ranks of the four dimensions and their networks, the other choices, and the machines.

use mlsys_lab::{LabError, Params};
use mlsys_sim::integer::too_large;
use mlsys_sim::memory::Stage;
use mlsys_sim::network::Network;
use serde::{Deserialize, Serialize, Serializer};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dimension {
    Tensor,
    Context,
    Pipeline,
    Data,
}

impl Dimension {
    /// From the innermost, whose ranks are neighbours, to the outermost: the order of Llama 3 (arXiv 2407.21783,
    /// section 3.3.2), which gives the fastest network to the dimension with the most traffic.
    pub(super) const ALL: [Self; 4] = [Self::Tensor, Self::Context, Self::Pipeline, Self::Data];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct Layout {
    pub(super) tensor: i64,
    pub(super) context: i64,
    pub(super) pipeline: i64,
    pub(super) data: i64,
}

/// What the ranks of a dimension talk over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) enum Reach {
    /// One rank: no communication.
    #[serde(rename = "none")]
    Alone,
    /// All of a group lie in one server.
    #[serde(rename = "inside")]
    Server,
    /// Some of a group lie in different servers, and the slowest link sets the pace.
    #[serde(rename = "between")]
    Network,
}

impl Layout {
    fn read(params: &Params) -> Result<Self, LabError> {
        let (tensor, context) = (params.int("tensor")?, params.int("context")?);
        let pipeline = params.int("pipeline")?;
        let one = Self { tensor, context, pipeline, data: 1 };
        if let Some(data) = params.optional_int("data") {
            return Ok(Self { data, ..one });
        }
        let devices = params.int("devices")?;
        let ranks = one
            .model_ranks()
            .ok_or_else(|| too_large(["tensor", "context", "pipeline"], "the ranks of one copy"))?;
        if devices % ranks != 0 {
            return Err(LabError::contradiction(
                ["devices", "tensor", "context", "pipeline"],
                format!(
                    "{devices} devices do not divide into copies of {tensor}*{context}*{pipeline} = {ranks}; set data, or choose a multiple of {ranks} devices"
                ),
            ));
        }
        Ok(Self { data: devices / ranks, ..one })
    }

    /// tensor*context*pipeline*data, unless it is beyond 64 bits.
    pub(super) fn devices(self) -> Option<i64> {
        self.model_ranks()?.checked_mul(self.data)
    }

    /// tensor*context*pipeline: the ranks that hold one copy of the model between them.
    pub(super) fn model_ranks(self) -> Option<i64> {
        let ranks = self.tensor.checked_mul(self.context)?;
        ranks.checked_mul(self.pipeline)
    }

    /// Ranks that hold the same weights: gradients are summed over them, and states may be sharded over them.
    pub(super) fn replicas(self) -> f64 {
        self.context as f64 * self.data as f64
    }

    /// The network of a dimension's groups, given the devices in a server and the innermost dimension filling
    /// it first. A group that sums gradients has the ranks of context and data.
    pub(super) fn reach(self, dimension: Dimension, server: i64) -> Reach {
        let (is_alone, group) = match dimension {
            Dimension::Tensor => (self.tensor == 1, Some(self.tensor)),
            Dimension::Context => (self.context == 1, self.tensor.checked_mul(self.context)),
            Dimension::Pipeline => (self.pipeline == 1, self.model_ranks()),
            Dimension::Data => (self.data == 1 && self.context == 1, self.devices()),
        };
        if is_alone {
            Reach::Alone
        } else if group.is_some_and(|ranks| ranks <= server && server % ranks == 0) {
            Reach::Server
        } else {
            Reach::Network
        }
    }
}

pub(super) struct Batch {
    layout: Layout,
    /// tensor*context*pipeline*data.
    pub(super) devices: i64,
    pub(super) sequences: i64,
    /// sequences*sequence.
    pub(super) tokens: i64,
}

impl Batch {
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        let layout = Layout::read(params)?;
        let devices = layout
            .devices()
            .ok_or_else(|| too_large(["tensor", "context", "pipeline", "data"], "devices"))?;
        let sequences = match params.optional_int("global_batch") {
            Some(batch) => Some(batch),
            None => params.int("batch_per_data_rank")?.checked_mul(layout.data),
        };
        let sequences =
            sequences.ok_or_else(|| too_large(["batch_per_data_rank", "data"], "global_batch"))?;
        let tokens = sequences
            .checked_mul(params.int("sequence")?)
            .ok_or_else(|| too_large(["sequence", "global_batch"], "tokens_per_batch"))?;
        Ok(Self { layout, devices, sequences, tokens })
    }
}

/// What the backward pass computes again instead of reading it from memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Recompute {
    None,
    Selective,
    Full,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Plan {
    pub(super) layout: Layout,
    /// b, sequences of a microbatch.
    pub(super) microbatch: i64,
    /// m, microbatches of a pipeline and step.
    pub(super) microbatches: i64,
    /// v, model chunks of a stage.
    pub(super) chunks: i64,
    #[serde(serialize_with = "stage_number")]
    pub(super) stage: Stage,
    pub(super) recompute: Recompute,
}

fn stage_number<S: Serializer>(stage: &Stage, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u8(stage.number())
}

impl Plan {
    pub(super) fn read(params: &Params, batch: &Batch) -> Result<Self, LabError> {
        #[derive(Deserialize)]
        struct Choice {
            microbatch: i64,
            chunks_per_stage: i64,
            zero_stage: i64,
            recompute: Recompute,
        }
        let Choice { microbatch, chunks_per_stage, zero_stage, recompute } = params.read()?;
        let Batch { layout, sequences, .. } = *batch;
        let of_rank = layout.data.checked_mul(microbatch);
        let of_rank = of_rank.ok_or_else(|| too_large(["data", "microbatch"], "sequences"))?;
        if sequences % of_rank != 0 {
            return Err(LabError::contradiction(
                ["global_batch", "data", "microbatch"],
                format!(
                    "{sequences} sequences do not divide into microbatches of {microbatch} on {} data-parallel ranks; choose a multiple of {of_rank}",
                    layout.data
                ),
            ));
        }
        Ok(Self {
            layout,
            microbatch,
            microbatches: sequences / of_rank,
            chunks: chunks_per_stage,
            stage: Stage::from_number(zero_stage),
            recompute,
        })
    }

    /// (p - 1)/(m*v), over the ideal time (Narayanan et al. 2021, section 2.2.2).
    pub(super) fn bubble(&self) -> f64 {
        (self.layout.pipeline - 1) as f64 / (self.microbatches as f64 * self.chunks as f64)
    }

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
    pub(super) capacity: f64,
    pub(super) server: i64,
    pub(super) inside: Network,
    pub(super) between: Network,
    pub(super) peak: f64,
    /// Share of peak that one device reaches on this model's layers, without waiting.
    pub(super) efficiency: f64,
    pub(super) weight: f64,
    pub(super) gradient: f64,
    /// Bytes of the optimizer's states of one parameter.
    pub(super) optimizer: f64,
}

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
    fn stages_keep_their_microbatches_in_flight() {
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
