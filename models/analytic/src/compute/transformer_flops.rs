//! Kind `transformer-flops`: operations of one training iteration, and the utilization that a measured time implies.

mod products;

use mlsys_lab::schema::{Schema, SchemaError};
use mlsys_lab::value::number;
use mlsys_lab::{Frame, Lab, LabError, Params, Run};

use crate::compute::transformer::{Architecture, Heads};
use mlsys_lab::picture;
use mlsys_lab::steps::{finite, percent};

/// The lab `transformer-flops`.
pub struct TransformerFlops {
    schema: Schema,
}

impl TransformerFlops {
    /// The lab with its schema read.
    ///
    /// # Errors
    /// The schema does not read.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = Schema::parse(include_str!("../../labs/transformer-flops.toml"))?;
        Ok(Self { schema })
    }
}

impl Lab for TransformerFlops {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let iteration = Iteration::read(&run.params)?;
        let flops = Flops::of(&iteration);
        let large = || "the dimensions are too large for their product".to_owned();
        finite(run, "forward_flops", flops.forward, large)?;
        finite(run, "model_flops", flops.model, large)?;
        finite(run, "hardware_flops", flops.hardware, large)?;
        finite(run, "flops_per_token", flops.model / iteration.tokens, large)?;
        finite(run, "attention_to_matmul", flops.attention / flops.weights, large)?;
        let measured = Measured::read(&run.params)?;
        if let Some(measured) = &measured {
            let peak = measured.devices * measured.peak;
            let reason = || {
                format!(
                    "{} devices at {} flop/s in {} seconds can do nothing",
                    number(measured.devices),
                    number(measured.peak),
                    number(measured.seconds)
                )
            };
            finite(run, "mfu", flops.model / (measured.seconds * peak), reason)?;
            finite(run, "hfu", flops.hardware / (measured.seconds * peak), reason)?;
            let rate = iteration.tokens / measured.seconds;
            finite(run, "tokens_per_second", rate, reason)?;
        }
        picture::offer(run, "parts", || iteration.parts(&flops));
        picture::offer(run, "passes", || flops.passes());
        let time = time(&run.params, &flops, measured.as_ref());
        picture::offer(run, "time", || time);
        picture::offer(run, "steps", || iteration.steps(&flops, measured.as_ref()));
        Ok(())
    }
}

/// What is kept of the forward pass, and what is computed again in the backward pass.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Recompute {
    None,
    /// The attention matrices.
    Selective,
    /// Every layer from its input.
    Full,
}

/// One iteration of training: a model and a batch.
pub(crate) struct Iteration {
    pub(crate) layers: f64,
    pub(crate) hidden: f64,
    pub(crate) heads: Heads,
    pub(crate) ffn: f64,
    /// 2 matrices in a GPT's MLP, 3 in a Llama's.
    pub(crate) ffn_matrices: f64,
    pub(crate) vocab: f64,
    pub(crate) sequence: f64,
    /// t = B*s.
    pub(crate) tokens: f64,
    pub(crate) recompute: Recompute,
}

impl Iteration {
    fn read(params: &Params) -> Result<Self, LabError> {
        let hidden = params.int("hidden")?;
        let sequence = params.float("sequence")?;
        Ok(Self {
            layers: params.float("layers")?,
            hidden: hidden as f64,
            heads: Heads::of(params, hidden)?,
            ffn: params.optional_float("ffn").unwrap_or(4.0 * hidden as f64),
            ffn_matrices: match Architecture::of(params)? {
                Architecture::Gpt => 2.0,
                Architecture::Llama => 3.0,
            },
            vocab: params.float("vocab")?,
            sequence,
            tokens: params.float("batch")? * sequence,
            recompute: match params.text("recompute")? {
                "selective" => Recompute::Selective,
                "full" => Recompute::Full,
                _ => Recompute::None,
            },
        })
    }
}

