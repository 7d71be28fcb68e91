//! The lab's panels.

use mlsys_lab::Frame;
use mlsys_lab::frame::{Scatter, ScatterLine, ScatterPoint};

use super::results::{Results, Timed};
use crate::roof::{Roof, logarithmic, short};

/// The chips whose printed roofs are drawn in outline.
const OUTLINED: [&str; 3] = ["v100-sxm2-16gb", "a100-sxm4-40gb", "h100-sxm5-80gb"];

type Picture = fn(&Results, &Roof) -> Frame;

/// Every panel.
pub(super) const ALL: [(&str, Picture); 3] =
    [("roofline", roofline), ("rate", rate), ("latency", latency)];

fn point(x: f64, y: f64, label: String, series: usize) -> ScatterPoint {
    ScatterPoint { x: Some(x), y: Some(y), label, series }
}

/// Each product under the measured roof.
fn roofline(results: &Results, roof: &Roof) -> Frame {
    let printed = OUTLINED.iter();
    let printed = printed.filter_map(|chip| Roof::printed(chip, results.precision));
    let printed: Vec<Roof> = printed.collect();
    let place = |timed: &Timed| timed.shape.intensity(results.precision);
    let points: Vec<ScatterPoint> = results
        .products
        .iter()
        .map(|timed| point(place(timed), timed.rate(), timed.shape.size.to_string(), 0))
        .collect();
    let across = results.products.iter().map(place);
    let across = across.chain(std::iter::once(roof).chain(&printed).map(Roof::ridge));
    let (low, high) =
        across.fold((f64::INFINITY, 0.0_f64), |(low, high), x| (low.min(x), high.max(x)));
    let (low, high) = (low / 2.0, high * 2.0);
    let own = roof.line(low, high, format!("{}, measured", roof.name));
    let printed =
        printed.iter().map(|chip| chip.line(low, high, format!("{}, printed", short(&chip.name))));
    Frame::Scatter(Scatter {
        x: logarithmic("intensity", "flops/byte"),
        y: logarithmic("reached", "flop/s"),
        series: vec!["product, by its size".to_owned()],
        points,
        lines: std::iter::once(own).chain(printed).collect(),
    })
}

/// Rate against size, with the knee.
fn rate(results: &Results, _: &Roof) -> Frame {
    let knee = results.knee();
    let size = |timed: &Timed| timed.shape.size as f64;
    let points = results.products.iter().map(|timed| match knee {
        Some(knee) if knee == *timed => {
            point(size(timed), timed.rate(), format!("knee: {}", timed.shape.size), 1)
        }
        Some(_) | None => point(size(timed), timed.rate(), String::new(), 0),
    });
    let places = results.products.iter();
    let mut lines = vec![ScatterLine {
        name: "rate".to_owned(),
        points: places.map(|timed| (size(timed), timed.rate())).collect(),
    }];
    if let (Some(best), [first, .., last]) = (results.best(), results.products.as_slice()) {
        lines.push(ScatterLine {
            name: "half of the best".to_owned(),
            points: vec![(size(first), best / 2.0), (size(last), best / 2.0)],
        });
    }
    Frame::Scatter(Scatter {
        x: logarithmic("size", ""),
        y: logarithmic("rate", "flop/s"),
        series: vec!["product".to_owned(), "knee".to_owned()],
        points: points.collect(),
        lines,
    })
}

/// Time against size.
fn latency(results: &Results, _: &Roof) -> Frame {
    let places: Vec<(f64, f64)> =
        results.products.iter().map(|timed| (timed.shape.size as f64, timed.seconds)).collect();
    Frame::Scatter(Scatter {
        x: logarithmic("size", ""),
        y: logarithmic("time", "seconds"),
        series: vec!["one product".to_owned()],
        points: places.iter().map(|&(x, y)| point(x, y, String::new(), 0)).collect(),
        lines: vec![ScatterLine { name: "time".to_owned(), points: places }],
    })
}
