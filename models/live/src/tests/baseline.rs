use std::sync::{Arc, mpsc};

use burn::tensor::Device;
use mlsys_lab::control::{Command, Limits, NextStep, StopReason};
use mlsys_lab::report::Report;
use mlsys_lab::{Artifact, Control, DeviceId, LabError, Run, RunData, Value};
use mlsys_nn::baseline::*;
use mlsys_nn::cases::Model;
use mlsys_nn::data::Dataset;
use mlsys_nn::memory_budget::MemoryBudget;
use mlsys_nn::networks::Network;
use mlsys_nn::train::EvaluationSet;
use mlsys_nn::weights::burn_format;

use crate::stepped::LiveLab;
use crate::trial::{Then, answered, params, turn};
use crate::{distill, generate, low_rank_adapt, train};

fn reader(width: usize, steps: u64, seed: u64) -> Recipe {
    Recipe::images(Model::Mlp, width, steps, seed).unwrap()
}

fn on_cpu(recipe: &Recipe) -> Arc<Trained> {
    trained(recipe, DeviceId::CPU).unwrap()
}

fn judged(trained: &Trained) -> f64 {
    let device = Device::flex();
    let fresh = EvaluationSet::new(&trained.fresh().unwrap(), &device);
    let network = trained.network(&device);
    fresh.judge(&network, trained.activation).accuracy
}

#[test]
fn a_reader_of_digits_reads_a_thousand_it_has_not_seen() {
    let trained = on_cpu(&reader(32, 150, 1));
    assert_eq!(trained.fresh().unwrap().len(), 1000);
    let right = judged(&trained);
    assert!(right > 0.85, "{right}");
    let nothing = trained.with_weights(vec![0.0; trained.weights.len()]);
    assert!(judged(&nothing) < 0.2);
}

#[test]
fn every_matrix_lies_where_the_network_has_it() {
    let sizes = Sizes { width: 8, depth: 2, heads: 2, kv_heads: 1, context: 8 };
    let recipes = [
        reader(3, 0, 1),
        Recipe::images(Model::Cnn, 2, 0, 1).unwrap(),
        Recipe::tokens(Dataset::Chain, sizes, 0, 1).unwrap(),
        Recipe::tokens(Dataset::Sums, sizes, 0, 1).unwrap(),
        Recipe::tokens(Dataset::Text, sizes, 0, 1).unwrap(),
    ];
    for recipe in recipes {
        let trained = on_cpu(&recipe);
        let network = trained.network(&Device::flex());
        let row = &trained.weights;
        let layers = trained.layers();
        let is = |index: usize, matrix: Vec<f32>| {
            assert_eq!(layers[index].matrix(row), matrix, "{}", layers[index].what);
            let mut other = vec![0.0; row.len()];
            layers[index].put(&mut other, &matrix);
            let place = layers[index].weights.clone();
            assert_eq!(other[place.clone()], row[place]);
        };
        let read =
            |tensor: burn::tensor::Tensor<2>| tensor.into_data().iter::<f32>().collect::<Vec<_>>();
        match network {
            Network::Mlp(mlp) => {
                is(0, read(mlp.layers[0].weight.val()));
                is(1, read(mlp.layers[1].weight.val()));
                assert_eq!((layers.len(), layers[1].bias(row).len()), (2, 10));
            }
            Network::Cnn(cnn) => {
                let second = cnn.convolutions[1].weight.val().flatten::<2>(1, 3);
                is(1, read(second.transpose()));
                is(2, read(cnn.head.weight.val()));
                assert_eq!((layers.len(), layers[1].bias(row).len()), (3, 4));
            }
            Network::Filters(_) => panic!("another network"),
            Network::Transformer(transformer) => {
                is(0, read(transformer.embedding.val()));
                is(2, read(transformer.blocks[0].attention.key.val()));
                is(14, read(transformer.blocks[1].mlp.down.val()));
                is(15, read(transformer.head.val()));
                assert_eq!(layers[14].what, "block 2, down");
                assert_eq!((layers.len(), layers[15].weights.end), (16, row.len()));
            }
        }
    }
}

#[test]
fn baselines_are_cached_per_recipe() {
    let of = |seed| on_cpu(&reader(2, 1, seed));
    let first = of(7);
    let both = std::thread::scope(|scope| {
        [(); 2].map(|()| scope.spawn(|| of(7))).map(|run| run.join().unwrap())
    });
    assert!(both.iter().all(|other| Arc::ptr_eq(&first, other)));
    assert_ne!(first.weights, of(8).weights);
}

