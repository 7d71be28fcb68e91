//! The same decoder in plain Rust: f64, one sequence, one loop a sum, nothing clever.

use burn::module::Param;
use burn::tensor::Tensor;

use crate::nets::transformer::Transformer;

/// Rows of numbers.
pub(super) type Matrix = Vec<Vec<f64>>;

/// The decoder's weights.
pub(super) struct Plain {
    embedding: Matrix,
    blocks: Vec<PlainBlock>,
    norm: Vec<f64>,
    head: Matrix,
}

struct PlainBlock {
    attention_norm: Vec<f64>,
    query: Matrix,
    key: Matrix,
    value: Matrix,
    output: Matrix,
    heads: usize,
    kv_heads: usize,
    mlp_norm: Vec<f64>,
    gate: Matrix,
    up: Matrix,
    down: Matrix,
}

/// What it finds.
pub(super) struct Found {
    /// `[time][vocab]`.
    pub(super) logits: Matrix,
    /// `[block][head][time][time]`.
    pub(super) attention: Vec<Vec<Matrix>>,
    /// `[block][time][width]`.
    pub(super) streams: Vec<Matrix>,
}

impl Plain {
    pub(super) fn of(transformer: &Transformer) -> Self {
        let block = |block: &crate::nets::transformer::Block| PlainBlock {
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

    pub(super) fn forward(&self, tokens: &[i32]) -> Found {
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
    super::values(param.val()).chunks(columns).map(<[f64]>::to_vec).collect()
}

fn vector(param: &Param<Tensor<1>>) -> Vec<f64> {
    super::values(param.val())
}
