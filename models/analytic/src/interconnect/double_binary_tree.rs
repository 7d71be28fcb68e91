//! Kind `double-binary-tree`: the two trees that an all-reduce can run over at once.

use std::cmp::Reverse;

use mlsys_lab::frame::{
    Direction, Edge, Fact, Graph, Mark, Node, NodeKind, Place, Slot, Step, Subject,
};
use mlsys_lab::{Frame, LabError, Run, Value, picture};
use mlsys_sim::collective::Tree;
use serde::Serialize;

use crate::closed_form::Simulated;

/// Most ranks whose boxes say `rank`: with numbers alone both trees of more have room next to each other.
const MOST_NAMED: usize = 8;
/// Most ranks of a tree that is drawn.
const MOST_DRAWN: usize = 32;

/// Most rows of a table.
const MOST_ROWS: usize = 512;

/// Ranks in a row of cells.
const ACROSS: usize = 64;

/// Ranks to which the rule is applied in words.
const MOST_STEPS: usize = 7;

pub(crate) fn run(run: &mut Run<'_>) -> Result<Simulated, LabError> {
    let ranks = run.params.size("ranks")?;
    let (first, second) = (Tree::first(ranks), Tree::second(ranks));
    let (in_first, in_second) = (memberships(&first), memberships(&second));
    let members = || in_first.iter().zip(&in_second);
    let is_shared =
        |(a, b): &(&Membership, &Membership)| a.role != Role::Leaf && b.role != Role::Leaf;
    let rows = |start: usize| {
        let end = ranks.min(start + ACROSS);
        [("first", &in_first), ("second", &in_second)].map(|(tree, members)| RoleRow {
            tree,
            start,
            roles: members[start..end].iter().map(|member| member.role).collect(),
        })
    };
    let count = |tree: &Tree, level: usize| tree.level.iter().filter(|one| **one == level).count();
    let levels = 0..=first.depth.max(second.depth);
    let values = Simulated::fields(&Trees {
        first_parent: parents(&first),
        second_parent: parents(&second),
        shared_inner_ranks: members().filter(is_shared).count(),
        first_depth: first.depth,
        second_depth: second.depth,
        roles: (0..ranks.min(MOST_ROWS * 8)).step_by(ACROSS).flat_map(rows).collect(),
        members: (0..MOST_ROWS)
            .zip(members())
            .map(|(rank, (first, second))| Member { rank, first, second })
            .collect(),
        levels: levels.map(|level| [level, count(&first, level), count(&second, level)]).collect(),
        bits: (1..ranks).take(MOST_STEPS).map(|rank| 1 << rank.trailing_zeros()).collect(),
    })?;
    picture::offer(run, "trees", || {
        if ranks > MOST_DRAWN {
            return Frame::Text(format!(
                "Trees of {ranks} ranks do not fit a screen; of up to {MOST_DRAWN} they are drawn. \
                 The panels 'roles' and 'levels' show trees of any size."
            ));
        }
        let mut graph = Graph { subject: Subject::Reduction, ..Graph::default() };
        plant(&mut graph, &first, [&in_first, &in_second], "first");
        plant(&mut graph, &second, [&in_second, &in_first], "second");
        Frame::Graph(graph)
    });
    Ok(values)
}

/// What the file's formulas start from.
#[derive(Serialize)]
struct Trees<'a> {
    first_parent: Vec<i64>,
    second_parent: Vec<i64>,
    shared_inner_ranks: usize,
    first_depth: usize,
    second_depth: usize,
    roles: Vec<RoleRow>,
    members: Vec<Member<'a>>,
    /// Level, and the ranks there in each tree.
    levels: Vec<[usize; 3]>,
    /// The lowest set bit of each rank from 1.
    bits: Vec<usize>,
}

/// Neighbouring ranks of a tree.
#[derive(Serialize)]
struct RoleRow {
    tree: &'static str,
    start: usize,
    roles: Vec<Role>,
}

#[derive(Serialize)]
struct Member<'a> {
    rank: usize,
    first: &'a Membership,
    second: &'a Membership,
}

#[derive(Serialize)]
struct Membership {
    parent: Option<usize>,
    children: String,
    role: Role,
}

/// What a rank is in a tree.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Role {
    Leaf,
    Inner,
    Root,
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Self::Leaf => "leaf",
            Self::Inner => "inner",
            Self::Root => "root",
        }
    }
}

