//! The lab from outside: what it promises of its numbers.

mod agree;

use mlsys_analytic::QuantizedStorage;
use mlsys_lab::control::Command;
use mlsys_lab::report::Report;
use mlsys_lab::{Frame, RunData, Value};

use crate::stepped::LiveLab;
use crate::trial::{self, Then, must_be_declared, number, run, try_run};
use mlsys_nn::baseline::{self, Recipe, Trained};
use mlsys_nn::cases::Model;

/// A network that is trained in a moment and reads most digits.
const SMALL: [&str; 2] = ["width=16", "baseline_steps=150"];

fn lab() -> LiveLab {
    crate::quantize_model::lab().unwrap()
}

fn quantized(set: &[&str]) -> RunData {
    run(&lab(), &[&SMALL[..], set].concat())
}

fn small() -> std::sync::Arc<Trained> {
    let recipe = Recipe::images(Model::Mlp, 16, 150, 1).unwrap();
    baseline::trained(&recipe, mlsys_lab::DeviceId::CPU).unwrap()
}

#[test]
fn the_default_network_takes_what_its_scheme_says() {
    // Sizes do not depend on training.
    let data = run(&lab(), &["baseline_steps=0"]);
    must_be_declared(&lab(), &data);
    assert_eq!(number(&data, "stored_bytes_before"), 407_080.0);
    assert_eq!(number(&data, "stored_bytes"), 102_736.0);
    assert_eq!(number(&data, "compression_ratio"), 3.962_389_035_975_704_6);
    let four = run(&lab(), &["baseline_steps=0", "bits=4"]);
    assert_eq!(number(&four, "stored_bytes"), 51_920.0);
    let storage = run(
        &QuantizedStorage::new().unwrap(),
        &["parameters=100352", "bits=8", "block_size=784", "scale_bits=32"],
    );
    let last = run(
        &QuantizedStorage::new().unwrap(),
        &["parameters=1280", "bits=8", "block_size=128", "scale_bits=32"],
    );
    let biases = 4.0 * 138.0;
    let stored = number(&storage, "bytes") + number(&last, "bytes") + biases;
    assert!((stored - number(&data, "stored_bytes")).abs() < 1e-6);
}

#[test]
fn eight_bits_cost_nothing_and_two_cost_much_until_training_knows_of_them() {
    let eight = quantized(&[]);
    let before = number(&eight, "accuracy_before");
    assert!(before > 0.7, "{before}");
    assert!(number(&eight, "accuracy_drop").abs() <= 0.01);
    assert!(number(&eight, "changed_predictions") <= 20.0);
    let two = quantized(&["bits=2", "granularity=tensor"]);
    assert!(number(&two, "accuracy_drop") > 0.1);
    let aware = quantized(&["bits=2", "method=quantization-aware", "finetune_steps=60"]);
    let plain = quantized(&["bits=2"]);
    let (aware, plain) = (number(&aware, "accuracy_after"), number(&plain, "accuracy_after"));
    assert!(aware > plain + 0.05 && aware > before - 0.1, "{aware} {plain} {before}");
}

#[test]
fn measured_noise_follows_theory_and_six_decibels_a_bit() {
    let of = |bits: &str| quantized(&[bits, "finetune_steps=0"]);
    let runs = ["bits=4", "bits=5", "bits=6", "bits=7", "bits=8"].map(of);
    for data in &runs {
        for layer in ["layer1", "layer2"] {
            let measured = number(data, &format!("sqnr_db.{layer}"));
            let predicted = number(data, &format!("predicted_sqnr_db.{layer}"));
            assert!((measured - predicted).abs() < 1.0, "{layer}: {measured} {predicted}");
        }
        assert!(number(data, "max_error_over_half_step") <= 1.0 + 1e-5);
        assert_eq!(number(data, "clipped_fraction"), 0.0);
    }
    for pair in runs.windows(2) {
        let [less, more] = [0, 1].map(|at: usize| number(&pair[at], "sqnr_db.layer1"));
        assert!((5.0..7.0).contains(&(more - less)), "{less} {more}");
    }
    let tensor = quantized(&["bits=4", "granularity=tensor"]);
    assert!(number(&runs[0], "sqnr_db.layer1") > number(&tensor, "sqnr_db.layer1"));
}

