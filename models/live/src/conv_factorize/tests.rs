use mlsys_lab::control::Command;
use mlsys_lab::report::Report;
use mlsys_lab::{Frame, RunData};

use super::*;
use crate::stepped::LiveLab;
use crate::trial::{
    Then, answered, frame, must_be_declared, must_refuse, number, over, run, steered, turn, values,
};

fn lab() -> LiveLab {
    crate::conv_factorize::lab().unwrap()
}

const SMALL: [&str; 4] = ["size=7", "channels=4", "batch_size=8", "steps=2"];

fn small(more: &[&str]) -> RunData {
    run(&lab(), &over(&SMALL, more))
}

#[test]
fn counts_are_exact_without_training() {
    let data = run(&lab(), &["steps=0", "batch_size=1"]);
    for (name, weights, field) in [
        ("standard", 6400, 5),
        ("stacked_3x3", 4608, 5),
        ("row_column", 2560, 5),
        ("depthwise_separable", 656, 5),
        ("bottleneck", 528, 5),
    ] {
        let of = |metric: &str| number(&data, &format!("{metric}.{name}"));
        assert_eq!(of("weights"), f64::from(weights), "{name}");
        assert_eq!(of("flops"), f64::from(2 * 196 * weights), "{name}");
        assert_eq!(of("receptive_field"), f64::from(field), "{name}");
        assert_eq!(of("flops_ratio"), f64::from(weights) / 6400.0, "{name}");
        assert!(of("seconds") > 0.0 && of("seconds_ratio") > 0.0, "{name}");
        assert!(data.metric(&format!("accuracy.{name}")).is_none());
    }
    assert_eq!(number(&data, "steps_done"), 0.0);
}

#[test]
fn everything_is_declared_and_drawn() {
    let data = small(&[]);
    must_be_declared(&lab(), &data);
    assert_eq!(values(&data, "loss.row_column").len(), 2);
    let Frame::Bars(bars) = frame(&data, "bars") else { panic!("bars") };
    assert_eq!(bars.bars.len(), 10);
    assert!(bars.bars.iter().all(|bar| bar.value.is_some()));
    let Frame::Scatter(roofline) = frame(&data, "roofline") else { panic!("roofline") };
    assert_eq!((roofline.points.len(), roofline.lines.len()), (10, 2));
}

#[test]
fn a_variant_learns_the_digits_and_the_seed_decides_how() {
    let set = ["factorizations=[\"standard\"]", "channels=4", "size=14", "steps=60"];
    let data = run(&lab(), &set);
    assert!(number(&data, "accuracy.standard") > 0.5);
    let losses = values(&data, "loss.standard");
    assert!(losses[59] < losses[0] / 2.0, "{losses:?}");
    // The same digits, weights and batches, whatever other variants train.
    let both = "factorizations=[\"bottleneck\", \"standard\"]";
    let both = run(&lab(), &over(&set, &[both, "steps=2"]));
    assert_eq!(values(&both, "loss.standard"), losses[..2]);
}

#[test]
fn relative_time_needs_the_standard_block() {
    let data = small(&["factorizations=[\"row-column\"]"]);
    assert!(data.metric("seconds_ratio.row_column").is_none());
    assert!(data.metric("weights.standard").is_none());
    assert_eq!(number(&data, "flops_ratio.row_column"), 0.4);
}

#[test]
fn the_learning_rate_turns_while_it_runs() {
    let set = over(&SMALL, &["steps=4", "learning_rate=0"]);
    let (turned, _) = answered(&lab(), &set, |report| {
        if let Report::Point { name, step: 2, .. } = report
            && &**name == "loss.standard"
        {
            return Then::Order(turn("learning_rate", 0.01));
        }
        Then::On
    });
    let plain = run(&lab(), &set);
    let (turned, plain) = (values(&turned, "loss.standard"), values(&plain, "loss.standard"));
    assert_eq!(turned[..3], plain[..3]);
    assert_ne!(turned[3], plain[3]);
}

#[test]
fn what_is_known_is_drawn_before_the_clock_starts() {
    let mut drawn = Vec::new();
    let mut is_timed = false;
    answered(&lab(), &SMALL, |report| {
        if let Report::Frame { panel, .. } = report
            && !is_timed
        {
            drawn.push(panel.to_string());
        }
        is_timed |= matches!(report, Report::Scalar { name, .. } if name.starts_with("seconds."));
        Then::On
    });
    assert_eq!(drawn, ["field", "bars", "roofline"]);
}

#[test]
fn a_run_that_is_stopped_while_it_measures_ends_well() {
    let data = steered(&lab(), &SMALL, "warming up standard", &[Command::Stop]);
    assert_eq!(number(&data, "steps_done"), 0.0);
}

#[test]
fn invalid_settings_are_refused_with_a_way_out() {
    must_refuse(
        &lab(),
        &[
            (&["kernel=4"], "take 3, 5 or 7"),
            (&["channels=18"], "take a divisor of 18"),
            (&["factorizations=[]"], "nothing to train"),
            (&["factorizations=[\"stacked\"]"], "did you mean 'stacked-3x3'"),
            (&["factorizations=[\"standard\", \"standard\"]"], "stands there twice"),
            (&["factorizations=[3]"], "3 is no variant"),
        ],
    );
    let fits = small(&["channels=6", "factorizations=[\"standard\"]"]);
    assert_eq!(number(&fits, "weights.standard"), 900.0);
}

#[test]
fn shrinking_keeps_the_mean_and_averages_areas() {
    let image: Vec<f32> = (0..36).map(|x| (x % 7) as f32).collect();
    let examples =
        Examples::Labelled(Labelled { inputs: image.clone(), labels: vec![3], features: 36 });
    let mean = |values: &[f32]| values.iter().sum::<f32>() / values.len() as f32;
    for edge in [1, 2, 3, 4, 5, 6] {
        let Examples::Labelled(small) = shrunk(&examples, edge) else { panic!("labelled") };
        assert_eq!((small.inputs.len(), small.features), (edge * edge, edge * edge));
        assert!((mean(&small.inputs) - mean(&image)).abs() < 1e-5, "{edge}");
    }
    let Examples::Labelled(half) = shrunk(&examples, 3) else { panic!("labelled") };
    let corner = [image[0], image[1], image[6], image[7]];
    assert!((half.inputs[0] - mean(&corner)).abs() < 1e-6);
}
