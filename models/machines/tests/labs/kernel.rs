//! Kind `kernel` as somebody drives it: kernels of one's own, their arguments, and how a run ends badly.

use mlsys_lab::params::Given;
use mlsys_lab::{LabError, RunData, Settings, Value};

use crate::run::run;

fn settings(source: &str, set: &[&str]) -> Settings {
    let mut settings = Settings::from_pairs(set.iter().copied()).expect("name=value");
    settings.push("example", Given::Text("custom".to_owned()));
    settings.push("source", Given::Text(source.to_owned()));
    settings
}

fn custom(source: &str, set: &[&str]) -> Result<RunData, LabError> {
    run("kernel", &settings(source, set))
}

fn buffer(data: &RunData, name: &str) -> Vec<Value> {
    match data.metrics().get(format!("buffer.{name}").as_str()) {
        Some(Value::Array(values)) => values.clone(),
        other => panic!("buffer.{name} is {other:?}"),
    }
}

const SCALE: &str = "__global__ void scale(float *out, const int *in, int n, float by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * by;
}";

#[test]
fn a_kernel_of_ones_own_takes_its_arguments_by_name_and_gives_its_buffers() {
    let arguments = [
        "arguments.out.buffer=5",
        "arguments.out.fill=poison",
        "arguments.out.type=float",
        "arguments.in.buffer=4",
        "arguments.in.fill=index",
        "arguments.n=4",
        "arguments.by=0.5",
    ];
    let data = custom(SCALE, &arguments).unwrap_or_else(|error| panic!("{error}"));
    let halves = [0.0, 0.5, 1.0, 1.5].map(Value::Float);
    let out = buffer(&data, "out");
    assert_eq!(out[..4], halves);
    assert_eq!(out[4], Value::from("poison"));
    assert_eq!(buffer(&data, "in"), [0, 1, 2, 3].map(Value::Int));
    // The same as one table, as lessons write it.
    let table = [
        "arguments={ out = { buffer = 5 }, in = { buffer = 4, fill = \"index\" }, n = 4, by = 0.5 }",
    ];
    let again = custom(SCALE, &table).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again.metrics(), data.metrics());
}

#[test]
fn only_the_first_elements_of_a_long_buffer_are_told() {
    let source = "__global__ void k(int *a) { a[threadIdx.x] = 1; }";
    let data = custom(
        source,
        &["arguments.a.buffer=10000", "arguments.a.fill=ones"],
    );
    let data = data.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(buffer(&data, "a").len(), 4096);
}

#[test]
fn what_does_not_read_is_told_with_file_line_and_column() {
    let bad = "__global__ void k(int *a) {\n  a[0] = b;\n}";
    let error = |settings: &Settings| match run("kernel", settings) {
        Ok(_) => panic!("it runs"),
        Err(error) => {
            assert!(error.is_usage());
            error.to_string()
        }
    };
    let typed = error(&settings(bad, &[]));
    assert!(
        typed.contains("kernel.cu:2:10: 'b' is not declared"),
        "{typed}"
    );
    let mut from_file = Settings::from_pairs(["example=custom"]).expect("name=value");
    from_file.push(
        "source",
        Given::File {
            name: "halo.cu".to_owned(),
            text: bad.to_owned(),
        },
    );
    let told = error(&from_file);
    assert!(told.contains("halo.cu:2:10: 'b' is not declared"), "{told}");
    // Of a long line only what lies around the place is shown.
    let long = format!(
        "__global__ void k(int *a) {{ {}b; }}",
        "a[0] = 1; ".repeat(500)
    );
    let told = error(&settings(&long, &[]));
    assert!(
        told.contains("kernel.cu:1:5029") && told.len() < 600,
        "{told}"
    );
}

#[test]
fn an_endless_kernel_fails_and_says_where_it_was() {
    let source = "__global__ void k(int *a) {\n  while (true) a[0] = 1;\n}";
    for budget in ["max_instructions=1000", "max_instructions=5000000"] {
        match custom(source, &[budget]) {
            Err(error @ LabError::Failed { .. }) => {
                let message = error.to_string();
                assert!(message.contains("line 2"), "{message}");
                assert!(message.contains("max_instructions"), "{message}");
            }
            other => panic!("{budget}: {other:?}"),
        }
    }
}

#[test]
fn what_the_arguments_cannot_be_is_told_by_name() {
    for (set, said) in [
        (&["arguments.n=4"][..], "'by' has no value"),
        (&["arguments.in=4"], "set arguments.in.buffer"),
        (&["arguments.m=4", "arguments.by=1"], "takes no 'm'"),
        (
            &["arguments.by=1", "arguments.in.type=float"],
            "the kernel takes int*",
        ),
        (
            &["arguments.by=1", "arguments.in.fill=ten"],
            "index, ones, zeros, random and poison",
        ),
        (&["arguments.by=1", "arguments.in.buffer=0"], "at least 1"),
        (
            &["arguments.by=1", "arguments.in.buffer=1e9"],
            "more than 16777216 elements",
        ),
    ] {
        match custom(SCALE, set) {
            Err(error) => {
                let message = error.to_string();
                assert!(
                    error.is_usage() && message.contains(said),
                    "{set:?}: {message}"
                );
            }
            Ok(_) => panic!("{set:?} runs"),
        }
    }
}

#[test]
fn without_a_gpu_both_is_the_interpreter_and_the_device_alone_is_missing() {
    let pairs = |execution: &str| {
        Settings::from_pairs([format!("execution={execution}").as_str()]).expect("name=value")
    };
    let simulated = run("kernel", &pairs("simulate")).unwrap_or_else(|error| panic!("{error}"));
    let both = run("kernel", &pairs("both")).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(simulated.metrics(), both.metrics());
    assert!(matches!(
        run("kernel", &pairs("device")),
        Err(LabError::Device { .. })
    ));
}

#[test]
fn no_schedule_changes_what_comes_out_or_what_it_costs() {
    for example in [
        "window-sum-slide",
        "window-sum-no-barrier",
        "reduce-interleaved",
        "matmul-tile",
    ] {
        let told = |schedule: &str, blocks: &str| {
            let settings = Settings::from_pairs([
                format!("example={example}").as_str(),
                schedule,
                blocks,
                "rows=32",
                "columns=32",
                "elements=64",
            ])
            .expect("name=value");
            let data = run("kernel", &settings).unwrap_or_else(|error| panic!("{error}"));
            let metrics = data.metrics();
            let counters =
                |name: &&str| !["first_problem", "mismatches", "mismatch_indices"].contains(name);
            // What a race leaves behind is the schedule's; that there is one is not.
            let metrics = metrics.into_iter().filter(|(name, _)| counters(name));
            metrics
                .map(|(name, value)| (name.to_owned(), value.clone()))
                .collect::<Vec<_>>()
        };
        let first = told("schedule=in-order", "concurrent_blocks=1");
        assert_eq!(
            first,
            told("schedule=random", "concurrent_blocks=3"),
            "{example}"
        );
        assert_eq!(
            first,
            told("schedule=round-robin", "concurrent_blocks=64"),
            "{example}"
        );
    }
}
