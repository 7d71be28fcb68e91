//! Kind `transformer-params`: every weight of a GPT-style or Llama-style transformer, counted from its dimensions.

mod weights;

use mlsys_lab::params::Origin;
use mlsys_lab::report::Report;
use mlsys_lab::schema::{Schema, SchemaError};
use mlsys_lab::value::number;
use mlsys_lab::{Frame, Lab, LabError, Params, Run, Value};

use crate::compute::transformer::{Architecture, Heads};
use mlsys_lab::picture;
use mlsys_lab::steps::{Steps, percent};
use mlsys_sim::integer::{too_large, up};
use weights::{Part, Weight, Weights};

/// The lab `transformer-params`.
pub struct TransformerParams {
    schema: Schema,
}

impl TransformerParams {
    /// The lab with its schema read.
    ///
    /// # Errors
    /// The schema does not read.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = Schema::parse(include_str!("../../labs/transformer-params.toml"))?;
        Ok(Self { schema })
    }
}

impl Lab for TransformerParams {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        if let Some(notice) = ignored(&run.params) {
            run.sink.report(Report::Notice(notice));
        }
        let model = Transformer::read(&run.params)?;
        let count = Count::of(&model)?;
        run.scalar("ffn", model.ffn);
        run.scalar("embedding_parameters", count.embedding);
        run.scalar("attention_parameters_per_layer", count.attention);
        run.scalar("ffn_parameters_per_layer", count.ffn);
        run.scalar("parameters_per_layer", count.layer);
        run.scalar("non_embedding_parameters", count.non_embedding);
        run.scalar("parameters", count.total);
        run.scalar("attention_share", count.share(model.layers * count.attention));
        run.scalar("ffn_share", count.share(model.layers * count.ffn));
        run.scalar("embedding_share", count.share(count.embedding));
        picture::offer(run, "parts", || count.parts());
        picture::offer(run, "block", || count.block());
        picture::offer(run, "steps", || count.steps(&model));
        Ok(())
    }
}

