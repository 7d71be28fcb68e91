//! Kind `backward-rule`: a backward rule as a learner writes it, held against nudging and used in a training run.

use mlsys_expr::{Dialect, Env, Expr, ExprError, LookupError, Value as Number, evaluate, parse};
use mlsys_lab::frame::Dimension;
use mlsys_lab::nearest::nearest;
use mlsys_lab::picture::{self, axis, line, log_axis, scatter};
use mlsys_lab::{Frame, LabError, Run, random};
use serde::{Deserialize, Serialize};

use crate::closed_form::Simulated;

const PARAM: &str = "expression";
const NAMES: [&str; 3] = ["x", "y", "g"];

/// Random places at which the rule is held against nudging, and how far they lie from 0.
const PLACES: usize = 200;
const REACH: f64 = 4.0;
/// Half the distance of a central difference: its error is about the square of this.
const NUDGE: f64 = 1e-5;

/// The network: one input, these hidden units, one output; and the points of the sine that it learns.
const HIDDEN: usize = 16;
const POINTS: usize = 48;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Forward {
    Silu,
    Softplus,
    Tanh,
}

#[derive(Deserialize)]
struct Setup {
    forward: Forward,
    steps: usize,
    learning_rate: f64,
    seed: u64,
}

impl Forward {
    fn value(self, x: f64) -> f64 {
        match self {
            Self::Silu => x / (1.0 + (-x).exp()),
            Self::Softplus => x.max(0.0) + (-x.abs()).exp().ln_1p(),
            Self::Tanh => x.tanh(),
        }
    }

    /// The slope by a central difference.
    fn nudged(self, x: f64) -> f64 {
        (self.value(x + NUDGE) - self.value(x - NUDGE)) / (2.0 * NUDGE)
    }
}

struct Rule<'a> {
    source: &'a str,
    expr: Expr,
}

/// The names of a rule with their values at one place.
struct Place([f64; 3]);

impl Env for Place {
    fn lookup(&self, name: &str) -> Result<Number, LookupError> {
        match NAMES.iter().position(|known| *known == name) {
            Some(index) => Ok(Number::Number(self.0[index])),
            None => Err(LookupError::Unknown { nearest: nearest(name, NAMES).map(str::to_owned) }),
        }
    }
}

impl<'a> Rule<'a> {
    fn read(source: &'a str) -> Result<Self, LabError> {
        let expr = parse(source, Dialect::Lesson)
            .map_err(|problem| LabError::expression(PARAM, source, &problem))?;
        Ok(Self { source, expr })
    }

    fn at(&self, place: [f64; 3]) -> Result<f64, LabError> {
        let [x, y, g] = place;
        let failed = |message: String| {
            let problem = ExprError { message, span: self.expr.span, help: None };
            LabError::expression(PARAM, self.source, &problem)
        };
        match evaluate(&self.expr, &Place(place)) {
            Ok(Number::Number(value)) => Ok(value),
            Ok(Number::Bool(value)) => Ok(f64::from(u8::from(value))),
            Ok(other) => {
                Err(failed(format!("a gradient is a number, and this is {}", other.kind())))
            }
            Err(problem) => Err(failed(format!("{problem}, where x = {x}, y = {y}, g = {g}"))),
        }
    }
}

#[derive(Serialize)]
struct Found {
    largest_error: f64,
    worst_x: f64,
    worst_given: f64,
    worst_nudged: f64,
    loss_before: f64,
    loss_after: f64,
    reference_loss: f64,
}

pub(crate) fn run(run: &mut Run<'_>) -> Result<Simulated, LabError> {
    let setup: Setup = run.params.read()?;
    let rule = Rule::read(run.params.text(PARAM)?)?;
    let forward = setup.forward;
    let mut found = Found {
        largest_error: 0.0,
        worst_x: 0.0,
        worst_given: 0.0,
        worst_nudged: 0.0,
        loss_before: 0.0,
        loss_after: 0.0,
        reference_loss: 0.0,
    };
    for at in 0..PLACES as u64 {
        let draw = |stream: u64| 2.0 * random::unit(setup.seed ^ stream, at) - 1.0;
        let (x, g) = (REACH * draw(0x51), draw(0xa7));
        let (given, nudged) = (rule.at([x, forward.value(x), g])?, g * forward.nudged(x));
        if (given - nudged).abs() >= found.largest_error {
            found.largest_error = (given - nudged).abs();
            (found.worst_x, found.worst_given, found.worst_nudged) = (x, given, nudged);
        }
    }
    let own = train(&setup, |x, y, g| rule.at([x, y, g]))?;
    let reference = train(&setup, |x, _, g| Ok(g * forward.nudged(x)))?;
    let last = |losses: &[f64]| losses.last().copied().unwrap_or(f64::INFINITY);
    found.loss_before = own.first().copied().unwrap_or(f64::INFINITY);
    (found.loss_after, found.reference_loss) = (last(&own), last(&reference));
    let places: Vec<f64> = (0..=80).map(|at| REACH * (f64::from(at) / 40.0 - 1.0)).collect();
    let given: Result<Vec<(f64, f64)>, LabError> =
        places.iter().map(|x| Ok((*x, rule.at([*x, forward.value(*x), 1.0])?))).collect();
    let given = given?;
    picture::offer(run, "slopes", || {
        let nudged: Vec<_> = places.iter().map(|x| (*x, forward.nudged(*x))).collect();
        curves([axis("x", ""), axis("gradient by x where g = 1", "")], nudged, given)
    });
    picture::offer(run, "training", || losses(&own, &reference));
    Simulated::fields(&found)
}

