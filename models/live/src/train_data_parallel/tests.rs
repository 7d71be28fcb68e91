mod promises;
mod steering;

use super::setup::{COMPRESSIONS, KINDS};
use crate::stepped::LiveLab;
use crate::trial::{must_be_declared, number, run, try_run, values};
use mlsys_device::choice::must_be_listed;
use mlsys_lab::{RunData, Value};
use mlsys_nn::flat_optimizer::RULES;
use mlsys_nn::random::Stream;
use mlsys_sim::collective::Algorithm;

fn lab() -> LiveLab {
    crate::train_data_parallel::lab().unwrap()
}

/// The largest value of a series.
fn most(data: &RunData, name: &str) -> f64 {
    values(data, name).into_iter().fold(0.0, f64::max)
}

fn last(data: &RunData, name: &str) -> f64 {
    *values(data, name).last().unwrap()
}

fn identical(data: &RunData) -> bool {
    data.metric("replicas_identical") == Some(Value::Bool(true))
}

#[test]
fn the_schema_lists_exactly_the_cases_that_are_read() {
    must_be_listed(&lab(), "model", &KINDS);
    must_be_listed(&lab(), "compression", &COMPRESSIONS);
    must_be_listed(&lab(), "optimizer", &RULES);
    let algorithms = Algorithm::ALL.map(|one| (one.name(), one));
    must_be_listed(&lab(), "algorithm", &algorithms);
}

#[test]
fn the_default_run_has_the_values_of_its_contract() {
    let data = run(&lab(), &[]);
    must_be_declared(&lab(), &data);
    for (name, expected) in [
        ("parameters", 209_472.0),
        ("model_flops", 1_358_954_496.0),
        ("bytes_sent_per_worker", 1_256_832.0),
        ("messages_per_worker", 6.0),
        ("weight_bytes_per_worker", 4.0 * 209_472.0),
        ("gradient_bytes_per_worker", 4.0 * 209_472.0),
        ("optimizer_bytes_per_worker", 8.0 * 209_472.0),
        ("compression_ratio", 1.0),
        ("steps_done", 10.0),
    ] {
        assert_eq!(number(&data, name), expected, "{name}");
    }
    let speedup = number(&data, "speedup");
    assert!((speedup / 3.045_036_099_607_555 - 1.0).abs() < 1e-9);
    let found = most(&data, "max_gradient_difference");
    assert!(found <= 1e-5, "{found:e}");
    assert!(identical(&data));
    assert!(last(&data, "loss") < values(&data, "loss")[0]);
}

#[test]
fn one_worker_sends_nothing_and_is_bit_for_bit_the_one_beside_it() {
    let data = run(&lab(), &["workers=1", "steps=3", "layers=1"]);
    assert_eq!(number(&data, "bytes_sent_per_worker"), 0.0);
    assert_eq!(most(&data, "max_gradient_difference"), 0.0);
    assert_eq!(most(&data, "max_weight_difference"), 0.0);
    assert_eq!(number(&data, "speedup"), 1.0);
}

#[test]
fn gradients_are_one_workers_for_random_models_workers_batches_and_algorithms() {
    let mut stream = Stream::new(6, "test/data-parallel");
    for trial in 0..14 {
        let workers = 1 + stream.below(7);
        let pieces = 1 + stream.below(2);
        let batch = workers * pieces * (1 + stream.below(2));
        let algorithm = Algorithm::ALL[trial % Algorithm::ALL.len()];
        let workers_fit = algorithm.takes(workers);
        let (workers, batch) = if workers_fit { (workers, batch) } else { (4, 4 * pieces) };
        let zero = [0, 0, 1, 2, 3][stream.below(5)];
        let model = ["transformer", "transformer", "mlp"][stream.below(3)];
        let set = [
            format!("workers={workers}"),
            format!("global_batch={batch}"),
            format!("accumulate={pieces}"),
            format!("algorithm={}", algorithm.name()),
            format!("zero_stage={zero}"),
            format!("model={model}"),
            format!("layers={}", 1 + stream.below(3)),
            format!("hidden={}", 16 * (1 + stream.below(3))),
            format!("context={}", 4 + stream.below(9)),
            format!("seed={}", stream.below(1000)),
            "optimizer=sgd".to_owned(),
            "learning_rate=0.1".to_owned(),
            "steps=3".to_owned(),
        ];
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        let data = run(&lab(), &set);
        for name in ["max_gradient_difference", "max_weight_difference"] {
            let found = most(&data, name);
            assert!(found <= 1e-5, "{name} {found:e}: {set:?}");
        }
        assert!(identical(&data), "{set:?}");
    }
}

#[test]
fn bad_input_is_a_sentence_that_says_what_to_do() {
    for (set, expected) in [
        (
            &["workers=8", "global_batch=4"][..],
            "8 workers cannot share 4 examples: 4 of them would have nothing to do; set global_batch to 8 or more",
        ),
        (&["global_batch=33"], "33 examples do not divide evenly over 4 workers"),
        (&["global_batch=33"], "set global_batch to 32 or 36"),
        (&["bandwidth_bytes_per_second=0"], "nothing ever arrives; choose a bandwidth above 0"),
        (&["hidden=20"], "take a multiple of 16, such as 32"),
        (&["accumulate=3"], "do not divide into 3 even pieces"),
        (
            &["workers=3", "global_batch=33", "algorithm=recursive-halving-doubling"],
            "must be a power of two",
        ),
        (
            &["zero_stage=1", "synchronize_every=2"],
            "set synchronize_every to 1, or zero_stage to 0",
        ),
        (
            &["compression=sign", "synchronize_every=2"],
            "set compression to none, or synchronize_every to 1",
        ),
    ] {
        let error = try_run(&lab(), set).unwrap_err();
        assert!(error.is_usage(), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn a_run_that_diverges_ends_and_says_why() {
    let data = run(
        &lab(),
        &[
            "model=mlp",
            "optimizer=sgd",
            "learning_rate=10",
            "steps=200",
            "global_batch=64",
            "compare=false",
        ],
    );
    assert_eq!(data.metric("diverged"), Some(Value::Bool(true)));
    assert!(number(&data, "steps_done") < 200.0);
    assert_eq!(data.metric("accuracy"), None);
}
