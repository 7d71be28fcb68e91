//! The two laws as curves over the number of processors, and a measurement among them.

use mlsys_lab::frame::{Dimension, Scatter, ScatterLine, ScatterPoint};
use mlsys_lab::schema::Scale;
use mlsys_lab::value::number;
use mlsys_lab::{Frame, Value};

use super::{Laws, Measured};
use mlsys_lab::picture::table;
use mlsys_lab::steps::percent;

/// Places at which a curve is computed: enough for a smooth one on any screen.
const PLACES: u32 = 48;

/// An axis on which equal steps multiply.
fn axis(name: &str) -> Dimension {
    Dimension { name: name.to_owned(), scale: Scale::Log, ..Dimension::default() }
}

fn point(x: f64, y: f64, label: impl Into<String>, series: usize) -> ScatterPoint {
    ScatterPoint {
        x: Some(x),
        // A speedup of nothing has no place on an axis of factors.
        y: (y > 0.0).then_some(y),
        label: label.into(),
        series,
    }
}

/// A curve from 1 to `most`, at places whose neighbours are equal factors apart.
fn curve(name: &str, most: f64, of: impl Fn(f64) -> f64) -> ScatterLine {
    let place = |step: u32| {
        let x = most.powf(f64::from(step) / f64::from(PLACES));
        (x, of(x))
    };
    ScatterLine { name: name.to_owned(), points: (0..=PLACES).map(place).collect() }
}

/// How far to the right a picture goes: beyond what is asked about, so that one sees where it leads.
fn reach(processors: f64) -> f64 {
    (8.0 * processors).max(64.0)
}

/// Both laws, the limit and this number of processors.
pub(super) fn speedup(laws: &Laws, processors: f64, measured: Option<&Measured>) -> Frame {
    let most = reach(processors);
    let mut lines = vec![
        curve("as many times as processors", most, |n| n),
        curve("Gustafson: the work grows", most, |n| laws.gustafson(n)),
        curve("Amdahl: the work stays", most, |n| laws.amdahl(n)),
    ];
    if let Some(limit) = laws.limit().filter(|&limit| limit <= most) {
        lines.push(curve("Amdahl's limit", most, |_| limit));
    }
    let (amdahl, gustafson) = (laws.amdahl(processors), laws.gustafson(processors));
    let mut points = vec![
        point(processors, amdahl, format!("Amdahl {}", number(round(amdahl))), 0),
        point(processors, gustafson, format!("Gustafson {}", number(round(gustafson))), 1),
    ];
    let mut series = vec!["Amdahl".to_owned(), "Gustafson".to_owned()];
    // A speedup over a baseline of several processors is another quantity than these curves show.
    if let Some(measured) = measured.filter(|measured| measured.baseline == 1.0) {
        series.push("measured".to_owned());
        let label = format!("measured {}", number(round(measured.speedup)));
        points.push(point(processors, measured.speedup, label, 2));
    }
    Frame::Scatter(Scatter { x: axis("processors"), y: axis("speedup"), series, points, lines })
}

/// The measurement, and the Amdahl curve that goes through it.
pub(super) fn measured(measured: Option<&Measured>) -> Frame {
    let Some(measured) = measured else {
        return Frame::Text(
            "Nothing is measured yet: set measured_speedup, or baseline_seconds and seconds, or \
             baseline_throughput and throughput."
                .to_owned(),
        );
    };
    let ratio = measured.ratio();
    let most = reach(ratio);
    let mut lines = vec![curve("as many times as processors", most, |r| r)];
    if let Some(serial) = measured.serial() {
        let name = format!("Amdahl with {} serial", percent(serial));
        // A superlinear measurement has a negative share, whose curve ends where the time would be nothing.
        let mut through = curve(&name, most, |r| 1.0 / (serial + (1.0 - serial) / r));
        through.points.retain(|&(_, y)| y.is_finite() && y > 0.0);
        lines.push(through);
    }
    let remark = format!("measured {}", number(round(measured.speedup)));
    let across = if measured.baseline == 1.0 { "processors" } else { "times as many processors" };
    Frame::Scatter(Scatter {
        x: axis(across),
        y: axis("speedup"),
        series: vec!["measured".to_owned()],
        points: vec![point(ratio, measured.speedup, remark, 0)],
        lines,
    })
}

/// Both laws at powers of two, and at this number of processors.
pub(super) fn processors(laws: &Laws, own: f64) -> Frame {
    let mut all: Vec<f64> = (0..=14).map(|power| f64::from(1 << power)).collect();
    if !all.contains(&own) {
        all.push(own);
        all.sort_by(f64::total_cmp);
    }
    let row = |n: f64| {
        let (amdahl, gustafson) = (laws.amdahl(n), laws.gustafson(n));
        [
            Value::from(n as i64),
            amdahl.into(),
            percent(amdahl / n).into(),
            gustafson.into(),
            percent(gustafson / n).into(),
            if n == own { "this one" } else { "" }.into(),
        ]
    };
    table(
        ["processors", "Amdahl", "efficiency", "Gustafson", "efficiency", ""],
        all.into_iter().map(row).collect(),
    )
}

/// Four digits, for a label.
fn round(x: f64) -> f64 {
    mlsys_lab::value::significant(x, 4)
}
