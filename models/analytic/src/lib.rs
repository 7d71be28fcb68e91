//! Analytic labs: computation graphs and models of machines that answer at once from formulas.
//!
//! A lab is one file, `labs/KIND.toml` ([`closed_form`]). Where formulas are not enough, a simulation in Rust computes
//! values that the file names, and the pictures that a file cannot describe. Labs report their metrics and pictures in
//! one go and look at neither device nor control. Integers are exact: a count that does not fit in 64 bits is an error,
//! never a wrapped number.

pub mod closed_form;

mod compression {
    pub(crate) mod codebooks;
    pub(crate) mod integer_matmul;
    pub(crate) mod nested;
    pub(crate) mod prune;
    pub(crate) mod quantize;
}

mod compute {
    pub(crate) mod backward_rule;
    pub(crate) mod graph;
}

mod gpu {
    pub(crate) mod bank_conflicts;
    pub(crate) mod coalescing;
    pub(crate) mod divergence;
    pub(crate) mod lowering;
    pub(crate) mod systolic_array;
    pub(crate) mod tensor_core;
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

use closed_form::{ClosedForm, Simulation};
use mlsys_kernel::{Extensions, KernelLab};
use mlsys_lab::Recipe;
use mlsys_lab::schema::SchemaError;
use mlsys_sim::graph::operation::Engine;
use mlsys_sim::lowering::Toolchain;

pub use compute::graph::Graph;
pub use gpu::lowering::Lowering;

const SIMULATIONS: [(&str, Simulation); 19] = [
    ("all-reduce", interconnect::all_reduce::run),
    ("backward-rule", compute::backward_rule::run),
    ("bank-conflicts", gpu::bank_conflicts::run),
    ("coalescing", gpu::coalescing::run),
    ("divergence", gpu::divergence::run),
    ("double-binary-tree", interconnect::double_binary_tree::run),
    ("integer-matmul", compression::integer_matmul::run),
    ("kmeans-quantize", compression::codebooks::kmeans),
    ("landscape", trends::landscape::run),
    ("nf4", compression::codebooks::nf4),
    ("online-softmax", inference::online_softmax::run),
    ("parallel-plan", parallel::parallel_plan::run),
    ("pipeline", parallel::pipeline::run),
    ("prune", compression::prune::run),
    ("quantize", compression::quantize::run),
    ("systolic-array", gpu::systolic_array::run),
    ("tensor-core", gpu::tensor_core::run),
    ("tensor-parallel", parallel::tensor_parallel::run),
    ("window-sum", gpu::window_sum::run),
];

/// The kinds in the order of the course; a file that is not listed follows the labs of its module.
const ORDER: &str = include_str!("../labs/order.txt");

/// Every lab of this crate, in the order of the course.
pub fn labs() -> Vec<Recipe> {
    all(vec![
        Recipe::new("graph", Graph::new),
        Recipe::new("kernel", KernelLab::new),
        Recipe::new("lowering", Lowering::new),
    ])
}

/// The same, with another engine that differentiates for the lab `graph`, with the extensions of the lab `kernel`, and
/// with compilers and devices for the lab `lowering`.
pub fn labs_with(
    engine: fn() -> Box<dyn Engine>,
    extensions: fn() -> Extensions,
    toolchain: fn() -> Box<dyn Toolchain>,
) -> Vec<Recipe> {
    all(vec![
        Recipe::new("graph", move || Ok(Graph::new()?.with_engine(engine()))),
        Recipe::new("kernel", move || Ok(KernelLab::new()?.with_extensions(extensions()))),
        Recipe::new("lowering", move || Ok(Lowering::new()?.with_toolchain(toolchain()))),
    ])
}

/// The files in `labs` by their kinds.
static FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/labs.rs"));

/// A lab of a file, by its kind.
///
/// # Errors
/// There is no such file, or it does not read, which the tests of this crate catch.
pub fn lab(kind: &str) -> Result<ClosedForm, SchemaError> {
    let file = FILES.iter().find(|(name, _)| *name == kind);
    let (_, text) = file.ok_or_else(|| SchemaError {
        kind: kind.to_owned(),
        message: "there is no such file in `labs`".to_owned(),
    })?;
    let simulation = SIMULATIONS.iter().find(|(name, _)| *name == kind);
    ClosedForm::built_in(text, simulation.map(|(_, simulation)| *simulation))
}

/// The labs of all files, those that Rust builds among them.
fn all(mut own: Vec<Recipe>) -> Vec<Recipe> {
    let recipe = |kind| match own.iter().position(|own| own.kind == kind) {
        Some(place) => own.swap_remove(place),
        None => Recipe::new(kind, move || lab(kind)),
    };
    kinds().into_iter().map(recipe).collect()
}

/// The kinds in the order of the course; a file that is not listed follows the labs of its module.
fn kinds() -> Vec<&'static str> {
    let mut kinds: Vec<&str> = ORDER.lines().collect();
    let module = |kind: &str| {
        let (_, text) = FILES.iter().find(|(name, _)| *name == kind)?;
        text.lines().find(|line| line.starts_with("module = "))
    };
    for (kind, _) in FILES {
        if !kinds.contains(kind) {
            let last = kinds.iter().rposition(|other| module(other) == module(kind));
            kinds.insert(last.map_or(kinds.len(), |last| last + 1), kind);
        }
    }
    kinds
}
