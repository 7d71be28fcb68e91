//! Weights and networks: saved, loaded, exchanged with other programs, and given from run to run.

use std::fs;

use crate::help::{Ended, Folder, records};
use crate::plain::type_in;

/// Trains something small for a few steps.
fn train(folder: &Folder, steps: &str, more: &[&str]) -> Ended {
    let steps = format!("steps={steps}");
    let mut arguments = vec!["lab", "train", "--device", "cpu", "--json", "--set", &steps];
    arguments.extend(more);
    folder.run(&arguments)
}

const CHAIN: [&str; 12] = [
    "--preset",
    "chain",
    "--set",
    "width=16",
    "--set",
    "depth=1",
    "--set",
    "samples=2000",
    "--set",
    "batch_size=4",
    "--set",
    "context=8",
];
const POINTS: [&str; 2] = ["--set", "width=4"];
const IMAGES: [&str; 10] = [
    "--set",
    "dataset=digits",
    "--set",
    "samples=200",
    "--set",
    "model=cnn",
    "--set",
    "width=2",
    "--set",
    "batch_size=4",
];

#[test]
fn a_run_goes_on_from_the_weights_of_another() {
    for network in [&CHAIN[..], &POINTS, &IMAGES] {
        let folder = Folder::new();
        let file = folder.path("weights.bpk").display().to_string();
        let before = train(&folder, "20", &[network, &["--save-weights", &file]].concat()).json();
        // Other random weights, and a step that changes nothing.
        let still =
            [network, &["--set", "initialization=xavier", "--set", "learning_rate=0"]].concat();
        let own = train(&folder, "1", &still).json();
        let loaded = train(&folder, "1", &[&still[..], &["--load-weights", &file]].concat());
        let loaded = loaded.json();
        let loss = "validation_loss";
        assert_eq!(loaded["metrics"][loss], before["metrics"][loss]);
        assert_ne!(loaded["metrics"][loss], own["metrics"][loss]);
    }
}

#[test]
fn other_programs_get_tensors_with_conventional_names() {
    let folder = Folder::new();
    let path = folder.path("chain.safetensors");
    let file = path.display().to_string();
    train(&folder, "2", &[&CHAIN[..], &["--save-weights", &file]].concat()).did();
    let bytes = fs::read(path).unwrap();
    let (length, rest) = bytes.split_first_chunk::<8>().unwrap();
    let header = &rest[..u64::from_le_bytes(*length) as usize];
    let header: serde_json::Value = serde_json::from_slice(header).unwrap();
    assert_eq!(header["__metadata__"]["model_type"], "llama");
    assert_eq!(header["__metadata__"]["num_key_value_heads"], "2");
    let key = &header["model.layers.0.self_attn.k_proj.weight"];
    assert_eq!(key["shape"], serde_json::json!([8, 16]));
    assert_eq!(key["dtype"], "F32");
}

#[test]
fn files_that_do_not_fit_are_refused_in_plain_sentences() {
    let folder = Folder::new();
    let path = folder.path("weights.bpk");
    let file = path.display().to_string();
    train(&folder, "1", &[&CHAIN[..], &["--save-weights", &file]].concat()).did();
    let load = |file: &str, more: &[&str]| {
        let arguments = [&CHAIN[..8], &["--load-weights", file], more].concat();
        train(&folder, "1", &arguments)
    };
    load(&file, &[]).did();
    load(&file, &["--set", "kv_heads=4"]).refused(
        2,
        &[
            "load_weights: ",
            "weights.bpk holds the weights of another network than this transformer (vocabulary 64, width 16,",
            "Transformer.blocks.0.attention.value is [16, 8] in the file, [16, 16] in this network",
        ],
    );
    load(&file, &["--set", "heads=2", "--set", "kv_heads=1"])
        .refused(2, &["4 heads and 2 kv_heads in the file"]);
    let whole = fs::read(&path).unwrap();
    let torn = folder.file("torn.bpk", &whole[..whole.len() / 2]);
    load(&torn, &[]).refused(2, &["torn.bpk is no whole file of weights"]);
    let foreign = folder.file("foreign.bpk", "not at all\n");
    load(&foreign, &[]).refused(2, &["foreign.bpk is no whole file of weights"]);
    let none = folder.path("none.bpk").display().to_string();
    load(&none, &[]).refused(2, &["none.bpk"]);
    let theirs = folder.file("a.safetensors", "");
    load(&theirs, &[]).refused(2, &["a.safetensors is no whole file of weights"]);
}

