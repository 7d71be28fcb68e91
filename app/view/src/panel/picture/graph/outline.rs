//! A graph in words and as values.

use std::collections::BTreeMap;

use mlsys_lab::frame::{Fact, Graph, Place, Slot};

use crate::csv::{self, Lines};
use crate::glyphs::Glyphs;
use crate::panel::picture::graph::{GraphView, Item, VisibleGraph, terms};
use crate::quantity::{quantity, unit};

/// Nodes beyond which the words tell groups: a reader of the screen does not hear hundreds of lines out.
const MOST_NODES: usize = 60;

/// The lines of text: nodes in the order of evaluation with what they read from, under the groups they lie in, or the
/// groups alone where there are many nodes; then the first `steps` steps of the walk.
pub(super) fn outline(graph: &Graph, steps: usize, glyphs: &Glyphs) -> Vec<String> {
    let mut lines = if graph.nodes.len() > MOST_NODES && !graph.groups.is_empty() {
        groups(graph, glyphs)
    } else {
        nodes(graph, steps)
    };
    let of = graph.walk.len();
    if of > 0 {
        lines.push(format!("Walk, {} of {of} steps:", steps.min(of)));
    }
    for (place, step) in graph.walk.iter().take(steps).enumerate() {
        lines.push(format!("{}. {}", place + 1, step.text));
    }
    lines
}

/// A line a node, with a line above it where a group begins.
fn nodes(graph: &Graph, steps: usize) -> Vec<String> {
    let marked = graph.marked(steps);
    let mut sources: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for edge in &graph.edges {
        if let (Some(from), Some(to)) = (graph.nodes.get(edge.from), graph.nodes.get(edge.to)) {
            let elsewhere = from.group.filter(|_| from.group != to.group);
            let name = match elsewhere {
                Some(group) => format!("{} of {}", from.label, path(graph, Some(group))),
                None => from.label.clone(),
            };
            sources.entry(edge.to).or_default().push(name);
        }
    }
    let mut lines: Vec<String> = Vec::new();
    let mut group = None;
    for (index, node) in graph.nodes.iter().enumerate() {
        if node.group != group {
            group = node.group;
            match group {
                Some(_) => lines.push(format!("In {}:", path(graph, group))),
                None => lines.push("In no group:".to_owned()),
            }
        }
        let mut line = node.label.clone();
        if !node.operation.is_empty() {
            line.push_str(&format!(" = {}", node.operation));
        }
        if let Some(from) = sources.get(&index) {
            line.push_str(&format!(", reads {}", from.join(", ")));
        }
        for slot in [Slot::Value, Slot::Adjoint] {
            if let Some(value) = marked.at(Place::Node(index), slot) {
                let name = terms::slot(graph.subject, slot);
                line.push_str(&format!("; {name} {value}"));
            }
        }
        lines.push(line);
    }
    lines
}

/// A line an outermost group or a node in none: how many nodes, what is known of it, and what it reads from.
fn groups(graph: &Graph, glyphs: &Glyphs) -> Vec<String> {
    let folded =
        GraphView { folded: Some((0..graph.groups.len()).collect()), ..GraphView::default() };
    let visible = VisibleGraph::new(graph, &folded);
    let name = |item: &Item| match *item {
        Item::Node(node) => graph.nodes.get(node).map_or("", |node| &node.label),
        Item::Group { group, .. } => graph.groups.get(group).map_or("", |group| &group.name),
    };
    let line = |(place, item): (usize, &Item)| {
        let mut line = name(item).to_owned();
        if let Item::Group { group, nodes } = *item {
            line.push_str(&format!(": {nodes} nodes"));
            let facts = graph.groups.get(group).map(|group| &group.facts);
            for fact in facts.into_iter().flatten() {
                line.push_str(&format!(", {}", fact_text(fact, glyphs)));
            }
        }
        let links = visible.links.iter().filter(|link| link.to == place);
        let mut from: Vec<usize> = links.map(|link| link.from).collect();
        from.dedup();
        let from: Vec<&str> = from.iter().map(|&from| name(&visible.items[from])).collect();
        match from.as_slice() {
            [] => line,
            from => format!("{line}, reads {}", from.join(", ")),
        }
    };
    let mut lines: Vec<String> = visible.items.iter().enumerate().map(line).collect();
    if visible.left_out.1 > 0 {
        lines.push(format!("and {} more", visible.left_out.1));
    }
    lines
}

/// The name of a group with those it lies in, `block1.attention`.
fn path(graph: &Graph, group: Option<usize>) -> String {
    let mut names: Vec<&str> = Vec::new();
    let mut place = group;
    while let Some(group) = place.and_then(|place| graph.groups.get(place)) {
        if names.len() > graph.groups.len() {
            break;
        }
        names.push(&group.name);
        place = group.parent;
    }
    names.reverse();
    names.join(".")
}

