use super::lab;
use super::session::Record;
use super::setup::{Setup, read_counting};
use mlsys_lab::{Lab, Params, Settings, Tables};
use mlsys_nn::capture::count::Count;

mod kept;
mod run;

fn counted(set: &[&str]) -> (Record, Count) {
    let lab = lab().unwrap();
    let settings = Settings::from_pairs(set.iter().copied()).unwrap();
    let params = Params::resolve(lab.schema(), &settings, Tables::builtin(), None).unwrap();
    let (record, _) = Record::new(Setup::read(&params).unwrap()).unwrap();
    let count = record.count(&read_counting(&params).unwrap());
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
const ELEMENTWISE: [&str; 26] = [
    "add",
    "add_scalar",
    "clamp_min",
    "div",
    "div_scalar",
    "exp",
    "gelu",
    "gelu_backward",
    "log",
    "lower_elem",
    "mask_fill",
    "mask_where",
    "mul",
    "mul_scalar",
    "neg",
    "powf_scalar",
    "powi",
    "recip",
    "relu",
    "relu_backward",
    "sigmoid",
    "sigmoid_backward",
    "sqrt",
    "sub",
    "sub_scalar",
    "tanh",
];

#[test]
fn every_recorded_operation_is_of_a_kind_that_is_known() {
    let mut unknown = std::collections::BTreeSet::new();
    for activation in ["relu", "tanh", "sigmoid", "gelu", "silu", "identity"] {
        for model in ["mlp", "cnn", "transformer"] {
            for optimizer in ["sgd", "adam"] {
                let set = [("model", model), ("activation", activation)];
                let set = set.map(|(name, value)| format!("{name}={value}"));
                let optimizer = format!("optimizer={optimizer}");
                let (record, _) = counted(&[&set[0], &set[1], &optimizer]);
                let nodes = record.table.nodes.into_iter();
                let named = |node: &mlsys_nn::capture::table::Node| {
                    ELEMENTWISE.contains(&node.name.as_str())
                };
                let nodes =
                    nodes.filter(|node| node.class == mlsys_nn::capture::table::Class::Elementwise);
                unknown.extend(nodes.filter(|node| !named(node)).map(|node| node.name));
            }
        }
    }
    assert!(unknown.is_empty(), "{unknown:?}");
}
