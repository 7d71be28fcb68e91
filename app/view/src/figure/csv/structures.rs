//! Graphs, timelines and panes as lines of values.

use mlsys_lab::frame::exchange::Action;
use mlsys_lab::frame::{Cells, Exchange, Graph, Pane, Passage, Place, Slot, Stacks, Timeline};

use super::{Lines, exact, known, number, titled};
use crate::figure::graph::{kind, pass};

/// One line a node with what it reads and what the walk leaves at it, then one line a step with what it leaves.
pub(super) fn graph(lines: &mut Lines, graph: &Graph) {
    let marked = graph.marked(graph.walk.len());
    lines.line(["step", "node", "operation", "kind", "group", "reads", "value", "adjoint"]);
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
    lines.line(["lane", "class", "label", &along("from"), &along("to"), &amount]);
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
        let outer = lines.before.replace(("pane".to_owned(), pane.title.clone()));
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

/// One line a part of a text.
pub(super) fn passage(lines: &mut Lines, passage: &Passage) {
    lines.line(["paragraph", "standing", "text"]);
    for paragraph in &passage.paragraphs {
        for part in &paragraph.stretches {
            let standing = passage.standing(part).map_or("", |of| of.name.as_str());
            lines.line([paragraph.label.as_str(), standing, part.text.as_str()]);
        }
    }
}

/// One line a message, in the order in which they are sent.
pub(super) fn exchange(lines: &mut Lines, exchange: &Exchange) {
    lines.line(["round", "phase", "from", "to", "first chunk", "chunks", "action", "bytes"]);
    for (place, round) in exchange.rounds.iter().enumerate() {
        for message in &round.messages {
            let action = match message.action {
                Action::Add => "add",
                Action::Replace => "replace",
            };
            lines.line([
                (place + 1).to_string(),
                round.phase.clone(),
                exchange.name(message.from),
                exchange.name(message.to),
                message.chunk.to_string(),
                message.count.to_string(),
                action.to_owned(),
                message.bytes.to_string(),
            ]);
        }
    }
}

/// One line a stack, a column a part; the limit last.
pub(super) fn stacks(lines: &mut Lines, stacks: &Stacks) {
    let parts = stacks.parts.iter().map(|part| titled(part, &stacks.unit));
    let head = ["stack".to_owned()].into_iter().chain(parts);
    lines.line(head.chain(["remark".to_owned()]));
    for stack in &stacks.stacks {
        let value = |place: usize| known(stack.values.get(place).copied().flatten());
        let values = (0..stacks.parts.len()).map(value);
        let head = [stack.label.clone()].into_iter().chain(values);
        lines.line(head.chain([stack.remark.clone()]));
    }
    if let Some(limit) = &stacks.limit {
        let none = stacks.parts.iter().skip(1).map(|_| String::new());
        let head = [format!("limit: {}", limit.label), number(limit.at)].into_iter();
        lines.line(head.chain(none).chain([String::new()]));
    }
}
