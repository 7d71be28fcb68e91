//! Public configurations: the exact counts of their checkpoints, the labs that open with them, and files with mistakes.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use mlsys_lab::control::{Control, Limits};
use mlsys_lab::random::SplitMix64;
use mlsys_lab::{DeviceId, Lab, LabError, Params, Run, RunData, Settings, Tables, Value};
use mlsys_sim::model_config::{MAX_BYTES, Model, Part};

use crate::run::{lab, number};

/// Parameters as published with the checkpoints (safetensors metadata of the Hugging Face hub, model cards). Where an
/// output head is tied to the embedding it is counted once; DeepSeek-V3 is without its module for a second token.
const PUBLISHED: [(&str, u64); 31] = [
    ("gpt2", 124_439_808),
    ("opt-125m", 125_239_296),
    ("opt-350m", 331_196_416),
    ("pythia-6.9b", 6_857_302_016),
    ("tinyllama-1.1b", 1_100_048_384),
    ("llama-2-7b", 6_738_415_616),
    ("llama-3-8b", 8_030_261_248),
    ("llama-3-70b", 70_553_706_496),
    ("llama-3.1-405b", 405_853_388_800),
    ("llama-3.2-1b", 1_235_814_400),
    ("smollm2-135m", 134_515_008),
    ("mistral-7b", 7_241_732_096),
    ("mixtral-8x7b", 46_702_792_704),
    ("qwen2.5-0.5b", 494_032_768),
    ("qwen2.5-7b", 7_615_616_512),
    ("qwen2.5-72b", 72_706_203_648),
    ("qwen3-0.6b", 596_049_920),
    ("qwen3-8b", 8_190_735_360),
    ("qwen3-30b-a3b", 30_532_122_624),
    ("gemma-2b", 2_506_172_416),
    ("gemma-7b", 8_537_680_896),
    ("gemma-2-2b", 2_614_341_888),
    ("gemma-2-9b", 9_241_705_984),
    ("gemma-3-1b", 999_885_952),
    ("phi-3-mini-4k", 3_821_079_552),
    ("olmo-2-7b", 7_298_617_344),
    ("deepseek-v2-lite", 15_706_484_224),
    ("deepseek-v2", 235_741_434_880),
    ("deepseek-v3", 671_026_419_200),
    ("gpt-oss-20b", 20_914_757_184),
    ("gpt-oss-120b", 116_829_156_672),
];

fn file(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/labs/configs");
    fs::read(folder.join(format!("{name}.json"))).expect("a configuration")
}

fn model(name: &str) -> Model {
    let bytes = file(name);
    Model::read(&bytes).unwrap_or_else(|problems| panic!("{name}: {}", shown(&problems, &bytes)))
}

fn shown(problems: &[mlsys_sim::model_config::ConfigProblem], bytes: &[u8]) -> String {
    problems.iter().map(|problem| problem.shown(bytes)).collect::<Vec<_>>().join("\n")
}

/// A lab with the model of this name, as `mlsys lab KIND --model` runs it.
fn run_with(kind: &str, model: &Model, set: &[&str]) -> Result<RunData, LabError> {
    let lab: &dyn Lab = lab(kind);
    let tables = Tables::with("model", &model.entry("config.json")).expect("a new name");
    let set = set.iter().copied().chain(["model=config.json"]);
    let settings = Settings::from_pairs(set).expect("name=value");
    let params = Params::resolve(lab.schema(), &settings, &tables, None).expect("values that fit");
    let mut data = RunData::default();
    let control = Control::free(Limits::default(), Arc::default());
    lab.run(&mut Run { params, device: DeviceId::CPU, sink: &mut data, control })?;
    Ok(data)
}

#[test]
fn public_configurations_have_their_published_parameters() {
    for (name, published) in PUBLISHED {
        let model = model(name);
        assert_eq!(model.parameters, published, "{name}");
        let parts: u64 = Part::ALL.into_iter().map(|part| model.parameters_of(part)).sum();
        assert_eq!(parts, published, "{name}");
    }
    // Weights of the checkpoint's index without the additional module, and what one token uses of them: a published count
    // of matrices, and the corrections of 256 scores in 58 layers.
    let deepseek = model("deepseek-v3");
    let weights: u64 = deepseek.tensors.iter().map(|one| one.layers * one.experts).sum();
    assert_eq!((weights, deepseek.active), (45_395, 37_552_282_624 + 58 * 256));
    assert_eq!(model("mixtral-8x7b").active, 12_879_925_248);
}

