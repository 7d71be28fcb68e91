//! Labs: run, listed and explained, refused.

use serde_json::Value;

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
fn metrics_are_printed_in_columns() {
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
    // With the interpreter too, a missing device is only a notice.
    let both = ["execution=both", "elements=4"];
    assert_eq!(kernel(twice, &both).json()["device"], "cpu");
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

/// Each run is a process of its own, so that no other test allocates meanwhile.
#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn recomputation_saves_memory_not_losses() {
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

#[test]
fn labs_are_listed_and_explained() {
    let folder = Folder::new();
    let list = folder.run(&["lab", "list"]);
    for kind in ["train", "graph", "thread-index", "launch-geometry", "occupancy"] {
        assert!(list.did().lines().any(|line| line.starts_with(kind)), "{list:?}");
        let shown = folder.run(&["lab", "show", kind]);
        assert!(shown.did().contains("Parameters") && shown.did().contains("Source"), "{shown:?}");
        let json = folder.run(&["lab", "show", kind, "--json"]).json();
        assert_eq!(json["kind"], kind);
        assert!(json["params"].as_array().is_some_and(|params| !params.is_empty()));
    }
    assert_eq!(folder.run(&["lab", "list", "--json"]).json()["labs"][0]["live"], true);
}

/// How runs of live labs are made short, as far as a lab has such a parameter.
const SHORT: [&str; 6] = [
    "steps=2",
    "baseline_steps=2",
    "finetune_steps=2",
    "teacher_steps=2",
    "training_steps=2",
    "evaluations=2",
];

#[test]
fn every_preset_runs_is_shown_and_gives_way_to_what_is_set() {
    let folder = Folder::new();
    let list = folder.run(&["lab", "list", "--json"]).json();
    for lab in list["labs"].as_array().unwrap() {
        let kind = lab["kind"].as_str().unwrap();
        let about = folder.run(&["lab", "show", kind, "--json"]).json();
        let text = folder.run(&["lab", "show", kind]);
        for preset in about["presets"].as_array().unwrap() {
            let name = preset["name"].as_str().unwrap();
            assert!(text.did().contains(name), "{kind} {name}");
            let mut arguments = vec!["lab", kind, "--preset", name, "--json"];
            let shortened: Vec<&str> = SHORT
                .into_iter()
                .filter(|short| {
                    let mut params = about["params"].as_array().unwrap().iter();
                    lab["live"] == true
                        && params.any(|param| param["name"] == short.trim_end_matches("=2"))
                })
                .collect();
            for short in &shortened {
                arguments.extend(["--set", short]);
            }
            if lab["live"] == true {
                arguments.extend(["--device", "cpu"]);
            }
            let ended = folder.run(&arguments);
            if (kind, name) == ("graph", "not-a-number") {
                ended.refused(4, &["lab graph: node.b is not finite: log(a)"]);
                continue;
            }
            let found = ended.json();
            for (param, value) in preset["set"].as_object().unwrap() {
                let asked = if shortened.contains(&format!("{param}=2").as_str()) {
                    &2.into()
                } else {
                    value
                };
                assert_eq!(&found["params"][param], asked, "{kind} {name}");
            }
        }
    }
    folder
        .run(&["lab", "occupancy", "--preset", "fulll"])
        .refused(2, &["lab occupancy has no preset 'fulll'; it has: full, "]);
    let over = folder.run(&[
        "lab",
        "occupancy",
        "--preset",
        "full",
        "--set",
        "threads_per_block=64",
        "--json",
    ]);
    assert_eq!(over.json()["params"]["threads_per_block"], 64);
}

#[test]
fn what_does_not_exist_is_refused_with_its_neighbour() {
    let folder = Folder::new();
    for (arguments, code, said) in [
        (&["lab", "grpah"][..], 2, &["no lab 'grpah'", "did you mean 'graph'?"][..]),
        (&["lab", "show", "trian"], 2, &["did you mean 'train'?"]),
        (
            &["lab", "train", "--set", "lerning_rate=1"],
            2,
            &["'lerning_rate'", "did you mean 'learning_rate'?"],
        ),
        (
            &["lab", "train", "--set", "learning_rate=-1"],
            2,
            &["'learning_rate'", "-1 is outside 0 to"],
        ),
        (&["lab", "train", "--set", "steps=many"], 2, &["'steps'", "expected int"]),
        (&["lab", "train", "--set", "optimizer=adan"], 2, &["did you mean 'adam'?"]),
        (&["lab", "train", "--set", "steps"], 2, &["write NAME=VALUE"]),
        (&["lab", "train", "--set", "steps=1", "--set", "steps=2"], 2, &["more than once"]),
        (&["lab", "graph", "--set", "expression=x +"], 2, &["expression"]),
        (&["lab", "graph", "--data-dir", "/tmp"], 2, &["'data_dir'"]),
        (&["lab", "train", "--device", "gpu"], 2, &["'gpu' is not a device"]),
        (&["lab", "train", "--device", "cpu:1"], 2, &["is not a device"]),
        (&["lab", "train", "--device", "wgpu:99"], 3, &["wgpu:99", "usable here: ", "cpu"]),
        (&["lab", "graph", "--device", "cuda:99"], 3, &["cuda:99", "usable here: ", "cpu"]),
        (&["lab", "train", "--seed", "-1"], 2, &["--seed"]),
        (&["lab"], 2, &["<KIND>"]),
        (&["lba"], 2, &["did you mean 'lab'?"]),
        (&["lab", "graph", "--sett", "x=1"], 2, &["--set"]),
        (&["open", "systems/trainingloop"], 2, &["did you mean 'systems/training-loop'?"]),
        (&["run"], 2, &["<LESSON>"]),
        (&["run", "./none.md"], 2, &["there is no file './none.md'"]),
        (&["run", "systems/training-loop", "--report", "juint=x"], 2, &["did you mean 'junit'?"]),
        (&["run", "systems/training-loop", "--set", "rnu.steps=1"], 2, &["did you mean 'run'?"]),
        (&["run", "systems/training-loop", "--set", "run.stesp=1"], 2, &["did you mean 'steps'?"]),
        (&["runs", "show", "none"], 2, &["there is no run 'none'"]),
    ] {
        let ended = folder.run(arguments);
        ended.refused(code, said);
    }
}

const QUICK: [&str; 14] = [
    "lab",
    "train",
    "--device",
    "cpu",
    "--set",
    "model=transformer",
    "--set",
    "width=16",
    "--set",
    "context=8",
    "--set",
    "batch_size=4",
    "--set",
    "steps=3",
];

fn quick<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&QUICK[..], more].concat()
}

