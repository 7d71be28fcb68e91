//! What the contract of the lab promises of shards, compression, rarer averages and delays.

use mlsys_lab::Frame;

use super::*;

/// A run on digits with so many steps at that rate.
fn digits_at(rate: &str, steps: u32, more: &[&str]) -> RunData {
    let (rate, steps) = (format!("learning_rate={rate}"), format!("steps={steps}"));
    let set =
        ["model=mlp", "optimizer=sgd", "global_batch=64", "compare=false", "seed=2", &rate, &steps];
    run(&lab(), &[&set, more].concat())
}

#[test]
fn every_stage_of_sharding_gives_the_same_weights_and_holds_its_share() {
    let parameters = 209_472.0;
    let whole = run(&lab(), &["steps=4"]);
    for (stage, weights, gradient, optimizer, sent) in [
        (0, 4.0, 4.0, 8.0, 1.0),
        (1, 4.0, 4.0, 2.0, 1.0),
        (2, 4.0, 1.0, 2.0, 1.0),
        (3, 1.0, 1.0, 2.0, 1.5),
    ] {
        let data = run(&lab(), &["steps=4", &format!("zero_stage={stage}")]);
        for name in ["loss", "max_weight_difference"] {
            let apart = (last(&data, name) - last(&whole, name)).abs();
            assert!(apart <= 1e-6, "stage {stage}: {name} {apart:e}");
        }
        assert!(identical(&data), "stage {stage}");
        for (name, bytes) in [
            ("weight_bytes_per_worker", weights * parameters),
            ("gradient_bytes_per_worker", gradient * parameters),
            ("optimizer_bytes_per_worker", optimizer * parameters),
            ("bytes_sent_per_worker", sent * 1_256_832.0),
        ] {
            assert_eq!(number(&data, name), bytes, "stage {stage}, {name}");
        }
    }
}

#[test]
fn exact_schemes_stay_with_one_worker_over_twenty_steps() {
    let data = run(
        &lab(),
        &["model=mlp", "optimizer=sgd", "learning_rate=0.1", "steps=20", "global_batch=64"],
    );
    let (gradient, weight) =
        (most(&data, "max_gradient_difference"), last(&data, "max_weight_difference"));
    assert!(gradient <= 1e-5 && weight <= 1e-5, "{gradient:e} {weight:e}");
}

#[test]
fn every_algorithm_sends_what_its_plan_says_and_sums_alike() {
    let buffer = 4.0 * 209_472.0;
    for (algorithm, bytes, messages) in [
        ("ring", 1.5, 6.0),
        ("recursive-halving-doubling", 1.5, 4.0),
        // The root of the tree sends to both that ask it.
        ("tree", 2.0, 2.0),
        ("parameter-server", 1.0, 1.0),
        ("sharded-parameter-server", 1.5, 6.0),
    ] {
        let set = [&format!("algorithm={algorithm}")[..], "steps=2"];
        let data = run(&lab(), &set);
        assert_eq!(number(&data, "bytes_sent_per_worker") / buffer, bytes, "{algorithm}");
        assert_eq!(number(&data, "messages_per_worker"), messages, "{algorithm}");
        let found = most(&data, "max_gradient_difference");
        assert!(found <= 1e-5 && identical(&data), "{algorithm} {found:e}");
    }
}

#[test]
fn compressed_rarer_and_late_gradients_learn_what_they_can() {
    let accuracy = |more: &[&str]| number(&digits_at("0.1", 300, more), "accuracy");
    let dense = accuracy(&[]);
    let top = digits_at("0.1", 300, &["compression=top-k", "error_feedback=false"]);
    let lost = number(&top, "accuracy");
    let ratio = number(&top, "compression_ratio");
    let kept = accuracy(&["compression=top-k"]);
    let sign_lost = accuracy(&["compression=sign", "error_feedback=false"]);
    let sign_kept = accuracy(&["compression=sign"]);
    let local = accuracy(&["synchronize_every=8"]);
    let late = accuracy(&["delay=8"]);
    let late_slow = number(&digits_at("0.03", 300, &["delay=8"]), "accuracy");
    let slow = number(&digits_at("0.03", 300, &[]), "accuracy");
    let all = format!(
        "dense {dense} top {lost} {kept} sign {sign_lost} {sign_kept} local {local} late {late} {late_slow} slow {slow}"
    );
    assert!((ratio - 50.0).abs() <= 1.0, "{ratio}");
    assert!(dense >= 0.95, "{all}");
    assert!(lost <= dense - 0.04 && kept >= dense - 0.02, "{all}");
    assert!(sign_lost <= dense - 0.04 && sign_kept >= dense - 0.02, "{all}");
    assert!(local >= dense - 0.02, "{all}");
    assert!(late <= dense - 0.1 && late_slow >= late, "{all}");
    assert!(late_slow <= slow + 0.02, "{all}");
}

#[test]
fn averaging_every_eight_steps_sends_an_eighth() {
    let every = digits_at("0.1", 16, &["synchronize_every=8"]);
    let always = digits_at("0.1", 16, &[]);
    let bytes = |data: &RunData| number(data, "bytes_sent_per_worker");
    assert_eq!(bytes(&every), (bytes(&always) / 8.0).floor());
    assert!(identical(&every));
    // One average at the end of five steps.
    let last = digits_at("0.1", 5, &["synchronize_every=8"]);
    assert_eq!(bytes(&last), (bytes(&always) / 5.0).floor());
}

#[test]
fn the_timeline_takes_as_long_as_a_step() {
    for more in [
        &[][..],
        &["overlap=true"],
        &["overlap=true", "slow_worker_factor=3"],
        &["zero_stage=3"],
        &["zero_stage=3", "overlap=true"],
        &["zero_stage=2", "overlap=true", "slow_worker_factor=2"],
        &["algorithm=tree", "overlap=true", "link=nvlink2"],
        &["algorithm=parameter-server"],
        &["synchronize_every=2", "overlap=true"],
    ] {
        let data = digits_at("0.1", 1, more);
        let Frame::Timeline(timeline) = &data.frames["timeline"].1 else {
            panic!("the timeline is drawn otherwise");
        };
        let ends = timeline.marks.iter().find(|mark| mark.label == "step ends");
        let (ends, step) = (ends.unwrap().at, number(&data, "step_seconds"));
        assert!((ends / step - 1.0).abs() < 1e-9, "{more:?}: {ends} {step}");
    }
}

#[test]
fn compressed_gradients_are_counted_as_they_went_over_the_wire() {
    for (compression, each) in [("int8", 4 + 25_450), ("sign", 4 + 3182), ("top-k", 8 * 255)] {
        let data = digits_at("0.1", 2, &[&format!("compression={compression}")]);
        assert_eq!(number(&data, "bytes_sent_per_worker"), f64::from(3 * each));
        assert_eq!(number(&data, "messages_per_worker"), 3.0);
        assert!(identical(&data));
    }
}
