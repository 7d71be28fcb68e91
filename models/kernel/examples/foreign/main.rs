//! Runs public kernels, as they stand, and holds their results against plain Rust:
//! `cargo run -p mlsys-kernel --release --example foreign -- FOLDER`
//!
//! The folder holds clones of karpathy/llm.c, siboehm/SGEMM_CUDA and NVIDIA/cuda-samples, under any names. A line for each
//! kernel goes to standard output: the elements that are compared, the largest difference, and what the interpreter finds.
//! The exit code is 1 if a kernel does not read or differs, and 2 if a file is not there.

use mlsys_kernel::{Argument, Kernel, Launch, MOST_BYTES, Progress, Values};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

mod llm;
mod others;

const BUDGET: u64 = 100_000_000;

/// A kernel, what it is launched on, and what a buffer must hold in the end.
pub(crate) struct Case {
    pub(crate) file: String,
    pub(crate) kernel: String,
    pub(crate) launch: Launch,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) output: &'static str,
    pub(crate) want: Vec<f64>,
    /// Of the larger of 1 and the value.
    pub(crate) tolerance: f64,
}

fn main() -> ExitCode {
    let Some(folder) = std::env::args().nth(1).map(PathBuf::from) else {
        eprintln!("foreign FOLDER");
        return ExitCode::from(2);
    };
    let mut is_whole = true;
    for case in llm::cases().chain(others::cases()) {
        let Some(text) = found(&folder, &case.file) else {
            eprintln!("{}: not in {}", case.file, folder.display());
            return ExitCode::from(2);
        };
        match compared(&text, &case) {
            Ok(Compared { largest, finding }) => println!(
                "{}\t{}\t{} elements\tlargest difference {largest:.1e}\t{finding}",
                case.file,
                case.kernel,
                case.want.len()
            ),
            Err(told) => {
                is_whole = false;
                println!("{}\t{}\tWRONG: {told}", case.file, case.kernel);
            }
        }
    }
    if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A file of one of the clones, with the headers next to it that it includes, as far as they fit.
fn found(folder: &Path, file: &str) -> Option<String> {
    let clones = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    let path = clones.map(|clone| clone.join(file)).find(|path| path.is_file())?;
    let text = fs::read_to_string(&path).ok()?;
    let included = text.lines().filter_map(|line| line.strip_prefix("#include \""));
    let names: Vec<&str> = included.filter_map(|rest| rest.split('"').next()).collect();
    let headers =
        names.iter().filter_map(|name| fs::read_to_string(path.with_file_name(name)).ok());
    let before: String = headers.collect();
    // What the file defines for its headers stands before them.
    let defined = text.lines().filter(|line| line.starts_with("#define ENABLE_"));
    let defined = defined.collect::<Vec<_>>().join("\n");
    let rest = text.lines().filter(|line| !line.starts_with("#define ENABLE_"));
    let whole = format!("{defined}\n{before}\n{}", rest.collect::<Vec<_>>().join("\n"));
    Some(if whole.len() + 100 > MOST_BYTES { text } else { whole })
}

/// What a run came to.
struct Compared {
    /// The largest difference from the reference.
    largest: f64,
    /// The first thing that the interpreter found, or nothing.
    finding: String,
}

/// Runs a kernel and compares its results.
///
/// # Errors
/// It does not read, does not end, or differs by more than its tolerance.
fn compared(text: &str, case: &Case) -> Result<Compared, String> {
    let text = format!("{text}\n#pragma kernel {}\n", case.kernel);
    let kernel = Kernel::parse(&case.file, &text).map_err(|refused| refused.to_string())?;
    let machine = kernel.launch(case.launch.clone(), &case.arguments);
    let mut machine = machine.map_err(|error| error.to_string())?;
    if machine.run(BUDGET) != Progress::Finished {
        return Err(format!("not at its end after {BUDGET} instructions"));
    }
    let got: Vec<f64> = machine.elements(case.output).collect();
    if got.len() != case.want.len() {
        return Err(format!("{} elements in place of {}", got.len(), case.want.len()));
    }
    let mut largest = 0.0_f64;
    for (at, (got, want)) in got.iter().zip(&case.want).enumerate() {
        let difference = if got == want { 0.0 } else { (got - want).abs() };
        if difference.is_nan() || difference > case.tolerance * want.abs().max(1.0) {
            return Err(format!("element {at} is {got}, not {want}"));
        }
        largest = largest.max(difference);
    }
    let finding = machine.findings().first().map(|finding| finding.sentence.clone());
    Ok(Compared { largest, finding: finding.unwrap_or_default() })
}

/// Numbers from -1 to 1 in steps of 1/64, so that a reference reads the same ones.
pub(crate) fn numbers(count: usize, seed: usize) -> Vec<f64> {
    (0..count).map(|i| ((i * 37 + seed * 101 + i * i % 17) % 129) as f64 / 64.0 - 1.0).collect()
}

pub(crate) fn floats(values: &[f64]) -> Argument {
    Argument::Buffer(Values::Float(values.iter().map(|value| *value as f32).collect()))
}

pub(crate) fn empty(count: usize) -> Argument {
    Argument::Buffer(Values::Poison(count))
}

pub(crate) fn whole(value: usize) -> Argument {
    Argument::Whole(value as i64)
}

pub(crate) fn line(blocks: u32, threads: u32, shared: u32) -> Launch {
    Launch { dynamic_shared: shared, ..Launch::line(blocks, threads) }
}

pub(crate) fn plane(grid: [u32; 2], block: [u32; 2]) -> Launch {
    let mut launch = Launch::line(1, 1);
    (launch.grid_dim, launch.block_dim) = ([grid[0], grid[1], 1], [block[0], block[1], 1]);
    launch
}
