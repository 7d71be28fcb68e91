//! How long an inference takes: by the roof of a chip of the table, or timed on the device at hand.

use std::time::Duration;

use burn::tensor::{Device, Tensor};
use mlsys_lab::{DeviceId, LabError};

use super::space::Candidate;
use crate::roof::{Roof, short};
use mlsys_device::meter::{Precision, computing};
use mlsys_device::timing;
use mlsys_nn::nets::{Activation, Initialization};

/// What tells the latency.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Clock {
    /// The device at hand.
    Measured,
    /// The printed roof of a chip.
    Modelled(Roof),
}

impl Clock {
    /// As an axis names it.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Measured => "measured latency here".to_owned(),
            Self::Modelled(roof) => format!("modelled {} latency", short(&roof.name)),
        }
    }

    /// The chip that it models.
    pub(super) fn chip(&self) -> Option<String> {
        match self {
            Self::Measured => None,
            Self::Modelled(roof) => Some(short(&roof.name)),
        }
    }
}

/// The printed roof of a chip.
///
/// # Errors
/// If the table has no fp32 peak of it.
pub(super) fn chip(name: &str) -> Result<Roof, LabError> {
    Roof::printed(name, Precision::Fp32).ok_or_else(|| {
        let said = format!(
            "the table has no fp32 peak of {name}, which the modelled latency needs; choose another gpu, or latency=measured"
        );
        LabError::contradiction(["gpu", "latency"], said)
    })
}

/// Modelled: the sum over the layers of the longer of flops/peak and bytes/bandwidth, each operand in f32 moved once
/// (the roofline of Williams, Waterman and Patterson 2009, layer by layer).
pub(super) fn modelled(candidate: Candidate, images: usize, roof: &Roof) -> f64 {
    let images = images as u64;
    let costs = candidate.config().costs().into_iter();
    let layers =
        costs.map(|cost| roof.seconds(cost.flops(images) as f64, cost.bytes(images) as f64));
    layers.sum()
}

/// The slowest of the space by the model.
pub(super) fn slowest(images: usize, roof: &Roof) -> f64 {
    let all = Candidate::all().into_iter();
    all.map(|candidate| modelled(candidate, images, roof)).fold(0.0, f64::max)
}

const PACE: timing::Pace = timing::Pace {
    slice: Duration::from_millis(2),
    least: Duration::from_millis(6),
    most: Duration::from_millis(40),
};

/// Seconds of an inference of so many images on the device, given without autodiff.
pub(super) fn measured(
    candidate: Candidate,
    images: usize,
    (id, device): (DeviceId, &Device),
    interrupted: impl Fn() -> bool,
) -> Result<f64, LabError> {
    let edge = candidate.config().edge;
    // What the weights are does not change what is done with them.
    let network = candidate.architecture().init(Initialization::He, 1, device);
    let images = Tensor::<2>::full([images, edge * edge], 0.5, device);
    let inference = move || network.forward(images.clone(), Activation::Relu);
    let mut clock = timing::Clock::warm_up(computing(device, id, inference), PACE)?;
    clock.repeat(interrupted)?;
    Ok(clock.times().median().unwrap_or(f64::NAN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_the_sum_of_its_layers() {
        let roof = Roof { name: "one".to_owned(), peak: 100.0, bandwidth: 10.0 };
        let smallest = Candidate::all()[0];
        // 4-8 3x3, 1 block, of 2 images.
        let layers = [
            (4 * 9 * 196, 784 + 4 * 196, 36),
            (8 * 4 * 9 * 49, 4 * 196 + 8 * 49, 288),
            (392 * 10, 392 + 10, 3930),
        ];
        let seconds = |(products, numbers, weights): (u64, u64, u64)| {
            let compute = (2 * 2 * products) as f64 / 100.0;
            compute.max((4 * (2 * numbers + weights)) as f64 / 10.0)
        };
        let expected: f64 = layers.into_iter().map(seconds).sum();
        assert!((modelled(smallest, 2, &roof) - expected).abs() < 1e-9 * expected);
        assert!(slowest(2, &roof) > expected);
    }

    #[test]
    fn a_chip_without_such_a_peak_is_refused() {
        assert_eq!(chip("h100-sxm5-80gb").unwrap().ridge(), 20.0);
        let error = chip("mi300x").unwrap_err();
        assert!(error.is_usage());
        assert!(error.to_string().contains("choose another gpu"), "{error}");
    }
}
