//! The lab's panels.

use mlsys_lab::frame::{Better, Dimension, Frame, Scatter, Table};
use mlsys_lab::picture::{axis, line, log_axis, point, reference, scatter};
use mlsys_lab::{Value, median};

use super::{Evaluated, Knobs};
use crate::roof::short;

pub(super) type Picture = fn(&[Evaluated], &Knobs) -> Frame;

pub(super) const ALL: [(&str, Picture); 3] =
    [("front", front), ("candidates", candidates), ("flops-latency", flops_latency)];

/// The candidates that no other beats, as the picture joins them.
pub(super) fn front_of(tried: &[Evaluated]) -> Vec<usize> {
    plane(tried, "latency").front()
}

fn plane(tried: &[Evaluated], latency: &str) -> Scatter {
    let place = |tried: &Evaluated| {
        let series = usize::from(tried.is_over_budget);
        point(tried.latency, tried.accuracy, tried.candidate.opened(), series)
    };
    Scatter {
        x: Dimension { better: Better::Less, ..log_axis(latency, "seconds") },
        y: Dimension { better: Better::More, ..axis("accuracy", "") },
        points: tried.iter().map(place).collect(),
        ..Scatter::default()
    }
}

fn chip(knobs: &Knobs) -> Option<String> {
    knobs.chip.as_ref().map(|roof| short(&roof.name))
}

fn front(tried: &[Evaluated], knobs: &Knobs) -> Frame {
    let modelled = chip(knobs).map(|chip| format!("modelled {chip} latency"));
    let latency = modelled.as_deref().unwrap_or("measured latency here");
    let mut picture = plane(tried, latency);
    let budgets = &knobs.budgets;
    if let (Some(most), [_, ..]) = (budgets.seconds.filter(|most| *most > 0.0), tried) {
        let accuracies = || tried.iter().map(|tried| tried.accuracy);
        let low = accuracies().fold(f64::INFINITY, f64::min);
        let high = accuracies().fold(0.0, f64::max);
        picture.lines.push(line("max_latency_seconds", [(most, low), (most, high)]));
    }
    let over = match (budgets.seconds, budgets.parameters) {
        (None, None) => return Frame::Scatter(picture),
        (None, Some(most)) => format!("over the budget of {most} parameters"),
        (Some(_), _) => "over a budget".to_owned(),
    };
    picture.series = vec!["within the budgets".to_owned(), over];
    Frame::Scatter(picture)
}

/// Every candidate in the order in which they were tried, its time by the chosen chip's model and on the device at hand.
fn candidates(tried: &[Evaluated], knobs: &Knobs) -> Frame {
    let front = front_of(tried);
    let chip = chip(knobs);
    let row = |(index, tried): (usize, &Evaluated)| {
        let standing = match (front.contains(&index), tried.is_over_budget) {
            (true, false) => "yes",
            (true, true) => "yes, over budget",
            (false, false) => "",
            (false, true) => "over budget",
        };
        let mut row: Vec<Value> = vec![
            tried.candidate.name().into(),
            (tried.parameters as i64).into(),
            (tried.flops as i64).into(),
        ];
        row.extend(chip.as_ref().map(|_| Value::Float(1e9 * tried.latency)));
        row.extend([(1e6 * tried.measured).into(), tried.accuracy.into(), standing.into()]);
        row
    };
    let mut columns = ["network", "weights", "flops"].map(str::to_owned).to_vec();
    columns.extend(chip.as_ref().map(|chip| format!("{chip} (ns)")));
    columns.extend(["here (µs)", "accuracy", "front"].map(str::to_owned));
    Frame::Table(Table::new(columns, tried.iter().enumerate().map(row).collect()))
}

/// Operations against the time that they took here, with the line on which time would be in proportion.
fn flops_latency(tried: &[Evaluated], knobs: &Knobs) -> Frame {
    let flops = |tried: &Evaluated| knobs.images as f64 * tried.flops as f64;
    let place = |tried: &Evaluated| {
        let series = usize::from(tried.candidate.is_separable());
        point(flops(tried), tried.measured, tried.candidate.opened(), series)
    };
    let all = || tried.iter().map(flops);
    let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    let each = median(tried.iter().map(|tried| tried.measured / flops(tried)));
    let proportional = each.filter(|each| each.is_finite()).map(|each| {
        reference("time in proportion to flops", [(low, each * low), (high, each * high)])
    });
    scatter(
        [log_axis("flops of an inference", "flops"), log_axis("measured here", "seconds")],
        &["whole filters", "separable"],
        tried.iter().map(place).collect(),
        proportional.into_iter().collect(),
    )
}
