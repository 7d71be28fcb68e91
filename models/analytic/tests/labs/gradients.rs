//! Kind `graph`: reverse mode against central finite differences, and the rules a graph keeps.

use mlsys_lab::params::Given;
use mlsys_lab::random::SplitMix64;
use mlsys_lab::{RunData, Settings, Value};

use crate::run::{number, run};

/// An expression that is smooth almost everywhere and stays of moderate size.
fn expression(random: &mut SplitMix64, depth: u32) -> String {
    if depth == 0 {
        return ["x", "y", "z", "1.5", "0.25"][random.below(5)].to_owned();
    }
    let a = expression(random, depth - 1);
    let b =
        if random.below(2) == 0 { expression(random, depth - 1) } else { expression(random, 0) };
    match random.below(16) {
        0 => format!("({a} + {b})"),
        1 => format!("({a} - {b})"),
        2 => format!("{a}*tanh({b})"),
        3 => format!("{a}/(2 + sin({b}))"),
        4 => format!("-({a})"),
        5 => format!("tanh({a})"),
        6 => format!("sigmoid({a})"),
        7 => format!("sin({a})"),
        8 => format!("cos({a})"),
        9 => format!("exp(tanh({a}))"),
        10 => format!("log(1 + ({a})^2)"),
        11 => format!("sqrt(0.5 + ({a})^2)"),
        12 => format!("(1.5 + sin({a}))^cos({b})"),
        13 => format!("relu({a})"),
        14 => format!("max({a}, {b})"),
        _ => format!("tanh({a})^3*{b}"),
    }
}

const NAMES: [&str; 3] = ["x", "y", "z"];

fn graph(expression: &str, inputs: [f64; 3]) -> RunData {
    let table = NAMES.iter().zip(inputs).map(|(name, x)| ((*name).to_owned(), Value::Float(x)));
    let mut settings = Settings::new();
    settings.push("expression", Given::Value(expression.into()));
    settings.push("inputs", Given::Value(Value::Table(table.collect())));
    run("graph", &settings).unwrap_or_else(|error| panic!("{expression} at {inputs:?}: {error}"))
}

/// (f(x + h) - f(x - h)) / 2h along one input.
fn central(expression: &str, at: [f64; 3], along: usize, h: f64) -> f64 {
    let shifted = |by: f64| {
        let mut inputs = at;
        inputs[along] += by;
        number(&graph(expression, inputs), "value")
    };
    (shifted(h) - shifted(-h)) / (2.0 * h)
}

#[test]
fn reverse_mode_equals_finite_differences() {
    let mut random = SplitMix64(7);
    let (mut compared, mut at_kinks) = (0, 0);
    for _ in 0..300 {
        // Two statements, so that an assigned name is used more than once.
        let inner = expression(&mut random, 2);
        let outer = expression(&mut random, 2);
        let expression = format!("t = {inner}; t*{outer} + sin(t)");
        let at = [(); 3].map(|()| random.between(-1.5, 1.5));
        let data = graph(&expression, at);
        for (along, name) in NAMES.iter().enumerate() {
            let (wide, narrow) =
                (central(&expression, at, along, 2e-4), central(&expression, at, along, 1e-4));
            let scale = 1.0 + narrow.abs();
            // Near a kink of relu or max the two steps disagree and neither is a derivative.
            if (wide - narrow).abs() > 1e-5 * scale {
                at_kinks += 1;
                continue;
            }
            compared += 1;
            let grad = number(&data, &format!("grad.{name}"));
            assert!(
                (grad - narrow).abs() < 1e-5 * scale,
                "{expression} at {at:?}: grad.{name} {grad}, {narrow}"
            );
        }
    }
    assert!(compared > 850 && at_kinks < 50, "{compared} compared, {at_kinks} at kinks");
}

#[test]
fn an_adjoint_is_the_gradient_with_the_name_as_an_input() {
    let at = [0.7, -1.2, 0.4];
    let whole = graph("a = x*y; b = tanh(a) + a*z; b^2", at);
    let a = number(&whole, "node.a");
    let cut = graph("b = tanh(x) + x*z; b^2", [a, 0.0, at[2]]);
    assert!((number(&whole, "adjoint.a") - number(&cut, "grad.x")).abs() < 1e-12);
    // Chain rule through a alone: x has no other way to the output.
    assert!((number(&whole, "grad.x") - number(&whole, "adjoint.a") * at[1]).abs() < 1e-12);
}
