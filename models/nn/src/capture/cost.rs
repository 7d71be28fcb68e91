//! What operations cost: bytes moved, and time under a machine's roof.

use crate::capture::layers::Layers;
use crate::capture::lifetime::{self, Recompute, Step};
use crate::capture::saved::GradientNeeds;
use crate::capture::table::{Class, Node, Source, StepPhase, Table};
use mlsys_lab::Tables;
use mlsys_sim::roof::Roof;
use std::collections::{BTreeMap, BTreeSet};

/// What is counted how; all of it may be changed without recording anew.
#[derive(Clone, Debug, PartialEq)]
pub struct CostModel {
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
    Chains,
}

/// One pass over memory: an operation, or a fused chain of them.
#[derive(Clone, Debug)]
pub struct FusedOp {
    pub nodes: Vec<usize>,
    pub flops: u64,
    pub matmul_flops: u64,
    pub bytes: u64,
    /// Of the bytes those of weights, which a batch shares.
    pub weight_bytes: u64,
}

impl FusedOp {
    pub fn seconds(&self, roof: &Roof) -> f64 {
        roof.seconds(self.flops as f64, self.bytes as f64)
    }

    pub fn is_memory_bound(&self, roof: &Roof) -> bool {
        roof.is_memory_bound(self.flops as f64, self.bytes as f64)
    }

    pub fn intensity(&self) -> f64 {
        self.flops as f64 / (self.bytes as f64).max(1.0)
    }

    pub fn arithmetic_joules(&self, counting: &CostModel) -> Option<f64> {
        arithmetic_joules(self.matmul_flops, self.flops - self.matmul_flops, counting)
    }

    pub fn memory_joules(&self) -> Option<f64> {
        memory_joules(self.bytes)
    }
}

/// The passes over memory of some nodes (views move nothing and are left out).
pub fn units(table: &Table, nodes: &[usize], counting: &CostModel) -> Vec<FusedOp> {
    let dataflow = Dataflow::new(table, nodes);
    let mut chains: Vec<Vec<usize>> = Vec::new();
    let mut chain_of: BTreeMap<usize, usize> = BTreeMap::new();
    for &index in nodes.iter().filter(|&&index| !table.nodes[index].is_view()) {
        let before = match counting.fusing {
            Fusing::Apart => None,
            Fusing::Chains => dataflow.joins(index),
        };
        let chain = before.and_then(|before| chain_of.get(&before).copied());
        let chain = chain.unwrap_or(chains.len());
        if chain == chains.len() {
            chains.push(Vec::new());
        }
        chains[chain].push(index);
        chain_of.insert(index, chain);
    }
    let unit = |nodes: Vec<usize>| {
        let moved = dataflow.numbers_moved(&nodes);
        FusedOp {
            flops: nodes.iter().map(|&n| table.nodes[n].flops()).sum(),
            matmul_flops: nodes.iter().map(|&n| table.nodes[n].matmul_flops).sum(),
            bytes: counting.bytes * moved.all,
            weight_bytes: counting.bytes * moved.weights,
            nodes,
        }
    };
    chains.into_iter().map(unit).collect()
}

/// Some nodes of a table with the readers of each tensor.
struct Dataflow<'a> {
    table: &'a Table,
    nodes: BTreeSet<usize>,
    /// The nodes that read a memory, views left out.
    readers: BTreeMap<usize, BTreeSet<usize>>,
}

impl<'a> Dataflow<'a> {
    fn new(table: &'a Table, nodes: &[usize]) -> Self {
        let mut readers: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for &index in nodes.iter().filter(|&&index| !table.nodes[index].is_view()) {
            for &input in &table.nodes[index].inputs {
                readers.entry(table.storage(input)).or_default().insert(index);
            }
        }
        Self { table, nodes: nodes.iter().copied().collect(), readers }
    }

    /// The elementwise node whose only reader is this elementwise node, which has as many numbers.
    fn joins(&self, index: usize) -> Option<usize> {
        let table = self.table;
        let fusible = |node: usize| {
            let node = &table.nodes[node];
            let size = table.tensors[node.output].numbers();
            (node.class == Class::Elementwise).then_some(size)
        };
        let size = fusible(index)?;
        table.nodes[index].inputs.iter().find_map(|&input| {
            let before = table.producer(input)?;
            let readers = self.readers.get(&table.storage(input))?;
            let fits = fusible(before) == Some(size) && self.nodes.contains(&before);
            (fits && readers.iter().eq([&index])).then_some(before)
        })
    }

