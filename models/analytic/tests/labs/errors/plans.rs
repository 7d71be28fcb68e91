//! What the labs that plan a training run refuse.

use mlsys_lab::Settings;

use crate::run::run;

use super::refused;

#[test]
fn deepspeed_memory_refuses_what_no_stage_offers() {
    refused(
        "deepspeed-memory",
        &[
            (
                &["stage=2", "offload=optimizer+parameters"],
                &["stage, offload", "stage 2 keeps the weights", "stage 3"],
            ),
            (&["stage=1"], &["stage", "2 to 3"]),
            (&["parameters=1e30"], &["parameters", "bytes would be beyond"]),
            (&["buffer_factor=0.5"], &["buffer_factor", "1 and above"]),
        ],
    );
}

#[test]
fn zero_memory_refuses_what_is_no_stage() {
    refused(
        "zero-memory",
        &[
            (&["stage=4"], &["stage", "0 to 3"]),
            (&["ranks=0"], &["ranks", "1 and above"]),
            (&["parameters=0"], &["parameters", "1 and above"]),
        ],
    );
}

#[test]
fn parallel_plan_refuses_what_does_not_divide() {
    refused(
        "parallel-plan",
        &[
            (&["devices=100"], &["100 devices", "8*1*16 = 128", "multiple of 128"]),
            (&["global_batch=100"], &["global_batch, data, microbatch", "100 sequences", "128"]),
            (&["tensor=0"], &["tensor", "1 and above"]),
            (
                &["tensor=9000000000000000000", "data=1"],
                &["tensor, context, pipeline, data", "beyond 2^63"],
            ),
            (&["data=9000000000000000"], &["sequence, global_batch", "beyond"]),
            (
                &["batch_per_data_rank=9000000000000000000"],
                &["batch_per_data_rank, data", "beyond"],
            ),
            (&["microbatch=9000000000000000000"], &["data, microbatch", "beyond"]),
            (
                &["inside_bandwidth_bytes_per_second=0"],
                &["inside_bandwidth_bytes_per_second", "nothing ever arrives"],
            ),
            (
                &["between_bandwidth_bytes_per_second=0"],
                &["between_bandwidth_bytes_per_second", "above 0"],
            ),
            (&["heads=3"], &["heads, kv_heads", "3 query heads"]),
            (&["model=opt-13b"], &["unset", "model.opt-13b."]),
            (
                &["precision=fp8-tensor", "gpu=a100-sxm4-80gb"],
                &["peak_flops_per_second", "a100-sxm4-80gb"],
            ),
        ],
    );
}

#[test]
fn training_compute_does_not_borrow_another_machines_peak() {
    refused(
        "training-compute",
        &[
            (
                &["precision=fp8-tensor", "gpu=a100-sxm4-80gb"],
                &["peak_flops_per_second", "a100-sxm4-80gb"],
            ),
            (&["devices=0"], &["devices", "1 and above"]),
            (&["utilization=1.5"], &["utilization", "0 to 1"]),
        ],
    );
}

/// A pipeline far longer than the model has stages without a layer; neither the first full one nor what is in flight may
/// take time or run over.
#[test]
fn a_pipeline_of_any_length_is_judged_at_once() {
    for set in [
        &["pipeline=1e12", "tensor=1", "data=1", "global_batch=16"][..],
        &["pipeline=1e18", "tensor=1", "data=1", "global_batch=16", "chunks_per_stage=64"],
        &["pipeline=9e18", "tensor=1", "data=1", "global_batch=16"],
    ] {
        let settings = Settings::from_pairs(set.iter().copied()).expect("name=value");
        match run("parallel-plan", &settings) {
            Ok(data) => assert!(!data.metrics().is_empty(), "{set:?}"),
            Err(error) => assert!(!error.to_string().is_empty(), "{set:?}"),
        }
    }
}
