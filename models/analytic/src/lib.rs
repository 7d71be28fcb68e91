//! Analytic labs: computation graphs and models of machines that answer at once from formulas.
//!
//! A closed form is one file, `labs/KIND.toml` ([`closed_form`]); a simulation has its schema there and its code in a
//! folder by topic. Labs report their metrics and pictures in one go and look at neither device nor control. Integers are
//! exact: a count that does not fit in 64 bits is an error, never a wrapped number.

pub mod closed_form;

mod compression {
    pub(crate) mod integer_matmul;
    pub(crate) mod kmeans_quantize;
    pub(crate) mod nested;
    pub(crate) mod nf4;
    pub(crate) mod prune;
    pub(crate) mod quantize;
}

mod compute {
    pub(crate) mod graph;
}

mod gpu {
    pub(crate) mod bank_conflicts;
    pub(crate) mod coalescing;
    pub(crate) mod divergence;
    pub(crate) mod lowering;
    pub(crate) mod occupancy;
    pub(crate) mod tensor_core;
    pub(crate) mod thread_index;
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
    pub(crate) mod landscape;
}

use closed_form::ClosedForm;
use mlsys_kernel::{Extensions, KernelLab};
use mlsys_lab::Lab;
use mlsys_lab::schema::SchemaError;
use mlsys_sim::graph::operation::Engine;
use mlsys_sim::lowering::Toolchain;

pub use compression::integer_matmul::IntegerMatmul;
pub use compression::kmeans_quantize::KmeansQuantize;
pub use compression::nf4::Nf4;
pub use compression::prune::Prune;
pub use compression::quantize::Quantize;
pub use compute::graph::Graph;
pub use gpu::bank_conflicts::BankConflicts;
pub use gpu::coalescing::Coalescing;
pub use gpu::divergence::Divergence;
pub use gpu::lowering::Lowering;
pub use gpu::occupancy::Occupancy;
pub use gpu::tensor_core::TensorCore;
pub use gpu::thread_index::ThreadIndex;
pub use gpu::window_sum::WindowSum;
pub use inference::online_softmax::OnlineSoftmax;
pub use interconnect::all_reduce::AllReduce;
pub use interconnect::double_binary_tree::DoubleBinaryTree;
pub use parallel::parallel_plan::ParallelPlan;
pub use parallel::pipeline::Pipeline;
pub use parallel::tensor_parallel::TensorParallel;
pub use trends::landscape::Landscape;

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

/// The files in `labs` by their kinds.
static FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/labs.rs"));

/// A lab that is data, by its kind.
///
/// # Errors
/// There is no such file, or it does not read, which the tests of this crate catch.
pub fn lab(kind: &str) -> Result<ClosedForm, SchemaError> {
    let file = FILES.iter().find(|(name, _)| *name == kind);
    let (_, text) = file.ok_or_else(|| SchemaError {
        kind: kind.to_owned(),
        message: "there is no such file in `labs`".to_owned(),
    })?;
    ClosedForm::built_in(text)
}

/// Puts every file that is not listed yet behind the labs of its module.
fn with_others(mut labs: Vec<Box<dyn Lab>>) -> Result<Vec<Box<dyn Lab>>, SchemaError> {
    for (kind, _) in FILES {
        if labs.iter().any(|lab| lab.schema().kind == *kind) {
            continue;
        }
        let lab = lab(kind)?;
        let module = lab.schema().module.clone();
        let last = labs.iter().rposition(|other| other.schema().module == module);
        labs.insert(last.map_or(labs.len(), |last| last + 1), Box::new(lab));
    }
    Ok(labs)
}

fn all(
    graph: Graph,
    kernel: KernelLab,
    lowering: Lowering,
) -> Result<Vec<Box<dyn Lab>>, SchemaError> {
    with_others(vec![
        Box::new(graph),
        Box::new(lab("gpu-peak")?),
        Box::new(lab("sm-limits")?),
        Box::new(ThreadIndex::new()?),
        Box::new(lab("launch-geometry")?),
        Box::new(WindowSum::new()?),
        Box::new(Occupancy::new()?),
        Box::new(Coalescing::new()?),
        Box::new(BankConflicts::new()?),
        Box::new(Divergence::new()?),
        Box::new(lab("waves")?),
        Box::new(kernel),
        Box::new(TensorCore::new()?),
        Box::new(lowering),
        Box::new(lab("intensity")?),
        Box::new(lab("roofline")?),
        Box::new(lab("link-time")?),
        Box::new(AllReduce::new()?),
        Box::new(lab("bus-bandwidth")?),
        Box::new(DoubleBinaryTree::new()?),
        Box::new(lab("zero-memory")?),
        Box::new(lab("deepspeed-memory")?),
        Box::new(lab("activation-memory")?),
        Box::new(Pipeline::new()?),
        Box::new(ParallelPlan::new()?),
        Box::new(lab("transformer-params")?),
        Box::new(lab("transformer-flops")?),
        Box::new(lab("training-compute")?),
        Box::new(lab("scaling-law")?),
        Box::new(lab("doubling-time")?),
        Box::new(Quantize::new()?),
        Box::new(IntegerMatmul::new()?),
        Box::new(lab("quantization-noise")?),
        Box::new(lab("quantized-storage")?),
        Box::new(Nf4::new()?),
        Box::new(KmeansQuantize::new()?),
        Box::new(Prune::new()?),
        Box::new(lab("distill-loss")?),
        Box::new(lab("lora-params")?),
        Box::new(lab("kv-cache")?),
        Box::new(TensorParallel::new()?),
        Box::new(lab("supercomputer")?),
        Box::new(Landscape::new()?),
        Box::new(lab("scaling")?),
        Box::new(lab("checkpoint-interval")?),
        Box::new(lab("prefill-decode")?),
        Box::new(OnlineSoftmax::new()?),
        Box::new(lab("flash-io")?),
        Box::new(lab("speculative-decoding")?),
        Box::new(lab("operation-energy")?),
        Box::new(lab("energy")?),
    ])
}