#[test]
fn labs_count_the_model_of_a_configuration_exactly() {
    let mut counted = 0;
    for (name, published) in PUBLISHED {
        let model = model(name);
        match run_with("transformer-params", &model, &[]) {
            Ok(data) => {
                assert_eq!(data.metric("parameters"), Some(Value::Int(published as i64)), "{name}");
                counted += 1;
                let active = data.metric("active_parameters");
                let expected = model.config.experts.map(|_| Value::Int(model.active as i64));
                assert_eq!(active, expected, "{name}");
            }
            // Its embedding is narrower than its layers.
            Err(error) => assert!(name == "opt-350m" && error.to_string().contains("architecture")),
        }
        for tokens in [100, 100_000] {
            let set = format!("tokens={tokens}");
            let cache = run_with("kv-cache", &model, &[&set]).unwrap();
            let bytes = model.cache_bytes(tokens) as f64;
            assert_eq!(number(&cache, "bytes_per_sequence"), bytes, "{name} {tokens}");
        }
    }
    assert_eq!(counted, 30);
}

#[test]
fn flops_agree_with_the_lab_of_matrix_products() {
    let plain = ["gpt2", "llama-3-8b", "qwen2.5-0.5b", "gemma-7b", "pythia-6.9b"];
    let mixed = ["mixtral-8x7b", "qwen3-30b-a3b", "deepseek-v2-lite", "deepseek-v2", "deepseek-v3"];
    for name in plain.into_iter().chain(mixed) {
        let mut model = model(name);
        // The lab attends to all tokens.
        model.config.window = None;
        let flops = run_with("transformer-flops", &model, &["sequence=1000"]).unwrap();
        // The lab's attention covers every pair of tokens, a causal one half of them.
        let forward = number(&flops, "model_flops") / 3.0 / 1000.0;
        assert_eq!(forward, model.forward_flops(1000) as f64, "{name}");
        let causal = model.training_flops(1000) / 3.0;
        assert!(causal < forward && causal > 2.0 * model.multiplied() as f64, "{name}");
    }
}

#[test]
fn adapters_of_experts_are_counted_one_by_one() {
    let adapters = |name: &str, targets: &str| {
        let data = run_with("lora-params", &model(name), &["rank=2", targets]).unwrap();
        number(&data, "adapter_parameters")
    };
    let (all, attention) = ("targets=[\"q\", \"gate\"]", "targets=[\"q\"]");
    assert_eq!(adapters("mixtral-8x7b", attention), 32.0 * 2.0 * (4096.0 + 4096.0));
    let gates = adapters("mixtral-8x7b", all) - adapters("mixtral-8x7b", attention);
    assert_eq!(gates, 32.0 * 8.0 * 2.0 * (4096.0 + 14336.0));
    assert_eq!(adapters("llama-3-8b", all), 32.0 * 2.0 * (2.0 * 4096.0 + 4096.0 + 14336.0));
}

#[test]
fn training_counts_the_experts_that_a_token_passes() {
    let deepseek = model("deepseek-v3");
    let data = run_with("training-compute", &deepseek, &["tokens=14.8e12"]).unwrap();
    assert_eq!(number(&data, "flops"), 6.0 * deepseek.active as f64 * 14.8e12);
    let data = run_with("deepspeed-memory", &model("llama-3-8b"), &["stage=3"]).unwrap();
    let other = "largest_layer_parameters=1";
    let smaller = run_with("deepspeed-memory", &model("llama-3-8b"), &[other]).unwrap();
    // The table of words is the largest module, in 4 bytes.
    let more = number(&data, "largest_layer_bytes") - number(&smaller, "largest_layer_bytes");
    assert_eq!(more, 4.0 * (128_256.0 * 4096.0 - 1.0));
}

#[test]
fn the_language_model_of_several_is_read() {
    let text = r#"{ "model_type": "llava", "vision_config": { "hidden_size": 3 },
        "text_config": { "model_type": "llama", "vocab_size": 32064 } }"#;
    let inner = Model::read(text.as_bytes()).unwrap();
    assert_eq!(inner.parameters, 6_738_415_616 + 64 * 2 * 4096);
}