#[test]
fn transformer_trains_on_text_with_baselines() {
    let folder = Folder::new();
    let json = folder.run(&quick(&["--set", "dataset=text", "--json"])).json();
    let metric = |name: &str| json["metrics"][name].as_f64().unwrap();
    assert!(metric("bigram_entropy") < metric("unigram_entropy"));
    assert!(metric("bits_per_character") > metric("validation_loss"));
    assert!(metric("tokens_per_second") > 0.0);
    assert!(json["metrics"]["mfu"].is_null() && json["metrics"]["exact_match"].is_null());
    assert!(json["metrics"]["loss_floor"].is_null());
    let sums = folder.run(&quick(&["--set", "dataset=sums", "--json"])).json();
    assert_eq!(sums["metrics"]["exact_match"], 0.0);
    let plain = folder.run(&quick(&["--set", "dataset=chain"]));
    assert!(plain.did().contains("loss_floor") && plain.did().contains("1.13692"));
}

#[test]
fn a_text_may_come_from_a_file_and_what_is_none_is_refused() {
    let folder = Folder::new();
    let corpus = |name: &str, content: &[u8]| format!("corpus=@{}", folder.file(name, content));
    let own = corpus("own.txt", "la dee da, la dee dum. ".repeat(40).as_bytes());
    let text = ["--set", "dataset=text", "--json", "--set"];
    let json = folder.run(&quick(&[&text[..], &[own.as_str()]].concat())).json();
    assert!(json["metrics"]["validation_loss"].is_number());
    let many: String = ('\u{4e00}'..'\u{5400}').collect();
    let refused = |given: &str, said: &[&str]| {
        let done = folder.run(&quick(&[&text[..], &[given]].concat()));
        done.refused(2, said);
    };
    for (content, said) in [
        (&b""[..], "corpus: the text is empty; give one of at least"),
        (b" \n\n ", "corpus: the text is empty; give one of at least"),
        (b"short", "the text has 5 characters; with context 8 it needs at least 18"),
        (
            "a".repeat(500).as_bytes(),
            "'a' over and over, and nothing else: there is nothing to foretell; give a text of words",
        ),
        (
            many.as_bytes(),
            "the text has 1536 different characters, and each is a token of its own; 1024 at most",
        ),
        (b"\x89PNG\r\n\x1a\n\0\xff", "line 1, column 1 holds the byte 0x89"),
        (
            b"un caf\xe9 au lait",
            "line 1, column 7 holds the byte 0xE9, which UTF-8 does not have there; give a plain text, saved as UTF-8",
        ),
        (b"GIF89a\x01\0\x01", "line 1, column 7 holds the character U+0001"),
    ] {
        // Which file it is stands in every sentence.
        refused(&corpus("other.txt", content), &[said, "other.txt'"]);
    }
    let here = folder.path("").display().to_string();
    refused(&format!("corpus=@{here}"), &["is a folder; name a file"]);
    refused("corpus=@no/such.txt", &["'no/such.txt' cannot be read", "name a file that is there"]);
    refused("corpus=@@book.txt", &["'@book.txt' is taken for the text itself"]);
}

