//! Kernels inside a network: one of two hidden neurons; its classes are told from its hidden layer at a glance.

use mlsys_kernel::{
    Classifier, Extensions, KernelLab, NetworkError, ReplacedOperation, SuspendedForward,
};
use mlsys_lab::frame::Verdict;
use mlsys_lab::{DeviceId, Frame, LabError, RunData, Value};

use crate::run::{run, run_lab, settings};

/// Example i has the products (i, 0) and the bias (0.5, 1); its class is the whole part of its first neuron.
struct Stub;

impl Classifier for Stub {
    fn hidden(&self) -> usize {
        2
    }

    fn open(
        &self,
        plug: ReplacedOperation,
        batch: usize,
        _: u64,
        _: DeviceId,
    ) -> Result<SuspendedForward, NetworkError> {
        let products: Vec<f32> = (0..batch).flat_map(|i| [i as f32, 0.0]).collect();
        let bias = [0.5, 1.0].repeat(batch);
        let sums: Vec<f32> = products.iter().zip(&bias).map(|(a, b)| a + b).collect();
        Ok(SuspendedForward {
            operands: match plug {
                ReplacedOperation::BiasAdd => vec![products, bias],
                ReplacedOperation::Relu => vec![sums.clone()],
            },
            result: sums,
            pixels: vec![vec![0.0, 1.0, 0.5, 0.25]; batch],
            width: 2,
            truth: (0..batch).collect(),
            rest: Box::new(|hidden| Ok(hidden.chunks(2).map(|row| row[0] as usize).collect())),
        })
    }
}

fn plugged(set: &[&str]) -> Result<RunData, LabError> {
    let lab = KernelLab::new().expect("the schema reads");
    let lab = lab
        .with_extensions(Extensions { classifier: Some(Box::new(Stub)), ..Extensions::default() });
    let (data, ended) = run_lab(&lab, DeviceId::CPU, &settings(set));
    ended.map(|()| data)
}

fn metrics(set: &[&str]) -> impl Fn(&str) -> Value + use<> {
    let data = plugged(set).unwrap_or_else(|error| panic!("{error}"));
    move |name| data.metrics().get(name).cloned().expect("a metric")
}

#[test]
fn a_wrong_kernel_changes_the_model() {
    let right = metrics(&["plug_in=bias-add", "batch_size=10", "block_dim=[8]"]);
    assert_eq!(right("correct"), Value::Bool(true));
    assert_eq!(right("threads"), Value::Int(24));
    assert_eq!(right("idle_threads"), Value::Int(4));
    assert_eq!(right("network_mismatches"), Value::Int(0));
    assert_eq!(right("network_accuracy"), Value::Float(1.0));
    // Elements 0 to 7 are written by all blocks alike: examples 0 to 3 keep their class, the others read 0.
    let wrong = metrics(&[
        "example=vector-add-local-index",
        "plug_in=bias-add",
        "batch_size=10",
        "block_dim=[8]",
    ]);
    assert_eq!(wrong("network_mismatches"), Value::Int(12));
    assert_eq!(wrong("network_accuracy"), Value::Float(0.4));
    assert_eq!(wrong("network_reference_accuracy"), Value::Float(1.0));
}

#[test]
fn wrong_digits_are_marked_by_their_label_too() {
    let data = plugged(&[
        "example=vector-add-local-index",
        "plug_in=bias-add",
        "batch_size=3",
        "block_dim=[2]",
    ]);
    let data = data.unwrap_or_else(|error| panic!("{error}"));
    let (_, frame) = &data.frames["network"];
    let Frame::Images(images) = frame else { panic!("{frame:?}") };
    let labels: Vec<_> =
        images.images.iter().map(|image| (image.label.as_str(), image.verdict)).collect();
    assert_eq!(
        labels,
        [("0", Verdict::Right), ("0 (1)", Verdict::Wrong), ("0 (2)", Verdict::Wrong)]
    );
    assert_eq!((images.width, images.height), (2, 2));
    assert_eq!(images.images[0].pixels, [0, 255, 128, 64]);
}

fn custom(source: &str, plug: &str) -> Result<RunData, LabError> {
    let source = format!("source={source}");
    plugged(&["example=custom", &source, plug, "batch_size=4", "block_dim=[8]"])
}

#[test]
fn a_custom_kernel_plugs_in_at_any_position() {
    let i = "int i = blockDim.x * blockIdx.x + threadIdx.x;";
    for (plug, arguments, work) in [
        ("plug_in=bias-add", "float *c, const float *a, const float *b", "c[i] = a[i] + b[i]"),
        ("plug_in=bias-add", "float *a, float *b, float *c", "c[i] = a[i] + b[i]"),
        ("plug_in=bias-add", "float *x, const float *b", "x[i] += b[i]"),
        ("plug_in=relu", "const float *a, float *c", "c[i] = fmaxf(a[i], 0.0f)"),
        ("plug_in=relu", "float *x", "x[i] = fmaxf(x[i], 0.0f)"),
    ] {
        let source = format!("__global__ void k({arguments}, int n) {{ {i} if (i < n) {work}; }}");
        let data = custom(&source, plug).unwrap_or_else(|error| panic!("{source}: {error}"));
        assert_eq!(data.metrics().get("network_mismatches"), Some(&Value::Int(0)), "{source}");
        assert!(data.metrics().keys().any(|name| name.starts_with("buffer.")), "{source}");
    }
}

#[test]
fn what_does_not_fit_is_told_before_anything_runs() {
    let refused = |result: Result<RunData, LabError>| match result {
        Ok(_) => panic!("it runs"),
        Err(error) => {
            assert!(error.is_usage(), "{error}");
            error.to_string()
        }
    };
    let three = "__global__ void k(const float *a, int n) { }";
    assert!(refused(custom(three, "plug_in=relu")).contains("takes 1 buffer and may write to 0"));
    let whole = "__global__ void k(const int *a, float *c, int n) { }";
    assert!(refused(custom(whole, "plug_in=relu")).contains("'a' is int*"));
    let reduce = plugged(&["example=reduce-sequential", "plug_in=bias-add"]);
    assert!(refused(reduce).contains("a kernel that adds two arrays"));
    assert!(refused(plugged(&["plug_in=relu"])).contains("one input and one output"));
    let described = plugged(&[
        "example=custom",
        "source=__global__ void k(float *x, int n) { }",
        "plug_in=relu",
        "arguments.x.buffer=4",
    ]);
    assert!(refused(described).contains("'x' is filled by the network"));
    let alone = run("kernel", &settings(&["plug_in=bias-add"]));
    assert!(refused(alone).contains("no network here"));
}
