//! Weights written and read back, and files that are not theirs.

use std::fs;
use std::path::Path;

use burn::tensor::{Device, Int, Tensor, TensorData};

use super::*;
use crate::baseline::Sizes;
use crate::data::{DataConfig, Dataset};
use crate::networks::{
    Activation, CnnConfig, Initialization, Inputs, MlpConfig, TransformerConfig,
};
use crate::test_folder::TestFolder;

mod exchange;
mod folders;

fn trained(network: &Network, architecture: &Architecture) -> Trained {
    Trained {
        architecture: architecture.clone(),
        activation: Activation::Relu,
        data: DataConfig::new(Dataset::Spiral, 0),
        steps: 1,
        weights: flat_params::weights(network).unwrap(),
    }
}

fn save(network: &Network, architecture: &Architecture, path: &Path) -> Result<(), WeightsError> {
    super::save(&trained(network, architecture), path)
}

fn llama(width: usize, heads: usize, kv_heads: usize) -> Architecture {
    let sizes = Sizes { width, heads, kv_heads, context: 7, ..Sizes::default() };
    Architecture::Transformer(sizes.config(11))
}

fn mlp(hidden: &[usize]) -> Architecture {
    Architecture::Mlp(MlpConfig { inputs: 3, hidden: hidden.to_vec(), outputs: 2 })
}

fn cnn() -> Architecture {
    Architecture::Cnn(CnnConfig { edge: 8, width: 2, depth: 2, outputs: 3 })
}

fn made(architecture: &Architecture, seed: u64) -> Network {
    architecture.init(Initialization::He, seed, &Device::flex())
}

fn inputs(architecture: &Architecture, device: &Device) -> Inputs {
    let features = match architecture {
        Architecture::Mlp(config) => config.inputs,
        Architecture::Cnn(config) => config.edge * config.edge,
        Architecture::Filters(config) => config.edge * config.edge,
        Architecture::Transformer(_) => {
            let tokens = TensorData::from([[3, 1, 4, 1, 5, 9, 2], [6, 5, 3, 5, 10, 0, 7]]);
            return Tensor::<2, Int>::from_data(tokens, device).into();
        }
    };
    let numbers: Vec<f32> = (0..2 * features).map(|i| (i as f32).sin()).collect();
    Tensor::<2>::from_data(TensorData::new(numbers, [2, features]), device).into()
}

fn answers(network: &Network, architecture: &Architecture) -> TensorData {
    let inputs = inputs(architecture, &Device::flex());
    network.forward(inputs, Activation::Tanh).into_data()
}

fn refusal(architecture: &Architecture, path: &Path) -> String {
    let loaded = load(made(architecture, 2), architecture, path);
    loaded.err().unwrap().to_string()
}

#[test]
fn weights_come_back_bit_for_bit() {
    let folder = TestFolder::new();
    for (index, architecture) in [llama(16, 4, 2), mlp(&[5, 4]), cnn()].iter().enumerate() {
        for ending in ["bpk", "safetensors"] {
            let path = folder.path(&format!("{index}.{ending}"));
            let (first, other) = (made(architecture, 1), made(architecture, 2));
            save(&first, architecture, &path).unwrap();
            let loaded = load(other.clone(), architecture, &path).unwrap();
            let [first, other, loaded] = [first, other, loaded].map(|n| answers(&n, architecture));
            assert_eq!(loaded, first);
            assert_ne!(loaded, other);
        }
    }
}

#[test]
fn loaded_weights_are_trained_like_any() {
    let folder = TestFolder::new();
    let (path, architecture) = (folder.path("a.bpk"), llama(16, 4, 2));
    save(&made(&architecture, 1), &architecture, &path).unwrap();
    let device = Device::flex().autodiff();
    let loaded = architecture.init(Initialization::He, 2, &device);
    let loaded = load(loaded, &architecture, &path).unwrap();
    let logits = loaded.forward(inputs(&architecture, &device), Activation::Tanh);
    let gradients = logits.sum().backward();
    let Network::Transformer(transformer) = &loaded else { panic!("another network") };
    assert!(transformer.embedding.val().grad(&gradients).is_some());
    assert!(transformer.blocks[1].mlp.up.val().grad(&gradients).is_some());
}

#[test]
fn mismatched_weights_list_every_difference() {
    let folder = TestFolder::new();
    let saved = llama(16, 4, 2);
    for name in ["a.bpk", "a.safetensors"] {
        save(&made(&saved, 1), &saved, &folder.path(name)).unwrap();
    }
    let deep = |depth| {
        let Architecture::Transformer(config) = llama(16, 4, 2) else { panic!("another network") };
        Architecture::Transformer(TransformerConfig { depth, ..config })
    };
    let network = "holds the weights of another network than this transformer (vocabulary 11, width 32, depth 2,";
    let narrow = [
        network,
        "\n  Transformer.embedding is [11, 16] in the file, [11, 32] in this network",
        "\n  Transformer.blocks.0.attention.key is [16, 8] in the file, [32, 16] in this network",
        "\n  and 9 more",
    ];
    let other_kind = [
        "this mlp (3-5-2)",
        "Mlp.layers.0.weight is not in the file",
        "Transformer.blocks.0.attention.key is in the file alone",
    ];
    let heads = "4 heads and 2 kv_heads in the file, 2 heads and 1 kv_heads in this network";
    let narrow_llama = [
        network,
        "\n  model.embed_tokens.weight is [11, 16] in the file, [11, 32] in this network",
        "\n  model.layers.0.self_attn.k_proj.weight is [8, 16] in the file, [16, 32] in this network",
        "\n  and 9 more",
    ];
    let other_file = ["layers.0.weight is not in the file", "lm_head.weight is in the file alone"];
    for (name, architecture, parts) in [
        ("a.bpk", llama(32, 4, 2), &narrow[..]),
        ("a.bpk", deep(3), &["blocks.2.mlp.down is not in the file"]),
        ("a.bpk", deep(1), &["blocks.1.attention.key is in the file alone"]),
        ("a.bpk", mlp(&[5]), &other_kind),
        ("a.bpk", llama(16, 2, 1), &[heads]),
        ("a.safetensors", llama(32, 4, 2), &narrow_llama),
        ("a.safetensors", mlp(&[5]), &other_file),
        (
            "a.safetensors",
            llama(16, 2, 1),
            &["num_attention_heads is 4 in the file, 2 in this network"],
        ),
    ] {
        let message = refusal(&architecture, &folder.path(name));
        for part in parts {
            assert!(message.contains(part), "'{part}' is missing in {message}");
        }
    }
    assert!(!refusal(&deep(3), &folder.path("a.bpk")).contains("blocks.1"));
}

