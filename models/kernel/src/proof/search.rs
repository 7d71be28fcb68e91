//! Small launches that are run, the smallest first: what a kernel is refuted by.

use crate::diagnostic::Place;
use crate::machine::{AccessKind, Fault, Finding, Launch, Machine, Reach};
use crate::proof::model::{BlockRule, Contract, Given, GridRule, polynomial};
use crate::proof::polynomial::Polynomial;
use crate::{Kernel, recipe};
use mlsys_lab::frame::kernel as frame;
use std::collections::BTreeMap;

/// A thread of the run, and where it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Party {
    pub block: [u32; 3],
    pub thread: [u32; 3],
    pub place: Place,
    pub kind: AccessKind,
}

/// A launch on which the interpreter saw the fault.
#[derive(Clone, Debug, PartialEq)]
pub struct Witness {
    pub sizes: Vec<(String, i64)>,
    pub launch: Launch,
    pub arguments: Vec<frame::Argument>,
    /// What happened, as the interpreter tells it.
    pub finding: Finding,
    /// The other thread of a race.
    pub second: Option<Party>,
}

/// Launches that are run, and instructions that all of them may take together.
const MOST_RUNS: u32 = 1500;
const MOST_INSTRUCTIONS: u64 = 2_000_000;

/// Of one launch: a loop that takes more is given up.
pub const MOST_OF_ONE: u64 = 100_000;

/// Elements that a launch may need.
const MOST_ELEMENTS: i64 = 1 << 16;

/// One launch of a contract.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    pub(super) sizes: Vec<i64>,
    pub(super) block: [u32; 3],
    /// Blocks beyond those needed, along each axis that may have more.
    pub(super) extra: u32,
}

/// The faults that a proof excludes.
pub(super) const REFUTING: [Fault; 3] = [Fault::OutOfBounds, Fault::Race, Fault::BarrierDivergence];

impl Sample {
    /// The machine before its first step; none if there is no such launch.
    pub(super) fn start(&self, kernel: &Kernel, contract: &Contract) -> Option<Machine> {
        let (launch, given) = self.launch(contract)?;
        kernel.launch(launch, &recipe::arguments(kernel, &given)).ok()
    }

    /// The launch and its arguments.
    fn launch(&self, contract: &Contract) -> Option<(Launch, Vec<frame::Argument>)> {
        let mut names: BTreeMap<String, Polynomial> = BTreeMap::new();
        for (name, value) in contract.sizes.iter().zip(&self.sizes) {
            names.insert(name.clone(), Polynomial::constant(*value));
        }
        for (axis, extent) in ["x", "y", "z"].into_iter().zip(self.block) {
            names.insert(format!("blockDim.{axis}"), Polynomial::constant(i64::from(extent)));
        }
        let mut grid = [1_u32; 3];
        for (axis, rule) in contract.grid.iter().enumerate() {
            let value = |formula: &String| polynomial(formula, &names)?.known();
            let blocks = match rule {
                GridRule::One => 1,
                GridRule::Any => 1 + i64::from(self.extra),
                GridRule::Exactly(formula) => value(formula)?,
                GridRule::Covers(formula) => {
                    let by = i64::from(self.block[axis]);
                    (value(formula)? + by - 1).div_euclid(by).max(1) + i64::from(self.extra)
                }
            };
            grid[axis] = u32::try_from(blocks).ok()?;
        }
        for (axis, extent) in ["x", "y", "z"].into_iter().zip(grid) {
            names.insert(format!("gridDim.{axis}"), Polynomial::constant(i64::from(extent)));
        }
        let number = |formula: &String| polynomial(formula, &names)?.known();
        let mut arguments = Vec::new();
        for given in &contract.given {
            arguments.push(match given {
                Given::Buffer { length, fill } => {
                    let length = number(length).filter(|n| (0..=MOST_ELEMENTS).contains(n))?;
                    frame::Argument::Buffer { elements: length as usize, fill: fill.clone() }
                }
                Given::Whole(formula) => frame::Argument::Whole(number(formula)?),
                Given::Real(value) => frame::Argument::Real(*value),
            });
        }
        let dynamic_shared = u32::try_from(number(&contract.dynamic_shared)?).ok()?;
        let (grid_dim, block_dim) = (grid, self.block);
        Some((Launch { grid_dim, block_dim, dynamic_shared, ..Launch::line(1, 1) }, arguments))
    }

    /// What goes wrong in this launch, and the instructions it took.
    fn run(&self, kernel: &Kernel, contract: &Contract) -> (Option<Witness>, u64) {
        let Some(mut machine) = self.start(kernel, contract) else { return (None, 0) };
        machine.run(MOST_OF_ONE);
        let refutes = |finding: &&Finding| REFUTING.contains(&finding.fault);
        let found = machine.findings().listed().iter().find(refutes).cloned();
        let witness = found.zip(self.launch(contract)).map(|(finding, (_, arguments))| Witness {
            sizes: contract.sizes.iter().cloned().zip(self.sizes.iter().copied()).collect(),
            launch: machine.launch().clone(),
            arguments,
            second: self.other(kernel, contract, &finding),
            finding,
        });
        (witness, machine.clock())
    }

