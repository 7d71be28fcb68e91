//! Every live lab, for a few steps, on each GPU of this machine: it begins where the CPU begins.
//!
//! The first loss agrees to 1e-4 relative; what comes later differs by the order in which a device adds. A lab without a
//! short run here fails the test, so that none is forgotten.
#![expect(clippy::unwrap_used, clippy::panic, reason = "what goes wrong here is a failed test")]

use std::io::Write;

use mlsys_device as device;
use mlsys_lab::control::Limits;
use mlsys_lab::device::Backend;
use mlsys_lab::{Control, DeviceId, Lab, Params, Run, RunData, Settings, Tables};

/// Back ends, comma-separated, that must be there: where this is set, a test that finds none fails.
const EXPECTED: &str = "MLSYS_EXPECT_DEVICES";

/// A short run of a lab.
struct Short {
    set: &'static [&'static str],
    /// Metrics with first values that agree between devices.
    alike: &'static [&'static str],
    /// What is measured: above zero.
    measured: &'static [&'static str],
    /// Differences to a reference, and how large they may be.
    small: &'static [(&'static str, f64)],
}

/// The short runs of a lab, if any are written.
fn short_runs(kind: &str) -> Vec<Short> {
    let trained = |set| Short { set, alike: &["loss"], measured: &["wall_seconds"], small: &[] };
    let split = |set| Short {
        set,
        alike: &["loss"],
        measured: &["measured_step_seconds"],
        small: &[("max_gradient_difference", 1e-5)],
    };
    match kind {
        "train" => vec![
            trained(&["dataset=digits", "samples=100", "batch_size=16", "steps=2"]),
            trained(&["dataset=digits", "model=cnn", "samples=100", "steps=2"]),
            trained(&["dataset=chain", "model=transformer", "steps=2"]),
            trained(&["steps=4", "record_every=2"]),
            trained(&["dataset=digits", "optimizer=momentum", "gradient_clip=1", "steps=2"]),
            trained(&["dataset=digits", "model=cnn", "width=2", "profile=true", "steps=2"]),
        ],
        "mixed-precision" => vec![trained(&["steps=2"])],
        "capture" => vec![Short {
            set: &["layers=[8, 6, 4]", "batch_size=4"],
            alike: &["operations", "matmul_flops", "moved_bytes"],
            measured: &["wall_seconds"],
            small: &[("replay_difference", 1e-4)],
        }],
        "device-peak" => vec![Short {
            set: &["buffer_bytes=65536", "ladder=false", "repetitions=3"],
            alike: &[],
            measured: &["copy_bytes_per_second", "launch_seconds"],
            small: &[],
        }],
        "matmul-bench" => vec![Short {
            set: &["sizes=[1, 8]", "n=16", "k=16", "repetitions=3"],
            alike: &["flops", "bytes"],
            measured: &["seconds"],
            small: &[("max_relative_error", 1e-2)],
        }],
        "train-data-parallel" => vec![split(&["workers=2", "global_batch=4", "steps=2"])],
        "train-pipeline-parallel" => {
            vec![split(&["stages=2", "layers=2", "microbatches=2", "global_batch=4", "steps=2"])]
        }
        "train-tensor-parallel" => {
            vec![split(&["ranks=2", "layers=2", "global_batch=4", "steps=2"])]
        }
        "quantize-model" => vec![Short {
            set: &[
                "width=16",
                "baseline_steps=0",
                "method=quantization-aware",
                "bits=4",
                "finetune_steps=1",
            ],
            alike: &["sqnr_db.layer1", "tuning_loss", "stored_bytes"],
            measured: &["forward_seconds_after"],
            small: &[("max_error_over_half_step", 1.00001)],
        }],
        "prune-model" => vec![Short {
            set: &["width=16", "baseline_steps=0", "finetune_steps=1"],
            alike: &["kept_weights", "stored_bytes"],
            measured: &["pruned_seconds"],
            small: &[("resurrected_weights", 0.0)],
        }],
        "distill" => vec![Short {
            set: &["teacher_width=16", "teacher_steps=1", "steps=1"],
            alike: &["student_parameters", "target_entropy"],
            measured: &["wall_seconds"],
            small: &[],
        }],
        "low-rank-adapt" => vec![Short {
            set: &["baseline_steps=1", "steps=1"],
            alike: &["adapter_parameters"],
            measured: &["wall_seconds"],
            small: &[("merge_difference", 1e-5), ("base_weights_changed", 0.0)],
        }],
        "generate" => vec![Short {
            set: &["training_steps=0", "prompt_tokens=4", "generated_tokens=4"],
            alike: &["token_forwards", "cache_bytes"],
            measured: &["tokens_per_second"],
            small: &[("max_logit_difference", 1e-4)],
        }],
        "attention" => vec![Short {
            set: &[
                "sequence=24",
                "tile_rows=7",
                "tile_columns=5",
                "sweep=[16, 24]",
                "repetitions=1",
            ],
            alike: &["linear_difference", "naive_accesses"],
            measured: &["naive_seconds", "tiled_seconds"],
            small: &[("tiled_difference", 1e-5), ("naive_difference", 1e-5)],
        }],
        "conv-factorize" => vec![Short {
            set: &["channels=4", "size=8", "batch_size=4", "steps=1"],
            alike: &["loss.standard", "loss.depthwise_separable"],
            measured: &["seconds.standard"],
            small: &[],
        }],
        "architecture-search" => vec![Short {
            set: &["evaluations=1", "population=1", "training_steps=1"],
            alike: &["evaluated", "candidates"],
            measured: &["device_seconds"],
            small: &[],
        }],
        _ => Vec::new(),
    }
}

