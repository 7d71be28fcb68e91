//! Graphs, timelines and panes in lines of text: for readers of the screen, and wherever there is no room to draw.

use std::collections::BTreeMap;

use mlsys_lab::frame::{Frame, Graph, Pane, Place, Slot, Span, Timeline, Total};
use mlsys_lab::value::number;

use super::quantity;
use crate::glyphs::Glyphs;

/// The lines of text: nodes in the order of evaluation with what they read from, then the first so many steps of the
/// walk.
pub fn graph(graph: &Graph, steps: usize) -> Vec<String> {
    let marked = graph.marked(steps);
    let mut sources: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for edge in &graph.edges {
        if let Some(from) = graph.nodes.get(edge.from) {
            sources.entry(edge.to).or_default().push(&from.label);
        }
    }
    let mut lines: Vec<String> = Vec::new();
    for (index, node) in graph.nodes.iter().enumerate() {
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
    let of = graph.walk.len();
    if of > 0 {
        lines.push(format!("Walk, {} of {of} steps:", steps.min(of)));
    }
    for (place, step) in graph.walk.iter().take(steps).enumerate() {
        lines.push(format!("{}. {}", place + 1, step.text));
    }
    lines
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
