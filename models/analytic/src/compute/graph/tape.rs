//! The backward pass as a list: what each of its steps reads and where it adds.

use mlsys_lab::{Frame, Value, picture};

use mlsys_sim::graph::differentiate::Adjoints;
use mlsys_sim::graph::marked;
use mlsys_sim::graph::nodes::Nodes;

/// One row per step back, in the order of the walk.
pub(super) fn picture(nodes: &Nodes, adjoints: &Adjoints) -> Frame {
    let label = |node: usize| nodes.at(node).label.as_str();
    let z = label(nodes.output());
    let seed = [
        Value::Int(1),
        z.into(),
        "nothing".into(),
        Value::Float(1.0),
        format!("∂{z}/∂{z}").into(),
        Value::Float(1.0),
        Value::Float(1.0),
    ];
    let steps = adjoints.deposits.iter().enumerate().map(|(step, deposit)| {
        let edge = nodes.edges()[deposit.edge];
        let read = nodes.read_by_edge(deposit.edge);
        let read: Vec<&str> = read.into_iter().map(label).collect();
        [
            Value::Int(step as i64 + 2),
            format!("{} = {}", label(edge.to), nodes.describe(nodes.at(edge.to))).into(),
            if read.is_empty() || deposit.local.is_none() {
                "nothing".into()
            } else {
                read.join(", ").into()
            },
            deposit.local.map_or_else(|| "no gradient".into(), marked),
            format!("∂{z}/∂{}", label(edge.from)).into(),
            marked(deposit.amount),
            marked(deposit.sum),
        ]
    });
    picture::table(
        ["step", "operation", "reads", "local derivative", "adds to", "amount", "sum so far"],
        std::iter::once(seed).chain(steps).collect(),
    )
}
