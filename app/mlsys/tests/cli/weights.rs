//! Weights and networks: saved, loaded, exchanged with other programs, and passed from run to run.

use std::fs;

use mlsys_harness::sandbox::{Ended, Sandbox, type_in};
use serde_json::json;

use crate::sandbox;

fn train(folder: &Sandbox, steps: u32, options: &str) -> Ended {
    folder.run(&format!("lab train --device cpu --json --set steps={steps} {options}"))
}

const CHAIN: &str = "--preset chain --set width=16 --set depth=1 --set samples=2000 --set batch_size=4 --set context=8";
const POINTS: &str = "--set width=4";
const IMAGES: &str =
    "--set dataset=digits --set samples=200 --set model=cnn --set width=2 --set batch_size=4";

#[test]
fn a_run_continues_from_the_weights_of_another() {
    for network in [CHAIN, POINTS, IMAGES] {
        let folder = sandbox();
        let file = folder.arg("weights.bpk");
        let before = train(&folder, 20, &format!("{network} --save-weights {file}")).json();
        // Other random weights, and a step that changes nothing.
        let still = format!("{network} --set initialization=xavier --set learning_rate=0");
        let own = train(&folder, 1, &still).json();
        let loaded = train(&folder, 1, &format!("{still} --load-weights {file}")).json();
        let loss = "validation_loss";
        assert_eq!(loaded["metrics"][loss], before["metrics"][loss]);
        assert_ne!(loaded["metrics"][loss], own["metrics"][loss]);
    }
}

#[test]
fn saved_tensors_have_conventional_names() {
    let folder = sandbox();
    let file = folder.arg("chain.safetensors");
    train(&folder, 2, &format!("{CHAIN} --save-weights {file}")).success();
    let bytes = fs::read(file).unwrap();
    let (length, rest) = bytes.split_first_chunk::<8>().unwrap();
    let header = &rest[..u64::from_le_bytes(*length) as usize];
    let header: serde_json::Value = serde_json::from_slice(header).unwrap();
    assert_eq!(header["__metadata__"]["model_type"], "llama");
    assert_eq!(header["__metadata__"]["num_key_value_heads"], "2");
    let key = &header["model.layers.0.self_attn.k_proj.weight"];
    assert_eq!(key["shape"], json!([8, 16]));
    assert_eq!(key["dtype"], "F32");
}

#[test]
fn a_torn_file_of_weights_is_refused() {
    let folder = sandbox();
    let file = folder.arg("weights.bpk");
    train(&folder, 1, &format!("{CHAIN} --save-weights {file}")).success();
    let whole = fs::read(&file).unwrap();
    let torn = folder.file("torn.bpk", &whole[..whole.len() / 2]);
    train(&folder, 1, &format!("{CHAIN} --load-weights {torn}"))
        .refused(2, &["torn.bpk is no whole file of weights"]);
}

const LESSON: &str = include_str!("../files/saved.md");

#[test]
fn workbench_saves_weights_for_other_labs() {
    let folder = sandbox();
    let lesson = folder.file("saved.md", LESSON);
    let [file, into_nothing] =
        ["mine.safetensors", "none/mine.safetensors"].map(|name| folder.arg(name));
    let lines = format!(
        "save {file}\nrun\nsave {into_nothing}\nsave {file}\nsave {file}\nsave mine.pt\nsave\n"
    );
    let mut command = folder.command(&format!("open {lesson} --plain --device cpu"));
    let plain = type_in(&mut command, &lines);
    // Paths are longer than a line.
    let unbroken = |text: &str| text.split_whitespace().collect::<String>();
    let shown = unbroken(plain.success());
    for part in [
        "no run has left weights yet",
        "none: No such file",
        &format!("saved: {file} (mlp"),
        "there is such a file already; give another name",
        "must end in .bpk",
        "write save FILE",
    ] {
        assert!(shown.contains(&unbroken(part)), "{part}: {}", plain.out);
    }
    let prune = "lab prune-model --device cpu --json --set finetune_steps=0";
    let started = folder.run(&format!("{prune} --set model_from={file}")).json();
    assert_eq!(started["metrics"]["parameters"], 784 * 5 + 5 + 5 * 10 + 10);
    let recorded = folder.records()[0].join("network.safetensors");
    assert_eq!(fs::read(recorded).unwrap(), fs::read(&file).unwrap());
}

/// Trains a layer of neurons for a few steps; eight that read digits are a network of 6370 weights and biases.
fn train_network(folder: &Sandbox, dataset: &str, width: u32, more: &str) -> Ended {
    let sets = format!("--set dataset={dataset} --set width={width} --set samples=200");
    train(folder, 5, &format!("{sets} {more}"))
}

/// A run of a lab that starts from a network and changes nothing.
fn start(folder: &Sandbox, source: &str, more: &str) -> Ended {
    let prune = "lab prune-model --device cpu --json --set sparsity=0 --set finetune_steps=0";
    folder.run(&format!("{prune} --set model_from={source} {more}"))
}

#[test]
fn recorded_run_is_a_start_by_name_last_or_file() {
    let folder = sandbox();
    let other = train_network(&folder, "digits", 4, "").json();
    train_network(&folder, "digits", 8, "").success();
    let run = folder.records().pop().unwrap();
    let name = run.file_name().unwrap().to_str().unwrap();
    let file = run.join("network.safetensors").display().to_string();
    let found = start(&folder, name, "").json()["metrics"].clone();
    assert_eq!(found["parameters"], 6370);
    // Each run of the later lab is recorded too, and leaves no network.
    for source in ["last", &name[..name.len() - 1], &file, "last"] {
        let again = start(&folder, source, "").json();
        assert_eq!(again["metrics"]["accuracy_before"], found["accuracy_before"]);
        assert_eq!(again["params"]["model_from"], source);
    }
    let before = start(&folder, "last-1", "").json()["metrics"].clone();
    assert_eq!(before["parameters"], other["metrics"]["parameters"]);
    start(&folder, "last-2", "").refused(
        2,
        &["2 runs of a lab that leaves a network have been recorded: the first is 'last-1'"],
    );
    let itself = folder.records().pop().unwrap();
    start(&folder, itself.file_name().unwrap().to_str().unwrap(), "")
        .refused(2, &["model_from: ", "is one of lab prune-model, which leaves no network"]);
}