    /// Numbers that a chain reads and writes: operands from outside and results that are read outside or not at all.
    fn numbers_moved(&self, chain: &[usize]) -> Moved {
        let table = self.table;
        let made: BTreeSet<usize> = chain.iter().map(|&index| table.nodes[index].output).collect();
        let mut read = BTreeSet::new();
        let mut moved = Moved { all: 0, weights: 0 };
        for &index in chain {
            let node = &table.nodes[index];
            for (place, &input) in node.inputs.iter().enumerate() {
                if !made.contains(&table.storage(input)) && read.insert(input) {
                    let read = numbers_read(table, node, place, input);
                    let source = &table.tensors[table.storage(input)].source;
                    let is_weight = matches!(source, Source::Parameter(_));
                    moved.all += read;
                    if is_weight && !is_looked_up(node, place) {
                        moved.weights += read;
                    }
                }
            }
            let readers = self.readers.get(&node.output);
            let stays = readers.is_some_and(|all| all.iter().all(|reader| chain.contains(reader)));
            if chain.len() == 1 || !stays {
                moved.all += table.tensors[node.output].numbers();
            }
        }
        moved
    }
}

/// Numbers that are read and written, and those of them that are weights, as many for any batch.
struct Moved {
    all: u64,
    weights: u64,
}

/// Whether an operand is a table of which rows are taken.
fn is_looked_up(node: &Node, place: usize) -> bool {
    place == 0 && matches!(node.name.as_str(), "gather" | "select" | "embedding")
}

/// Numbers of an operand that are read: of a table that is looked up, only the rows that are taken; of a view that
/// repeats its memory, the memory.
fn numbers_read(table: &Table, node: &Node, place: usize, input: usize) -> u64 {
    let own = table.tensors[input].numbers();
    let own = own.min(table.tensors[table.storage(input)].numbers());
    match is_looked_up(node, place) {
        true => own.min(table.tensors[node.output].numbers()),
        false => own,
    }
}

// The lab's numbers, from the table.

pub struct Costs {
    /// Operations of the forward pass by name, views left out.
    pub operations: BTreeMap<String, u64>,
    pub matmul_flops: u64,
    pub other_flops: u64,
    pub backward_matmul_flops: u64,
    pub units: Vec<FusedOp>,
    /// Intensity of every layer's largest product.
    pub products: Vec<(String, f64)>,
    pub memory_bound_share: f64,
    pub step: Step,
    pub saved_bytes: u64,
    pub inference_peak_bytes: u64,
    pub training_peak_bytes: u64,
    pub arithmetic_joules: Option<f64>,
    pub memory_joules: Option<f64>,
    pub recorded: RecordedBackward,
}

/// What burn recorded beyond the forward pass.
#[derive(Clone, Debug, Default)]
pub struct RecordedBackward {
    pub backward_operations: u64,
    pub update_operations: u64,
    pub matmul_flops: u64,
    /// Activations that its backward pass reads, as memory.
    pub reads: BTreeSet<usize>,
    pub saved_bytes: u64,
}

impl Costs {
    pub fn new(
        table: &Table,
        needs: &GradientNeeds,
        layers: &Layers,
        counting: &CostModel,
    ) -> Self {
        let forward: Vec<usize> = table.forward().map(|(index, _)| index).collect();
        let mut operations = BTreeMap::new();
        for (_, node) in table.operations() {
            *operations.entry(node.name.clone()).or_insert(0) += 1;
        }
        let sum =
            |of: &dyn Fn(&Node) -> u64| table.forward().map(|(_, node)| of(node)).sum::<u64>();
        let matmul_flops = sum(&|node| node.matmul_flops);
        let other_flops = sum(&|node| node.other_flops);
        let backward_matmul_flops = sum(&|node| node.matmul_flops * needs.wanted(node));
        let units = units(table, &forward, counting);
        let roof = &counting.roof;
        let all: f64 = units.iter().map(|unit| unit.seconds(roof)).sum();
        let memory_bound = units.iter().filter(|unit| unit.is_memory_bound(roof));
        let memory_bound: f64 = memory_bound.map(|unit| unit.seconds(roof)).sum();
        let step = Step::new(table, needs, layers, counting.recompute);
        let moved: u64 = units.iter().map(|unit| unit.bytes).sum();
        Self {
            operations,
            matmul_flops,
            other_flops,
            backward_matmul_flops,
            products: products(table, layers, &units),
            memory_bound_share: if all > 0.0 { memory_bound / all } else { 0.0 },
            saved_bytes: counting.bytes * step.kept,
            inference_peak_bytes: counting.bytes * lifetime::inference_peak(table),
            training_peak_bytes: counting.bytes * step.peak(),
            arithmetic_joules: arithmetic_joules(matmul_flops, other_flops, counting),
            memory_joules: memory_joules(moved),
            recorded: recorded(table, counting),
            step,
            units,
        }
    }

