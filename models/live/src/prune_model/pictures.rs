//! The panels: what is left, what it reads, what it takes.

mod blocks;
mod recovery;
mod size;
mod speed;
mod weights;

use mlsys_lab::Frame;
use mlsys_lab::frame::{Bar, Bars};
use mlsys_lab::schema::Scale;
use mlsys_lab::value::number;
use mlsys_sim::pruning::mask;

use super::cut::Cut;
use super::hardware::{Item, Uses, Work};
use super::parts::{Body, Kind};
use super::setup::Knobs;
use super::size::Curves;

pub(super) use recovery::{Event, Sample};

/// What is pictured.
pub(super) struct Pictured<'a> {
    pub(super) body: &'a Body,
    pub(super) uses: &'a [Uses],
    pub(super) work: Work,
    pub(super) knobs: &'a Knobs,
    pub(super) cut: &'a Cut,
    /// The weights that the last cut was made of.
    pub(super) before: &'a [f32],
    /// The weights now.
    pub(super) row: &'a [f32],
    pub(super) trail: &'a [Sample],
    pub(super) curves: Option<&'a Curves>,
    /// Measured seconds of the whole network and of what is left.
    pub(super) seconds: Option<[f64; 2]>,
}

impl Pictured<'_> {
    /// What a network is judged by.
    fn score(&self) -> &'static str {
        match self.work.of {
            Item::Token => "minus validation loss, nats",
            Item::Image => "accuracy",
        }
    }
}

/// Makes a picture.
type Draw = fn(&Pictured<'_>) -> Frame;

/// Every panel that is no curve.
pub(super) const ALL: [(&str, Draw); 6] = [
    ("weights", weights::images),
    ("histogram", weights::histograms),
    ("layers", layers),
    ("recovery", recovery::draw),
    ("size", size::draw),
    ("hardware", speed::draw),
];

/// The share of each layer's weights that is left.
fn layers(of: &Pictured<'_>) -> Frame {
    let bar = |label: String, kept: usize, all: usize| Bar {
        label,
        value: Some(100.0 * kept as f64 / all.max(1) as f64),
        remark: format!("{} of {}", number(kept as f64), number(all as f64)),
    };
    let masks = of.body.layers.iter().zip(&of.cut.masks);
    let mut bars: Vec<Bar> = masks
        .map(|(layer, kept)| {
            let label = format!("{}, {}", layer.name, layer.what);
            bar(label, mask::count(kept), kept.len())
        })
        .collect();
    bars.push(bar("all weights".to_owned(), of.cut.kept(), of.cut.weights_in_all()));
    for (kind, what) in [(Kind::Units, "hidden units"), (Kind::Heads, "attention heads")] {
        let (left, all) = of.cut.left_of(kind, of.body);
        if left < all {
            bars.push(bar(what.to_owned(), left, all));
        }
    }
    Frame::Bars(Bars { unit: "%".to_owned(), scale: Scale::Linear, bars })
}
