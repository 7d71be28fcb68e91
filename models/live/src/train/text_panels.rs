//! What a transformer makes of a few held-out tokens: where each looks, what it expects next, and when it knows.

use burn::tensor::activation::softmax;
use burn::tensor::{Device, Int, Tensor, TensorData};
use mlsys_lab::frame::{Bar, Frame, HeatMap, Table};
use mlsys_lab::picture::{bars, heat_map, pane};
use mlsys_lab::value::Value;
use mlsys_nn::data::{Sequence, Vocabulary};
use mlsys_nn::flat_params::values;
use mlsys_nn::networks::{ForwardTrace, Network, Transformer};
use mlsys_nn::random::Stream;

use crate::sampling::{self, likeliest};

const READ: usize = 16;
/// Positions of the table, the last ones read.
const POSITIONS: usize = 12;
const MOST_HEADS: usize = 16;
const GUESSES: usize = 8;
/// Characters before the one that comes next, as a reminder.
const REMINDER: usize = 10;
/// Tokens before it, where they are numbers: what is guessed must not be cut off by what is read.
const REMINDER_NUMBERS: usize = 2;

pub(super) struct Reading {
    /// `[1, READ]`, without autodiff.
    inputs: Tensor<2, Int>,
    tokens: Vec<i32>,
    truth: Vec<i32>,
    vocabulary: Vocabulary,
}

impl Reading {
    pub(super) fn new(held_out: &Sequence, vocabulary: &Vocabulary, device: &Device) -> Self {
        let read = READ.min(held_out.context);
        let tokens = held_out.tokens[..read].to_vec();
        let inputs = TensorData::new(tokens.clone(), [1, read]);
        Self {
            inputs: Tensor::from_data(inputs, device),
            tokens,
            truth: held_out.tokens[1..=read].to_vec(),
            vocabulary: vocabulary.clone(),
        }
    }

    /// One heat map a head: how much each token (row) attends to each before it (column).
    pub(super) fn attention(&self, network: &Network) -> Option<Frame> {
        let looks = transformer(network)?.look(self.inputs.clone());
        let label = |&token: &i32| self.vocabulary.label(token);
        let labels: Vec<String> = self.tokens.iter().map(label).collect();
        let mut panes = Vec::new();
        for (block, attention) in looks.attention.into_iter().enumerate() {
            let [_, heads, rows, columns] = attention.dims();
            let weights: Vec<f32> = values(attention);
            for (head, cells) in weights.chunks(rows * columns).take(heads).enumerate() {
                let map = heat_map([rows, columns], cells.to_vec(), (0.0, 1.0), "attention given");
                let (column_labels, row_labels) = (labels.clone(), labels.clone());
                let map = HeatMap { column_labels, row_labels, ..map };
                let title = format!("block {} head {}", block + 1, head + 1);
                panes.push(pane(title, Frame::HeatMap(map)));
            }
        }
        panes.truncate(MOST_HEADS);
        Some(Frame::Panes(panes))
    }

    /// The tokens thought likeliest after the last one read, and the one that does come.
    pub(super) fn next_token(&self, network: &Network) -> Option<Frame> {
        let logits = transformer(network)?.forward(self.inputs.clone());
        let probabilities = probabilities(logits);
        let last = probabilities.last()?;
        let truth = *self.truth.last()?;
        let mut order: Vec<usize> = (0..last.len()).collect();
        order.sort_by(|&a, &b| last[b].total_cmp(&last[a]));
        let (best, rest) = order.split_at(GUESSES.min(order.len()));
        let missing = rest.iter().filter(|&&token| token as i32 == truth);
        let reminder = if self.vocabulary.is_characters() { REMINDER } else { REMINDER_NUMBERS };
        let before = &self.tokens[self.tokens.len().saturating_sub(reminder)..];
        let before = self.vocabulary.text(before).replace('\n', "\\n");
        let all = best.iter().chain(missing).map(|&token| Bar {
            label: format!("{before}|{}", self.vocabulary.label(token as i32)),
            value: Some(f64::from(last[token])).filter(|p| p.is_finite()),
            remark: if token as i32 == truth { "comes next".to_owned() } else { String::new() },
        });
        Some(bars("probability", all.collect()))
    }

    /// What the head would say of the stream after each block, at the last positions (nostalgebraist 2020).
    pub(super) fn lens(&self, network: &Network) -> Option<Frame> {
        let transformer = transformer(network)?;
        let ForwardTrace { streams, .. } = transformer.look(self.inputs.clone());
        let after: Vec<Vec<Vec<f32>>> =
            streams.into_iter().map(|stream| probabilities(transformer.read(stream))).collect();
        let mut columns = vec!["reads".to_owned()];
        columns.extend((1..=after.len()).map(|block| format!("after block {block}")));
        columns.push("comes next".to_owned());
        let first = self.tokens.len().saturating_sub(POSITIONS);
        let rows = (first..self.tokens.len()).map(|position| {
            let name = |token: i32| Value::from(self.vocabulary.label(token));
            let guesses = after.iter().map(|stream| {
                let likely = likeliest(&stream[position]);
                let label = self.vocabulary.label(likely as i32);
                Value::from(format!("{label} {:.2}", stream[position][likely]))
            });
            let before = [name(self.tokens[position])].into_iter();
            before.chain(guesses).chain([name(self.truth[position])]).collect()
        });
        Some(Frame::Table(Table::new(columns, rows.collect())))
    }
}

pub(super) fn transformer(network: &Network) -> Option<&Transformer> {
    match network {
        Network::Transformer(transformer) => Some(transformer),
        Network::Mlp(_) | Network::Cnn(_) | Network::Filters(_) => None,
    }
}

/// Logits `[1, time, vocabulary]` to the probability of every token at each position.
pub(super) fn probabilities(logits: Tensor<3>) -> Vec<Vec<f32>> {
    let [_, _, classes] = logits.dims();
    values(softmax(logits, 2)).chunks(classes).map(<[f32]>::to_vec).collect()
}

const CHARACTERS: usize = 140;
const SYMBOLS: usize = 32;
/// Characters given to begin with, where no line of sums shows another end.
const GIVEN: usize = 12;
/// Below 1, likely tokens are drawn more often than the model says: fewer slips, less variety.
const TEMPERATURE: f64 = 0.8;
const EARLIER: usize = 4;
const SHORT: usize = 64;

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
    pub(super) fn draw_writing(
        &mut self,
        network: &Network,
        step: u64,
        evaluated: u64,
    ) -> Option<Frame> {
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

    /// Samples token by token; the text of a step does not depend on how often it is drawn.
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
            let shares = sampling::probabilities(&values(here), TEMPERATURE);
            tokens.push(sampling::draw(&shares, &mut stream) as i32);
        }
        Some(tokens.split_off(self.prompt.len()))
    }
}
