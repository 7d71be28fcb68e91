//! How long an inference takes: by the roof of a chip of the table, or timed on the device at hand.

use std::time::Duration;

use burn::tensor::{Device, Tensor};
use mlsys_device::meter::{Precision, computing};
use mlsys_device::timing;
use mlsys_lab::{DeviceId, LabError};
use mlsys_nn::networks::{Activation, Initialization};

use super::space::Candidate;
use crate::roof::{self, Roof};

pub(super) fn chip(name: &str) -> Result<Roof, LabError> {
    roof::printed(name, Precision::Fp32).ok_or_else(|| {
        let message = format!(
            "the table has no fp32 peak of {name}, which the modelled latency needs; choose another gpu, or latency=measured"
        );
        LabError::contradiction(["gpu", "latency"], message)
    })
}

/// Modelled: the sum over the layers of the longer of flops/peak and bytes/bandwidth, each operand in f32 moved once
/// (the roofline of Williams, Waterman and Patterson 2009, layer by layer).
pub(super) fn modelled(candidate: Candidate, images: usize, roof: &Roof) -> f64 {
    let images = images as u64;
    let costs = candidate.config().costs().into_iter();
    costs.map(|of| roof.seconds(of.flops(images) as f64, of.bytes(images) as f64)).sum()
}

pub(super) fn slowest(images: usize, roof: &Roof) -> f64 {
    let all = Candidate::all().into_iter();
    all.map(|candidate| modelled(candidate, images, roof)).fold(0.0, f64::max)
}

const PACE: timing::Pace = timing::Pace {
    slice: Duration::from_millis(2),
    least: Duration::from_millis(6),
    most: Duration::from_millis(40),
};

/// Seconds of an inference on a batch; the device is without autodiff.
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
    let mut clock = timing::RepeatTimer::warm_up(computing(device, id, inference), PACE)?;
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
}