#[test]
fn knobs_wait_for_the_warm_up_training() {
    let (sender, orders) = mpsc::channel();
    for order in [Command::Pause, turn("learning_rate", 0.5)] {
        sender.send(order).unwrap();
    }
    let mut run = Run {
        params: params(&train::lab().unwrap(), &[]),
        device: DeviceId::CPU,
        sink: &mut RunData::default(),
        control: Control::steered(orders, Limits::default(), Arc::default()),
    };
    let (waits, waited) = mpsc::channel();
    run.control.when_settled(move || {
        waits.send(()).unwrap();
        sender.send(Command::Step(1)).unwrap();
        sender.send(Command::Redraw).unwrap();
    });
    let trained = obtain(&mut run, &reader(2, 9, 31)).unwrap();
    assert_eq!(trained.unwrap().steps, 9);
    assert_eq!(waited.try_iter().count(), 1);
    let changes = vec![("learning_rate".to_owned(), Value::Float(0.5))];
    assert_eq!(run.control.next_step(0), NextStep::Go(changes));
    assert_eq!(run.control.next_step(1), NextStep::Redraw(Vec::new()));
}

#[test]
fn stop_during_warm_up_caches_nothing() {
    let lab = LiveLab::new(STARTS, |_, run| {
        assert_eq!(obtain(run, &reader(2, 40, 9))?, None);
        Ok(())
    });
    let (data, reason) = answered(&lab.unwrap(), &[], |report| {
        let due = matches!(report, Report::Status(status) if status.contains("step 20 of 40"));
        if due { Then::Stop } else { Then::On }
    });
    assert_eq!(reason, Some(StopReason::Asked));
    assert_eq!(data.status, "");
    // The next caller is not blocked.
    assert_eq!(on_cpu(&reader(2, 40, 9)).steps, 40);
}

#[test]
fn unfit_data_sets_are_refused() {
    assert!(Recipe::images(Model::Transformer, 32, 1, 1).unwrap_err().is_usage());
    let points = Recipe::tokens(Dataset::Spiral, Sizes::default(), 1, 1);
    assert!(points.unwrap_err().is_usage());
}

#[test]
fn evaluation_beyond_memory_is_refused() {
    let of = |model, width| Recipe::images(model, width, 1, 1).unwrap().architecture;
    let judged = |model, width, free| {
        require_evaluation_memory(&of(model, width), MemoryBudget::with(free), "width")
    };
    // 301 850 numbers an image and 20 million weights, twice each.
    let message = judged(Model::Cnn, 1024, 2_000_000_000).unwrap_err().to_string();
    for part in ["1000 images", "2.6 GB", "2.0 GB are free", "make width smaller"] {
        assert!(message.contains(part), "'{part}' is missing in {message}");
    }
    assert!(judged(Model::Cnn, 1024, 3_000_000_000).is_ok());
    assert!(judged(Model::Mlp, 1024, 100_000_000).is_ok());
}

#[test]
fn memory_advice_names_parameters_of_the_lab() {
    let named = "the network that model_from names";
    for (lab, set, smallest) in [
        (generate::lab(), &[][..], "width, depth or context"),
        (generate::lab(), &["model_from=base"], named),
        (distill::lab(), &[], "teacher_width"),
        // It has no parameter for the size of its network.
        (low_rank_adapt::lab(), &[], "what else is in memory"),
        (low_rank_adapt::lab(), &["model_from=base"], named),
    ] {
        assert_eq!(smaller(&params(&lab.unwrap(), set)), smallest);
    }
}

/// A lab that may start from another's network.
const STARTS: &str = include_str!("starts.toml");

/// What a lab with these settings makes of what another run has left.
fn adopted(set: &[&str], artifact: &Artifact, recipe: &Recipe) -> Result<Trained, LabError> {
    let lab = LiveLab::new(STARTS, |_, _| Ok(())).unwrap();
    let mut params = params(&lab, &[&["model_from=base"], set].concat());
    params.give("model_from", Arc::new(artifact.clone()));
    match NetworkSource::from_params(&params, recipe)? {
        NetworkSource::Left(adopted) => Ok(Trained::clone(&adopted)),
        NetworkSource::Learned(_) => panic!("nothing was adopted"),
    }
}

fn refusal(set: &[&str], artifact: &Artifact, recipe: &Recipe) -> String {
    adopted(set, artifact, recipe).unwrap_err().to_string()
}

fn torn(artifact: &Artifact) -> impl Iterator<Item = Artifact> {
    let lengths = (0..artifact.bytes.len()).step_by(97);
    lengths.map(|length| Artifact { bytes: artifact.bytes[..length].to_vec(), ..artifact.clone() })
}

