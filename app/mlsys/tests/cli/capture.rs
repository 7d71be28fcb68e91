//! Lab `capture` beside the labs that count by formula: the same network, the same numbers.

use serde_json::Value;

use crate::help::Folder;

/// What a lab finds.
fn metrics(lab: &str, set: &[&str]) -> Value {
    let mut arguments = vec!["lab", lab, "--device", "cpu", "--json"];
    for pair in set {
        arguments.extend(["--set", pair]);
    }
    Folder::new().run(&arguments).json()["metrics"].clone()
}

/// A metric that must be there.
fn of(value: &Value) -> f64 {
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
fn a_recorded_transformer_has_the_parameters_and_operations_of_the_formulas() {
    for d in TRANSFORMERS {
        let recorded = metrics(
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
            metrics(lab, &set)
        };
        let params = formula("transformer-params", &[]);
        assert_eq!(of(&recorded["parameters"]), of(&params["parameters"]), "{}", d.width);
        let work = [format!("sequence={}", d.context), format!("batch={}", d.batch)];
        let flops = formula("transformer-flops", &work);
        let (found, by_formula) = (&recorded["matmul_flops"], &flops["forward_flops"]);
        assert_eq!(of(found), of(by_formula), "{}", d.width);
    }
}

#[test]
fn the_first_layer_has_the_intensity_of_its_matrix_product() {
    for batch in [1, 64, 512] {
        let recorded = metrics("capture", &[&format!("batch_size={batch}")]);
        let product = metrics(
            "intensity",
            &["operation=matmul", &format!("m={batch}"), "n=512", "k=784", "bytes_per_element=4"],
        );
        let (found, by_formula) = (of(&recorded["intensity.layer1"]), of(&product["intensity"]));
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
