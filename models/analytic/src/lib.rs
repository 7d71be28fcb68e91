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
    pub(crate) mod graph;
}

mod gpu {
    pub(crate) mod bank_conflicts;
    pub(crate) mod coalescing;
    pub(crate) mod divergence;
    pub(crate) mod lowering;
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

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::thread;

use closed_form::{ClosedForm, Simulation};
use mlsys_kernel::{Extensions, KernelLab};
use mlsys_lab::Lab;
use mlsys_lab::schema::SchemaError;
use mlsys_sim::graph::operation::Engine;
use mlsys_sim::lowering::Toolchain;

pub use compute::graph::Graph;
pub use gpu::lowering::Lowering;

const SIMULATIONS: [(&str, Simulation); 17] = [
    ("all-reduce", interconnect::all_reduce::run),
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
    ("tensor-core", gpu::tensor_core::run),
    ("tensor-parallel", parallel::tensor_parallel::run),
    ("window-sum", gpu::window_sum::run),
];

/// The kinds in the order of the course; a file that is not listed follows the labs of its module.
const ORDER: &str = include_str!("../labs/order.txt");

/// Every lab of this crate, in the order of the course.
///
/// # Errors
/// A schema that does not read, which is a mistake in this crate and caught by its tests.
pub fn labs() -> Result<Vec<Box<dyn Lab>>, SchemaError> {
    all(Graph::new()?, KernelLab::new()?, Lowering::new()?)
}

/// The same, with another engine that differentiates for the lab `graph`, with the extensions of the lab `kernel`, and
/// with compilers and devices for the lab `lowering`.
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
        KernelLab::new()?.with_extensions(beside),
        Lowering::new()?.beside(toolchain),
    )
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

/// The labs of all files by kind; read on all processors, because the first frame waits for them.
fn read_files(others: &[&str]) -> Result<BTreeMap<&'static str, ClosedForm>, SchemaError> {
    let kinds: Vec<&'static str> =
        FILES.iter().map(|(kind, _)| *kind).filter(|kind| !others.contains(kind)).collect();
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let share = kinds.len().div_ceil(threads).max(1);
    let read = |kinds: &[&'static str]| -> Result<Vec<_>, SchemaError> {
        kinds.iter().map(|kind| Ok((*kind, lab(kind)?))).collect()
    };
    let mut labs = BTreeMap::new();
    thread::scope(|scope| {
        let readers: Vec<_> =
            kinds.chunks(share).map(|kinds| scope.spawn(move || read(kinds))).collect();
        for reader in readers {
            labs.extend(reader.join().unwrap_or_else(|panic| resume_unwind(panic))?);
        }
        Ok(labs)
    })
}

fn all(
    graph: Graph,
    kernel: KernelLab,
    lowering: Lowering,
) -> Result<Vec<Box<dyn Lab>>, SchemaError> {
    let mut own: [Option<Box<dyn Lab>>; 3] =
        [Some(Box::new(graph)), Some(Box::new(kernel)), Some(Box::new(lowering))];
    let mut files = read_files(&["graph", "kernel", "lowering"])?;
    let mut labs: Vec<Box<dyn Lab>> = Vec::new();
    for kind in ORDER.lines() {
        let is = |own: &&mut Option<Box<dyn Lab>>| {
            own.as_ref().is_some_and(|lab| lab.schema().kind == kind)
        };
        labs.push(match own.iter_mut().find(is).and_then(Option::take) {
            Some(lab) => lab,
            None => Box::new(files.remove(kind).map_or_else(|| lab(kind), Ok)?),
        });
    }
    for lab in files.into_values() {
        let module = lab.schema().module.clone();
        let last = labs.iter().rposition(|other| other.schema().module == module);
        labs.insert(last.map_or(labs.len(), |last| last + 1), Box::new(lab));
    }
    Ok(labs)
}
