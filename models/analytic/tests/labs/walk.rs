//! Kind `graph`: the pictures, step by step.

use mlsys_lab::frame::{Direction, Graph, Place, Slot, Timeline};
use mlsys_lab::{Frame, RunData, Settings, Value};

use crate::run::run_into;

/// Everything that is sent, whether or not the run succeeds.
fn sent(set: &[&str]) -> RunData {
    let settings = Settings::from_pairs(set.iter().copied()).expect("name=value");
    let mut data = RunData::default();
    let _ = run_into(&mut data, "graph", &settings);
    data
}

fn graph(set: &[&str]) -> Graph {
    match sent(set).frames.remove("graph") {
        Some((_, Frame::Graph(graph))) => graph,
        other => panic!("{set:?} draws {other:?}"),
    }
}

fn texts(graph: &Graph, pass: Direction) -> Vec<&str> {
    let steps = graph.walk.iter().filter(|step| step.pass == pass);
    steps.map(|step| step.text.as_str()).collect()
}

fn rows(data: &RunData, panel: &str) -> Vec<String> {
    let Some((_, Frame::Table(table))) = data.frames.get(panel) else {
        panic!("{panel} is no table");
    };
    let row = |row: &Vec<Value>| row.iter().map(Value::to_string).collect::<Vec<_>>();
    table.rows.iter().map(|cells| row(cells).join(" | ")).collect()
}

#[test]
fn the_walk_goes_forward_by_node_and_back_by_edge_with_its_numbers() {
    let graph = graph(&[]);
    assert_eq!((graph.nodes.len(), graph.edges.len()), (8, 8));
    assert_eq!(
        texts(&graph, Direction::Forward),
        [
            "given: x = 2, y = 3",
            "a = x^2 = 2^2 = 4",
            "b = 3*a = 3*4 = 12",
            "c = x*y = 2*3 = 6",
            "d = 5*c = 5*6 = 30",
            "e = b + d = 12 + 30 = 42",
            "z = log(e) = log(42) = 3.7377",
        ]
    );
    assert_eq!(
        texts(&graph, Direction::Backward),
        [
            "∂z/∂z = 1",
            "∂z/∂e += ∂z/∂z · ∂z/∂e = 1 · 0.0238 = 0.0238",
            "∂z/∂b += ∂z/∂e · ∂e/∂b = 0.0238 · 1 = 0.0238",
            "∂z/∂d += ∂z/∂e · ∂e/∂d = 0.0238 · 1 = 0.0238",
            "∂z/∂c += ∂z/∂d · ∂d/∂c = 0.0238 · 5 = 0.119",
            "∂z/∂x += ∂z/∂c · ∂c/∂x = 0.119 · 3 = 0.3571",
            "∂z/∂y += ∂z/∂c · ∂c/∂y = 0.119 · 2 = 0.2381",
            "∂z/∂a += ∂z/∂b · ∂b/∂a = 0.0238 · 3 = 0.0714",
            "∂z/∂x += ∂z/∂a · ∂a/∂x = 0.0714 · 4 = 0.2857; x has now 0.3571 + 0.2857 = 0.6429",
        ]
    );
    let place = graph.nodes.iter().position(|node| node.label == "x");
    let place = Place::Node(place.expect("an input"));
    let after = |steps| graph.marked(steps).at(place, Slot::Adjoint).cloned();
    assert_eq!(after(0), None);
    let Some(Value::Float(whole)) = after(graph.walk.len()) else {
        panic!("x has no adjoint");
    };
    assert!((whole - 27.0 / 42.0).abs() < 1e-12);
}

#[test]
fn every_step_names_a_node_and_an_edge_that_exist() {
    for expression in ["expression=3", "expression=x*x + relu(x)", "expression=a = 2; k = a; x^k"] {
        let graph = graph(&[expression, "inputs.x=2", "inputs.unused=1"]);
        for edge in &graph.edges {
            assert!(edge.from < edge.to && edge.to < graph.nodes.len(), "{edge:?}");
        }
        for step in &graph.walk {
            assert!(step.node < graph.nodes.len(), "{step:?}");
            assert!(step.edge.is_none_or(|edge| edge < graph.edges.len()), "{step:?}");
        }
    }
}

#[test]
fn a_square_as_a_product_has_two_edges() {
    let count = |expression| graph(&[expression, "inputs.x=2"]).edges.len();
    assert_eq!((count("expression=x^2"), count("expression=x*x")), (1, 2));
}

#[test]
fn a_nan_is_shown_where_it_is_born_and_on_its_way() {
    let graph = graph(&["expression=a = log(x); b = a*y; z = b + y", "inputs.x=-1", "inputs.y=2"]);
    assert_eq!(
        texts(&graph, Direction::Forward)[1..],
        [
            "a = log(x) = log(-1) = NaN: born here",
            "b = a*y = NaN*2 = NaN: it comes from a",
            "z = b + y = NaN + 2 = NaN: it comes from b",
        ]
    );
    let nan = graph.walk.iter().flat_map(|step| &step.marks);
    let nan = nan.filter(|mark| mark.value == Value::from("NaN")).count();
    assert!(nan >= 3, "{nan}");
}

