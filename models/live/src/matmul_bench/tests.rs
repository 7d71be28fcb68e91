//! Whole runs: what is reported, checked against formulas and other labs. Nothing here depends on how fast the machine is.

use mlsys_lab::Lab;
use mlsys_lab::control::Command;
use mlsys_lab::frame::Frame;

use super::*;
use crate::stepped::LiveLab;
use crate::trial::{frame, must_be_declared, must_refuse, number, run, steered, turn, values};

fn lab() -> LiveLab {
    super::lab().unwrap()
}

#[test]
fn sweep_ends_at_512_cubed() {
    let data = run(&lab(), &["sizes=[1, 24, 512]", "repetitions=3"]);
    must_be_declared(&lab(), &data);
    assert_eq!(number(&data, "steps_done"), 9.0);
    assert_eq!(values(&data, "size"), [1.0, 24.0, 512.0]);
    assert_eq!(number(&data, "flops"), 268_435_456.0);
    assert_eq!(number(&data, "bytes"), 3_145_728.0);
    assert!((number(&data, "intensity") - 85.333_333).abs() < 1e-5);
    assert!(number(&data, "max_relative_error") <= 1e-5);
    for name in ["seconds", "flops_per_second", "fraction_of_peak", "attainable_flops_per_second"] {
        assert!(values(&data, name).iter().all(|x| x.is_finite() && *x > 0.0), "{name}");
    }
    let best = values(&data, "flops_per_second").into_iter().fold(0.0, f64::max);
    assert_eq!(number(&data, "best_flops_per_second"), best);
    let Frame::Scatter(roofs) = frame(&data, "roofline") else { panic!("roofline") };
    assert_eq!((roofs.points.len(), roofs.lines.len()), (3, 4));
}

#[test]
fn intensities_are_those_of_the_instant_lab() {
    let instant = mlsys_analytic::lab("intensity").unwrap();
    for (sweep, precision, bytes) in
        [("batch", "fp32", 4), ("square", "fp16", 2), ("batch", "bf16", 2)]
    {
        let set = format!("sweep={sweep} precision={precision} n=12 k=20 repetitions=3");
        let set: Vec<&str> = set.split(' ').chain(["sizes=[1, 7]"]).collect();
        let timed = run(&lab(), &set);
        for (size, intensity) in [1, 7].into_iter().zip(values(&timed, "intensity")) {
            let [n, k] = if sweep == "square" { [size, size] } else { [12, 20] };
            let shape = format!("m={size} n={n} k={k} bytes_per_element={bytes}");
            let known = run(&instant, &shape.split(' ').collect::<Vec<_>>());
            assert!((number(&known, "intensity") / intensity - 1.0).abs() < 1e-12);
        }
    }
}

#[test]
fn products_are_right_in_every_precision() {
    let shape = ["sweep=none", "m=33", "n=17", "k=300", "repetitions=3"];
    for (precision, most) in [("fp32", 1e-5), ("fp16", 1e-2), ("bf16", 1e-2)] {
        let precision = format!("precision={precision}");
        let of_seed = |seed: &str| {
            let set = [&shape[..], &[precision.as_str(), seed]].concat();
            number(&run(&lab(), &set), "max_relative_error")
        };
        let error = of_seed("seed=1");
        assert!(error > 0.0 && error <= most, "{precision} {error}");
        assert_eq!(error, of_seed("seed=1"));
        assert_ne!(error, of_seed("seed=2"));
    }
}

#[test]
fn a_clock_that_stops_early_is_told_what_it_means_here() {
    let small = ["sweep=none", "m=8", "n=8", "k=8", "repetitions=3"];
    let data = run(&lab(), &[&small[..], &["synchronize=false"]].concat());
    assert!(data.notices[0].contains("changes nothing on the processor"));
    assert!(number(&data, "flops_per_second") > 0.0);
    assert!(run(&lab(), &small).notices.is_empty());
    let turned = steered(&lab(), &small, "multiplying", &[turn("synchronize", false)]);
    assert_eq!((turned.changes.len(), turned.notices.len()), (1, 1));
}

#[test]
fn a_given_peak_is_what_is_compared_with() {
    let data = run(&lab(), &["sizes=[1, 5]", "n=9", "k=9", "repetitions=3", "baseline_peak=1e9"]);
    let rates = values(&data, "flops_per_second").into_iter();
    for (rate, fraction) in rates.zip(values(&data, "fraction_of_peak")) {
        assert!((rate / 1e9 / fraction - 1.0).abs() < 1e-12);
    }
    for attainable in values(&data, "attainable_flops_per_second") {
        assert!(attainable <= 1e9);
    }
}

#[test]
fn invalid_sizes_are_refused() {
    must_refuse(
        &lab(),
        &[
            (&["sizes=[]"], "at least one"),
            (&["sizes=[4, 0]"], "size 2 is 0"),
            (&["sizes=[2.5]"], "size 1 is 2.5"),
            (&["sizes=[99999]"], "16384"),
            (&["sizes=['many']"], "size 1"),
        ],
    );
}

#[test]
fn a_stopped_run_keeps_the_products_it_has() {
    let set = ["sizes=[1, 2, 3]", "n=8", "k=8", "repetitions=3"];
    let data = steered(&lab(), &set, "(2 x 8)", &[Command::Stop]);
    assert_eq!(values(&data, "size"), [1.0]);
    assert_eq!(number(&data, "steps_done"), 3.0);
}

#[test]
fn the_schema_lists_exactly_the_cases_that_are_read() {
    let listed = lab().schema().param("precision").unwrap().values.clone();
    assert_eq!(listed, Precision::ALL.map(Precision::name));
}
