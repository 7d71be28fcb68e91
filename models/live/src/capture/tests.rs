use std::sync::mpsc;

use mlsys_lab::control::Limits;
use mlsys_lab::{Control, Lab, RunData, Value};
use mlsys_nn::capture::table::Class;

use super::*;
use crate::trial::{must_be_declared, must_refuse, number, params, run, turn};

fn counted(set: &[&str]) -> (Record, Costs) {
    let params = params(&lab().unwrap(), set);
    let (record, _) = Record::new(Setup::read(&params).unwrap()).unwrap();
    let count = record.count(&cost_model(&params).unwrap());
    (record, count)
}

#[test]
fn the_default_network_counts_what_its_formulas_say() {
    let (record, count) = counted(&[]);
    assert_eq!(record.setup.architecture.parameters(), 669_706);
    assert_eq!(count.matmul_flops, 85_590_016);
    assert_eq!(count.backward_matmul_flops, 119_799_808);
    assert_eq!(count.saved_bytes, 465_408);
    assert_eq!(count.inference_peak_bytes, 331_776);
}

#[test]
fn counts_equal_those_of_the_architecture() {
    for set in [
        vec!["model=mlp", "layers=[3, 5, 2]", "batch_size=7"],
        vec!["model=mlp", "layers=[3, 5, 5, 2]", "activation=gelu"],
        vec!["model=cnn", "width=8", "batch_size=3"],
        vec!["model=cnn", "width=4", "depth=4"],
        vec!["model=transformer", "width=32", "batch_size=2"],
        vec!["model=transformer", "width=64", "depth=1", "kv_heads=1", "context=5"],
    ] {
        let (record, count) = counted(&set);
        let (architecture, batch) = (&record.setup.architecture, record.setup.batch as u64);
        let kept = architecture.kept_numbers(record.setup.activation, batch);
        assert_eq!(count.matmul_flops, architecture.forward_flops(batch), "{set:?}");
        assert_eq!(count.backward_matmul_flops, architecture.backward_flops(batch), "{set:?}");
        assert_eq!(count.recorded.matmul_flops, architecture.backward_flops(batch), "{set:?}");
        assert_eq!(count.saved_bytes, 4 * kept, "{set:?}");
    }
}

/// Operations that give one number for each that they read; what is not known by name is taken for one of these.
const ELEMENTWISE: &str = "add add_scalar clamp_min div div_scalar exp gelu gelu_backward log lower_elem mask_fill \
    mask_where mul mul_scalar neg powf_scalar powi recip relu relu_backward sigmoid sigmoid_backward sqrt sub sub_scalar tanh";

#[test]
fn every_recorded_operation_is_of_a_kind_that_is_known() {
    let mut unknown = std::collections::BTreeSet::new();
    for activation in ["relu", "tanh", "sigmoid", "gelu", "silu", "identity"] {
        for model in ["mlp", "cnn", "transformer"] {
            for optimizer in ["sgd", "adam"] {
                let set = format!("model={model} activation={activation} optimizer={optimizer}");
                let (record, _) = counted(&set.split(' ').collect::<Vec<_>>());
                let nodes = record.table.nodes.into_iter();
                let nodes = nodes.filter(|node| node.class == Class::Elementwise);
                let is_known = |name: &String| ELEMENTWISE.split(' ').any(|known| known == name);
                unknown.extend(nodes.map(|node| node.name).filter(|name| !is_known(name)));
            }
        }
    }
    assert!(unknown.is_empty(), "{unknown:?}");
}

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
        // Recomputing a block repeats its products; recomputing elementwise results repeats none.
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
fn recomputed_blocks_keep_only_inputs() {
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
        let flops = |count: &Costs| count.units.iter().map(|unit| unit.flops).sum::<u64>();
        assert_eq!(flops(&fused), flops(&apart), "{model}");
        assert_eq!(fused.saved_bytes, apart.saved_bytes, "{model}");
    }
}

