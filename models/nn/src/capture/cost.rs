//! What operations cost: bytes moved, and time under a machine's roof.

use std::collections::{BTreeMap, BTreeSet};

use mlsys_sim::roof::Roof;

use super::table::{Node, Source, Table};

/// What is counted how; all of it may be changed without recording anew.
#[derive(Clone, Debug, PartialEq)]
pub struct Counting {
    /// Of one number.
    pub bytes: u64,
    pub fusing: Fusing,
    pub recompute: Recompute,
    pub roof: Roof,
    /// Whether numbers have 16 bits, for their energy.
    pub half: bool,
}

/// Whether neighbouring elementwise operations are done in one pass over memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fusing {
    /// Every operation reads its operands and writes its result.
    Apart,
    /// A chain reads what comes in and writes what goes out.
    Chains,
}

/// What is computed again in the backward pass instead of kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recompute {
    /// Nothing.
    Nothing,
    /// Results of elementwise operations.
    Elementwise,
    /// All inside a block (a layer where there are no blocks): only what goes into it is kept.
    Blocks,
}

/// One pass over memory: an operation, or a fused chain of them.
#[derive(Clone, Debug)]
pub struct Unit {
    /// Its nodes in order.
    pub nodes: Vec<usize>,
    pub flops: u64,
    pub bytes: u64,
}

impl Unit {
    /// Seconds under a roof.
    pub fn seconds(&self, roof: &Roof) -> f64 {
        roof.seconds(self.flops as f64, self.bytes as f64)
    }

    /// Whether memory limits it.
    pub fn is_memory_bound(&self, roof: &Roof) -> bool {
        roof.is_memory_bound(self.flops as f64, self.bytes as f64)
    }

    /// Operations per byte.
    pub fn intensity(&self) -> f64 {
        self.flops as f64 / (self.bytes as f64).max(1.0)
    }
}

/// The passes over memory of some nodes (views move nothing and are left out).
pub fn units(table: &Table, nodes: &[usize], counting: &Counting) -> Vec<Unit> {
    let part = Part::of(table, nodes);
    let mut chains: Vec<Vec<usize>> = Vec::new();
    let mut chain_of: BTreeMap<usize, usize> = BTreeMap::new();
    for &index in nodes.iter().filter(|&&index| !table.nodes[index].is_view()) {
        let before = match counting.fusing {
            Fusing::Apart => None,
            Fusing::Chains => part.joins(index),
        };
        let joined = before.and_then(|before| chain_of.get(&before).copied());
        let chain: usize = joined.unwrap_or_else(|| {
            chains.push(Vec::new());
            chains.len() - 1
        });
        chains[chain].push(index);
        chain_of.insert(index, chain);
    }
    let unit = |nodes: Vec<usize>| Unit {
        flops: nodes.iter().map(|&n| table.nodes[n].flops()).sum(),
        bytes: counting.bytes * part.numbers_moved(&nodes),
        nodes,
    };
    chains.into_iter().map(unit).collect()
}

/// Some nodes of a table, and who among them reads what.
struct Part<'a> {
    table: &'a Table,
    nodes: BTreeSet<usize>,
    /// The nodes that read a memory, views left out.
    readers: BTreeMap<usize, Vec<usize>>,
}

impl<'a> Part<'a> {
    fn of(table: &'a Table, nodes: &[usize]) -> Self {
        let mut readers: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for &index in nodes.iter().filter(|&&index| !table.nodes[index].is_view()) {
            for &input in &table.nodes[index].inputs {
                let of_memory = readers.entry(table.storage(input)).or_default();
                if of_memory.last() != Some(&index) {
                    of_memory.push(index);
                }
            }
        }
        Self { table, nodes: nodes.iter().copied().collect(), readers }
    }

    fn readers(&self, storage: usize) -> &[usize] {
        self.readers.get(&storage).map_or(&[], Vec::as_slice)
    }

    /// The elementwise node whose only reader is this elementwise node, which has as many numbers.
    fn joins(&self, index: usize) -> Option<usize> {
        let table = self.table;
        let node = &table.nodes[index];
        if !node.class.is_fusible() {
            return None;
        }
        let size = table.tensors[node.output].numbers();
        node.inputs.iter().find_map(|&input| {
            let storage = table.storage(input);
            let Source::Node(before) = table.tensors[storage].source else {
                return None;
            };
            let fits = table.nodes[before].class.is_fusible()
                && table.tensors[storage].numbers() == size
                && self.nodes.contains(&before);
            (fits && self.readers(storage) == [index]).then_some(before)
        })
    }

    /// Numbers that a chain reads and writes: operands from outside and results that are read outside or by nobody.
    fn numbers_moved(&self, chain: &[usize]) -> u64 {
        let table = self.table;
        let own: BTreeSet<usize> = chain.iter().copied().collect();
        let made: BTreeSet<usize> = own.iter().map(|&index| table.nodes[index].output).collect();
        let mut read = BTreeSet::new();
        let mut moved = 0;
        for &index in chain {
            let node = &table.nodes[index];
            for (place, &input) in node.inputs.iter().enumerate() {
                if !made.contains(&table.storage(input)) && read.insert(input) {
                    moved += numbers_read(table, node, place, input);
                }
            }
            let readers = self.readers(node.output);
            let is_read_outside = readers.iter().any(|reader| !own.contains(reader));
            if chain.len() == 1 || is_read_outside || readers.is_empty() {
                moved += table.tensors[node.output].numbers();
            }
        }
        moved
    }
}

/// Numbers of an operand that are read: of a table that is looked up, only the rows that are taken; of a view that
/// repeats its memory, the memory.
fn numbers_read(table: &Table, node: &Node, place: usize, input: usize) -> u64 {
    let own = table.tensors[input].numbers();
    let own = own.min(table.tensors[table.storage(input)].numbers());
    match (node.name.as_str(), place) {
        ("gather" | "select" | "embedding", 0) => own.min(table.tensors[node.output].numbers()),
        _ => own,
    }
}
