//! Bad input: every case an error that names the parameter and the way out, never a panic or a wrapped number.

mod collectives;
mod compression;
mod plans;
mod transformers;

use mlsys_lab::{LabError, Settings};

use crate::run::run;

/// The error of a run that must not succeed.
pub(crate) fn error(kind: &str, set: &[&str]) -> LabError {
    let settings = Settings::from_pairs(set.iter().copied()).expect("name=value");
    match run(kind, &settings) {
        Ok(data) => panic!("{kind} {set:?} runs: {:?}", data.metrics()),
        Err(error) => error,
    }
}

/// Asserts that each case is an error of usage whose message holds every fragment.
fn refused(kind: &str, cases: &[(&[&str], &[&str])]) {
    for (set, fragments) in cases {
        let error = error(kind, set);
        let message = error.to_string();
        assert!(error.is_usage(), "{kind} {set:?}: {message}");
        for fragment in *fragments {
            assert!(
                message.contains(fragment),
                "{kind} {set:?}: '{fragment}' is not in: {message}"
            );
        }
    }
}

#[test]
fn landscape_refuses_columns_that_are_not_there_and_says_which_are() {
    refused(
        "landscape",
        &[
            (&["table=gpus"], &["table", "gpu"]),
            (&["sort=memry"], &["sort", "there is no column 'memry'", "memory (GB)"]),
            (&["x=fp"], &["x", "several columns begin with 'fp'"]),
            (&["table=edge", "y=cores"], &["y", "rate (TOP/s)"]),
            (&["group=colour"], &["group", "there is no column 'colour'"]),
            (&["filter=memory > much"], &["filter", "'much' is not a number"]),
            (&["filter=> 3"], &["filter", "a column stands before"]),
        ],
    );
}

#[test]
fn thread_index_refuses_impossible_threads() {
    refused(
        "thread-index",
        &[
            (&["block_dim=[4]"], &["thread_index", "block_dim", "5 in x is not below block_dim 4"]),
            (&["thread_index=[16, 0]"], &["thread_index 16 in x", "0 to 15"]),
            (&["thread_index=[0, 0, 1]"], &["thread_index 1 in z"]),
            (&["block_dim=[32, 33]"], &["block_dim: 32 x 33 x 1 is more than the 1024"]),
            (&["block_dim=[9000000000000000000, 9000000000000000000]"], &["block_dim", "1024"]),
            (
                &["block_dim=[0, 4]"],
                &["block_dim: expected 1 to 3 whole numbers of at least 1", "[0, 4]"],
            ),
            (&["block_dim=[]"], &["block_dim", "1 to 3"]),
            (&["block_dim=[1, 1, 1, 1]"], &["block_dim", "1 to 3"]),
            (&["block_dim=[[4]]"], &["block_dim", "[[4]]"]),
            (&["block_index=[-1]"], &["block_index", "at least 0", "-1"]),
            (&["block_index=[0.5]"], &["block_index", "0.5"]),
            (&["thread_index=[\"a\"]"], &["thread_index", "[a]"]),
            (&["block_index=[nan]"], &["block_index", "NaN"]),
            (&["block_dim=16"], &["block_dim", "expected array"]),
            (&["block_index=[9223372036854775807]"], &["block_index, block_dim", "beyond 2^63"]),
            (
                &["block_index=[0, 1000000000000]", "width=1000000000000"],
                &["block_index, width", "linear_index would be beyond"],
            ),
            (&["width=0"], &["width", "outside 1 and above"]),
            (&["widht=4"], &["widht", "did you mean 'width'?"]),
        ],
    );
}

#[test]
fn launch_geometry_refuses_what_is_out_of_range() {
    refused(
        "launch-geometry",
        &[
            (&["elements=0"], &["elements", "1 and above"]),
            (&["elements=-5"], &["elements"]),
            (&["elements=1.5"], &["elements", "expected int"]),
            (&["threads_per_block=1025"], &["threads_per_block", "1 to 1024"]),
            (
                &["elements=9223372036854775807", "threads_per_block=1024"],
                &["elements, threads_per_block", "threads would be beyond"],
            ),
        ],
    );
}

