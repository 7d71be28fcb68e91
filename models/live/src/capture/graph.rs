//! The recorded step as a graph that folds by layer.

use std::collections::BTreeMap;

use mlsys_lab::frame::{Direction, Edge, Fact, Graph, Group, Node, NodeKind, Step};
use mlsys_lab::{Frame, Value};
use mlsys_nn::capture::table::{Source, StepPhase};

use super::record::{PanelData, layer, names, written_out};

/// Nodes beyond which only the forward pass is drawn.
const MOST_NODES: usize = 1500;

/// Forward, backward and update; parameters and inputs as nodes of their own, groups by pass and layer.
pub(super) fn draw_graph(shown: PanelData<'_>) -> Frame {
    let table = &shown.record.table;
    let all = table.nodes.len() <= MOST_NODES;
    let mut drawing = Drawing {
        shown,
        graph: Graph::default(),
        of_tensor: BTreeMap::new(),
        groups: BTreeMap::new(),
        seconds: seconds(shown),
        names: names(shown.record),
    };
    for index in 0..table.nodes.len() {
        let is_forward = matches!(table.nodes[index].pass, StepPhase::Forward | StepPhase::Loss);
        if all || is_forward {
            drawing.add(index);
        }
    }
    drawing.sum_up();
    Frame::Graph(drawing.graph)
}

/// The share of time of every forward node; of a fused chain, at its last.
fn seconds(shown: PanelData<'_>) -> BTreeMap<usize, f64> {
    let roof = &shown.counting.roof;
    let units = &shown.count.units;
    let all: f64 = units.iter().map(|unit| unit.seconds(roof)).sum();
    let share = |unit: &mlsys_nn::capture::cost::FusedOp| {
        let last = unit.nodes.last().copied()?;
        Some((last, unit.seconds(roof) / all.max(f64::MIN_POSITIVE)))
    };
    units.iter().filter_map(share).collect()
}

struct Drawing<'a> {
    shown: PanelData<'a>,
    graph: Graph,
    of_tensor: BTreeMap<usize, usize>,
    /// Drawn groups by their names from the outermost in.
    groups: BTreeMap<Vec<String>, usize>,
    seconds: BTreeMap<usize, f64>,
    names: Vec<String>,
}

