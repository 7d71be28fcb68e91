//! Kind `double-binary-tree`: the two trees that an all-reduce can run over at once.

use std::cmp::Reverse;

use mlsys_lab::frame::{Direction, Edge, Fact, Graph, Mark, Node, NodeKind, Place, Slot, Step};
use mlsys_lab::{Frame, LabError, Run, Value, picture};
use mlsys_sim::collective::Tree;
use serde::Serialize;

use crate::closed_form::Simulated;

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
    let (first_roles, second_roles) = (roles(&first), roles(&second));
    let is_shared = |(a, b): &(&Role, &Role)| **a != Role::Leaf && **b != Role::Leaf;
    let rows = |start: usize| {
        let part = move |roles: &[Role]| roles[start..ranks.min(start + ACROSS)].to_vec();
        [("first", part(&first_roles)), ("second", part(&second_roles))]
            .map(|(tree, roles)| RoleRow { tree, start, roles })
    };
    let count = |tree: &Tree, level: usize| tree.level.iter().filter(|one| **one == level).count();
    let levels = 0..=first.depth.max(second.depth);
    let values = Simulated::fields(&Trees {
        first_parent: parents(&first),
        second_parent: parents(&second),
        shared_inner_ranks: first_roles.iter().zip(&second_roles).filter(is_shared).count(),
        first_depth: first.depth,
        second_depth: second.depth,
        roles: (0..ranks.min(MOST_ROWS * 8)).step_by(ACROSS).flat_map(rows).collect(),
        members: (0..ranks.min(MOST_ROWS))
            .map(|rank| Member {
                rank,
                first: Membership::of(&first, &first_roles, rank),
                second: Membership::of(&second, &second_roles, rank),
            })
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
        let mut graph = Graph::default();
        plant(&mut graph, &first, [&first_roles, &second_roles], "first");
        plant(&mut graph, &second, [&second_roles, &first_roles], "second");
        Frame::Graph(graph)
    });
    Ok(values)
}

/// What the file's formulas start from.
#[derive(Serialize)]
struct Trees {
    first_parent: Vec<i64>,
    second_parent: Vec<i64>,
    shared_inner_ranks: usize,
    first_depth: usize,
    second_depth: usize,
    roles: Vec<RoleRow>,
    members: Vec<Member>,
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
struct Member {
    rank: usize,
    first: Membership,
    second: Membership,
}

#[derive(Serialize)]
struct Membership {
    parent: Option<usize>,
    children: String,
    role: Role,
}

impl Membership {
    fn of(tree: &Tree, roles: &[Role], rank: usize) -> Self {
        let children = tree.parent.iter().enumerate().filter(|(_, up)| **up == Some(rank));
        let children: Vec<String> = children.map(|(child, _)| child.to_string()).collect();
        Self { parent: tree.parent[rank], children: children.join(", "), role: roles[rank] }
    }
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

fn roles(tree: &Tree) -> Vec<Role> {
    let role = |(inner, up): (bool, &Option<usize>)| match (up, inner) {
        (None, _) => Role::Root,
        (Some(_), true) => Role::Inner,
        (Some(_), false) => Role::Leaf,
    };
    tree.inner().into_iter().zip(&tree.parent).map(role).collect()
}

/// The parent of each rank, -1 for the root.
fn parents(tree: &Tree) -> Vec<i64> {
    tree.parent.iter().map(|up| up.map_or(-1, |up| up as i64)).collect()
}

/// Adds a tree to a graph, leaves first, and to its walk the sum going up and coming down, a message a step.
fn plant(graph: &mut Graph, tree: &Tree, [own, other]: [&[Role]; 2], name: &str) {
    let ranks = tree.parent.len();
    let mut order: Vec<usize> = (0..ranks).collect();
    order.sort_by_key(|rank| (Reverse(tree.level[*rank]), *rank));
    let mut place = vec![0; ranks];
    for &rank in &order {
        place[rank] = graph.nodes.len();
        let role = own[rank];
        graph.nodes.push(Node {
            label: format!("rank {rank}"),
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
                Fact::new("in the other tree", other[rank].name(), ""),
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
                let mut children = vec![0; ranks];
                for up in tree.parent.iter().flatten() {
                    children[*up] += 1;
                }
                assert!(children.iter().all(|count| *count <= 2), "{ranks}");
            }
            let [first, second] = trees.map(|tree| tree.inner());
            let shared = first.iter().zip(&second).filter(|(a, b)| **a && **b).count();
            // None of an even number, at most one of an odd number.
            assert!(shared <= ranks % 2, "{ranks}: {shared}");
        }
    }
}
