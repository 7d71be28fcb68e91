//! However a layer is split, outputs, gradients and weights are those of one worker.

use std::sync::Arc;

use burn::tensor::Device;
use mlsys_lab::DeviceId;

use super::lab;
use crate::train_tensor_parallel::cut::Layout;
use crate::train_tensor_parallel::setup::{Compare, Mode, Setup, Sums};
use crate::train_tensor_parallel::worker::{Answer, Order, Rank, Telling};
use crate::trial::{must_be_declared, number, run, values};
use mlsys_distributed::model::{self, Model};
use mlsys_distributed::reference::relative_difference;
use mlsys_distributed::worker_pool::{WorkerContext, WorkerPool, timeout};
use mlsys_nn::flat_optimizer::Rule;
use mlsys_nn::flat_params;
use mlsys_nn::nets::TransformerConfig;
use mlsys_nn::random::Stream;

const SMALL: [&str; 4] = ["layers=2", "global_batch=4", "steps=3", "context=16"];

#[test]
fn every_mode_gives_what_one_worker_gives() {
    for mode in ["tensor", "tensor-sequence", "context"] {
        for rule in ["optimizer=sgd", "optimizer=adam"] {
            let mode = format!("mode={mode}");
            let data = run(&lab(), &[&SMALL[..], &[&mode, rule]].concat());
            must_be_declared(&lab(), &data);
            for metric in ["max_output_difference", "max_gradient_difference"] {
                let found = values(&data, metric);
                assert_eq!(found.len(), 3, "{mode} {metric}");
                let most = found.iter().copied().fold(0.0, f64::max);
                assert!(most <= 1e-5, "{mode} {rule} {metric} {most:e}");
            }
            let (loss, alone) = (values(&data, "loss"), values(&data, "reference_loss"));
            for (loss, alone) in loss.iter().zip(&alone) {
                assert!((loss / alone - 1.0).abs() <= 1e-5, "{mode}: {loss} {alone}");
            }
        }
    }
}

#[test]
fn weights_stay_together_where_updates_are_gradients() {
    for mode in ["mode=tensor", "mode=tensor-sequence", "mode=context"] {
        let set = [
            mode,
            "layers=2",
            "global_batch=4",
            "context=16",
            "steps=20",
            "optimizer=sgd",
            "learning_rate=0.1",
        ];
        let apart = values(&run(&lab(), &set), "max_weight_difference");
        assert!(apart[19] <= 1e-5, "{mode}: {apart:?}");
    }
}

#[test]
fn sums_left_out_are_seen_at_once() {
    for mode in ["mode=tensor", "mode=tensor-sequence"] {
        let data = run(&lab(), &[&SMALL[..], &[mode, "skip_all_reduce=true"]].concat());
        let output = values(&data, "max_output_difference");
        assert!(output[0] > 1e-2, "{mode}: {output:?}");
    }
    let context = ["mode=context", "skip_all_reduce=true"];
    let data = run(&lab(), &[&SMALL[..], &context].concat());
    assert!(values(&data, "max_output_difference")[0] <= 1e-5);
    assert!(data.notices.iter().any(|said| said.contains("no matrix is split by rows")));
}

#[test]
fn one_rank_is_one_worker_bit_for_bit_and_sends_nothing() {
    for mode in ["mode=tensor", "mode=tensor-sequence", "mode=context"] {
        let data = run(&lab(), &[&SMALL[..], &[mode, "ranks=1"]].concat());
        for metric in ["max_output_difference", "max_gradient_difference", "max_weight_difference"]
        {
            assert!(values(&data, metric).iter().all(|found| *found == 0.0), "{mode} {metric}");
        }
        assert_eq!(number(&data, "bytes_sent_per_worker"), 0.0);
        assert_eq!(number(&data, "messages_per_worker"), 0.0);
        assert_eq!(number(&data, "speedup"), 1.0);
    }
}

