//! Graphs, timelines and panes in lines of text: for readers of the screen, and wherever there is no room to draw.

use std::collections::BTreeMap;

use mlsys_lab::frame::{Frame, Graph, Node, Pane, Place, Slot, Span, Timeline, Total};
use mlsys_lab::value::number;

use super::quantity;
use crate::glyphs::Glyphs;

/// Nodes beyond which the words tell groups: a reader of the screen does not hear hundreds of lines out.
const MOST_NODES: usize = 60;

/// The lines of text: nodes in the order of evaluation with what they read from, under the groups they lie in, or the
/// groups alone where there are many nodes; then the first so many steps of the walk.
pub fn graph(graph: &Graph, steps: usize) -> Vec<String> {
    let mut lines = if graph.nodes.len() > MOST_NODES && !graph.groups.is_empty() {
        groups(graph)
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
        for (slot, name) in [(Slot::Value, "value"), (Slot::Adjoint, "adjoint")] {
            if let Some(value) = marked.at(Place::Node(index), slot) {
                line.push_str(&format!("; {name} {value}"));
            }
        }
        lines.push(line);
    }
    lines
}

/// A line an outermost group or a node in none: how many nodes, what is known of it, and what it reads from.
fn groups(graph: &Graph) -> Vec<String> {
    let mut order: Vec<&str> = Vec::new();
    let mut reads: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for node in &graph.nodes {
        let name = outermost(graph, node);
        let count = counts.entry(name).or_insert(0);
        *count += 1;
        if *count == 1 {
            order.push(name);
        }
    }
    for edge in &graph.edges {
        if let (Some(from), Some(to)) = (graph.nodes.get(edge.from), graph.nodes.get(edge.to)) {
            let (from, to) = (outermost(graph, from), outermost(graph, to));
            let known = reads.entry(to).or_default();
            if from != to && !known.contains(&from) {
                known.push(from);
            }
        }
    }
    let line = |of: &str| {
        let mut line = of.to_owned();
        let group = graph.groups.iter().find(|group| group.name == of);
        if let Some(group) = group {
            line.push_str(&format!(": {} nodes", counts.get(of).unwrap_or(&0)));
            for fact in &group.facts {
                line.push_str(&format!(", {} {} {}", fact.name, fact.value, fact.unit));
                line.truncate(line.trim_end().len());
            }
        }
        match reads.get(of) {
            Some(from) if !from.is_empty() => format!("{line}, reads {}", from.join(", ")),
            Some(_) | None => line,
        }
    };
    order.into_iter().map(line).collect()
}

/// The name of the outermost group that a node lies in; its own where it lies in none.
fn outermost<'a>(graph: &'a Graph, node: &'a Node) -> &'a str {
    let group = |place: usize| graph.groups.get(place);
    let mut found = node.group.and_then(group);
    // A group that lies in itself is not gone round for ever.
    for _ in 0..graph.groups.len() {
        match found.and_then(|found| group(found.parent?)) {
            Some(parent) => found = Some(parent),
            None => break,
        }
    }
    found.map_or(&node.label, |group| &group.name)
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

/// The lines of text: each bar with where it begins and ends, then what is marked, then the total with its peak.
pub fn timeline(timeline: &Timeline, glyphs: &Glyphs) -> Vec<String> {
    let unit = &timeline.unit;
    let spans = timeline.spans.iter();
    let mut lines: Vec<String> = spans.map(|of| span(timeline, of, glyphs)).collect();
    for mark in &timeline.marks {
        lines.push(format!("{} at {}", mark.label, place(mark.at, unit)));
    }
    let total = timeline.total.as_ref();
    lines.extend(total.and_then(|total| peak(total, unit, glyphs)));
    lines
}

/// One bar: its lane, where it begins and ends, what it is and what it adds.
pub fn span(timeline: &Timeline, span: &Span, glyphs: &Glyphs) -> String {
    let name = |names: &[String], place: usize| names.get(place).cloned().unwrap_or_default();
    let mut line = format!(
        "{}: {} to {} {}, {}",
        name(&timeline.lanes, span.lane),
        number(span.start),
        number(span.end),
        timeline.unit,
        name(&timeline.classes, span.class)
    );
    if !span.label.is_empty() {
        line.push_str(&format!(", {}", span.label));
    }
    if let Some(amount) = span.amount {
        let unit = timeline.total.as_ref().map(|total| total.unit.as_str());
        let unit = unit.filter(|unit| !unit.is_empty());
        line.push_str(&format!(", {}", quantity(amount, unit, glyphs)));
    }
    line
}

/// The lines of text: each pane's title, then its picture by `said`.
pub fn panes(panes: &[Pane], said: impl Fn(&Frame) -> String) -> Vec<String> {
    let count = panes.len();
    let line = |(place, pane): (usize, &Pane)| {
        let title = &pane.title;
        format!("{} of {count}, {title}: {}", place + 1, said(&pane.frame))
    };
    panes.iter().enumerate().map(line).collect()
}

/// The largest value of a total and where it is.
pub fn peak(total: &Total, unit: &str, glyphs: &Glyphs) -> Option<String> {
    let (at, value) = total.peak()?;
    let of = Some(total.unit.as_str()).filter(|unit| !unit.is_empty());
    let value = quantity(value, of, glyphs);
    let name = &total.name;
    Some(format!("{name}: peak {value} at {}", place(at, unit)))
}

/// A place on an axis: "operation 3", but "3 seconds".
fn place(at: f64, unit: &str) -> String {
    match unit {
        "" => number(at),
        unit if unit.ends_with('s') => format!("{} {unit}", number(at)),
        unit => format!("{unit} {}", number(at)),
    }
}
