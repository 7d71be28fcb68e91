//! The picture: nodes, edges, and a walk over them that goes forward node by node and back edge by edge.

use mlsys_lab::Frame;
use mlsys_lab::frame::{
    Direction, Edge, Fact, Graph, Mark, Node as Drawn, NodeKind, Place, Slot, Step, Subject,
};

use mlsys_sim::graph::differentiate::{Adjoints, Deposit};
use mlsys_sim::graph::nodes::{Node, Nodes, Role};
use mlsys_sim::graph::operation::{Binary, Operation, Unary};
use mlsys_sim::graph::{marked, operand, short};

/// The graph with its walk; every number is in it, so that stepping needs no run.
pub(super) fn picture(nodes: &Nodes, adjoints: &Adjoints) -> Frame {
    let place = places(nodes);
    let edges = nodes.edges().iter().map(|edge| Edge {
        from: place[edge.from],
        to: place[edge.to],
        label: String::new(),
    });
    let mut walk = Vec::new();
    walk.extend(inputs(nodes, &place));
    walk.extend(forward(nodes, &place));
    walk.push(seed(nodes, &place));
    let deposits = adjoints.deposits.iter();
    walk.extend(deposits.map(|deposit| back(nodes, adjoints, &place, deposit)));
    walk.extend(unused(nodes, adjoints, &place));
    Frame::Graph(Graph {
        nodes: nodes.drawn().map(|(index, node)| drawn(nodes, index, node)).collect(),
        edges: edges.collect(),
        groups: Vec::new(),
        walk,
        subject: Subject::Computation,
    })
}

/// By node: its place among those that are drawn; what is not drawn has none that matters.
fn places(nodes: &Nodes) -> Vec<usize> {
    let places = nodes.iter().scan(0, |next, node| {
        let place = *next;
        *next += usize::from(!node.folded);
        Some(place)
    });
    places.collect()
}

fn drawn(nodes: &Nodes, index: usize, node: &Node) -> Drawn {
    // Value and adjoint are the walk's to tell, each when it is there.
    let mut facts = Vec::new();
    let kind = match node.operation {
        Operation::Input => NodeKind::Input,
        Operation::Constant => NodeKind::Constant,
        Operation::Copy(_) | Operation::Unary(..) | Operation::Binary(..) => {
            facts.push(Fact::new("saves", nodes.kept_in_words(index), ""));
            facts.push(Fact::new("column", node.column as i64, ""));
            if index == nodes.output() { NodeKind::Output } else { NodeKind::Operation }
        }
    };
    Drawn {
        label: node.label.clone(),
        operation: match node.operation {
            Operation::Input => String::new(),
            Operation::Constant => short(node.value),
            Operation::Copy(_) | Operation::Unary(..) | Operation::Binary(..) => {
                nodes.describe(node)
            }
        },
        kind,
        group: None,
        facts,
    }
}

fn mark(place: Place, slot: Slot, value: f64) -> Mark {
    Mark { place, slot, value: marked(value) }
}

/// A step at a node that leaves a value there.
fn at_node(pass: Direction, node: usize, slot: Slot, value: f64, text: String) -> Step {
    Step { pass, node, edge: None, marks: vec![mark(Place::Node(node), slot, value)], text }
}

/// The first step: what is given.
fn inputs(nodes: &Nodes, place: &[usize]) -> Option<Step> {
    let given: Vec<(usize, &Node)> =
        nodes.drawn().filter(|(_, node)| node.operation == Operation::Input).collect();
    let (first, _) = given.first()?;
    let named = given.iter();
    let named = named.map(|(_, node)| format!("{} = {}", node.label, short(node.value)));
    Some(Step {
        pass: Direction::Forward,
        node: place[*first],
        edge: None,
        marks: given
            .iter()
            .map(|(index, node)| mark(Place::Node(place[*index]), Slot::Value, node.value))
            .collect(),
        text: format!("given: {}", named.collect::<Vec<_>>().join(", ")),
    })
}

/// One step per node in the order of evaluation: `b = 3*a = 3*4 = 12`.
fn forward<'a>(nodes: &'a Nodes, place: &'a [usize]) -> impl Iterator<Item = Step> + 'a {
    let computed = nodes.drawn().filter(|(_, node)| node.operation != Operation::Input);
    computed.map(|(index, node)| {
        let text = working(nodes, node);
        at_node(Direction::Forward, place[index], Slot::Value, node.value, text)
    })
}