#[test]
fn occupancy_refuses_what_no_multiprocessor_has() {
    let huge = "static_shared_bytes=9223372036854775807";
    refused(
        "occupancy",
        &[
            (&["threads_per_block=0"], &["threads_per_block", "1 to 1024"]),
            (&["threads_per_block=1025"], &["threads_per_block", "1 to 1024"]),
            (&["registers_per_thread=256"], &["registers_per_thread", "1 to 255"]),
            (&["static_shared_bytes=-1"], &["static_shared_bytes"]),
            (&[huge], &["static_shared_bytes, dynamic_shared_bytes", "beyond 2^63"]),
            (&[huge, "compute_capability=7.0"], &["static_shared_bytes", "beyond 2^63"]),
            (&[huge, "dynamic_shared_bytes=9223372036854775807"], &["beyond 2^63"]),
            (&["compute_capability=8.7"], &["compute_capability", "8.7"]),
            (&["compute_capability=8"], &["compute_capability"]),
            (&["gpu=v100"], &["gpu"]),
            // A chip that has no compute capability does not fall back to another chip's.
            (&["gpu=mi300x"], &["compute_capability", "unset", "gpu.mi300x.compute_capability"]),
        ],
    );
}

#[test]
fn intensity_refuses_what_moves_nothing() {
    refused(
        "intensity",
        &[
            (&["operation=matmull"], &["did you mean 'matmul'"]),
            (&["m=0"], &["m", "1 and above"]),
            (&["m=1.5"], &["m", "expected int"]),
            (&["bytes_per_element=-1"], &["bytes_per_element"]),
        ],
    );
    for (set, message) in [
        (&["bytes_per_element=0"][..], "intensity is not finite: 1.09951e12 flops over 0 bytes"),
        (
            &["operation=counts", "bytes=0", "flops=0"],
            "intensity is not finite: 0 flops over 0 bytes",
        ),
        (
            &["operation=elementwise", "flops_per_element=1e305"],
            "flops is not finite: the sizes are too large",
        ),
    ] {
        let error = error("intensity", set);
        assert!(!error.is_usage(), "{error}");
        assert!(error.to_string().starts_with(message), "{error}");
    }
}

#[test]
fn graph_shows_where_an_expression_is_wrong() {
    refused(
        "graph",
        &[
            (&["expression="], &["parameter 'expression'", "column 1"]),
            (&["expression=x +"], &["column 4", "\n  x +\n     ^"]),
            (&["expression=a = sigmod(x)"], &["did you mean `sigmoid`", "column 5", "\n      ^"]),
            (&["expression=x % y"], &["`%`", "column 3", "\n    ^"]),
            (&["expression=a = x; a = y"], &["`a` is assigned twice", "column 8", "\n         ^"]),
            (&["expression=a = b; b = x"], &["`b` is used before it is assigned", "column 5"]),
            (
                &["expression=x = 2; x"],
                &["`x` is an input and cannot be assigned", "column 1", "\n  ^"],
            ),
            (
                &["expression=alpha*x", "inputs.alhpa=1", "inputs.x=1"],
                &[
                    "`alpha` is neither assigned nor an input",
                    "did you mean `alhpa`",
                    "column 1",
                    "\n  ^^^^^",
                ],
            ),
            // All unknown names at once.
            (
                &["expression=u + 2*v"],
                &["`u` is", "inputs.u", "column 1", "`v` is", "inputs.v", "column 7"],
            ),
            (&["inputs.x=1"], &["`y` is neither assigned nor an input", "column 25"]),
            (&["inputs.x=nan"], &["inputs.x", "NaN"]),
            (&["inputs={ x = inf, y = 1 }"], &["inputs.x", "inf"]),
            (&["inputs={ x = \"two\", y = 1 }"], &["inputs", "'two'"]),
            (&["inputs.2x=1"], &["inputs.2x", "starts with no digit"]),
            (&["inputs.x.y=1"], &["inputs.x.y"]),
            (&["learning_rate=-1"], &["learning_rate", "0 and above"]),
        ],
    );
    let deep = format!("expression={}x{}", "(".repeat(100_000), ")".repeat(100_000));
    assert!(error("graph", &[deep.as_str()]).is_usage());
    let escape = error("graph", &["expression=x + \u{1b}[31m"]).to_string();
    assert!(!escape.contains('\u{1b}'), "{escape:?}");
}

