//! Every live lab, for a few steps from untrained weights, on two devices: the second computes what the CPU computes.
//!
//! The second device is each GPU of this machine and, in every build, the CPU with burn's operations in place of the fused
//! ones of `mlsys_device::fused`. What is compared follows from the schema, so that no metric is forgotten: those of class
//! `exact` are equal, those of class `seeded` agree to 1e-4 relative. Adding in another order makes 1e-6 in 20 steps, and a
//! learning rate that is off by a hundredth 2e-4 in 4. A lab without a short run here fails the test, and so does a run
//! without a number that the device computed.
#![expect(clippy::unwrap_used, clippy::panic, reason = "what goes wrong here is a failed test")]

use std::io::Write;

use mlsys_device as device;
use mlsys_lab::control::Limits;
use mlsys_lab::device::Backend;
use mlsys_lab::schema::{Class, Type};
use mlsys_lab::{Control, DeviceId, Lab, Params, Registry, Run, RunData, Settings, Tables, Value};

/// Back ends, comma-separated, that must be there: where this is set, a test that finds none fails.
const EXPECTED: &str = "MLSYS_EXPECT_DEVICES";

/// Largest relative difference of a seeded metric between two devices.
const TOLERANCE: f64 = 1e-4;

struct Short {
    kind: &'static str,
    set: &'static str,
    /// A seeded number that the device computes: a loss, a score, an error against the host.
    computed: &'static str,
    /// What is measured: above zero.
    measured: &'static [&'static str],
    /// Seeded metrics that are errors or shares, and their largest absolute difference instead: the rounding itself is
    /// measured, or a near tie decides.
    absolute: &'static [(&'static str, f64)],
    /// Exact metrics that are facts of the device.
    by_device: &'static [&'static str],
}

const fn trained(kind: &'static str, set: &'static str) -> Short {
    Short {
        kind,
        set,
        computed: "loss",
        measured: &["wall_seconds"],
        absolute: &[],
        by_device: &[],
    }
}

const fn split(kind: &'static str, set: &'static str) -> Short {
    // Adam divides a gradient by its size, and with it the rounding of one that is nearly zero.
    let absolute: &[_] = &[
        ("max_gradient_difference", 1e-5),
        ("max_output_difference", 1e-5),
        ("max_weight_difference", 1e-3),
    ];
    let by_device = &["worker_devices"];
    Short { measured: &["measured_step_seconds"], absolute, by_device, ..trained(kind, set) }
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
        computed: "gradient_check_error",
        absolute: &[("gradient_check_error", 1e-3), ("replay_difference", 1e-4)],
        ..trained("capture", "layers=[8,6,4] batch_size=4")
    },
    Short {
        computed: "read_checksum",
        measured: &["copy_bytes_per_second", "launch_seconds"],
        // burn's probe of a GPU's arithmetic is one step, not one for each repetition.
        by_device: &["steps_done"],
        ..trained("device-peak", "buffer_bytes=65536 ladder=false repetitions=3")
    },
    Short {
        computed: "max_relative_error",
        measured: &["seconds"],
        absolute: &[("max_relative_error", 1e-2)],
        ..trained("matmul-bench", "sizes=[1,8] n=16 k=16 repetitions=3")
    },
    Short {
        computed: "tuning_loss",
        measured: &["forward_seconds_after"],
        ..trained(
            "quantize-model",
            "width=16 baseline_steps=0 method=quantization-aware bits=4 finetune_steps=1",
        )
    },
    Short {
        measured: &["pruned_seconds"],
        ..trained("prune-model", "width=16 baseline_steps=0 finetune_steps=3")
    },
    trained("scaling-fit", "sizes=3 steps=10"),
    Short {
        computed: "target_entropy",
        ..trained("distill", "teacher_width=16 teacher_steps=10 steps=1 temperature=1")
    },
    Short {
        absolute: &[("merge_difference", 1e-5), ("unmerge_difference", 1e-5)],
        ..trained("low-rank-adapt", "baseline_steps=1 steps=1")
    },
    Short {
        computed: "token_nats",
        measured: &["tokens_per_second"],
        absolute: &[("max_logit_difference", 1e-4)],
        ..trained("generate", "training_steps=0 prompt_tokens=4 generated_tokens=4")
    },
    Short {
        computed: "linear_difference",
        measured: &["naive_seconds", "tiled_seconds"],
        absolute: &[("tiled_difference", 1e-5), ("naive_difference", 1e-5)],
        ..trained("attention", "sequence=24 tile_rows=7 tile_columns=5 sweep=[16,24] repetitions=1")
    },
    Short {
        computed: "loss.standard",
        measured: &["seconds.standard"],
        ..trained("conv-factorize", "channels=4 size=8 batch_size=4 steps=1")
    },
    Short {
        computed: "validation_loss",
        measured: &["device_seconds"],
        ..trained("architecture-search", "evaluations=1 population=1 training_steps=1")
    },
];

/// What computes.
#[derive(Clone, Copy, PartialEq)]
enum Computing {
    On(DeviceId),
    /// The CPU with burn's operations only.
    Composed,
}

