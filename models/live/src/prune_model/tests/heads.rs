//! A transformer taken apart: heads, gated units, and what neither of the other networks has.

use burn::tensor::{Device, Int, Tensor, activation};
use mlsys_lab::Frame;
use mlsys_sim::pruning::mask;

use super::*;
use crate::prune_model::parts::Kind;
use mlsys_nn::baseline::Sizes;
use mlsys_nn::data::Dataset;
use mlsys_nn::nets::{Network, Transformer};

/// A small run on a network of which nothing is expected.
const QUICK: [&str; 6] = [
    "dataset=chain",
    "model=transformer",
    "width=16",
    "baseline_steps=2",
    "finetune_steps=2",
    "method=heads",
];

fn quick(set: &[&str]) -> RunData {
    prune(&trial::over(&QUICK, set))
}

/// Two blocks of four heads, each key/value head of which serves so many query heads.
fn decoder(kv_heads: usize) -> std::sync::Arc<Trained> {
    let sizes = Sizes { width: 16, kv_heads, ..Sizes::default() };
    let recipe = Recipe::tokens(Dataset::Chain, sizes, 3, 5).unwrap();
    trained(&recipe, mlsys_lab::DeviceId::CPU).unwrap()
}

fn tokens() -> Tensor<2, Int> {
    let tokens: Vec<i32> = (0..2 * 9).map(|at| at * 7 % 61).collect();
    Tensor::<1, Int>::from_ints(tokens.as_slice(), &Device::flex()).reshape([2, 9])
}

fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}

fn transformer(network: Network) -> Transformer {
    match network {
        Network::Transformer(transformer) => transformer,
        Network::Mlp(_) | Network::Cnn(_) | Network::Filters(_) => panic!("no transformer"),
    }
}

/// The scores if what some heads found is set to zero before it is joined, all weights being there.
fn silenced(whole: &Transformer, gone: &[Vec<bool>]) -> Tensor<3> {
    let mut x = whole.embed(tokens());
    let at = whole.positions(&x);
    for (block, stays) in whole.blocks.iter().zip(gone) {
        let [batch, time, width] = x.dims();
        let rows = x.flatten::<2>(0, 1);
        let attention = &block.attention;
        let (q, k, v) = attention.project(block.attention_norm.forward(rows.clone()), batch, &at);
        let found = attention.blend(attention.weigh(q, k, &at), v); // [batch, heads, time, head]
        let keep: Vec<f32> = stays.iter().map(|stays| f32::from(u8::from(*stays))).collect();
        let keep = Tensor::<1>::from_floats(keep.as_slice(), &Device::flex());
        let found = found * keep.reshape([1, stays.len(), 1, 1]);
        let rows = rows + attention.join(found);
        let rows = rows.clone() + block.mlp.forward(block.mlp_norm.forward(rows));
        x = rows.reshape([batch, time, width]);
    }
    whole.read(x)
}

#[test]
fn without_heads_it_answers_as_if_they_had_found_nothing() {
    let device = Device::flex();
    for (kv_heads, group) in [(4, 1), (2, 2)] {
        let trained = decoder(kv_heads);
        for (scope, sparsity) in [(Scope::Layer, 0.5), (Scope::Global, 0.6)] {
            let choice = Choice { method: Method::Heads, scope, sparsity, ..HALF };
            let cut = chosen(&trained, choice);
            let (heads, units): (Vec<_>, Vec<_>) =
                cut.units.chunks(2).map(|of| (of[0].clone(), &of[1])).unzip();
            assert!(units.iter().all(|units| units.iter().all(|stays| *stays)));
            assert!(heads.iter().all(|heads| mask::count(heads) > 0));
            assert!(heads.iter().any(|heads| mask::count(heads) < kv_heads));
            let query_heads: Vec<Vec<bool>> = heads
                .iter()
                .map(|heads| heads.iter().flat_map(|stays| vec![*stays; group]).collect())
                .collect();
            let whole = trained.network(&device);
            let wanted = numbers(silenced(&transformer(whole.clone()), &query_heads));

            let narrow = transformer(narrowed(&whole, &cut.units, &device));
            for (block, heads) in narrow.blocks.iter().zip(&heads) {
                assert_eq!(block.attention.kv_heads, mask::count(heads));
                assert_eq!(block.attention.heads, group * mask::count(heads));
            }
            let mut row = trained.weights.clone();
            let stays = cut.row(&Body::of(&trained), row.len());
            hold(&mut row, &stays);
            let zeros = transformer(trained.network_of(&row, &device));
            for network in [narrow, zeros] {
                let answers = numbers(network.forward(tokens()));
                assert_eq!(answers.len(), wanted.len());
                for (a, b) in answers.iter().zip(&wanted) {
                    assert!((a - b).abs() < 1e-4, "{a} {b}");
                }
            }
            // Not as if nothing were gone.
            let dense = numbers(transformer(whole).forward(tokens()));
            assert!(dense.iter().zip(&wanted).any(|(a, b)| (a - b).abs() > 1e-3));
        }
    }
}