/// The dimensions that decide every weight.
pub(crate) struct Transformer {
    pub(crate) architecture: Architecture,
    pub(crate) layers: i64,
    pub(crate) hidden: i64,
    pub(crate) heads: Heads,
    pub(crate) ffn: i64,
    /// How `ffn` came about, with its numbers.
    pub(crate) ffn_rule: (&'static str, String),
    pub(crate) vocab: i64,
    /// Learned positions.
    pub(crate) context: i64,
    pub(crate) tied: bool,
}

impl Transformer {
    fn read(params: &Params) -> Result<Self, LabError> {
        let architecture = Architecture::of(params)?;
        let hidden = params.int("hidden")?;
        let (ffn, ffn_rule) = ffn(params, architecture, hidden)?;
        Ok(Self {
            architecture,
            layers: params.int("layers")?,
            hidden,
            heads: Heads::of(params, hidden)?,
            ffn,
            ffn_rule,
            vocab: params.int("vocab")?,
            // Positions are weights only where they are learned.
            context: match architecture {
                Architecture::Gpt => params.int("context")?,
                Architecture::Llama => 0,
            },
            tied: match (params.get("tied_embeddings"), architecture) {
                (Some(Value::Bool(tied)), _) => *tied,
                (_, Architecture::Gpt) => true,
                (_, Architecture::Llama) => false,
            },
        })
    }
}

fn is_set(params: &Params, name: &str) -> bool {
    params.origin(name) == Some(&Origin::Set)
}

/// The width of the MLP and how it came about.
///
/// A Llama's rule applies if no width is given, or if the user asks for it by setting `ffn_multiple_of`.
fn ffn(
    params: &Params,
    architecture: Architecture,
    hidden: i64,
) -> Result<(i64, (&'static str, String)), LabError> {
    let asked = is_set(params, "ffn_multiple_of");
    if asked && is_set(params, "ffn") {
        return Err(LabError::contradiction(
            ["ffn", "ffn_multiple_of"],
            "a width that is given is not rounded; set one of the two",
        ));
    }
    let given = params.optional_int("ffn");
    match (architecture, given) {
        (Architecture::Gpt, Some(ffn)) => Ok((ffn, ("given", ffn.to_string()))),
        (Architecture::Llama, Some(ffn)) if !asked => Ok((ffn, ("given", ffn.to_string()))),
        (Architecture::Gpt, None) => {
            let ffn = hidden.checked_mul(4).ok_or_else(|| too_large(["hidden"], "ffn"))?;
            Ok((ffn, ("4h", format!("4*{hidden}"))))
        }
        (Architecture::Llama, _) => swiglu(params, hidden),
    }
}

/// Three matrices instead of two: two thirds of 4h keep the count, a factor and a rounding suit the machine.
fn swiglu(params: &Params, hidden: i64) -> Result<(i64, (&'static str, String)), LabError> {
    let granularity = params.int("ffn_multiple_of")?;
    let beyond = || too_large(["hidden", "ffn_multiplier", "ffn_multiple_of"], "ffn");
    // w = floor(2*4h/3)
    let width = hidden.checked_mul(8).ok_or_else(beyond)? / 3;
    let (width, formula, numbers) = match params.optional_float("ffn_multiplier") {
        None => {
            (width, "up(floor(8h/3), multiple)", format!("up(floor(8*{hidden}/3), {granularity})"))
        }
        Some(factor) => {
            // w = floor(ffn_multiplier*w) in f64
            let scaled = (factor * width as f64).floor();
            // From 2^63 on a float has no integer of 64 bits.
            if scaled >= i64::MAX as f64 {
                return Err(beyond());
            }
            (
                scaled as i64,
                "up(floor(multiplier*floor(8h/3)), multiple)",
                format!("up(floor({}*floor(8*{hidden}/3)), {granularity})", number(factor)),
            )
        }
    };
    if width == 0 {
        return Err(LabError::contradiction(
            ["hidden", "ffn_multiplier"],
            "the rule gives an MLP of width 0; choose a larger ffn_multiplier",
        ));
    }
    let ffn = up(width, granularity).ok_or_else(beyond)?;
    Ok((ffn, (formula, numbers)))
}

/// A parameter of the rule that was set and changes nothing.
fn ignored(params: &Params) -> Option<String> {
    let set =
        ["ffn_multiplier", "ffn_multiple_of"].into_iter().find(|name| is_set(params, name))?;
    let llama = params.get("architecture")?.as_str() == Some("llama");
    if !llama {
        Some(format!("{set} changes nothing: the rule is for architecture llama"))
    } else if params.get("ffn").is_some() && !is_set(params, "ffn_multiple_of") {
        Some(format!(
            "{set} changes nothing while ffn is given; setting ffn_multiple_of applies the rule"
        ))
    } else {
        None
    }
}

/// What a model's weights add up to.
pub(crate) struct Count {
    weights: Vec<Weight>,
    attention: i64,
    ffn: i64,
    /// Of one layer.
    pub(crate) layer: i64,
    /// Word table, learned positions and an output head of its own.
    pub(crate) embedding: i64,
    non_embedding: i64,
    pub(crate) total: i64,
}

impl Count {
    /// Counts a model.
    ///
    /// # Errors
    /// A count beyond 64 bits.
    pub(crate) fn of(model: &Transformer) -> Result<Self, LabError> {
        let beyond = || too_large(["layers", "hidden", "ffn", "vocab", "context"], "parameters");
        let weights = Weights::of(model).ok_or_else(beyond)?;
        let layer = |part: Part| weights.per_layer(part);
        let attention = layer(Part::Attention).ok_or_else(beyond)?;
        let ffn = layer(Part::Mlp).ok_or_else(beyond)?;
        let norms = layer(Part::Norm).ok_or_else(beyond)?;
        let sum = |terms: &[i64]| terms.iter().try_fold(0_i64, |sum, x| sum.checked_add(*x));
        let per_layer = sum(&[attention, ffn, norms]).ok_or_else(beyond)?;
        let layers = per_layer.checked_mul(model.layers).ok_or_else(beyond)?;
        let last_norm = weights.outside(Part::Norm).ok_or_else(beyond)?;
        let embedding = weights.outside(Part::Embedding).ok_or_else(beyond)?;
        let non_embedding = sum(&[layers, last_norm]).ok_or_else(beyond)?;
        Ok(Self {
            weights: weights.0,
            attention,
            ffn,
            layer: per_layer,
            embedding,
            non_embedding,
            total: sum(&[non_embedding, embedding]).ok_or_else(beyond)?,
        })
    }

    fn share(&self, parameters: i64) -> f64 {
        parameters as f64 / self.total as f64
    }

    /// Where the weights sit.
    fn parts(&self) -> Frame {
        let bar = |weight: &Weight| {
            let all = weight.all();
            let share = percent(self.share(all));
            picture::bar(weight.name, all as f64, format!("{share} {}", weight.formula))
        };
        picture::bars("parameters", self.weights.iter().map(bar).collect())
    }

    /// Every matrix with its shape.
    fn block(&self) -> Frame {
        let row = |weight: &Weight| {
            [
                weight.name.into(),
                weight.shape.clone().into(),
                weight.each.into(),
                weight.times.into(),
                percent(self.share(weight.all())).into(),
            ]
        };
        picture::table(
            ["weight", "shape", "parameters", "times", "share"],
            self.weights.iter().map(row).collect(),
        )
    }

    fn steps(&self, model: &Transformer) -> Frame {
        let (h, f, l) = (model.hidden, model.ffn, model.layers);
        let Heads { heads, kv_heads, head_dim, queries: a, keys: k } = model.heads;
        let (v, c) = (model.vocab, model.context);
        let mut steps = Steps::default();
        steps.add("A, queries", "heads*head_dim", format!("{heads}*{head_dim}"), a);
        steps.add("K, keys", "kv_heads*head_dim", format!("{kv_heads}*{head_dim}"), k);
        steps.add("f, MLP width", model.ffn_rule.0, model.ffn_rule.1.as_str(), f);
        let tables = if model.tied { 1 } else { 2 };
        let embedding = format!("{v}*{h}*{tables}");
        match model.architecture {
            Architecture::Llama => {
                let numbers = format!("2*{h}*{a} + 2*{h}*{k}");
                steps.add("attention", "2hA + 2hK", numbers, self.attention);
                steps.add("MLP", "3hf", format!("3*{h}*{f}"), self.ffn);
            }
            Architecture::Gpt => {
                let numbers = format!("{h}*{a} + {a} + 2*({h}*{k} + {k}) + {a}*{h} + {h}");
                steps.add("attention", "hA + A + 2(hK + K) + Ah + h", numbers, self.attention);
                let numbers = format!("2*{h}*{f} + {f} + {h}");
                steps.add("MLP", "2hf + f + h", numbers, self.ffn);
            }
        }
        let norms = self.layer - self.attention - self.ffn;
        let (each, last, at_end) = match model.architecture {
            Architecture::Llama => ("attention + MLP + 2h", h, "L*layer + h"),
            Architecture::Gpt => ("attention + MLP + 4h", 2 * h, "L*layer + 2h"),
        };
        let numbers = format!("{} + {} + {norms}", self.attention, self.ffn);
        steps.add("layer", each, numbers, self.layer);
        let numbers = format!("{l}*{} + {last}", self.layer);
        steps.add("layers and last norm", at_end, numbers, self.non_embedding);
        match model.architecture {
            Architecture::Llama => {
                let formula = if model.tied { "V*h" } else { "V*h*2" };
                steps.add("embedding", formula, embedding, self.embedding);
            }
            Architecture::Gpt => {
                let formula = if model.tied { "V*h + context*h" } else { "V*h*2 + context*h" };
                let numbers = format!("{embedding} + {c}*{h}");
                steps.add("embedding", formula, numbers, self.embedding);
            }
        }
        let numbers = format!("{} + {}", self.non_embedding, self.embedding);
        steps.add("parameters", "layers + embedding", numbers, self.total);
        steps.table()
    }
}

#[cfg(test)]
mod tests;