#[test]
fn where_nothing_can_be_written_no_run_begins() {
    let folder = Folder::new();
    let path = |name: &str| folder.path(name).display().to_string();
    let save = |file: &str| train(&folder, "1", &["--save-weights", file]);
    save(&path("weights.pt")).refused(2, &["save_weights: ", "must end in .bpk"]);
    save(&path("none/weights.bpk")).refused(2, &["save_weights: ", "none"]);
    folder.run(&["lab", "graph", "--save-weights", &path("a.bpk")]).refused(2, &["'save_weights'"]);
}

#[test]
fn what_diverged_does_not_replace_what_was_saved() {
    let folder = Folder::new();
    let file = folder.file("weights.bpk", "good");
    train(&folder, "400", &["--preset", "diverging", "--save-weights", &file])
        .refused(4, &["weights.bpk: no weights were saved, because"]);
    assert_eq!(fs::read(file).unwrap(), b"good");
}

const LESSON: &str = r#"+++
format = 1
id = "systems/saved"
title = "A network to keep"
minutes = 5
teaches = ["loss"]
seed = 1
+++
# A network to keep

```{lab} run
kind = "train"
set = { dataset = "digits", width = 5, samples = 300, batch_size = 20, steps = 20 }
[knob.learning_rate]
```
"#;

#[test]
fn workbench_saves_weights_for_other_labs() {
    let folder = Folder::new();
    let lesson = folder.file("saved.md", LESSON);
    let file = folder.path("mine.safetensors").display().to_string();
    let into_nothing = folder.path("none/mine.safetensors").display().to_string();
    let lines = format!(
        "save {file}\nrun\nsave {into_nothing}\nsave {file}\nsave {file}\nsave mine.pt\nsave\n"
    );
    let plain = type_in(&folder, &["open", &lesson, "--plain", "--device", "cpu"], &lines);
    // Paths are longer than a line.
    let unbroken = |text: &str| text.split_whitespace().collect::<String>();
    let said = unbroken(plain.did());
    for part in [
        "no run has left weights yet",
        "none: No such file",
        &format!("saved: {file} (mlp"),
        "there is such a file already; give another name",
        "must end in .bpk",
        "write save FILE",
    ] {
        assert!(said.contains(&unbroken(part)), "{part}: {}", plain.out);
    }
    let from = format!("model_from={file}");
    let prune = ["lab", "prune-model", "--device", "cpu", "--json"];
    let set = ["--set", "finetune_steps=0", "--set", &from];
    let started = folder.run(&[&prune[..], &set].concat()).json();
    assert_eq!(started["metrics"]["parameters"], 784 * 5 + 5 + 5 * 10 + 10);
    let saved = fs::read(&file).unwrap();
    let runs = records(&folder.path("data"));
    let recorded = runs[0].join("network.safetensors");
    assert_eq!(fs::read(recorded).unwrap(), saved);
}

/// Trains a layer of neurons for a few steps; eight that read digits are a network of 6370 weights and biases.
fn train_network(folder: &Folder, dataset: &str, width: u32, more: &[&str]) -> Ended {
    let mut arguments = vec!["lab", "train", "--device", "cpu", "--json"];
    let (dataset, width) = (format!("dataset={dataset}"), format!("width={width}"));
    for set in [&dataset, &width, "samples=200", "steps=5"] {
        arguments.extend(["--set", set]);
    }
    arguments.extend(more);
    folder.run(&arguments)
}

