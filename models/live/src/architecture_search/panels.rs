//! The lab's panels.

use mlsys_device::timing::median;
use mlsys_lab::Value;
use mlsys_lab::frame::{Better, Dimension, Frame, Scatter, ScatterLine, ScatterPoint, Table};

use super::space::Budget;
use super::{Evaluated, Knobs};
use crate::roof::logarithmic;

/// Makes one panel's picture.
pub(super) type Picture = fn(&[Evaluated], &Knobs) -> Frame;

/// Every panel that the lab draws itself.
pub(super) const ALL: [(&str, Picture); 3] =
    [("front", front), ("candidates", candidates), ("flops-latency", flops_latency)];

/// The candidates that no other beats, as the picture joins them.
pub(super) fn front_of(tried: &[Evaluated]) -> Vec<usize> {
    plane(tried, "latency").front()
}

fn plane(tried: &[Evaluated], latency: &str) -> Scatter {
    let point = |tried: &Evaluated| ScatterPoint {
        x: Some(tried.latency),
        y: Some(tried.accuracy),
        label: tried.candidate.opened(),
        series: match tried.budget {
            Budget::Within => 0,
            Budget::Over => 1,
        },
    };
    Scatter {
        x: Dimension { better: Better::Less, ..logarithmic(latency, "seconds") },
        y: Dimension { name: "accuracy".to_owned(), better: Better::More, ..Dimension::default() },
        series: Vec::new(),
        points: tried.iter().map(point).collect(),
        lines: Vec::new(),
    }
}

/// Accuracy against latency, with the budgets.
fn front(tried: &[Evaluated], knobs: &Knobs) -> Frame {
    let mut picture = plane(tried, &knobs.clock.name());
    let budgets = &knobs.budgets;
    if let (Some(most), [_, ..]) = (budgets.seconds.filter(|most| *most > 0.0), tried) {
        let accuracies = || tried.iter().map(|tried| tried.accuracy);
        let low = accuracies().fold(f64::INFINITY, f64::min);
        let high = accuracies().fold(0.0, f64::max);
        picture.lines.push(ScatterLine {
            name: "max_latency_seconds".to_owned(),
            points: vec![(most, low), (most, high)],
        });
    }
    if budgets.seconds.is_some() || budgets.parameters.is_some() {
        let over = match budgets.parameters {
            Some(most) if budgets.seconds.is_none() => {
                format!("over the budget of {most} parameters")
            }
            Some(_) | None => "over a budget".to_owned(),
        };
        picture.series = vec!["within the budgets".to_owned(), over];
    }
    Frame::Scatter(picture)
}

/// Every candidate in the order in which they were tried, its time by the chosen chip's model and on the device at hand.
fn candidates(tried: &[Evaluated], knobs: &Knobs) -> Frame {
    let front = front_of(tried);
    let chip = knobs.clock.chip();
    let row = |(index, tried): (usize, &Evaluated)| {
        let standing = match (front.contains(&index), tried.budget) {
            (true, Budget::Within) => "yes",
            (true, Budget::Over) => "yes, over budget",
            (false, Budget::Within) => "",
            (false, Budget::Over) => "over budget",
        };
        let modelled = chip.as_ref().map(|_| Value::Float(1e9 * tried.latency));
        let before = [
            Value::from(tried.candidate.name()),
            Value::Int(tried.parameters as i64),
            Value::Int(tried.flops as i64),
        ];
        let after = [
            Value::Float(1e6 * tried.measured),
            Value::Float(tried.accuracy),
            Value::from(standing),
        ];
        before.into_iter().chain(modelled).chain(after).collect()
    };
    let before = ["network", "weights", "flops"].map(str::to_owned);
    let modelled = chip.as_ref().map(|chip| format!("{chip} (ns)"));
    let after = ["here (µs)", "accuracy", "front"].map(str::to_owned);
    Frame::Table(Table {
        columns: before.into_iter().chain(modelled).chain(after).collect(),
        rows: tried.iter().enumerate().map(row).collect(),
        ..Table::default()
    })
}

/// Operations against the time that they took here, with the line on which time would be in proportion.
fn flops_latency(tried: &[Evaluated], knobs: &Knobs) -> Frame {
    let images = knobs.images as f64;
    let flops = |tried: &Evaluated| images * tried.flops as f64;
    let point = |tried: &Evaluated| ScatterPoint {
        x: Some(flops(tried)),
        y: Some(tried.measured).filter(|seconds| seconds.is_finite()),
        label: tried.candidate.opened(),
        series: usize::from(tried.candidate.is_separable()),
    };
    let all = || tried.iter().map(flops);
    let (low, high) =
        all().fold((f64::INFINITY, 0.0_f64), |(low, high), x| (low.min(x), high.max(x)));
    let each = median(tried.iter().map(|tried| tried.measured / flops(tried)));
    let line = each.filter(|each| each.is_finite()).map(|each| ScatterLine {
        name: "time in proportion to flops".to_owned(),
        points: vec![(low, each * low), (high, each * high)],
    });
    Frame::Scatter(Scatter {
        x: logarithmic("flops of an inference", "flops"),
        y: logarithmic("measured here", "seconds"),
        series: vec!["whole filters".to_owned(), "separable".to_owned()],
        points: tried.iter().map(point).collect(),
        lines: line.into_iter().collect(),
    })
}
