//! Plans that papers print, with the rates they measured.

use mlsys_lab::LabError;
use mlsys_sim::memory::Stage;
use mlsys_sim::network::Network;
use mlsys_sim::transformer::{Architecture, Heads, Transformer};
use serde::Serialize;

use super::model::{Model, Setting};
use super::plan::{Cluster, Layout, Plan, Recompute};
use super::step::Step;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
enum Counts {
    #[serde(rename = "MFU")]
    Model,
    /// What is recomputed as well.
    #[serde(rename = "HFU")]
    Hardware,
}

/// A plan with the share of peak that was measured on it, and what the model of time says.
#[derive(Serialize)]
pub(super) struct Row {
    name: &'static str,
    parameters: f64,
    plan: Plan,
    counts: Counts,
    measured: f64,
    estimated: f64,
}

impl Row {
    /// `measured` is in flop/s of one device.
    fn new(
        name: &'static str,
        setting: Setting,
        plan: Plan,
        counts: Counts,
        measured: f64,
    ) -> Self {
        let step = Step::new(&setting, &plan);
        let flops = match counts {
            Counts::Model => step.model_flops,
            Counts::Hardware => step.hardware_flops,
        };
        let devices = plan.layout.devices().unwrap_or(i64::MAX) as f64;
        let (peak, parameters) = (setting.cluster.peak, setting.model.parameters);
        let estimated = flops / (devices * peak * step.seconds());
        Self { name, parameters, plan, counts, measured: measured / peak, estimated }
    }
}

/// Seconds of one message between servers, as kind `all-reduce` has it; the table models none for these links.
const LATENCY: f64 = 5e-6;

fn inside(name: &str) -> Network {
    Network::link(name).unwrap_or(Network::FREE)
}

fn between(name: &str) -> Network {
    let link = inside(name);
    Network::new(LATENCY, link.bandwidth()).unwrap_or(link)
}

/// Servers of eight H100 with NVLink 4, and 400 gigabits a second between them for each (Llama 3 herd, section 3.3.1).
pub(super) fn h100() -> Cluster {
    Cluster {
        capacity: 80e9,
        server: 8,
        inside: inside("nvlink4"),
        between: between("infiniband-ndr"),
        peak: 989.4e12,
        efficiency: EFFICIENCY,
        weight: 2.0,
        gradient: 2.0,
        optimizer: 12.0,
    }
}

/// Share of peak that a device reaches on wide layers without waiting.
const EFFICIENCY: f64 = 0.5;

/// Servers of eight A100 with NVLink 3 and an HDR InfiniBand port for each (Narayanan et al. 2021, section 5).
fn a100() -> Cluster {
    Cluster {
        inside: inside("nvlink3"),
        between: between("infiniband-hdr"),
        peak: 312e12,
        ..h100()
    }
}

/// tensor, context, pipeline, data; tokens of a sequence; microbatches; TFLOP/s. Llama 3 herd (v3), Table 4.
const LLAMA: [(&str, [i64; 4], f64, i64, f64); 3] = [
    ("Llama 3, 8,192 GPUs", [8, 1, 16, 64], 8192.0, 32, 430e12),
    ("Llama 3, 16,384 GPUs", [8, 1, 16, 128], 8192.0, 16, 400e12),
    ("Llama 3, long", [8, 16, 16, 8], 131_072.0, 16, 380e12),
];

