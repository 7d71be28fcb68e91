//! Transformers as they are counted: their dimensions, parameters and FLOPs.
//!
//! Same formulas as the labs `transformer-params` and `transformer-flops`, for the planner of parallel layouts.

use mlsys_lab::{LabError, Params};

use crate::integer::too_large;
use crate::memory::Recompute;

/// The two families of transformers that are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Architecture {
    /// Biases, layer norms with scale and shift, learned positions, an MLP of two matrices.
    Gpt,
    /// No biases, RMS norms, rotary positions without weights, a gated MLP of three matrices.
    Llama,
}

impl Architecture {
    /// Reads `architecture`.
    pub fn from_params(params: &Params) -> Result<Self, LabError> {
        Ok(match params.text("architecture")? {
            "gpt" => Self::Gpt,
            _ => Self::Llama,
        })
    }

    /// As `architecture` names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gpt => "gpt",
            Self::Llama => "llama",
        }
    }
}

/// Widths of the projections in one attention block.
#[derive(Clone, Copy, Debug)]
pub struct Heads {
    pub heads: i64,
    pub kv_heads: i64,
    pub head_dim: i64,
    /// A = heads*head_dim, the width of all queries.
    pub queries: i64,
    /// K = kv_heads*head_dim, the width of all keys, and of all values.
    pub keys: i64,
}

impl Heads {
    /// Reads `heads`, `kv_heads` and `head_dim` of a block of width `hidden`.
    ///
    /// # Errors
    /// The width does not divide into heads, or query heads do not divide among key/value heads.
    pub fn from_params(params: &Params, hidden: i64) -> Result<Self, LabError> {
        let heads = params.int("heads")?;
        let kv_heads = params.optional_int("kv_heads").unwrap_or(heads);
        if heads % kv_heads != 0 {
            return Err(LabError::contradiction(
                ["heads", "kv_heads"],
                format!(
                    "{heads} query heads cannot share {kv_heads} key/value heads evenly; kv_heads must divide heads"
                ),
            ));
        }
        let head_dim = match params.optional_int("head_dim") {
            Some(head_dim) => head_dim,
            None if hidden % heads == 0 => hidden / heads,
            None => {
                return Err(LabError::contradiction(
                    ["hidden", "heads"],
                    format!(
                        "a width of {hidden} does not divide into {heads} heads; choose another number of heads, or set head_dim"
                    ),
                ));
            }
        };
        let queries = heads
            .checked_mul(head_dim)
            .ok_or_else(|| too_large(["heads", "head_dim"], "the width of all heads"))?;
        Ok(Self { heads, kv_heads, head_dim, queries, keys: kv_heads * head_dim })
    }
}

