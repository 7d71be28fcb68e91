//! Text that the model writes, and what it wrote before: one sees it learn.

use burn::tensor::{Device, Tensor, TensorData};
use mlsys_lab::frame::Frame;

use super::reading::{probabilities, transformer};
use mlsys_nn::data::{Sequence, Vocabulary};
use mlsys_nn::nets::Network;
use mlsys_nn::random::Stream;

/// Characters written.
const CHARACTERS: usize = 140;
/// Symbols written, where tokens are numbers.
const SYMBOLS: usize = 32;
/// Characters given to begin with, where no line of sums shows another end.
const GIVEN: usize = 12;
/// Below 1, likely tokens are drawn more often than the model says: fewer slips, less variety.
const TEMPERATURE: f64 = 0.8;
/// Earlier texts shown above the latest.
const EARLIER: usize = 4;
/// Characters shown of an earlier text.
const SHORT: usize = 64;

/// Writes on from a few held-out tokens.
pub(super) struct Writing {
    prompt: Vec<i32>,
    vocabulary: Vocabulary,
    context: usize,
    seed: u64,
    device: Device,
    /// What was written, with the steps done by then; the latest last.
    written: Vec<(u64, Vec<i32>)>,
    /// The evaluation after which the latest was written.
    evaluated: Option<u64>,
}

impl Writing {
    pub(super) fn new(
        held_out: &Sequence,
        vocabulary: &Vocabulary,
        seed: u64,
        device: &Device,
    ) -> Self {
        let most = GIVEN.min(held_out.context);
        let newline = vocabulary.tokens("\n").first().copied();
        // From the start of a line, if there are lines; the last of a sum is its equals sign.
        let whole = held_out.tokens.len() - most;
        let starts = held_out.tokens[..=whole].windows(2).position(|pair| {
            let [end, first] = [pair[0], pair[1]].map(|token| Some(token) == newline);
            end && !first
        });
        let prompt = &held_out.tokens[starts.map_or(0, |line_end| line_end + 1)..][..most];
        let equals = vocabulary.tokens("+=").get(1).copied();
        let given = prompt
            .iter()
            .position(|&token| vocabulary.is_characters() && Some(token) == equals)
            .map_or(most, |place| place + 1);
        Self {
            prompt: prompt[..given].to_vec(),
            vocabulary: vocabulary.clone(),
            context: held_out.context,
            seed,
            device: device.clone(),
            written: Vec::new(),
            evaluated: None,
        }
    }

    /// Whether there is something new to be said after the evaluation at step `evaluated`.
    pub(super) fn is_due(&self, evaluated: u64) -> bool {
        self.evaluated != Some(evaluated)
    }

    /// Writes, and shows it under what was written before.
    pub(super) fn draw(&mut self, network: &Network, step: u64, evaluated: u64) -> Option<Frame> {
        if self.written.last().is_none_or(|(written_at, _)| *written_at != step) {
            let tokens = self.write(network, step)?;
            self.written.push((step, tokens));
        }
        self.evaluated = Some(evaluated);
        if self.written.len() > EARLIER + 1 {
            // The first one stays: that is where it all began.
            self.written.remove(1);
        }
        let (latest, earlier) = self.written.split_last()?;
        let mut text = String::new();
        for (step, tokens) in earlier {
            let line = self.vocabulary.text(tokens).replace('\n', " ");
            let line: String = line.chars().take(SHORT).collect();
            text.push_str(&format!("{step:>6}: {line}\n"));
        }
        let (step, tokens) = latest;
        let [given, written] = [&self.prompt, tokens].map(|part| self.vocabulary.text(part));
        text.push_str(&format!("{step:>6}: {given}|{written}\n"));
        Some(Frame::Text(text))
    }

    /// Draws token after token; at one step always the same, whoever looks and how often.
    fn write(&self, network: &Network, step: u64) -> Option<Vec<i32>> {
        let transformer = transformer(network)?;
        let mut stream = Stream::new(self.seed, &format!("text/{step}"));
        let length = if self.vocabulary.is_characters() { CHARACTERS } else { SYMBOLS };
        let mut tokens = self.prompt.clone();
        for _ in 0..length {
            let seen = &tokens[tokens.len().saturating_sub(self.context)..];
            // Always as many tokens, so that a GPU needs no kernels for each length: no token sees those after it.
            let mut window = seen.to_vec();
            window.resize(self.context, 0);
            let window = TensorData::new(window, [1, self.context]);
            let logits = transformer.forward(Tensor::from_data(window, &self.device));
            let here = logits.slice([0..1, seen.len() - 1..seen.len()]);
            tokens.push(choose(probabilities(here).first()?, &mut stream) as i32);
        }
        Some(tokens.split_off(self.prompt.len()))
    }
}

/// Draws an index by probabilities sharpened by the temperature: p^(1/T), made to sum to one.
fn choose(probabilities: &[f32], stream: &mut Stream) -> usize {
    let sharpen = |&p: &f32| f64::from(p).powf(1.0 / TEMPERATURE);
    let total: f64 = probabilities.iter().map(sharpen).sum();
    let mut left = stream.uniform() * total;
    for (index, share) in probabilities.iter().map(sharpen).enumerate() {
        left -= share;
        if left < 0.0 {
            return index;
        }
    }
    // Rounding, or probabilities that are no numbers any more.
    probabilities.len().saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likely_tokens_are_drawn_more_often_than_their_share() {
        let mut stream = Stream::new(1, "test");
        let draws = 20_000;
        let first = (0..draws).filter(|_| choose(&[0.8, 0.0, 0.2], &mut stream) == 0).count();
        // 0.8^1.25 over 0.8^1.25 + 0.2^1.25.
        let share = first as f64 / f64::from(draws);
        assert!((share - 0.850).abs() < 0.01, "{share}");
        let none = (0..draws).filter(|_| choose(&[0.8, 0.0, 0.2], &mut stream) == 1);
        assert_eq!(none.count(), 0);
        assert_eq!(choose(&[f32::NAN, f32::NAN], &mut stream), 1);
    }
}