/// Name; hidden, heads, layers; tensor, pipeline, data; sequences; flop/s.
type Megatron = (&'static str, [i64; 3], [i64; 3], i64, f64);

/// Narayanan et al. 2021, Table 1: 2048 tokens a sequence, a vocabulary of 51,200, everything recomputed and counted.
const MEGATRON: [Megatron; 10] = [
    ("Megatron 1.7B", [2304, 24, 24], [1, 1, 32], 512, 137e12),
    ("Megatron 3.6B", [3072, 32, 30], [2, 1, 32], 512, 138e12),
    ("Megatron 7.5B", [4096, 32, 36], [4, 1, 32], 512, 142e12),
    ("Megatron 18.4B", [6144, 48, 40], [8, 1, 32], 1024, 135e12),
    ("Megatron 39.1B", [8192, 64, 48], [8, 2, 32], 1536, 138e12),
    ("Megatron 76.1B", [10_240, 80, 60], [8, 4, 32], 1792, 140e12),
    ("Megatron 145.6B", [12_288, 96, 80], [8, 8, 24], 2304, 148e12),
    ("Megatron 310.1B", [16_384, 128, 96], [8, 16, 15], 2160, 155e12),
    ("Megatron 529.6B", [20_480, 128, 105], [8, 35, 9], 2520, 163e12),
    ("Megatron 1008.0B", [25_600, 160, 128], [8, 64, 6], 3072, 163e12),
];

fn transformer(
    architecture: Architecture,
    [hidden, heads, layers]: [i64; 3],
    kv_heads: i64,
    ffn: i64,
    vocab: i64,
) -> Transformer {
    let head_dim = hidden / heads;
    Transformer {
        architecture,
        layers,
        hidden,
        heads: Heads {
            heads,
            kv_heads,
            head_dim,
            queries: heads * head_dim,
            keys: kv_heads * head_dim,
        },
        ffn,
        vocab,
        context: match architecture {
            Architecture::Gpt => 2048,
            Architecture::Llama => 0,
        },
        tied: architecture == Architecture::Gpt,
    }
}

fn llama() -> Transformer {
    transformer(Architecture::Llama, [16_384, 128, 126], 8, 53_248, 128_256)
}

/// Every row, at a share of peak for a device that does not wait.
///
/// # Errors
/// None: the dimensions are those above.
pub(super) fn rows(efficiency: f64) -> Result<Vec<Row>, LabError> {
    let cluster = |cluster: Cluster| Cluster { efficiency, ..cluster };
    let mut rows = Vec::new();
    for (name, [tensor, context, pipeline, data], sequence, microbatches, measured) in LLAMA {
        let setting = Setting { model: Model::new(&llama(), sequence)?, cluster: cluster(h100()) };
        let plan = Plan {
            layout: Layout { tensor, context, pipeline, data },
            microbatch: 1,
            microbatches,
            // One layer a chunk: why 126 layers and two ends make 128 places on 16 stages.
            chunks: 8,
            // Section 3.3.2: optimizer states and gradients are sharded, weights are not.
            stage: Stage::Gradients,
            recompute: Recompute::None,
        };
        rows.push(Row::new(name, setting, plan, Counts::Model, measured));
    }
    for (name, shape, [tensor, pipeline, data], batch, measured) in MEGATRON {
        let model = transformer(Architecture::Gpt, shape, shape[1], 4 * shape[0], 51_200);
        let setting = Setting { model: Model::new(&model, 2048.0)?, cluster: cluster(a100()) };
        let plan = Plan {
            layout: Layout { tensor, context: 1, pipeline, data },
            microbatch: 1,
            microbatches: batch / data,
            chunks: 1,
            stage: Stage::Whole,
            recompute: Recompute::Full,
        };
        rows.push(Row::new(name, setting, plan, Counts::Hardware, measured));
    }
    Ok(rows)
}

#[cfg(test)]
pub(super) fn llama_405b(sequence: f64) -> Model {
    Model::new(&llama(), sequence).unwrap()
}

/// A row of Llama 3's table with the plain schedule, which keeps less than the interleaved one.
#[cfg(test)]
pub(super) fn llama_row(row: usize) -> Plan {
    Plan { chunks: 1, ..rows(EFFICIENCY).unwrap()[row].plan }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_models_are_those_that_the_tables_name() {
        assert_eq!(llama_405b(8192.0).parameters, 405_853_388_800.0);
        let printed = [1.7, 3.6, 7.5, 18.4, 39.1, 76.1, 145.6, 310.1, 529.6, 1008.0];
        for (row, billions) in rows(0.5).unwrap().iter().skip(3).zip(printed) {
            let parameters = row.parameters / 1e9;
            assert!((parameters - billions).abs() < 0.06, "{}: {parameters}", row.name);
        }
    }

    #[test]
    fn the_links_are_in_the_table() {
        for (cluster, inside, between) in [(h100(), 450e9, 50e9), (a100(), 300e9, 25e9)] {
            assert_eq!(cluster.inside.bandwidth(), inside);
            assert_eq!(cluster.between.bandwidth(), between);
        }
    }

    #[test]
    fn estimates_lie_within_a_fifth_of_what_was_measured() {
        for row in rows(EFFICIENCY).unwrap() {
            let ratio = row.estimated / row.measured;
            assert!((0.8..1.2).contains(&ratio), "{}: {ratio}", row.name);
        }
    }
}
