//! Whole runs and the four ways, held against formulas, other labs and double precision.

use std::ops::ControlFlow;

use burn::tensor::Device;
use mlsys_lab::control::StopReason;
use mlsys_lab::frame::Frame;
use mlsys_lab::{Report, RunData, Value};
use mlsys_nn::flat_params;
use mlsys_nn::random::Stream;
use mlsys_sim::inference::RunningSoftmax;

use super::exact::{Exact, scores};
use super::*;
use crate::trial::{
    Then, answered, frame, must_be_declared, must_refuse, number, params, run, steered, turn,
    values,
};

fn lab() -> LiveLab {
    super::lab().unwrap()
}

fn inputs(drawn: &RandomInputs) -> Inputs {
    Inputs::new(drawn, &Device::flex(), 1.0)
}

const GO_ON: ControlFlow<()> = ControlFlow::Continue(());

/// A run that times next to nothing.
const SHORT: [&str; 2] = ["sweep=[8]", "repetitions=1"];

fn short(more: &[&str]) -> RunData {
    run(&lab(), &[&SHORT, more].concat())
}

#[test]
fn the_default_run_is_exact_where_it_says_so() {
    let data = run(&lab(), &["sweep=[8, 24]", "repetitions=2"]);
    must_be_declared(&lab(), &data);
    for (name, expected) in [
        ("naive_score_bytes", 524_288.0),
        ("tiled_score_bytes", 4352.0),
        ("softmax_flops", 16_777_216.0),
        ("linear_flops", 2_097_152.0),
        ("naive_accesses", 4.0 * 256.0 * 32.0 + 4.0 * 65_536.0),
        ("tiled_accesses", 2.0 * 8192.0 + 2.0 * 8192.0 * 8.0),
        ("steps_done", 4.0),
        ("non_finite_without_max", 0.0),
    ] {
        assert_eq!(number(&data, name), expected, "{name}");
    }
    assert!(number(&data, "tiled_difference") <= 1e-5);
    assert!(number(&data, "naive_difference") <= 1e-5);
    assert!(number(&data, "linear_difference") > 1e-3);
    assert!(number(&data, "window_difference") > 1e-3);
    assert_eq!(values(&data, "length"), [8.0, 24.0]);
    for way in ["naive", "tiled", "linear"] {
        let seconds = values(&data, &format!("{way}_seconds"));
        assert!(seconds.len() == 2 && seconds.iter().all(|x| *x > 0.0));
    }
}

#[test]
fn tiles_of_any_size_find_what_one_softmax_finds() {
    let mut stream = Stream::new(5, "test");
    for trial in 0..64 {
        let heads = 1 + stream.below(3);
        let (sequence, width) = (1 + stream.below(40), 1 + stream.below(12));
        let drawn = RandomInputs::new(trial, [heads, sequence, width]);
        let tiling = Tiling {
            rows: 1 + stream.below(sequence + 4),
            columns: 1 + stream.below(sequence + 4),
        };
        let causal = stream.below(2) == 0;
        let window = [None, Some(1 + stream.below(sequence + 2))][stream.below(2)];
        let mask = AttentionMask { causal, window };
        let exact = Exact::compute(&drawn, mask, 1.0);
        let hidden = Hidden::over(sequence, mask, &Device::flex());
        let naive = inputs(&drawn).naive(hidden.as_ref(), &mut || GO_ON);
        let tiled = inputs(&drawn).tiled(tiling, mask, &mut || GO_ON).unwrap();
        for (name, found) in [("naive", naive), ("tiled", tiled)] {
            let off = exact.difference(&flat_params::values(found));
            assert!(off <= 1e-5, "{name} {tiling:?} {mask:?} of {sequence}: {off}");
        }
    }
}

#[test]
fn a_window_as_long_as_the_sequence_is_full_attention() {
    for causal in ["causal=true", "causal=false"] {
        let data = short(&["sequence=40", "window=40", "tile_rows=7", causal]);
        assert!(number(&data, "window_difference") <= 1e-5, "{causal}");
        let data = short(&["sequence=40", "window=39", "tile_rows=7", causal]);
        assert!(number(&data, "window_difference") > 1e-5, "{causal}");
    }
}