/// FLOPs of the iteration.
pub(crate) struct Flops {
    /// W, the weight matrices of one layer.
    pub(crate) weights: f64,
    /// C, scores and their product with V of one layer.
    pub(crate) attention: f64,
    pub(crate) logits: f64,
    pub(crate) forward: f64,
    /// Forward and backward.
    pub(crate) model: f64,
    /// With what is computed again.
    pub(crate) hardware: f64,
}

impl Flops {
    /// Counts an iteration.
    pub(crate) fn of(iteration: &Iteration) -> Self {
        let Iteration {
            layers,
            hidden: h,
            heads,
            ffn,
            ffn_matrices: n,
            vocab,
            sequence: s,
            tokens: t,
            recompute,
        } = *iteration;
        let (a, k) = (heads.queries as f64, heads.keys as f64);
        // W = 2t*(2hA + 2hK + n*h*ffn)
        let weights = 2.0 * t * (2.0 * h * a + 2.0 * h * k + n * h * ffn);
        // C = 4t*s*A: each token against all s, as many again with V
        let attention = 4.0 * t * s * a;
        // logits = 2t*h*V
        let logits = 2.0 * t * h * vocab;
        let forward = layers * (weights + attention) + logits;
        // The backward pass multiplies twice for each product: a gradient for the input and one for the weights.
        let model = 3.0 * forward;
        let again = match recompute {
            Recompute::None => 0.0,
            Recompute::Selective => 3.0 * layers * attention,
            Recompute::Full => layers * (weights + attention),
        };
        Self { weights, attention, logits, forward, model, hardware: model + again }
    }

    fn passes(&self) -> Frame {
        let bar = |label: &str, flops: f64, remark: &str| picture::bar(label, flops, remark);
        picture::bars(
            "flops",
            vec![
                bar("forward", self.forward, "2 a weight and token"),
                bar("backward", self.model - self.forward, "twice the forward"),
                bar("recomputed", self.hardware - self.model, "hardware only"),
            ],
        )
    }
}

/// What a measured iteration took, on what.
struct Measured {
    devices: f64,
    seconds: f64,
    /// Dense peak of one device, in flop/s.
    peak: f64,
}

impl Measured {
    /// Devices, seconds and peak, if the iteration was measured.
    fn read(params: &Params) -> Result<Option<Self>, LabError> {
        let devices = params.optional_float("devices");
        let Some((devices, seconds)) = devices.zip(params.optional_float("seconds")) else {
            return Ok(None);
        };
        Ok(Some(Self { devices, seconds, peak: params.float("peak_flops_per_second")? }))
    }
}

/// Seconds at peak, and the rest of the measured time.
fn time(params: &Params, flops: &Flops, measured: Option<&Measured>) -> Frame {
    let devices = params.optional_float("devices").unwrap_or(1.0);
    let peak = match params.float("peak_flops_per_second") {
        Ok(peak) if peak > 0.0 => devices * peak,
        Ok(_) => return Frame::Text("a peak of 0 flop/s does nothing in any time".to_owned()),
        Err(error) => return Frame::Text(format!("no time at peak: {error}")),
    };
    let at_peak = |label: &str, flops: f64, remark: &str| picture::bar(label, flops / peak, remark);
    let backward = flops.model - flops.forward;
    let again = flops.hardware - flops.model;
    let mut bars = vec![
        at_peak("forward", flops.forward, "at peak"),
        at_peak("backward", backward, "at peak"),
        at_peak("recomputed", again, "at peak"),
    ];
    if let Some(measured) = measured {
        let rest = measured.seconds - flops.hardware / peak;
        let share = percent(rest / measured.seconds);
        let remark = if rest < 0.0 { "faster than peak".to_owned() } else { share };
        bars.push(picture::bar("everything else", rest, remark));
        bars.push(picture::bar("measured", measured.seconds, "the iteration"));
    }
    picture::bars("seconds", bars)
}

#[cfg(test)]
mod tests;
