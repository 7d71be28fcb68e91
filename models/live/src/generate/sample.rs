//! From scores to a token: softmax at a temperature, a draw, and the draws that judge what a smaller model has drafted.

use mlsys_nn::random::Stream;

/// Where the largest of some numbers is, the first of equals; 0 where none is a number.
pub(super) fn likeliest(scores: &[f32]) -> usize {
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
pub(super) fn odds(scores: &[f32], temperature: f64) -> Vec<f64> {
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

/// A token drawn by probabilities, or by shares that sum to something else.
pub(super) fn draw(odds: &[f64], stream: &mut Stream) -> usize {
    let total: f64 = odds.iter().sum();
    let mut left = stream.uniform() * total;
    for (token, share) in odds.iter().enumerate() {
        left -= share;
        if left < 0.0 {
            return token;
        }
    }
    // Rounding: the last that has a share.
    odds.iter().rposition(|share| *share > 0.0).unwrap_or(0)
}

/// What the large model makes of drafted tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Judgement {
    /// Drafted tokens that stay, from the first on.
    pub(super) accepted: usize,
    /// The large model's own token after them.
    pub(super) next: usize,
}

/// Judges drafted tokens so that what stays is distributed as if the large model had drawn it (Leviathan et al. 2023,
/// algorithm 1): a token x stays with probability min(1, p(x) / q(x)); at the first that does not, the large model draws
/// from max(0, p - q) instead, and if all stay, from what it makes of the place after them.
///
/// `p` has the large model's probabilities at each place, one place more than was drafted; `q` those of the drafting model.
pub(super) fn judge(
    p: &[Vec<f64>],
    q: &[Vec<f64>],
    drafted: &[usize],
    stream: &mut Stream,
) -> Judgement {
    for (place, ((p, q), &token)) in p.iter().zip(q).zip(drafted).enumerate() {
        if stream.uniform() * q[token] < p[token] {
            continue;
        }
        let left: Vec<f64> = p.iter().zip(q).map(|(p, q)| (p - q).max(0.0)).collect();
        // Both alike to the last bit, and refused by rounding.
        let left = if left.iter().sum::<f64>() > 0.0 { &left } else { p };
        return Judgement { accepted: place, next: draw(left, stream) };
    }
    let after = p.get(drafted.len()).map_or(&[][..], Vec::as_slice);
    Judgement { accepted: drafted.len(), next: draw(after, stream) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of (found - expected)² / expected over all tokens that can come.
    fn chi_square(counts: &[usize], odds: &[f64]) -> f64 {
        let draws: usize = counts.iter().sum();
        let expected = odds.iter().map(|share| share * draws as f64);
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
    const RARE: f64 = 18.47;

    #[test]
    fn at_temperature_zero_the_likeliest_has_everything_and_ties_go_to_the_first() {
        assert_eq!(odds(&[1.0, 3.0, 3.0], 0.0), [0.0, 1.0, 0.0]);
        assert_eq!(likeliest(&[f32::NAN, 1.0, 2.0]), 2);
        assert_eq!(likeliest(&[]), 0);
        assert_eq!(odds(&[f32::NAN], 0.0), [1.0]);
    }

    #[test]
    fn a_temperature_divides_the_scores() {
        let found = odds(&[0.0, 2.0], 2.0);
        let expected = 1.0 / (1.0 + 1.0_f64.exp());
        assert!((found[0] - expected).abs() < 1e-12);
        // So small that the differences overflow: still the likeliest.
        assert_eq!(odds(&[-40.0, 88.0], 1e-300), [0.0, 1.0]);
    }

    #[test]
    fn draws_have_the_frequencies_of_the_softmax() {
        let odds = odds(&[0.3, -1.0, 1.2, 0.0, -0.4], 0.8);
        let mut stream = Stream::new(3, "test");
        let mut counts = [0; 5];
        for _ in 0..20_000 {
            counts[draw(&odds, &mut stream)] += 1;
        }
        let found = chi_square(&counts, &odds);
        assert!(found < RARE, "{found}");
    }

    #[test]
    fn drafted_and_judged_tokens_are_distributed_as_the_large_models_own() {
        let p = odds(&[0.3, -1.0, 1.2, 0.0, -0.4], 1.0);
        let q = odds(&[1.0, 0.5, -0.5, 0.0, -2.0], 1.0);
        let (mut drafts, mut judges) = (Stream::new(3, "draft"), Stream::new(3, "judge"));
        let (mut counts, mut accepted, draws) = ([0; 5], 0, 40_000);
        for _ in 0..draws {
            let drafted = draw(&q, &mut drafts);
            // What follows does not matter: the first token is what is counted.
            let places = [p.clone(), p.clone()];
            let judged = judge(&places, std::slice::from_ref(&q), &[drafted], &mut judges);
            accepted += judged.accepted;
            counts[if judged.accepted == 1 { drafted } else { judged.next }] += 1;
        }
        let found = chi_square(&counts, &p);
        assert!(found < RARE, "{found}");
        // A drafted token stays with probability sum of min(p, q) (theorem 3.5), here 0.64.
        let alpha: f64 = p.iter().zip(&q).map(|(p, q)| p.min(*q)).sum();
        let share = accepted as f64 / f64::from(draws);
        let error = (alpha * (1.0 - alpha) / f64::from(draws)).sqrt();
        assert!((share - alpha).abs() < 3.0 * error, "{share} {alpha}");
        // The test can fail: drafted tokens alone are not so distributed.
        let of_drafts: Vec<usize> = q.iter().map(|q| (q * 40_000.0) as usize).collect();
        assert!(chi_square(&of_drafts, &p) > 100.0 * RARE);
    }

    #[test]
    fn tokens_in_a_row_yield_what_the_formula_says() {
        let p = odds(&[0.3, -1.0, 1.2], 1.0);
        let q = odds(&[1.0, 0.5, -0.5], 1.0);
        let alpha: f64 = p.iter().zip(&q).map(|(p, q)| p.min(*q)).sum();
        let (places, drafts) = (vec![p; 5], vec![q; 4]);
        let mut stream = Stream::new(5, "test");
        let (mut sum, mut squares, rounds) = (0.0, 0.0, 20_000);
        for _ in 0..rounds {
            let drafted: Vec<usize> = drafts.iter().map(|q| draw(q, &mut stream)).collect();
            let gained = judge(&places, &drafts, &drafted, &mut stream).accepted as f64 + 1.0;
            sum += gained;
            squares += gained * gained;
        }
        let mean = sum / f64::from(rounds);
        let error = ((squares / f64::from(rounds) - mean * mean) / f64::from(rounds)).sqrt();
        let expected = mlsys_sim::inference::expected_tokens(alpha, 4);
        assert!((mean - expected).abs() < 3.0 * error, "{mean} {expected}");
    }
}
