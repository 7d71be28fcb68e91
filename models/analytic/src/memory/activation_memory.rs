//! Kind `activation-memory`: bytes one transformer layer keeps for its backward pass, term by term.

mod terms;

use mlsys_lab::schema::{Schema, SchemaError};
use mlsys_lab::value::number;
use mlsys_lab::{Frame, Lab, LabError, Params, Run};

use mlsys_lab::picture;
use mlsys_lab::steps::{Steps, finite, percent};
use terms::TERMS;

/// Lengths that a picture compares, over the length that is set.
const LENGTHS: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];

/// The lab `activation-memory`.
pub struct ActivationMemory {
    schema: Schema,
}

impl ActivationMemory {
    /// The lab with its schema read.
    ///
    /// # Errors
    /// The schema does not read.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = Schema::parse(include_str!("../../labs/activation-memory.toml"))?;
        Ok(Self { schema })
    }
}

impl Lab for ActivationMemory {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let layer = Layer::read(&run.params)?;
        let layers = run.params.float("layers")?;
        let kept = layer.bytes(layer.recompute);
        let large =
            || "sequence, batch, hidden and heads are too large for their product".to_owned();
        finite(run, "attention_term", layer.attention_term(), large)?;
        finite(run, "bytes_per_layer", kept, large)?;
        finite(run, "total_bytes", layers * kept, large)?;
        finite(run, "selective_saving", layer.selective_saving(), large)?;
        finite(run, "dropped_bytes", layer.bytes(Recompute::None) - kept, large)?;
        picture::offer(run, "terms", || layer.terms());
        picture::offer(run, "recomputation", || layer.recomputation());
        picture::offer(run, "by-term", || layer.by_term());
        picture::offer(run, "sequences", || layer.sequences());
        picture::offer(run, "steps", || layer.steps(layers));
        Ok(())
    }
}

/// What is recomputed in the backward pass instead of kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recompute {
    None,
    /// The attention matrices, which are large and cheap to compute.
    Selective,
    /// Everything but the layer's input.
    Full,
}

impl Recompute {
    const ALL: [(&str, Self); 3] =
        [("none", Self::None), ("selective", Self::Selective), ("full", Self::Full)];
}

/// One layer of a GPT with 2-byte activations, 1-byte dropout masks and an MLP of width 4h.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layer {
    pub(crate) sequence: f64,
    pub(crate) batch: f64,
    pub(crate) hidden: f64,
    pub(crate) heads: f64,
    /// t, over which the tensors within attention and MLP are split.
    pub(crate) tensor_ranks: f64,
    pub(crate) outside: Outside,
    pub(crate) recompute: Recompute,
}

/// Where the tensors outside attention and MLP lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outside {
    /// The same on each rank.
    Replicated,
    /// Split along the sequence.
    Sharded,
}

impl Layer {
    fn read(params: &Params) -> Result<Self, LabError> {
        Ok(Self {
            sequence: params.float("sequence")?,
            batch: params.float("batch")?,
            hidden: params.float("hidden")?,
            heads: params.float("heads")?,
            tensor_ranks: params.float("tensor_ranks")?,
            outside: if params.bool("sequence_parallel")? {
                Outside::Sharded
            } else {
                Outside::Replicated
            },
            recompute: match params.text("recompute")? {
                "selective" => Recompute::Selective,
                "full" => Recompute::Full,
                _ => Recompute::None,
            },
        })
    }

    /// sbh, the elements of one activation of the layer's width.
    fn elements(&self) -> f64 {
        self.sequence * self.batch * self.hidden
    }

    /// 5as/h: what the attention matrices keep, in units of sbh.
    fn attention_term(&self) -> f64 {
        5.0 * self.heads * self.sequence / self.hidden
    }

    /// (5as/h)/(34 + 5as/h)
    fn selective_saving(&self) -> f64 {
        let q = self.attention_term();
        q / (34.0 + q)
    }

    /// Bytes that one rank keeps.
    ///
    /// none and selective: sbh(10 + (24 + q)/t), with sequence parallelism sbh(34 + q)/t, where selective has q = 0;
    /// full: 2sbh.
    pub(crate) fn bytes(&self, recompute: Recompute) -> f64 {
        let q = match recompute {
            Recompute::None => self.attention_term(),
            Recompute::Selective => 0.0,
            Recompute::Full => return 2.0 * self.elements(),
        };
        let t = self.tensor_ranks;
        match self.outside {
            Outside::Replicated => self.elements() * (10.0 + (24.0 + q) / t),
            Outside::Sharded => self.elements() * (34.0 + q) / t,
        }
    }

    /// The tensors that are kept, and those that are not.
    fn terms(&self) -> Frame {
        let all = self.bytes(self.recompute);
        let bar = |term: &terms::Term| {
            let bytes = term.bytes(self, self.recompute);
            let remark = if bytes > 0.0 {
                format!("{} {}", percent(bytes / all), term.formula)
            } else {
                "recomputed".to_owned()
            };
            picture::bar(term.name, bytes, remark)
        };
        picture::bars("bytes", TERMS.iter().map(bar).collect())
    }

