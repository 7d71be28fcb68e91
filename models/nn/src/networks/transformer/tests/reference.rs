//! The same decoder in plain Rust: f64, one sequence, one loop a sum, nothing clever.

use crate::networks::in_f64;
use crate::networks::transformer::tests::{config, difference, tokens, transformer, values};
use crate::networks::transformer::{Transformer, TransformerConfig};
use burn::module::{Module, ModuleMapper, Param};
use burn::tensor::{Device, Tensor, TensorData};

pub(crate) type Matrix = Vec<Vec<f64>>;

pub(crate) struct Plain {
    pub(crate) embedding: Matrix,
    pub(crate) blocks: Vec<PlainBlock>,
    pub(crate) norm: Vec<f64>,
    pub(crate) head: Matrix,
}

pub(crate) struct PlainBlock {
    pub(crate) attention_norm: Vec<f64>,
    pub(crate) query: Matrix,
    pub(crate) key: Matrix,
    pub(crate) value: Matrix,
    pub(crate) output: Matrix,
    pub(crate) heads: usize,
    pub(crate) kv_heads: usize,
    pub(crate) mlp_norm: Vec<f64>,
    pub(crate) gate: Matrix,
    pub(crate) up: Matrix,
    pub(crate) down: Matrix,
}

pub(crate) struct Found {
    /// `[time][vocab]`.
    pub(crate) logits: Matrix,
    /// `[block][head][time][time]`.
    pub(super) attention: Vec<Vec<Matrix>>,
    /// `[block][time][width]`.
    pub(super) streams: Vec<Matrix>,
}

impl Plain {
    pub(super) fn new(transformer: &Transformer) -> Self {
        let block = |block: &crate::networks::transformer::Block| PlainBlock {
            attention_norm: vector(&block.attention_norm.scale),
            query: matrix(&block.attention.query),
            key: matrix(&block.attention.key),
            value: matrix(&block.attention.value),
            output: matrix(&block.attention.output),
            heads: block.attention.heads,
            kv_heads: block.attention.kv_heads,
            mlp_norm: vector(&block.mlp_norm.scale),
            gate: matrix(&block.mlp.gate),
            up: matrix(&block.mlp.up),
            down: matrix(&block.mlp.down),
        };
        Self {
            embedding: matrix(&transformer.embedding),
            blocks: transformer.blocks.iter().map(block).collect(),
            norm: vector(&transformer.norm.scale),
            head: matrix(&transformer.head),
        }
    }

    pub(crate) fn forward(&self, tokens: &[i32]) -> Found {
        let mut x: Matrix =
            tokens.iter().map(|&token| self.embedding[token as usize].clone()).collect();
        let (mut attention, mut streams) = (Vec::new(), Vec::new());
        for block in &self.blocks {
            let (mixed, weights) = block.attend(&normed(&x, &block.attention_norm));
            x = sum(&x, &mixed);
            x = sum(&x, &block.gated(&normed(&x, &block.mlp_norm)));
            attention.push(weights);
            streams.push(x.clone());
        }
        let logits = product(&normed(&x, &self.norm), &self.head);
        Found { logits, attention, streams }
    }
}

impl PlainBlock {
    fn attend(&self, x: &Matrix) -> (Matrix, Vec<Matrix>) {
        let (q, k, v) = (product(x, &self.query), product(x, &self.key), product(x, &self.value));
        let (time, size) = (x.len(), q[0].len() / self.heads);
        let mut mixed = vec![vec![0.0; self.heads * size]; time];
        let mut all = Vec::new();
        for head in 0..self.heads {
            let shared = head / (self.heads / self.kv_heads);
            let mut weights = vec![vec![0.0; time]; time];
            for now in 0..time {
                let query = rotated(&q[now][head * size..][..size], now);
                let scores: Vec<f64> = (0..=now)
                    .map(|then| {
                        let key = rotated(&k[then][shared * size..][..size], then);
                        let dot: f64 = query.iter().zip(&key).map(|(q, k)| q * k).sum();
                        dot / (size as f64).sqrt()
                    })
                    .collect();
                let total: f64 = scores.iter().map(|score| score.exp()).sum();
                for (then, score) in scores.iter().enumerate() {
                    weights[now][then] = score.exp() / total;
                    for i in 0..size {
                        mixed[now][head * size + i] +=
                            weights[now][then] * v[then][shared * size + i];
                    }
                }
            }
            all.push(weights);
        }
        (product(&mixed, &self.output), all)
    }

    fn gated(&self, x: &Matrix) -> Matrix {
        let (gate, up) = (product(x, &self.gate), product(x, &self.up));
        let made = gate.iter().zip(&up).map(|(gate, up)| {
            let pairs = gate.iter().zip(up);
            pairs.map(|(g, u)| g / (1.0 + (-g).exp()) * u).collect()
        });
        product(&made.collect(), &self.down)
    }
}

