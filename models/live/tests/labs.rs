//! Every live lab, for a few steps, on each GPU of this machine: it goes where the CPU goes.
//!
//! Each step's loss agrees to 1e-4 relative: adding in another order makes 1e-6 in 20 steps, and a learning rate that is off
//! by a hundredth 2e-4 in 4. A lab without a short run here fails the test, so that none is forgotten.
#![expect(clippy::unwrap_used, clippy::panic, reason = "what goes wrong here is a failed test")]

use std::io::Write;

use mlsys_device as device;
use mlsys_lab::control::Limits;
use mlsys_lab::device::Backend;
use mlsys_lab::{Control, DeviceId, Lab, Params, Registry, Run, RunData, Settings, Tables};

/// Back ends, comma-separated, that must be there: where this is set, a test that finds none fails.
const EXPECTED: &str = "MLSYS_EXPECT_DEVICES";

struct Short {
    kind: &'static str,
    set: &'static str,
    /// Metrics with values that agree between devices, at every step.
    alike: &'static [&'static str],
    /// What is measured: above zero.
    measured: &'static [&'static str],
    /// Differences to a reference, and how large they may be.
    small: &'static [(&'static str, f64)],
}

const fn trained(kind: &'static str, set: &'static str) -> Short {
    Short { kind, set, alike: &["loss"], measured: &["wall_seconds"], small: &[] }
}

const fn split(kind: &'static str, set: &'static str) -> Short {
    let (measured, small) = (&["measured_step_seconds"], &[("max_gradient_difference", 1e-5)]);
    Short { kind, set, alike: &["loss"], measured, small }
}

const RUNS: [Short; 22] = [
    trained("train", "dataset=digits samples=100 batch_size=16 steps=4"),
    trained("train", "dataset=digits model=cnn samples=100 steps=4"),
    trained("train", "dataset=chain model=transformer steps=4"),
    trained("train", "steps=4 record_every=2"),
    trained("train", "dataset=digits optimizer=momentum gradient_clip=1 steps=4"),
    trained("train", "dataset=digits model=cnn width=2 profile=true steps=4"),
    trained("mixed-precision", "steps=2"),
    split("train-data-parallel", "workers=2 global_batch=4 steps=2"),
    split("train-pipeline-parallel", "stages=2 layers=2 microbatches=2 global_batch=4 steps=2"),
    split("train-tensor-parallel", "ranks=2 layers=2 global_batch=4 steps=2"),
    Short {
        kind: "capture",
        set: "layers=[8,6,4] batch_size=4",
        alike: &["operations", "matmul_flops", "moved_bytes"],
        measured: &["wall_seconds"],
        small: &[("replay_difference", 1e-4)],
    },
    Short {
        kind: "device-peak",
        set: "buffer_bytes=65536 ladder=false repetitions=3",
        alike: &[],
        measured: &["copy_bytes_per_second", "launch_seconds"],
        small: &[],
    },
    Short {
        kind: "matmul-bench",
        set: "sizes=[1,8] n=16 k=16 repetitions=3",
        alike: &["flops", "bytes"],
        measured: &["seconds"],
        small: &[("max_relative_error", 1e-2)],
    },
    Short {
        kind: "quantize-model",
        set: "width=16 baseline_steps=0 method=quantization-aware bits=4 finetune_steps=1",
        alike: &["sqnr_db.layer1", "tuning_loss", "stored_bytes"],
        measured: &["forward_seconds_after"],
        small: &[("max_error_over_half_step", 1.00001)],
    },
    Short {
        kind: "prune-model",
        set: "width=16 baseline_steps=0 finetune_steps=1",
        alike: &["kept_weights", "stored_bytes"],
        measured: &["pruned_seconds"],
        small: &[("resurrected_weights", 0.0)],
    },
    Short {
        kind: "scaling-fit",
        set: "sizes=3 steps=10",
        alike: &["loss", "flops.w8"],
        measured: &["wall_seconds"],
        small: &[],
    },
    Short {
        kind: "distill",
        set: "teacher_width=16 teacher_steps=1 steps=1",
        alike: &["student_parameters", "target_entropy"],
        measured: &["wall_seconds"],
        small: &[],
    },
    Short {
        kind: "low-rank-adapt",
        set: "baseline_steps=1 steps=1",
        alike: &["adapter_parameters"],
        measured: &["wall_seconds"],
        small: &[("merge_difference", 1e-5), ("base_weights_changed", 0.0)],
    },
    Short {
        kind: "generate",
        set: "training_steps=0 prompt_tokens=4 generated_tokens=4",
        alike: &["token_forwards", "cache_bytes"],
        measured: &["tokens_per_second"],
        small: &[("max_logit_difference", 1e-4)],
    },
    Short {
        kind: "attention",
        set: "sequence=24 tile_rows=7 tile_columns=5 sweep=[16,24] repetitions=1",
        alike: &["linear_difference", "naive_accesses"],
        measured: &["naive_seconds", "tiled_seconds"],
        small: &[("tiled_difference", 1e-5), ("naive_difference", 1e-5)],
    },
    Short {
        kind: "conv-factorize",
        set: "channels=4 size=8 batch_size=4 steps=1",
        alike: &["loss.standard", "loss.depthwise_separable"],
        measured: &["seconds.standard"],
        small: &[],
    },
    Short {
        kind: "architecture-search",
        set: "evaluations=1 population=1 training_steps=1",
        alike: &["evaluated", "candidates"],
        measured: &["device_seconds"],
        small: &[],
    },
];

