//! What was measured, and the metrics it gives.

use mlsys_lab::Run;
use mlsys_lab::report::Report;

use super::setup::Shape;
use crate::roof::Roof;
use mlsys_device::meter::Precision;

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
    fn the_knee_is_the_smallest_size_that_reaches_half_of_the_best_rate() {
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
