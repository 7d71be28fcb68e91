//! A launch as a recipe: what a picture of it carries, and how it becomes a machine again.

use crate::types::{Scalar, Type};
use crate::{Argument, CompileError, Kernel, Launch, LaunchError, Machine, NanWatch, Values};
use mlsys_lab::frame::kernel as frame;
use mlsys_lab::frame::kernel::{Fill, Parsed, Recipe};
use mlsys_lab::random;

/// Limits on elements and threads in flight for stepping through a launch: going back keeps copies in memory.
const MOST_ELEMENTS: usize = 1 << 22;
const MOST_THREADS: u64 = 1 << 16;
const MOST_MEBIBYTES: u64 = 64;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Compile(#[from] CompileError),
    #[error(transparent)]
    Launch(#[from] LaunchError),
    #[error(
        "too large to step through: {elements} elements, {threads} threads in flight and {mebibytes} MiB of theirs; at most {MOST_ELEMENTS}, {MOST_THREADS} and {MOST_MEBIBYTES} are held"
    )]
    TooLarge { elements: usize, threads: u64, mebibytes: u64 },
}

/// The machine of a recipe, before its first step.
///
/// # Errors
/// As [`StartError`] says.
pub fn start(recipe: &Recipe) -> Result<Machine, StartError> {
    let kernel = match recipe.parsed.get::<Kernel>() {
        Some(kernel) => kernel.clone(),
        None => Kernel::parse("kernel.cu", &recipe.source)?,
    };
    let launch = launch(recipe);
    let elements = recipe.arguments.iter().map(|argument| match argument {
        frame::Argument::Buffer { elements, .. } => *elements,
        frame::Argument::Whole(_) | frame::Argument::Real(_) => 0,
    });
    let elements = elements.fold(0, usize::saturating_add);
    let in_flight = launch.blocks().min(launch.concurrent_blocks as u64);
    let in_flight = in_flight.saturating_mul(launch.threads_per_block());
    let mebibytes = launch.bytes_in_flight(&kernel.code) >> 20;
    if elements > MOST_ELEMENTS || in_flight > MOST_THREADS || mebibytes > MOST_MEBIBYTES {
        return Err(StartError::TooLarge { elements, threads: in_flight, mebibytes });
    }
    let arguments = arguments(&kernel, &recipe.arguments);
    Ok(kernel.launch(launch, &arguments)?)
}

fn launch(recipe: &Recipe) -> Launch {
    Launch {
        grid_dim: recipe.grid_dim,
        block_dim: recipe.block_dim,
        dynamic_shared: recipe.dynamic_shared,
        schedule: recipe.order,
        concurrent_blocks: recipe.concurrent_blocks,
        seed: recipe.seed,
        nan: NanWatch::Off,
    }
}

/// A launch of a kernel that was read from `source`.
pub(super) fn recipe(
    source: &str,
    kernel: &Kernel,
    launch: &Launch,
    arguments: Vec<frame::Argument>,
) -> Recipe {
    Recipe {
        parsed: Parsed::new(kernel.clone()),
        source: source.to_owned(),
        grid_dim: launch.grid_dim,
        block_dim: launch.block_dim,
        dynamic_shared: launch.dynamic_shared,
        order: launch.schedule,
        concurrent_blocks: launch.concurrent_blocks,
        seed: launch.seed,
        arguments,
    }
}

pub(super) fn arguments(kernel: &Kernel, given: &[frame::Argument]) -> Vec<Argument> {
    let types = kernel.params().map(|(_, ty)| match ty {
        Type::Pointer { to, .. } => to,
        Type::Scalar(of) => of,
        Type::Void | Type::Array { .. } => Scalar::Float,
    });
    // The launch refuses too many arguments.
    let types = types.chain(std::iter::repeat(Scalar::Float));
    let argument = |(given, of): (&frame::Argument, Scalar)| match given {
        frame::Argument::Buffer { elements, fill } => Argument::Buffer(values(fill, of, *elements)),
        frame::Argument::Whole(value) => Argument::Whole(*value),
        frame::Argument::Real(value) => Argument::Real(*value),
    };
    given.iter().zip(types).map(argument).collect()
}

pub(super) fn buffer_argument(values: &Values) -> frame::Argument {
    if let Values::Poison(elements) = values {
        return frame::Argument::Buffer { elements: *elements, fill: Fill::Poison };
    }
    let list = values.numbers();
    frame::Argument::Buffer { elements: list.len(), fill: Fill::Values(list) }
}

/// `count` elements of a type.
pub(super) fn values(fill: &Fill, of: Scalar, count: usize) -> Values {
    let indices = 0..count;
    match fill {
        Fill::Poison => Values::Poison(count),
        Fill::Ramp { times, modulo, scale, offset } => {
            let number = |index| {
                let product = times.wrapping_mul(index as u64);
                let rest = product.checked_rem(*modulo).unwrap_or(product);
                rest as f64 * scale + offset
            };
            Values::new(of, indices.map(number))
        }
        Fill::Random { seed } => Values::new(of, indices.map(random(of, *seed))),
        Fill::Uniform { seed, low, high } => {
            Values::new(of, indices.map(uniform(of, *seed, *low, *high)))
        }
        // A shorter list is padded with zeros.
        Fill::Values(list) => {
            Values::new(of, list.iter().copied().chain(std::iter::repeat(0.0)).take(count))
        }
    }
}

/// Numbers from `low` up to `high`; of whole ones both ends may come.
fn uniform(of: Scalar, seed: u64, low: f64, high: f64) -> impl FnMut(usize) -> f64 {
    move |index| {
        let unit = random::unit(seed, index as u64);
        if of.is_real() {
            low + unit * (high - low)
        } else {
            (low + unit * (high - low + 1.0)).floor().min(high)
        }
    }
}

/// Numbers from 0 up to 1, or whole ones from 0 to 99.
fn random(of: Scalar, seed: u64) -> impl FnMut(usize) -> f64 {
    move |index| {
        if of.is_real() {
            random::unit(seed, index as u64)
        } else {
            (random::bits(seed, index as u64) >> 33) as f64 % 100.0
        }
    }
}
