//! Kind `deepspeed-memory`: GPU and CPU memory for model states as DeepSpeed's own estimator counts them.

mod pictures;

use mlsys_lab::schema::{Schema, SchemaError};
use mlsys_lab::{Lab, LabError, Params, Run};

use mlsys_lab::picture;
use mlsys_sim::integer::too_large;

/// Bytes of a GiB.
const GIB: f64 = 1_073_741_824.0;

/// The lab `deepspeed-memory`.
pub struct DeepspeedMemory {
    schema: Schema,
}

impl DeepspeedMemory {
    /// The lab with its schema read.
    ///
    /// # Errors
    /// The schema does not read.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = Schema::parse(include_str!("../../labs/deepspeed-memory.toml"))?;
        Ok(Self { schema })
    }
}

impl Lab for DeepspeedMemory {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let cluster = Cluster::read(&run.params)?;
        let choice = Choice::read(&run.params)?;
        let need = cluster.need(choice);
        let (gpu, cpu) = (whole(need.gpu())?, whole(need.cpu)?);
        run.scalar("gpu_bytes", gpu);
        run.scalar("cpu_bytes", cpu);
        run.scalar("gpu_gib", gpu as f64 / GIB);
        run.scalar("cpu_gib", cpu as f64 / GIB);
        if choice.stage() == 3 {
            run.scalar("largest_layer_bytes", whole(cluster.layer())?);
        }
        picture::offer(run, "gpu", || cluster.gpus(choice));
        picture::offer(run, "cpu", || cluster.cpus(choice));
        picture::offer(run, "choices", || cluster.choices(choice));
        picture::offer(run, "steps", || cluster.steps(choice));
        Ok(())
    }
}

/// Bytes as the estimator gives them, without their fraction.
fn whole(bytes: f64) -> Result<i64, LabError> {
    if bytes < i64::MAX as f64 {
        return Ok(bytes as i64);
    }
    Err(too_large(
        ["parameters", "largest_layer_parameters", "devices_per_node", "buffer_factor"],
        "bytes",
    ))
}

/// A stage with what it keeps in the node's memory instead of the GPU's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    /// Stage 2, all states on the GPUs.
    Two,
    /// Stage 2, optimizer states and gradients in the node's memory.
    TwoOptimizer,
    /// Stage 3, all states on the GPUs.
    Three,
    /// Stage 3, optimizer states in the node's memory.
    ThreeOptimizer,
    /// Stage 3, optimizer states and weights in the node's memory.
    ThreeAll,
}

impl Choice {
    const ALL: [Self; 5] =
        [Self::Two, Self::TwoOptimizer, Self::Three, Self::ThreeOptimizer, Self::ThreeAll];

    fn read(params: &Params) -> Result<Self, LabError> {
        let two = params.int("stage")? == 2;
        match (two, params.text("offload")?) {
            (true, "none") => Ok(Self::Two),
            (true, "optimizer") => Ok(Self::TwoOptimizer),
            (true, _) => Err(LabError::contradiction(
                ["stage", "offload"],
                "stage 2 keeps the weights on every GPU; offload the optimizer alone, or use stage 3",
            )),
            (false, "none") => Ok(Self::Three),
            (false, "optimizer") => Ok(Self::ThreeOptimizer),
            (false, _) => Ok(Self::ThreeAll),
        }
    }

    const fn stage(self) -> u8 {
        match self {
            Self::Two | Self::TwoOptimizer => 2,
            Self::Three | Self::ThreeOptimizer | Self::ThreeAll => 3,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Two => "2, all on GPU",
            Self::TwoOptimizer => "2, optimizer off",
            Self::Three => "3, all on GPU",
            Self::ThreeOptimizer => "3, optimizer off",
            Self::ThreeAll => "3, all off",
        }
    }
}

/// Whether stage 3 shards the model while it is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Built {
    Sharded,
    /// By every process, in the node's memory, before it is sharded.
    Whole,
}

/// The model and the machines.
#[derive(Clone, Copy, Debug)]
struct Cluster {
    /// P.
    parameters: f64,
    largest_layer: f64,
    /// d, GPUs of a node.
    devices: f64,
    nodes: f64,
    built: Built,
    /// f, the safety factor on CPU memory.
    buffer: f64,
}

