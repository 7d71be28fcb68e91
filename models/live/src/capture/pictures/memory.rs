//! What a training step must hold.

use mlsys_lab::Frame;
use mlsys_lab::frame::{Bar, Bars};
use mlsys_lab::schema::Scale;

use super::Shown;
use mlsys_nn::capture::record::Rule;

/// Weights, gradients, optimizer state and kept activations as bars.
pub(super) fn picture(shown: Shown<'_>) -> Frame {
    let Shown { record, count, counting } = shown;
    let weights = counting.bytes * record.setup.architecture.parameters();
    let (moments, of_rule) = match record.setup.rule {
        Rule::Sgd => (0, "sgd keeps nothing"),
        Rule::Adam => (2, "two moments a weight"),
    };
    let bar = |label: &str, bytes: u64, remark: &str| Bar {
        label: label.to_owned(),
        value: Some(bytes as f64),
        remark: remark.to_owned(),
    };
    let mut bars = vec![
        bar("weights", weights, ""),
        bar("gradients", weights, "one a weight"),
        bar("optimizer", moments * weights, of_rule),
        bar("activations", count.saved_bytes, "kept, by rule"),
        bar("activations at the peak", count.training_peak_bytes, "with their gradients"),
        bar("activations burn keeps", count.recorded.saved_bytes, "by its record"),
        bar("activations of inference", count.inference_peak_bytes, "peak of inference"),
    ];
    if count.step.recomputed_flops > 0 {
        let remark = format!("{:.3e} flops done again", count.step.recomputed_flops as f64);
        bars[3].remark = remark;
    }
    Frame::Bars(Bars { unit: "bytes".to_owned(), scale: Scale::Linear, bars })
}
