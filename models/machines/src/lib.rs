//! Analytic labs: computation graphs and models of machines that answer at once from formulas.
//!
//! Each lab is one schema (`KIND.toml`, with formula and source) and one file of code beside it. Labs report their
//! metrics and pictures in one go and look at neither device nor control. Integers are exact: a count that does not
//! fit in 64 bits is an error, never a wrapped number.

mod activation_memory;
mod all_reduce;
mod bank_conflicts;
mod bus_bandwidth;
mod checkpoint_interval;
mod coalescing;
pub mod collective;
mod deepspeed_memory;
mod distill_loss;
mod divergence;
mod double_binary_tree;
mod doubling_time;
mod energy;
mod expression;
mod flash_io;
pub mod formats;
mod gpu_peak;
pub mod graph;
mod integer;
mod integer_matmul;
mod intensity;
pub mod kernel;
mod kmeans_quantize;
pub mod kv_cache;
mod landscape;
mod launch_geometry;
mod link_time;
mod lora_params;
pub mod lowering;
mod multiprocessor;
mod nested;
pub mod network;
mod nf4;
mod occupancy;
pub mod online_softmax;
mod operation_energy;
mod parallel_plan;
mod pattern;
mod picture;
pub mod pipeline;
mod prefill_decode;
mod prune;
pub mod pruning;
mod quantization_noise;
mod quantize;
mod quantized_storage;
pub mod quantizer;
mod random;
mod roofline;
mod scaling;
mod scaling_law;
pub mod slices;
mod sm_limits;
pub mod speculative_decoding;
mod steps;
mod supercomputer;
mod tensor_core;
mod tensor_parallel;
mod thread_index;
mod training_compute;
mod transformer;
mod transformer_flops;
mod transformer_params;
mod waves;
mod window_sum;
mod zero_memory;

use mlsys_lab::Lab;
use mlsys_lab::schema::SchemaError;

pub use activation_memory::ActivationMemory;
pub use all_reduce::AllReduce;
pub use bank_conflicts::BankConflicts;
pub use bus_bandwidth::BusBandwidth;
pub use checkpoint_interval::CheckpointInterval;
pub use coalescing::{Coalescing, places_named};
pub use deepspeed_memory::DeepspeedMemory;
pub use distill_loss::DistillLoss;
pub use divergence::Divergence;
pub use double_binary_tree::DoubleBinaryTree;
pub use doubling_time::DoublingTime;
pub use energy::Energy;
pub use flash_io::FlashIo;
pub use gpu_peak::GpuPeak;
pub use graph::Graph;
use graph::engine::Engine;
pub use integer_matmul::IntegerMatmul;
pub use intensity::Intensity;
pub use kmeans_quantize::KmeansQuantize;
pub use kv_cache::KvCache;
pub use landscape::Landscape;
pub use launch_geometry::LaunchGeometry;
pub use link_time::LinkTime;
pub use lora_params::LoraParams;
pub use lowering::Lowering;
pub use nf4::Nf4;
pub use occupancy::Occupancy;
pub use online_softmax::OnlineSoftmax;
pub use operation_energy::OperationEnergy;
pub use parallel_plan::ParallelPlan;
pub use pipeline::Pipeline;
pub use prefill_decode::PrefillDecode;
pub use prune::Prune;
pub use quantization_noise::QuantizationNoise;
pub use quantize::Quantize;
pub use quantized_storage::QuantizedStorage;
pub use roofline::Roofline;
pub use scaling::Scaling;
pub use scaling_law::ScalingLaw;
pub use sm_limits::SmLimits;
pub use speculative_decoding::SpeculativeDecoding;
pub use supercomputer::Supercomputer;
pub use tensor_core::TensorCore;
pub use tensor_parallel::TensorParallel;
pub use thread_index::ThreadIndex;
pub use training_compute::TrainingCompute;
pub use transformer_flops::TransformerFlops;
pub use transformer_params::TransformerParams;
pub use waves::Waves;
pub use window_sum::WindowSum;
pub use zero_memory::ZeroMemory;

/// Every lab of this crate, in the order of the course.
///
/// # Errors
/// A schema that does not read, which is a mistake in this crate and caught by its tests.
pub fn labs() -> Result<Vec<Box<dyn Lab>>, SchemaError> {
    all(Graph::new()?, kernel::KernelLab::new()?, Lowering::new()?)
}

/// The same, with another engine that differentiates beside the lab `graph`, with what the lab `kernel` is given besides
/// its interpreter, and with compilers and devices for the lab `lowering`.
///
/// # Errors
/// As for [`labs`].
pub fn labs_beside(
    engine: Box<dyn Engine>,
    beside: kernel::Beside,
    toolchain: Box<dyn lowering::Toolchain>,
) -> Result<Vec<Box<dyn Lab>>, SchemaError> {
    all(
        Graph::new()?.beside(engine),
        kernel::KernelLab::new()?.beside(beside),
        Lowering::new()?.beside(toolchain),
    )
}

fn all(
    graph: Graph,
    kernel: kernel::KernelLab,
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