#[test]
fn an_unused_input_has_a_step_that_says_so() {
    let graph = graph(&["expression=z = 2*x", "inputs.x=1", "inputs.w=5"]);
    assert_eq!(texts(&graph, Direction::Backward).last(), Some(&"z does not use w: ∂z/∂w = 0"));
}

#[test]
fn the_smaller_side_of_a_maximum_gets_nothing() {
    let graph = graph(&["expression=max(x, y)", "inputs.x=1", "inputs.y=5"]);
    let back = texts(&graph, Direction::Backward);
    assert_eq!(back[1], "∂#1/∂x += 0: nothing of max(x, y) flows back to x");
}

#[test]
fn values_stand_beside_their_slopes() {
    let data = sent(&["expression=a = x*y; z = relu(a - 6)", "inputs.x=2", "inputs.y=3"]);
    assert_eq!(
        rows(&data, "values")[..3],
        [
            "x | input | 2 | 0 | 1.5 | corner of z",
            "y | input | 3 | 0 | 1 | corner of z",
            "a | x*y | 6 | 0 | 0.5 | corner of z",
        ]
    );
    let data = sent(&[]);
    let largest = data.metric("gradient_difference").and_then(|value| value.as_f64());
    assert!(largest.is_some_and(|largest| largest < 1e-9), "{largest:?}");
}

#[test]
fn the_tape_says_what_each_step_reads() {
    assert_eq!(
        rows(&sent(&[]), "tape"),
        [
            "1 | z | nothing | 1 | ∂z/∂z | 1 | 1",
            "2 | z = log(e) | e | 0.0238095 | ∂z/∂e | 0.0238095 | 0.0238095",
            "3 | e = b + d | nothing | 1 | ∂z/∂b | 0.0238095 | 0.0238095",
            "4 | e = b + d | nothing | 1 | ∂z/∂d | 0.0238095 | 0.0238095",
            "5 | d = 5*c | nothing | 5 | ∂z/∂c | 0.119048 | 0.119048",
            "6 | c = x*y | y | 3 | ∂z/∂x | 0.357143 | 0.357143",
            "7 | c = x*y | x | 2 | ∂z/∂y | 0.238095 | 0.238095",
            "8 | b = 3*a | nothing | 3 | ∂z/∂a | 0.0714286 | 0.0714286",
            "9 | a = x^2 | x | 4 | ∂z/∂x | 0.285714 | 0.642857",
        ]
    );
}

/// x, y and e are read again on the way back; b, c and d go as soon as their one reader has run.
#[test]
fn values_live_until_their_last_reader() {
    let data = sent(&[]);
    let Some((_, Frame::Timeline(Timeline { lanes, spans, total, .. }))) =
        data.frames.get("lifetimes")
    else {
        panic!("no timeline");
    };
    let lives: Vec<(&str, f64, f64)> =
        spans.iter().map(|span| (lanes[span.lane].as_str(), span.start, span.end)).collect();
    assert_eq!(
        lives,
        [
            ("x", 0.0, 12.0),
            ("y", 0.0, 10.0),
            ("a", 0.0, 2.0),
            ("b", 1.0, 5.0),
            ("c", 2.0, 4.0),
            ("d", 3.0, 5.0),
            ("e", 4.0, 7.0),
            ("z", 5.0, 6.0),
        ]
    );
    let metric = |name: &str| data.metric(name).and_then(|value| value.as_f64());
    assert_eq!(metric("saved_bytes"), Some(24.0));
    assert_eq!(metric("peak_bytes"), Some(40.0));
    let peak = total.as_ref().expect("a curve").points.iter();
    assert_eq!(peak.map(|point| point.1).reduce(f64::max), Some(40.0));
}

/// Ten thousand operations one behind the other, on a stack half as large as a thread's usual one.
#[test]
fn a_graph_of_ten_thousand_nodes_is_no_trouble() {
    let steps = (1..10_000).map(|i| format!("a{i} = a{} + x*y; ", i - 1));
    let expression = format!("a0 = x; {}z = a9999", steps.collect::<String>());
    let work = move || {
        let set = format!("expression={expression}");
        let data = sent(&[&set, "inputs.x=2", "inputs.y=0.5"]);
        data.metric("grad.x").and_then(|value| value.as_f64())
    };
    let thread = std::thread::Builder::new().stack_size(1 << 20);
    let found = thread.spawn(work).expect("a thread").join();
    // 1 from the beginning, and y = 0.5 from each of 9,999 products.
    assert_eq!(found.expect("no overflow"), Some(1.0 + 0.5 * 9_999.0));
}
