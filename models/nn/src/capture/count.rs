//! The lab's numbers, from the table.

use std::collections::{BTreeMap, BTreeSet};

use mlsys_lab::Tables;

use super::cost::{self, Counting, Unit};
use super::layers::Layers;
use super::life::{self, Step};
use super::saved::Needs;
use super::table::{Pass, Source, Table};

/// Everything that is counted; recounted when a knob is turned.
pub struct Count {
    /// Operations of the forward pass by name, views left out.
    pub operations: BTreeMap<String, u64>,
    pub matmul_flops: u64,
    pub other_flops: u64,
    pub backward_matmul_flops: u64,
    /// Passes over memory of the forward pass.
    pub units: Vec<Unit>,
    /// Intensity of every layer's largest product.
    pub products: Vec<(String, f64)>,
    pub memory_bound_share: f64,
    /// The training step by rule.
    pub step: Step,
    pub saved_bytes: u64,
    pub inference_peak_bytes: u64,
    pub training_peak_bytes: u64,
    pub arithmetic_joules: Option<f64>,
    pub memory_joules: Option<f64>,
    /// What burn's own backward pass does.
    pub recorded: Recorded,
}

/// What burn recorded beyond the forward pass.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    pub backward_operations: u64,
    pub update_operations: u64,
    pub matmul_flops: u64,
    /// Activations that its backward pass reads, as memory.
    pub reads: BTreeSet<usize>,
    pub saved_bytes: u64,
}

impl Count {
    pub fn new(table: &Table, needs: &Needs, layers: &Layers, counting: &Counting) -> Self {
        let forward: Vec<usize> = table.forward().map(|(index, _)| index).collect();
        let mut operations = BTreeMap::new();
        for (_, node) in table.operations() {
            *operations.entry(node.name.clone()).or_insert(0) += 1;
        }
        let sum = |of: &dyn Fn(usize) -> u64| forward.iter().map(|&index| of(index)).sum::<u64>();
        let matmul_flops = sum(&|index| table.nodes[index].matmul_flops);
        let other_flops = sum(&|index| table.nodes[index].other_flops);
        let backward_matmul_flops = sum(&|index| {
            let node = &table.nodes[index];
            node.matmul_flops * needs.wanted(node)
        });
        let units = cost::units(table, &forward, counting);
        let roof = &counting.roof;
        let seconds = |bound: &dyn Fn(&Unit) -> bool| -> f64 {
            let units = units.iter().filter(|unit| bound(unit));
            units.map(|unit| unit.seconds(roof)).sum()
        };
        let all = seconds(&|_| true);
        let memory_bound = seconds(&|unit| unit.is_memory_bound(roof));
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
            inference_peak_bytes: counting.bytes * life::inference_peak(table),
            training_peak_bytes: counting.bytes * step.peak(),
            arithmetic_joules: arithmetic_joules(matmul_flops, other_flops, counting),
            memory_joules: picojoules("dram-32b").map(|word| moved as f64 / 4.0 * word * 1e-12),
            recorded: recorded(table, counting),
            step,
            units,
        }
    }

    /// Bytes that the forward pass moves.
    pub fn moved_bytes(&self) -> u64 {
        self.units.iter().map(|unit| unit.bytes).sum()
    }

    /// Operations per byte of the forward pass.
    pub fn intensity(&self) -> f64 {
        (self.matmul_flops + self.other_flops) as f64 / (self.moved_bytes() as f64).max(1.0)
    }
}

/// The intensity of every layer's largest product, by the layer's name in metrics.
fn products(table: &Table, layers: &Layers, units: &[Unit]) -> Vec<(String, f64)> {
    let mut largest: Vec<(String, &Unit)> = Vec::new();
    for unit in units {
        let Some(&node) = unit.nodes.iter().find(|&&n| table.nodes[n].matmul_flops > 0) else {
            continue;
        };
        let layer = layers.of[node].and_then(|layer| layers.paths[layer].first());
        let Some(layer) = layer else { continue };
        match largest.iter_mut().find(|(known, _)| known == layer) {
            Some((_, known)) if known.flops >= unit.flops => {}
            Some((_, known)) => *known = unit,
            None => largest.push((layer.clone(), unit)),
        }
    }
    let intensity = |(layer, unit): (String, &Unit)| (layer, unit.intensity());
    largest.into_iter().map(intensity).collect()
}

fn picojoules(operation: &str) -> Option<f64> {
    let field = Tables::builtin().field("operation", operation, "picojoules");
    field.and_then(|value| value.as_f64())
}

/// A multiply-add is a multiplication and an addition; every other operation counts as an addition.
fn arithmetic_joules(matmul: u64, other: u64, counting: &Counting) -> Option<f64> {
    let format = if counting.half { "fp16" } else { "fp32" };
    let add = picojoules(&format!("{format}-add"))?;
    let multiply = picojoules(&format!("{format}-mul"))?;
    Some((matmul as f64 / 2.0 * (add + multiply) + other as f64 * add) * 1e-12)
}

fn recorded(table: &Table, counting: &Counting) -> Recorded {
    let mut recorded = Recorded::default();
    for node in table.nodes.iter().filter(|node| !node.is_view()) {
        match node.pass {
            Pass::Forward | Pass::Loss => {}
            Pass::Update(_) => recorded.update_operations += 1,
            Pass::Backward => {
                recorded.backward_operations += 1;
                recorded.matmul_flops += node.matmul_flops;
                for &input in &node.inputs {
                    let storage = table.storage(input);
                    let of_forward = match table.tensors[storage].source {
                        Source::Input | Source::Inside(_) => true,
                        Source::Node(node) => {
                            matches!(table.nodes[node].pass, Pass::Forward | Pass::Loss)
                        }
                        Source::Labels
                        | Source::Parameter(_)
                        | Source::Constant
                        | Source::Moment => false,
                    };
                    if of_forward && table.tensors[storage].real {
                        recorded.reads.insert(storage);
                    }
                }
            }
        }
    }
    let numbers = recorded.reads.iter().map(|&read| table.tensors[read].numbers());
    recorded.saved_bytes = counting.bytes * numbers.sum::<u64>();
    recorded
}
