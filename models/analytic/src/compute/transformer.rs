//! What the transformers that are counted have in common: their family and their heads.

use mlsys_lab::{LabError, Params};

use mlsys_sim::integer::too_large;

/// The two families of transformers that are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Architecture {
    /// Biases, layer norms with scale and shift, learned positions, an MLP of two matrices.
    Gpt,
    /// No biases, RMS norms, rotary positions without weights, a gated MLP of three matrices.
    Llama,
}

impl Architecture {
    /// Reads `architecture`.
    pub(crate) fn of(params: &Params) -> Result<Self, LabError> {
        Ok(match params.text("architecture")? {
            "gpt" => Self::Gpt,
            _ => Self::Llama,
        })
    }
}

/// Widths of the projections in one attention block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heads {
    /// Query heads a.
    pub(crate) heads: i64,
    /// Heads of keys and of values.
    pub(crate) kv_heads: i64,
    /// Width of one head.
    pub(crate) head_dim: i64,
    /// A = heads*head_dim, the width of all queries.
    pub(crate) queries: i64,
    /// K = kv_heads*head_dim, the width of all keys, and of all values.
    pub(crate) keys: i64,
}

impl Heads {
    /// Reads `heads`, `kv_heads` and `head_dim` of a block of width `hidden`.
    ///
    /// # Errors
    /// The width does not divide into heads, or query heads do not divide among key/value heads.
    pub(crate) fn of(params: &Params, hidden: i64) -> Result<Self, LabError> {
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
