//! What a run without knob changes reports.

use mlsys_lab::{LabError, Value};

use crate::harness::{Outcome, first_difference, train, try_train};

#[test]
fn the_default_run_has_the_sizes_that_can_be_worked_out_by_hand() {
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
        assert_eq!(run.number(name), expected, "{name}");
    }
    assert_eq!(run.data.metric("diverged"), Some(Value::Bool(false)));
}

#[test]
fn adam_learns_the_spiral_where_sgd_does_not() {
    for seed in 1..=5 {
        let seed = format!("seed={seed}");
        let adam = train(&[&seed]).number("accuracy");
        let sgd = train(&[&seed, "optimizer=sgd"]).number("accuracy");
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
        assert!(run.number("accuracy") >= least, "{set:?}: {}", run.number("accuracy"));
    }
}

#[test]
fn the_same_seed_gives_the_same_series_bit_for_bit() {
    let settings = ["dataset=digits", "learning_rate=0.003", "steps=40", "seed=3"];
    let (one, other) = (train(&settings), train(&settings));
    assert_eq!(first_difference(&one, &other), None);
    let third = train(&["dataset=digits", "learning_rate=0.003", "steps=40", "seed=4"]);
    assert_ne!(first_difference(&one, &third), None);
}

#[test]
fn without_a_learning_rate_no_weight_moves() {
    for optimizer in ["sgd", "momentum", "rmsprop", "adam", "adamw"] {
        let optimizer = format!("optimizer={optimizer}");
        let run = train(&["learning_rate=0", "steps=20", "weight_decay=0.1", &optimizer]);
        let changes = run.values("weight_change");
        assert!(
            changes.len() >= 3 && changes.iter().all(|change| *change == 0.0),
            "{optimizer}: {changes:?}"
        );
    }
}

#[test]
fn weight_norms_stay_without_updates() {
    let run = train(&["learning_rate=0", "steps=20"]);
    // He's rule gives a layer of n inputs and m outputs a norm of about sqrt(2/n) sqrt(n m) = sqrt(2 m).
    for (layer, expected) in [("layer1", 8.0), ("layer2", 8.0), ("layer3", 2.0)] {
        let norms = run.values(&format!("weight_norm.{layer}"));
        assert!(norms.iter().all(|norm| *norm == norms[0]), "{layer}: {norms:?}");
        let share = norms[0] / expected;
        assert!((0.7..1.4).contains(&share), "{layer}: {norms:?}");
    }
    let zeros = train(&["initialization=zeros", "steps=1"]);
    assert_eq!(zeros.values("weight_norm.layer2"), [0.0]);
}

#[test]
fn every_series_has_the_cadence_that_was_asked_for() {
    let run = train(&["steps=25", "record_every=10", "evaluate_every=7"]);
    let steps = |name: &str| run.steps(name);
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
        run.assert_declared();
        let profiled = settings.contains(&"profile=true");
        for phase in ["data_seconds", "forward_seconds", "backward_seconds", "update_seconds"] {
            assert_eq!(run.data.metric(phase).is_some(), profiled, "{settings:?}: {phase}");
        }
    }
}

#[test]
fn a_phase_is_never_longer_than_its_step() {
    let run = train(&[
        "dataset=digits",
        "width=512",
        "depth=2",
        "steps=40",
        "profile=true",
        "learning_rate=0.003",
    ]);
    let phases: f64 = ["data_seconds", "forward_seconds", "backward_seconds", "update_seconds"]
        .iter()
        .map(|phase| run.number(phase))
        .sum();
    assert!(phases > 0.0 && phases <= 1.5 * run.number("seconds_per_step"), "{phases}");
    assert!(run.number("accuracy") >= 0.8, "{}", run.number("accuracy"));
}

#[test]
fn symmetry_that_nothing_breaks_keeps_the_first_layer_still() {
    let run = train(&["initialization=zeros", "dataset=xor", "width=8", "learning_rate=0.03"]);
    assert!(run.values("gradient_norm.layer1").iter().all(|norm| *norm == 0.0));
    assert!(run.number("accuracy") <= 0.65);
}

#[test]
fn a_divergence_is_a_result() {
    let run = train(&["optimizer=sgd", "learning_rate=100"]);
    assert_eq!(run.data.metric("diverged"), Some(Value::Bool(true)));
    let (step, reason) = run.data.diverged.clone().unwrap();
    assert!(step <= 400 && reason.contains("learning rate 100"), "{step}: {reason}");
    assert_eq!(run.number("steps_done"), step as f64);
    for (name, series) in &run.data.series {
        assert!(series.points().iter().all(|(_, value)| value.is_finite()), "{name}");
    }
}

#[test]
fn pictures_come_at_the_start_and_at_the_end() {
    let points = train(&["steps=3"]);
    let images = train(&["steps=3", "dataset=digits"]);
    let panels = |run: &Outcome| {
        run.data
            .frames
            .iter()
            .map(|(name, (step, _))| (name.to_string(), *step))
            .collect::<Vec<_>>()
    };
    let expected = |names: &[&str]| {
        let at_the_end = names.iter().map(|name| (name.to_string(), 3));
        at_the_end.collect::<Vec<_>>()
    };
    assert_eq!(
        panels(&points),
        expected(&["confusion", "decision-boundary", "network", "weight-spread", "weights"])
    );
    assert_eq!(panels(&images), expected(&["confusion", "samples", "weight-spread", "weights"]));
}

#[test]
fn what_does_not_fit_together_is_an_error_that_says_what_would() {
    let error = try_train(&["model=cnn"]).err().unwrap();
    assert!(matches!(error, LabError::Contradiction { .. }), "{error}");
    assert!(
        error.to_string().starts_with("dataset, model: ") && error.to_string().contains("digits"),
        "{error}"
    );
}
