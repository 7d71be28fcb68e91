//! What is judged: a layout with everything else that is chosen, and the machines it runs on.

use mlsys_lab::{LabError, Params};

use mlsys_sim::memory::Stage;
use mlsys_sim::network::Network;

use super::layout::Layout;
use super::model::Model;

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
