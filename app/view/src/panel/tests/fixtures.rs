//! A made-up lab and runs of it, the same at every call.

use std::collections::BTreeMap;

use mlsys_lab::frame::{
    Direction, Distribution, Edge, Fact, Frame, Graph, Group, HeatMap, Histogram, Image, Images,
    Level, Mark, Node, NodeKind, Place, Point, Scatter, Slot, Step, Verdict,
};
use mlsys_lab::report::{Change, Report, RunData};
use mlsys_lab::schema::Schema;
use mlsys_lab::value::Value;

/// A lab with one panel of every kind.
pub(crate) fn schema() -> Schema {
    Schema::parse(SCHEMA).unwrap()
}

const SCHEMA: &str = include_str!("schema.toml");

/// Numbers from 0 to 1 that look random and are the same everywhere.
pub(crate) struct Noise(pub(crate) u64);

impl Noise {
    pub(crate) fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A run of `steps` steps that learns well.
pub(crate) fn learning(steps: u64) -> RunData {
    let mut data = RunData::default();
    let mut noise = Noise(7);
    for step in 1..=steps {
        let trend = 0.7 * (-(step as f64) / 90.0).exp() + 0.04;
        point(&mut data, "loss", step, trend * (0.6 + 0.8 * noise.next()));
        if step == 1 || step % 20 == 0 {
            point(&mut data, "validation_loss", step, trend + 0.03 + step as f64 * 1e-4);
        }
        if step % 10 == 0 {
            point(&mut data, "seconds_per_step", step, 2e-4 + 3e-5 * noise.next());
        }
    }
    for (layer, norm) in [("layer1", 3e-5), ("layer2", 0.004), ("layer3", 0.2), ("layer10", 1.3)] {
        point(&mut data, &format!("gradient_norm.{layer}"), steps, norm);
    }
    scalar(&mut data, "loss_floor", Value::Float(0.02));
    scalar(&mut data, "weight_bytes", Value::Int(4872));
    frames(&mut data, steps);
    data
}

/// The run with two knobs turned on the way.
pub(crate) fn steered(steps: u64) -> RunData {
    let mut data = learning(steps);
    for (step, name, value) in [(120, "learning_rate", 0.1), (260, "batch_size", 128.0)] {
        data.apply(Report::Change(Change { step, name: name.to_owned(), value: value.into() }));
    }
    data
}

/// A run with a loss that becomes NaN.
pub(crate) fn diverging(steps: u64) -> RunData {
    let mut data = RunData::default();
    for step in 1..=steps {
        let value = 0.7 * 1.12_f64.powi(step as i32);
        let value = if step > 42 || step == 30 { f64::NAN } else { value };
        point(&mut data, "loss", step, value);
        point(&mut data, "gradient_norm.layer1", step, value * 2.0);
        point(&mut data, "gradient_norm.layer2", step, 0.3);
    }
    data
}

pub(crate) fn point(data: &mut RunData, name: &str, step: u64, value: f64) {
    data.apply(Report::Point { name: name.into(), step, value });
}

fn scalar(data: &mut RunData, name: &str, value: Value) {
    data.apply(Report::Scalar { name: name.into(), value });
}

fn frames(data: &mut RunData, step: u64) {
    let text = "the quick brown fox jumps over the lazy dog\n\n17+25=42";
    for (panel, frame) in [
        ("decision-boundary", Frame::HeatMap(boundary())),
        ("confusion", Frame::HeatMap(confusion())),
        ("memory", picture("memory")),
        ("devices", picture("devices")),
        ("samples", Frame::Images(digits())),
        ("text", Frame::Text(text.to_owned())),
        ("compression", picture("compression")),
        ("weights", Frame::Histogram(weights())),
    ] {
        data.apply(Report::Frame { panel: panel.into(), step, frame: Box::new(frame) });
    }
}

/// A picture of `pictures.toml`.
pub(crate) fn picture(name: &str) -> Frame {
    let mut pictures: BTreeMap<String, Frame> =
        toml::from_str(include_str!("pictures.toml")).unwrap();
    pictures.remove(name).unwrap()
}

/// Two spirals and the field that tells them apart.
pub(crate) fn boundary() -> HeatMap {
    let size = 48;
    let turns = |x: f32, y: f32| y.atan2(x) - (x * x + y * y).sqrt() * 8.0;
    let at = |i: usize| (i as f32 + 0.5) / size as f32 * 2.4 - 1.2;
    let cell = |i: usize| {
        let score = turns(at(i % size), -at(i / size)).sin() * 4.0;
        1.0 / (1.0 + (-score).exp())
    };
    let mut noise = Noise(3);
    let points = (0..200).map(|i| {
        let class = (i % 2) as u8;
        let radius = (i as f32 / 200.0).sqrt();
        let phase = std::f32::consts::FRAC_PI_2 - std::f32::consts::PI * f32::from(1 - class);
        let angle = radius * 8.0 + phase + (noise.next() as f32 - 0.5) * 0.3;
        Point { x: radius * angle.cos(), y: radius * angle.sin(), class }
    });
    HeatMap {
        columns: size,
        rows: size,
        cells: (0..size * size).map(cell).collect(),
        low: 0.0,
        high: 1.0,
        x: (-1.2, 1.2),
        y: (-1.2, 1.2),
        column_labels: vec![],
        row_labels: vec![],
        points: points.collect(),
        legend: "probability of class 1".to_owned(),
    }
}

pub(crate) fn confusion() -> HeatMap {
    let cell = |i: usize| match (i / 10, i % 10) {
        (a, b) if a == b => 40.0 + a as f32,
        (3, 8) | (8, 3) | (4, 9) => 7.0,
        (a, b) if (a + b) % 5 == 0 => 1.0,
        _ => 0.0,
    };
    let labels: Vec<String> = (0..10).map(|d| d.to_string()).collect();
    HeatMap {
        columns: 10,
        rows: 10,
        cells: (0..100).map(cell).collect(),
        low: 0.0,
        high: 50.0,
        x: (0.0, 10.0),
        y: (0.0, 10.0),
        column_labels: labels.clone(),
        row_labels: labels,
        points: vec![],
        legend: "rows: true digit, columns: predicted".to_owned(),
    }
}

fn digits() -> Images {
    let pixel = |number: usize, i: usize| {
        let (x, y) = ((i % 28) as f32 - 13.5, (i / 28) as f32 - 13.5);
        let squeeze = 1.0 + number as f32 * 0.15;
        let distance = ((x * squeeze).powi(2) + y * y).sqrt();
        (255.0 * (1.0 - ((distance - 9.0).abs() / 3.0)).clamp(0.0, 1.0)) as u8
    };
    let image = |number: usize| Image {
        pixels: (0..28 * 28).map(|i| pixel(number, i)).collect(),
        label: if number == 2 { "8, is 0".to_owned() } else { "0".to_owned() },
        verdict: match number {
            2 => Verdict::Wrong,
            7 => Verdict::Unjudged,
            _ => Verdict::Right,
        },
    };
    Images { width: 28, height: 28, images: (0..8).map(image).collect(), blank: None, together: 1 }
}

pub(crate) fn compression() -> Scatter {
    let Frame::Scatter(scatter) = picture("compression") else { panic!("a scatter plot") };
    scatter
}

/// Weights that are about normal, and the same rounded to a grid of nine values.
pub(crate) fn weights() -> Histogram {
    let mut noise = Noise(5);
    let mut normal = || (0..12).map(|_| noise.next()).sum::<f64>() - 6.0;
    let values: Vec<f64> = (0..5000).map(|_| 0.1 * normal()).collect();
    let rounded: Vec<f64> =
        values.iter().map(|x| (x / 0.1).round().clamp(-4.0, 4.0) * 0.1).collect();
    let count = |values: &[f64]| Histogram::between("weight", "", values, (-0.42, 0.42), 24);
    let mut histogram = count(&values);
    histogram.first.name = "before".to_owned();
    histogram.second = Some(Distribution { name: "rounded".to_owned(), ..count(&rounded).first });
    histogram.levels =
        (-4..=4).map(|i| Level { at: f64::from(i) * 0.1, label: String::new() }).collect();
    histogram
}

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
    Graph { nodes, edges: edges.to_vec(), walk, ..Graph::default() }
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
        walk: (0..nodes).map(step).collect(),
        ..Graph::default()
    }
}
