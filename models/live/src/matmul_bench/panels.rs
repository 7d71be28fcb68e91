//! The lab's panels.

use mlsys_device::meter::Precision;
use mlsys_lab::frame::{Scatter, ScatterLine, ScatterPoint};
use mlsys_lab::report::Report;
use mlsys_lab::{Frame, Run};

use super::Shape;
use crate::roof::{self, Roof, logarithmic, short};

/// Chips drawn in outline, at their printed peaks.
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
    let printed = printed.filter_map(|chip| roof::printed(chip, results.precision));
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
    let own = roof::line(roof, low, high, format!("{}, measured", roof.name));
    let printed = printed
        .iter()
        .map(|chip| roof::line(chip, low, high, format!("{}, printed", short(&chip.name))));
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

// Results, and the metrics computed from them.

/// The products so far.
pub(super) struct Results {
    pub(super) precision: Precision,
    pub(super) products: Vec<Timed>,
    /// Largest relative error of all sampled entries.
    pub(super) error: f64,
}

/// A product and its median time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Timed {
    pub(super) shape: Shape,
    pub(super) seconds: f64,
}

impl Timed {
    /// flops / seconds
    pub(super) fn rate(self) -> f64 {
        self.shape.flops() as f64 / self.seconds
    }
}

impl Results {
    /// The largest rate.
    pub(super) fn best(&self) -> Option<f64> {
        self.products.iter().map(|timed| timed.rate()).reduce(f64::max)
    }

    /// The product of the smallest size that reaches half of the best rate.
    pub(super) fn knee(&self) -> Option<Timed> {
        let half = self.best()? / 2.0;
        let fast = self.products.iter().filter(|timed| timed.rate() >= half);
        fast.min_by_key(|timed| timed.shape.size).copied()
    }

    /// Adds a product: one step of every series.
    pub(super) fn push(&mut self, run: &mut Run<'_>, timed: Timed, roof: &Roof) {
        self.products.push(timed);
        let step = self.products.len() as u64;
        let Timed { shape, seconds } = timed;
        let intensity = shape.intensity(self.precision);
        for (name, value) in [
            ("size", shape.size as f64),
            ("flops", shape.flops() as f64),
            ("bytes", shape.bytes(self.precision) as f64),
            ("intensity", intensity),
            ("seconds", seconds),
            ("flops_per_second", timed.rate()),
            ("fraction_of_peak", timed.rate() / roof.peak),
            ("attainable_flops_per_second", roof.at(intensity)),
        ] {
            run.sink.report(Report::Point { name: name.into(), step, value });
        }
        if let (Some(best), Some(knee)) = (self.best(), self.knee()) {
            run.scalar("best_flops_per_second", best);
            run.scalar("knee_size", knee.shape.size as i64);
        }
        run.scalar("max_relative_error", self.error);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knee_is_the_smallest_size_at_half_the_best_rate() {
        let timed = |size: usize, rate: f64| {
            let shape = Shape { size, m: size, n: 2, k: 2 };
            let seconds = shape.flops() as f64 / rate;
            Timed { shape, seconds }
        };
        let results = |products: &[Timed]| Results {
            precision: Precision::Fp32,
            products: products.to_vec(),
            error: 0.0,
        };
        let knee = |all: &[Timed]| results(all).knee().map(|timed| timed.shape.size);
        let rising = [timed(1, 1.0), timed(2, 3.0), timed(4, 5.9), timed(8, 6.0)];
        assert_eq!(knee(&rising), Some(2));
        let falling = [timed(8, 6.0), timed(4, 10.0), timed(2, 4.9)];
        assert_eq!(knee(&falling), Some(4));
        assert_eq!(knee(&[]), None);
    }
}
