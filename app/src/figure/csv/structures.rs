//! Graphs, timelines and panes as lines of values.

use mlsys_lab::frame::{Cells, Graph, Pane, Place, Slot, Timeline};

use super::{Lines, exact, known, number, titled};
use crate::figure::graph::{kind, pass};

/// One line a node with what it reads and what the walk leaves at it, then one line a step with what it leaves.
pub(super) fn graph(lines: &mut Lines, graph: &Graph) {
    let marked = graph.marked(graph.walk.len());
    lines.line([
        "step",
        "node",
        "operation",
        "kind",
        "group",
        "reads",
        "value",
        "adjoint",
    ]);
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
            value.map_or(String::new(), exact)
        };
        lines.line([
            String::new(),
            node.label.clone(),
            node.operation.clone(),
            kind(node.kind).to_owned(),
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
            mark.map_or(String::new(), |mark| exact(&mark.value))
        };
        lines.line([
            (place + 1).to_string(),
            node.map_or(String::new(), |node| node.label.clone()),
            step.text.clone(),
            pass(step.pass).to_owned(),
            String::new(),
            String::new(),
            at(Slot::Value),
            at(Slot::Adjoint),
        ]);
    }
}

/// One line a bar, then one line a marked place, then one line a point of the total.
pub(super) fn timeline(lines: &mut Lines, timeline: &Timeline) {
    let total = timeline.total.as_ref();
    let amount = titled("amount", total.map_or("", |total| total.unit.as_str()));
    let along = |name: &str| titled(name, &timeline.unit);
    lines.line([
        "lane",
        "class",
        "label",
        &along("from"),
        &along("to"),
        &amount,
    ]);
    let name = |names: &[String], place: usize| names.get(place).cloned().unwrap_or_default();
    for span in &timeline.spans {
        lines.line([
            name(&timeline.lanes, span.lane),
            name(&timeline.classes, span.class),
            span.label.clone(),
            number(span.start),
            number(span.end),
            known(span.amount),
        ]);
    }
    for mark in &timeline.marks {
        let at = number(mark.at);
        lines.line(["", "mark", &mark.label, &at, &at, ""]);
    }
    if let Some(total) = total {
        for (place, (from, value)) in total.points.iter().enumerate() {
            let to = total.points.get(place + 1).map_or(*from, |next| next.0);
            let cells = ["", "total", &total.name];
            let values = [number(*from), number(to), number(*value)];
            lines.line(cells.map(str::to_owned).into_iter().chain(values));
        }
    }
}

/// The lines of every picture with its header, each with its pane before it.
pub(super) fn panes(lines: &mut Lines, panes: &[Pane]) {
    for pane in panes {
        let outer = lines
            .before
            .replace(("pane".to_owned(), pane.title.clone()));
        super::frame(lines, &pane.frame);
        lines.before = outer;
    }
}

/// One line a cell.
pub(super) fn cells(lines: &mut Lines, cells: &Cells) {
    let column = match cells.across.as_str() {
        "" => "column",
        across => across,
    };
    lines.line(["row", column, "kind", "text", "remark"]);
    for row in &cells.rows {
        for (place, cell) in row.cells.iter().enumerate() {
            let Some(cell) = cell else {
                continue;
            };
            let place = cells.first.saturating_add(place).to_string();
            let kind = cells.name(cell);
            lines.line([&row.label, &place, kind, &cell.text, &row.remark]);
        }
    }
}
