use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use burn::tensor::Device;
use mlsys_lab::control::{Command, Limits, StopReason};
use mlsys_lab::report::{FrameTrigger, Report};
use mlsys_lab::{
    Artifact, Control, DeviceId, Lab, Params, Run, RunData, Schema, Settings, Sink, Tables, Value,
};

use crate::distill;
use crate::generate;
use crate::low_rank_adapt;
use crate::train;
use crate::trial;
use mlsys_lab::control::NextStep;
use mlsys_nn::baseline::*;
use mlsys_nn::cases::Model;
use mlsys_nn::data::Dataset;
use mlsys_nn::memory_budget::MemoryBudget;
use mlsys_nn::networks::Network;
use mlsys_nn::train::EvaluationSet;
use std::sync::Arc;

fn judged(trained: &Trained) -> f64 {
    let device = Device::flex();
    let fresh = EvaluationSet::new(&trained.fresh().unwrap(), &device);
    let network = trained.network(&device);
    fresh.judge(&network, trained.activation).accuracy
}

#[test]
fn a_reader_of_digits_reads_a_thousand_it_has_not_seen() {
    let recipe = Recipe::images(Model::Mlp, 32, 150, 1).unwrap();
    let trained = trained(&recipe, DeviceId::CPU).unwrap();
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
        Recipe::images(Model::Mlp, 3, 0, 1).unwrap(),
        Recipe::images(Model::Cnn, 2, 0, 1).unwrap(),
        Recipe::tokens(Dataset::Chain, sizes, 0, 1).unwrap(),
        Recipe::tokens(Dataset::Sums, sizes, 0, 1).unwrap(),
        Recipe::tokens(Dataset::Text, sizes, 0, 1).unwrap(),
    ];
    for recipe in recipes {
        let trained = trained(&recipe, DeviceId::CPU).unwrap();
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
fn a_recipe_is_trained_once_and_another_seed_is_another_network() {
    let of = |seed| {
        let recipe = Recipe::images(Model::Mlp, 2, 1, seed).unwrap();
        trained(&recipe, DeviceId::CPU).unwrap()
    };
    let first = of(7);
    let both = std::thread::scope(|scope| {
        [(); 2].map(|()| scope.spawn(|| of(7))).map(|run| run.join().unwrap())
    });
    assert!(both.iter().all(|other| Arc::ptr_eq(&first, other)));
    assert_ne!(first.weights, of(8).weights);
}

/// Pauses the run at the sixth step of the training, and turns a knob.
struct Orders(RunData, mpsc::Sender<Command>);

impl Sink for Orders {
    fn report(&mut self, report: Report) {
        if matches!(&report, Report::Status(status) if status.contains("step 5 of 9")) {
            let set = Command::Set { name: "learning_rate".to_owned(), value: Value::Float(0.5) };
            for order in [Command::Pause, set] {
                self.1.send(order).unwrap();
            }
        }
        self.0.report(report);
    }

    fn wants_frame(&mut self, _: &str, _: FrameTrigger) -> bool {
        false
    }
}

#[test]
fn knobs_wait_for_the_warm_up_training() {
    let (sender, orders) = mpsc::channel();
    let mut sink = Orders(RunData::default(), sender.clone());
    let train = train::lab().unwrap();
    let mut run = Run {
        params: trial::params(&train, &[]),
        device: DeviceId::CPU,
        sink: &mut sink,
        control: Control::steered(orders, Limits::default(), Arc::default()),
    };
    let (waits, waited) = mpsc::channel();
    let resume = sender.clone();
    run.control.when_settled(move || {
        waits.send(()).unwrap();
        resume.send(Command::Step(1)).unwrap();
        resume.send(Command::Redraw).unwrap();
    });
    let recipe = Recipe::images(Model::Mlp, 2, 9, 31).unwrap();
    let trained = obtain(&mut run, &recipe).unwrap();
    assert_eq!(trained.unwrap().steps, 9);
    assert_eq!(waited.try_iter().count(), 1);
    let changes = vec![("learning_rate".to_owned(), Value::Float(0.5))];
    assert_eq!(run.control.next_step(0), NextStep::Go(changes));
    assert_eq!(run.control.next_step(1), NextStep::Redraw(Vec::new()));
}

/// Stops the run at its first word about the training.
struct Stops(RunData, Arc<AtomicBool>);

impl Sink for Stops {
    fn report(&mut self, report: Report) {
        if matches!(&report, Report::Status(status) if status.contains("step 20 of 40")) {
            self.1.store(true, Ordering::Relaxed);
        }
        self.0.report(report);
    }

    fn wants_frame(&mut self, _: &str, _: FrameTrigger) -> bool {
        false
    }
}

#[test]
fn stop_during_warm_up_caches_nothing() {
    let stop = Arc::<AtomicBool>::default();
    let mut sink = Stops(RunData::default(), Arc::clone(&stop));
    let train = train::lab().unwrap();
    let mut run = Run {
        params: trial::params(&train, &[]),
        device: DeviceId::CPU,
        sink: &mut sink,
        control: Control::free(Limits::default(), Arc::clone(&stop)),
    };
    let recipe = Recipe::images(Model::Mlp, 2, 40, 9).unwrap();
    assert_eq!(obtain(&mut run, &recipe).unwrap(), None);
    assert_eq!(run.control.stop_reason(), Some(StopReason::Asked));
    assert_eq!(sink.0.status, "");
    // The next caller is not blocked.
    assert_eq!(trained(&recipe, DeviceId::CPU).unwrap().steps, 40);
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
        let judged =
            require_evaluation_memory(&of(model, width), MemoryBudget::with(free), "width");
        judged.map_err(|error| error.to_string())
    };
    // 301 850 numbers an image and 20 million weights, twice each.
    let message = judged(Model::Cnn, 1024, 2_000_000_000).unwrap_err();
    for part in ["1000 images", "2.6 GB", "2.0 GB are free", "make width smaller"] {
        assert!(message.contains(part), "'{part}' is missing in {message}");
    }
    assert_eq!(judged(Model::Cnn, 1024, 3_000_000_000), Ok(()));
    assert_eq!(judged(Model::Mlp, 1024, 100_000_000), Ok(()));
}