#[test]
fn linear_attention_is_its_own_quadratic_form() {
    let feature = |x: f32| {
        let x = f64::from(x);
        if x > 0.0 { x + 1.0 } else { x.exp() }
    };
    // Longer than what is taken at once, and shorter.
    for (causal, sequence) in [(true, 150), (true, 5), (false, 70)] {
        let (heads, width) = (2, 6);
        let drawn = RandomInputs::new(3, [heads, sequence, width]);
        let mask = AttentionMask { causal, window: None };
        let found = flat_params::values(inputs(&drawn).linear(mask, &mut || GO_ON));
        for head in 0..heads {
            for query in 0..sequence {
                let q = drawn.vector(&drawn.q, head, query);
                let (mut sum, mut expected) = (0.0, vec![0.0; width]);
                for key in (0..sequence).filter(|key| mask.sees(query, *key)) {
                    let pairs = q.iter().zip(drawn.vector(&drawn.k, head, key));
                    let weight: f64 = pairs.map(|(a, b)| feature(*a) * feature(*b)).sum();
                    sum += weight;
                    for (to, v) in expected.iter_mut().zip(drawn.vector(&drawn.v, head, key)) {
                        *to += weight * f64::from(*v);
                    }
                }
                for (there, expected) in drawn.vector(&found, head, query).iter().zip(expected) {
                    assert!((f64::from(*there) - expected / sum).abs() < 1e-5);
                }
            }
        }
    }
}

#[test]
fn one_picture_per_tile_but_not_of_thousands() {
    let data = short(&["sequence=64", "tile_rows=16", "tile_columns=24"]);
    let Frame::FrameSequence(film) = frame(&data, "scores") else { panic!("scores") };
    // Of 4 x 3 tiles, those that a causal mask leaves.
    assert_eq!(film.stills.len(), 1 + 2 + 2 + 3);
    let Frame::Cells(last) = &film.stills.last().unwrap().frame else { panic!("no cells") };
    let drawn = RandomInputs::new(1, [2, 64, 32]);
    let mask = AttentionMask { causal: true, window: None };
    let pass = RunningSoftmax::NOTHING.after(&scores(&drawn, 0, 63, 0..64, mask, 1.0));
    let row = last.rows.last().unwrap();
    assert_eq!(row.label, "63");
    let expected = format!("m {:.2} l {:.2}", pass.most, pass.sum);
    assert!(row.remark.starts_with(&expected), "{}", row.remark);
    let most = film.stills.iter().map(|still| {
        let Frame::Cells(cells) = &still.frame else { panic!("no cells") };
        (cells.rows.len(), cells.columns())
    });
    assert!(most.max().unwrap() <= (16, 33));
    let data = short(&["sequence=64", "tile_rows=1", "tile_columns=1"]);
    let Frame::FrameSequence(film) = frame(&data, "scores") else { panic!("scores") };
    assert!((17..=90).contains(&film.stills.len()), "{}", film.stills.len());
    assert!(number(&data, "tiled_difference") <= 1e-5);
}

#[test]
fn a_knob_shows_at_once_what_it_does() {
    let orders = [turn("logit_scale", 200.0), turn("tile_rows", Value::Int(5))];
    let data = steered(&lab(), &SHORT, "timing 8", &orders);
    assert!(number(&data, "non_finite_without_max") > 0.0);
    assert!(number(&data, "tiled_difference") <= 1e-4);
    assert_eq!(number(&data, "tiled_score_bytes"), 4.0 * 5.0 * 32.0 + 8.0 * 5.0);
    assert_eq!(data.changes.len(), 2);
}

#[test]
fn invalid_settings_are_refused_with_a_way_out() {
    must_refuse(
        &lab(),
        &[
            (&["sweep=[]"], "0 lengths"),
            (&["sweep=[64, 0.5]"], "length 2 is 0.5"),
            (&["sweep=[9999]"], "8192"),
            (&["sequence=8192", "tile_rows=1", "tile_columns=1"], "make the tiles larger"),
        ],
    );
}

#[test]
fn scores_beyond_memory_are_refused() {
    let setup = Setup::read(&params(&lab(), &["heads=64", "sequence=8192"])).unwrap();
    let gigabytes = setup.bytes() as f64 / 1e9;
    assert!((68.0..71.0).contains(&gigabytes), "{gigabytes}");
}

#[test]
fn a_stop_is_heard_between_two_tiles() {
    let drawn = RandomInputs::new(1, [1, 6, 2]);
    let mask = AttentionMask { causal: true, window: None };
    let mut tiles = 0;
    let ended = inputs(&drawn).tiled(Tiling { rows: 2, columns: 2 }, mask, &mut || {
        tiles += 1;
        unless(tiles == 4)
    });
    assert!(ended.is_none() && tiles == 4);
    // While a knob's tiles are computed, nothing of them is reported.
    let smallest = ["tile_rows", "tile_columns"].map(|name| turn(name, Value::Int(1)));
    let mut orders = smallest.into_iter().peekable();
    let set = ["sequence=64", "sweep=[8, 16, 24]", "repetitions=1"];
    let (data, reason) = answered(&lab(), &set, |report| {
        let Report::Status(status) = report else { return Then::On };
        if status.contains("tile 1024 of ") {
            return Then::Stop;
        }
        orders.next_if(|_| status.starts_with("timing")).map_or(Then::On, Then::Order)
    });
    assert_eq!(reason, Some(StopReason::Asked));
    assert_eq!(values(&data, "length").len(), 1);
    assert_eq!(number(&data, "tiled_score_bytes"), 4.0 * 32.0 + 8.0);
}
