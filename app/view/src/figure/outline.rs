//! Graphs, timelines, cells and panes in lines of text: for readers of the screen, and wherever there is no room to draw.

use std::collections::BTreeMap;

use mlsys_lab::frame::{
    CellRow, Cells, Film, Frame, Graph, Pane, Place, Slot, Span, Stack, Stacks, Timeline, Total,
};
use mlsys_lab::value::number;

use super::graph::{Item, Shown, Sight, said};
use super::{quantity, unit};
use crate::glyphs::Glyphs;

/// Nodes beyond which the words tell groups: a reader of the screen does not hear hundreds of lines out.
const MOST_NODES: usize = 60;

/// The lines of text: nodes in the order of evaluation with what they read from, under the groups they lie in, or the
/// groups alone where there are many nodes; then the first so many steps of the walk.
pub fn graph(graph: &Graph, steps: usize, glyphs: &Glyphs) -> Vec<String> {
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
fn groups(graph: &Graph, glyphs: &Glyphs) -> Vec<String> {
    let folded = Sight { folded: Some((0..graph.groups.len()).collect()), ..Sight::default() };
    let shown = Shown::of(graph, &folded);
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
                line.push_str(&format!(", {}", said(fact, glyphs)));
            }
        }
        let links = shown.links.iter().filter(|link| link.to == place);
        let mut from: Vec<usize> = links.map(|link| link.from).collect();
        from.dedup();
        let from: Vec<&str> = from.iter().map(|&from| name(&shown.items[from])).collect();
        match from.as_slice() {
            [] => line,
            from => format!("{line}, reads {}", from.join(", ")),
        }
    };
    let mut lines: Vec<String> = shown.items.iter().enumerate().map(line).collect();
    if shown.left_out.1 > 0 {
        lines.push(format!("and {} more", shown.left_out.1));
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
        "{}: {}, {}",
        name(&timeline.lanes, span.lane),
        range(span.start, span.end, &timeline.unit),
        name(&timeline.classes, span.class)
    );
    if !span.label.is_empty() {
        line.push_str(&format!(", {}", span.label));
    }
    if let Some(amount) = span.amount {
        let unit = timeline.total.as_ref().and_then(|total| unit(&total.unit));
        line.push_str(&format!(", {}", quantity(amount, unit, glyphs)));
    }
    line
}

/// The lines of text: what is seen, then each stack with its parts, then the limit.
pub fn stacks(stacks: &Stacks, glyphs: &Glyphs) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    if !stacks.note.is_empty() {
        lines.push(stacks.note.clone());
    }
    let told = stacks.stacks.iter().take(MOST_ROWS);
    lines.extend(told.map(|of| stack(stacks, of, glyphs)));
    let more = stacks.stacks.len().saturating_sub(MOST_ROWS);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    if let Some(limit) = &stacks.limit {
        let at = quantity(limit.at, unit(&stacks.unit), glyphs);
        lines.push(format!("Limit: {at}, {}", limit.label));
    }
    lines
}

/// One stack: its parts, what they come to, and whether that is too much.
pub fn stack(stacks: &Stacks, stack: &Stack, glyphs: &Glyphs) -> String {
    let unit = unit(&stacks.unit);
    let parts = stacks.parts.iter().zip(stack.lengths());
    let parts = parts.filter(|(_, length)| *length > 0.0);
    let parts: Vec<String> =
        parts.map(|(part, length)| format!("{part} {}", quantity(length, unit, glyphs))).collect();
    let total = quantity(stack.total(), unit, glyphs);
    let mut said = match parts.is_empty() {
        true => format!("{}: {total}", stack.label),
        false => format!("{}: {}; {total} in all", stack.label, parts.join(", ")),
    };
    if stacks.is_over(stack) {
        said.push_str(", over the limit");
    }
    if !stack.remark.is_empty() {
        said.push_str(&format!(", {}", stack.remark));
    }
    said
}

/// Stretches of one row that are told one by one; of more the kinds are counted.
const MOST_STRETCHES: usize = 9;

/// Rows that are told; a longer picture is said to be longer.
const MOST_ROWS: usize = 40;

/// The lines of text: what is seen, then each row by its stretches of one kind, or by its cells where something stands
/// in them.
pub fn cells(cells: &Cells) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    if !cells.note.is_empty() {
        lines.push(cells.note.clone());
    }
    let rows = cells.rows.iter().take(MOST_ROWS);
    lines.extend(rows.map(|row| {
        let said = stretches(cells, row);
        match row.remark.as_str() {
            "" => format!("{}: {said}", row.label),
            remark => format!("{}: {said}; {remark}", row.label),
        }
    }));
    match cells.rows.len().saturating_sub(MOST_ROWS) {
        0 => {}
        more => lines.push(format!("and {more} more rows")),
    }
    lines
}

