//! A proof for every launch: no two threads race, no access leaves its array, and all threads of a block come to each
//! barrier, whatever the sizes, the grid and the block; or the smallest launch on which that fails.
//!
//! Two accesses race as in `machine/memory.rs`: two threads make them, one at least writes, not both are atomic, and no
//! barrier lies between.
//!
//! Method. One symbolic thread walks through the typed tree once (`execute`, `iterations`) and leaves a list of accesses, each
//! with its index, the condition under which it is made and the number of barriers passed, all polynomials over the sizes,
//! the thread's indices and counters of loops. Two copies of the list stand for any two threads: since barriers are the
//! only order between them, no more are needed (the two-thread reduction of GPUVerify: Betts, Chong, Donaldson, Qadeer and
//! Thomson, OOPSLA 2012; barrier intervals and symbolic threads: Li and Gopalakrishnan, PUG, FSE 2010). What is asked of
//! them is whether whole numbers satisfy a conjunction (`questions`), and the Omega test refutes that (`solver`). Products
//! such as `blockIdx.x * blockDim.x` and `row * columns` are variables of their own with one lemma that orders them
//! (delinearization: Maslov 1992; Grosser, Ramanujam, Pouchet, Sadayappan and Pop, ICS 2015). If the block's size cannot stay
//! a symbol, each of the 1,024 is tried.
//!
//! "Proved" follows from refuted conjunctions alone. "Refuted" is a launch that the interpreter ran (`search`), and its fault
//! is the one that was seen. Everything else is "not decided", with a place.
//!
//! Known misses. Assumed is that no whole number leaves its 32 or 64 bits, but for unsigned numbers that a subtraction takes
//! below zero. Values from memory, atomics and shuffles are taken for any number, so an index made of them is not decided.
//! `__syncwarp` orders nothing here. Uninitialized memory, misalignment and wrong results are not looked for. Writes of
//! equal values are not told from races: such a kernel is not decided. A launch that no search reaches (a size near 10,000 that
//! alone goes wrong) is not decided. Termination is not shown.

mod evaluate;
mod execute;
mod executor;
mod iterations;
mod model;
mod polynomial;
mod questions;
mod search;
mod solver;
mod state;
mod symbols;
#[cfg(test)]
pub(crate) mod tests;
mod whole;

use crate::Kernel;
use crate::proof::executor::Executor;
use crate::proof::model::{MOST_THREADS, Model};
use crate::proof::questions::Questions;

pub use crate::proof::model::{BlockRule, Contract, Given, GridRule};
pub use crate::proof::search::{MOST_OF_ONE, Party, Witness};
pub use crate::proof::state::Reason;

#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// For every launch of the contract.
    Proved,
    Refuted(Box<Witness>),
    Undecided(Reason),
}

impl Kernel {
    /// Whether every launch of a contract is free of races, of accesses out of bounds and of split barriers.
    pub fn prove(&self, contract: &Contract) -> Verdict {
        let open = match self.open(contract, None) {
            None => return Verdict::Proved,
            Some(open) => open,
        };
        if let Some(witness) = search::smallest(self, contract) {
            return Verdict::Refuted(Box::new(witness));
        }
        if contract.block == BlockRule::Dimensions(1) {
            for threads in 1..=MOST_THREADS as u32 {
                let block = [threads, 1, 1];
                if let Some(open) = self.open(contract, Some(block)) {
                    let witness = search::smallest_of(self, contract, block);
                    return witness.map_or(Verdict::Undecided(open), |witness| {
                        Verdict::Refuted(Box::new(witness))
                    });
                }
            }
            return Verdict::Proved;
        }
        Verdict::Undecided(open)
    }

    /// What is not shown of all blocks, or those of one size; nothing if all is.
    fn open(&self, contract: &Contract, block: Option<[u32; 3]>) -> Option<Reason> {
        let program = &self.program;
        let Some((model, symbols)) = Model::new(program, contract, block) else {
            let place = program.functions[program.kernel].body.first().map(|first| first.place);
            let sentence = "a length or an extent of the launch is no sum of products".to_owned();
            return Some(Reason { place: place.unwrap_or_default(), sentence });
        };
        match Executor::run(program, &model, symbols) {
            Err(reason) => Some(reason),
            Ok((sites, symbols)) => {
                Questions { program, model: &model, symbols: &symbols }.open(&sites)
            }
        }
    }
}
