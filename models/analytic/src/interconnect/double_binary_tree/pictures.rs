//! What the lab `double-binary-tree` shows besides its numbers.

use mlsys_lab::frame::{
    Cells, Direction, Edge, Fact, Graph, Mark, Node, NodeKind, Place, Slot, Step, Tone,
};
use mlsys_lab::{Frame, Value};

use super::Pair;
use mlsys_lab::picture;
use mlsys_lab::steps::Steps;
use mlsys_sim::collective::Tree;

/// Most ranks of a tree that is drawn.
const MOST_DRAWN: usize = 32;
/// Most rows of a table.
const MOST_ROWS: usize = 512;

/// What a rank is in a tree.
#[derive(Clone, Copy, PartialEq, Eq)]
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

impl Pair {
    /// Both trees with the sum going up and coming down, a message a step.
    pub(super) fn graph(&self) -> Frame {
        if self.ranks > MOST_DRAWN {
            return Frame::Text(format!(
                "Trees of {} ranks do not fit a screen; of up to {MOST_DRAWN} they are drawn. \
                 The panels 'roles' and 'levels' show trees of any size.",
                self.ranks
            ));
        }
        let mut graph = Graph::default();
        let both = [(&self.first, &self.second, "first"), (&self.second, &self.first, "second")];
        for (tree, other, name) in both {
            plant(&mut graph, tree, &roles(other), name);
        }
        Frame::Graph(graph)
    }

    /// What every rank is in each tree.
    pub(super) fn roles(&self) -> Frame {
        let across = if self.ranks <= 64 { self.ranks.max(1) } else { 64 };
        let kind = |role: Role| match role {
            Role::Leaf => 0,
            Role::Inner => 1,
            Role::Root => 2,
        };
        let mut rows = Vec::new();
        let named = [("first", &self.first), ("second", &self.second)];
        let named = named.map(|(name, tree)| (name, roles(tree)));
        for start in (0..self.ranks.min(MOST_ROWS * 8)).step_by(across) {
            for (name, roles) in &named {
                let some = roles.iter().skip(start).take(across);
                let label = if self.ranks > across {
                    format!("{name}, from {start}")
                } else {
                    (*name).to_owned()
                };
                rows.push(picture::row(label, some.map(|role| Some(kind(*role))), ""));
            }
        }
        let shared = match self.shared() {
            0 => "No rank has children in both trees.".to_owned(),
            1 => "One rank has children in both trees.".to_owned(),
            more => format!("{more} ranks have children in both trees."),
        };
        Frame::Cells(Cells {
            across: if self.ranks <= across { "rank" } else { "" }.to_owned(),
            first: 0,
            group: 8,
            kinds: picture::kinds([
                ("leaf: sends up, and receives", Tone::Faint),
                ("inner: also adds, and hands on", Tone::First),
                ("root: has the sum", Tone::Second),
            ]),
            rows,
            note: format!("{shared} Where one tree leaves a port idle, the other uses it."),
            ..Cells::default()
        })
    }

    /// Parent and children of each rank in both trees.
    pub(super) fn table(&self) -> Frame {
        let [first, second] = [&self.first, &self.second].map(|tree| (tree, roles(tree)));
        let row = |rank: usize| {
            let of = |(tree, roles): &(&Tree, Vec<Role>)| {
                let parent = match tree.parent.get(rank).copied().flatten() {
                    Some(up) => Value::Int(up as i64),
                    None => Value::from("none"),
                };
                let children = tree.parent.iter().enumerate();
                let children = children.filter(|(_, up)| **up == Some(rank));
                let children: Vec<String> = children.map(|(child, _)| child.to_string()).collect();
                let role = roles.get(rank).map_or("", |role| role.name());
                [parent, children.join(", ").into(), role.into()]
            };
            let [a, b, c] = of(&first);
            let [d, e, f] = of(&second);
            [Value::Int(rank as i64), a, b, c, d, e, f]
        };
        picture::table(
            ["rank", "parent, first", "children", "is", "parent, second", "children", "is"],
            (0..self.ranks.min(MOST_ROWS)).map(row).collect(),
        )
    }

    /// Number of ranks at each distance from the root, in edges.
    pub(super) fn levels(&self) -> Frame {
        let depth = self.first.depth.max(self.second.depth);
        let count = |tree: &Tree, level: usize| {
            let there = tree.level.iter().filter(|one| **one == level).count();
            Value::Int(there as i64)
        };
        let row = |level: usize| {
            [Value::Int(level as i64), count(&self.first, level), count(&self.second, level)]
        };
        picture::table(
            ["edges to the root", "ranks, first tree", "ranks, second tree"],
            (0..=depth).map(row).collect(),
        )
    }