#[test]
fn a_network_without_gated_units_answers_as_one_with_zeros_in_their_place() {
    let device = Device::flex();
    let trained = decoder(2);
    let choice = Choice { method: Method::Neurons, ..HALF };
    let cut = chosen(&trained, choice);
    assert_eq!(cut.left_of(Kind::Heads, &Body::of(&trained)), (4, 4));
    assert_eq!(cut.left_of(Kind::Units, &Body::of(&trained)), (48, 96));
    let whole = transformer(trained.network(&device));
    let normal = whole.blocks[1].mlp_norm.forward(Tensor::ones([3, 16], &device));
    let mlp = &whole.blocks[1].mlp;
    let gate = activation::silu(normal.clone().matmul(mlp.gate.val()));
    let units = gate * normal.clone().matmul(mlp.up.val()); // [rows, ffn]
    let keep: Vec<f32> = cut.units[3].iter().map(|stays| f32::from(u8::from(*stays))).collect();
    let keep = Tensor::<1>::from_floats(keep.as_slice(), &device).unsqueeze::<2>();
    let wanted = numbers((units * keep).matmul(mlp.down.val()));
    let narrow = transformer(narrowed(&trained.network(&device), &cut.units, &device));
    for (a, b) in numbers(narrow.blocks[1].mlp.forward(normal)).iter().zip(wanted) {
        assert!((a - b).abs() < 1e-5, "{a} {b}");
    }
}

#[test]
fn the_heads_with_the_smallest_norm_go() {
    let trained = decoder(4);
    let body = Body::of(&trained);
    let choice = Choice { method: Method::Heads, ..HALF };
    let cut = chosen(&trained, choice);
    let network = transformer(trained.network(&Device::flex()));
    for (block, stays) in network.blocks.iter().zip(cut.units.chunks(2)) {
        let attention = &block.attention;
        let norm = |head: usize| -> f32 {
            let span = head * 4..(head + 1) * 4;
            let columns = [&attention.query, &attention.key, &attention.value];
            let columns = columns.map(|matrix| matrix.val().slice([0..16, span.clone()]));
            let rows = attention.output.val().slice([span.clone(), 0..16]);
            let squares = columns.map(|of| of.square().sum().into_scalar::<f32>());
            squares.iter().sum::<f32>() + rows.square().sum().into_scalar::<f32>()
        };
        let norms: Vec<f32> = (0..4).map(norm).collect();
        let least_left = (0..4).filter(|head| stays[0][*head]).map(|head| norms[head]);
        let most_gone = (0..4).filter(|head| !stays[0][*head]).map(|head| norms[head]);
        assert!(most_gone.fold(0.0, f32::max) <= least_left.fold(f32::INFINITY, f32::min));
    }
    assert_eq!(cut.left_of(Kind::Heads, &body), (4, 8));
}

