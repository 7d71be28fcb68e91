//! Analytic labs: computation graphs and models of machines that answer at once from formulas.
//!
//! Each lab is one schema (`labs/KIND.toml`, with formula and source) and one file of code, in a folder by topic. Labs report their
//! metrics and pictures in one go and look at neither device nor control. Integers are exact: a count that does not
//! fit in 64 bits is an error, never a wrapped number.

pub mod closed_form;

mod compression {
    pub(crate) mod distill_loss;
    pub(crate) mod integer_matmul;
    pub(crate) mod kmeans_quantize;
    pub(crate) mod lora_params;
    pub(crate) mod nested;
    pub(crate) mod nf4;
    pub(crate) mod prune;
    pub(crate) mod quantization_noise;
    pub(crate) mod quantize;
    pub(crate) mod quantized_storage;
}

mod compute {
    pub(crate) mod graph;
    pub(crate) mod training_compute;
    pub(crate) mod transformer;
    pub(crate) mod transformer_flops;
    pub(crate) mod transformer_params;
}

mod gpu {
    pub(crate) mod bank_conflicts;
    pub(crate) mod coalescing;
    pub(crate) mod divergence;
    pub(crate) mod gpu_peak;
    pub(crate) mod launch_geometry;
    pub(crate) mod lowering;
    pub(crate) mod occupancy;
    pub(crate) mod sm_limits;
    pub(crate) mod tensor_core;
    pub(crate) mod thread_index;
    pub(crate) mod waves;
    pub(crate) mod window_sum;
}

mod inference {
    pub(crate) mod online_softmax;
}

mod interconnect {
    pub(crate) mod all_reduce;
    pub(crate) mod double_binary_tree;
}

mod parallel {
    pub(crate) mod parallel_plan;
    pub(crate) mod pipeline;
    pub(crate) mod tensor_parallel;
}

mod trends {
    pub(crate) mod doubling_time;
    pub(crate) mod landscape;
    pub(crate) mod scaling_law;
    pub(crate) mod supercomputer;
}

use closed_form::ClosedForm;
use mlsys_kernel::{Extensions, KernelLab};
use mlsys_lab::Lab;
use mlsys_lab::schema::SchemaError;
use mlsys_sim::graph::operation::Engine;
use mlsys_sim::lowering::Toolchain;

pub use compression::distill_loss::DistillLoss;
pub use compression::integer_matmul::IntegerMatmul;
pub use compression::kmeans_quantize::KmeansQuantize;
pub use compression::lora_params::LoraParams;
pub use compression::nf4::Nf4;
pub use compression::prune::Prune;
pub use compression::quantization_noise::QuantizationNoise;
pub use compression::quantize::Quantize;
pub use compression::quantized_storage::QuantizedStorage;
pub use compute::graph::Graph;
pub use compute::training_compute::TrainingCompute;
pub use compute::transformer_flops::TransformerFlops;
pub use compute::transformer_params::TransformerParams;
pub use gpu::bank_conflicts::BankConflicts;
pub use gpu::coalescing::Coalescing;
pub use gpu::divergence::Divergence;
pub use gpu::gpu_peak::GpuPeak;
pub use gpu::launch_geometry::LaunchGeometry;
pub use gpu::lowering::Lowering;
pub use gpu::occupancy::Occupancy;
pub use gpu::sm_limits::SmLimits;
pub use gpu::tensor_core::TensorCore;
pub use gpu::thread_index::ThreadIndex;
pub use gpu::waves::Waves;
pub use gpu::window_sum::WindowSum;
pub use inference::online_softmax::OnlineSoftmax;
pub use interconnect::all_reduce::AllReduce;
pub use interconnect::double_binary_tree::DoubleBinaryTree;
pub use parallel::parallel_plan::ParallelPlan;
pub use parallel::pipeline::Pipeline;
pub use parallel::tensor_parallel::TensorParallel;
pub use trends::doubling_time::DoublingTime;
pub use trends::landscape::Landscape;
pub use trends::scaling_law::ScalingLaw;
pub use trends::supercomputer::Supercomputer;