fn run(lab: &dyn Lab, set: &[&str], device: DeviceId) -> RunData {
    let settings = Settings::from_pairs(set.iter().copied()).unwrap();
    let params = Params::resolve(lab.schema(), &settings, Tables::builtin(), None);
    let mut data = RunData::default();
    let mut run = Run {
        params: params.unwrap_or_else(|error| panic!("{set:?}: {error:?}")),
        device,
        sink: &mut data,
        control: Control::free(Limits::default(), Default::default()),
    };
    let ended = lab.run(&mut run);
    ended.unwrap_or_else(|error| panic!("{} on {device}, {set:?}: {error}", lab.schema().kind));
    data
}

/// The first value of a metric.
fn first(data: &RunData, name: &str) -> Option<f64> {
    match data.series.get(name) {
        Some(series) => series.points().first().map(|(_, value)| *value),
        None => data.metric(name)?.as_f64(),
    }
}

/// The first device of each back end but the CPU. One that is missing is said aloud, past the harness, which keeps to
/// itself what a passing test prints.
fn devices() -> Vec<DeviceId> {
    let expected = std::env::var(EXPECTED).unwrap_or_default();
    let all = [Backend::Cuda, Backend::Wgpu].map(|backend| DeviceId { backend, index: 0 });
    let is_there = |id: &DeviceId| match device::open(*id) {
        Ok(_) => true,
        Err(error) => {
            let backend = id.backend;
            let is_expected = expected.split(',').any(|name| name == backend.name());
            assert!(!is_expected, "{EXPECTED} names {backend}, and {error}");
            // The result does not depend on a reader.
            let _ =
                writeln!(std::io::stderr(), "\nNOT RUN on {backend}: the live labs, since {error}");
            false
        }
    };
    all.into_iter().filter(is_there).collect()
}

#[test]
fn every_live_lab_begins_on_a_gpu_where_it_begins_on_the_cpu() {
    let devices = devices();
    for lab in mlsys_live::labs().unwrap() {
        let kind = lab.schema().kind.as_str();
        let runs = short_runs(kind);
        assert!(!runs.is_empty(), "{kind} has no short run here");
        for short in runs {
            let cpu = run(lab.as_ref(), short.set, DeviceId::CPU);
            for &device in &devices {
                let gpu = run(lab.as_ref(), short.set, device);
                for name in short.alike {
                    let [a, b] = [&cpu, &gpu].map(|data| {
                        first(data, name).unwrap_or_else(|| panic!("{kind} has no {name}"))
                    });
                    let near = (a - b).abs() <= 1e-4 * a.abs() + 1e-9;
                    assert!(
                        near,
                        "{kind} {:?}: {name} is {a} on the CPU and {b} on {device}",
                        short.set
                    );
                }
                for name in short.measured {
                    let value = first(&gpu, name);
                    assert!(
                        value.is_some_and(|value| value > 0.0),
                        "{kind} on {device}: {name} is {value:?}"
                    );
                }
                for (name, most) in short.small {
                    let value = first(&gpu, name);
                    assert!(
                        value.is_some_and(|value| value <= *most),
                        "{kind} on {device}: {name} is {value:?}, above {most}"
                    );
                }
            }
        }
    }
}
