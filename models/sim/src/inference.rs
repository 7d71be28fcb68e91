//! Formulas of inference that instant labs and live runs share.

/// Expected tokens of a round with `tokens` drafted, each accepted with probability `acceptance`: those accepted and one
/// of the target's own, the sum of acceptance^i for i = 0..=tokens (Leviathan et al. 2023, equation 1).
pub fn expected_tokens(acceptance: f64, tokens: i64) -> f64 {
    if acceptance == 1.0 {
        return tokens as f64 + 1.0;
    }
    (1.0 - acceptance.powf(tokens as f64 + 1.0)) / (1.0 - acceptance)
}

/// Softmax over blocks of scores, one block at a time (Milakov and Gimelshein 2018).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunningSoftmax {
    /// m' = max(m, max of the block).
    pub most: f64,
    /// l' = l*exp(m - m') + sum exp(x - m').
    pub sum: f64,
    /// exp(m - m'): what the sum so far is multiplied by. 0 before the first block.
    pub correction: f64,
}

impl RunningSoftmax {
    /// Before the first block.
    pub const NOTHING: Self = Self { most: f64::NEG_INFINITY, sum: 0.0, correction: 0.0 };

    /// After one more block of finite scores; one without scores changes nothing.
    pub fn after(self, block: &[f64]) -> Self {
        let most = block.iter().copied().fold(self.most, f64::max);
        if block.is_empty() {
            return Self { correction: 1.0, ..self };
        }
        let correction = (self.most - most).exp();
        let added = block.iter().map(|x| (x - most).exp()).sum::<f64>();
        Self { most, sum: self.sum * correction + added, correction }
    }
}
