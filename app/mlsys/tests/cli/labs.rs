//! Labs: run, listed and explained, refused.

use mlsys_harness::sandbox::Ended;
use serde_json::{Value, json};

use crate::sandbox;

#[test]
fn a_live_lab_takes_flags_and_is_deterministic() {
    let folder = sandbox();
    let run = |more: &str| {
        let line = format!("lab train --device cpu --json --set steps=3 --seed 7 {more}");
        folder.run(&line).json()
    };
    let (first, again, other) = (run(""), run(""), run("--set seed=8"));
    assert_eq!(first["device"], "cpu");
    assert_eq!((&first["seed"], &other["seed"]), (&7.into(), &8.into()));
    assert_eq!(first["series"]["loss"].as_array().map(Vec::len), Some(3));
    assert_eq!(first["series"]["loss"], again["series"]["loss"]);
    assert_ne!(first["series"]["loss"], other["series"]["loss"]);
}

/// Each run is a process of its own with one thread, so that nothing else allocates meanwhile.
#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn recomputation_saves_memory_not_losses() {
    let folder = sandbox();
    let run = |more: &str| {
        let sets = "--set dataset=chain --set model=transformer --set depth=4 --set batch_size=16 --set steps=2";
        let line = format!("lab train --json --device cpu {sets} {more}");
        let output = folder.command(&line).env("RAYON_NUM_THREADS", "1").output().unwrap();
        let metrics = Ended::new(output).json()["metrics"].clone();
        let bytes = |name: &str| metrics[name].as_f64().unwrap();
        (bytes("kept_bytes"), bytes("activation_bytes"), metrics["loss"].clone())
    };
    let (whole, counted, loss) = run("");
    let (elementwise, _, same) = run("--set recompute=true");
    let (blocks, _, again) = run("--set recompute=true --set recompute_unit=blocks");
    assert_eq!((&same, &again), (&loss, &loss));
    // Attention in one pass keeps no probabilities, which are counted.
    assert!(whole > 0.6 * counted && whole < 0.9 * counted, "{whole} {counted}");
    assert!(elementwise < whole, "{elementwise} {whole}");
    assert!(blocks < 0.15 * counted, "{blocks} {counted}");
}

#[test]
fn labs_are_listed_and_explained() {
    let folder = sandbox();
    let list = folder.run("lab list");
    for kind in ["train", "graph", "thread-index", "launch-geometry", "occupancy"] {
        assert!(list.success().lines().any(|line| line.starts_with(kind)), "{list:?}");
        folder.run(&format!("lab show {kind}")).printed(&["Parameters", "Source"]);
        let json = folder.run(&format!("lab show {kind} --json")).json();
        assert_eq!(json["kind"], kind);
        assert!(json["params"].as_array().is_some_and(|params| !params.is_empty()));
    }
    assert_eq!(folder.run("lab list --json").json()["labs"][0]["live"], true);
}

/// What shortens runs of live labs, as far as a lab has such a parameter.
const STEPS: [&str; 6] =
    ["steps", "baseline_steps", "finetune_steps", "teacher_steps", "training_steps", "evaluations"];

