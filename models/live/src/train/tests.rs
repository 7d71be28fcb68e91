//! Whole runs: parameters in, reports out.

use std::fs;

use burn::tensor::{Device, Tensor};
use mlsys_lab::control::Command;
use mlsys_lab::frame::Frame;
use mlsys_lab::report::Report;
use mlsys_lab::{LabError, RunData, Value};

use super::{read, undisturbed};
use crate::stepped::LiveLab;
use crate::trial::{
    Then, answered, must_be_reported, must_refuse, number, over, refused, run, steps, try_run,
    turn, values,
};

mod sequences;

fn lab() -> LiveLab {
    super::lab().unwrap()
}

fn train(set: &[&str]) -> RunData {
    run(&lab(), set)
}

/// A run that is given commands once it has done `step` steps.
fn train_steered(set: &[&str], step: u64, commands: &[Command]) -> RunData {
    let mut commands = Some(commands.to_vec());
    let (data, _) = answered(&lab(), set, |report| {
        let due = step == 0 || matches!(report, Report::Point { step: done, .. } if *done >= step);
        if due { commands.take().map_or(Then::On, Then::Orders) } else { Then::On }
    });
    data
}

/// The first series of class `seeded` or `exact` that differs between two runs in any bit.
fn first_difference(one: &RunData, other: &RunData) -> Option<String> {
    let timed = |name: &str| name.ends_with("per_second") || name.starts_with("seconds");
    let names = one.series.keys().filter(|name| !timed(name));
    let bits =
        |run, name: &str| values(run, name).into_iter().map(f64::to_bits).collect::<Vec<_>>();
    names.map(|name| name.to_string()).find(|name| bits(one, name) != bits(other, name))
}

#[test]
fn the_default_run_has_known_sizes() {
    let run = train(&[]);
    // 2-32-32-2: (2+1)*32 + (32+1)*32 + (32+1)*2 parameters; 400 steps of 64 on 400 points.
    for (name, expected) in [
        ("parameters", 1218.0),
        ("weight_bytes", 4872.0),
        ("gradient_bytes", 4872.0),
        ("optimizer_bytes", 9744.0),
        ("samples_seen", 25600.0),
        ("epochs", 64.0),
        ("steps_done", 400.0),
        ("flops_per_step", (2 * 64 * (2 * (64 + 1024 + 64) + 1024 + 64)) as f64),
        ("activation_bytes", (4 * 64 * (2 + 32 + 32 + 2)) as f64),
    ] {
        assert_eq!(number(&run, name), expected, "{name}");
    }
    assert_eq!(run.metric("diverged"), Some(Value::Bool(false)));
}

#[test]
fn adam_learns_the_spiral_where_sgd_does_not() {
    for seed in 1..=5 {
        let seed = format!("seed={seed}");
        let adam = number(&train(&[&seed]), "accuracy");
        let sgd = number(&train(&[&seed, "optimizer=sgd"]), "accuracy");
        assert!(adam >= 0.95, "{seed}: adam {adam}");
        assert!(sgd <= 0.85, "{seed}: sgd {sgd}");
    }
}

#[test]
fn every_data_set_and_every_optimizer_learns() {
    for (set, least) in [
        (vec!["dataset=moons"], 0.97),
        (vec!["dataset=circles"], 0.97),
        (vec!["dataset=xor"], 0.95),
        (vec!["dataset=moons", "optimizer=momentum", "learning_rate=0.1"], 0.97),
        (vec!["dataset=moons", "optimizer=rmsprop"], 0.97),
        (vec!["dataset=moons", "optimizer=adamw", "weight_decay=0.01"], 0.97),
        (vec!["dataset=moons", "gradient_clip=0.5"], 0.97),
        (vec!["dataset=digits", "learning_rate=0.003", "steps=300"], 0.93),
        (vec!["dataset=digits", "model=cnn", "learning_rate=0.003", "steps=150"], 0.93),
    ] {
        let run = train(&set);
        assert!(number(&run, "accuracy") >= least, "{set:?}: {}", number(&run, "accuracy"));
    }
}

#[test]
fn without_a_learning_rate_no_weight_moves() {
    for optimizer in ["sgd", "momentum", "rmsprop", "adam", "adamw"] {
        let optimizer = format!("optimizer={optimizer}");
        let run = train(&["learning_rate=0", "steps=20", "weight_decay=0.1", &optimizer]);
        let changes = values(&run, "weight_change");
        let is_still = changes.len() >= 3 && changes.iter().all(|change| *change == 0.0);
        assert!(is_still, "{optimizer}: {changes:?}");
    }
}