#[test]
fn artifacts_round_trip() {
    let sizes = Sizes { width: 8, depth: 1, heads: 2, kv_heads: 1, context: 8 };
    for recipe in [
        reader(3, 2, 1),
        Recipe::images(Model::Cnn, 2, 2, 1).unwrap(),
        Recipe::tokens(Dataset::Chain, sizes, 2, 1).unwrap(),
        Recipe::tokens(Dataset::Text, sizes, 2, 1).unwrap(),
    ] {
        let made = on_cpu(&recipe);
        let artifact = made.artifact(None).unwrap();
        assert_eq!(artifact.file_name(), "network.safetensors");
        // What a lab would train itself has other weights, and is not looked at.
        let other = Recipe { steps: 0, ..recipe.clone() };
        assert_eq!(adopted(&[], &artifact, &other).unwrap(), *made);
        // Torn anywhere, or with a byte that is another: refused or read as other numbers, never a panic.
        for torn in torn(&artifact) {
            let message = refusal(&[], &torn, &recipe);
            assert!(message.contains("no whole file of a network"), "{message}");
        }
        for place in (0..3000.min(artifact.bytes.len())).step_by(3) {
            let mut other = artifact.clone();
            other.bytes[place] ^= 0x15;
            let _ = adopted(&[], &other, &recipe);
        }
    }
}

#[test]
fn burn_weights_of_other_sizes_are_refused() {
    let made = on_cpu(&reader(4, 3, 1));
    let network = made.network(&Device::flex());
    let bytes = burn_format::encode(&network, &made.architecture).unwrap();
    let artifact = Artifact {
        ending: "bpk".to_owned(),
        bytes: bytes.to_vec(),
        ..made.artifact(None).unwrap()
    };
    let found = adopted(&[], &artifact, &reader(4, 0, 1)).unwrap();
    assert_eq!(found.weights, made.weights);
    let message = refusal(&[], &artifact, &reader(5, 0, 1));
    assert!(message.contains("of this lab's own sizes"), "{message}");
    assert!(message.contains("[784, 4] in the file, [784, 5] in this network"), "{message}");
    for torn in torn(&artifact) {
        assert!(adopted(&[], &torn, &reader(4, 0, 1)).is_err(), "{}", torn.bytes.len());
    }
}

#[test]
fn unset_sizes_follow_the_network() {
    let (wide, narrow) = (on_cpu(&reader(5, 1, 1)), reader(3, 1, 1));
    let artifact = wide.artifact(None).unwrap();
    assert_eq!(adopted(&[], &artifact, &narrow).unwrap(), *wide);
    let message = refusal(&["width=3"], &artifact, &narrow);
    let begins = "model_from: the network of 'base', mlp (784-5-10), is another";
    assert!(message.starts_with(begins), "{message}");
    assert!(message.contains("\n  width is 5 there, 3 here\n"), "{message}");
    let chain = Recipe::tokens(Dataset::Chain, Sizes::default(), 0, 1).unwrap();
    let message = refusal(&["width=3"], &artifact, &chain);
    for part in [
        "dataset is digits there, chain here",
        "model is mlp there, transformer here",
        "width is 5 there, 32 here",
    ] {
        assert!(message.contains(part), "{message}");
    }
    let stopped = wide.artifact(Some("it was stopped after step 1 of 2".to_owned()));
    let message = refusal(&[], &stopped.unwrap(), &narrow);
    assert!(message.contains("is not finished: it was stopped after step 1 of 2"), "{message}");
}

#[test]
fn a_mislabelled_network_file_is_refused() {
    let recipe = reader(3, 0, 1);
    let artifact = on_cpu(&recipe).artifact(None).unwrap();
    for (old, new, part) in [
        ("hidden\":\"3", "hidden\":\"4", "which has 3190 weights and biases, and holds 2395"),
        ("samples\":\"4000", "samples\":\"9e99", "'samples' is '9e99', which does not read"),
        ("model\":\"mlp", "model\":\"abc", "'model' is 'abc'"),
        ("dataset\":\"digits", "dataset\":\"spiral", "learned spiral"),
    ] {
        let mut other = artifact.clone();
        let place = other.bytes.windows(old.len()).position(|bytes| bytes == old.as_bytes());
        other.bytes[place.unwrap()..][..new.len()].copy_from_slice(new.as_bytes());
        let message = refusal(&[], &other, &recipe);
        assert!(message.contains(part), "{message}");
    }
}
