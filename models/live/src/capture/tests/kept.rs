//! What is kept, moved and done again, counted by hand.

use super::counted;

/// Bytes of one f32.
const SIZE: u64 = 4;

#[test]
fn an_mlp_keeps_what_a_hand_counts() {
    let (input, hidden, outputs) = (7 * 3, 7 * 5, 7 * 2);
    for (activation, numbers) in [
        // The input for the first weights, relu's result for itself and for the next weights, the loss's softmax.
        ("relu", input + hidden + outputs),
        ("identity", input + hidden + outputs),
        // gelu keeps what goes into it, and the next weights keep what comes out.
        ("gelu", input + 2 * hidden + outputs),
        ("silu", input + 2 * hidden + outputs),
    ] {
        let activation = format!("activation={activation}");
        let set = ["layers=[3, 5, 2]", "batch_size=7", &activation];
        assert_eq!(counted(&set).1.saved_bytes, SIZE * numbers, "{activation}");
    }
}

#[test]
fn a_block_of_llama_keeps_what_a_hand_counts() {
    // Width 16 in 4 heads of 4 with 2 key/value heads, an MLP of 48, 2 sequences of 8 tokens, 64 symbols.
    let (width, keys, shares, ffn, vocab) = (16, 8, 4 * 8, 48, 64);
    let norm = width + 1;
    // The normed stream, turned queries and keys, values, attention's shares, what they mix.
    let attention = width + width + keys + keys + shares + width;
    // The normed stream, the gate, its silu, the other half, their product.
    let mlp = width + 4 * ffn;
    // The last norm, the normed stream, the loss's softmax.
    let after = norm + width + vocab;
    let of_one_token = norm + attention + norm + mlp + after;
    let set = ["model=transformer", "width=16", "depth=1", "context=8", "batch_size=2"];
    assert_eq!(counted(&set).1.saved_bytes, SIZE * 2 * 8 * of_one_token);
}

#[test]
fn recomputing_keeps_less_for_work_that_is_counted() {
    for model in [
        &["layers=[20, 16, 16, 4]", "activation=gelu"][..],
        &["model=transformer", "width=16", "context=8", "batch_size=2"],
    ] {
        let with = |recompute: &str| {
            let recompute = format!("recompute={recompute}");
            counted(&[model, &[&recompute]].concat()).1
        };
        let (none, elementwise, blocks) = (with("none"), with("elementwise"), with("blocks"));
        assert_eq!(none.step.recomputed_flops, 0);
        assert!(elementwise.saved_bytes < none.saved_bytes, "{model:?}");
        assert!(blocks.saved_bytes <= elementwise.saved_bytes, "{model:?}");
        assert!(elementwise.step.recomputed_flops > 0, "{model:?}");
        // Whoever recomputes a block does its products once more, whoever recomputes elementwise results none.
        assert!(elementwise.step.recomputed_flops <= none.other_flops);
        let forward = none.matmul_flops + none.other_flops;
        assert!(blocks.step.recomputed_flops < forward, "{model:?}");
        for other in [&elementwise, &blocks] {
            assert!(other.training_peak_bytes <= none.training_peak_bytes);
            assert_eq!(other.backward_matmul_flops, none.backward_matmul_flops);
            assert_eq!(other.recorded.saved_bytes, none.recorded.saved_bytes);
            assert_eq!(other.inference_peak_bytes, none.inference_peak_bytes);
        }
    }
}

#[test]
fn of_recomputed_blocks_only_what_goes_into_them_is_kept() {
    let set = ["model=transformer", "width=16", "context=8", "batch_size=2", "recompute=blocks"];
    let stream = 16;
    // What goes into both blocks and into the last norm, the normed stream, and the loss's softmax; the norm's one
    // number a row is made anew with it.
    let of_one_token = 3 * stream + 64;
    let kept = counted(&set).1.saved_bytes / (SIZE * 2 * 8);
    assert!(kept >= of_one_token && kept <= of_one_token + stream + 2 * 2 + 1, "{kept}");
}

#[test]
fn a_fused_chain_moves_less_and_computes_as_much() {
    for model in ["mlp", "cnn", "transformer"] {
        let model = format!("model={model}");
        // silu is recorded as two operations.
        let (_, apart) = counted(&[&model, "activation=silu"]);
        let (_, fused) = counted(&[&model, "activation=silu", "fuse=true"]);
        assert!(fused.moved_bytes() < apart.moved_bytes(), "{model}");
        assert!(fused.intensity() > apart.intensity(), "{model}");
        let flops = |count: &super::Count| count.units.iter().map(|unit| unit.flops).sum::<u64>();
        assert_eq!(flops(&fused), flops(&apart), "{model}");
        assert_eq!(fused.saved_bytes, apart.saved_bytes, "{model}");
    }
}

#[test]
fn every_byte_count_is_in_proportion_to_the_size_of_an_element() {
    let (_, four) = counted(&["model=transformer"]);
    let (_, two) = counted(&["model=transformer", "bytes_per_element=2"]);
    for (four, two) in [
        (four.moved_bytes(), two.moved_bytes()),
        (four.saved_bytes, two.saved_bytes),
        (four.inference_peak_bytes, two.inference_peak_bytes),
        (four.training_peak_bytes, two.training_peak_bytes),
        (four.recorded.saved_bytes, two.recorded.saved_bytes),
    ] {
        assert_eq!(four, 2 * two);
    }
}

#[test]
fn the_largest_networks_are_counted_without_running_over() {
    let widest = [
        vec![
            "model=transformer",
            "width=4096",
            "depth=64",
            "heads=64",
            "kv_heads=64",
            "ffn=100000",
            "vocab=100000",
            "context=4096",
            "batch_size=4096",
            "bytes_per_element=8",
        ],
        vec!["model=cnn", "width=4096", "depth=64", "batch_size=4096", "bytes_per_element=8"],
        vec![
            "layers=[1000000, 1000000, 1000000, 1000000]",
            "batch_size=4096",
            "bytes_per_element=8",
        ],
    ];
    for set in widest {
        let (record, count) = counted(&set);
        let flops = record.setup.architecture.forward_flops(4096);
        assert_eq!(count.matmul_flops, flops, "{set:?}");
        assert!(i64::try_from(count.backward_matmul_flops).is_ok(), "{set:?}");
        assert!(count.memory_bound_share.is_finite(), "{set:?}");
    }
}