#[test]
fn exactly_as_many_heads_stay_as_asked_and_the_rest_stay_zero() {
    let lab = lab().unwrap();
    // Of a block 4 matrices of 16 x 16 with 8 heads, and 3 of 16 x 48; a head of 16 x 64; the output head.
    let (head, all) = (4 * 2 * 16, 2 * (4 * 256 + 3 * 16 * 48) + 16 * 64);
    for (sparsity, left) in [("0.0", 16), ("0.25", 12), ("0.5", 8), ("0.7", 5), ("0.999", 2)] {
        let data = quick(&[&format!("sparsity={sparsity}")]);
        trial::must_be_declared(&lab, &data);
        let gone = (16 - left) * head;
        assert_eq!(number(&data, "kept_weights"), f64::from(all - gone), "{sparsity}");
        assert_eq!(number(&data, "resurrected_weights"), 0.0);
        // What stands beside the matrices: the embedding, and five scales of norms.
        let parameters = all - gone + 64 * 16 + 5 * 16;
        assert_eq!(number(&data, "parameters"), f64::from(parameters));
        assert_eq!(number(&data, "stored_bytes"), f64::from(4 * parameters));
        assert_eq!(number(&data, "remaining_flops"), f64::from(2 * (all - gone)));
        assert!(number(&data, "modelled_speedup") >= 1.0);
        let Some((_, Frame::Panes(panes))) = data.frames.get("weights") else { panic!("no panes") };
        let Frame::HeatMap(map) = &panes[0].frame else { panic!("no heat map") };
        assert_eq!((map.rows, map.columns), (2, 8));
        let there = map.cells.iter().filter(|norm| norm.is_finite());
        assert_eq!(there.count(), left as usize);
    }
}

#[test]
fn every_method_works_on_a_transformer_and_runs_repeat() {
    for set in [
        &["method=magnitude", "value_bits=4"][..],
        &["method=n-of-m"],
        &["method=random", "scope=layer"],
        &["method=neurons", "sparsity=0.5", "scope=layer"],
        &["rounds=2", "sparsity=0.75", "value_bits=8"],
        &["finetune_from=initial", "sparsity=0.5"],
    ] {
        let (once, again) = (quick(set), quick(set));
        assert_eq!(number(&once, "resurrected_weights"), 0.0, "{set:?}");
        assert!(number(&once, "accuracy_after") < 0.0, "{set:?}");
        for name in ["accuracy_pruned", "accuracy_after", "kept_weights", "stored_bytes"] {
            assert_eq!(number(&once, name), number(&again, name), "{set:?} {name}");
        }
    }
    // Nothing was trained, so that what is left is where it began anyway.
    let losses = |from: &str| {
        let from = format!("finetune_from={from}");
        values(&quick(&["baseline_steps=0", "sparsity=0.5", &from]), "loss")
    };
    assert_eq!(losses("initial"), losses("trained"));
    assert_ne!(losses("redrawn"), losses("trained"));
    let rounds = quick(&["rounds=2", "sparsity=0.75"]);
    let heads = (2 * (4 * 256 + 3 * 16 * 48) + 16 * 64) - 12 * 4 * 2 * 16;
    assert_eq!(number(&rounds, "kept_weights"), f64::from(heads));
}

#[test]
fn what_fits_no_network_is_said_before_anything_is_trained() {
    let lab = lab().unwrap();
    for (set, names) in [
        (&["method=heads"][..], ["method", "model"]),
        (&["method=heads", "model=cnn"], ["method", "model"]),
        (&["model=transformer"], ["dataset", "model"]),
        (&["model=transformer", "method=heads"], ["dataset", "model"]),
        (&["dataset=chain"], ["dataset", "model"]),
        (&["dataset=chain", "model=cnn"], ["dataset", "model"]),
        (&["dataset=chain", "model=transformer", "width=24"], ["width", "model"]),
    ] {
        // A network that would take hours.
        let error = try_run(&lab, &[set, &["baseline_steps=100000"]].concat()).unwrap_err();
        assert!(error.is_usage(), "{set:?}: {error}");
        for name in names {
            assert!(error.to_string().contains(name), "{set:?}: {error}");
        }
    }
}
