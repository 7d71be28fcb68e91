//! The lab's panels.

use mlsys_device::meter::Precision;
use mlsys_lab::picture::{line, log_axis, point, scatter};
use mlsys_lab::{Frame, Run};

use super::Shape;
use crate::roof::{self, Roof, short};
use crate::stepped;

/// Chips drawn in outline, at their printed peaks.
const OUTLINED: [&str; 3] = ["v100-sxm2-16gb", "a100-sxm4-40gb", "h100-sxm5-80gb"];

type Picture = fn(&Results, &Roof) -> Frame;

pub(super) const ALL: [(&str, Picture); 3] =
    [("roofline", roofline), ("rate", rate), ("latency", latency)];

fn roofline(results: &Results, roof: &Roof) -> Frame {
    let printed = OUTLINED.iter().filter_map(|chip| roof::printed(chip, results.precision));
    let printed: Vec<Roof> = printed.collect();
    let points = results.products.iter().map(|timed| {
        let intensity = timed.shape.intensity(results.precision);
        point(intensity, timed.rate(), timed.shape.size.to_string(), 0)
    });
    let mut roofs = vec![(roof, format!("{}, measured", roof.name))];
    roofs.extend(printed.iter().map(|chip| (chip, format!("{}, printed", short(&chip.name)))));
    roof::roofline("reached", &["product, by its size"], points.collect(), &roofs, 2.0)
}

fn rate(results: &Results, _: &Roof) -> Frame {
    let knee = results.knee();
    let points = results.products.iter().map(|timed| match knee {
        Some(knee) if knee == *timed => {
            point(timed.size(), timed.rate(), format!("knee: {}", timed.shape.size), 1)
        }
        Some(_) | None => point(timed.size(), timed.rate(), "", 0),
    });
    let mut lines =
        vec![line("rate", results.products.iter().map(|timed| (timed.size(), timed.rate())))];
    if let (Some(best), [first, .., last]) = (results.best(), results.products.as_slice()) {
        let half = best / 2.0;
        lines.push(line("half of the best", [(first.size(), half), (last.size(), half)]));
    }
    let axes = [log_axis("size", ""), log_axis("rate", "flop/s")];
    scatter(axes, &["product", "knee"], points.collect(), lines)
}

fn latency(results: &Results, _: &Roof) -> Frame {
    let places = results.products.iter().map(|timed| (timed.size(), timed.seconds));
    let points = places.clone().map(|(x, y)| point(x, y, "", 0)).collect();
    let axes = [log_axis("size", ""), log_axis("time", "seconds")];
    scatter(axes, &["one product"], points, vec![line("time", places)])
}

pub(super) struct Results {
    pub(super) precision: Precision,
    pub(super) products: Vec<Timed>,
    pub(super) error: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Timed {
    pub(super) shape: Shape,
    pub(super) seconds: f64,
}

impl Timed {
    fn size(self) -> f64 {
        self.shape.size as f64
    }

    pub(super) fn rate(self) -> f64 {
        self.shape.flops() as f64 / self.seconds
    }
}

impl Results {
    pub(super) fn best(&self) -> Option<f64> {
        self.products.iter().map(|timed| timed.rate()).reduce(f64::max)
    }

    /// The product of the smallest size that reaches half of the best rate.
    pub(super) fn knee(&self) -> Option<Timed> {
        let half = self.best()? / 2.0;
        let fast = self.products.iter().filter(|timed| timed.rate() >= half);
        fast.min_by_key(|timed| timed.shape.size).copied()
    }

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
            stepped::point(run, name, step, value);
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
