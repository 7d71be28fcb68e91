//! The view of a graph: its cursor, folded groups, and the part of a graph too large for one picture.

use std::collections::{BTreeMap, BTreeSet};

use mlsys_lab::frame::Graph;

use crate::panel::picture::graph::Form;
use crate::panel::picture::graph::layout::{Arranged, Fit, Seat};
use crate::panel::view::Way;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct GraphView {
    pub steps: usize,
    /// The node of the facts shown; absent to follow the walk.
    pub selected: Option<usize>,
    /// The folded groups; absent as the size of the graph suggests.
    pub folded: Option<BTreeSet<usize>>,
    /// The form of the boxes; absent as the room suggests.
    pub form: Option<Form>,
}

impl GraphView {
    pub fn done(&self, graph: &Graph) -> usize {
        self.steps.min(graph.walk.len())
    }

    pub fn current(&self, graph: &Graph) -> Option<usize> {
        let step = graph.walk.get(self.done(graph).checked_sub(1)?)?;
        Some(step.node).filter(|node| *node < graph.nodes.len())
    }

    /// The node that is looked at: the selected one, else that of the walk.
    pub fn focus(&self, graph: &Graph) -> Option<usize> {
        let selected = self.selected.filter(|node| *node < graph.nodes.len());
        selected.or_else(|| self.current(graph))
    }

    /// Moves along the walk by a number of steps; the picture follows it again.
    pub fn step(&mut self, graph: &Graph, by: isize) {
        self.steps = self.done(graph).saturating_add_signed(by).min(graph.walk.len());
        self.selected = None;
    }

    /// Selects another box; the first time the one the walk is at, or the first.
    ///
    /// To the left and right it goes a number of layers.
    pub fn select(&mut self, graph: &Graph, way: Way, layers: usize) {
        let visible = VisibleGraph::new(graph, self);
        let links: Vec<(usize, usize)> = visible.links.iter().map(|l| (l.from, l.to)).collect();
        let arranged = Arranged::new(visible.items.len(), &links, Fit::Clear);
        let at = self.focus(graph).and_then(|node| visible.box_of[node]);
        let Some(at) = at else {
            self.selected = visible.items.first().and_then(|item| first(graph, &visible, *item));
            return;
        };
        let to = match way {
            Way::Left | Way::First => across(&arranged, at, layers, Side::Left),
            Way::Right | Way::Last => across(&arranged, at, layers, Side::Right),
            Way::Up(by) => within(&arranged, at, -isize::try_from(by).unwrap_or(isize::MAX)),
            Way::Down(by) => within(&arranged, at, isize::try_from(by).unwrap_or(isize::MAX)),
        };
        // At the edge of the part that is shown the next part begins.
        let beyond = (to == at).then(|| beyond(graph, &visible, at, way)).flatten();
        self.selected = beyond.or_else(|| {
            let item = visible.items.get(to)?;
            first(graph, &visible, *item)
        });
    }

    /// Folds the group of the node that is looked at, or unfolds it if it is folded; returns what is to be said.
    pub fn fold(&mut self, graph: &Graph) -> String {
        let Some(node) = self.focus(graph) else {
            return "no node is selected: up and down select one".to_owned();
        };
        let visible = VisibleGraph::new(graph, self);
        let mut now = folded(graph, self);
        let item = visible.box_of[node].and_then(|place| visible.items.get(place));
        let group = match item {
            Some(Item::Group { group, .. }) => Some(*group),
            Some(Item::Node(_)) | None => graph.nodes[node].group,
        };
        let Some(group) = group.filter(|group| *group < graph.groups.len()) else {
            return "this node is in no group".to_owned();
        };
        let name = &graph.groups[group].name;
        let said = if now.remove(&group) {
            format!("{name} is unfolded")
        } else {
            now.insert(group);
            format!("{name} is folded")
        };
        self.selected = Some(node);
        self.folded = Some(now);
        said
    }

    /// Unfolds all groups if any is folded, else folds all; returns what is to be said.
    pub fn fold_all(&mut self, graph: &Graph) -> String {
        let unfold = !folded(graph, self).is_empty();
        let all = if unfold { 0 } else { graph.groups.len() };
        self.folded = Some((0..all).collect());
        let done = if unfold { "unfolded" } else { "folded" };
        format!("all {} groups are {done}", graph.groups.len())
    }
}

fn first(graph: &Graph, visible: &VisibleGraph, item: Item) -> Option<usize> {
    match item {
        Item::Node(node) => Some(node),
        Item::Group { .. } => {
            let place = visible.items.iter().position(|other| *other == item);
            (0..graph.nodes.len()).find(|node| visible.box_of[*node] == place)
        }
    }
}

