//! The lab's panels.

use mlsys_lab::frame::{Dimension, Scatter, ScatterLine, ScatterPoint, Table};
use mlsys_lab::schema::Scale;
use mlsys_lab::{Frame, Value};

use super::results::{Outcome, Results};
use crate::roof::{Roof, logarithmic, short};

type Picture = fn(&Results, &[Roof]) -> Frame;

/// Every panel.
pub(super) const ALL: [(&str, Picture); 4] =
    [("roofline", roofline), ("ladder", ladder), ("table", table), ("repetitions", repetitions)];

/// The measured roof with the printed ones, and the ridge of each.
fn roofline(results: &Results, compared: &[Roof]) -> Frame {
    let own = results.roof();
    let all: Vec<&Roof> = own.iter().chain(compared).collect();
    let ridges = || all.iter().map(|roof| roof.ridge());
    let low = ridges().fold(f64::INFINITY, f64::min) / 16.0;
    let high = ridges().fold(0.0, f64::max) * 16.0;
    let measured = |place: usize| own.is_some() && place == 0;
    let points = all.iter().enumerate().map(|(place, roof)| ScatterPoint {
        x: Some(roof.ridge()),
        y: Some(roof.peak),
        label: short(&roof.name),
        series: usize::from(!measured(place)),
    });
    let lines = all.iter().enumerate().map(|(place, roof)| {
        let way = if measured(place) { "measured" } else { "printed" };
        roof.line(low, high, format!("{}, {way}", short(&roof.name)))
    });
    Frame::Scatter(Scatter {
        x: logarithmic("intensity", "flops/byte"),
        y: logarithmic("attainable", "flop/s"),
        series: vec!["measured ridge".to_owned(), "printed ridge".to_owned()],
        points: points.collect(),
        lines: lines.collect(),
    })
}

/// Bandwidth against the size of the working set.
fn ladder(results: &Results, _: &[Roof]) -> Frame {
    let rungs: Vec<(f64, f64)> =
        results.ladder().map(|(bytes, rate)| (bytes as f64, rate)).collect();
    let names = results.all.iter().filter_map(|(measurement, outcome)| {
        outcome.rate()?;
        Some(measurement.name())
    });
    let names: Vec<String> = names.collect();
    let first = names.len() - rungs.len();
    let points = rungs.iter().zip(&names[first..]);
    Frame::Scatter(Scatter {
        x: logarithmic("working set", "bytes"),
        y: logarithmic("read", "bytes/s"),
        series: vec!["read again and again".to_owned()],
        points: points
            .map(|(&(x, y), name)| ScatterPoint {
                x: Some(x),
                y: Some(y),
                label: name.clone(),
                series: 0,
            })
            .collect(),
        lines: vec![ScatterLine { name: "bandwidth".to_owned(), points: rungs }],
    })
}

/// Peak, bandwidth, ridge and cost of a start of every machine.
fn table(results: &Results, compared: &[Roof]) -> Frame {
    let own = results.roof();
    let unknown = || Value::from("unknown");
    let times = |value: f64, of: Option<f64>| match of {
        Some(own) => Value::from(value / own),
        None => unknown(),
    };
    let row = |roof: &Roof, name: &str, launch: Value| {
        vec![
            Value::from(name),
            roof.peak.into(),
            roof.bandwidth.into(),
            roof.ridge().into(),
            launch,
            times(roof.peak, own.as_ref().map(|own| own.peak)),
            times(roof.bandwidth, own.as_ref().map(|own| own.bandwidth)),
        ]
    };
    let launch = results.launch_seconds().map_or_else(unknown, Value::from);
    let own_row = own.iter().map(|roof| row(roof, &results.device, launch.clone()));
    let others = compared.iter().map(|roof| row(roof, &roof.name, unknown()));
    Frame::Table(Table {
        columns: [
            "machine",
            "flop/s",
            "bytes/s",
            "ridge",
            "launch, s",
            "flop/s, times",
            "bytes/s, times",
        ]
        .map(str::to_owned)
        .to_vec(),
        rows: own_row.chain(others).collect(),
        ..Table::default()
    })
}

/// Every timing as a dot, in medians of its measurement.
fn repetitions(results: &Results, _: &[Roof]) -> Frame {
    let mut points = Vec::new();
    for (place, (measurement, outcome)) in results.all.iter().enumerate() {
        let Outcome::Timed(times) = outcome else {
            continue;
        };
        let Some(median) = times.median() else {
            continue;
        };
        let mut dot = |seconds: f64, label: String, series: usize| {
            points.push(ScatterPoint {
                x: Some(place as f64 + 1.0),
                y: Some(seconds / median),
                label,
                series,
            });
        };
        dot(times.first, measurement.name(), 1);
        for seconds in &times.seconds {
            dot(*seconds, String::new(), 0);
        }
    }
    let last = results.all.len().max(1) as f64;
    Frame::Scatter(Scatter {
        x: Dimension {
            name: "measurement".to_owned(),
            scale: Scale::Linear,
            ..Dimension::default()
        },
        y: logarithmic("time over median", ""),
        series: vec!["repetition".to_owned(), "warm-up".to_owned()],
        points,
        lines: vec![ScatterLine {
            name: "median".to_owned(),
            points: vec![(1.0, 1.0), (last, 1.0)],
        }],
    })
}
