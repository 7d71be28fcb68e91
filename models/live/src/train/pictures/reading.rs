//! What a transformer makes of a few held-out tokens: where each looks, what it expects next, and when it knows.

use burn::tensor::{Device, Int, Tensor, TensorData, activation::softmax};
use mlsys_lab::frame::{Bar, Bars, Frame, HeatMap, Pane, Table};
use mlsys_lab::schema::Scale;
use mlsys_lab::value::Value;

use super::most_likely;
use mlsys_nn::data::{Sequence, Vocabulary};
use mlsys_nn::nets::{Looks, Network, Transformer};

/// Tokens that are read.
const READ: usize = 16;
/// Positions of the table, the last ones read.
const POSITIONS: usize = 12;
/// Heads shown, from the first block on.
const MOST_HEADS: usize = 16;
/// Tokens that may come next, the likeliest.
const GUESSES: usize = 8;
/// Characters before the one that comes next, as a reminder.
const REMINDER: usize = 10;
/// Tokens before it, where they are numbers: what is guessed must not be cut off by what is read.
const REMINDER_NUMBERS: usize = 2;

/// The first held-out tokens.
pub(super) struct Reading {
    /// `[1, READ]`, without autodiff.
    inputs: Tensor<2, Int>,
    tokens: Vec<i32>,
    /// What follows each of them.
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
        let labels: Vec<String> = self.labels(&self.tokens);
        let mut panes = Vec::new();
        for (block, attention) in looks.attention.into_iter().enumerate() {
            let [_, heads, rows, columns] = attention.dims();
            let weights: Vec<f32> = values(attention);
            for (head, cells) in weights.chunks(rows * columns).take(heads).enumerate() {
                panes.push(Pane {
                    title: format!("block {} head {}", block + 1, head + 1),
                    frame: Frame::HeatMap(HeatMap {
                        columns,
                        rows,
                        cells: cells.to_vec(),
                        low: 0.0,
                        high: 1.0,
                        x: (0.0, columns as f32),
                        y: (0.0, rows as f32),
                        column_labels: labels.clone(),
                        row_labels: labels.clone(),
                        points: Vec::new(),
                        legend: "attention given".to_owned(),
                    }),
                });
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
        let bars = best.iter().chain(missing).map(|&token| Bar {
            label: format!("{before}|{}", self.vocabulary.label(token as i32)),
            value: Some(f64::from(last[token])).filter(|p| p.is_finite()),
            remark: if token as i32 == truth { "comes next".to_owned() } else { String::new() },
        });
        Some(Frame::Bars(Bars { unit: String::new(), scale: Scale::Linear, bars: bars.collect() }))
    }

    /// What the head would say of the stream after each block, at the last positions (nostalgebraist 2020).
    pub(super) fn lens(&self, network: &Network) -> Option<Frame> {
        let transformer = transformer(network)?;
        let Looks { streams, .. } = transformer.look(self.inputs.clone());
        let after: Vec<Vec<Vec<f32>>> =
            streams.into_iter().map(|stream| probabilities(transformer.read(stream))).collect();
        let mut columns = vec!["reads".to_owned()];
        columns.extend((1..=after.len()).map(|block| format!("after block {block}")));
        columns.push("comes next".to_owned());
        let first = self.tokens.len().saturating_sub(POSITIONS);
        let rows = (first..self.tokens.len()).map(|position| {
            let name = |token: i32| Value::from(self.vocabulary.label(token));
            let said = after.iter().map(|stream| {
                let likely = most_likely(&stream[position]);
                let label = self.vocabulary.label(likely as i32);
                Value::from(format!("{label} {:.2}", stream[position][likely]))
            });
            [name(self.tokens[position])]
                .into_iter()
                .chain(said)
                .chain([name(self.truth[position])])
                .collect()
        });
        let rows = rows.collect();
        Some(Frame::Table(Table { columns, rows, ..Table::default() }))
    }

    fn labels(&self, tokens: &[i32]) -> Vec<String> {
        let label = |&token: &i32| self.vocabulary.label(token);
        tokens.iter().map(label).collect()
    }
}

/// The transformer, if the network is one.
pub(super) fn transformer(network: &Network) -> Option<&Transformer> {
    match network {
        Network::Transformer(transformer) => Some(transformer),
        Network::Mlp(_) | Network::Cnn(_) | Network::Filters(_) => None,
    }
}

/// Logits `[1, time, vocabulary]` to the probability of every token at each position.
pub(super) fn probabilities(logits: Tensor<3>) -> Vec<Vec<f32>> {
    let [_, _, classes] = logits.dims();
    let flat = values(softmax(logits, 2));
    flat.chunks(classes).map(<[f32]>::to_vec).collect()
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}