/// Number i and number i + half are the coordinates of a point, turned about the origin.
pub(super) fn rotated(x: &[f64], position: usize) -> Vec<f64> {
    let half = x.len() / 2;
    let mut y = x.to_vec();
    for i in 0..half {
        let angle = position as f64 / 10_000_f64.powf(i as f64 / half as f64);
        y[i] = x[i] * angle.cos() - x[i + half] * angle.sin();
        y[i + half] = x[i] * angle.sin() + x[i + half] * angle.cos();
    }
    y
}

fn normed(x: &Matrix, scale: &[f64]) -> Matrix {
    let row = |row: &Vec<f64>| {
        let mean_square = row.iter().map(|x| x * x).sum::<f64>() / row.len() as f64;
        let size = (mean_square + 1e-5).sqrt();
        row.iter().zip(scale).map(|(x, s)| x / size * s).collect()
    };
    x.iter().map(row).collect()
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let cell = |row: &Vec<f64>, column: usize| row.iter().zip(b).map(|(x, y)| x * y[column]).sum();
    let row = |row: &Vec<f64>| (0..b[0].len()).map(|column| cell(row, column)).collect();
    a.iter().map(row).collect()
}

fn sum(a: &Matrix, b: &Matrix) -> Matrix {
    let row = |(a, b): (&Vec<f64>, &Vec<f64>)| a.iter().zip(b).map(|(a, b)| a + b).collect();
    a.iter().zip(b).map(row).collect()
}

fn matrix(param: &Param<Tensor<2>>) -> Matrix {
    let [_, columns] = param.dims();
    values(param.val()).chunks(columns).map(<[f64]>::to_vec).collect()
}

fn vector(param: &Param<Tensor<1>>) -> Vec<f64> {
    values(param.val())
}

// burn's decoder against the plain one.

const FIRST: [i32; 7] = [3, 1, 4, 1, 5, 9, 2];
const SECOND: [i32; 7] = [6, 5, 3, 5, 10, 0, 7];

/// Moves every weight a little, so that the factors of norms are not all one.
pub(crate) struct Stir(pub(crate) usize);

impl ModuleMapper for Stir {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        param.map(|tensor| {
            let (device, dtype, shape) = (tensor.device(), tensor.dtype(), tensor.shape());
            let stirred = values(tensor).into_iter().map(|value| {
                self.0 += 1;
                value + 0.2 * (self.0 as f64).sin()
            });
            let data = TensorData::new(stirred.collect::<Vec<f64>>(), shape);
            Tensor::from_data(data, (&device, dtype))
        })
    }
}

fn stirred(config: TransformerConfig) -> Transformer {
    transformer(config, &Device::flex()).map(&mut Stir(0))
}

fn error(transformer: &Transformer) -> f64 {
    let device = Device::flex();
    let plain = Plain::new(transformer);
    let [first, second] = [FIRST, SECOND].map(|sequence| plain.forward(&sequence));
    let batch = [FIRST, SECOND].concat();
    let looks = transformer.look(tokens(&batch, 2, &device));
    let logits = [first.logits.concat(), second.logits.concat()].concat();
    let mut worst = difference(&values(looks.logits), &logits);
    let blocks = first.attention.iter().zip(&second.attention);
    for (weights, (a, b)) in looks.attention.into_iter().zip(blocks) {
        let expected = [a.concat().concat(), b.concat().concat()].concat();
        worst = worst.max(difference(&values(weights), &expected));
    }
    let blocks = first.streams.iter().zip(&second.streams);
    for (stream, (a, b)) in looks.streams.into_iter().zip(blocks) {
        let expected = [a.concat(), b.concat()].concat();
        worst = worst.max(difference(&values(stream), &expected));
    }
    worst
}

#[test]
fn grouped_heads_equal_the_reference() {
    for (heads, kv_heads) in [(4, 4), (4, 2), (4, 1), (2, 1), (1, 1), (8, 2)] {
        let single = stirred(config(heads, kv_heads));
        let double = in_f64(single.clone());
        let (single, double) = (error(&single), error(&double));
        assert!(single <= 1e-4, "{heads}, {kv_heads}: {single:e} in f32");
        assert!(double <= 1e-10, "{heads}, {kv_heads}: {double:e} in f64");
    }
}

#[test]
fn small_networks_equal_the_reference() {
    let none = stirred(TransformerConfig { depth: 0, ..config(4, 2) });
    assert!(error(&in_f64(none)) <= 1e-10);
    let one = in_f64(stirred(config(4, 2)));
    let found = values(one.forward(tokens(&[8], 1, &Device::flex())));
    let expected = Plain::new(&one).forward(&[8]).logits.concat();
    assert!(difference(&found, &expected) <= 1e-10);
}