fn working(nodes: &Nodes, node: &Node) -> String {
    let value = short(node.value);
    let label = &node.label;
    if node.operation == Operation::Constant {
        return format!("{label} = {value}");
    }
    let is_call = match node.operation {
        Operation::Unary(function, _) => function != Unary::Negate,
        Operation::Binary(operator, ..) => operator == Binary::Max,
        Operation::Input | Operation::Constant | Operation::Copy(_) => true,
    };
    let numbers = node.operation.describe(|argument| {
        let argument = nodes.at(argument);
        if argument.folded {
            argument.label.clone()
        } else if is_call {
            short(argument.value)
        } else {
            operand(argument.value)
        }
    });
    let mut text = format!("{label} = {}", nodes.describe(node));
    if numbers != value {
        text += &format!(" = {numbers}");
    }
    text += &format!(" = {value}");
    if !node.value.is_finite() {
        let broken = node.operation.arguments().map(|argument| nodes.at(argument));
        match broken.into_iter().find(|argument| !argument.value.is_finite()) {
            None => text += ": born here",
            Some(argument) => text += &format!(": it comes from {}", argument.label),
        }
    }
    text
}

/// The first step back: the output changes as fast as itself.
fn seed(nodes: &Nodes, place: &[usize]) -> Step {
    let output = nodes.output();
    let label = &nodes.at(output).label;
    let text = format!("∂{label}/∂{label} = 1");
    at_node(Direction::Backward, place[output], Slot::Adjoint, 1.0, text)
}

/// One step per edge: `∂z/∂a += ∂z/∂b · ∂b/∂a = 0.0238 · 3 = 0.0714`, and the sum where several edges meet.
fn back(nodes: &Nodes, adjoints: &Adjoints, place: &[usize], deposit: &Deposit) -> Step {
    let edge = nodes.edges()[deposit.edge];
    let z = &nodes.at(nodes.output()).label;
    let (to, from) = (nodes.at(edge.to), nodes.at(edge.from));
    let (b, a) = (&to.label, &from.label);
    let mut text = match deposit.local {
        // The other side of a maximum, or an exponent that depends on no input.
        None => format!("∂{z}/∂{a} += 0: nothing of {} flows back to {a}", nodes.describe(to)),
        Some(local) if edge.to == nodes.output() => {
            format!(
                "∂{z}/∂{a} += ∂{z}/∂{b} · ∂{b}/∂{a} = 1 · {} = {}",
                operand(local),
                short(deposit.amount)
            )
        }
        Some(local) => format!(
            "∂{z}/∂{a} += ∂{z}/∂{b} · ∂{b}/∂{a} = {} · {} = {}",
            operand(adjoints.values[edge.to]),
            operand(local),
            short(deposit.amount)
        ),
    };
    if let (Some(before), Some(local)) = (deposit.before, deposit.local) {
        text += &format!(
            "; {a} has now {} + {} = {}",
            operand(before),
            operand(deposit.amount),
            short(deposit.sum)
        );
        if !local.is_finite() && adjoints.values[edge.to].is_finite() {
            text += ": born here";
        }
    } else if !deposit.amount.is_finite() && adjoints.values[edge.to].is_finite() {
        text += ": born here";
    }
    Step {
        pass: Direction::Backward,
        node: place[edge.from],
        edge: Some(deposit.edge),
        marks: vec![
            mark(Place::Edge(deposit.edge), Slot::Adjoint, deposit.amount),
            mark(Place::Node(place[edge.from]), Slot::Adjoint, deposit.sum),
        ],
        text,
    }
}

/// What no edge has reached: the output does not depend on it.
fn unused<'a>(
    nodes: &'a Nodes,
    adjoints: &'a Adjoints,
    place: &'a [usize],
) -> impl Iterator<Item = Step> + 'a {
    let mut reached = vec![false; nodes.iter().len()];
    reached[nodes.output()] = true;
    for deposit in &adjoints.deposits {
        reached[nodes.edges()[deposit.edge].from] = true;
    }
    let z = &nodes.at(nodes.output()).label;
    let left =
        nodes.drawn().filter(move |(index, node)| !reached[*index] && node.role != Role::Inner);
    left.map(move |(index, node)| {
        let text = format!("{z} does not use {0}: ∂{z}/∂{0} = 0", node.label);
        at_node(Direction::Backward, place[index], Slot::Adjoint, 0.0, text)
    })
}
