//! The weights of a transformer, one by one.

use super::Transformer;
use crate::compute::transformer::Architecture;

/// What a weight belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Word table, learned positions, and the output head if it is a table of its own.
    Embedding,
    /// The four projections.
    Attention,
    /// The MLP.
    Mlp,
    /// Scales, and shifts where there are any.
    Norm,
}

/// One matrix (with its bias) or the norms of one place.
#[derive(Clone, Debug)]
pub(super) struct Weight {
    pub(super) part: Part,
    pub(super) name: &'static str,
    /// Its count over the whole model, in the letters of the lab's formula.
    pub(super) formula: &'static str,
    /// Rows x columns, and its bias.
    pub(super) shape: String,
    /// Parameters of one.
    pub(super) each: i64,
    /// How many the model has: the layers, or one.
    pub(super) times: i64,
    place: Place,
}

/// Whether every layer has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Layer,
    Outside,
}

impl Weight {
    /// Parameters of all of them; [`super::Count::of`] has made sure that they fit.
    pub(super) fn all(&self) -> i64 {
        self.each.saturating_mul(self.times)
    }
}

/// All weights, from the input to the output.
pub(super) struct Weights(pub(super) Vec<Weight>);

impl Weights {
    /// The weights of a model, unless a count is beyond 64 bits.
    pub(super) fn of(model: &Transformer) -> Option<Self> {
        let (h, f, v) = (model.hidden, model.ffn, model.vocab);
        let (a, k) = (model.heads.queries, model.heads.keys);
        let layers = model.layers;
        let outside = |part, name, formula, rows: i64, columns: i64| {
            Some(Weight {
                part,
                name,
                formula,
                shape: format!("{rows} x {columns}"),
                each: rows.checked_mul(columns)?,
                times: 1,
                place: Place::Outside,
            })
        };
        // y = x W, [t, rows] x [rows, columns]; a GPT adds a bias of one number a column.
        let matrix = |part, name, formulas: [&'static str; 2], rows: i64, columns: i64| {
            let each = rows.checked_mul(columns)?;
            let (formula, each, bias) = match model.architecture {
                Architecture::Llama => (formulas[0], each, String::new()),
                Architecture::Gpt => {
                    let bias = format!(" + {columns}");
                    (formulas[1], each.checked_add(columns)?, bias)
                }
            };
            Some(Weight {
                part,
                name,
                formula,
                shape: format!("{rows} x {columns}{bias}"),
                each,
                times: layers,
                place: Place::Layer,
            })
        };
        // An RMS norm has a scale a channel, a layer norm a shift as well; a layer has two norms, the end one.
        let vectors = match model.architecture {
            Architecture::Llama => 1,
            Architecture::Gpt => 2,
        };
        let norm = |name, formulas: [&'static str; 2], norms: i64, times, place| {
            let vectors = norms * vectors;
            Some(Weight {
                part: Part::Norm,
                name,
                formula: match model.architecture {
                    Architecture::Llama => formulas[0],
                    Architecture::Gpt => formulas[1],
                },
                shape: format!("{vectors} x {h}"),
                each: h.checked_mul(vectors)?,
                times,
                place,
            })
        };
        let mut all = vec![outside(Part::Embedding, "word embedding", "Vh", v, h)?];
        if model.architecture == Architecture::Gpt && model.context > 0 {
            let rows = model.context;
            all.push(outside(Part::Embedding, "positions", "context*h", rows, h)?);
        }
        all.extend([
            matrix(Part::Attention, "attention query", ["LhA", "L(hA + A)"], h, a)?,
            matrix(Part::Attention, "attention key", ["LhK", "L(hK + K)"], h, k)?,
            matrix(Part::Attention, "attention value", ["LhK", "L(hK + K)"], h, k)?,
            matrix(Part::Attention, "attention output", ["LAh", "L(Ah + h)"], a, h)?,
        ]);
        if model.architecture == Architecture::Llama {
            all.push(matrix(Part::Mlp, "MLP gate", ["Lhf", ""], h, f)?);
        }
        all.extend([
            matrix(Part::Mlp, "MLP up", ["Lhf", "L(hf + f)"], h, f)?,
            matrix(Part::Mlp, "MLP down", ["Lfh", "L(fh + h)"], f, h)?,
            norm("norms", ["L*2h", "L*4h"], 2, layers, Place::Layer)?,
            norm("last norm", ["h", "2h"], 1, 1, Place::Outside)?,
        ]);
        if !model.tied {
            all.push(outside(Part::Embedding, "output head", "hV", h, v)?);
        }
        Some(Self(all))
    }

    /// Parameters of one part in one layer.
    pub(super) fn per_layer(&self, part: Part) -> Option<i64> {
        self.sum(part, Place::Layer)
    }

    /// Parameters of one part outside the layers.
    pub(super) fn outside(&self, part: Part) -> Option<i64> {
        self.sum(part, Place::Outside)
    }

    fn sum(&self, part: Part, place: Place) -> Option<i64> {
        self.0
            .iter()
            .filter(|weight| (weight.part, weight.place) == (part, place))
            .try_fold(0_i64, |sum, weight| sum.checked_add(weight.each))
    }
}