/// One line a node with what it reads and what the walk leaves at it, then one line a step with what it leaves.
pub(super) fn values(lines: &mut Lines, graph: &Graph) {
    let marked = graph.marked(graph.walk.len());
    let [value, adjoint] =
        [Slot::Value, Slot::Adjoint].map(|slot| terms::slot(graph.subject, slot));
    lines.line(["step", "node", "operation", "kind", "group", "reads", value, adjoint]);
    let mut sources: Vec<Vec<&str>> = vec![Vec::new(); graph.nodes.len()];
    for edge in &graph.edges {
        if let (Some(from), Some(sources)) = (graph.nodes.get(edge.from), sources.get_mut(edge.to))
        {
            sources.push(&from.label);
        }
    }
    for (index, (node, from)) in graph.nodes.iter().zip(sources).enumerate() {
        let group = node.group.and_then(|group| graph.groups.get(group));
        let at = |slot| {
            let value = marked.at(Place::Node(index), slot);
            value.map_or(String::new(), csv::exact)
        };
        lines.line([
            String::new(),
            node.label.clone(),
            node.operation.clone(),
            terms::kind(graph.subject, node.kind).to_owned(),
            group.map_or(String::new(), |group| group.name.clone()),
            from.join(" "),
            at(Slot::Value),
            at(Slot::Adjoint),
        ]);
    }
    for (place, step) in graph.walk.iter().enumerate() {
        let node = graph.nodes.get(step.node);
        let at = |slot| {
            let mut marks = step.marks.iter().rev();
            let mark = marks.find(|m| m.place == Place::Node(step.node) && m.slot == slot);
            mark.map_or(String::new(), |mark| csv::exact(&mark.value))
        };
        lines.line([
            (place + 1).to_string(),
            node.map_or(String::new(), |node| node.label.clone()),
            step.text.clone(),
            terms::pass(graph.subject, step.pass).to_owned(),
            String::new(),
            String::new(),
            at(Slot::Value),
            at(Slot::Adjoint),
        ]);
    }
}

/// Where the walk stands, and the step written out; nothing without a walk.
pub fn line(graph: &Graph, view: &GraphView) -> Option<String> {
    let of = graph.walk.len();
    if of == 0 {
        return None;
    }
    let done = view.done(graph);
    let Some(step) = done.checked_sub(1).and_then(|place| graph.walk.get(place)) else {
        return Some(format!("0 of {of}: right takes the first step, end all"));
    };
    let pass = terms::pass(graph.subject, step.pass);
    Some(format!("{done} of {of}, {pass}: {}", step.text))
}

/// What is known of the node or the folded group that is looked at; nothing if nothing is.
pub fn facts(
    graph: &Graph,
    view: &GraphView,
    visible: &VisibleGraph,
    glyphs: &Glyphs,
) -> Option<String> {
    let node = view.focus(graph)?;
    let item = visible.box_of.get(node).copied().flatten();
    let item = item.and_then(|place| visible.items.get(place).copied());
    let mut parts = Vec::new();
    let told = match item.unwrap_or(Item::Node(node)) {
        Item::Node(index) => {
            let node = graph.nodes.get(index)?;
            parts.push(match node.operation.as_str() {
                "" => node.label.clone(),
                operation => format!("{} = {operation}", node.label),
            });
            parts.push(terms::kind(graph.subject, node.kind).to_owned());
            parts.extend(numbers(graph, view, index));
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
    parts.extend(told.iter().map(|fact| fact_text(fact, glyphs)));
    Some(parts.join(glyphs.separator))
}

pub(crate) fn fact_text(fact: &Fact, glyphs: &Glyphs) -> String {
    let unit = unit(&fact.unit);
    let value = match (fact.value.as_f64(), unit) {
        (Some(x), Some(_)) => quantity(x, unit, glyphs),
        (Some(_), None) | (None, None) => fact.value.to_string(),
        (None, Some(unit)) => format!("{} {unit}", fact.value),
    };
    format!("{} {value}", fact.name)
}

/// The value of a node, and its adjoint with what came along each edge.
fn numbers(graph: &Graph, view: &GraphView, node: usize) -> Vec<String> {
    let marked = graph.marked(view.done(graph));
    let mut parts = Vec::new();
    if let Some(value) = marked.at(Place::Node(node), Slot::Value) {
        parts.push(format!("{} {value}", terms::slot(graph.subject, Slot::Value)));
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
        let name = terms::slot(graph.subject, Slot::Adjoint);
        parts.push(match deposits.len() {
            0 | 1 => format!("{name} {adjoint}"),
            _ => format!("{name} {} = {adjoint}", deposits.join(" + ")),
        });
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::glyphs::GlyphSet;
    use crate::panel::tests::fixtures;
    use mlsys_lab::frame::{Edge, Group, Node};

    #[test]
    fn equal_group_names_are_numbered() {
        let mut large = fixtures::network(20);
        for group in &mut large.groups {
            group.name = "block".to_owned();
            group.facts[0].unit = "bytes".to_owned();
        }
        let lines = outline(&large, 0, &Glyphs::new(GlyphSet::Ascii));
        assert_eq!(lines.len(), 22, "{lines:#?}");
        assert_eq!(lines[0], "input");
        assert_eq!(lines[1], "block: 5 nodes, parameters 272 B, reads input");
        assert_eq!(lines[2], "block: 5 nodes, parameters 272 B, reads block");
        assert_eq!(lines[21], "loss, reads block");
    }

    #[test]
    fn a_node_that_reads_one_thing_twice_says_it_once() {
        let mut large = fixtures::long(61);
        large.groups = vec![Group::default()];
        large.nodes.push(Node { label: "square".to_owned(), ..Node::default() });
        let edge = Edge { from: 3, to: 61, ..Edge::default() };
        large.edges.extend([edge.clone(), edge]);
        let lines = outline(&large, 0, &Glyphs::new(GlyphSet::Ascii));
        assert!(lines.contains(&"square, reads n3".to_owned()), "{lines:#?}");
    }
}
