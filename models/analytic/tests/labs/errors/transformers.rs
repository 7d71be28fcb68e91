//! What the labs that count transformers refuse.

use super::{error, refused};

#[test]
fn transformer_params_refuses_what_no_transformer_has() {
    refused(
        "transformer-params",
        &[
            (
                &["hidden=100", "heads=3"],
                &["hidden, heads", "100 does not divide into 3", "head_dim"],
            ),
            (&["heads=32", "kv_heads=5"], &["heads, kv_heads", "32 query heads cannot share 5"]),
            (&["heads=8", "kv_heads=16"], &["kv_heads must divide heads"]),
            (&["ffn=100", "ffn_multiple_of=64"], &["ffn, ffn_multiple_of", "set one of the two"]),
            (&["ffn_multiplier=0"], &["hidden, ffn_multiplier", "width 0"]),
            (&["ffn_multiplier=1e300"], &["ffn_multiplier", "beyond 2^63"]),
            (&["ffn_multiplier=nan"], &["ffn_multiplier", "NaN"]),
            (&["vocab=9223372036854775807"], &["vocab", "parameters would be beyond"]),
            (&["hidden=9223372036854775807", "heads=1", "head_dim=1"], &["hidden", "beyond 2^63"]),
            (&["heads=9223372036854775807", "head_dim=2"], &["heads, head_dim", "beyond 2^63"]),
            (&["model=llama-3-9b"], &["model", "did you mean 'llama-3-8b'"]),
            (&["layers=0"], &["layers", "1 and above"]),
            // A model of which only the cache is tabled does not borrow another's dimensions.
            (&["model=opt-13b"], &["architecture", "unset", "model.opt-13b.architecture"]),
            (&["model=opt-13b", "architecture=gpt"], &["vocab", "model.opt-13b.vocab"]),
        ],
    );
}

#[test]
fn transformer_flops_refuses_what_cannot_be_counted() {
    refused(
        "transformer-flops",
        &[
            (&["hidden=100"], &["hidden, heads", "100", "96"]),
            (&["kv_heads=7"], &["heads, kv_heads"]),
            (&["model=deepseek-v3"], &["unset", "model.deepseek-v3."]),
            // An A100 has no such data path: the time at peak is not borrowed from another machine.
            (
                &["precision=fp8-tensor", "devices=8", "seconds=1.0"],
                &[
                    "peak_flops_per_second",
                    "gpu.a100-sxm4-80gb.path.fp8-tensor.peak_flops_per_second",
                ],
            ),
            (&["seconds=-1"], &["seconds", "0 and above"]),
        ],
    );
    for set in
        [&["devices=8", "seconds=0"][..], &["devices=8", "seconds=1", "peak_flops_per_second=0"]]
    {
        let message = error("transformer-flops", set).to_string();
        assert!(message.starts_with("mfu is not finite: 8 devices"), "{message}");
    }
}

#[test]
fn activation_memory_refuses_a_model_without_dimensions() {
    refused(
        "activation-memory",
        &[
            (&["model=deepseek-v3"], &["hidden", "unset", "model.deepseek-v3.hidden"]),
            (&["sequence=0"], &["sequence", "1 and above"]),
            (&["recompute=some"], &["recompute", "none"]),
            (&["sequence_parallel=maybe"], &["sequence_parallel"]),
        ],
    );
}

#[test]
fn tensor_parallel_refuses_layers_and_links_that_give_no_time() {
    refused(
        "tensor-parallel",
        &[
            (&["ranks=1"], &["ranks"]),
            (
                &["batch=4000000000", "sequence=4000000000"],
                &["batch, sequence, hidden", "beyond 2^63"],
            ),
            (&["gpu=v100-sxm2-16gb"], &["peak_flops_per_second", "v100-sxm2-16gb"]),
        ],
    );
}

#[test]
fn tensor_parallel_names_what_would_take_for_ever() {
    for (set, told) in [
        ("bandwidth_bytes_per_second=0", "a link of 0 bytes/s"),
        ("peak_flops_per_second=0", "a peak of 0 flop/s"),
    ] {
        let said = error("tensor-parallel", &[set]).to_string();
        assert!(said.contains("_seconds is not finite"), "{said}");
        assert!(said.contains(told), "{said}");
    }
}
