//! Labs: run, listed and explained, refused.

mod presets;
mod refused;

use crate::help::{Folder, records};

#[test]
fn a_lab_prints_one_json_object_and_keeps_a_record() {
    let folder = Folder::new();
    let json = folder
        .run(&[
            "lab",
            "graph",
            "--set",
            "expression=x*y",
            "--set",
            "inputs.x=2",
            "--set",
            "inputs.y=5",
            "--json",
        ])
        .json();
    assert_eq!(json["lab"], "graph");
    assert_eq!(json["metrics"]["value"], 10.0);
    assert_eq!(json["metrics"]["grad.x"], 5.0);
    assert!(json["device"].is_null());
    assert!(json["provenance"]["source"].is_string());
    let records = records(&folder.path("data"));
    assert_eq!(records.len(), 1);
    assert!(records[0].join("outcome.json").is_file());
}

#[test]
fn a_live_lab_takes_parameters_over_flags_and_repeats_itself() {
    let folder = Folder::new();
    let run = |more: &[&str]| {
        let mut arguments =
            vec!["lab", "train", "--device", "cpu", "--json", "--set", "steps=3", "--seed", "7"];
        arguments.extend(more);
        folder.run(&arguments).json()
    };
    let (first, again, other) = (run(&[]), run(&[]), run(&["--set", "seed=8"]));
    assert_eq!(first["device"], "cpu");
    assert_eq!((&first["seed"], &other["seed"]), (&7.into(), &8.into()));
    assert_eq!(first["series"]["loss"].as_array().map(Vec::len), Some(3));
    assert_eq!(first["series"]["loss"], again["series"]["loss"]);
    assert_ne!(first["series"]["loss"], other["series"]["loss"]);
}

#[test]
fn without_json_metrics_stand_in_columns_and_nothing_else_is_printed() {
    let folder = Folder::new();
    let ended = folder.run(&["lab", "graph", "--set", "expression=3*x", "--set", "inputs.x=2"]);
    let value = ended.did().lines().find(|line| line.starts_with("value ")).unwrap();
    assert_eq!(value.split_whitespace().nth(1), Some("6"));
    assert_eq!(ended.err, "");
}

#[test]
fn a_value_may_come_from_a_file_and_two_at_signs_are_one() {
    let folder = Folder::new();
    let file = folder.file("f.txt", "x + 40");
    let from_file = format!("expression=@{file}");
    let json =
        folder.run(&["lab", "graph", "--json", "--set", &from_file, "--set", "inputs.x=2"]).json();
    assert_eq!(json["metrics"]["value"], 42.0);
    folder
        .run(&["lab", "graph", "--set", "expression=@/no/such/file"])
        .refused(2, &["--set expression", "/no/such/file"]);
    folder.run(&["lab", "graph", "--set", "expression=@@x"]).refused(2, &["expression"]);
}

#[test]
fn a_kernel_from_a_file_runs_or_says_what_is_wrong_with_it() {
    let folder = Folder::new();
    let kernel = |source: &str, more: &[&str]| {
        let file = format!("source=@{}", folder.file("k.cu", source));
        let mut arguments = vec![
            "lab",
            "kernel",
            "--device",
            "cpu",
            "--json",
            "--set",
            "example=custom",
            "--set",
            &file,
        ];
        for pair in more {
            arguments.extend(["--set", pair]);
        }
        folder.run(&arguments)
    };
    let twice = "__global__ void twice(float *a) { a[threadIdx.x] *= 2; }";
    let json =
        kernel(twice, &["elements=4", "arguments.a.buffer=4", "arguments.a.fill=index"]).json();
    assert_eq!(json["metrics"]["buffer.a"], serde_json::json!([0.0, 2.0, 4.0, 6.0]));
    assert_eq!(json["metrics"]["correct"], true);
    kernel("__global__ void k() {\n  x = 1;\n}", &[])
        .refused(2, &["k.cu:2:3: 'x' is not declared"]);
    kernel("__global__ void k() { for (;;) { } }", &[]).refused(4, &["max_instructions"]);
    kernel(twice, &["execution=device"]).refused(3, &["runs no kernels", "--device wgpu"]);
    // Beside the interpreter it is only said that there is no device.
    let beside = ["execution=both", "elements=4"];
    assert_eq!(kernel(twice, &beside).json()["device"], "cpu");
}

#[test]
fn the_device_may_come_from_the_environment() {
    let folder = Folder::new();
    let ended = folder
        .command(&["lab", "train", "--set", "steps=1"])
        .env("MLSYS_DEVICE", "cuda:98")
        .output()
        .unwrap();
    crate::help::Ended::of(ended).refused(3, &["cuda:98"]);
}

#[test]
fn a_result_that_is_not_finite_fails_the_run() {
    let folder = Folder::new();
    folder
        .run(&["lab", "graph", "--set", "expression=1/x", "--set", "inputs.x=0", "--json"])
        .refused(4, &["not finite"]);
}

/// Each run is a process of its own, so that nobody else allocates meanwhile.
#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn what_is_computed_again_is_not_kept_and_the_losses_stay_the_same() {
    let folder = Folder::new();
    let run = |more: &[&str]| {
        let sets = ["dataset=chain", "model=transformer", "depth=4", "batch_size=16", "steps=2"];
        let mut arguments = vec!["lab", "train", "--json", "--device", "cpu"];
        for set in sets.iter().chain(more) {
            arguments.extend(["--set", set]);
        }
        let metrics = folder.run(&arguments).json()["metrics"].clone();
        let bytes = |name: &str| metrics[name].as_f64().unwrap();
        (bytes("kept_bytes"), bytes("activation_bytes"), metrics["loss"].clone())
    };
    let (whole, counted, loss) = run(&[]);
    let (elementwise, _, same) = run(&["recompute=true"]);
    let (blocks, _, again) = run(&["recompute=true", "recompute_unit=blocks"]);
    assert_eq!((&same, &again), (&loss, &loss));
    // burn keeps inputs and outputs of cheap operations, 1.6 times what must be kept.
    assert!(whole > 1.4 * counted && whole < 1.8 * counted, "{whole} {counted}");
    assert!(elementwise > 0.8 * counted && elementwise < 1.2 * counted, "{elementwise} {counted}");
    assert!(blocks < 0.25 * counted, "{blocks} {counted}");
}
