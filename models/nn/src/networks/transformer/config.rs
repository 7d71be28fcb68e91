//! The sizes of a transformer, and what must hold between them.

use mlsys_sim::model_config::RotaryScaling;

use super::{ROTARY_BASE, Rotary};

/// The usual number that norms add to the mean square.
pub const RMS_EPSILON: f64 = 1e-5;

#[derive(Clone, Debug, PartialEq)]
pub struct TransformerConfig {
    pub vocab: usize,
    /// Numbers that stand for one token on its way through the blocks.
    pub width: usize,
    pub depth: usize,
    /// Query heads; they divide the width into parts of an even size, unless a head has a width of its own.
    pub heads: usize,
    /// Key/value heads; they divide the query heads.
    pub kv_heads: usize,
    pub ffn: usize,
    pub context: usize,
    pub variant: Variant,
}

/// Where models of the same sizes differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variant {
    /// Numbers of a head, if they are not the width by the number of heads.
    pub head: Option<usize>,
    pub rotary_base: f64,
    pub rotary_scaling: RotaryScaling,
    pub rms_epsilon: f64,
}

impl Default for Variant {
    fn default() -> Self {
        Self {
            head: None,
            rotary_base: ROTARY_BASE,
            rotary_scaling: RotaryScaling::Unscaled,
            rms_epsilon: RMS_EPSILON,
        }
    }
}

impl TransformerConfig {
    /// The width of the gated layer, so that its three matrices have the size of the two of a plain layer four times as
    /// wide as the model: two thirds of 4 `width`, rounded up to a multiple of 8.
    pub fn gated(width: usize) -> usize {
        (8 * width / 3).next_multiple_of(8)
    }

    /// The error names the parameters that contradict one another, and why.
    pub fn check(&self) -> Result<(), (&'static [&'static str], String)> {
        let (width, heads, kv_heads) = (self.width, self.heads, self.kv_heads);
        if let Some(head) = self.variant.head.filter(|head| !head.is_multiple_of(2) || *head == 0) {
            let reason = format!(
                "a head of {head} numbers is not even, and rotary positions turn them in pairs"
            );
            return Err((&["heads"], reason));
        }
        if heads == 0 || (self.variant.head.is_none() && !width.is_multiple_of(2 * heads)) {
            let reason = format!(
                "{heads} heads must divide a width of {width} into parts of an even size, because rotary positions turn \
                 numbers in pairs; set width to a multiple of {}",
                2 * heads.max(1)
            );
            return Err((&["width", "heads"], reason));
        }
        if kv_heads == 0 || !heads.is_multiple_of(kv_heads) {
            let reason = format!(
                "{heads} query heads cannot share {kv_heads} key/value heads evenly; set kv_heads to a divisor of heads"
            );
            return Err((&["heads", "kv_heads"], reason));
        }
        Ok(())
    }

    pub fn head(&self) -> usize {
        self.variant.head.unwrap_or(self.width / self.heads)
    }

    pub fn rotary(&self) -> Rotary {
        let Variant { rotary_base: base, rotary_scaling: scaling, .. } = self.variant;
        Rotary { head: self.head(), base, scaling }
    }

    /// Numbers of all heads of the queries of a token.
    pub fn queries(&self) -> usize {
        self.heads * self.head()
    }

    /// Numbers of all heads of the keys of a token, or of its values.
    pub fn keys(&self) -> usize {
        self.kv_heads * self.head()
    }
}