    /// The rule applied to some ranks.
    pub(super) fn steps(&self) -> Frame {
        let mut steps = Steps::default();
        let ranks = self.ranks;
        for rank in (1..ranks).take(7) {
            let bit = 1 << rank.trailing_zeros();
            let up = (rank ^ bit) | (bit << 1);
            let parent = if up < ranks { up } else { rank ^ bit };
            let numbers = if up < ranks {
                format!("({rank} xor {bit}) or {} = {up}", 2 * bit)
            } else {
                format!("({rank} xor {bit}) or {} = {up}, which is no rank", 2 * bit)
            };
            steps.add(
                &format!("first parent of {rank}"),
                "(r xor b) or 2b; else r xor b",
                numbers,
                Value::Int(parent as i64),
            );
        }
        for rank in (0..ranks).take(7) {
            let up = self.second.parent.get(rank).copied().flatten();
            let value = up.map_or(Value::from("none: the root"), |up| Value::Int(up as i64));
            let (formula, numbers) = if ranks.is_multiple_of(2) {
                let mirror = ranks - 1 - rank;
                (
                    "n - 1 - first parent of (n - 1 - r)",
                    format!("{} - first parent of {mirror}", ranks - 1),
                )
            } else {
                let before = (rank + ranks - 1) % ranks;
                (
                    "(first parent of (r - 1) + 1) mod n",
                    format!("(first parent of {before} + 1) mod {ranks}"),
                )
            };
            steps.add(&format!("second parent of {rank}"), formula, numbers, value);
        }
        let shared = self.shared() as i64;
        steps.add("shared_inner_ranks", "inner in both", "", Value::Int(shared));
        for (name, tree) in [("first_depth", &self.first), ("second_depth", &self.second)] {
            let depth = Value::Int(tree.depth as i64);
            steps.add(name, "most edges to the root", "", depth);
        }
        steps.table()
    }
}

/// Adds a tree to a graph, leaves first, and to its walk the sum going up and coming down.
fn plant(graph: &mut Graph, tree: &Tree, elsewhere: &[Role], name: &str) {
    let ranks = tree.parent.len();
    let own = roles(tree);
    let mut order: Vec<usize> = (0..ranks).collect();
    order.sort_by_key(|rank| {
        let level = tree.level.get(*rank).copied().unwrap_or(0);
        (std::cmp::Reverse(level), *rank)
    });
    let base = graph.nodes.len();
    let mut place = vec![base; ranks];
    for (index, rank) in order.iter().enumerate() {
        if let Some(place) = place.get_mut(*rank) {
            *place = base + index;
        }
    }
    let at = |rank: usize| place.get(rank).copied().unwrap_or(base);
    for &rank in &order {
        let role = own.get(rank).copied().unwrap_or(Role::Leaf);
        let other = elsewhere.get(rank).copied().unwrap_or(Role::Leaf);
        let fact =
            |name: &str, value: Value| Fact { name: name.to_owned(), value, unit: String::new() };
        graph.nodes.push(Node {
            label: format!("rank {rank}"),
            // Only the root says which tree it is, so that the others are small enough for both trees to be seen at once.
            operation: match role {
                Role::Root => format!("{name} tree"),
                Role::Leaf | Role::Inner => String::new(),
            },
            kind: match role {
                Role::Leaf => NodeKind::Input,
                Role::Inner => NodeKind::Operation,
                Role::Root => NodeKind::Output,
            },
            group: None,
            facts: vec![
                fact("here", role.name().into()),
                fact("in the other tree", other.name().into()),
            ],
        });
    }
    // The sum of all ranks below, a message a step; each rank contributes its own number.
    let mut sums: Vec<usize> = (0..ranks).collect();
    let mut edges = vec![None; ranks];
    for &rank in &order {
        let sum = sums.get(rank).copied().unwrap_or(0);
        let node = at(rank);
        let Some(up) = tree.parent.get(rank).copied().flatten() else {
            let text = format!("{name} tree: rank {rank}, the root, has the sum of all: {sum}");
            graph.walk.push(stand(node, None, sum, text));
            continue;
        };
        graph.edges.push(Edge { from: node, to: at(up), label: String::new() });
        let edge = graph.edges.len() - 1;
        if let Some(slot) = edges.get_mut(rank) {
            *slot = Some(edge);
        }
        let text = format!("{name} tree: rank {rank} sends {sum} up to rank {up}, which adds it");
        graph.walk.push(stand(node, Some(edge), sum, text));
        if let Some(above) = sums.get_mut(up) {
            *above += sum;
        }
    }
    let total: usize = (0..ranks).sum();
    for &rank in order.iter().rev() {
        if let Some(up) = tree.parent.get(rank).copied().flatten() {
            let edge = edges.get(rank).copied().flatten();
            let text = format!("{name} tree: rank {up} sends {total} down to rank {rank}");
            let mut step = stand(at(rank), edge, total, text);
            step.pass = Direction::Backward;
            for mark in &mut step.marks {
                mark.slot = Slot::Adjoint;
            }
            graph.walk.push(step);
        }
    }
}

fn stand(node: usize, edge: Option<usize>, value: usize, text: String) -> Step {
    Step {
        pass: Direction::Forward,
        node,
        edge,
        marks: vec![Mark {
            place: Place::Node(node),
            slot: Slot::Value,
            value: Value::Int(value as i64),
        }],
        text,
    }
}
