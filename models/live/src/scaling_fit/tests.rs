use mlsys_lab::Frame;

use super::{Fields, WIDTHS, lab};
use crate::trial::{frame, must_be_declared, number, params, refused, run, turned, values};

const SHORT: [&str; 3] = ["sizes=4", "steps=40", "held_out_width=28"];

#[test]
fn larger_networks_follow_the_fitted_law() {
    let data = run(&lab().unwrap(), &SHORT);
    must_be_declared(&lab().unwrap(), &data);
    let losses = values(&data, "loss");
    assert_eq!(losses.len(), 5);
    assert!(losses.windows(2).all(|pair| pair[1] < pair[0]), "{losses:?}");
    // 6 N D: 16 windows of 32 tokens, 40 times.
    assert_eq!(number(&data, "tokens"), 20_480.0);
    for width in &WIDTHS[..4] {
        let of = |metric: &str| number(&data, &format!("{metric}.w{width}"));
        assert_eq!(of("flops"), 6.0 * 20_480.0 * of("parameters"));
    }
    let [predicted, measured] = ["predicted_loss", "held_out_loss"].map(|name| number(&data, name));
    assert!((number(&data, "prediction_error") - (measured / predicted - 1.0)).abs() < 1e-12);
    assert!((measured / predicted - 1.0).abs() < 0.05, "{predicted} {measured}");
    let Frame::Scatter(law) = frame(&data, "law") else { panic!("no law") };
    assert_eq!((law.points.len(), law.lines.len()), (6, 1));
    // The held-out network is no part of the fit, and the seed decides everything.
    let alone = run(&lab().unwrap(), &SHORT[..2]);
    assert_eq!(number(&alone, "exponent"), number(&data, "exponent"));
    let other = run(&lab().unwrap(), &["sizes=3", "steps=40", "seed=2"]);
    assert_ne!(values(&other, "loss")[..], losses[..3]);
}

#[test]
fn the_floor_is_turned_without_training_again() {
    let free = turned(&lab().unwrap(), &SHORT[..2], &[(4, "floor", "free".into())]);
    let set = [&SHORT[..2], &["floor=free"]].concat();
    assert_eq!(number(&free, "exponent"), number(&run(&lab().unwrap(), &set), "exponent"));
}

#[test]
fn unfit_widths_are_refused() {
    for width in ["held_out_width=30", "held_out_width=16"] {
        assert!(refused(&lab().unwrap(), &[width], &["held_out_width"]));
    }
    let fields: Fields = params(&lab().unwrap(), &[]).read().unwrap();
    assert!(WIDTHS.iter().all(|width| fields.recipe(*width).is_ok()));
}
