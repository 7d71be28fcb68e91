//! burn's decoder against the plain one.

use burn::module::{Module, ModuleMapper, Param};
use burn::tensor::{Device, Tensor, TensorData};

use super::plain::Plain;
use super::{config, difference, tokens, transformer, values};
use crate::nets::in_f64;
use crate::nets::transformer::{Transformer, TransformerConfig};

const FIRST: [i32; 7] = [3, 1, 4, 1, 5, 9, 2];
const SECOND: [i32; 7] = [6, 5, 3, 5, 10, 0, 7];

/// Moves every weight a little, so that the factors of norms are not all one.
struct Stir(usize);

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

/// The largest relative difference in scores, attention and vectors.
fn error(transformer: &Transformer) -> f64 {
    let device = Device::flex();
    let plain = Plain::of(transformer);
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
fn it_equals_the_plain_one_for_every_way_of_sharing_heads() {
    for (heads, kv_heads) in [(4, 4), (4, 2), (4, 1), (2, 1), (1, 1), (8, 2)] {
        let single = stirred(config(heads, kv_heads));
        let double = in_f64(single.clone());
        let (single, double) = (error(&single), error(&double));
        assert!(single <= 1e-4, "{heads}, {kv_heads}: {single:e} in f32");
        assert!(double <= 1e-10, "{heads}, {kv_heads}: {double:e} in f64");
    }
}

#[test]
fn it_equals_the_plain_one_without_blocks_and_for_one_token() {
    let none = stirred(TransformerConfig { depth: 0, ..config(4, 2) });
    assert!(error(&in_f64(none)) <= 1e-10);
    let one = in_f64(stirred(config(4, 2)));
    let found = values(one.forward(tokens(&[8], 1, &Device::flex())));
    let expected = Plain::of(&one).forward(&[8]).logits.concat();
    assert!(difference(&found, &expected) <= 1e-10);
}

/// Every group of columns `size` wide, `times` times in a row.
fn repeated(param: &Param<Tensor<2>>, size: usize, times: usize) -> Param<Tensor<2>> {
    let [rows, columns] = param.dims();
    let groups = param.val().reshape([rows, columns / size, 1, size]);
    let repeated: Tensor<4> = groups.repeat_dim(2, times);
    Param::from_tensor(repeated.reshape([rows, columns * times]))
}

#[test]
fn shared_heads_are_heads_with_equal_keys_and_values() {
    let shared = in_f64(stirred(config(4, 2)));
    let mut own = shared.clone();
    for block in &mut own.blocks {
        block.attention.kv_heads = 4;
        block.attention.key = repeated(&block.attention.key, 4, 2);
        block.attention.value = repeated(&block.attention.value, 4, 2);
    }
    let tokens = tokens(&FIRST, 1, &Device::flex());
    let (a, b) = (shared.forward(tokens.clone()), own.forward(tokens));
    assert!(difference(&values(a), &values(b)) <= 1e-13);
}
