//! What was recorded of a network, and how its operations are called in pictures.

use std::collections::BTreeMap;

use mlsys_nn::capture::cost::{CostModel, Costs};
use mlsys_nn::capture::layers::Layers;
use mlsys_nn::capture::record::{self, Forward, RecordError, Rule};
use mlsys_nn::capture::saved::GradientNeeds;
use mlsys_nn::capture::table::{StepPhase, Table};
use mlsys_nn::networks::{Activation, Architecture};

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Setup {
    pub(super) architecture: Architecture,
    pub(super) activation: Activation,
    pub(super) batch: usize,
    pub(super) rule: Rule,
    pub(super) seed: u64,
}

impl Setup {
    /// What the network is given: examples and numbers of each, or sequences and tokens of each.
    pub(super) fn input(&self) -> [usize; 2] {
        let of_one = match &self.architecture {
            Architecture::Mlp(config) => config.inputs,
            Architecture::Cnn(config) => config.edge * config.edge,
            Architecture::Filters(config) => config.edge * config.edge,
            Architecture::Transformer(config) => config.context,
        };
        [self.batch, of_one]
    }

    pub(super) fn classes(&self) -> usize {
        match &self.architecture {
            Architecture::Mlp(config) => config.outputs,
            Architecture::Cnn(config) => config.outputs,
            Architecture::Filters(config) => config.outputs,
            Architecture::Transformer(config) => config.vocab,
        }
    }
}

pub(super) struct Record {
    pub(super) setup: Setup,
    pub(super) table: Table,
    pub(super) layers: Layers,
    pub(super) needs: GradientNeeds,
}

impl Record {
    /// Records and counts; also returns what burn recorded of the forward pass.
    pub(super) fn new(setup: Setup) -> Result<(Self, Forward), RecordError> {
        let forward = record::forward(&setup.architecture, setup.input(), setup.activation)?;
        let training = record::training(&forward, &setup.architecture, setup.rule)?;
        let table = Table::new(&forward, &training)?;
        let (layers, needs) = (Layers::new(&table), GradientNeeds::new(&table)?);
        Ok((Self { setup, table, layers, needs }, forward))
    }

    pub(super) fn count(&self, counting: &CostModel) -> Costs {
        Costs::new(&self.table, &self.needs, &self.layers, counting)
    }
}

#[derive(Clone, Copy)]
pub(super) struct PanelData<'a> {
    pub(super) record: &'a Record,
    pub(super) count: &'a Costs,
    pub(super) counting: &'a CostModel,
}

/// What a node does, with the shapes of what it reads: `matmul [64, 784] x [784, 512]`.
pub(super) fn written_out(record: &Record, node: usize) -> String {
    let table = &record.table;
    let node = &table.nodes[node];
    let shapes: Vec<String> =
        node.inputs.iter().map(|&input| table.tensors[input].sizes()).collect();
    let between = match node.name.as_str() {
        "matmul" => " x ",
        _ => ", ",
    };
    let shapes = shapes.join(between);
    format!("{} {shapes}", node.name)
}

/// The name of every node, counted where its layer has several of its pass: `matmul`, or `matmul 2`.
pub(super) fn names(record: &Record) -> Vec<String> {
    let table = &record.table;
    let key = |index: usize| {
        let node = &table.nodes[index];
        let pass = match node.pass {
            StepPhase::Forward | StepPhase::Loss => 0,
            StepPhase::Backward => 1,
            StepPhase::Update(parameter) => 2 + parameter,
        };
        (pass, record.layers.of[index], node.name.as_str())
    };
    let mut all = BTreeMap::new();
    for index in 0..table.nodes.len() {
        *all.entry(key(index)).or_insert(0) += 1;
    }
    let mut seen = BTreeMap::new();
    let name = |index: usize| {
        let number = seen.entry(key(index)).or_insert(0);
        *number += 1;
        let name = &table.nodes[index].name;
        match all.get(&key(index)) {
            Some(1) | None => name.clone(),
            Some(_) => format!("{name} {number}"),
        }
    };
    (0..table.nodes.len()).map(name).collect()
}

/// The layer of a node, such as `block1.attention`.
pub(super) fn layer(record: &Record, node: usize) -> String {
    let place = record.layers.of.get(node).copied().flatten();
    let path = place.and_then(|place| record.layers.paths.get(place));
    path.map_or_else(String::new, |path| path.join("."))
}