fn run(lab: &dyn Lab, set: &str, device: DeviceId) -> RunData {
    let settings = Settings::from_pairs(set.split(' ')).unwrap();
    let params = Params::resolve(lab.schema(), &settings, Tables::builtin(), None);
    let mut data = RunData::default();
    let mut run = Run {
        params: params.unwrap_or_else(|error| panic!("{set}: {error:?}")),
        device,
        sink: &mut data,
        control: Control::free(Limits::default(), Default::default()),
    };
    let ended = lab.run(&mut run);
    ended.unwrap_or_else(|error| panic!("{} on {device}, {set}: {error}", lab.schema().kind));
    data
}

/// All values of a series, or the one of a metric.
fn values(data: &RunData, name: &str) -> Vec<f64> {
    match data.series.get(name) {
        Some(series) => series.points().iter().map(|(_, value)| *value).collect(),
        None => data.metric(name).and_then(|value| value.as_f64()).into_iter().collect(),
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
fn live_labs_agree_on_every_device() {
    let devices = devices();
    for lab in Registry::on_demand(mlsys_live::labs()).iter() {
        let kind = lab.schema().kind.as_str();
        let runs: Vec<&Short> = RUNS.iter().filter(|short| short.kind == kind).collect();
        assert!(!runs.is_empty(), "{kind} has no short run here");
        for Short { set, alike, measured, small, .. } in runs {
            let cpu = run(lab, set, DeviceId::CPU);
            for &device in &devices {
                let gpu = run(lab, set, device);
                assert_eq!(
                    (gpu.diverged.is_some(), gpu.status.as_str()),
                    (false, ""),
                    "{kind} {set}"
                );
                for name in *alike {
                    let (a, b) = (values(&cpu, name), values(&gpu, name));
                    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-4 * a.abs() + 1e-9;
                    let is_alike =
                        !a.is_empty() && a.len() == b.len() && a.iter().zip(&b).all(near);
                    assert!(
                        is_alike,
                        "{kind} {set}: {name} is {a:?} on the CPU, {b:?} on {device}"
                    );
                }
                let on_gpu = |name: &str| values(&gpu, name).first().copied().unwrap_or(f64::NAN);
                for name in *measured {
                    let value = on_gpu(name);
                    assert!(value > 0.0, "{kind} on {device}: {name} is {value}");
                }
                for (name, most) in *small {
                    let value = on_gpu(name);
                    assert!(value <= *most, "{kind} on {device}: {name} is {value}, above {most}");
                }
            }
        }
    }
}
