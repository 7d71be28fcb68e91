//! The matrix products of one forward pass, and the calculation written out.

use mlsys_lab::Frame;
use mlsys_lab::value::number;

use super::{Flops, Iteration, Measured, Recompute};
use mlsys_lab::picture;
use mlsys_lab::steps::{Steps, percent};

/// One kind of product, over all layers.
pub(super) struct Product {
    pub(super) name: &'static str,
    /// In the letters of the lab's formula.
    pub(super) formula: &'static str,
    pub(super) flops: f64,
}

impl Iteration {
    /// Every product of the forward pass; a multiply-add counts 2.
    pub(super) fn products(&self) -> Vec<Product> {
        let (l, t, h) = (self.layers, self.tokens, self.hidden);
        let (a, k) = (self.heads.queries as f64, self.heads.keys as f64);
        let product = |name, formula, flops| Product { name, formula, flops };
        vec![
            product("query", "L*2thA", l * 2.0 * t * h * a),
            product("key, value", "L*4thK", l * 4.0 * t * h * k),
            product("scores Q K^T", "L*2tsA", l * 2.0 * t * self.sequence * a),
            product("scores x V", "L*2tsA", l * 2.0 * t * self.sequence * a),
            product("output", "L*2tAh", l * 2.0 * t * a * h),
            product("MLP", "L*2tnhf", l * 2.0 * t * self.ffn_matrices * h * self.ffn),
            product("logits", "2thV", 2.0 * t * h * self.vocab),
        ]
    }

    /// What the forward pass is spent on.
    pub(super) fn parts(&self, flops: &Flops) -> Frame {
        let bar = |product: Product| {
            let share = percent(product.flops / flops.forward);
            picture::bar(product.name, product.flops, format!("{share} {}", product.formula))
        };
        picture::bars("flops", self.products().into_iter().map(bar).collect())
    }

    pub(super) fn steps(&self, flops: &Flops, measured: Option<&Measured>) -> Frame {
        let plain = |x: f64| format!("{x}");
        let (l, h, f) = (plain(self.layers), plain(self.hidden), plain(self.ffn));
        let (a, k) = (self.heads.queries, self.heads.keys);
        let (s, t, v) = (plain(self.sequence), plain(self.tokens), plain(self.vocab));
        let n = plain(self.ffn_matrices);
        let (w, c) = (number(flops.weights), number(flops.attention));
        let mut steps = Steps::default();
        let batch = plain(self.tokens / self.sequence);
        steps.add("t, tokens", "B*s", format!("{batch}*{s}"), self.tokens);
        let numbers = format!("2*{t}*(2*{h}*{a} + 2*{h}*{k} + {n}*{h}*{f})");
        steps.add("W, weights of a layer", "2t(2hA + 2hK + nhf)", numbers, flops.weights);
        steps.add("C, attention of a layer", "4tsA", format!("4*{t}*{s}*{a}"), flops.attention);
        let ratio = flops.attention / flops.weights;
        steps.add("attention to matmul", "C/W", format!("{c}/{w}"), ratio);
        steps.add("logits", "2thV", format!("2*{t}*{h}*{v}"), flops.logits);
        let numbers = format!("{l}*({w} + {c}) + {}", number(flops.logits));
        steps.add("forward", "L(W + C) + logits", numbers, flops.forward);
        let numbers = format!("3*{}", number(flops.forward));
        steps.add("model", "3*forward", numbers, flops.model);
        let model = number(flops.model);
        let (formula, numbers) = match self.recompute {
            Recompute::None => ("model", model.clone()),
            Recompute::Selective => ("model + 3LC", format!("{model} + 3*{l}*{c}")),
            Recompute::Full => ("model + L(W + C)", format!("{model} + {l}*({w} + {c})")),
        };
        steps.add("hardware", formula, numbers, flops.hardware);
        let numbers = format!("{model}/{t}");
        steps.add("per token", "model/t", numbers, flops.model / self.tokens);
        if let Some(Measured { devices, seconds, peak }) = measured {
            let below = format!("({devices}*{seconds}*{})", number(*peak));
            let time = devices * seconds * peak;
            let formula = "model/(devices*seconds*peak)";
            steps.add("MFU", formula, format!("{model}/{below}"), flops.model / time);
            let hardware = number(flops.hardware);
            let formula = "hardware/(devices*seconds*peak)";
            steps.add("HFU", formula, format!("{hardware}/{below}"), flops.hardware / time);
            let rate = self.tokens / seconds;
            steps.add("tokens a second", "t/seconds", format!("{t}/{seconds}"), rate);
        }
        steps.table()
    }
}
