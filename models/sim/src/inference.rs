//! Closed forms of inference that instant labs and live runs share.

/// Tokens that a round yields with so many drafted, each accepted with probability `acceptance`: those accepted and one
/// of the target's own, the sum of acceptance^i for i = 0..=tokens (Leviathan et al. 2023, equation 1).
pub fn expected_tokens(acceptance: f64, tokens: i64) -> f64 {
    if acceptance == 1.0 {
        return tokens as f64 + 1.0;
    }
    (1.0 - acceptance.powf(tokens as f64 + 1.0)) / (1.0 - acceptance)
}

/// Bytes of one token's keys and values over all layers.
pub fn bytes_per_token(layers: f64, kv_heads: f64, head_dim: f64, bytes_per_element: f64) -> f64 {
    2.0 * layers * kv_heads * head_dim * bytes_per_element
}