/// Every lab of this crate, in the order of the course.
///
/// # Errors
/// A schema that does not read, which is a mistake in this crate and caught by its tests.
pub fn labs() -> Result<Vec<Box<dyn Lab>>, SchemaError> {
    all(Graph::new()?, KernelLab::new()?, Lowering::new()?)
}

/// The same, with another engine that differentiates beside the lab `graph`, with what the lab `kernel` is given besides
/// its interpreter, and with compilers and devices for the lab `lowering`.
///
/// # Errors
/// As for [`labs`].
pub fn labs_beside(
    engine: Box<dyn Engine>,
    beside: Extensions,
    toolchain: Box<dyn Toolchain>,
) -> Result<Vec<Box<dyn Lab>>, SchemaError> {
    all(
        Graph::new()?.beside(engine),
        KernelLab::new()?.beside(beside),
        Lowering::new()?.beside(toolchain),
    )
}

/// A lab that is data, from its file.
fn data(text: &str) -> Result<Box<dyn Lab>, SchemaError> {
    Ok(Box::new(ClosedForm::built_in(text)?))
}

fn all(
    graph: Graph,
    kernel: KernelLab,
    lowering: Lowering,
) -> Result<Vec<Box<dyn Lab>>, SchemaError> {
    Ok(vec![
        Box::new(graph),
        Box::new(GpuPeak::new()?),
        Box::new(SmLimits::new()?),
        Box::new(ThreadIndex::new()?),
        Box::new(LaunchGeometry::new()?),
        Box::new(WindowSum::new()?),
        Box::new(Occupancy::new()?),
        Box::new(Coalescing::new()?),
        Box::new(BankConflicts::new()?),
        Box::new(Divergence::new()?),
        Box::new(Waves::new()?),
        Box::new(kernel),
        Box::new(TensorCore::new()?),
        Box::new(lowering),
        data(include_str!("../labs/intensity.toml"))?,
        data(include_str!("../labs/roofline.toml"))?,
        data(include_str!("../labs/link-time.toml"))?,
        Box::new(AllReduce::new()?),
        data(include_str!("../labs/bus-bandwidth.toml"))?,
        Box::new(DoubleBinaryTree::new()?),
        data(include_str!("../labs/zero-memory.toml"))?,
        data(include_str!("../labs/deepspeed-memory.toml"))?,
        data(include_str!("../labs/activation-memory.toml"))?,
        Box::new(Pipeline::new()?),
        Box::new(ParallelPlan::new()?),
        Box::new(TransformerParams::new()?),
        Box::new(TransformerFlops::new()?),
        Box::new(TrainingCompute::new()?),
        Box::new(ScalingLaw::new()?),
        Box::new(DoublingTime::new()?),
        Box::new(Quantize::new()?),
        Box::new(IntegerMatmul::new()?),
        Box::new(QuantizationNoise::new()?),
        Box::new(QuantizedStorage::new()?),
        Box::new(Nf4::new()?),
        Box::new(KmeansQuantize::new()?),
        Box::new(Prune::new()?),
        Box::new(DistillLoss::new()?),
        Box::new(LoraParams::new()?),
        data(include_str!("../labs/kv-cache.toml"))?,
        Box::new(TensorParallel::new()?),
        Box::new(Supercomputer::new()?),
        Box::new(Landscape::new()?),
        data(include_str!("../labs/scaling.toml"))?,
        data(include_str!("../labs/checkpoint-interval.toml"))?,
        data(include_str!("../labs/prefill-decode.toml"))?,
        Box::new(OnlineSoftmax::new()?),
        data(include_str!("../labs/flash-io.toml"))?,
        data(include_str!("../labs/speculative-decoding.toml"))?,
        data(include_str!("../labs/operation-energy.toml"))?,
        data(include_str!("../labs/energy.toml"))?,
    ])
}
