//! The panels: levels over weights, weights before and after, what changed, noise, sensitivity, size and time.

mod answers;
mod noise;
mod shapes;
mod sums;

use mlsys_lab::DeviceId;
use mlsys_lab::frame::Frame;

use super::calibrated::{InputGrids, Observed};
use super::session::Session;

pub(super) use noise::Curves;

/// What is pictured.
pub(super) struct Pictured<'a> {
    pub(super) session: &'a Session,
    pub(super) observed: Option<&'a Observed>,
    pub(super) grids: &'a InputGrids,
    pub(super) curves: Option<&'a Curves>,
    pub(super) device: DeviceId,
}

/// Makes a picture.
type Draw = fn(&Pictured<'_>) -> Frame;

/// The panel that needs the noise of all widths.
pub(super) const NOISE: &str = "noise";

/// Every panel that is no curve.
pub(super) const ALL: [(&str, Draw); 8] = [
    ("histogram", shapes::histogram),
    ("weights", shapes::weights),
    ("samples", answers::samples),
    (NOISE, noise::draw),
    ("sensitivity", noise::sensitivity),
    ("size", sums::size),
    ("activations", shapes::activations),
    ("speed", sums::speed),
];

impl Pictured<'_> {
    /// The layer that is shown, from 0: the last one if there are not so many.
    fn layer(&self) -> usize {
        let last = self.session.layers.len().saturating_sub(1);
        self.session.knobs().layer.min(last)
    }
}