fn run(lab: &dyn Lab, set: &str, by: Computing) -> RunData {
    let settings = Settings::from_pairs(set.split(' ')).unwrap();
    let params = Params::resolve(lab.schema(), &settings, Tables::builtin(), None);
    let mut data = RunData::default();
    let mut run = Run {
        params: params.unwrap_or_else(|error| panic!("{set}: {error:?}")),
        device: if let Computing::On(device) = by { device } else { DeviceId::CPU },
        sink: &mut data,
        control: Control::free(Limits::default(), Default::default()),
    };
    let ended = match by {
        Computing::On(_) => lab.run(&mut run),
        Computing::Composed => device::fused::composed(|| lab.run(&mut run)),
    };
    ended.unwrap_or_else(|error| panic!("{} on {}, {set}: {error}", lab.schema().kind, run.device));
    data
}

/// All values of a series, or the one of a metric.
fn values(data: &RunData, name: &str) -> Vec<Value> {
    match data.series.get(name) {
        Some(series) => series.points().iter().map(|(_, value)| Value::Float(*value)).collect(),
        None => data.metric(name).into_iter().collect(),
    }
}

/// The largest difference of two values, absolute or relative to the first; infinite where they are not of one form.
fn difference(a: &Value, b: &Value, is_absolute: bool) -> f64 {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) if is_absolute => (a - b).abs(),
        (Value::Float(a), Value::Float(b)) => (a - b).abs() / a.abs().max(1e-5),
        (Value::Array(a), Value::Array(b)) => most(a, b, is_absolute),
        _ if a == b => 0.0,
        _ => f64::INFINITY,
    }
}

fn most(a: &[Value], b: &[Value], is_absolute: bool) -> f64 {
    let each = a.iter().zip(b).map(|(a, b)| difference(a, b, is_absolute));
    if a.len() == b.len() { each.fold(0.0, f64::max) } else { f64::INFINITY }
}

/// What is compared with the CPU: the first device of each back end. One that is missing is said aloud, past the
/// harness, which keeps to itself what a passing test prints.
fn others() -> Vec<Computing> {
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
    let devices = all.into_iter().filter(is_there).map(Computing::On);
    [Computing::Composed].into_iter().chain(devices).collect()
}

#[test]
fn live_labs_agree_on_every_device() {
    let others = others();
    for lab in Registry::on_demand(mlsys_live::labs()).iter() {
        let kind = lab.schema().kind.as_str();
        let runs: Vec<&Short> = RUNS.iter().filter(|short| short.kind == kind).collect();
        assert!(!runs.is_empty(), "{kind} has no short run here");
        for short in runs {
            let cpu = run(lab, short.set, Computing::On(DeviceId::CPU));
            for &other in &others {
                must_agree(lab, short, &cpu, other);
            }
        }
    }
}

fn must_agree(lab: &dyn Lab, short: &Short, cpu: &RunData, by: Computing) {
    let Short { kind, set, computed, .. } = short;
    let place = match by {
        Computing::On(device) => device.to_string(),
        Computing::Composed => "the CPU by burn's operations".to_owned(),
    };
    let other = run(lab, set, by);
    assert_eq!((&other.diverged, other.status.as_str()), (&None, ""), "{kind} {set}");
    let mut worst = (0.0, String::new());
    for name in cpu.metrics().into_keys() {
        let metric = lab.schema().metric(name).unwrap();
        let absolute = short.absolute.iter().find(|(other, _)| *other == name);
        let (is_absolute, tolerance) = match (metric.class, absolute) {
            (Class::Device | Class::Hardware, _) => continue,
            (Class::Exact, _) if short.by_device.contains(&name) => continue,
            (Class::Exact, _) => (true, 0.0),
            (Class::Seeded, None) => (false, TOLERANCE),
            (Class::Seeded, Some((_, tolerance))) => (true, *tolerance),
        };
        let (a, b) = (values(cpu, name), values(&other, name));
        let found = most(&a, &b, is_absolute);
        assert!(
            found <= tolerance,
            "{kind} {set}: {name} is {a:?} on the CPU, {b:?} on {place}, a difference of {found}"
        );
        if !is_absolute && found >= worst.0 {
            worst = (found, name.to_owned());
        }
    }
    let metric = lab.schema().metric(computed).unwrap_or_else(|| panic!("{kind}: {computed}"));
    assert_eq!((metric.class, metric.ty), (Class::Seeded, Type::Float), "{kind}: {computed}");
    let (a, b) = (values(cpu, computed), values(&other, computed));
    assert!(!a.is_empty(), "{kind} {set}: no {computed}");
    println!("{kind} on {place}: {} differs by {:.1e}; {computed} {a:?} {b:?}", worst.1, worst.0);
    for name in short.measured {
        let value = values(&other, name).first().and_then(Value::as_f64).unwrap_or(f64::NAN);
        assert!(value > 0.0, "{kind} on {place}: {name} is {value}");
    }
}