#[test]
fn data_that_a_model_cannot_read_are_refused_with_a_way_out() {
    let folder = Folder::new();
    for (setting, said) in [
        ("dataset=spiral", "set dataset to chain, sums or text"),
        ("dataset=digits", "set dataset to chain, sums or text"),
    ] {
        folder.run(&quick(&["--set", setting])).refused(2, &[said]);
    }
    folder
        .run(&["lab", "train", "--device", "cpu", "--set", "dataset=text"])
        .refused(2, &["dataset, model", "set model to transformer"]);
}

/// What a lab finds.
fn captured_metrics(lab: &str, set: &[&str]) -> Value {
    let mut arguments = vec!["lab", lab, "--device", "cpu", "--json"];
    for pair in set {
        arguments.extend(["--set", pair]);
    }
    Folder::new().run(&arguments).json()["metrics"].clone()
}

/// A metric that must be there.
fn metric_of(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

/// Dimensions of a transformer, as the labs name them.
struct Dimensions {
    width: u32,
    depth: u32,
    heads: u32,
    kv_heads: u32,
    ffn: u32,
    vocab: u32,
    context: u32,
    batch: u32,
}

const TRANSFORMERS: [Dimensions; 3] = [
    Dimensions {
        width: 32,
        depth: 2,
        heads: 4,
        kv_heads: 2,
        ffn: 88,
        vocab: 64,
        context: 32,
        batch: 4,
    },
    Dimensions {
        width: 24,
        depth: 3,
        heads: 6,
        kv_heads: 1,
        ffn: 40,
        vocab: 11,
        context: 7,
        batch: 5,
    },
    // Llama 3 8B: recorded without a weight.
    Dimensions {
        width: 4096,
        depth: 32,
        heads: 32,
        kv_heads: 8,
        ffn: 14336,
        vocab: 100_000,
        context: 2048,
        batch: 2,
    },
];

#[test]
fn captured_transformer_matches_the_formulas() {
    for d in TRANSFORMERS {
        let recorded = captured_metrics(
            "capture",
            &[
                "model=transformer",
                &format!("width={}", d.width),
                &format!("depth={}", d.depth),
                &format!("heads={}", d.heads),
                &format!("kv_heads={}", d.kv_heads),
                &format!("ffn={}", d.ffn),
                &format!("vocab={}", d.vocab),
                &format!("context={}", d.context),
                &format!("batch_size={}", d.batch),
            ],
        );
        let formula = |lab: &str, more: &[String]| {
            let mut set = vec![
                "architecture=llama".to_owned(),
                format!("layers={}", d.depth),
                format!("hidden={}", d.width),
                format!("heads={}", d.heads),
                format!("kv_heads={}", d.kv_heads),
                format!("ffn={}", d.ffn),
                format!("vocab={}", d.vocab),
            ];
            set.extend_from_slice(more);
            let set: Vec<&str> = set.iter().map(String::as_str).collect();
            captured_metrics(lab, &set)
        };
        let params = formula("transformer-params", &[]);
        assert_eq!(
            metric_of(&recorded["parameters"]),
            metric_of(&params["parameters"]),
            "{}",
            d.width
        );
        let work = [format!("sequence={}", d.context), format!("batch={}", d.batch)];
        let flops = formula("transformer-flops", &work);
        let (found, by_formula) = (&recorded["matmul_flops"], &flops["forward_flops"]);
        assert_eq!(metric_of(found), metric_of(by_formula), "{}", d.width);
    }
}

#[test]
fn the_first_layer_has_the_intensity_of_its_matrix_product() {
    for batch in [1, 64, 512] {
        let recorded = captured_metrics("capture", &[&format!("batch_size={batch}")]);
        let product = captured_metrics(
            "intensity",
            &["operation=matmul", &format!("m={batch}"), "n=512", "k=784", "bytes_per_element=4"],
        );
        let (found, by_formula) =
            (metric_of(&recorded["intensity.layer1"]), metric_of(&product["intensity"]));
        assert!((found / by_formula - 1.0).abs() < 1e-9, "{found} {by_formula}");
    }
}

#[test]
fn what_cannot_be_recorded_is_refused_in_a_sentence() {
    let folder = Folder::new();
    for (set, said) in [
        ("layers=[784, 0]", "size 2 is 0"),
        ("depth=0", "depth"),
        ("model=rnn", "rnn"),
        ("batch_size=many", "batch_size"),
    ] {
        let ended = folder.run(&["lab", "capture", "--set", set]);
        ended.refused(2, &[said]);
    }
}
