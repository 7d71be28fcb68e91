//! Model folders of other programs: what they compute is in `models/*/expected.json`, which `models/make.py` made.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::*;
use crate::baseline::{Recipe, Trained};
use crate::data::{Vocabulary, tokenizer};
use crate::test_folder::TestFolder;
use crate::weights::llama::{pack, unpack};

fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/weights/tests/models")
}

fn expected(name: &str) -> Json {
    let text = fs::read_to_string(models().join(name).join("expected.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn read(folder: &Path) -> Trained {
    unpack(&pack(folder).unwrap()).unwrap_or_else(|error| panic!("{error:?}"))
}

/// Why a folder cannot be read, a line each.
fn problems(folder: &Path) -> String {
    match pack(folder) {
        Err(problems) => problems.join("\n"),
        Ok(packed) => match unpack(&packed) {
            Err(DecodeError::Unfit(lines) | DecodeError::Misfit(lines)) => lines.join("\n"),
            Err(DecodeError::Foreign(reason)) => reason,
            Ok(_) => panic!("{} was read", folder.display()),
        },
    }
}

fn floats(json: &Json) -> Vec<f64> {
    json.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn tokens(json: &Json) -> Vec<i32> {
    json.as_array().unwrap().iter().map(|x| x.as_i64().unwrap() as i32).collect()
}

/// The scores of every token of a sequence, a row each.
fn scores(trained: &Trained, tokens: &[i32]) -> Vec<Vec<f64>> {
    let device = Device::flex();
    let Network::Transformer(network) = trained.network(&device) else { panic!("a transformer") };
    let data = TensorData::new(tokens.to_vec(), [1, tokens.len()]);
    let logits = network.forward(Tensor::<2, Int>::from_data(data, &device));
    let [_, _, vocab] = logits.dims();
    let numbers: Vec<f64> = logits.into_data().iter::<f64>().collect();
    numbers.chunks(vocab).map(<[f64]>::to_vec).collect()
}

#[test]
fn scores_are_those_of_the_definition() {
    // Grouped heads with a width of their own in two files of bf16, a tied head in f16, and f32; other bases and epsilons.
    for (name, vocab) in [("grouped", 37), ("tied", 300), ("template", 300)] {
        let trained = read(&models().join(name));
        let expected = expected(name);
        let scores = scores(&trained, &tokens(&expected["tokens"]));
        let last = floats(&expected["last"]);
        assert_eq!((last.len(), scores.len()), (vocab, 9), "{name}");
        let of =
            |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let sums: Vec<f64> = scores.iter().map(|row| row.iter().sum()).collect();
        let (off, of_sums) = (of(&scores[8], &last), of(&sums, &floats(&expected["sums"])));
        assert!(off < 1e-4 && of_sums < 1e-3, "{name}: {off:e}, {of_sums:e}");
    }
}

#[test]
fn scaled_positions_give_the_scores_of_the_definition_and_are_saved() {
    let (_kept, folder) = copy("grouped");
    let expected = expected("grouped");
    let scaled = expected["scaled"].as_array().unwrap();
    assert_eq!(scaled.len(), 3);
    for one in scaled {
        edit(&folder, &[("rope_scaling", one["rope_scaling"].clone())]);
        let mut trained = read(&folder);
        let own = scores(&trained, &tokens(&expected["tokens"]));
        let last = own[8].iter().zip(floats(&one["last"]));
        let off = last.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-4, "{one}: {off:e}");
        // Between labs, and in the file for other programs.
        let Architecture::Transformer(config) = &trained.architecture else {
            panic!("a transformer")
        };
        // A chain of as many symbols, because a record does not keep the words of another tokenizer.
        trained.data = DataConfig { symbols: 37, ..DataConfig::new(Dataset::Chain, 1) };
        let artifact = trained.artifact(None).unwrap();
        let again = Trained::parse(&artifact.bytes).unwrap();
        assert_eq!(again.architecture, trained.architecture);
        let saved = hugging_face::sizes(config);
        let saved = saved.iter().find(|(name, _)| *name == "rope_scaling").unwrap();
        assert_eq!(saved.1["rope_type"], one["rope_scaling"]["rope_type"]);
    }
}

#[test]
fn bases_and_epsilons_change_the_scores() {
    let (_kept, folder) = copy("grouped");
    let given = tokens(&expected("grouped")["tokens"]);
    let before = scores(&read(&folder), &given);
    for (from, to) in [("500000.0", "10000.0"), ("0.001", "1e-5")] {
        let path = folder.join("config.json");
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(&path, text.replace(from, to)).unwrap();
        let after = scores(&read(&folder), &given);
        let off = before[8].iter().zip(&after[8]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off > 1e-3, "{from}: {off:e}");
        fs::write(&path, text).unwrap();
    }
}

#[test]
fn texts_become_the_tokens_of_their_own_tokenizer() {
    for name in ["tied", "template"] {
        let trained = read(&models().join(name));
        let vocabulary: &Vocabulary = trained.data.tokenizer.as_ref().unwrap();
        for one in expected(name)["texts"].as_array().unwrap() {
            let text = one["text"].as_str().unwrap();
            let own = vocabulary.tokens(text);
            let all = [vocabulary.first(), &own].concat();
            assert_eq!(all, tokens(&one["tokens"]), "{name} {text:?}");
            assert_eq!(vocabulary.text(&own), text, "{name}");
        }
        let data = trained.data().unwrap();
        assert!(data.language.unwrap().bigram_entropy.is_finite());
    }
    let without = read(&models().join("grouped"));
    let error = without.data().unwrap_err().to_string();
    assert!(error.contains("no tokenizer.json"), "{error}");
}

/// A copy of a folder, to be damaged.
fn copy(name: &str) -> (TestFolder, PathBuf) {
    let folder = TestFolder::new();
    let path = folder.path("model");
    fs::create_dir_all(&path).unwrap();
    for entry in fs::read_dir(models().join(name)).unwrap() {
        let file = entry.unwrap().path();
        fs::copy(&file, path.join(file.file_name().unwrap())).unwrap();
    }
    (folder, path)
}

fn edit(folder: &Path, changes: &[(&str, Json)]) {
    let path = folder.join("config.json");
    let mut config: BTreeMap<String, Json> =
        serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    config.extend(changes.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
    fs::write(path, json!(config).to_string()).unwrap();
}

/// Entries of the configuration that are changed, and what the refusal names.
type Case<'a> = (&'a [(&'a str, Json)], &'a [&'a str]);

#[test]
fn a_config_that_does_not_run_says_all_that_is_wrong() {
    let cases: [Case; 12] = [
        (&[("model_type", json!("olmo2"))], &["model_type is olmo2", "only llama"]),
        (&[("model_type", json!("lama"))], &["model_type 'lama'", "did you mean 'llama'?"]),
        (
            &[("hidden_act", json!("gelu")), ("mlp_bias", json!(true))],
            &["hidden_act is gelu", "mlp_bias is true"],
        ),
        (
            &[("mlp_bias", json!("no")), ("vocab_size", json!("7"))],
            &["mlp_bias is not a boolean", "vocab_size is \"7\""],
        ),
        (&[("num_attention_heads", json!(0))], &["num_attention_heads is 0"]),
        (&[("num_hidden_layers", json!(1e18))], &["num_hidden_layers is 1e+18"]),
        (
            &[("hidden_size", json!(-4)), ("rope_theta", json!(0))],
            &["hidden_size is -4", "rope_theta is 0"],
        ),
        (
            &[("num_hidden_layers", json!(1 << 16)), ("hidden_size", json!(1 << 20))],
            &["parameters; at most"],
        ),
        (
            &[("rope_scaling", json!({ "rope_type": "longrope" }))],
            &["rotary positions are scaled (longrope)"],
        ),
        (
            &[("rope_scaling", json!({ "rope_type": "llama3", "factor": 8 }))],
            &["llama3 scaling of rotary positions needs low_freq_factor"],
        ),
        (
            &[("num_key_value_heads", json!(4))],
            &["num_key_value_heads is 4, which does not divide"],
        ),
        (
            &[("num_hidden_layers", json!(3)), ("vocab_size", json!(36))],
            &[
                "layers.2.mlp.up_proj.weight is not in",
                "embed_tokens.weight is [37, 24] in the file, [36, 24]",
            ],
        ),
    ];
    let (_kept, folder) = copy("grouped");
    let good = fs::read(folder.join("config.json")).unwrap();
    for (changes, said) in cases {
        edit(&folder, changes);
        let found = problems(&folder);
        for part in said {
            assert!(found.contains(part), "{part} is not in\n{found}");
        }
        fs::write(folder.join("config.json"), &good).unwrap();
    }
    for text in ["", "[]", "{\"model_type\": \"llama\"", "\u{0}"] {
        fs::write(folder.join("config.json"), text).unwrap();
        assert!(problems(&folder).starts_with("config.json: "));
    }
}

#[test]
fn damaged_folders_are_problems_and_never_panics() {
    let (_kept, folder) = copy("tied");
    let weights = folder.join("model.safetensors");
    let whole = fs::read(&weights).unwrap();
    let long = (1_u64 << 63).to_le_bytes();
    for bytes in [&whole[..whole.len() - 1], &whole[..4], &[], &[&long, &whole[8..]].concat()] {
        fs::write(&weights, bytes).unwrap();
        assert!(problems(&folder).starts_with("model.safetensors: "), "{}", problems(&folder));
    }
    fs::write(&weights, &whole).unwrap();
    for (text, said) in [
        ("{", "does not read as JSON"),
        ("{}", "without a model"),
        (r#"{"model": {"type": "Unigram", "vocab": {}}}"#, "a Unigram"),
        (r#"{"model": {"type": "BPE", "vocab": {"a": 300}}}"#, "has token 300"),
        (
            r#"{"model": {"vocab": {"a": 0}, "merges": ["a b"]}, "pre_tokenizer": {"type": "Metaspace"}}"#,
            "Metaspace",
        ),
    ] {
        fs::write(folder.join("tokenizer.json"), text).unwrap();
        assert!(problems(&folder).contains(said), "{text}: {}", problems(&folder));
    }
    fs::remove_file(&weights).unwrap();
    fs::remove_file(folder.join("config.json")).unwrap();
    let none = problems(&folder);
    assert!(
        none.contains("config.json: ") && none.contains("there is no model.safetensors"),
        "{none}"
    );
    // An index that leads out of the folder.
    let index = json!({ "weight_map": { "a": "../model.safetensors" } }).to_string();
    fs::write(folder.join("model.safetensors.index.json"), index).unwrap();
    assert!(problems(&folder).contains("no .safetensors file of its folder"));
    // A folder in place of a file.
    fs::create_dir(&weights).unwrap();
    assert!(problems(&folder).contains("model.safetensors: it is not a file"));
    assert!(unpack(&[]).is_err() && unpack(&long).is_err());
}

#[test]
fn saved_folders_are_read_back_as_they_were() {
    let folder = TestFolder::new();
    for dataset in [Dataset::Chain, Dataset::Sums, Dataset::Text] {
        let sizes = Sizes { width: 8, heads: 2, kv_heads: 1, ..Sizes::default() };
        let recipe = Recipe::tokens(dataset, sizes, 1, 3).unwrap();
        let network = made(&recipe.architecture, 1);
        let trained = Trained { data: recipe.data, ..trained(&network, &recipe.architecture) };
        let path = folder.path(&format!("{dataset}/"));
        crate::weights::save(&trained, &path).unwrap();
        assert_eq!(read(&path), trained, "{dataset}");
        // Without what mlsys says of it the tokenizer is there all the same.
        let json = fs::read(path.join("tokenizer.json")).unwrap();
        let names = trained.data().unwrap().language.unwrap().vocabulary;
        assert_eq!(tokenizer::read(&json, names.len()), Ok(names), "{dataset}");
    }
}
