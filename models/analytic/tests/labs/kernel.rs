//! Kind `kernel` as a user runs it: own kernels, their arguments, and failures.

use mlsys_lab::params::Given;
use mlsys_lab::{LabError, RunData, Settings, Value};

use crate::run::{number, ran, run, settings};

fn with_source(source: &str, set: &[&str]) -> Settings {
    let mut settings = settings(set);
    settings.push("example", Given::Text("custom".to_owned()));
    settings.push("source", Given::Text(source.to_owned()));
    settings
}

fn custom(source: &str, set: &[&str]) -> Result<RunData, LabError> {
    run("kernel", &with_source(source, set))
}

fn buffer(data: &RunData, name: &str) -> Vec<Value> {
    match data.metrics().get(format!("buffer.{name}").as_str()) {
        Some(Value::Array(values)) => values.clone(),
        other => panic!("buffer.{name} is {other:?}"),
    }
}

#[test]
fn large_examples_end_with_a_sentence() {
    // Bounded before buffers are filled; and no reference is computed for a kernel that does not end.
    for (set, said) in [
        (["example=transpose-naive", "rows=4096", "columns=4096"], "more than 8388608 elements"),
        (["example=matmul-naive", "rows=1600", "columns=1600"], "stopped after 5000000"),
    ] {
        let error = run("kernel", &settings(&set)).expect_err("too large");
        assert!(error.to_string().contains(said), "{error}");
    }
}

const SCALE: &str = "__global__ void scale(float *out, const int *in, int n, float by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * by;
}";

#[test]
fn a_custom_kernel_takes_arguments_by_name() {
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
fn a_buffer_begins_with_a_list_or_a_range() {
    let set = ["arguments.in.fill=[-3, 1\n2]", "arguments.out.buffer=3", "arguments.by=1"];
    let data = custom(SCALE, &set).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(buffer(&data, "in"), [-3, 1, 2].map(Value::Int));
    let range = ["arguments.in.fill=uniform(-2, 2)", "arguments.in.buffer=400", "arguments.by=1"];
    let data = custom(SCALE, &range).unwrap_or_else(|error| panic!("{error}"));
    let found = buffer(&data, "in");
    let all = [-2, -1, 0, 1, 2].map(Value::Int);
    assert!(all.iter().all(|one| found.contains(one)) && found.iter().all(|one| all.contains(one)));
}

#[test]
fn only_the_first_elements_of_a_long_buffer_are_told() {
    let source = "__global__ void k(int *a) { a[threadIdx.x] = 1; }";
    let data = custom(source, &["arguments.a.buffer=10000", "arguments.a.fill=ones"]);
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
    let typed = error(&with_source(bad, &[]));
    assert!(typed.contains("'source': line 2, column 10: 'b' is not declared"), "{typed}");
    let mut from_file = settings(&["example=custom"]);
    from_file.push("source", Given::File { name: "halo.cu".to_owned(), text: bad.to_owned() });
    let told = error(&from_file);
    assert!(told.contains("halo.cu:2:10: 'b' is not declared"), "{told}");
    // Of a long line only what lies around the place is shown.
    let long = format!("__global__ void k(int *a) {{ {}b; }}", "a[0] = 1; ".repeat(500));
    let told = error(&with_source(&long, &[]));
    assert!(told.contains("line 1, column 5029") && told.len() < 600, "{told}");
}

#[test]
fn an_endless_kernel_fails_and_says_where_it_was() {
    // The first warp has ended, or waits.
    let source =
        "__global__ void k(int *a) {\n  if (threadIdx.x < 32) return;\n\n  while (1) {}\n}";
    for set in ["schedule=in-order", "schedule=random"] {
        let error = custom(source, &[set, "block_dim=[64]", "max_instructions=1000"]).unwrap_err();
        assert!(error.to_string().contains("in line 4"), "{error}");
    }
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
        (&["arguments.by=1", "arguments.in.type=float"], "the kernel takes int*"),
        (&["arguments.by=1", "arguments.in.fill=ten"], "index, ones, zeros, random and poison"),
        (&["arguments.by=1", "arguments.in.fill=1 2\n3 x"], "has 'x' in line 2 as number 4"),
        (
            &["arguments.by=1", "arguments.in.fill=1, 2.5"],
            "'2.5' in line 1 as number 2, which is no int",
        ),
        (&["arguments.by=1", "arguments.in.fill=uniform(3, 1)"], "such as uniform(-1, 1)"),
        (&["arguments.by=1", "arguments.in.fill=1, 2", "arguments.in.buffer=1"], "has 2 numbers"),
        (&["arguments.by=1", "arguments.in.buffer=0"], "at least 1"),
        (&["arguments.by=1", "arguments.in.buffer=1e9"], "more than 8388608 elements"),
    ] {
        match custom(SCALE, set) {
            Err(error) => {
                let message = error.to_string();
                assert!(error.is_usage() && message.contains(said), "{set:?}: {message}");
            }
            Ok(_) => panic!("{set:?} runs"),
        }
    }
}