/// What a choice takes, in bytes with their fractions.
#[derive(Clone, Copy, Debug)]
struct Need {
    /// Of one GPU, what is whole on each.
    whole: f64,
    /// Of one GPU, its share of what is split.
    share: f64,
    /// Of one node.
    cpu: f64,
}

impl Need {
    fn gpu(&self) -> f64 {
        self.whole + self.share
    }
}

impl Cluster {
    fn read(params: &Params) -> Result<Self, LabError> {
        Ok(Self {
            parameters: params.float("parameters")?,
            largest_layer: params.float("largest_layer_parameters")?,
            devices: params.float("devices_per_node")?,
            nodes: params.float("nodes")?,
            built: if params.bool("zero_init")? { Built::Sharded } else { Built::Whole },
            buffer: params.float("buffer_factor")?,
        })
    }

    /// D, GPUs of all nodes.
    fn all(&self) -> f64 {
        self.nodes * self.devices
    }

    /// 4 bytes for each parameter of the largest layer, which stage 3 gathers to compute with.
    fn layer(&self) -> f64 {
        4.0 * self.largest_layer
    }

    /// Bytes a parameter in the node's memory where stage 3 keeps `states` bytes of each there: its own share, or
    /// every process's FP32 copy while the model is built, whichever is more.
    fn off(&self, states: f64) -> f64 {
        let share = states / self.nodes;
        match self.built {
            Built::Sharded => share,
            Built::Whole => share.max(4.0 * self.devices),
        }
    }

    /// As `estimate_zero2_model_states_mem_needs` and `estimate_zero3_model_states_mem_needs` do.
    fn need(&self, choice: Choice) -> Need {
        let (p, f) = (self.parameters, self.buffer);
        let split = |bytes: f64| (bytes * p / self.all()).floor();
        match choice {
            Choice::Two => {
                Need { whole: 4.0 * p, share: split(16.0), cpu: p * 4.0 * self.devices * f }
            }
            Choice::TwoOptimizer => {
                Need { whole: 2.0 * p, share: 0.0, cpu: p * (4.0 * self.all()).max(16.0) * f }
            }
            Choice::Three => Need {
                whole: self.layer(),
                share: split(18.0),
                cpu: match self.built {
                    Built::Sharded => self.largest_layer * 4.0 * self.devices * f,
                    Built::Whole => p * 4.0 * self.devices * f,
                },
            },
            Choice::ThreeOptimizer => {
                Need { whole: self.layer(), share: split(2.0), cpu: p * self.off(16.0) * f }
            }
            Choice::ThreeAll => {
                Need { whole: self.layer(), share: 0.0, cpu: p * self.off(18.0) * f }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// microsoft/DeepSpeed, docs/code-docs/source/memory.rst: t5-3b on one node of eight, GiB as printed.
    const T5: Cluster = Cluster {
        parameters: 2851e6,
        largest_layer: 32e6,
        devices: 8.0,
        nodes: 1.0,
        built: Built::Sharded,
        buffer: 1.5,
    };

    #[test]
    fn the_documentations_table_comes_out() {
        for (choice, gpu, cpu) in [
            (Choice::TwoOptimizer, 5.31, 127.45),
            (Choice::Two, 15.93, 127.45),
            (Choice::ThreeAll, 0.12, 71.69),
            (Choice::ThreeOptimizer, 0.78, 63.72),
            (Choice::Three, 6.09, 1.43),
        ] {
            let need = T5.need(choice);
            assert!((need.gpu() / GIB - gpu).abs() < 0.005, "{choice:?} {need:?}");
            assert!((need.cpu / GIB - cpu).abs() < 0.005, "{choice:?} {need:?}");
        }
    }

    #[test]
    fn without_sharding_while_it_is_built_every_process_holds_a_copy() {
        let whole = Cluster { built: Built::Whole, ..T5 };
        for (choice, gib) in
            [(Choice::ThreeAll, 127.45), (Choice::ThreeOptimizer, 127.45), (Choice::Three, 127.45)]
        {
            let need = whole.need(choice);
            assert!((need.cpu / GIB - gib).abs() < 0.005, "{choice:?} {need:?}");
            assert_eq!(need.gpu(), T5.need(choice).gpu(), "{choice:?}");
        }
    }
}
