//! What the labs of compression, inference and energy refuse.

use super::{error, refused};

#[test]
fn values_that_are_no_numbers_are_refused_by_name() {
    for (kind, param) in [
        ("quantize", "values"),
        ("nf4", "values"),
        ("kmeans-quantize", "weights"),
        ("prune", "weights"),
        ("distill-loss", "teacher_logits"),
    ] {
        let text = format!("{param}=[1.0, \"two\"]");
        let empty = format!("{param}=[]");
        refused(
            kind,
            &[
                (&[text.as_str()], &[param, "holds two"]),
                (&[empty.as_str()], &[param, "no number"]),
            ],
        );
    }
}

#[test]
fn quantize_refuses_grids_without_a_level_for_zero() {
    refused(
        "quantize",
        &[
            (&["scale=0"], &["scale is 0", "above 0"]),
            (&["scale=-1"], &["scale is -1"]),
            (&["zero_point=300"], &["zero_point is 300", "0 to 255"]),
            (&["values=[1e300]"], &["32-bit float"]),
            (&["bits=1"], &["bits"]),
        ],
    );
}

#[test]
fn integer_matmul_refuses_matrices_that_do_not_fit() {
    refused(
        "integer-matmul",
        &[
            (&["a=[[1, 2, 3]]"], &["3 columns", "2 rows"]),
            (&["a=[[1, 2], [3]]"], &["1 integers in row 1"]),
            (&["a=[1, 2]"], &["row 0"]),
            (&["a=[[1.5, 2]]"], &["1.5", "integers"]),
            (&["a=[]"], &["no row"]),
            (&["multiplier=1"], &["multiplier is 1", "between 0 and 1"]),
            (&["multiplier=0"], &["multiplier is 0"]),
            (&["a=[[9000000000000000, 1]]", "b=[[9000000000000000], [1]]"], &["beyond 2^63"]),
        ],
    );
}

#[test]
fn shapes_that_contradict_each_other_are_refused() {
    refused("kmeans-quantize", &[(&["gradients=[1.0]"], &["gradients", "shape"])]);
    refused(
        "prune",
        &[
            (&["keep=5"], &["keep is 5", "4 weights"]),
            (&["weights=[1.0, 2.0, 3.0]"], &["3 weights", "multiple"]),
        ],
    );
    refused(
        "distill-loss",
        &[
            (&["student_logits=[1.0]"], &["1 classes", "3"]),
            (&["temperature=0"], &["temperature is 0"]),
        ],
    );
    refused(
        "online-softmax",
        &[
            (&["blocks=[]"], &["at least one block"]),
            (&["blocks=[[1.0], []]"], &["block 1 is empty"]),
            (&["blocks=[1.0]"], &["block 0 is 1"]),
            (&["blocks=[[true]]"], &["no number"]),
        ],
    );
}

#[test]
fn lora_refuses_projections_that_are_unknown_or_named_twice() {
    refused(
        "lora-params",
        &[
            (&["targets=[\"q\", \"x\"]"], &["targets names x", "gate"]),
            (&["targets=[\"q\", \"q\"]"], &["q twice"]),
            (&["hidden=100", "heads=3"], &["no multiple", "head_dim"]),
            (&["rank=4000000000000000000"], &["beyond 2^63"]),
        ],
    );
}

#[test]
fn a_cache_of_nothing_and_a_unit_of_nothing_are_told() {
    refused(
        "kv-cache",
        &[(
            &["bytes_per_element=0", "memory_bytes=1"],
            &["bytes_per_element", "any number of sequences"],
        )],
    );
    for (kind, set, told) in [
        ("energy", "tonnes_per_car_lifetime=0", "car_lifetimes is not finite"),
        ("flash-io", "bytes_per_element=1e308", "scores_bytes is not finite"),
    ] {
        let said = error(kind, &[set]).to_string();
        assert!(said.contains(told), "{said}");
    }
}