#[test]
fn byte_counts_scale_with_element_size() {
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
fn a_batch_shares_the_weights_alone() {
    for model in ["mlp", "cnn", "transformer"] {
        let model = format!("model={model}");
        let (_, alone) = counted(&[&model, "batch_size=1"]);
        let (_, many) = counted(&[&model, "batch_size=64"]);
        let [alone, shared] =
            [alone.memory_joules, many.memory_joules_alone(64)].map(Option::unwrap);
        // A transformer's mask and its angles are the same for all sequences as well.
        assert!((shared / alone - 1.0).abs() < 0.03, "{model}: {shared} for {alone}");
        let parts = many.units.iter().filter_map(|unit| unit.memory_joules()).sum::<f64>();
        assert!((parts / many.memory_joules.unwrap() - 1.0).abs() < 1e-9, "{model}");
    }
}

#[test]
fn the_largest_networks_do_not_overflow() {
    let transformer = "model=transformer width=4096 depth=64 heads=64 kv_heads=64 ffn=100000 vocab=100000 context=4096";
    for set in [
        transformer.split(' ').collect(),
        vec!["model=cnn", "width=4096", "depth=64"],
        vec!["layers=[1000000, 1000000, 1000000, 1000000]"],
    ] {
        let set = [&set[..], &["batch_size=4096", "bytes_per_element=8"]].concat();
        let (record, count) = counted(&set);
        let flops = record.setup.architecture.forward_flops(4096);
        assert_eq!(count.matmul_flops, flops, "{set:?}");
        assert!(i64::try_from(count.backward_matmul_flops).is_ok(), "{set:?}");
        assert!(count.memory_bound_share.is_finite(), "{set:?}");
    }
}

fn capture(set: &[&str]) -> RunData {
    run(&lab().unwrap(), set)
}

/// Small networks of each kind, with what makes their graphs differ.
const NETWORKS: [&[&str]; 6] = [
    &["layers=[20, 16, 16, 4]", "batch_size=8"],
    &["layers=[6, 3]", "batch_size=2", "activation=identity"],
    &["layers=[20, 16, 4]", "batch_size=8", "activation=gelu"],
    &["model=cnn", "width=2", "depth=3", "batch_size=2", "activation=silu"],
    &["model=transformer", "width=16", "context=8", "batch_size=2"],
    &["model=transformer", "width=16", "kv_heads=4", "depth=1", "context=1", "batch_size=3"],
];

#[test]
fn every_network_is_drawn_and_its_record_is_true() {
    for set in NETWORKS {
        let data = capture(set);
        must_be_declared(&lab().unwrap(), &data);
        let replay = number(&data, "replay_difference");
        assert!(replay <= 1e-6, "{set:?}: {replay}");
        let slopes = number(&data, "gradient_check_error");
        assert!(slopes <= 1e-3, "{set:?}: {slopes}");
        assert_eq!(number(&data, "steps_done"), 9.0, "{set:?}");
    }
}

#[test]
fn unrecordable_networks_are_refused() {
    let many = format!("layers=[{}]", vec!["2"; 100].join(", "));
    must_refuse(
        &lab().unwrap(),
        &[
            (&["layers=[]"], "at least two sizes"),
            (&["layers=[784]"], "at least two sizes"),
            (&["layers=[784, 0, 10]"], "size 2 is 0"),
            (&["layers=[784, 2.5]"], "size 2 is 2.5"),
            (&["layers=[784, 10000000]"], "size 2 is 10000000"),
            (&[&many], "at most 64 layers"),
            (&["model=transformer", "width=30"], "heads"),
            (&["model=transformer", "kv_heads=3"], "kv_heads"),
            (&["model=transformer", "width=12"], "even"),
            (&["model=transformer", "ffn=100001"], "100001"),
            (&["gpu=v100-sxm2-16gb", "precision=bf16-tensor"], "precision"),
        ],
    );
}

#[test]
fn too_large_networks_are_only_counted() {
    let data = capture(&["model=transformer", "width=4096", "heads=32", "context=1024"]);
    assert!(data.notices[0].contains("are left out"), "{:?}", data.notices);
    assert!(data.metric("gradient_check_error").is_none());
    assert!(number(&data, "saved_bytes") > 1e9);
}

/// A run with knobs turned before its first step.
fn turned(turns: &[(&str, Value)]) -> (RunData, Result<(), LabError>) {
    let (sender, receiver) = mpsc::channel();
    for (name, value) in turns {
        sender.send(turn(name, value.clone())).unwrap();
    }
    let (lab, mut data) = (lab().unwrap(), RunData::default());
    let ended = lab.run(&mut Run {
        params: params(&lab, &["layers=[20, 16, 4]", "batch_size=8"]),
        device: DeviceId::CPU,
        sink: &mut data,
        control: Control::steered(receiver, Limits::default(), Default::default()),
    });
    (data, ended)
}

#[test]
fn contradicting_knobs_do_not_end_the_run() {
    let knobs = |precision: &str| {
        turned(&[("gpu", Value::from("v100-sxm2-16gb")), ("precision", Value::from(precision))])
    };
    let (data, ended) = knobs("fp16-tensor");
    ended.unwrap();
    assert!(data.metric("gradient_check_error").is_some());
    let (data, ended) = knobs("bf16-tensor");
    assert!(data.notices.iter().any(|notice| notice.contains("precision")), "{:?}", data.notices);
    // The checks were still made; that the knobs fit nothing is how it ends.
    assert!(data.metric("gradient_check_error").is_some());
    assert!(ended.unwrap_err().to_string().contains("precision"));
}

#[test]
fn a_live_knob_equals_an_initial_setting() {
    let (data, ended) = turned(&[("batch_size", Value::Int(3)), ("fuse", Value::Bool(true))]);
    ended.unwrap();
    let fresh = capture(&["layers=[20, 16, 4]", "batch_size=3", "fuse=true"]);
    assert_eq!(data.changes.len(), 2);
    for (name, value) in fresh.metrics() {
        if !matches!(name, "wall_seconds" | "gradient_check_error" | "replay_difference") {
            assert_eq!(data.metric(name), Some(value), "{name}");
        }
    }
    assert!(number(&data, "replay_difference") <= 1e-6);
    assert!(number(&data, "gradient_check_error") <= 1e-3);
}
