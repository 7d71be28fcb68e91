//! Trained networks that a lab starts from: what may be written for `model_from`, and what is said of the rest.

use crate::help::{Ended, Folder, records};

/// Trains a layer of neurons for a few steps; eight that read digits are a network of 6370 weights and biases.
fn train(folder: &Folder, dataset: &str, width: u32, more: &[&str]) -> Ended {
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
fn a_recorded_run_is_started_from_by_its_name_or_as_the_last_or_by_its_file() {
    let folder = Folder::new();
    let other = train(&folder, "digits", 4, &[]).json();
    train(&folder, "digits", 8, &[]).did();
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
fn saved_weights_say_what_they_are_and_the_lab_follows_their_sizes() {
    let folder = Folder::new();
    let file = folder.path("eight.safetensors").display().to_string();
    train(&folder, "digits", 8, &["--save-weights", &file]).did();
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

    train(&folder, "digits", 8, &["--save-weights", &path("eight.bpk")]).did();
    refused(
        &path("eight.bpk"),
        &[
            "eight.bpk' holds the weights of another network",
            "is [784, 8] in the file, [784, 128] in this network",
        ],
    );
    refused("2001-01-01-train", &["'2001-01-01-train'", "there is no run"]);
    refused("lsat", &["did you mean 'last'?"]);

    train(&folder, "spiral", 8, &[]).did();
    refused("last", &["dataset is spiral there, digits here"]);
    train(&folder, "digits", 8, &["--set", "optimizer=sgd", "--set", "learning_rate=10"]).did();
    refused("last", &["diverged at step", "left no network"]);
    let itself = records(&folder.path("data")).pop().unwrap();
    let name = itself.file_name().unwrap().to_str().unwrap();
    refused(name, &["is one of lab prune-model, which leaves no network"]);
}
