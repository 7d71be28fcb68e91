//! Parameters as the lab needs them: the network to record, and how its record is counted.

use mlsys_lab::{LabError, Params, Tables, Value};

use mlsys_device::choice::pick;
use mlsys_nn::capture::cost::{Counting, Fusing, Recompute, Roof};
use mlsys_nn::capture::record::Rule;
use mlsys_nn::cases::{self, ACTIVATIONS, MODELS, Model};
use mlsys_nn::nets::{Activation, Architecture, CnnConfig, MlpConfig, TransformerConfig};

/// What is recorded.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Setup {
    pub(super) architecture: Architecture,
    pub(super) activation: Activation,
    /// Examples, or sequences.
    pub(super) batch: usize,
    pub(super) rule: Rule,
    pub(super) seed: u64,
}

/// A layer, or a batch of them, must fit into the counts: no size is larger.
const LARGEST_SIZE: i64 = 1_000_000;
/// With more units, 64 blocks and 4096 sequences of 4096 tokens, operations would pass 2⁶³.
const LARGEST_FFN: usize = 100_000;
/// Layers that a picture of the graph can still show.
const MOST_LAYERS: usize = 64;

const RULES: [(&str, Rule); 2] = [("sgd", Rule::Sgd), ("adam", Rule::Adam)];
const RECOMPUTES: [(&str, Recompute); 3] = [
    ("none", Recompute::Nothing),
    ("elementwise", Recompute::Elementwise),
    ("blocks", Recompute::Blocks),
];

impl Setup {
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        Ok(Self {
            architecture: architecture(params)?,
            activation: pick(params, "activation", &ACTIVATIONS)?,
            batch: params.size("batch_size")?,
            rule: pick(params, "optimizer", &RULES)?,
            seed: params.int("seed")?.unsigned_abs(),
        })
    }

    /// What the network is given: examples and numbers of each, or sequences and tokens of each.
    pub(super) fn input(&self) -> [usize; 2] {
        let of_one = match &self.architecture {
            Architecture::Mlp(config) => config.inputs,
            Architecture::Cnn(config) => config.edge * config.edge,
            Architecture::Filters(config) => config.edge * config.edge,
            Architecture::Transformer(config) => config.context,
        };
        [self.batch, of_one]
    }

    /// What it tells apart.
    pub(super) fn classes(&self) -> usize {
        match &self.architecture {
            Architecture::Mlp(config) => config.outputs,
            Architecture::Cnn(config) => config.outputs,
            Architecture::Filters(config) => config.outputs,
            Architecture::Transformer(config) => config.vocab,
        }
    }
}

pub(super) fn read_counting(params: &Params) -> Result<Counting, LabError> {
    let precision = params.text("precision")?;
    Ok(Counting {
        bytes: params.size("bytes_per_element")? as u64,
        fusing: if params.bool("fuse")? { Fusing::Chains } else { Fusing::Apart },
        recompute: pick(params, "recompute", &RECOMPUTES)?,
        roof: roof(params.text("gpu")?, precision)?,
        half: precision.starts_with("fp16") || precision.starts_with("bf16"),
    })
}

fn roof(machine: &str, precision: &str) -> Result<Roof, LabError> {
    let tables = Tables::builtin();
    let field = |path: &str| tables.field("gpu", machine, path).and_then(|value| value.as_f64());
    let peak = field(&format!("path.{precision}.peak_flops_per_second"));
    let bandwidth = field("bandwidth_bytes_per_second");
    match (peak, bandwidth) {
        (Some(flops_per_second), Some(bytes_per_second)) => {
            Ok(Roof { machine: machine.to_owned(), flops_per_second, bytes_per_second })
        }
        (None, _) => Err(LabError::contradiction(
            ["gpu", "precision"],
            format!(
                "the table has no peak of {machine} for {precision}; choose another precision or another gpu"
            ),
        )),
        (Some(_), None) => Err(LabError::contradiction(
            ["gpu"],
            format!("the table has no memory bandwidth of {machine}; choose another gpu"),
        )),
    }
}

fn architecture(params: &Params) -> Result<Architecture, LabError> {
    match pick(params, "model", &MODELS)? {
        Model::Mlp => {
            let sizes = layers(params)?;
            let (inputs, rest) = sizes.split_first().ok_or_else(too_few)?;
            let (outputs, hidden) = rest.split_last().ok_or_else(too_few)?;
            Ok(Architecture::Mlp(MlpConfig {
                inputs: *inputs,
                hidden: hidden.to_vec(),
                outputs: *outputs,
            }))
        }
        Model::Transformer => {
            let width = params.size("width")?;
            let ffn = match params.get("ffn") {
                Some(_) => params.size("ffn")?,
                None => TransformerConfig::gated(width),
            };
            if ffn > LARGEST_FFN {
                let message = format!("{ffn} is too wide to be counted; at most {LARGEST_FFN}");
                return Err(LabError::contradiction(["ffn"], message));
            }
            cases::transformer(TransformerConfig {
                vocab: params.size("vocab")?,
                width,
                depth: params.size("depth")?,
                heads: params.size("heads")?,
                kv_heads: params.size("kv_heads")?,
                ffn,
                context: params.size("context")?,
            })
        }
        Model::Cnn => {
            let (width, depth) = (params.size("width")?, params.size("depth")?);
            Ok(Architecture::Cnn(CnnConfig { edge: 28, width, depth, outputs: 10 }))
        }
    }
}

fn too_few() -> LabError {
    LabError::contradiction(
        ["layers"],
        "an mlp needs at least two sizes, of its input and of its output, such as [784, 10]",
    )
}

/// The sizes of an mlp, from the input to the output.
fn layers(params: &Params) -> Result<Vec<usize>, LabError> {
    let Some(Value::Array(given)) = params.get("layers") else {
        return Err(too_few());
    };
    if given.len() > MOST_LAYERS + 1 {
        let message =
            format!("at most {MOST_LAYERS} layers can be recorded, not {}", given.len() - 1);
        return Err(LabError::contradiction(["layers"], message));
    }
    let size = |(place, value): (usize, &Value)| {
        let whole = value.as_f64().filter(|x| x.fract() == 0.0);
        let fits = whole.filter(|x| (1.0..=LARGEST_SIZE as f64).contains(x));
        fits.map(|x| x as usize).ok_or_else(|| {
            let message = format!(
                "size {} is {value}; each must be a whole number from 1 to {LARGEST_SIZE}",
                place + 1
            );
            LabError::contradiction(["layers"], message)
        })
    };
    given.iter().enumerate().map(size).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::lab;
    use mlsys_device::choice::must_be_listed;

    #[test]
    fn the_schema_lists_exactly_the_cases_that_are_read() {
        let capture = lab().unwrap();
        must_be_listed(&capture, "model", &MODELS);
        must_be_listed(&capture, "activation", &ACTIVATIONS);
        must_be_listed(&capture, "optimizer", &RULES);
        must_be_listed(&capture, "recompute", &RECOMPUTES);
    }
}