    fn recomputation(&self) -> Frame {
        let none = self.bytes(Recompute::None);
        let bar = |(name, recompute): (&str, Recompute)| {
            let bytes = self.bytes(recompute);
            let chosen = if recompute == self.recompute { ", chosen" } else { "" };
            picture::bar(name, bytes, format!("{}{chosen}", percent(bytes / none)))
        };
        picture::bars("bytes", Recompute::ALL.map(bar).to_vec())
    }

    fn by_term(&self) -> Frame {
        let kept = |term: &terms::Term, recompute| term.bytes(self, recompute).into();
        let all = |recompute| self.bytes(recompute).into();
        let layer = [
            "the layer".into(),
            "".into(),
            all(Recompute::None),
            all(Recompute::Selective),
            all(Recompute::Full),
        ];
        let row = |term: &terms::Term| {
            [
                term.name.into(),
                term.formula.into(),
                kept(term, Recompute::None),
                kept(term, Recompute::Selective),
                kept(term, Recompute::Full),
            ]
        };
        let rows = std::iter::once(layer).chain(TERMS.iter().map(row)).collect();
        picture::table(["kept tensor", "formula", "none", "selective", "full"], rows)
    }

    /// The same layer at other lengths: one part grows in proportion, the other with the square.
    fn sequences(&self) -> Frame {
        let bar = |factor: f64| {
            let other = Self { sequence: factor * self.sequence, ..*self };
            let quadratic = match self.recompute {
                Recompute::None => other.selective_saving(),
                Recompute::Selective | Recompute::Full => 0.0,
            };
            let this = if factor == 1.0 { " (this)" } else { "" };
            let label = format!("{} tokens{this}", other.sequence);
            let remark = format!("{} quadratic", percent(quadratic));
            picture::bar(label, other.bytes(self.recompute), remark)
        };
        let whole = |factor: &f64| (factor * self.sequence).fract() == 0.0;
        picture::bars("bytes", LENGTHS.into_iter().filter(whole).map(bar).collect())
    }

    fn steps(&self, layers: f64) -> Frame {
        let Self { sequence: s, batch: b, hidden: h, heads: a, tensor_ranks: t, .. } = *self;
        let mut steps = Steps::default();
        let sbh = self.elements();
        steps.add("sbh, one activation", "s*b*h", format!("{s}*{b}*{h}"), sbh);
        let q = self.attention_term();
        steps.add("attention term", "5as/h", format!("5*{a}*{s}/{h}"), q);
        let said = number(q);
        let saving = self.selective_saving();
        let numbers = format!("{said}/(34 + {said})");
        steps.add("selective saving", "(5as/h)/(34 + 5as/h)", numbers, saving);
        let kept = self.bytes(self.recompute);
        let (q, formula) = match (self.recompute, self.outside) {
            (Recompute::Full, _) => ("", "2sbh"),
            (Recompute::None, Outside::Replicated) => (said.as_str(), "sbh(10 + (24 + q)/t)"),
            (Recompute::Selective, Outside::Replicated) => ("0", "sbh(10 + (24 + q)/t)"),
            (Recompute::None, Outside::Sharded) => (said.as_str(), "sbh(34 + q)/t"),
            (Recompute::Selective, Outside::Sharded) => ("0", "sbh(34 + q)/t"),
        };
        let numbers = match (self.recompute, self.outside) {
            (Recompute::Full, _) => format!("2*{sbh}"),
            (_, Outside::Replicated) => format!("{sbh}*(10 + (24 + {q})/{t})"),
            (_, Outside::Sharded) => format!("{sbh}*(34 + {q})/{t}"),
        };
        steps.add("bytes per layer", formula, numbers, kept);
        let numbers = format!("{layers}*{}", number(kept));
        steps.add("all layers", "L*layer", numbers, layers * kept);
        steps.table()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_terms_sum_to_the_formula_of_the_paper() {
        for outside in [Outside::Replicated, Outside::Sharded] {
            for (_, recompute) in Recompute::ALL {
                for tensor_ranks in [1.0, 3.0, 8.0] {
                    let layer = Layer {
                        sequence: 2048.0,
                        batch: 3.0,
                        hidden: 12288.0,
                        heads: 96.0,
                        tensor_ranks,
                        outside,
                        recompute,
                    };
                    let sum: f64 = TERMS.iter().map(|term| term.bytes(&layer, recompute)).sum();
                    let formula = layer.bytes(recompute);
                    assert!((sum - formula).abs() <= 1e-12 * formula, "{layer:?}");
                }
            }
        }
    }

    #[test]
    fn the_quadratic_part_alone_grows_fourfold() {
        let layer = |sequence: f64| Layer {
            sequence,
            batch: 1.0,
            hidden: 12288.0,
            heads: 96.0,
            tensor_ranks: 1.0,
            outside: Outside::Replicated,
            recompute: Recompute::None,
        };
        let part = |sequence: f64| {
            let layer = layer(sequence);
            layer.bytes(Recompute::None) - layer.bytes(Recompute::Selective)
        };
        assert_eq!(part(4096.0), 4.0 * part(2048.0));
        let selective = |sequence: f64| layer(sequence).bytes(Recompute::Selective);
        assert_eq!(selective(4096.0), 2.0 * selective(2048.0));
    }
}