/// The nearest node in that direction that is left out of the picture: along a line that leads out, or in order.
fn beyond(graph: &Graph, visible: &VisibleGraph, at: usize, way: Way) -> Option<usize> {
    let out = |node: &usize| matches!(visible.box_of.get(*node), Some(None));
    let here = |node: usize| visible.box_of.get(node) == Some(&Some(at));
    let edges = graph.edges.iter();
    let start = *visible.items.first()?;
    let start = first(graph, visible, start)?;
    match way {
        Way::Left | Way::First => {
            let from = edges.filter(|edge| here(edge.to)).map(|edge| edge.from);
            from.filter(out).max()
        }
        Way::Right | Way::Last => {
            let to = edges.filter(|edge| here(edge.from)).map(|edge| edge.to);
            to.filter(out).min()
        }
        Way::Up(_) => (0..start).rev().find(out),
        Way::Down(_) => (start..graph.nodes.len()).find(out),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// The box a number of layers away: along a line where there is one, else the nearest in order.
fn across(arranged: &Arranged, at: usize, by: usize, side: Side) -> usize {
    let mut at = at;
    for _ in 0..by {
        let ahead = arranged.links.iter().filter_map(|&(from, to)| match side {
            Side::Left => (to == at && from != at).then_some(from),
            Side::Right => (from == at && to != at).then_some(to),
        });
        let layer = arranged.layer_of[at];
        // The nearest layer first, then the one that is higher up.
        let mut ahead: Vec<usize> = ahead.collect();
        ahead.sort_by_key(|other| {
            (arranged.layer_of[*other].abs_diff(layer), place(arranged, *other))
        });
        match ahead.first() {
            Some(next) => at = *next,
            None => break,
        }
    }
    at
}

fn place(arranged: &Arranged, index: usize) -> usize {
    let seats = &arranged.layers[arranged.layer_of[index]];
    seats.iter().position(|seat| *seat == Seat::Box(index)).unwrap_or(0)
}

/// The box a number of places further down; below the last of a layer comes the first of the next.
fn within(arranged: &Arranged, at: usize, by: isize) -> usize {
    let seats = arranged.layers.iter().flatten();
    let boxes: Vec<usize> = seats
        .filter_map(|seat| match *seat {
            Seat::Box(index) => Some(index),
            Seat::Pass { .. } => None,
        })
        .collect();
    let here = boxes.iter().position(|index| *index == at).unwrap_or(0);
    let last = boxes.len().saturating_sub(1);
    boxes.get(here.saturating_add_signed(by).min(last)).copied().unwrap_or(at)
}

/// A graph with more nodes begins with all its groups folded.
const MANY: usize = 40;
/// The most boxes in one picture: they are laid out well within a frame of a thirtieth of a second.
const MOST: usize = 240;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    Node(usize),
    /// A folded group with its number of nodes.
    Group {
        group: usize,
        nodes: usize,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub from: usize,
    pub to: usize,
    pub edges: Vec<usize>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VisibleGraph {
    /// The boxes, in the order of their first nodes.
    pub items: Vec<Item>,
    pub links: Vec<Link>,
    /// The box of each node; none if it is left out.
    pub box_of: Vec<Option<usize>>,
    /// For each box whether lines from and to boxes left out are missing.
    pub cut: Vec<(bool, bool)>,
    /// Boxes left out before and after the shown part.
    pub left_out: (usize, usize),
}

impl VisibleGraph {
    pub fn new(graph: &Graph, view: &GraphView) -> Self {
        let folded = folded(graph, view);
        let fold = outermost(graph, &folded);
        let mut items: Vec<Item> = Vec::new();
        let mut box_of: Vec<usize> = Vec::with_capacity(graph.nodes.len());
        let mut of_group: BTreeMap<usize, usize> = BTreeMap::new();
        for (index, node) in graph.nodes.iter().enumerate() {
            match node.group.and_then(|group| *fold.get(group)?) {
                None => {
                    box_of.push(items.len());
                    items.push(Item::Node(index));
                }
                Some(group) => {
                    let place = *of_group.entry(group).or_insert(items.len());
                    box_of.push(place);
                    match items.get_mut(place) {
                        Some(Item::Group { nodes, .. }) => *nodes += 1,
                        Some(Item::Node(_)) | None => items.push(Item::Group { group, nodes: 1 }),
                    }
                }
            }
        }
        let focus = view.focus(graph).and_then(|node| box_of.get(node).copied());
        let (first, end) = part(items.len(), focus.unwrap_or(0));
        let inside = |place: usize| (first..end).contains(&place);
        let mut cut = vec![(false, false); end - first];
        let mut links: Vec<Link> = Vec::new();
        let mut between: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        for (index, edge) in graph.edges.iter().enumerate() {
            let ends = (box_of.get(edge.from), box_of.get(edge.to));
            let (Some(&from), Some(&to)) = ends else { continue };
            let (begins, ends) = (inside(from), inside(to));
            if begins && !ends {
                cut[from - first].1 = true;
            } else if ends && !begins {
                cut[to - first].0 = true;
            }
            if !begins || !ends || from == to {
                continue;
            }
            let grouped = |place: usize| matches!(items[place], Item::Group { .. });
            let link = Link { from: from - first, to: to - first, edges: vec![index] };
            // Between groups one line says it; two edges between nodes are two operands.
            if grouped(from) || grouped(to) {
                let place = *between.entry((from, to)).or_insert(links.len());
                match links.get_mut(place) {
                    Some(known) => known.edges.push(index),
                    None => links.push(link),
                }
            } else {
                links.push(link);
            }
        }
        let count = items.len();
        Self {
            items: items[first..end].to_vec(),
            links,
            box_of: box_of.into_iter().map(|place| inside(place).then(|| place - first)).collect(),
            cut,
            left_out: (first, count - end),
        }
    }
}

/// The groups that are folded: as was asked for, else all if the graph is large.
fn folded(graph: &Graph, view: &GraphView) -> BTreeSet<usize> {
    match &view.folded {
        Some(folded) => folded.clone(),
        None if graph.nodes.len() > MANY => (0..graph.groups.len()).collect(),
        None => BTreeSet::new(),
    }
}

/// For each group the outermost folded one it lies in, itself included.
fn outermost(graph: &Graph, folded: &BTreeSet<usize>) -> Vec<Option<usize>> {
    let of = |group: usize| {
        let mut found = None;
        let mut at = Some(group);
        // A chain of parents is no longer than there are groups, unless it is a circle.
        for _ in 0..=graph.groups.len().min(64) {
            let Some(group) = at.filter(|group| *group < graph.groups.len()) else { break };
            if folded.contains(&group) {
                found = Some(group);
            }
            at = graph.groups[group].parent;
        }
        found
    };
    (0..graph.groups.len()).map(of).collect()
}

/// The part of the boxes that is shown: it moves in halves, so that a walk does not move it at every step.
fn part(count: usize, focus: usize) -> (usize, usize) {
    if count <= MOST {
        return (0, count);
    }
    let half = MOST / 2;
    let first = (focus.saturating_sub(MOST / 4) / half * half).min(count - MOST);
    (first, first + MOST)
}

#[cfg(test)]
mod tests {
    use mlsys_lab::frame::Edge;

    use super::*;
    use crate::panel::tests::fixtures;

    #[test]
    fn a_selection_outside_the_graph_is_none() {
        let mut view = GraphView { selected: Some(999), ..GraphView::default() };
        let said = view.fold(&fixtures::network(2));
        assert_eq!(said, "no node is selected: up and down select one");
    }

    #[test]
    fn every_node_of_a_graph_shown_in_parts_can_be_reached() {
        let graph = fixtures::long(700);
        for (to, back) in [
            ((Way::Right, 50), (Way::Left, 50)),
            ((Way::Down(50), 1), (Way::Up(50), 1)),
            ((Way::Last, usize::MAX), (Way::First, usize::MAX)),
        ] {
            let mut view = GraphView::default();
            let mut go = |(way, layers): (Way, usize)| {
                for _ in 0..=graph.nodes.len() {
                    let before = view.selected;
                    view.select(&graph, way, layers);
                    if view.selected == before {
                        break;
                    }
                }
                view.selected
            };
            assert_eq!(go(to), Some(699), "{to:?}");
            assert_eq!(go(back), Some(0), "{back:?}");
        }
    }

    #[test]
    fn the_next_part_begins_where_a_line_leads() {
        let mut graph = fixtures::long(700);
        // Node 130 reads nothing, and 200 what is not in the picture.
        graph.edges.retain(|edge| edge.to != 130 && edge.to != 200);
        graph.edges.push(Edge { from: 10, to: 200, ..Edge::default() });
        for (from, to) in [(130, 130), (200, 10)] {
            let mut view = GraphView { selected: Some(from), ..GraphView::default() };
            assert_ne!(VisibleGraph::new(&graph, &view).left_out, (0, 0));
            view.select(&graph, Way::Left, 1);
            assert_eq!(view.selected, Some(to), "left of {from}");
        }
    }
}