#[test]
fn what_is_to_be_made_smaller_is_what_the_lab_has_for_it() {
    let advice = |lab: &dyn Lab, set: &[&str]| smaller(&trial::params(lab, set));
    let named = "the network that model_from names";
    let generate = generate::lab().unwrap();
    assert_eq!(advice(&generate, &[]), "width, depth or context");
    assert_eq!(advice(&generate, &["model_from=base"]), named);
    let distill = distill::lab().unwrap();
    assert_eq!(advice(&distill, &[]), "teacher_width");
    // It has no parameter for the size of its network.
    let lora = low_rank_adapt::lab().unwrap();
    assert_eq!(advice(&lora, &[]), "what else is in memory");
    assert_eq!(advice(&lora, &["model_from=base"]), named);
}

/// A lab that may start from another's network.
const STARTS: &str = r#"
kind = "starts"
title = "t"
module = "t"
about = "t"
source = "t"
[[param]]
name = "dataset"
type = "enum"
values = ["digits", "chain"]
default = "digits"
about = "t"
[[param]]
name = "width"
type = "int"
default = 3
about = "t"
[[param]]
name = "model_from"
type = "string"
optional = true
artifact = "network"
about = "t"
"#;

/// What a lab with these settings makes of what another run has left.
fn adopted(settings: &[&str], artifact: &Artifact, recipe: &Recipe) -> Result<Trained, String> {
    let schema = Schema::parse(STARTS).unwrap();
    let settings = [&["model_from=base"], settings].concat();
    let settings = Settings::from_pairs(settings).unwrap();
    let mut params = Params::resolve(&schema, &settings, Tables::builtin(), None).unwrap();
    params.give("model_from", Arc::new(artifact.clone()));
    match NetworkSource::of(&params, recipe).map_err(|error| error.to_string())? {
        NetworkSource::Left(adopted) => Ok(Trained::clone(&adopted)),
        NetworkSource::Learned(_) => panic!("nothing was adopted"),
    }
}