#[test]
fn oversized_headers_are_refused_before_allocation() {
    let folder = TestFolder::new();
    let path = folder.path("a.safetensors");
    let file = |length: u64, header: &str| {
        let bytes = [&length.to_le_bytes(), header.as_bytes()].concat();
        fs::write(&path, bytes).unwrap();
        refusal(&mlp(&[5]), &path)
    };
    let tensor = |shape: &str, end: u64| {
        let header = format!(
            "{{\"layers.0.weight\":{{\"dtype\":\"F32\",\"shape\":{shape},\"data_offsets\":[0,{end}]}}}}"
        );
        file(header.len() as u64, &header)
    };
    for message in [
        file(u64::MAX, "{}"),
        file(99_999_999, "{}"),
        file(2, "[]"),
        tensor("[1000000,1000000]", 4_000_000_000_000),
        tensor("[18446744073709551615,2]", 8),
        tensor("[5,3]", 60),
    ] {
        assert!(message.contains("is no whole file of weights"), "{message}");
    }
}

#[test]
fn truncated_weight_files_are_refused() {
    let (folder, architecture) = (TestFolder::new(), mlp(&[5]));
    for path in ["bpk", "safetensors"].map(|ending| folder.path(&format!("torn.{ending}"))) {
        save(&made(&architecture, 1), &architecture, &path).unwrap();
        let whole = fs::read(&path).unwrap();
        let torn = (0..whole.len()).map(|length| whole[..length].to_vec());
        let foreign = [b"PK\x03\x04 something else".to_vec(), vec![0; 4096], b"\xff".repeat(999)];
        for bytes in torn.chain(foreign) {
            fs::write(&path, bytes).unwrap();
            let message = refusal(&architecture, &path);
            assert!(message.contains(" is no whole file of weights"), "{message}");
        }
        // A byte that is another: refused or read as other numbers, never a panic.
        for place in 0..whole.len() {
            let mut other = whole.clone();
            other[place] ^= 0x55;
            fs::write(&path, other).unwrap();
            let _ = load(made(&architecture, 2), &architecture, &path);
        }
    }
}

#[test]
fn invalid_paths_are_refused_before_a_run() {
    let folder = TestFolder::new();
    fs::create_dir(folder.path("folder.bpk")).unwrap();
    // A path that not even root can write to.
    fs::create_dir(folder.path("b.bpk.partial")).unwrap();
    for (name, reason) in [
        ("a.bpk", None),
        ("a.safetensors", None),
        ("a.pt", Some("must end in .bpk")),
        ("a", Some("must end in .bpk")),
        ("none/a.bpk", Some("none")),
        ("folder.bpk", Some("folder.bpk: is a directory")),
        ("b.bpk", Some("b.bpk: ")),
    ] {
        match (can_save(&folder.path(name)), reason) {
            (Ok(()), None) => {}
            (Err(error), Some(reason)) => assert!(error.to_string().contains(reason), "{error}"),
            (found, _) => panic!("{name}: {found:?}"),
        }
    }
    assert!(can_save(Path::new("a.bpk")).is_ok());
    // Asking leaves nothing behind, and saving leaves the file alone.
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
    for _ in 0..2 {
        save(&made(&mlp(&[]), 1), &mlp(&[]), &folder.path("a.bpk")).unwrap();
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 3);
    let message = refusal(&mlp(&[]), &folder.path("none.bpk"));
    assert!(message.contains("none.bpk"), "{message}");
}

#[test]
fn artifacts_are_saved_without_overwriting() {
    let folder = TestFolder::new();
    let learned = DataConfig::new(Dataset::Spiral, 0);
    let spiral = Architecture::Mlp(MlpConfig {
        inputs: learned.features(),
        hidden: vec![3],
        outputs: learned.classes().unwrap(),
    });
    let mut trained = trained(&made(&spiral, 1), &spiral);
    let left = trained.artifact(None).unwrap();
    for name in ["a.bpk", "a.safetensors"] {
        let path = folder.path(name);
        save_artifact(&left, &path).unwrap();
        let read = load(made(&spiral, 2), &spiral, &path).unwrap();
        assert_eq!(flat_params::weights(&read).unwrap(), trained.weights, "{name}");
        let before = fs::read(&path).unwrap();
        let message = save_artifact(&left, &path).unwrap_err().to_string();
        assert!(message.ends_with("give another name"), "{message}");
        assert_eq!(fs::read(&path).unwrap(), before);
    }
    let written = fs::read(folder.path("a.safetensors")).unwrap();
    assert_eq!(written, left.bytes);
    trained.weights[0] = f32::NAN;
    let broken = trained.artifact(None).unwrap();
    assert!(save_artifact(&broken, &folder.path("b.bpk")).is_err());
    assert!(save_artifact(&left, &folder.path("none/a.bpk")).is_err());
}