#[test]
fn the_labs_of_patterns_show_where_one_is_wrong() {
    refused(
        "coalescing",
        &[
            (
                &["byte_address=4*lnae"],
                &["nothing is called `lnae`", "did you mean `lane`?", "column 3", "^^^^"],
            ),
            (&["byte_address=4*tid"], &["nothing is called `tid`", "lane, warpSize"]),
            (&["byte_address=4*lane - 8"], &["the address is -8 where lane is 0"]),
            (&["byte_address=1000 + 100/(lane - 3)"], &["division by zero where lane is 3"]),
            (&["byte_address=0.5*lane"], &["integers"]),
            (&["byte_address="], &["byte_address"]),
            (&["access_bytes=17"], &["access_bytes", "1 to 16"]),
            (&["byte_address=2^60"], &["beyond 2^53"]),
        ],
    );
    refused(
        "bank-conflicts",
        &[
            (&["word_index=lane - 1"], &["the word is -1 where lane is 0"]),
            (&["word_index=sqrt(lane)"], &["sqrt"]),
        ],
    );
    refused(
        "divergence",
        &[
            (&["condition=tid %"], &["condition", "column"]),
            (&["condition=tid % s", "steps=[0]"], &["division by zero"]),
            (&["condition=x"], &["tid, lane, warp, warpSize, s"]),
            (&["steps=[]"], &["steps", "1 to 4096"]),
            (&["steps=[0.5]"], &["steps", "whole numbers"]),
            (&["threads=1025"], &["threads", "1 to 1024"]),
        ],
    );
}

#[test]
fn the_labs_of_machines_refuse_what_no_machine_is() {
    refused(
        "gpu-peak",
        &[
            (&["gpu=tpu-v3", "precision=bf16-tensor"], &["sms", "tpu-v3"]),
            (&["precision=fp8-tensor"], &["v100-sxm2-16gb", "fp8-tensor"]),
            (
                &["sms=9000000000000000000", "units_per_sm=9"],
                &["sms, units_per_sm", "units would be beyond"],
            ),
        ],
    );
    refused(
        "sm-limits",
        &[
            (&["carveout_percent=101"], &["carveout_percent", "0 to 100"]),
            (&["sms=9000000000000000000"], &["sms", "beyond"]),
            (
                &["instruction_latency_cycles=9000000000000000000"],
                &["instruction_latency_cycles", "beyond"],
            ),
        ],
    );
    refused(
        "window-sum",
        &[
            (&["radius=9000000000000000000"], &["radius", "beyond"]),
            (&["radius=4000000000000000000"], &["elements, radius", "beyond"]),
            (&["load_guard=halo"], &["load_guard", "padded"]),
        ],
    );
    refused(
        "waves",
        &[
            (&["blocks=0"], &["blocks", "1 and above"]),
            (&["gpu=tpu-v5e"], &["sms", "tpu-v5e"]),
            (
                &["rows=9000000000000000000", "columns=9000000000000000000", "tile_rows=1"],
                &["rows, columns", "tiles would be beyond"],
            ),
            (
                &["sms=9000000000000000000", "blocks_per_sm=9"],
                &["sms, blocks_per_sm", "slots would be beyond"],
            ),
        ],
    );
    refused(
        "roofline",
        &[(&["precision=fp8-tensor"], &["peak_flops_per_second", "a100-sxm4-40gb"])],
    );
    refused("doubling-time", &[(&["factor=1"], &["factor", "above 1"])]);
}
