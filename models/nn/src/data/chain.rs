//! A Markov chain whose entropy rate is known: each symbol has four successors, drawn once for all.

use super::DataConfig;
use super::language::{Row, Vocabulary};
use crate::random::Stream;

/// How likely each successor of a symbol is, in fifteenths.
const CHANCES: [usize; 4] = [8, 4, 2, 1];

/// The entropy rate in nats: every symbol has successors of the same probabilities, so that it is the entropy of one
/// draw, -Σ p ln p = 1.137, whatever the symbols' own frequencies.
pub(super) fn entropy_rate() -> f64 {
    let total: usize = CHANCES.iter().sum();
    CHANCES.iter().map(|&chance| chance as f64 / total as f64).map(|p| -p * p.ln()).sum()
}

/// Both halves are walks over the same chain, each with draws of its own.
pub(super) fn generate(config: &DataConfig) -> Row {
    let symbols = config.symbols;
    let mut stream = Stream::new(config.seed, "data/chain");
    let successors: Vec<[usize; 4]> =
        (0..symbols).map(|_| distinct(symbols, &mut stream)).collect();
    let walk = |steps: usize, name: &str| {
        let mut stream = Stream::new(config.seed, &format!("data/{name}/shape"));
        let mut symbol = stream.below(symbols);
        let step = |_| {
            let here = symbol;
            symbol = successors[here][draw(&mut stream)];
            here as i32
        };
        (0..steps).map(step).collect()
    };
    Row {
        train: walk(config.samples, "train"),
        held_out: walk(config.dataset.held_out_samples(), "held-out"),
        vocabulary: Vocabulary::numbers(symbols),
        floor: Some(entropy_rate()),
    }
}

/// Four different symbols.
fn distinct(symbols: usize, stream: &mut Stream) -> [usize; 4] {
    let mut chosen: Vec<usize> = Vec::with_capacity(4);
    while chosen.len() < 4.min(symbols) {
        let symbol = stream.below(symbols);
        if !chosen.contains(&symbol) {
            chosen.push(symbol);
        }
    }
    std::array::from_fn(|index| chosen[index % chosen.len()])
}

/// Which of the four successors comes.
fn draw(stream: &mut Stream) -> usize {
    let mut rest = stream.below(CHANCES.iter().sum());
    for (index, &chance) in CHANCES.iter().enumerate() {
        if rest < chance {
            return index;
        }
        rest -= chance;
    }
    0
}
