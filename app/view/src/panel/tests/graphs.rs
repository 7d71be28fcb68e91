//! Graphs to draw: an expression with its walk, a network with groups, one that is far too large.

use mlsys_lab::frame::{
    Direction, Edge, Fact, Graph, Group, Mark, Node, NodeKind, Place, Slot, Step,
};

/// The graph of `z = log(3x^2 + 5xy)` at (2, 3), with a step a node going forward and a step an edge going back.
pub(crate) fn expression() -> Graph {
    let node = |label: &str, operation: &str, kind| Node {
        label: label.to_owned(),
        operation: operation.to_owned(),
        kind,
        ..Node::default()
    };
    let nodes = vec![
        node("x", "", NodeKind::Input),
        node("y", "", NodeKind::Input),
        node("a", "x^2", NodeKind::Operation),
        node("b", "3*a", NodeKind::Operation),
        node("c", "x*y", NodeKind::Operation),
        node("d", "5*c", NodeKind::Operation),
        node("e", "b + d", NodeKind::Operation),
        node("z", "log(e)", NodeKind::Output),
    ];
    let ends = [(0, 2), (2, 3), (0, 4), (1, 4), (4, 5), (3, 6), (5, 6), (6, 7)];
    let edges = ends.map(|(from, to)| Edge { from, to, ..Edge::default() });
    let values = [2.0, 3.0, 4.0, 12.0, 6.0, 30.0, 42.0, 42.0_f64.ln()];
    let mut walk: Vec<Step> = (0..8)
        .map(|node| Step {
            node,
            marks: vec![Mark::new(Place::Node(node), Slot::Value, values[node])],
            text: format!("{} = {} = {}", nodes[node].label, nodes[node].operation, values[node]),
            ..Step::default()
        })
        .collect();
    let mut adjoints = [0.0; 8];
    adjoints[7] = 1.0;
    walk.push(Step {
        pass: Direction::Backward,
        node: 7,
        marks: vec![Mark::new(Place::Node(7), Slot::Adjoint, 1.0)],
        text: "the derivative of z by itself is 1".to_owned(),
        ..Step::default()
    });
    // Each edge with the derivative of what it leads to by what it comes from, in a valid backward order.
    for (edge, local) in
        [(7, 1.0 / 42.0), (6, 1.0), (5, 1.0), (4, 5.0), (3, 2.0), (2, 3.0), (1, 3.0), (0, 4.0)]
    {
        let (from, to) = ends[edge];
        let carried = adjoints[to] * local;
        adjoints[from] += carried;
        walk.push(Step {
            pass: Direction::Backward,
            node: from,
            edge: Some(edge),
            marks: vec![
                Mark::new(Place::Edge(edge), Slot::Adjoint, carried),
                Mark::new(Place::Node(from), Slot::Adjoint, adjoints[from]),
            ],
            text: format!(
                "adjoint of {} gets adjoint of {} times local derivative: {:.4} * {:.4} = {:.4}",
                nodes[from].label, nodes[to].label, adjoints[to], local, carried
            ),
        });
    }
    Graph { nodes, edges: edges.to_vec(), groups: Vec::new(), walk }
}

/// Twelve nodes with two inputs, fan-out and links over several layers.
pub(crate) fn twelve() -> Graph {
    let mut graph = expression();
    for (label, operation, from) in [
        ("f", "z*y", vec![7, 1]),
        ("g", "sin(f)", vec![8]),
        ("h", "g + a", vec![9, 2]),
        ("loss", "h^2", vec![10]),
    ] {
        let to = graph.nodes.len();
        graph.nodes.push(Node {
            label: label.to_owned(),
            operation: operation.to_owned(),
            ..Node::default()
        });
        graph.edges.extend(from.into_iter().map(|from| Edge { from, to, ..Edge::default() }));
    }
    graph
}

/// A network of layers, each a group with a weight, a bias and three operations, with its backward.
pub(crate) fn network(layers: usize) -> Graph {
    let mut graph = Graph::default();
    let add = |graph: &mut Graph, label: &str, operation: &str, kind, group, from: &[usize]| {
        let to = graph.nodes.len();
        graph.nodes.push(Node {
            label: label.to_owned(),
            operation: operation.to_owned(),
            kind,
            group,
            facts: vec![Fact::new("bytes", 4096_i64, "B")],
        });
        graph.edges.extend(from.iter().map(|&from| Edge {
            from,
            to,
            label: "[64, 16]".to_owned(),
        }));
        to
    };
    let mut at = add(&mut graph, "input", "", NodeKind::Input, None, &[]);
    for layer in 0..layers {
        let group = Some(graph.groups.len());
        graph.groups.push(Group {
            name: format!("layer{}", layer + 1),
            parent: None,
            facts: vec![Fact::new("parameters", 272_i64, "")],
        });
        let weight = add(&mut graph, "weight", "[16, 16]", NodeKind::Parameter, group, &[]);
        let bias = add(&mut graph, "bias", "[16]", NodeKind::Parameter, group, &[]);
        let product = add(
            &mut graph,
            "product",
            "matmul [64, 16] x [16, 16]",
            NodeKind::Operation,
            group,
            &[at, weight],
        );
        let sum = add(&mut graph, "sum", "add", NodeKind::Operation, group, &[product, bias]);
        at = add(&mut graph, "relu", "max(0, .)", NodeKind::Operation, group, &[sum]);
    }
    add(&mut graph, "loss", "cross entropy", NodeKind::Output, None, &[at]);
    graph
}

/// Nodes that each read the previous one and one further back, with a walk over them.
pub(crate) fn long(nodes: usize) -> Graph {
    let node = |index: usize| Node {
        label: format!("n{index}"),
        operation: format!("n{} + x", index.saturating_sub(1)),
        ..Node::default()
    };
    let edge = |from: usize, to: usize| Edge { from, to, ..Edge::default() };
    let edges =
        (1..nodes).flat_map(|to| [edge(to - 1, to), edge(to.saturating_sub(7 + to % 5), to)]);
    let step = |node: usize| Step {
        node,
        marks: vec![Mark::new(Place::Node(node), Slot::Value, node as f64)],
        text: format!("n{node} = {node}"),
        ..Step::default()
    };
    Graph {
        nodes: (0..nodes).map(node).collect(),
        edges: edges.collect(),
        groups: Vec::new(),
        walk: (0..nodes).map(step).collect(),
    }
}
