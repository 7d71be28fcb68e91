//! Sums of two numbers below a hundred, a line each: 17+25=42.

use super::DataConfig;
use super::language::{Row, Vocabulary};
use crate::random::Stream;

/// Numbers are 0 to this less one.
const BOUND: usize = 100;
/// Of all pairs of numbers, those that are held out: a tenth.
const HELD_OUT: usize = BOUND * BOUND / 10;

pub(super) fn vocabulary() -> Vocabulary {
    Vocabulary::of("\n+=0123456789")
}

/// Lines of pairs that come again and again, but a pair is either trained on or held out: who gets those right that are
/// held out has learned to add.
pub(super) fn generate(config: &DataConfig) -> Row {
    let vocabulary = vocabulary();
    let mut pairs: Vec<usize> = (0..BOUND * BOUND).collect();
    Stream::new(config.seed, "data/sums").shuffle(&mut pairs);
    let (held_out, train) = pairs.split_at(HELD_OUT);
    let lines = |pairs: &[usize], characters: usize, name: &str| {
        let mut stream = Stream::new(config.seed, &format!("data/{name}/shape"));
        let mut text = String::with_capacity(characters + 16);
        while text.len() < characters {
            let pair = stream.choice(pairs).copied().unwrap_or_default();
            let (a, b) = (pair / BOUND, pair % BOUND);
            text.push_str(&format!("{a}+{b}={}\n", a + b));
        }
        text.truncate(characters);
        vocabulary.tokens(&text)
    };
    Row {
        train: lines(train, config.samples, "train"),
        held_out: lines(held_out, config.dataset.held_out_samples(), "held-out"),
        vocabulary,
        floor: None,
    }
}