    /// The last access before a race that races with it, by stepping there again.
    fn other(&self, kernel: &Kernel, contract: &Contract, finding: &Finding) -> Option<Party> {
        if finding.fault != Fault::Race {
            return None;
        }
        let mut machine = self.start(kernel, contract)?;
        let mut seen: Vec<(Party, u32, Reach)> = Vec::new();
        while machine.clock() <= finding.step {
            let Some(step) = machine.step() else { break };
            let last = machine.last_access(step.block, step.warp as usize);
            let Some((epoch, access, reached)) = last else { continue };
            if access.place != step.place {
                continue;
            }
            for (lane, reach) in reached.into_iter().enumerate() {
                let Some(reach) = reach else { continue };
                let thread = machine.thread(step.warp * 32 + lane as u32);
                let block = machine.block_id(step.block);
                let party = Party { block, thread, place: step.place, kind: access.kind };
                seen.push((party, epoch, reach));
            }
        }
        let own = |(party, ..): &&(Party, u32, Reach)| {
            (party.block, party.thread, party.place)
                == (finding.block, finding.thread, finding.place)
        };
        let (Party { kind, .. }, epoch, reach) = seen.iter().rfind(own)?;
        let races = |(party, at, to): &&(Party, u32, Reach)| {
            let together = party.block != finding.block || at == epoch;
            let both = |of: AccessKind| *kind == of && party.kind == of;
            let orders = both(AccessKind::Load) || both(AccessKind::Atomic);
            let same = (party.block, party.thread) == (finding.block, finding.thread);
            let shared = party.block == finding.block || !matches!(to, Reach::Shared { .. });
            to == reach && together && !orders && !same && shared
        };
        seen.iter().rfind(races).map(|(party, ..)| *party)
    }
}

/// The first launch that goes wrong: by the sum of sizes and extents of the block, then by the block, then by the sizes.
pub(super) fn smallest(kernel: &Kernel, contract: &Contract) -> Option<Witness> {
    let (dimensions, fixed) = match contract.block {
        BlockRule::Exactly(block) => (0, Some(block)),
        BlockRule::Dimensions(count) => (count, None),
    };
    search(kernel, contract, dimensions, fixed, MOST_RUNS)
}

/// The first launch with blocks of one size that goes wrong.
pub(super) fn smallest_of(
    kernel: &Kernel,
    contract: &Contract,
    block: [u32; 3],
) -> Option<Witness> {
    let small = search(kernel, contract, 0, Some(block), MOST_RUNS / 5);
    small.or_else(|| {
        // Sizes at which a block is just full, or a second one begins, and one beyond most tiles.
        let threads: u32 = block.iter().product();
        let threads = i64::from(threads);
        let around = [threads - 1, threads, threads + 1, 2 * threads + 1, 4097];
        let mut sizes: Vec<Vec<i64>> = vec![Vec::new()];
        for _ in &contract.sizes {
            let longer = |list: &Vec<i64>| {
                [1, 2]
                    .into_iter()
                    .chain(around)
                    .map(|next| [&list[..], &[next]].concat())
                    .collect::<Vec<_>>()
            };
            sizes = sizes.iter().flat_map(longer).take(400).collect();
        }
        let samples = sizes.into_iter().map(|sizes| Sample { sizes, block, extra: 0 });
        samples.filter(|s| s.sizes.iter().all(|n| *n > 0)).find_map(|s| s.run(kernel, contract).0)
    })
}

fn search(
    kernel: &Kernel,
    contract: &Contract,
    dimensions: usize,
    fixed: Option<[u32; 3]>,
    mut runs: u32,
) -> Option<Witness> {
    let free = contract.grid.iter().any(|rule| match rule {
        GridRule::One | GridRule::Exactly(_) => false,
        GridRule::Covers(_) | GridRule::Any => true,
    });
    let parts = dimensions + contract.sizes.len();
    let mut instructions = 0;
    for total in parts.. {
        if parts == 0 && total > 0 {
            return None;
        }
        // A block more than needed counts as much as a larger size.
        for extra in 0..=u32::from(free) {
            for numbers in sums(parts, total as i64 - i64::from(extra)) {
                let mut block = fixed.unwrap_or([1; 3]);
                for (extent, number) in block.iter_mut().zip(&numbers[..dimensions]) {
                    *extent = *number as u32;
                }
                let sample = Sample { sizes: numbers[dimensions..].to_vec(), block, extra };
                let (witness, took) = sample.run(kernel, contract);
                instructions += took + 16;
                runs = runs.saturating_sub(1);
                if witness.is_some() {
                    return witness;
                }
                if runs == 0 || instructions > MOST_INSTRUCTIONS {
                    return None;
                }
            }
        }
    }
    None
}

/// Lists of numbers of at least 1 with a sum, in ascending order.
fn sums(parts: usize, total: i64) -> Vec<Vec<i64>> {
    if parts == 0 {
        return if total == 0 { vec![Vec::new()] } else { Vec::new() };
    }
    if parts == 1 {
        return if total > 0 { vec![vec![total]] } else { Vec::new() };
    }
    let rest = |first| {
        sums(parts - 1, total - first).into_iter().map(move |mut list| {
            list.insert(0, first);
            list
        })
    };
    (1..total).flat_map(rest).collect()
}
