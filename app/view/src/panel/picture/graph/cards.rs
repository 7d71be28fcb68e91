//! What stands in the boxes of a graph, and how large they are.

use std::collections::BTreeMap;

use mlsys_lab::frame::{Graph, Marked, Node, Place, Slot};
use mlsys_lab::value::{Value, number, significant};

use crate::panel::picture::graph::layout::{Fit, Size, Spacing};
use crate::panel::picture::graph::{GraphView, Item, VisibleGraph};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// With a border and room inside.
    Airy,
    /// With a border, and shorter numbers.
    Snug,
    /// Without a border.
    Bare,
}

impl Form {
    pub fn larger(self) -> Self {
        if self == Self::Bare { Self::Snug } else { Self::Airy }
    }

    pub fn smaller(self) -> Self {
        if self == Self::Airy { Self::Snug } else { Self::Bare }
    }

    pub(super) fn spacing(self) -> Spacing {
        let bare = usize::from(self == Self::Bare);
        Spacing { rows: bare, columns: 3 - bare, fit: Fit::Clear }
    }

    /// Columns left and right of the text, summed.
    pub fn frame(self) -> usize {
        [4, 2, 0][self as usize]
    }

    pub fn border(self) -> usize {
        [1, 1, 0][self as usize]
    }

    fn widest(self) -> usize {
        [30, 20, 12][self as usize]
    }

    /// Columns of the sign before an adjoint.
    pub fn sign(self) -> usize {
        [2, 2, 1][self as usize]
    }

    fn digits(self) -> usize {
        [6, 5, 3][self as usize]
    }
}

/// Where the operation of a box stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Head {
    /// Printed next to the name.
    #[default]
    Together,
    /// In a row of its own below.
    Apart,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Card {
    pub label: String,
    pub operation: String,
    pub head: Head,
    pub value: Option<String>,
    pub adjoint: Option<String>,
    /// Rows of text that are kept free for them.
    pub rows: usize,
    /// Columns of text that are kept free.
    pub columns: usize,
}

impl Card {
    pub(super) fn without_operation(self) -> Self {
        let columns = width(&self.label).min(self.columns);
        Self { operation: String::new(), rows: 1, columns, ..self }
    }

    pub(super) fn size(&self, form: Form) -> Size {
        let border = form.border();
        let last = border + self.rows.saturating_sub(1);
        let (port, entries) = match form {
            Form::Airy | Form::Snug => (border + (self.rows.saturating_sub(1)) / 2, (border, last)),
            // A line that arrived next to an empty place for a number would seem to lead nowhere.
            Form::Bare => {
                (0, (0, usize::from(self.head == Head::Apart && !self.operation.is_empty())))
            }
        };
        Size { width: self.columns + form.frame(), height: self.rows + 2 * border, port, entries }
    }
}

pub struct Cards<'a> {
    graph: &'a Graph,
    /// What stands in the picture now.
    pub marked: Marked<'a>,
    /// All that ever stands in the slots of a shown node, so that a step moves no box.
    ever: BTreeMap<usize, [Vec<&'a Value>; 2]>,
    slots: [bool; 2],
}

impl<'a> Cards<'a> {
    pub fn new(graph: &'a Graph, view: &GraphView, visible: &VisibleGraph) -> Self {
        let mut ever: BTreeMap<usize, [Vec<&Value>; 2]> = BTreeMap::new();
        let mut slots = [false; 2];
        for mark in graph.walk.iter().flat_map(|step| &step.marks) {
            let Place::Node(node) = mark.place else { continue };
            slots[mark.slot as usize] = true;
            if visible.box_of.get(node).copied().flatten().is_some() {
                ever.entry(node).or_default()[mark.slot as usize].push(&mark.value);
            }
        }
        Self { graph, marked: graph.marked(view.done(graph)), ever, slots }
    }

    pub fn item(&self, item: &Item, form: Form) -> Card {
        match *item {
            Item::Node(index) => self.node(index, form),
            Item::Group { group, nodes } => {
                let name = self.graph.groups.get(group).map_or("", |g| g.name.as_str());
                let said = format!("{nodes} nodes");
                let columns = width(name).max(width(&said)).min(form.widest());
                Card {
                    label: name.to_owned(),
                    operation: said,
                    head: Head::Apart,
                    rows: 2,
                    columns,
                    ..Card::default()
                }
            }
        }
    }

    fn node(&self, index: usize, form: Form) -> Card {
        let Some(node) = self.graph.nodes.get(index) else { return Card::default() };
        let at = |slot| self.marked.at(Place::Node(index), slot);
        let walked = self.slots.iter().any(|slot| *slot);
        // With numbers below, name and operation share a row, if rows of that length can be had.
        let head = match form {
            Form::Airy | Form::Snug if walked => Head::Together,
            Form::Airy | Form::Snug | Form::Bare => Head::Apart,
        };
        // Below a name its repetition is left out where the row is too short for both.
        let written = match head {
            Head::Apart if width(&node.operation) > form.widest() => without_name(node),
            Head::Apart | Head::Together => &node.operation,
        };
        let (label, operation) = (width(&node.label), width(written));
        let top = match (head, operation) {
            (_, 0) => label,
            (Head::Together, _) => label + 3 + operation,
            (Head::Apart, _) => label.max(operation),
        };
        let longest = |slot: Slot| {
            let values = self.ever.get(&index).map(|slots| &slots[slot as usize]);
            let texts = values.into_iter().flatten();
            texts.map(|value| width(&shortened(value, form))).max().unwrap_or(0)
        };
        let adjoint = match longest(Slot::Adjoint) {
            0 => 0,
            width => width + form.sign(),
        };
        let own_row = usize::from(head == Head::Apart && operation > 0);
        Card {
            label: node.label.clone(),
            operation: written.to_owned(),
            head,
            value: at(Slot::Value).map(|value| shortened(value, form)),
            adjoint: at(Slot::Adjoint).map(|value| shortened(value, form)),
            rows: 1 + own_row + self.slots.iter().filter(|slot| **slot).count(),
            columns: top.max(longest(Slot::Value)).max(adjoint).min(form.widest()),
        }
    }
}

/// What a node does, without the name that its label begins with: `[64, 512]` of `add [64, 512]`.
fn without_name(node: &Node) -> &str {
    let name = node.label.split(' ').next();
    match node.operation.split_once(' ') {
        Some((first, rest)) if Some(first) == name => rest,
        Some(_) | None => &node.operation,
    }
}

fn width(text: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(text)
}

/// A value with as many digits as the form has room for.
fn shortened(value: &Value, form: Form) -> String {
    match value.as_f64().filter(|x| x.is_finite() && matches!(value, Value::Float(_))) {
        Some(x) => number(significant(x, form.digits())),
        None => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_not_repeated_in_a_row_that_is_too_short_for_what_follows() {
        let card = |label: &str, operation: &str, form: Form| {
            let node = Node {
                label: label.to_owned(),
                operation: operation.to_owned(),
                ..Node::default()
            };
            let graph = Graph { nodes: vec![node], ..Graph::default() };
            let visible = VisibleGraph::default();
            Cards::new(&graph, &GraphView::default(), &visible).node(0, form).operation
        };
        assert_eq!(card("add", "add [64, 512]", Form::Bare), "[64, 512]");
        assert_eq!(card("add 2", "add [64, 512]", Form::Bare), "[64, 512]");
        assert_eq!(card("add", "add [64, 512]", Form::Snug), "add [64, 512]");
        assert_eq!(card("z", "add [64, 512]", Form::Bare), "add [64, 512]");
    }
}