#[test]
fn every_preset_runs_is_shown_and_is_overridden_by_set() {
    let folder = sandbox();
    let list = folder.run("lab list --json").json();
    for lab in list["labs"].as_array().unwrap() {
        let kind = lab["kind"].as_str().unwrap();
        let about = folder.run(&format!("lab show {kind} --json")).json();
        let text = folder.run(&format!("lab show {kind}"));
        let is_live = lab["live"] == true;
        let params = about["params"].as_array().unwrap().iter();
        let short =
            params.filter(|param| is_live && STEPS.iter().any(|name| param["name"] == *name));
        let fewest = |param: &Value| param["min"].as_f64().map_or(2, |min| (min as i64).max(2));
        let shortened: Vec<(&str, i64)> =
            short.map(|param| (param["name"].as_str().unwrap(), fewest(param))).collect();
        for preset in about["presets"].as_array().unwrap() {
            let name = preset["name"].as_str().unwrap();
            text.printed(&[name]);
            let sets: String =
                shortened.iter().map(|(name, fewest)| format!(" --set {name}={fewest}")).collect();
            let device = if is_live { " --device cpu" } else { "" };
            let ended = folder.run(&format!("lab {kind} --preset {name} --json{sets}{device}"));
            if (kind, name) == ("graph", "not-a-number") {
                ended.refused(4, &["lab graph: node.b is not finite: log(a)"]);
                continue;
            }
            let found = ended.json();
            for (param, value) in preset["set"].as_object().unwrap() {
                let short = shortened.iter().find(|(name, _)| name == param);
                let expected = short.map_or(value.clone(), |(_, fewest)| json!(fewest));
                assert_eq!(found["params"][param], expected, "{kind} {name}");
            }
        }
    }
}

const SMALL: &str = "lab train --device cpu --set model=transformer --set width=16 --set context=8 --set batch_size=4 --set steps=3";

#[test]
fn transformer_trains_on_text_with_baselines() {
    let folder = sandbox();
    let json = folder.run(&format!("{SMALL} --set dataset=text --json")).json();
    let metric = |name: &str| json["metrics"][name].as_f64().unwrap();
    assert!(metric("bigram_entropy") < metric("unigram_entropy"));
    assert!(metric("bits_per_character") > metric("validation_loss"));
    assert!(metric("tokens_per_second") > 0.0);
    for absent in ["mfu", "exact_match", "loss_floor"] {
        assert!(json["metrics"][absent].is_null(), "{absent}");
    }
}

/// The metrics of a lab with these settings, apart by blanks.
fn metrics(lab: &str, sets: &str) -> Value {
    let sets: String = sets.split_whitespace().map(|set| format!(" --set {set}")).collect();
    let json = sandbox().run(&format!("lab {lab} --device cpu --json{sets}")).json();
    json["metrics"].clone()
}

#[test]
fn captured_transformer_matches_the_formulas() {
    // Width, depth, heads, key-value heads, feed-forward width, vocabulary, context, batch; the last: Llama 3 8B.
    for [width, depth, heads, kv_heads, ffn, vocab, context, batch] in [
        [32, 2, 4, 2, 88, 64, 32, 4],
        [24, 3, 6, 1, 40, 11, 7, 5],
        [4096, 32, 32, 8, 14336, 100_000, 2048, 2],
    ] {
        let shared = format!("heads={heads} kv_heads={kv_heads} ffn={ffn} vocab={vocab}");
        let recorded = metrics(
            "capture",
            &format!(
                "model=transformer width={width} depth={depth} context={context} batch_size={batch} {shared}"
            ),
        );
        let llama = format!("architecture=llama layers={depth} hidden={width} {shared}");
        let params = metrics("transformer-params", &llama);
        let work = format!("{llama} sequence={context} batch={batch}");
        let flops = metrics("transformer-flops", &work);
        for (found, by_formula) in [
            (&recorded["parameters"], &params["parameters"]),
            (&recorded["matmul_flops"], &flops["forward_flops"]),
        ] {
            assert!(found.is_number());
            assert_eq!(found.as_f64(), by_formula.as_f64(), "{width}");
        }
    }
}

#[test]
fn first_layer_has_the_intensity_of_its_product() {
    for batch in [1, 64, 512] {
        let recorded = metrics("capture", &format!("batch_size={batch}"));
        let product = metrics(
            "intensity",
            &format!("operation=matmul m={batch} n=512 k=784 bytes_per_element=4"),
        );
        let found = recorded["intensity.layer1"].as_f64().unwrap();
        let by_formula = product["intensity"].as_f64().unwrap();
        assert!((found / by_formula - 1.0).abs() < 1e-9, "{found} {by_formula}");
    }
}
