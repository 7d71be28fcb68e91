//! The same derivatives three ways: reverse mode, another engine's, and by nudging.

use mlsys_lab::frame::Table;
use mlsys_lab::value::number;
use mlsys_lab::{DeviceId, Frame, Value, picture};

use mlsys_sim::graph::differentiate::{self, Adjoints, Scratch, Slope, balanced_step};
use mlsys_sim::graph::marked;
use mlsys_sim::graph::nodes::{Nodes, Role};
use mlsys_sim::graph::operation::{Derivatives, Engine, EngineError, MOST_OPERATIONS, Scalar};

/// Nudges that the picture of the error goes through: three a decade, from 1 to 1e-16.
const NUDGES: i32 = 48;

const LEAST: f64 = 1e-17;

/// Inputs that the picture of the error shows.
const MOST_CURVES: usize = 6;

pub(super) struct Comparison {
    /// By node.
    pub(super) slopes: Vec<Option<Slope>>,
    /// The other engine's name and results, if there is one and it could.
    pub(super) engine: Option<(String, Derivatives)>,
    /// Why a column is missing or must be read with care.
    pub(super) notices: Vec<String>,
}

impl Comparison {
    /// Nudges every node there is room for, and asks the engine.
    pub(super) fn new(
        nodes: &Nodes,
        nudge: Option<f64>,
        engine: Option<&dyn Engine>,
        device: DeviceId,
    ) -> Self {
        let slopes = differentiate::slopes(nodes, nudge);
        let mut notices = Vec::new();
        let left_out = nodes.drawn().filter(|(index, _)| slopes[*index].is_none()).count();
        if left_out > 0 {
            notices.push(format!(
                "a graph of this size leaves no room to nudge all of its nodes: {left_out} have no finite difference"
            ));
        }
        let asked = engine.map(|engine| (engine.name().to_owned(), ask(engine, nodes, device)));
        let engine = match asked {
            None => None,
            Some((name, Ok(found))) => {
                if found.bits < 64 {
                    notices.push(format!(
                        "{name} computes with {} bits on {device}, which are good for about 7 digits; the other columns have 64",
                        found.bits
                    ));
                }
                Some((name, found))
            }
            Some((name, Err(reason))) => {
                notices.push(format!("the column of {name} is left out: {reason}"));
                None
            }
        };
        Self { slopes, engine, notices }
    }

    pub(super) fn engine_gradient(&self, node: usize) -> Option<f64> {
        let (_, found) = self.engine.as_ref()?;
        found.gradients.get(node).copied().flatten()
    }

    /// The largest difference between reverse mode and the others over all inputs: of the size of the larger where that
    /// is above 1, else absolute. Inputs at a corner, where a slope is a choice, do not count.
    pub(super) fn largest_difference(&self, nodes: &Nodes, adjoints: &Adjoints) -> Option<f64> {
        let inputs = nodes.drawn().filter(|(_, node)| node.role == Role::Input);
        let differences = inputs.flat_map(|(index, _)| {
            let slope = self.slopes[index];
            let others = [slope.map(|slope| slope.value), self.engine_gradient(index)];
            let is_smooth = slope.is_none_or(|slope| slope.kink.is_none());
            let others = others.into_iter().flatten().filter(move |_| is_smooth);
            others.map(move |other| difference(adjoints.values[index], other))
        });
        differences.filter(|difference| difference.is_finite()).reduce(f64::max)
    }

    /// Every drawn node with its value and its derivative three ways.
    pub(super) fn table(&self, nodes: &Nodes, adjoints: &Adjoints) -> Frame {
        let mut columns = vec!["node", "operation", "value", "reverse mode"];
        if let Some((name, _)) = &self.engine {
            columns.extend([name.as_str(), "difference"]);
        }
        columns.extend(["nudged", "difference"]);
        let rows = nodes.drawn().map(|(index, node)| {
            let ours = adjoints.values[index];
            let mut row: Vec<Value> = vec![
                node.label.as_str().into(),
                nodes.describe(node).into(),
                marked(node.value),
                marked(ours),
            ];
            if self.engine.is_some() {
                match self.engine_gradient(index) {
                    Some(theirs) => row.extend([marked(theirs), marked(difference(ours, theirs))]),
                    None => row.extend([Value::from("-"), Value::from("-")]),
                }
            }
            match self.slopes[index] {
                None => row.extend([Value::from("-"), Value::from("-")]),
                Some(slope) => {
                    row.push(marked(slope.value));
                    row.push(match slope.kink {
                        None => marked(difference(ours, slope.value)),
                        Some(corner) => format!("corner of {}", nodes.at(corner).label).into(),
                    });
                }
            }
            row
        });
        let columns = columns.into_iter().map(str::to_owned).collect();
        Frame::Table(Table::new(columns, rows.collect()))
    }

    /// The error of nudging against the size of the nudge, one curve an input, on two logarithmic axes.
    pub(super) fn errors(&self, nodes: &Nodes, adjoints: &Adjoints, nudge: Option<f64>) -> Frame {
        let mut scratch = Scratch::new(nodes);
        let inputs = nodes.drawn().filter(|(_, node)| node.role == Role::Input);
        let shown: Vec<(usize, &str)> =
            inputs.map(|(index, node)| (index, node.label.as_str())).take(MOST_CURVES).collect();
        let mut points = Vec::new();
        for (series, &(index, label)) in shown.iter().enumerate() {
            let ours = adjoints.values[index];
            let mut point = |step: f64, label: String| {
                let slope = scratch.slope(nodes, index, step);
                let error = (slope.value - ours).abs();
                // An error of nothing has no place on a logarithmic axis: it lies at the lower end.
                points.push(picture::point(
                    step,
                    if error.is_nan() { error } else { error.max(LEAST) },
                    label,
                    series,
                ));
            };
            for notch in 0..=NUDGES {
                point(10_f64.powf(-f64::from(notch) / 3.0), String::new());
            }
            let chosen = nudge.unwrap_or_else(|| balanced_step(nodes.at(index).value));
            point(chosen, format!("{label}: h = {}", number(chosen)));
        }
        let axes = [picture::log_axis("nudge h", ""), picture::log_axis("error of the slope", "")];
        let series: Vec<&str> = shown.iter().map(|(_, label)| *label).collect();
        picture::scatter(axes, &series, points, Vec::new())
    }
}

/// How far two derivatives lie apart: of the size of the larger where that is above 1, else absolute.
pub(super) fn difference(a: f64, b: f64) -> f64 {
    (a - b).abs() / a.abs().max(b.abs()).max(1.0)
}

fn ask(engine: &dyn Engine, nodes: &Nodes, device: DeviceId) -> Result<Derivatives, EngineError> {
    let count = nodes.iter().len();
    if count > MOST_OPERATIONS {
        return Err(EngineError::TooLarge(count));
    }
    let graph: Vec<Scalar> =
        nodes.iter().map(|node| Scalar { operation: node.operation, value: node.value }).collect();
    engine.differentiate(&graph, nodes.output(), device)
}
