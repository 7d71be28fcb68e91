//! Whole runs: what is reported, and how they are steered. Nothing here depends on how fast the machine is.

use mlsys_lab::control::Command;
use mlsys_lab::{Frame, Value};

use super::*;
use crate::stepped::LiveLab;
use crate::trial::{must_be_declared, number, run, steered, try_run, turn};

const SMALL: [&str; 2] = ["buffer_bytes=65536", "repetitions=3"];

fn lab() -> LiveLab {
    super::lab().unwrap()
}

#[test]
fn every_measurement_is_reported_positive_and_finite() {
    let data = run(&lab(), &SMALL);
    must_be_declared(&lab(), &data);
    for (name, value) in data.metrics() {
        if let Some(x) = value.as_f64() {
            let least = if name == "spread" { 0.0 } else { f64::MIN_POSITIVE };
            assert!(x.is_finite() && x >= least, "{name} {x}");
        }
    }
    // Four measurements and the rungs of 16, 32 and 64 KiB, three times each.
    assert_eq!(number(&data, "steps_done"), 21.0);
    let ridge = number(&data, "peak_flops_per_second") / number(&data, "copy_bytes_per_second");
    assert!((number(&data, "ridge_intensity") / ridge - 1.0).abs() < 1e-12);
    // A notice warns of a buffer that fits into a cache, where the system reports caches.
    if Meter::open(mlsys_lab::DeviceId::CPU, Precision::Fp32).unwrap().last_cache().is_some() {
        assert!(data.notices.iter().any(|notice| notice.contains("buffer_bytes=")));
    }
}

#[test]
fn without_a_ladder_there_is_none() {
    let data = run(&lab(), &[SMALL[0], SMALL[1], "ladder=false"]);
    assert_eq!(number(&data, "steps_done"), 12.0);
    assert!(!data.scalars.keys().any(|name| name.starts_with("ladder.")));
}

#[test]
fn unmeasurable_settings_are_refused_first() {
    for precision in ["fp16", "bf16"] {
        let set = format!("precision={precision}");
        let error = try_run(&lab(), &[&set]).unwrap_err().to_string();
        assert!(error.contains(precision) && error.contains("fp32"), "{error}");
    }
    let error = try_run(&lab(), &["compare=['h100-sxm5-80g']"]).unwrap_err();
    assert!(error.is_usage());
    let error = error.to_string();
    assert!(error.contains("did you mean 'h100-sxm5-80gb'?"), "{error}");
}

#[test]
fn a_run_stops_within_a_step_and_keeps_what_it_has() {
    let data = steered(&lab(), &SMALL, "reading", &[Command::Stop]);
    assert_eq!(number(&data, "steps_done"), 6.0);
    assert!(number(&data, "copy_bytes_per_second") > 0.0);
    assert!(data.metric("read_bytes_per_second").is_none());
    let paused = [Command::Pause, Command::Step(2), Command::Stop];
    let data = steered(&lab(), &SMALL, "copying", &paused);
    assert!(number(&data, "steps_done") <= 5.0);
}

#[test]
fn compared_chips_are_live_and_validated() {
    let chips = |names: &[&str]| {
        turn("compare", Value::Array(names.iter().copied().map(Value::from).collect()))
    };
    let lines = |orders: &[Command]| {
        let data = steered(&lab(), &SMALL, "copying", orders);
        let Some((_, Frame::Scatter(roofs))) = data.frames.get("roofline").cloned() else {
            panic!("the roofs are not drawn");
        };
        (roofs.lines.len(), data.notices)
    };
    assert_eq!(lines(&[chips(&["tpu-v5e", "h200-sxm-141gb"])]).0, 2);
    let (count, notices) = lines(&[chips(&["h300"])]);
    assert_eq!(count, 4);
    assert!(notices.iter().any(|notice| notice.contains("h300")), "{notices:?}");
}

#[test]
fn plans_follow_the_buffer_and_the_last_cache() {
    let all: Vec<u64> = rungs(1 << 25).collect();
    assert_eq!((all.len(), all[0], all[11]), (12, 16_384, 1 << 25));
    assert_eq!(rungs(100_000).last(), Some(65_536));
    assert_eq!(rungs(1 << 32).last(), Some(1 << 32));
    const MIB: u64 = 1 << 20;
    for (cache, buffer) in
        [(None, 32), (Some(8), 32), (Some(32), 64), (Some(36), 128), (Some(1024), 512)]
    {
        assert_eq!(beyond(32 * MIB, cache.map(|cache| cache * MIB)), buffer * MIB);
    }
    let sizes = [16_384, 1 << 25, 1 << 31, 1000, 0].map(size);
    assert_eq!(sizes, ["16 KiB", "32 MiB", "2 GiB", "1000 bytes", "0 bytes"]);
}