/// What nudging gives and what the rule gives, each a line through points.
fn curves(axes: [Dimension; 2], nudged: Vec<(f64, f64)>, own: Vec<(f64, f64)>) -> Frame {
    let names = ["by nudging", "by your rule"];
    let all = [nudged, own];
    let points = all.iter().enumerate().flat_map(|(series, curve)| {
        curve.iter().map(move |(x, y)| picture::point(*x, *y, "", series))
    });
    let points = points.collect();
    let lines = names.into_iter().zip(all).map(|(name, curve)| line(name, curve)).collect();
    scatter(axes, &names, points, lines)
}

fn losses(own: &[f64], reference: &[f64]) -> Frame {
    let curve = |losses: &[f64]| -> Vec<(f64, f64)> {
        let steps = losses.iter().enumerate().map(|(step, loss)| (step as f64, *loss));
        steps.filter(|(_, loss)| loss.is_finite() && *loss > 0.0).step_by(10).collect()
    };
    let axes = [axis("step", ""), log_axis("mean squared error", "")];
    curves(axes, curve(reference), curve(own))
}

/// The losses of plain gradient descent on a sine, from the first weights on; `backward` gives the gradient of an
/// activation's input from the input, the output and the gradient of the output. A run that diverges ends.
fn train(
    setup: &Setup,
    backward: impl Fn(f64, f64, f64) -> Result<f64, LabError>,
) -> Result<Vec<f64>, LabError> {
    let draw = |at: usize| 2.0 * random::unit(setup.seed ^ 0x3c, at as u64) - 1.0;
    let mut first: Vec<[f64; 2]> =
        (0..HIDDEN).map(|unit| [2.0 * draw(3 * unit), draw(3 * unit + 1)]).collect();
    let mut second: Vec<f64> =
        (0..HIDDEN).map(|unit| draw(3 * unit + 2) / (HIDDEN as f64).sqrt()).collect();
    let mut bias = 0.0;
    let points: Vec<(f64, f64)> = (0..POINTS)
        .map(|at| 4.0 * at as f64 / (POINTS - 1) as f64 - 2.0)
        .map(|x| (x, (2.0 * x).sin()))
        .collect();
    let mut losses = Vec::with_capacity(setup.steps + 1);
    for step in 0..=setup.steps {
        let (mut loss, mut bias_gradient) = (0.0, 0.0);
        let (mut first_gradient, mut second_gradient) = (vec![[0.0; 2]; HIDDEN], vec![0.0; HIDDEN]);
        for (x, wanted) in &points {
            let inputs: Vec<f64> = first.iter().map(|[weight, bias]| weight * x + bias).collect();
            let outputs: Vec<f64> = inputs.iter().map(|z| setup.forward.value(*z)).collect();
            let answer: f64 =
                outputs.iter().zip(&second).map(|(y, weight)| y * weight).sum::<f64>() + bias;
            let error = answer - wanted;
            loss += error * error / POINTS as f64;
            let slope = 2.0 * error / POINTS as f64;
            bias_gradient += slope;
            for unit in 0..HIDDEN {
                second_gradient[unit] += slope * outputs[unit];
                if step < setup.steps && loss.is_finite() {
                    let into = backward(inputs[unit], outputs[unit], slope * second[unit])?;
                    first_gradient[unit][0] += into * x;
                    first_gradient[unit][1] += into;
                }
            }
        }
        losses.push(loss);
        if !loss.is_finite() || loss > 1e6 {
            break;
        }
        let rate = setup.learning_rate;
        bias -= rate * bias_gradient;
        for unit in 0..HIDDEN {
            second[unit] -= rate * second_gradient[unit];
            for (weight, gradient) in first[unit].iter_mut().zip(first_gradient[unit]) {
                *weight -= rate * gradient;
            }
        }
    }
    Ok(losses)
}