    pub fn moved_bytes(&self) -> u64 {
        self.units.iter().map(|unit| unit.bytes).sum()
    }

    /// The energy of memory accesses for one example without others to share the weights; constants count as its own.
    pub fn memory_joules_alone(&self, batch: usize) -> Option<f64> {
        let weights: u64 = self.units.iter().map(|unit| unit.weight_bytes).sum();
        memory_joules(weights + (self.moved_bytes() - weights) / batch.max(1) as u64)
    }

    pub fn intensity(&self) -> f64 {
        (self.matmul_flops + self.other_flops) as f64 / (self.moved_bytes() as f64).max(1.0)
    }
}

/// The intensity of every layer's largest product, by the layer's name in metrics.
fn products(table: &Table, layers: &Layers, units: &[FusedOp]) -> Vec<(String, f64)> {
    let mut largest: Vec<(String, &FusedOp)> = Vec::new();
    for unit in units {
        let product = unit.nodes.iter().find(|&&node| table.nodes[node].matmul_flops > 0);
        let layer = product.and_then(|&node| layers.paths[layers.of[node]?].first());
        let Some(layer) = layer else { continue };
        match largest.iter_mut().find(|(known, _)| known == layer) {
            Some((_, known)) if known.flops >= unit.flops => {}
            Some((_, known)) => *known = unit,
            None => largest.push((layer.clone(), unit)),
        }
    }
    largest.into_iter().map(|(layer, unit)| (layer, unit.intensity())).collect()
}

fn picojoules(operation: &str) -> Option<f64> {
    let field = Tables::builtin().field("operation", operation, "picojoules");
    field.and_then(|value| value.as_f64())
}

/// Every word of 32 bits comes from DRAM or goes there.
fn memory_joules(bytes: u64) -> Option<f64> {
    picojoules("dram-32b").map(|word| bytes as f64 / 4.0 * word * 1e-12)
}

/// A multiply-add is a multiplication and an addition; every other operation counts as an addition.
fn arithmetic_joules(matmul: u64, other: u64, counting: &CostModel) -> Option<f64> {
    let format = if counting.half { "fp16" } else { "fp32" };
    let add = picojoules(&format!("{format}-add"))?;
    let multiply = picojoules(&format!("{format}-mul"))?;
    Some((matmul as f64 / 2.0 * (add + multiply) + other as f64 * add) * 1e-12)
}

fn recorded(table: &Table, counting: &CostModel) -> RecordedBackward {
    let mut recorded = RecordedBackward::default();
    for node in table.nodes.iter().filter(|node| !node.is_view()) {
        match node.pass {
            StepPhase::Forward | StepPhase::Loss => {}
            StepPhase::Update(_) => recorded.update_operations += 1,
            StepPhase::Backward => {
                recorded.backward_operations += 1;
                recorded.matmul_flops += node.matmul_flops;
                let reads = node.inputs.iter().map(|&input| table.storage(input));
                recorded.reads.extend(reads.filter(|&storage| {
                    let tensor = &table.tensors[storage];
                    let inside = matches!(tensor.source, Source::Input | Source::Inside(_));
                    let producer = table.producer(storage);
                    let of_forward =
                        producer.is_some_and(|node| table.nodes[node].pass.is_forward());
                    (inside || of_forward) && tensor.real
                }));
            }
        }
    }
    let numbers = recorded.reads.iter().map(|&read| table.tensors[read].numbers());
    recorded.saved_bytes = counting.bytes * numbers.sum::<u64>();
    recorded
}
