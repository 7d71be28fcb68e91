//! From scores to a token: softmax at a temperature, and a draw.

use mlsys_nn::random::Stream;

/// Where the largest of some numbers is, the first of equals; 0 where none is a number.
pub(crate) fn likeliest(scores: &[f32]) -> usize {
    let mut best = 0;
    for (place, score) in scores.iter().enumerate() {
        // A score that is no number never wins, and loses its place to the first that is one.
        if scores.get(best).is_none_or(|held| held.is_nan()) || *score > scores[best] {
            best = place;
        }
    }
    best
}

/// The probability of each token at a temperature: softmax(scores / temperature), and all of it on the likeliest at 0.
pub(crate) fn probabilities(scores: &[f32], temperature: f64) -> Vec<f64> {
    let best = likeliest(scores);
    let highest = f64::from(scores.get(best).copied().unwrap_or(0.0));
    let share = |(place, score): (usize, &f32)| {
        if temperature > 0.0 {
            ((f64::from(*score) - highest) / temperature).exp()
        } else {
            f64::from(u8::from(place == best))
        }
    };
    let shares: Vec<f64> = scores.iter().enumerate().map(share).collect();
    let total: f64 = shares.iter().sum();
    shares.into_iter().map(|share| share / total).collect()
}

/// -ln p of a token, p = softmax(scores).
pub(crate) fn nats(scores: &[f32], token: usize) -> f64 {
    let highest = f64::from(scores.iter().copied().fold(f32::NEG_INFINITY, f32::max));
    let total: f64 = scores.iter().map(|score| (f64::from(*score) - highest).exp()).sum();
    let own = scores.get(token).map_or(f64::NAN, |score| f64::from(*score));
    total.ln() + highest - own
}

/// A token drawn by probabilities, or by shares that sum to something else.
pub(crate) fn draw(probabilities: &[f64], stream: &mut Stream) -> usize {
    let total: f64 = probabilities.iter().sum();
    let mut left = stream.uniform() * total;
    for (token, share) in probabilities.iter().enumerate() {
        left -= share;
        if left < 0.0 {
            return token;
        }
    }
    // Rounding: the last that has a share.
    probabilities.iter().rposition(|share| *share > 0.0).unwrap_or(0)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The sum of (found - expected)² / expected over all tokens that can come.
    pub(crate) fn chi_square(counts: &[usize], probabilities: &[f64]) -> f64 {
        let draws: usize = counts.iter().sum();
        let expected = probabilities.iter().map(|share| share * draws as f64);
        let each = counts.iter().zip(expected);
        each.map(|(&found, expected)| {
            if expected == 0.0 {
                assert_eq!(found, 0, "a token without a share was drawn");
                return 0.0;
            }
            (found as f64 - expected).powi(2) / expected
        })
        .sum()
    }

    /// One in a thousand of 4 degrees of freedom lies above it.
    pub(crate) const RARE: f64 = 18.47;

    #[test]
    fn temperature_zero_takes_the_first_maximum() {
        assert_eq!(probabilities(&[1.0, 3.0, 3.0], 0.0), [0.0, 1.0, 0.0]);
        assert_eq!(likeliest(&[f32::NAN, 1.0, 2.0]), 2);
        assert_eq!(likeliest(&[]), 0);
        assert_eq!(probabilities(&[f32::NAN], 0.0), [1.0]);
    }

    #[test]
    fn a_temperature_divides_the_scores() {
        let found = probabilities(&[0.0, 2.0], 2.0);
        let expected = 1.0 / (1.0 + 1.0_f64.exp());
        assert!((found[0] - expected).abs() < 1e-12);
        // So small that the differences overflow: still the likeliest.
        assert_eq!(probabilities(&[-40.0, 88.0], 1e-300), [0.0, 1.0]);
    }

    #[test]
    fn draws_have_the_frequencies_of_the_softmax() {
        let shares = probabilities(&[0.3, -1.0, 1.2, 0.0, -0.4], 0.8);
        let mut stream = Stream::new(3, "test");
        let mut counts = [0; 5];
        for _ in 0..20_000 {
            counts[draw(&shares, &mut stream)] += 1;
        }
        let found = chi_square(&counts, &shares);
        assert!(found < RARE, "{found}");
    }
}