#[test]
fn artifacts_round_trip() {
    let sizes = Sizes { width: 8, depth: 1, heads: 2, kv_heads: 1, context: 8 };
    for recipe in [
        Recipe::images(Model::Mlp, 3, 2, 1).unwrap(),
        Recipe::images(Model::Cnn, 2, 2, 1).unwrap(),
        Recipe::tokens(Dataset::Chain, sizes, 2, 1).unwrap(),
        Recipe::tokens(Dataset::Text, sizes, 2, 1).unwrap(),
    ] {
        let made = trained(&recipe, DeviceId::CPU).unwrap();
        let artifact = made.artifact(None).unwrap();
        assert_eq!(artifact.file_name(), "network.safetensors");
        // What a lab would train itself has other weights, and is not looked at.
        let other = Recipe { steps: 0, ..recipe.clone() };
        assert_eq!(adopted(&[], &artifact, &other), Ok((*made).clone()));
        // Torn anywhere, or with a byte that is another: refused or read as other numbers, never a panic.
        for length in (0..artifact.bytes.len()).step_by(97) {
            let mut torn = artifact.clone();
            torn.bytes.truncate(length);
            let message = adopted(&[], &torn, &recipe).unwrap_err();
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
    let of = |width, steps| Recipe::images(Model::Mlp, width, steps, 1).unwrap();
    let made = trained(&of(4, 3), DeviceId::CPU).unwrap();
    let network = made.network(&Device::flex());
    let bytes = mlsys_nn::weights::burn_format::encode(&network, &made.architecture).unwrap();
    let artifact = Artifact {
        ending: "bpk".to_owned(),
        bytes: bytes.to_vec(),
        ..made.artifact(None).unwrap()
    };
    let found = adopted(&[], &artifact, &of(4, 0)).unwrap();
    assert_eq!(found.weights, made.weights);
    let message = adopted(&[], &artifact, &of(5, 0)).unwrap_err();
    assert!(message.contains("of this lab's own sizes"), "{message}");
    assert!(message.contains("[784, 4] in the file, [784, 5] in this network"), "{message}");
    for length in (0..artifact.bytes.len()).step_by(97) {
        let mut torn = artifact.clone();
        torn.bytes.truncate(length);
        assert!(adopted(&[], &torn, &of(4, 0)).is_err(), "{length}");
    }
}

#[test]
fn unset_sizes_follow_the_network() {
    let of = |width| Recipe::images(Model::Mlp, width, 1, 1).unwrap();
    let wide = trained(&of(5), DeviceId::CPU).unwrap();
    let artifact = wide.artifact(None).unwrap();
    assert_eq!(adopted(&[], &artifact, &of(3)), Ok((*wide).clone()));
    let message = adopted(&["width=3"], &artifact, &of(3)).unwrap_err();
    assert!(
        message.starts_with("model_from: the network of 'base', mlp (784-5-10), is another")
            && message.contains("\n  width is 5 there, 3 here\n"),
        "{message}"
    );
    let chain = Recipe::tokens(Dataset::Chain, Sizes::default(), 0, 1).unwrap();
    let message = adopted(&["width=3"], &artifact, &chain).unwrap_err();
    for part in [
        "dataset is digits there, chain here",
        "model is mlp there, transformer here",
        "width is 5 there, 32 here",
    ] {
        assert!(message.contains(part), "{message}");
    }
    let stopped = wide.artifact(Some("it was stopped after step 1 of 2".to_owned()));
    let message = adopted(&[], &stopped.unwrap(), &of(3)).unwrap_err();
    assert!(message.contains("is not finished: it was stopped after step 1 of 2"), "{message}");
}

#[test]
fn a_file_that_claims_another_network_than_it_holds_is_refused() {
    let recipe = Recipe::images(Model::Mlp, 3, 0, 1).unwrap();
    let artifact = trained(&recipe, DeviceId::CPU).unwrap();
    let artifact = artifact.artifact(None).unwrap();
    let claiming = |old: &str, new: &str| {
        assert_eq!(old.len(), new.len());
        let mut other = artifact.clone();
        let found = other.bytes.windows(old.len());
        let mut places = found.enumerate().filter(|(_, bytes)| *bytes == old.as_bytes());
        let (place, _) = places.next().unwrap();
        other.bytes[place..place + old.len()].copy_from_slice(new.as_bytes());
        adopted(&[], &other, &recipe).unwrap_err()
    };
    let message = claiming(r#""mlsys.hidden":"3""#, r#""mlsys.hidden":"4""#);
    assert!(message.contains("which has 3190 weights and biases, and holds 2395"), "{message}");
    let message = claiming(r#""mlsys.samples":"4000""#, r#""mlsys.samples":"9e99""#);
    assert!(message.contains("'samples' is '9e99', which does not read"), "{message}");
    let message = claiming(r#""mlsys.model":"mlp""#, r#""mlsys.model":"abc""#);
    assert!(message.contains("'model' is 'abc'"), "{message}");
    let message = claiming(r#""mlsys.dataset":"digits""#, r#""mlsys.dataset":"spiral""#);
    assert!(message.contains("learned spiral"), "{message}");
}