#[test]
fn shared_values_and_normal_floats_are_stored_as_they_say() {
    let weights = 784 * 16 + 160;
    let others = 4 * 26;
    let shared = quantized(&["method=kmeans", "bits=3", "finetune_steps=20"]);
    must_be_declared(&lab(), &shared);
    assert_eq!(number(&shared, "stored_bytes"), f64::from(weights * 3 / 8 + 4 * 8 * 2 + others));
    assert!(number(&shared, "accuracy_drop") < 0.1);
    assert!(number(&shared, "max_error_over_half_step") <= 1.0 + 1e-5);
    let losses = trial::values(&shared, "tuning_loss");
    assert_eq!(losses.len(), 20);
    let nf4 = quantized(&["method=nf4"]);
    assert_eq!(number(&nf4, "stored_bytes"), f64::from(weights / 2 + 4 * 26 + others));
    assert!(number(&nf4, "accuracy_drop") < 0.05);
    assert!(number(&nf4, "max_error_over_half_step") <= 1.0 + 1e-5);
}

#[test]
fn inputs_in_few_bits_cost_more_and_a_chosen_range_costs_less() {
    let of = |set: &[&str]| {
        number(&quantized(&[&["activation_bits=2"][..], set].concat()), "accuracy_after")
    };
    let eight = quantized(&["activation_bits=8"]);
    must_be_declared(&lab(), &eight);
    assert!(number(&eight, "accuracy_drop").abs() <= 0.01);
    let (whole, least) = (of(&[]), of(&["calibration=mean-squared-error"]));
    assert!(whole < number(&eight, "accuracy_after") - 0.005, "{whole}");
    assert!(least > whole - 0.02, "{least} {whole}");
}

#[test]
fn a_chain_is_judged_by_its_loss() {
    let set = ["dataset=chain", "model=transformer", "width=16", "baseline_steps=30", "bits=4"];
    let data = run(&lab(), &set);
    must_be_declared(&lab(), &data);
    let (before, after) = (number(&data, "perplexity_before"), number(&data, "perplexity_after"));
    assert!((before.ln() + number(&data, "accuracy_before")).abs() < 1e-9);
    assert!(after > before * 0.9 && after < before * 2.0, "{before} {after}");
    assert!(data.scalars.contains_key("sensitivity.layer16"));
}

#[test]
fn knobs_turned_meanwhile_answer_without_training_the_network_again() {
    let mut turned = false;
    let (data, _) = trial::answered(&lab(), &SMALL, |report| {
        if let Report::Status(status) = report {
            assert!(!turned || status.is_empty(), "{status}");
        }
        if let Report::Scalar { name, .. } = report
            && &**name == "sensitivity.layer1"
            && !turned
        {
            turned = true;
            let (name, value) = ("bits".to_owned(), Value::Int(3));
            return Then::Order(Command::Set { name, value });
        }
        Then::On
    });
    assert!(turned && data.changes.len() == 1);
    let three = quantized(&["bits=3"]);
    for metric in ["stored_bytes", "accuracy_after", "sqnr_db.layer1", "sensitivity.layer2"] {
        assert_eq!(number(&data, metric), number(&three, metric), "{metric}");
    }
}

#[test]
fn a_layer_alone_costs_less_than_all_of_them_in_few_bits() {
    let two = quantized(&["bits=2", "granularity=tensor"]);
    let alone = ["sensitivity.layer1", "sensitivity.layer2"].map(|name| number(&two, name));
    let all = number(&two, "accuracy_drop");
    assert!(alone.iter().all(|lost| *lost <= all + 0.05), "{alone:?} {all}");
    let frame = data_frame(&two, "sensitivity");
    let Frame::HeatMap(map) = &frame else { panic!("no map") };
    assert_eq!((map.rows, map.columns), (2, 5));
    assert!(map.cells.iter().all(|cell| cell.is_finite()));
}

fn data_frame(data: &RunData, panel: &str) -> Frame {
    data.frames[panel].1.clone()
}

#[test]
fn what_cannot_be_is_refused_in_words() {
    for (set, words) in [
        (&["dataset=chain"][..], "set model to transformer"),
        (&["model=transformer"], "a transformer reads sequences"),
        (&["execution=native", "bits=3"], "2, 4 and 8 bits"),
        (&["execution=native", "scheme=affine"], "no zero point"),
        (&["execution=native", "method=nf4"], "hold integers"),
        (&["dataset=chain", "model=transformer", "width=3"], "width"),
    ] {
        let error = try_run(&lab(), set).unwrap_err();
        assert!(error.is_usage(), "{error}");
        assert!(error.to_string().contains(words), "{set:?}: {error}");
    }
}