#[test]
fn every_problem_is_named_with_its_place_and_a_way_out() {
    let base = String::from_utf8(file("llama-3-8b")).unwrap();
    let edit = |from: &str, to: &str| {
        assert!(base.contains(from), "{from}");
        base.replace(from, to)
    };
    let cases = [
        (String::new(), vec!["EOF", "column 1"]),
        ("[1]".to_owned(), vec!["not a JSON object"]),
        ("{}".to_owned(), vec!["model_type is missing", "there are: gpt2, opt"]),
        (edit("\"llama\"", "\"lama\""), vec!["'lama' is not supported", "did you mean 'llama'?"]),
        (edit("\"llama\"", "\"mamba\""), vec!["'mamba' is not supported", "line 2, column 3"]),
        (edit("4096", "\"4096\""), vec!["hidden_size is \"4096\"", "line 3, column 3", "^^^"]),
        (edit("4096", "1e3"), vec!["hidden_size is 1000.0", "a whole number from 1"]),
        (edit("4096", "-1"), vec!["hidden_size is -1"]),
        (edit("4096", "99999999999999999999"), vec!["hidden_size is 1e+20"]),
        (edit("4096", "4095"), vec!["num_attention_heads is 32, which does not divide 4095"]),
        (
            edit("\"num_key_value_heads\": 8", "\"num_key_value_heads\": 7"),
            vec!["is 7, which does"],
        ),
        (edit("\"vocab_size\"", "\"words\""), vec!["vocab_size is missing", "add it to the file"]),
        (
            edit("\"vocab_size\"", "\"hidden_size\""),
            vec!["for the second time", "vocab_size is missing"],
        ),
        (edit("\"num_hidden_layers\": 32", "\"num_hidden_layers\": 70000"), vec!["1 to 65536"]),
        (edit("false", "0"), vec!["attention_bias is not a boolean", "tie_word_embeddings is not"]),
        (
            edit("4096", "0").replace("14336", "0"),
            vec!["hidden_size is 0", "intermediate_size is 0"],
        ),
        (
            edit("\"llama\"", "\"mixtral\""),
            vec!["num_local_experts is missing", "num_experts_per_tok is missing"],
        ),
        (
            ["hidden_size\": 4096", "vocab_size\": 128256", "intermediate_size\": 14336"]
                .iter()
                .fold(base.replace(": 32,", ": 65536,"), |text, field| {
                    let key = field.split(':').next().unwrap();
                    text.replace(field, &format!("{key}: 1073741824"))
                }),
            vec!["more than 2^63 parameters"],
        ),
    ];
    for (text, expected) in cases {
        let problems = Model::read(text.as_bytes()).expect_err(&text);
        let shown = shown(&problems, text.as_bytes());
        for part in expected {
            assert!(shown.contains(part), "{part} is not in\n{shown}");
        }
    }
    let experts = String::from_utf8(file("gpt-oss-20b")).unwrap();
    for (from, to, expected) in [
        ("\"num_experts_per_tok\": 4", "\"num_experts_per_tok\": 40", "there are 32 experts"),
        ("\"full_attention\",", "", "layer_types has 13 entries for 24 layers"),
        ("full_attention", "linear_attention", "another kind of attention"),
        ("\"sliding_window\": 128", "\"sliding_window\": null", "a window without a size"),
    ] {
        let text = experts.replace(from, to);
        let problems = Model::read(text.as_bytes()).expect_err(to);
        let shown = shown(&problems, text.as_bytes());
        assert!(shown.contains(expected), "{expected} is not in\n{shown}");
    }
}

#[test]
fn damaged_files_are_problems_and_never_panics() {
    let mut draw = SplitMix64(7);
    let mut next = |bound: usize| draw.below(bound);
    let odd: [&[u8]; 9] =
        [b"\"", b"{", b"}", b"\\", b"\xff", b"0", b"999999999999", b"null", "\u{feff}é".as_bytes()];
    for (name, _) in PUBLISHED {
        let bytes = file(name);
        for _ in 0..60 {
            let mut damaged = bytes.clone();
            for _ in 0..=next(3) {
                let at = next(damaged.len());
                match next(3) {
                    0 => damaged.truncate(at + 1),
                    1 => damaged[at] = next(256) as u8,
                    _ => drop(damaged.splice(at..at, odd[next(odd.len())].iter().copied())),
                }
            }
            match Model::read(&damaged) {
                Ok(model) => assert!(model.parameters > 0),
                Err(problems) => {
                    assert!(!problems.is_empty() && !shown(&problems, &damaged).is_empty());
                }
            }
        }
    }
    let large = vec![b' '; MAX_BYTES + 1];
    let problems = Model::read(&large).unwrap_err();
    assert!(shown(&problems, &large).contains("a few KB"));
    let repeated = format!("{{{}\"b\": 1}}", "\"a\": 1,".repeat(100_000));
    assert_eq!(Model::read(repeated.as_bytes()).unwrap_err().len(), 40);
    let nested = "[".repeat(MAX_BYTES);
    assert!(Model::read(nested.as_bytes()).is_err());
}