/// The dimensions that decide every weight.
#[derive(Clone, Copy, Debug)]
pub struct Transformer {
    pub architecture: Architecture,
    /// L.
    pub layers: i64,
    /// h.
    pub hidden: i64,
    pub heads: Heads,
    /// f, the width of the MLP.
    pub ffn: i64,
    /// V.
    pub vocab: i64,
    /// Learned positions of a GPT.
    pub context: i64,
    /// Whether the output head is the word table.
    pub tied: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct Count {
    pub layer: i64,
    /// Word table, learned positions and an output head of its own.
    pub embedding: i64,
    pub total: i64,
}

impl Count {
    /// Counts a transformer: attention, MLP and two norms a layer, and the last norm.
    ///
    /// # Errors
    /// A count beyond 64 bits.
    pub fn new(model: &Transformer) -> Result<Self, LabError> {
        let wide = |x: i64| i128::from(x);
        let (h, f, v) = (wide(model.hidden), wide(model.ffn), wide(model.vocab));
        let (a, k) = (wide(model.heads.queries), wide(model.heads.keys));
        let tables = if model.tied { 1 } else { 2 };
        let beyond = || too_large(["layers", "hidden", "ffn", "vocab", "context"], "parameters");
        // Each product of two counts fits in 128 bits; a sum of a few that does not is beyond 64 bits in any case.
        let counted = || -> Option<(i128, i128, i128)> {
            let product = |x: i128, y: i128| x.checked_mul(y);
            let all = product(h, a)?.checked_mul(2)?.checked_add(product(h, k)?.checked_mul(2)?)?;
            let (attention, mlp, norm) = match model.architecture {
                Architecture::Llama => (all, product(h, f)?.checked_mul(3)?, h),
                Architecture::Gpt => {
                    let biases = a + 2 * k + h;
                    let mlp = product(h, f)?.checked_mul(2)?.checked_add(f + h)?;
                    (all.checked_add(biases)?, mlp, 2 * h)
                }
            };
            let layer = attention.checked_add(mlp)?.checked_add(2 * norm)?;
            let positions = match model.architecture {
                Architecture::Llama => 0,
                Architecture::Gpt => product(wide(model.context), h)?,
            };
            let embedding = product(v, h)?.checked_mul(tables)?.checked_add(positions)?;
            let layers = layer.checked_mul(wide(model.layers))?.checked_add(norm)?;
            Some((layer, embedding, layers.checked_add(embedding)?))
        };
        let (layer, embedding, total) = counted().ok_or_else(beyond)?;
        let narrow = |x: i128| i64::try_from(x).map_err(|_| beyond());
        Ok(Self { layer: narrow(layer)?, embedding: narrow(embedding)?, total: narrow(total)? })
    }
}

/// One iteration of training: a model and a batch.
pub struct Iteration {
    pub layers: f64,
    pub hidden: f64,
    pub heads: Heads,
    pub ffn: f64,
    /// 2 matrices in a GPT's MLP, 3 in a Llama's.
    pub ffn_matrices: f64,
    pub vocab: f64,
    pub sequence: f64,
    /// t = B*s.
    pub tokens: f64,
    pub recompute: Recompute,
}

pub struct Flops {
    /// W, the weight matrices of one layer.
    pub weights: f64,
    /// C, scores and their product with V of one layer.
    pub attention: f64,
    pub logits: f64,
    pub forward: f64,
    /// Forward and backward.
    pub model: f64,
    /// With what is computed again.
    pub hardware: f64,
}

impl Flops {
    pub fn new(iteration: &Iteration) -> Self {
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
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gpt(l: i64, h: i64, a: i64, v: i64, context: i64) -> Transformer {
        let head_dim = h / a;
        let heads = Heads { heads: a, kv_heads: a, head_dim, queries: h, keys: h };
        let (architecture, tied, ffn) = (Architecture::Gpt, true, 4 * h);
        Transformer { architecture, layers: l, hidden: h, heads, ffn, vocab: v, context, tied }
    }

    /// P = 12 l h^2 (1 + 13/(12 h) + (V + s)/(12 l h)), which leaves out the last norm.
    #[test]
    fn equation_2_of_megatron_counts_the_same() {
        for (l, h, a, v, s) in [(24, 2304, 24, 51200, 2048), (2, 64, 4, 100, 16)] {
            let count = Count::new(&gpt(l, h, a, v, s)).unwrap();
            assert_eq!(count.total, 12 * l * h * h + 13 * l * h + (v + s) * h + 2 * h);
        }
    }

    #[test]
    fn counts_beyond_64_bits_are_refused() {
        assert!(Count::new(&gpt(24, i64::MAX / 4, 1, 51200, 2048)).is_err());
        assert!(Count::new(&gpt(24, 64, 1, i64::MAX, 2048)).is_err());
    }

    #[test]
    fn flops_agree_with_the_closed_form_of_the_paper() {
        let (l, h, v, s, b) = (7.0_f64, 96.0_f64, 1000.0, 48.0, 5.0);
        for (recompute, factor, last) in
            [(Recompute::None, 72.0, 12.0), (Recompute::Full, 96.0, 16.0)]
        {
            let flops = Flops::new(&Iteration {
                layers: l,
                hidden: h,
                heads: gpt(7, 96, 6, 1000, 48).heads,
                ffn: 4.0 * h,
                ffn_matrices: 2.0,
                vocab: v,
                sequence: s,
                tokens: b * s,
                recompute,
            });
            let paper = factor * b * l * s * h * h * (1.0 + s / (6.0 * h) + v / (last * l * h));
            assert!((flops.hardware / paper - 1.0).abs() < 1e-12, "{recompute:?}");
            assert!((flops.attention / flops.weights - s / (6.0 * h)).abs() < 1e-12);
        }
    }
}
