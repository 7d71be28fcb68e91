//! A kernel that can be stepped through: not its states, but the recipe that they all follow from.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::frame::bars::Timeline;
use crate::value::gaps_as_nan;

/// A view of a kernel's launch; where in the run one stands is the business of who looks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    /// What of it is shown.
    pub view: View,
    /// The launch. An interpreter that is given it goes the same way every time.
    pub recipe: Recipe,
    /// What the whole run came to.
    #[serde(default)]
    pub whole: Whole,
}

crate::named_enum! {
    /// What of a launch is shown, by the name of its panel.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum View {
        /// The text, with what each line cost and where the warps are.
        Source = "source",
        /// Blocks, their warps, and the threads of one block.
        Grid = "grid",
        /// The lanes of one warp, and one thread in full.
        Lanes = "lanes",
        /// The cells of buffers and shared memory, and who touches which.
        Memory = "memory",
        /// The warp's last access to global memory as 32-byte sectors.
        Sectors = "sectors",
        /// The warp's last access to shared memory by bank, and the memory itself.
        Banks = "banks",
        /// Instructions in the order they ran, by warp.
        Timeline = "timeline",
        /// The lanes of one warp over its instructions.
        Divergence = "divergence",
        /// What went wrong, to go to.
        Problems = "problems",
    }
}

/// A launch, to be done again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Recipe {
    /// The text, CUDA C.
    pub source: String,
    /// Blocks in x, y and z.
    pub grid_dim: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block_dim: [u32; 3],
    /// Bytes of shared memory asked for at launch.
    pub dynamic_shared: u32,
    /// The order of warps and blocks.
    pub order: Schedule,
    /// Blocks in flight at once.
    pub concurrent_blocks: usize,
    /// Of the random order.
    pub seed: u64,
    /// The arguments, as the kernel takes them.
    pub arguments: Vec<Argument>,
    /// The text as it was read for the run, so that the screen does not read it.
    #[serde(skip)]
    pub parsed: Parsed,
}

/// What an interpreter made of a recipe's text. It follows from the text, so that any two are equal; a record has none.
#[derive(Clone, Default)]
pub struct Parsed(Option<Arc<dyn Any + Send + Sync>>);

impl Parsed {
    /// Keeps an interpreter's own form of the text.
    pub fn new(kernel: impl Any + Send + Sync) -> Self {
        Self(Some(Arc::new(kernel)))
    }

    /// The form that was kept, if it is of that type.
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.as_deref()?.downcast_ref()
    }
}

impl PartialEq for Parsed {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for Parsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Parsed")
    }
}

/// The order in which warps and blocks go on. A correct kernel does not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// A warp goes on until it waits or ends; blocks begin in the order of their numbers.
    InOrder,
    /// Warps take turns, an instruction each.
    #[default]
    RoundRobin,
    /// Any warp that can goes next, and blocks begin in any order: by the seed.
    Random,
}

/// An argument of a kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Argument {
    /// A pointer to a buffer of its own.
    Buffer {
        /// How many.
        elements: usize,
        /// What is in them.
        fill: Fill,
    },
    /// A whole number.
    Whole(i64),
    /// A number.
    Real(f64),
}

/// What a buffer holds at the start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fill {
    /// Not written.
    Poison,
    /// Element i is `(times * i mod modulo) * scale + offset`; a modulo of 0 takes no remainder.
    Ramp {
        /// What the index is multiplied by.
        times: u64,
        /// What the remainder is taken of.
        modulo: u64,
        /// Between two neighbours.
        scale: f64,
        /// Where it begins.
        offset: f64,
    },
    /// Drawn by a seed.
    Random {
        /// The seed.
        seed: u64,
    },
    /// Drawn by a seed, evenly between two numbers.
    Uniform {
        /// The seed.
        seed: u64,
        /// The least.
        low: f64,
        /// What reals stay below, and the largest of whole numbers.
        high: f64,
    },
    /// These; what is beyond them is zero.
    Values(#[serde(deserialize_with = "gaps_as_nan")] Vec<f64>),
}

impl Fill {
    /// 0, 1, 2 and so on.
    pub const INDEX: Self = Self::Ramp { times: 1, modulo: 0, scale: 1.0, offset: 0.0 };

    /// One number everywhere.
    pub fn constant(value: f64) -> Self {
        Self::Ramp { times: 0, modulo: 0, scale: 0.0, offset: value }
    }
}