/// A step of all ranks on their own threads; what they found, and what they are.
fn step(setup: &Setup, model: &Model, sums: Sums) -> (Layout, Vec<Answer>) {
    let device = Device::flex();
    let whole = flat_params::weights(&model.network(&device.clone().autodiff())).unwrap();
    let whole: Arc<[f32]> = whole.into();
    let context = WorkerContext { device, place: "cpu".to_owned() };
    let (copy, data) = (setup.clone(), Arc::clone(&model.data));
    let mut pool =
        WorkerPool::start(DeviceId::CPU, vec![context; setup.ranks], timeout(0.0), move |spec| {
            Ok(Rank::new(&spec, &copy, &whole, &data))
        })
        .unwrap();
    let order = Order {
        indices: (0..setup.batch).collect(),
        learning_rate: 0.1,
        sums,
        telling: Telling::All,
        from: None,
    };
    let orders = std::iter::repeat_n(order, setup.ranks);
    let answers = pool.act(1, orders, || false).unwrap();
    (Layout::new(&setup.config, setup.mode, setup.ranks), answers)
}

fn chosen<T: Copy>(stream: &mut Stream, of: &[T]) -> T {
    of[stream.below(of.len())]
}

/// A model whose heads and tokens as many ranks can share.
fn random(stream: &mut Stream) -> Setup {
    let mode = chosen(stream, &[Mode::Tensor, Mode::TensorSequence, Mode::Context]);
    let (kv_heads, group) = (1 + stream.below(3), 1 + stream.below(2));
    let width = 16 * kv_heads * group;
    let ranks = match mode {
        Mode::Context => 1 + stream.below(5),
        // What divides key/value heads divides heads; the gated layer's width is a multiple of 8.
        Mode::Tensor | Mode::TensorSequence => {
            let shared = |ranks: &usize| {
                kv_heads.is_multiple_of(*ranks)
                    && TransformerConfig::gated(width).is_multiple_of(*ranks)
            };
            let all: Vec<usize> = (1..=kv_heads).filter(shared).collect();
            chosen(stream, &all)
        }
    };
    Setup {
        ranks,
        mode,
        config: TransformerConfig {
            vocab: 64,
            width,
            depth: 1 + stream.below(3),
            heads: kv_heads * group,
            kv_heads,
            ffn: TransformerConfig::gated(width),
            context: ranks * (1 + stream.below(5)),
        },
        batch: 1 + stream.below(3),
        rule: Rule::Sgd,
        compare: Compare::Yes,
        seed: stream.bits() >> 12,
    }
}

#[test]
fn the_gradients_of_random_models_are_one_devices_whatever_the_ranks_and_the_mode() {
    let mut stream = Stream::new(7, "tests/split");
    for _ in 0..24 {
        let setup = random(&mut stream);
        let model = Model::transformer(setup.config.clone(), setup.seed).unwrap();
        // The oracle: burn's own backward pass over the transformer as it is, on one device.
        let device = Device::flex().autodiff();
        let network = model.network(&device);
        let indices: Vec<usize> = (0..setup.batch).collect();
        let (loss, gradient) =
            model::gradient(&network, &model.data.train, &indices, &device).unwrap();

        let (layout, answers) = step(&setup, &model, Sums::Done);
        let mut found = vec![f32::NAN; layout.len()];
        for (rank, answer) in answers.iter().enumerate() {
            layout.put(&mut found, rank, &answer.all.as_ref().unwrap().gradient);
        }
        let off = relative_difference(&found, &gradient);
        assert!(off <= 1e-5, "{off:e} {setup:?}");
        if setup.ranks == 1 {
            assert_eq!(found, gradient, "{setup:?}");
        }
        let sum: f64 = if setup.mode.cuts_tokens() {
            answers.iter().map(|answer| answer.loss).sum()
        } else {
            answers[0].loss
        };
        assert!((sum / loss - 1.0).abs() <= 1e-5, "{sum} {loss} {setup:?}");
    }
}

#[test]
fn what_all_ranks_have_is_the_same_on_all_bit_for_bit() {
    let mut stream = Stream::new(8, "tests/split");
    for _ in 0..9 {
        let setup = random(&mut stream);
        let model = Model::transformer(setup.config.clone(), setup.seed).unwrap();
        let (layout, answers) = step(&setup, &model, Sums::Done);
        let weights = |rank: usize| {
            let mut whole = vec![0.0; layout.len()];
            layout.put(&mut whole, rank, &answers[rank].all.as_ref().unwrap().weights);
            whole
        };
        let (whole, embedding) = (weights(0), 64 * setup.config.width);
        for rank in 1..setup.ranks {
            let other = weights(rank);
            assert_eq!(other[..embedding], whole[..embedding], "{setup:?}");
            let head = whole.len() - embedding;
            assert_eq!(other[head..], whole[head..], "{setup:?}");
        }
    }
}
