//! What is said of the step of a walk and of the node that is looked at.

use mlsys_lab::frame::{Direction, Fact, Graph, NodeKind, Place, Slot};

use super::{Item, Shown, Sight};
use crate::figure::{quantity, unit};
use crate::glyphs::Glyphs;

/// Where the walk stands, and the step written out; nothing without a walk.
pub fn line(graph: &Graph, sight: &Sight) -> Option<String> {
    let of = graph.walk.len();
    if of == 0 {
        return None;
    }
    let done = sight.done(graph);
    let Some(step) = done.checked_sub(1).and_then(|place| graph.walk.get(place)) else {
        return Some(format!("0 of {of}: right takes the first step, end all"));
    };
    Some(format!("{done} of {of}, {}: {}", pass(step.pass), step.text))
}

/// The word for which way a step goes.
pub fn pass(pass: Direction) -> &'static str {
    match pass {
        Direction::Forward => "forward",
        Direction::Backward => "backward",
        Direction::Update => "update",
    }
}

/// What is known of the node or the folded group that is looked at; nothing if nothing is.
pub fn facts(graph: &Graph, sight: &Sight, shown: &Shown, glyphs: &Glyphs) -> Option<String> {
    let node = sight.focus(graph)?;
    let item = shown.box_of.get(node).copied().flatten();
    let item = item.and_then(|place| shown.items.get(place).copied());
    let mut parts = Vec::new();
    let told = match item.unwrap_or(Item::Node(node)) {
        Item::Node(index) => {
            let node = graph.nodes.get(index)?;
            parts.push(match node.operation.as_str() {
                "" => node.label.clone(),
                operation => format!("{} = {operation}", node.label),
            });
            parts.push(kind(node.kind).to_owned());
            parts.extend(numbers(graph, sight, index));
            let group = node.group.and_then(|group| graph.groups.get(group));
            parts.extend(group.map(|group| format!("in {}", group.name)));
            &node.facts
        }
        Item::Group { group, nodes } => {
            let group = graph.groups.get(group)?;
            parts.push(format!("{}, {nodes} nodes folded", group.name));
            &group.facts
        }
    };
    parts.extend(told.iter().map(|fact| said(fact, glyphs)));
    Some(parts.join(glyphs.separator))
}

/// A fact with its unit.
pub(crate) fn said(fact: &Fact, glyphs: &Glyphs) -> String {
    let unit = unit(&fact.unit);
    let value = match (fact.value.as_f64(), unit) {
        (Some(x), Some(_)) => quantity(x, unit, glyphs),
        (Some(_), None) | (None, None) => fact.value.to_string(),
        (None, Some(unit)) => format!("{} {unit}", fact.value),
    };
    format!("{} {value}", fact.name)
}

/// The value of a node, and its adjoint with what came along each edge.
fn numbers(graph: &Graph, sight: &Sight, node: usize) -> Vec<String> {
    let marked = graph.marked(sight.done(graph));
    let mut parts = Vec::new();
    if let Some(value) = marked.at(Place::Node(node), Slot::Value) {
        parts.push(format!("value {value}"));
    }
    let edges = graph.edges.iter().enumerate();
    let deposits: Vec<String> = edges
        .filter(|(_, edge)| edge.from == node)
        .filter_map(|(index, edge)| {
            let value = marked.at(Place::Edge(index), Slot::Adjoint)?;
            let to = graph.nodes.get(edge.to)?;
            Some(format!("{value} from {}", to.label))
        })
        .collect();
    if let Some(adjoint) = marked.at(Place::Node(node), Slot::Adjoint) {
        parts.push(match deposits.len() {
            0 | 1 => format!("adjoint {adjoint}"),
            _ => format!("adjoint {} = {adjoint}", deposits.join(" + ")),
        });
    }
    parts
}

/// The word for what a node is.
pub fn kind(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Input => "input",
        NodeKind::Parameter => "parameter",
        NodeKind::Constant => "constant",
        NodeKind::Operation => "operation",
        NodeKind::View => "view",
        NodeKind::Output => "output",
        NodeKind::Backward => "backward",
        NodeKind::Update => "update",
    }
}