fn memberships(tree: &Tree) -> Vec<Membership> {
    let member = |(children, parent): (Vec<usize>, &Option<usize>)| Membership {
        parent: *parent,
        role: match (parent, children.as_slice()) {
            (None, _) => Role::Root,
            (Some(_), []) => Role::Leaf,
            (Some(_), _) => Role::Inner,
        },
        children: children.iter().map(usize::to_string).collect::<Vec<_>>().join(", "),
    };
    tree.children().into_iter().zip(&tree.parent).map(member).collect()
}

/// The parent of each rank, -1 for the root.
fn parents(tree: &Tree) -> Vec<i64> {
    tree.parent.iter().map(|up| up.map_or(-1, |up| up as i64)).collect()
}

/// Adds a tree to a graph, leaves first, and to its walk the sum going up and coming down, a message a step.
fn plant(graph: &mut Graph, tree: &Tree, [own, other]: [&[Membership]; 2], name: &str) {
    let ranks = tree.parent.len();
    let mut order: Vec<usize> = (0..ranks).collect();
    order.sort_by_key(|rank| (Reverse(tree.level[*rank]), *rank));
    let mut place = vec![0; ranks];
    for &rank in &order {
        place[rank] = graph.nodes.len();
        let role = own[rank].role;
        graph.nodes.push(Node {
            label: if ranks > MOST_NAMED { rank.to_string() } else { format!("rank {rank}") },
            // Only the root says which tree it is, so that the others are small enough for both trees to be seen at once.
            operation: if role == Role::Root { format!("{name} tree") } else { String::new() },
            kind: match role {
                Role::Leaf => NodeKind::Input,
                Role::Inner => NodeKind::Operation,
                Role::Root => NodeKind::Output,
            },
            group: None,
            facts: vec![
                Fact::new("here", role.name(), ""),
                Fact::new("in the other tree", other[rank].role.name(), ""),
            ],
        });
    }
    let mark = |rank: usize, slot: Slot, sum: usize| {
        vec![Mark { place: Place::Node(place[rank]), slot, value: Value::Int(sum as i64) }]
    };
    // The sum of all ranks below; each rank contributes its own number.
    let mut sums: Vec<usize> = (0..ranks).collect();
    let mut edges = vec![None; ranks];
    for &rank in &order {
        let sum = sums[rank];
        let text = if let Some(up) = tree.parent[rank] {
            edges[rank] = Some(graph.edges.len());
            let label = String::new();
            graph.edges.push(Edge { from: place[rank], to: place[up], label });
            sums[up] += sum;
            format!("{name} tree: rank {rank} sends {sum} up to rank {up}, which adds it")
        } else {
            format!("{name} tree: rank {rank}, the root, has the sum of all: {sum}")
        };
        let (node, edge, marks) = (place[rank], edges[rank], mark(rank, Slot::Value, sum));
        graph.walk.push(Step { pass: Direction::Forward, node, edge, marks, text });
    }
    let total: usize = (0..ranks).sum();
    for &rank in order.iter().rev() {
        if let Some(up) = tree.parent[rank] {
            graph.walk.push(Step {
                pass: Direction::Backward,
                node: place[rank],
                edge: edges[rank],
                marks: mark(rank, Slot::Adjoint, total),
                text: format!("{name} tree: rank {up} sends {total} down to rank {rank}"),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tree_has_as_few_levels_as_a_binary_tree_can_and_few_ranks_are_inner_twice() {
        for ranks in 2_usize..=600 {
            let trees = [Tree::first(ranks), Tree::second(ranks)];
            for tree in &trees {
                assert_eq!(tree.parent.iter().filter(|up| up.is_none()).count(), 1, "{ranks}");
                assert_eq!(tree.depth, ranks.next_power_of_two().ilog2() as usize, "{ranks}");
                assert!(tree.children().iter().all(|children| children.len() <= 2), "{ranks}");
            }
            let [first, second] = trees.map(|tree| tree.children());
            let both = first.iter().zip(&second);
            let shared = both.filter(|(a, b)| !a.is_empty() && !b.is_empty()).count();
            // None of an even number, at most one of an odd number.
            assert!(shared <= ranks % 2, "{ranks}: {shared}");
        }
    }
}
