//! Bytes and seconds.

use mlsys_lab::frame::{Bar, Bars, Frame, Pane, Stack, Stacks};
use mlsys_lab::schema::Scale;
use mlsys_lab::value::number;

use super::Pictured;
use crate::quantize_model::session::Session;
use crate::quantize_model::setup::Execution;
use mlsys_device as device;
use mlsys_nn::nets::Architecture;

/// Bytes of a weight in 32 bits.
const FLOAT: usize = 4;

/// Stored bytes before and after, part by part.
pub(super) fn size(of: &Pictured<'_>) -> Frame {
    let size = of.session.rounded.size();
    let stack = |label: &str, parts: [usize; 3], remark: String| Stack {
        label: label.to_owned(),
        values: parts.map(|bytes| Some(bytes as f64)).into(),
        remark,
    };
    let bits = size.bits_per_weight();
    Frame::Stacks(Stacks {
        unit: "bytes".to_owned(),
        parts: ["weights", "scales", "biases"].map(str::to_owned).into(),
        stacks: vec![
            stack("32-bit floats", [FLOAT * size.weights, 0, size.others], String::new()),
            stack(
                "as stored",
                [size.matrices.weights, size.matrices.scales, size.others],
                format!("{:.2}x smaller", size.ratio()),
            ),
        ],
        limit: None,
        note: format!(
            "{} bits a weight, scales included",
            number((1000.0 * bits).round() / 1000.0)
        ),
    })
}

/// Seconds of a forward pass before and after, and what they mean.
pub(super) fn speed(of: &Pictured<'_>) -> Frame {
    let session = of.session;
    let bar = |label: &str, seconds: Option<f64>| Bar {
        label: label.to_owned(),
        value: seconds.filter(|seconds| seconds.is_finite()),
        remark: String::new(),
    };
    let bars = Frame::Bars(Bars {
        unit: "s".to_owned(),
        scale: Scale::Linear,
        bars: vec![
            bar("before", Some(session.seconds_before)),
            bar("rounded", session.seconds_after),
        ],
    });
    let words = match (session.knobs().execution, device::is_asynchronous(of.device)) {
        (Execution::Simulated, _) => {
            "The rounded weights lie in memory as 32-bit floats and are multiplied as such: the same arithmetic on other \
             values. No time is saved. What is stored is counted by the scheme."
                .to_owned()
        }
        (Execution::Native, false) => format!(
            "{} On the processor burn keeps each of their weights in 8 bits, however few are asked for, and turns them back \
             into floats before it multiplies: no time is saved, some is added. What is stored is counted by the scheme.",
            held(session)
        ),
        (Execution::Native, true) => format!(
            "{} This device reads them packed; the products are sums of floats. What is stored is counted by the scheme.",
            held(session)
        ),
    };
    Frame::Panes(vec![
        Pane { title: "seconds for all fresh examples".to_owned(), frame: bars },
        Pane { title: "what computes".to_owned(), frame: Frame::Text(words) },
    ])
}

/// Which matrices burn holds as quantized tensors, in a sentence.
fn held(session: &Session) -> String {
    let (native, all) = (session.native, session.layers.len());
    if native == all {
        return format!("All {all} matrices are burn's quantized tensors.");
    }
    let others = match session.trained.architecture {
        Architecture::Transformer(_) => "the embedding, of which rows are looked up, holds",
        Architecture::Mlp(_) | Architecture::Cnn(_) | Architecture::Filters(_) => {
            "convolutions, which burn has for floats alone, hold"
        }
    };
    format!(
        "{native} of {all} matrices are burn's quantized tensors; {others} the rounded values as floats."
    )
}