impl Drawing<'_> {
    fn add(&mut self, index: usize) {
        let record = self.shown.record;
        let table = &record.table;
        let node = &table.nodes[index];
        let group = self.group_of(index);
        let sources: Vec<(usize, usize)> =
            node.inputs.iter().map(|&input| (self.source(input, group), input)).collect();
        let drawn = self.graph.nodes.len();
        let is_output = node.output == table.loss || node.output == table.logits;
        let (kind, direction) = match node.pass {
            StepPhase::Forward | StepPhase::Loss if is_output => {
                (NodeKind::Output, Direction::Forward)
            }
            StepPhase::Forward | StepPhase::Loss => (NodeKind::Operation, Direction::Forward),
            StepPhase::Backward => (NodeKind::Backward, Direction::Backward),
            StepPhase::Update(_) => (NodeKind::Update, Direction::Update),
        };
        let kind = if node.is_view() { NodeKind::View } else { kind };
        self.graph.nodes.push(Node {
            label: self.names[index].clone(),
            operation: written_out(record, index),
            kind,
            group,
            facts: self.facts(index),
        });
        self.of_tensor.insert(node.output, drawn);
        for (from, input) in sources {
            self.graph.edges.push(Edge { from, to: drawn, label: table.tensors[input].sizes() });
        }
        if !node.is_view() {
            let result = table.tensors[node.output].sizes();
            let flops = match node.flops() {
                0 => String::new(),
                flops => format!(", {flops} flops"),
            };
            self.graph.walk.push(Step {
                pass: direction,
                node: drawn,
                edge: None,
                marks: Vec::new(),
                text: format!("{} -> {result}{flops}", written_out(record, index)),
            });
        }
    }

    /// The drawn node that a tensor comes from; a new one for what no drawn node computes.
    fn source(&mut self, tensor: usize, reader: Option<usize>) -> usize {
        if let Some(&drawn) = self.of_tensor.get(&tensor) {
            return drawn;
        }
        let table = &self.shown.record.table;
        let found = &table.tensors[tensor];
        let (label, kind, group) = match found.source {
            Source::Input => ("input".to_owned(), NodeKind::Input, None),
            Source::Labels => ("labels".to_owned(), NodeKind::Input, None),
            Source::Parameter(index) => {
                let name = &self.shown.record.layers.parameters[index];
                let own = name.rsplit('.').next().unwrap_or(name);
                (own.to_owned(), NodeKind::Parameter, reader)
            }
            Source::Moment => ("moment".to_owned(), NodeKind::Constant, reader),
            Source::Constant => ("constant".to_owned(), NodeKind::Constant, reader),
            // Autodiff reads a result inside of a forward node: it is that node's.
            Source::Inside(node) | Source::Node(node) => {
                if let Some(&drawn) = self.of_tensor.get(&table.nodes[node].output) {
                    self.of_tensor.insert(tensor, drawn);
                    return drawn;
                }
                ("result".to_owned(), NodeKind::Constant, reader)
            }
        };
        let drawn = self.graph.nodes.len();
        let numbers = found.numbers() as i64;
        let facts = vec![Fact::new("shape", found.sizes(), ""), Fact::new("numbers", numbers, "")];
        self.graph.nodes.push(Node { label, operation: String::new(), kind, group, facts });
        self.of_tensor.insert(tensor, drawn);
        drawn
    }

    /// The group of a node: its pass unless it is the forward one, then its layer from the outermost in.
    fn group_of(&mut self, index: usize) -> Option<usize> {
        let record = self.shown.record;
        let pass = match record.table.nodes[index].pass {
            StepPhase::Forward | StepPhase::Loss => None,
            StepPhase::Backward => Some("backward"),
            StepPhase::Update(_) => Some("update"),
        };
        let layer = record.layers.of.get(index).copied().flatten();
        let layer = layer.map(|layer| record.layers.paths[layer].clone());
        let path: Vec<String> =
            pass.map(str::to_owned).into_iter().chain(layer.into_iter().flatten()).collect();
        let mut parent = None;
        for depth in 1..=path.len() {
            let known = self.groups.get(&path[..depth]).copied();
            parent = Some(known.unwrap_or_else(|| {
                let name = path[depth - 1].clone();
                self.graph.groups.push(Group { name, parent, facts: Vec::new() });
                self.groups.insert(path[..depth].to_vec(), self.graph.groups.len() - 1);
                self.graph.groups.len() - 1
            }));
        }
        parent
    }

    fn facts(&self, index: usize) -> Vec<Fact> {
        let PanelData { record, counting, .. } = self.shown;
        let table = &record.table;
        let node = &table.nodes[index];
        let output = &table.tensors[node.output];
        let kind = if output.real { "f32" } else { "whole numbers" };
        let mut facts = vec![
            Fact::new("result", output.sizes(), ""),
            Fact::new("of", kind, ""),
            Fact::new("layer", layer(record, index), ""),
        ];
        if node.is_view() {
            facts.push(Fact::new("moves", "nothing: a view", ""));
            return facts;
        }
        facts.push(Fact::new("flops", node.flops() as i64, ""));
        let alone = mlsys_nn::capture::cost::units(table, &[index], counting);
        if let Some(unit) = alone.first() {
            facts.push(Fact::new("moves", unit.bytes as i64, "bytes"));
            facts.push(Fact::new("intensity", unit.intensity(), "flops/byte"));
        }
        if let Some(share) = self.seconds.get(&index) {
            facts.push(Fact::new("time of forward", 100.0 * share, "%"));
        }
        if node.inside.len() > 1 {
            facts.push(Fact::new("under autodiff", node.inside.join(", "), ""));
        }
        facts
    }

    /// The label of a folded group: its operations and their cost.
    fn sum_up(&mut self) {
        let mut sums = vec![(0_i64, 0_i64); self.graph.groups.len()];
        for node in &self.graph.nodes {
            let flops = node.facts.iter().find(|fact| fact.name == "flops");
            let Some(Value::Int(flops)) = flops.map(|fact| &fact.value) else { continue };
            let mut group = node.group;
            while let Some(place) = group {
                sums[place].0 += 1;
                sums[place].1 = sums[place].1.saturating_add(*flops);
                group = self.graph.groups[place].parent;
            }
        }
        for (group, (operations, flops)) in self.graph.groups.iter_mut().zip(sums) {
            group.facts =
                vec![Fact::new("operations", operations, ""), Fact::new("flops", flops, "")];
        }
    }
}