/// The result of a whole run, shown before any stepping.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Whole {
    /// Warp instructions, each a step.
    pub steps: u64,
    /// What the lines cost; lines that nothing ran are left out.
    pub lines: Vec<LineCost>,
    /// What went wrong, the first first.
    pub problems: Vec<Problem>,
    /// Problems that were found and are not listed.
    pub unlisted: u64,
    /// The first instructions by warp, along steps; only for [`View::Timeline`].
    pub order: Timeline,
    /// The first instructions with their active lanes; only for [`View::Divergence`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub issues: Vec<Issue>,
    /// What is claimed of every launch; only for [`View::Source`], and only if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
    /// The last write of the element that was watched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watched: Option<Problem>,
}

impl Whole {
    /// How many problems the run has, listed or not.
    pub fn problems_found(&self) -> u64 {
        self.problems.len() as u64 + self.unlisted
    }
}

/// A launch, and the place in it where something went wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FaultSite {
    /// The launch.
    pub recipe: Recipe,
    /// What it came to.
    pub whole: Whole,
    /// Where it went wrong; a launch that leaves something undone goes wrong at its end.
    pub at: Problem,
    /// What a test found to be wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element: Option<Element>,
}

/// An element of a buffer, such as `C[5]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Element {
    /// The buffer's name.
    pub buffer: String,
    /// Its number in the buffer.
    pub at: usize,
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.buffer, self.at)
    }
}

impl FaultSite {
    /// The launch as a panel shows it.
    pub fn frame(&self, view: View) -> Kernel {
        Kernel { view, recipe: self.recipe.clone(), whole: self.whole.clone() }
    }
}

/// Whether every launch is free of races, accesses out of bounds and split barriers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// How it came out.
    pub kind: ClaimKind,
    /// For which launches, or by which one it is refuted, or what stands in the way.
    pub sentence: String,
    /// The launch that refutes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refuted_by: Option<Box<FaultSite>>,
}

crate::named_enum! {
    /// How far a claim is decided.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum ClaimKind {
        /// For every launch.
        Proved = "proved",
        /// A launch contradicts it.
        Refuted = "refuted",
        /// Neither.
        Undecided = "not decided",
    }
}

/// What one line cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineCost {
    /// The line, from 1.
    pub line: u32,
    /// Warp instructions.
    pub issues: u64,
    /// Lanes that were active, summed over these.
    pub lanes: u64,
    /// Times the lanes of a warp disagreed where to go.
    pub divergent: u64,
    /// Warp accesses to global memory.
    pub accesses: u64,
    /// 32-byte sectors that these moved.
    pub sectors: u64,
    /// Extra passes of accesses to shared memory.
    pub replays: u64,
}

/// Instructions of a warp in a row on one line with the same active lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Issue {
    /// The block's number.
    pub block: u32,
    /// The warp's number in its block.
    pub warp: u32,
    /// The line, from 1.
    pub line: u32,
    /// A bit for each active lane.
    pub mask: u32,
    /// How many there are.
    pub instructions: u32,
    /// Warp instructions of the run before the first of them.
    pub step: u64,
}

/// Something that went wrong in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Problem {
    /// Warp instructions before it.
    pub step: u64,
    /// What kind it is of, such as "race".
    pub fault: String,
    /// Its line.
    pub line: u32,
    /// The block, x, y and z.
    pub block: [u32; 3],
    /// The thread, x, y and z.
    pub thread: [u32; 3],
    /// What happened.
    pub sentence: String,
    /// Where it reached, if that is outside of a buffer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside: Option<Outside>,
}

/// An element that a buffer does not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outside {
    /// The buffer's name.
    pub buffer: String,
    /// Its number in the buffer, below 0 before its beginning.
    pub at: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recipe_is_small_and_round_trips() {
        let recipe = Recipe {
            source: "__global__ void k(float *x) { x[0] = 1.0f; }".to_owned(),
            grid_dim: [1000, 1000, 1],
            block_dim: [256, 1, 1],
            order: Schedule::Random,
            concurrent_blocks: 2,
            seed: 7,
            arguments: vec![
                Argument::Buffer { elements: 1 << 20, fill: Fill::INDEX },
                Argument::Buffer { elements: 2, fill: Fill::Values(vec![0.1, -3.0]) },
                Argument::Whole(-4),
            ],
            ..Recipe::default()
        };
        let text = serde_json::to_string(&recipe).unwrap();
        assert!(text.len() < 1000, "{text}");
        assert_eq!(serde_json::from_str::<Recipe>(&text).unwrap(), recipe);
    }
}
