//! The lab from outside: what it promises of its numbers.

use mlsys_lab::RunData;
use mlsys_sim::formats::Format;

use super::rounding::{Layers, Rounder, Rows};
use super::{lab, *};
use crate::train;
use crate::trial::{number, run, try_run};

fn mixed(set: &[&str]) -> RunData {
    run(&lab().unwrap(), set)
}

fn series(data: &RunData, name: &str) -> Vec<(u64, f64)> {
    data.series[name].points().to_vec()
}

#[test]
fn in_32_bits_it_is_lab_train_bit_for_bit() {
    for (dataset, optimizer) in [("digits", "sgd"), ("digits", "adam"), ("spiral", "adam")] {
        let set =
            format!("dataset={dataset} optimizer={optimizer} learning_rate=0.01 steps=40 seed=3");
        let shared: Vec<&str> = set.split(' ').collect();
        let own = mixed(&[&shared[..], &["weight_format=fp32", "gradient_format=fp32"]].concat());
        let theirs = run(&train::lab().unwrap(), &shared);
        assert_eq!(series(&own, "loss"), series(&theirs, "loss"), "{dataset} {optimizer}");
        assert_eq!(series(&own, "reference_loss"), series(&theirs, "loss"));
        assert_eq!(number(&own, "accuracy"), number(&theirs, "validation_accuracy"));
        assert_eq!(number(&own, "underflow_fraction"), 0.0);
    }
}

#[test]
fn what_the_formats_alone_decide_is_exact() {
    let data = mixed(&["steps=1"]);
    assert_eq!(number(&data, "bytes_per_parameter"), 8.0);
    assert_eq!(number(&data, "smallest_step_at_one"), 0.007_812_5);
    assert_eq!(number(&data, "smallest_positive"), 9.183_549_615_799_121e-41);
}

#[test]
fn updates_stall_without_master_weights() {
    let (keep, lose) = (mixed(&[]), mixed(&["master_weights=false"]));
    assert!(number(&keep, "stalled_update_fraction") < 0.01);
    assert!(number(&lose, "stalled_update_fraction") > 0.5);
    let apart = number(&keep, "accuracy") - number(&keep, "reference_accuracy");
    assert!(apart.abs() < 0.05, "{apart}");
    assert!(number(&keep, "accuracy") > number(&lose, "accuracy"));
    let by_chance = mixed(&["master_weights=false", "stochastic_rounding=true"]);
    assert!(number(&by_chance, "accuracy") > number(&lose, "accuracy"));
}

#[test]
fn weights_of_8_bits_learn_only_with_a_copy() {
    let eight = ["weight_format=fp8-e4m3", "gradient_format=fp8-e5m2", "loss_scale=1024"];
    let with = mixed(&eight);
    let without = mixed(&[&eight[..], &["master_weights=false"]].concat());
    assert!(number(&without, "accuracy") < 0.3);
    assert!(number(&with, "accuracy") > number(&without, "accuracy") + 0.3);
}

#[test]
fn loss_scale_moves_gradients_into_and_out_of_range() {
    let lost = |scale: &str| {
        let eight = ["weight_format=fp8-e4m3", "gradient_format=fp8-e4m3", scale];
        let data = mixed(&eight);
        (number(&data, "underflow_fraction"), number(&data, "overflow_fraction"))
    };
    let (under, over) = lost("loss_scale=1");
    assert!(under > 0.1 && over == 0.0, "{under} {over}");
    let (under, over) = lost("loss_scale=1024");
    assert!(under < 0.02 && over < 0.005, "{under} {over}");
    let (_, over) = lost("loss_scale=16384");
    assert!(over > 0.005, "{over}");
}

#[test]
fn host_pass_equals_burns_in_32_bits() {
    let losses = |set: &[&str]| -> Vec<f64> {
        let data = mixed(&[&["steps=20", "dataset=spiral", "learning_rate=0.1"], set].concat());
        series(&data, "loss").into_iter().map(|(_, loss)| loss).collect()
    };
    let wide = losses(&[]);
    for sums in ["accumulate_format=fp16", "accumulate_format=bf16"] {
        let short = losses(&[sums]);
        let apart = wide.iter().zip(&short).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(apart > 0.0 && apart < 0.05, "{sums}: {apart}");
    }
}

#[test]
fn host_gradients_equal_finite_differences() {
    let sizes = [[3, 4], [4, 2]];
    let weights: Vec<f32> = (0..26).map(|n| ((n * 7 % 13) as f32 - 6.0) / 8.0).collect();
    let inputs: Vec<f32> = (0..9).map(|n| (n as f32 - 4.0) / 3.0).collect();
    let batch = Rows { inputs: &inputs, labels: &[0, 1, 1] };
    let mut rounder = Rounder::new(1);
    let mut at = |weights: &[f32], scale| {
        let layers =
            Layers { sizes: &sizes, weights, sums: Format::Fp32, activations: Format::Fp32 };
        layers.gradient(&batch, scale, &mut rounder)
    };
    let (_, slopes) = at(&weights, 4.0);
    assert_eq!(slopes.len(), 26);
    for (nth, slope) in slopes.iter().enumerate() {
        let mut moved = weights.clone();
        moved[nth] = weights[nth] + 1e-3;
        let (up, _) = at(&moved, 1.0);
        moved[nth] = weights[nth] - 1e-3;
        let (down, _) = at(&moved, 1.0);
        let wanted = 4.0 * (up - down) / 2e-3;
        assert!((f64::from(*slope) - wanted).abs() < 4e-3, "{nth}: {slope} for {wanted}");
    }
}

#[test]
fn format_overflow_ends_the_run() {
    let data = mixed(&["gradient_format=fp16", "loss_scale=16777216", "steps=50"]);
    assert_eq!(data.metric("diverged"), Some(mlsys_lab::Value::Bool(true)));
    // Its weights are infinite after the first step; the loss of that step was still a number.
    assert_eq!(number(&data, "steps_done"), 1.0);
    let small = try_run(&lab().unwrap(), &["loss_scale=1", "batch_size=1", "width=1", "steps=3"]);
    assert!(small.is_ok());
}

#[test]
fn bytes_are_counted_once_for_each_copy() {
    let of = |numbers: Numbers, rule| numbers.bytes_per_parameter(rule);
    let (bf16, no_copy) = (Format::Bf16, Numbers { master_weights: false, ..Numbers::WIDE });
    let short = Numbers { weights: bf16, gradients: bf16, ..Numbers::WIDE };
    let eight = Numbers { weights: Format::E4m3, gradients: Format::E5m2, ..Numbers::WIDE };
    assert_eq!(of(short, Rule::Sgd), 8.0);
    assert_eq!(of(Numbers { weights: bf16, gradients: bf16, ..no_copy }, Rule::Sgd), 4.0);
    assert_eq!(of(short, Rule::Adam), 16.0);
    assert_eq!(of(eight, Rule::Adam), 14.0);
    assert_eq!(of(Numbers::WIDE, Rule::Sgd), 8.0);
}

#[test]
fn each_number_of_the_line_has_its_label() {
    for ticks in [
        [-0.013_671_875_f32, -0.011_718_75, -0.009_765_625, -0.007_812_5, -0.005_859_375],
        [0.070_800_78, 0.071_289_06, 0.071_777_34, 0.072_265_63, 0.072_753_91],
    ] {
        let share = |x: f32| (x - ticks[0]) / (ticks[4] - ticks[0]);
        let labels = panels::labels(&ticks, |x| (60.0 * share(x)).round() as usize);
        assert_eq!(labels.split_whitespace().count(), ticks.len(), "{labels}");
    }
}
