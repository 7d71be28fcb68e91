//! The sizes of a transformer, and what must hold between them.

/// The sizes of a transformer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransformerConfig {
    /// Different tokens.
    pub vocab: usize,
    /// Numbers that stand for one token on its way through the blocks.
    pub width: usize,
    /// Blocks.
    pub depth: usize,
    /// Query heads; they divide the width into parts of an even size.
    pub heads: usize,
    /// Key/value heads; they divide the query heads.
    pub kv_heads: usize,
    /// Units of the gated layer of each block.
    pub ffn: usize,
    /// Tokens of a training sequence.
    pub context: usize,
}

impl TransformerConfig {
    /// The width of the gated layer, so that its three matrices have the size of the two of a plain layer four times as
    /// wide as the model: two thirds of 4 `width`, rounded up to a multiple of 8.
    pub fn gated(width: usize) -> usize {
        (8 * width / 3).next_multiple_of(8)
    }

    /// The parameters that contradict one another, and why, where some do.
    ///
    /// # Errors
    /// If heads do not divide the width into even parts, or key/value heads do not divide the heads.
    pub fn check(&self) -> Result<(), (&'static [&'static str], String)> {
        let (width, heads, kv_heads) = (self.width, self.heads, self.kv_heads);
        if heads == 0 || !width.is_multiple_of(2 * heads) {
            let reason = format!(
                "{heads} heads must divide a width of {width} into parts of an even size, because rotary positions turn \
                 numbers in pairs; set width to a multiple of {}",
                2 * heads.max(1)
            );
            return Err((&["width", "heads"], reason));
        }
        if !heads.is_multiple_of(kv_heads) {
            let reason = format!(
                "{heads} query heads cannot share {kv_heads} key/value heads evenly; set kv_heads to a divisor of heads"
            );
            return Err((&["heads", "kv_heads"], reason));
        }
        Ok(())
    }

    /// Numbers per head.
    pub fn head(&self) -> usize {
        self.width / self.heads
    }

    /// Numbers of all heads of the keys of a token, or of its values.
    pub fn keys(&self) -> usize {
        self.kv_heads * self.head()
    }
}