/// A run of a lab that starts from a network and changes nothing.
fn start(folder: &Folder, source: &str, more: &[&str]) -> Ended {
    let source = format!("model_from={source}");
    let prune = [
        "lab",
        "prune-model",
        "--device",
        "cpu",
        "--json",
        "--set",
        "sparsity=0",
        "--set",
        "finetune_steps=0",
        "--set",
        &source,
    ];
    folder.run(&[&prune[..], more].concat())
}

#[test]
fn recorded_run_is_a_start_by_name_last_or_file() {
    let folder = Folder::new();
    let other = train_network(&folder, "digits", 4, &[]).json();
    train_network(&folder, "digits", 8, &[]).did();
    let run = records(&folder.path("data")).pop().unwrap();
    let name = run.file_name().unwrap().to_str().unwrap();
    let file = run.join("network.safetensors").display().to_string();
    let found = start(&folder, name, &[]).json()["metrics"].clone();
    assert_eq!(found["parameters"], 6370);
    // Each run of the later lab is recorded too, and leaves no network.
    for source in ["last", &name[..name.len() - 1], &file, "last"] {
        let again = start(&folder, source, &[]).json();
        assert_eq!(again["metrics"]["accuracy_before"], found["accuracy_before"]);
        assert_eq!(again["params"]["model_from"], source);
    }
    let before = start(&folder, "last-1", &[]).json()["metrics"].clone();
    assert_eq!(before["parameters"], other["metrics"]["parameters"]);
    start(&folder, "last-2", &[]).refused(
        2,
        &["2 runs of a lab that leaves a network have been recorded: the first is 'last-1'"],
    );
}

#[test]
fn saved_weights_set_the_sizes_of_the_lab() {
    let folder = Folder::new();
    let file = folder.path("eight.safetensors").display().to_string();
    train_network(&folder, "digits", 8, &["--save-weights", &file]).did();
    let found = start(&folder, &file, &[]).json();
    assert_eq!(found["metrics"]["parameters"], 6370);
    start(&folder, &file, &["--set", "width=9"])
        .refused(2, &["model_from: the network of '", "width is 8 there, 9 here"]);
    start(&folder, &file, &["--set", "model=cnn"]).refused(2, &["model is mlp there, cnn here"]);
}

#[test]
fn what_is_no_network_of_this_lab_is_refused_with_the_reason() {
    let folder = Folder::new();
    let refused = |source: &str, said: &[&str]| {
        start(&folder, source, &[]).refused(2, &[&["model_from: "], said].concat());
    };
    refused("last", &["no run of a lab that leaves a network has been recorded"]);
    let path = |name: &str| folder.path(name).display().to_string();
    refused(&path("none.safetensors"), &["none.safetensors: No such file"]);
    let junk = folder.file("junk.safetensors", "abc");
    refused(&junk, &["is no whole file of a network"]);

    train_network(&folder, "digits", 8, &["--save-weights", &path("eight.bpk")]).did();
    refused(
        &path("eight.bpk"),
        &[
            "eight.bpk' holds the weights of another network",
            "is [784, 8] in the file, [784, 128] in this network",
        ],
    );
    refused("2001-01-01-train", &["'2001-01-01-train'", "there is no run"]);
    refused("lsat", &["did you mean 'last'?"]);

    train_network(&folder, "spiral", 8, &[]).did();
    refused("last", &["dataset is spiral there, digits here"]);
    train_network(&folder, "digits", 8, &["--set", "optimizer=sgd", "--set", "learning_rate=10"])
        .did();
    refused("last", &["diverged at step", "left no network"]);
    let itself = records(&folder.path("data")).pop().unwrap();
    let name = itself.file_name().unwrap().to_str().unwrap();
    refused(name, &["is one of lab prune-model, which leaves no network"]);
}