/// A row: `taken 0 to 15, not taken 16 to 31`, or with what stands in the cells `0 read 3.5, 1 read 4`.
fn stretches(cells: &Cells, row: &CellRow) -> String {
    let present = || row.cells.iter().enumerate();
    if present().any(|(_, cell)| cell.as_ref().is_some_and(|cell| !cell.text.is_empty())) {
        let said = present().filter_map(|(column, cell)| {
            let cell = cell.as_ref()?;
            let column = cells.first.saturating_add(column);
            let text = format!("{column} {} {}", cells.name(cell), cell.text);
            Some(text.trim_end().to_owned())
        });
        return said.collect::<Vec<_>>().join(", ");
    }
    let name = |kind: usize| cells.kinds.get(kind).map_or("", |kind| kind.name.as_str());
    let found = row.alike();
    let found: Vec<_> = found.iter().filter_map(|a| Some((a.kind?, a))).collect();
    if found.len() <= MOST_STRETCHES {
        let said = found.iter().map(|(kind, alike)| {
            let number = |column: usize| cells.first.saturating_add(column);
            let (first, last) = (number(alike.first), number(alike.last));
            if first == last {
                format!("{} {first}", name(*kind))
            } else {
                format!("{} {first} to {last}", name(*kind))
            }
        });
        return said.collect::<Vec<_>>().join(", ");
    }
    let counted = cells.kinds.iter().enumerate().filter_map(|(place, kind)| {
        let of = row.cells.iter().flatten().filter(|cell| cell.kind == place);
        match of.count() {
            0 => None,
            count => Some(format!("{count} {}", kind.name)),
        }
    });
    counted.collect::<Vec<_>>().join(", ")
}

/// One cell: its row, its column, what it is and what stands in it.
pub fn cell(cells: &Cells, row: usize, column: usize) -> Option<String> {
    let of = cells.rows.get(row)?;
    let across = match cells.across.as_str() {
        "" => "column",
        across => across,
    };
    let number = cells.first.saturating_add(column);
    let place = format!("{}, {across} {number}", of.label);
    let place = place.trim_start_matches(", ");
    let mut said = match cells.at(row, column) {
        None => format!("{place}: nothing"),
        Some(cell) => format!("{place}: {} {}", cells.name(cell), cell.text),
    };
    said.truncate(said.trim_end().len());
    if !of.remark.is_empty() {
        said.push_str(&format!("; {}", of.remark));
    }
    Some(said)
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

/// Which of the pictures of a film stands at a place: "3 of 8: rows 0 to 31".
pub fn still(film: &Film, place: usize) -> String {
    let title = film.at(place).map_or("", |still| still.title.as_str());
    let place = place.min(film.last()) + 1;
    format!("{place} of {}: {title}", film.stills.len())
}

/// The largest value of a total and where it is.
pub fn peak(total: &Total, along: &str, glyphs: &Glyphs) -> Option<String> {
    let (at, value) = total.peak()?;
    let value = quantity(value, unit(&total.unit), glyphs);
    let name = &total.name;
    Some(format!("{name}: peak {value} at {}", place(at, along)))
}

/// A place on an axis: "operation 3", but "3 seconds".
fn place(at: f64, unit: &str) -> String {
    with_unit(&number(at), unit)
}

fn with_unit(at: &str, unit: &str) -> String {
    match unit {
        "" => at.to_owned(),
        unit if unit.ends_with('s') => format!("{at} {unit}"),
        unit => format!("{unit} {at}"),
    }
}

/// A stretch of an axis: "operation 3 to 9", but "3 to 9 seconds".
fn range(start: f64, end: f64, unit: &str) -> String {
    with_unit(&format!("{} to {}", number(start), number(end)), unit)
}

#[cfg(test)]
mod tests {
    use mlsys_lab::frame::{Edge, Group, Node};

    use super::*;
    use crate::glyphs::GlyphSet;
    use crate::panel::tests::graphs;
    use crate::panel::tests::structures::lifetimes;

    #[test]
    fn groups_of_one_name_are_told_apart_and_facts_have_their_units() {
        let mut large = graphs::network(20);
        for group in &mut large.groups {
            group.name = "block".to_owned();
            group.facts[0].unit = "bytes".to_owned();
        }
        let lines = graph(&large, 0, &Glyphs::new(GlyphSet::Ascii));
        assert_eq!(lines.len(), 22, "{lines:#?}");
        assert_eq!(lines[0], "input");
        assert_eq!(lines[1], "block: 5 nodes, parameters 272 B, reads input");
        assert_eq!(lines[2], "block: 5 nodes, parameters 272 B, reads block");
        assert_eq!(lines[21], "loss, reads block");
    }

    #[test]
    fn a_node_that_reads_one_thing_twice_says_it_once() {
        let mut large = graphs::long(61);
        large.groups = vec![Group::default()];
        large.nodes.push(Node { label: "square".to_owned(), ..Node::default() });
        let edge = Edge { from: 3, to: 61, ..Edge::default() };
        large.edges.extend([edge.clone(), edge]);
        let lines = graph(&large, 0, &Glyphs::new(GlyphSet::Ascii));
        assert!(lines.contains(&"square, reads n3".to_owned()), "{lines:#?}");
    }

    #[test]
    fn the_ends_of_a_bar_are_places_on_its_axis() {
        let glyphs = Glyphs::new(GlyphSet::Ascii);
        let mut of = lifetimes();
        assert_eq!(
            timeline(&of, &glyphs)[2],
            "layer1.relu: operation 2 to 9, kept, relu 12 kB, 12.29 kB"
        );
        of.unit = "seconds".to_owned();
        assert!(timeline(&of, &glyphs)[2].starts_with("layer1.relu: 2 to 9 seconds, kept"));
    }
}
