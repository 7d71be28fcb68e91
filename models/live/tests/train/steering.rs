//! Knobs turned and orders given while a run goes on.

use mlsys_lab::Value;
use mlsys_lab::control::Command;

use crate::harness::{train, train_steered};

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
        let set = Command::Set { name: name.to_owned(), value: value.clone() };
        let run = train_steered(&["steps=30"], 12, &[set]);
        let change = &run.data.changes[0];
        assert_eq!((change.step, change.name.as_str(), &change.value), (12, name, &value));
        let (before, after) = (run.values("loss"), plain.values("loss"));
        assert_eq!(before[..12], after[..12], "{name}");
        assert_ne!(before[12..], after[12..], "{name}");
    }
}

#[test]
fn knobs_of_the_run_itself_take_effect_too() {
    let turn = |name: &str, value: Value| {
        let set = Command::Set { name: name.to_owned(), value };
        train_steered(&["steps=30"], 12, &[set])
    };
    assert_eq!(turn("steps", Value::Int(15)).number("steps_done"), 15.0);
    assert_eq!(turn("evaluate_every", Value::Int(5)).steps("accuracy"), [1, 15, 20, 25, 30]);
    assert_eq!(turn("record_every", Value::Int(5)).steps("gradient_norm"), [1, 10, 15, 20, 25, 30]);
    assert!(turn("profile", Value::Bool(true)).number("forward_seconds") > 0.0);
    let sizes = turn("batch_size", Value::Int(16));
    assert_eq!(sizes.number("samples_seen"), (12 * 64 + 18 * 16) as f64);
    assert_eq!(sizes.number("activation_bytes"), (4 * 16 * 68) as f64);
    assert_eq!(turn("optimizer", Value::from("momentum")).number("optimizer_bytes"), 4872.0);
    let jitter = train_steered(
        &["dataset=digits", "steps=4"],
        2,
        &[Command::Set { name: "jitter".to_owned(), value: Value::Float(0.0) }],
    );
    let plain = train(&["dataset=digits", "steps=4"]);
    assert_eq!(jitter.values("loss")[..2], plain.values("loss")[..2]);
    assert_ne!(jitter.values("loss")[2..], plain.values("loss")[2..]);
}

#[test]
fn a_stopped_run_keeps_what_it_has_and_ends_well() {
    let run = train_steered(&[], 13, &[Command::Stop]);
    assert_eq!(run.number("steps_done"), 13.0);
    assert_eq!(run.steps("accuracy"), [1, 13]);
    assert_eq!(run.number("samples_seen"), (13 * 64) as f64);
}

#[test]
fn early_stop_keeps_the_weights_file() {
    let file = std::env::temp_dir().join(format!("mlsys-unbegun-{}.bpk", std::process::id()));
    std::fs::write(&file, b"good").unwrap();
    let save = format!("save_weights={}", file.display());
    let run = train_steered(&[&save], 0, &[Command::Stop]);
    let left = std::fs::read(&file);
    std::fs::remove_file(&file).unwrap();
    assert_eq!(run.number("steps_done"), 0.0);
    assert_eq!(left.unwrap(), b"good");
    let said = &run.data.notices;
    assert!(said.iter().any(|said| said.contains("no weights were saved")), "{said:?}");
}