#[test]
fn weight_norms_stay_without_updates() {
    let run = train(&["learning_rate=0", "steps=20"]);
    // He's rule gives a layer of n inputs and m outputs a norm of about sqrt(2/n) sqrt(n m) = sqrt(2 m).
    for (layer, expected) in [("layer1", 8.0), ("layer2", 8.0), ("layer3", 2.0)] {
        let norms = values(&run, &format!("weight_norm.{layer}"));
        assert!(norms.iter().all(|norm| *norm == norms[0]), "{layer}: {norms:?}");
        let share = norms[0] / expected;
        assert!((0.7..1.4).contains(&share), "{layer}: {norms:?}");
    }
    let zeros = train(&["initialization=zeros", "steps=1"]);
    assert_eq!(values(&zeros, "weight_norm.layer2"), [0.0]);
}

#[test]
fn every_series_has_the_cadence_that_was_asked_for() {
    let run = train(&["steps=25", "record_every=10", "evaluate_every=7"]);
    let steps = |name: &str| steps(&run, name);
    assert_eq!(steps("loss"), (1..=25).collect::<Vec<_>>());
    for name in [
        "gradient_norm",
        "gradient_norm.layer3",
        "weight_norm.layer3",
        "update_ratio",
        "weight_change",
        "epochs",
        "seconds_per_step",
    ] {
        assert_eq!(steps(name), [1, 10, 20, 25], "{name}");
    }
    for name in ["validation_loss", "accuracy", "validation_accuracy"] {
        assert_eq!(steps(name), [1, 7, 14, 21, 25], "{name}");
    }
}

#[test]
fn metrics_match_the_schema() {
    for settings in [
        vec!["steps=3"],
        vec!["steps=3", "profile=true"],
        vec!["steps=3", "dataset=digits", "model=cnn"],
        vec!["steps=3", "depth=0"],
    ] {
        let run = train(&settings);
        must_be_reported(&lab(), &run);
        let profiled = settings.contains(&"profile=true");
        for phase in ["data_seconds", "forward_seconds", "backward_seconds", "update_seconds"] {
            assert_eq!(run.metric(phase).is_some(), profiled, "{settings:?}: {phase}");
        }
    }
}

#[test]
fn a_phase_is_never_longer_than_its_step() {
    let set = "dataset=digits width=512 depth=2 steps=40 profile=true learning_rate=0.003";
    let run = train(&set.split(' ').collect::<Vec<_>>());
    let phases: f64 = ["data_seconds", "forward_seconds", "backward_seconds", "update_seconds"]
        .iter()
        .map(|phase| number(&run, phase))
        .sum();
    assert!(phases > 0.0 && phases <= 1.5 * number(&run, "seconds_per_step"), "{phases}");
    assert!(number(&run, "accuracy") >= 0.8, "{}", number(&run, "accuracy"));
}

#[test]
fn one_disturbed_measurement_of_memory_is_not_reported() {
    assert_eq!(undisturbed(&[]), None);
    assert_eq!(undisturbed(&[465_408, 454_700, 465_408]), Some(465_408));
    assert_eq!(undisturbed(&[470_000, 465_408, 465_408, 0, 465_408]), Some(465_408));
}

#[test]
fn a_divergence_is_a_result() {
    let run = train(&["optimizer=sgd", "learning_rate=100"]);
    assert_eq!(run.metric("diverged"), Some(Value::Bool(true)));
    let (step, reason) = run.diverged.clone().unwrap();
    assert!(step <= 400 && reason.contains("learning rate 100"), "{step}: {reason}");
    assert_eq!(number(&run, "steps_done"), step as f64);
    for (name, series) in &run.series {
        assert!(series.points().iter().all(|(_, value)| value.is_finite()), "{name}");
    }
}

#[test]
fn pictures_come_at_the_start_and_at_the_end() {
    let points = train(&["steps=3"]);
    let images = train(&["steps=3", "dataset=digits"]);
    for (run, expected) in [
        (points, "confusion decision-boundary network weight-spread weights"),
        (images, "confusion samples weight-spread weights"),
    ] {
        let names: Vec<&str> = run.frames.keys().map(|name| name.as_ref()).collect();
        assert_eq!(names.join(" "), expected);
        assert!(run.frames.values().all(|(step, _)| *step == 3));
    }
}

