//! What the forward pass costs in energy.

use mlsys_lab::Frame;
use mlsys_lab::frame::{Bar, Bars};
use mlsys_lab::schema::Scale;

use super::Shown;

/// Arithmetic beside trips to memory for one example of the batch, for which weights that are read once are shared.
pub(super) fn picture(shown: Shown<'_>) -> Frame {
    let Shown { record, count, .. } = shown;
    let examples = record.setup.batch.max(1) as f64;
    let bar = |label: &str, joules: Option<f64>, of: &str| Bar {
        label: label.to_owned(),
        value: joules.map(|joules| joules / examples),
        remark: match joules {
            Some(_) => of.to_owned(),
            None => "no figure is known".to_owned(),
        },
    };
    Frame::Bars(Bars {
        unit: "joules".to_owned(),
        scale: Scale::Linear,
        bars: vec![
            bar("arithmetic", count.arithmetic_joules, "an example"),
            bar("trips to memory", count.memory_joules, "an example"),
        ],
    })
}
