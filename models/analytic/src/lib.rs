//! Analytic labs: computation graphs and models of machines that answer at once from formulas.
//!
//! Each lab is one schema (`labs/KIND.toml`, with formula and source) and one file of code, in a folder by topic. Labs report their
//! metrics and pictures in one go and look at neither device nor control. Integers are exact: a count that does not
//! fit in 64 bits is an error, never a wrapped number.

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
    pub(crate) mod energy;
    pub(crate) mod graph;
    pub(crate) mod intensity;
    pub(crate) mod operation_energy;
    pub(crate) mod roofline;
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
    pub(crate) mod flash_io;
    pub(crate) mod kv_cache;
    pub(crate) mod online_softmax;
    pub(crate) mod prefill_decode;
    pub(crate) mod speculative_decoding;
}

mod interconnect {
    pub(crate) mod all_reduce;
    pub(crate) mod bus_bandwidth;
    pub(crate) mod double_binary_tree;
    pub(crate) mod link_time;
}

mod memory {
    pub(crate) mod activation_memory;
    pub(crate) mod deepspeed_memory;
    pub(crate) mod zero_memory;
}

mod parallel {
    pub(crate) mod checkpoint_interval;
    pub(crate) mod parallel_plan;
    pub(crate) mod pipeline;
    pub(crate) mod scaling;
    pub(crate) mod tensor_parallel;
}

mod trends {
    pub(crate) mod doubling_time;
    pub(crate) mod landscape;
    pub(crate) mod scaling_law;
    pub(crate) mod supercomputer;
}

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
pub use compute::energy::Energy;
pub use compute::graph::Graph;
pub use compute::intensity::Intensity;
pub use compute::operation_energy::OperationEnergy;
pub use compute::roofline::Roofline;
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
pub use inference::flash_io::FlashIo;
pub use inference::kv_cache::KvCache;
pub use inference::online_softmax::OnlineSoftmax;
pub use inference::prefill_decode::PrefillDecode;
pub use inference::speculative_decoding::SpeculativeDecoding;
pub use interconnect::all_reduce::AllReduce;
pub use interconnect::bus_bandwidth::BusBandwidth;
pub use interconnect::double_binary_tree::DoubleBinaryTree;
pub use interconnect::link_time::LinkTime;
pub use memory::activation_memory::ActivationMemory;
pub use memory::deepspeed_memory::DeepspeedMemory;
pub use memory::zero_memory::ZeroMemory;
pub use parallel::checkpoint_interval::CheckpointInterval;
pub use parallel::parallel_plan::ParallelPlan;
pub use parallel::pipeline::Pipeline;
pub use parallel::scaling::Scaling;
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
        Box::new(Intensity::new()?),
        Box::new(Roofline::new()?),
        Box::new(LinkTime::new()?),
        Box::new(AllReduce::new()?),
        Box::new(BusBandwidth::new()?),
        Box::new(DoubleBinaryTree::new()?),
        Box::new(ZeroMemory::new()?),
        Box::new(DeepspeedMemory::new()?),
        Box::new(ActivationMemory::new()?),
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
        Box::new(KvCache::new()?),
        Box::new(TensorParallel::new()?),
        Box::new(Supercomputer::new()?),
        Box::new(Landscape::new()?),
        Box::new(Scaling::new()?),
        Box::new(CheckpointInterval::new()?),
        Box::new(PrefillDecode::new()?),
        Box::new(OnlineSoftmax::new()?),
        Box::new(FlashIo::new()?),
        Box::new(SpeculativeDecoding::new()?),
        Box::new(OperationEnergy::new()?),
        Box::new(Energy::new()?),
    ])
}