#[test]
fn every_knob_takes_effect_and_is_recorded() {
    let plain = train(&["steps=30"]);
    for (name, value) in [
        ("noise", Value::Float(0.5)),
        ("activation", Value::from("tanh")),
        ("optimizer", Value::from("sgd")),
        ("learning_rate", Value::Float(0.0)),
        ("weight_decay", Value::Float(0.5)),
        ("gradient_clip", Value::Float(0.001)),
        ("batch_size", Value::Int(16)),
    ] {
        let run = train_steered(&["steps=30"], 12, &[turn(name, value.clone())]);
        let change = &run.changes[0];
        assert_eq!((change.step, change.name.as_str(), &change.value), (12, name, &value));
        let (before, after) = (values(&run, "loss"), values(&plain, "loss"));
        assert_eq!(before[..12], after[..12], "{name}");
        assert_ne!(before[12..], after[12..], "{name}");
    }
}

#[test]
fn knobs_of_the_run_itself_take_effect_too() {
    let turned = |name: &str, value: Value| train_steered(&["steps=30"], 12, &[turn(name, value)]);
    assert_eq!(number(&turned("steps", Value::Int(15)), "steps_done"), 15.0);
    assert_eq!(steps(&turned("evaluate_every", Value::Int(5)), "accuracy"), [1, 15, 20, 25, 30]);
    let recorded = steps(&turned("record_every", Value::Int(5)), "gradient_norm");
    assert_eq!(recorded, [1, 10, 15, 20, 25, 30]);
    assert!(number(&turned("profile", Value::Bool(true)), "forward_seconds") > 0.0);
    let sizes = turned("batch_size", Value::Int(16));
    assert_eq!(number(&sizes, "samples_seen"), (12 * 64 + 18 * 16) as f64);
    assert_eq!(number(&sizes, "activation_bytes"), (4 * 16 * 68) as f64);
    assert_eq!(number(&turned("optimizer", Value::from("momentum")), "optimizer_bytes"), 4872.0);
    let jitter = train_steered(&["dataset=digits", "steps=4"], 2, &[turn("jitter", 0.0)]);
    let plain = train(&["dataset=digits", "steps=4"]);
    assert_eq!(values(&jitter, "loss")[..2], values(&plain, "loss")[..2]);
    assert_ne!(values(&jitter, "loss")[2..], values(&plain, "loss")[2..]);
}

#[test]
fn a_stopped_run_keeps_what_it_has_and_ends_well() {
    let run = train_steered(&[], 13, &[Command::Stop]);
    assert_eq!(number(&run, "steps_done"), 13.0);
    assert_eq!(steps(&run, "accuracy"), [1, 13]);
    assert_eq!(number(&run, "samples_seen"), (13 * 64) as f64);
}

#[test]
fn early_stop_keeps_the_weights_file() {
    let file = std::env::temp_dir().join(format!("mlsys-unbegun-{}.bpk", std::process::id()));
    fs::write(&file, b"good").unwrap();
    let save = format!("save_weights={}", file.display());
    let run = train_steered(&[&save], 0, &[Command::Stop]);
    let left = fs::read(&file);
    fs::remove_file(&file).unwrap();
    assert_eq!(number(&run, "steps_done"), 0.0);
    assert_eq!(left.unwrap(), b"good");
    let notices = &run.notices;
    assert!(notices.iter().any(|notice| notice.contains("no weights were saved")), "{notices:?}");
}

#[test]
fn a_folder_that_is_not_there_is_an_error_that_names_it() {
    let error = try_run(&lab(), &["dataset=idx", "data_dir=/nonexistent/mnist"]).err().unwrap();
    assert!(matches!(error, LabError::Data(_)), "{error}");
    assert!(error.to_string().contains("/nonexistent/mnist"), "{error}");
    let error = try_run(&lab(), &["dataset=idx"]).err().unwrap();
    assert!(matches!(&error, LabError::Data(reason) if reason.contains("--data-dir")), "{error}");
}

#[test]
fn losses_are_read_in_order_and_once() {
    let device = Device::flex();
    let mut unread = Vec::new();
    assert_eq!(read(&mut unread), []);
    for step in 1..=3 {
        unread.push((step, Tensor::from_floats([step as f32 / 2.0], &device)));
    }
    assert_eq!(read(&mut unread), [(1, 0.5), (2, 1.0), (3, 1.5)]);
    assert_eq!(read(&mut unread), []);
}