#[test]
fn without_a_gpu_the_interpreter_runs_alone() {
    let simulated = ran("kernel", &["execution=simulate"]);
    assert_eq!(simulated.metrics(), ran("kernel", &["execution=both"]).metrics());
    let device = run("kernel", &settings(&["execution=device"]));
    assert!(matches!(device, Err(LabError::Device { .. })));
}

#[test]
fn no_schedule_changes_what_comes_out_or_what_it_costs() {
    for example in
        ["window-sum-slide", "window-sum-no-barrier", "reduce-interleaved", "matmul-tile"]
    {
        let told = |schedule: &str, blocks: &str| {
            let example = format!("example={example}");
            let sizes = ["rows=32", "columns=32", "elements=64"];
            let data = ran("kernel", &[&[example.as_str(), schedule, blocks], &sizes[..]].concat());
            let metrics = data.metrics();
            let counters =
                |name: &&str| !["first_problem", "mismatches", "mismatch_indices"].contains(name);
            // What a race leaves behind is the schedule's; that there is one is not.
            let metrics = metrics.into_iter().filter(|(name, _)| counters(name));
            metrics.map(|(name, value)| (name.to_owned(), value.clone())).collect::<Vec<_>>()
        };
        let first = told("schedule=in-order", "concurrent_blocks=1");
        assert_eq!(first, told("schedule=random", "concurrent_blocks=3"), "{example}");
        assert_eq!(first, told("schedule=round-robin", "concurrent_blocks=64"), "{example}");
    }
}

#[test]
fn the_kernel_run_and_the_formulas_count_the_same() {
    // Sectors and banks of an access pattern.
    for (word, lanes) in [
        ("lane", "i"),
        ("2*lane", "2*i"),
        ("33*lane + 7", "33*i + 7"),
        ("32*lane", "32*i"),
        ("(lane*7) % 32", "(i*7) % 32"),
        ("5", "5"),
        ("lane/4 + 64*(lane % 4)", "i/4 + 64*(i % 4)"),
    ] {
        let source = format!(
            "__global__ void k(float *out, const float *a) {{
  __shared__ float s[1100];
  int i = threadIdx.x;
  for (int j = i; j < 1100; j += 32) s[j] = j;
  __syncthreads();
  out[i] = a[{lanes}] + s[{lanes}];
}}"
        );
        let set = [
            "block_dim=[32]",
            "grid_dim=[1]",
            "arguments.out.buffer=32",
            "arguments.a.buffer=1100",
        ];
        let kernel = custom(&source, &set).unwrap_or_else(|error| panic!("{error}"));
        let sectors = ran("coalescing", &[format!("byte_address=4*({word})")]);
        let banks = ran("bank-conflicts", &[format!("word_index={word}")]);
        assert_eq!(kernel.metric("global_load_sectors"), sectors.metric("sectors"), "{word}");
        assert_eq!(kernel.metric("load_efficiency"), sectors.metric("efficiency"), "{word}");
        assert_eq!(number(&kernel, "bank_replays"), number(&banks, "degree") - 1.0, "{word}");
    }
    // Branches: one at the end of each reduction is not in the formula's loop.
    for (example, condition, steps) in [
        ("reduce-interleaved", "tid % (2*s) == 0", "[1, 2, 4, 8, 16, 32, 64, 128]"),
        ("reduce-sequential", "tid < s", "[128, 64, 32, 16, 8, 4, 2, 1]"),
    ] {
        let example = format!("example={example}");
        let kernel = ran("kernel", &[example.as_str(), "elements=256", "block_dim=[256]"]);
        let formula =
            ran("divergence", &[format!("condition={condition}"), format!("steps={steps}")]);
        let warps = number(&formula, "divergent_warps");
        assert_eq!(number(&kernel, "divergent_branches"), warps + 1.0, "{example}");
    }
    // The halo, with either guard.
    for (elements, threads, radius) in [(8, 4, 2), (9, 4, 2), (64, 16, 3), (33, 32, 1), (5, 8, 0)] {
        for (example, guard) in [("window-sum-slide", "elements"), ("window-sum-shared", "padded")]
        {
            let sizes = |block: &str| {
                vec![format!("elements={elements}"), format!("radius={radius}"), block.to_owned()]
            };
            let mut kernel = sizes(&format!("block_dim=[{threads}]"));
            kernel.push(format!("example={example}"));
            let mut formula = sizes(&format!("threads_per_block={threads}"));
            formula.push(format!("load_guard={guard}"));
            let (counted, formula) = (ran("kernel", &kernel), ran("window-sum", &formula));
            for (one, other) in [
                ("mismatch_indices", "bad_outputs"),
                ("global_loads", "shared_loads"),
                ("shared_bytes_per_block", "shared_bytes_per_block"),
            ] {
                assert_eq!(counted.metric(one), formula.metric(other), "{kernel:?} {one}");
            }
        }
    }
}

#[test]
fn a_long_sum_in_one_thread_is_as_correct_as_floats_are() {
    let long = ["example=softmax-row", "rows=1", "columns=2048", "block_dim=[1, 1, 1]"];
    let data = ran("kernel", &long);
    assert_eq!(data.metrics().get("correct"), Some(&Value::Bool(true)));
}
