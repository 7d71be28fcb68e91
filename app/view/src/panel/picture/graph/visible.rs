//! What of a graph is shown: groups folded into one, and of a graph too large for one picture a part.

use std::collections::{BTreeMap, BTreeSet};

use mlsys_lab::frame::Graph;

use crate::panel::picture::graph::GraphView;

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
    pub fn of(graph: &Graph, view: &GraphView) -> Self {
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
            let (Some(&from), Some(&to)) = ends else {
                continue;
            };
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
pub(super) fn folded(graph: &Graph, view: &GraphView) -> BTreeSet<usize> {
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
            let Some(group) = at.filter(|group| *group < graph.groups.len()) else {
                break;
            };
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
