//! What every lab's schema promises.

mod well_formed;

use std::collections::BTreeSet;

use mlsys_lab::schema::{Draw, Type};
use mlsys_lab::{RunData, Schema, Settings, Value};

use self::well_formed::well_formed;
use crate::run::{lab, run};

/// Settings that between them meet every `when` of every lab.
const CASES: &[(&str, &[&str])] = &[
    ("graph", &[]),
    ("kernel", &[]),
    ("kernel", &["example=window-sum-slide"]),
    (
        "kernel",
        &[
            "example=custom",
            "source=__global__ void k(float *a, const int *b, int n) { a[n] = 0.0f / 0; }",
            "arguments.a.buffer=3",
            "arguments.a.fill=random",
            "arguments.n=1",
        ],
    ),
    ("lowering", &[]),
    (
        "lowering",
        &[
            "kernel=softmax-row",
            "vector_width=4",
            "left=ptx",
            "right=spirv",
            "languages=20",
            "targets=[\"ptx\", \"metal\"]",
        ],
    ),
    ("graph", &["learning_rate=0.1"]),
    (
        "graph",
        &[
            "expression=y = max(x, 2); y",
            "inputs.x=1",
            "inputs.unused=5",
        ],
    ),
    ("graph", &["expression=3", "inputs.x=1"]),
    ("landscape", &[]),
    (
        "landscape",
        &["sort=bandwidth", "order=ascending", "filter=memory >= 32"],
    ),
    ("landscape", &["table=generation"]),
    ("landscape", &["table=accelerator"]),
    ("landscape", &["table=compute-capability"]),
    ("landscape", &["table=link"]),
    ("landscape", &["table=network"]),
    ("landscape", &["table=top500"]),
    ("landscape", &["table=system"]),
    ("landscape", &["table=green500"]),
    ("landscape", &["table=operation"]),
    ("landscape", &["table=edge"]),
    ("landscape", &["table=price"]),
    ("landscape", &["table=model"]),
    ("landscape", &["table=portability"]),
    ("landscape", &["table=stack"]),
    ("thread-index", &[]),
    (
        "thread-index",
        &[
            "width=100",
            "block_index=[1000000000, 1000000000, 1000000000]",
        ],
    ),
    (
        "thread-index",
        &["block_dim=[2.0, 2, 256]", "thread_index=[1, 1, 255]"],
    ),
    ("launch-geometry", &[]),
    (
        "launch-geometry",
        &["elements=1e18", "threads_per_block=1000"],
    ),
    ("occupancy", &[]),
    ("occupancy", &["gpu=v100-sxm2-16gb"]),
    (
        "occupancy",
        &[
            "compute_capability=9.0",
            "dynamic_shared_bytes=1000000",
            "threads_per_block=1",
        ],
    ),
    ("gpu-peak", &[]),
    (
        "gpu-peak",
        &[
            "quoted_flops_per_second=1e15",
            "baseline_flops_per_second=1e14",
        ],
    ),
    ("sm-limits", &[]),
    ("sm-limits", &["gpu=a100-sxm4-40gb", "carveout_percent=100"]),
    ("window-sum", &[]),
    (
        "window-sum",
        &[
            "elements=1000000",
            "threads_per_block=1024",
            "radius=1000000000000",
        ],
    ),
    ("coalescing", &[]),
    (
        "coalescing",
        &["byte_address=2^50 + 31*lane", "access_bytes=16"],
    ),
    ("bank-conflicts", &[]),
    ("bank-conflicts", &["word_index=33*lane + 7"]),
    ("tensor-core", &[]),
    (
        "tensor-core",
        &["tile=4x4x4", "depth=5", "accumulate=fp16", "inputs=bf16"],
    ),
    (
        "tensor-core",
        &["depth=16384", "accumulate=fp16", "numbers=positive"],
    ),
    ("divergence", &[]),
    (
        "divergence",
        &["threads=1", "condition=s", "steps=[0, 1.0]"],
    ),
    ("waves", &[]),
    ("waves", &["blocks=1000000000000", "blocks_per_sm=3"]),
    (
        "waves",
        &["rows=1000000000", "columns=1000000000", "tile_rows=1"],
    ),
    ("roofline", &[]),
    ("roofline", &["flops=1e12", "bytes=1"]),
    ("doubling-time", &[]),
    ("doubling-time", &["factor=1e300", "months=12"]),
    ("prefill-decode", &[]),
    ("prefill-decode", &["kv_bytes_per_sequence=1e9", "batch=3"]),
    ("intensity", &[]),
    ("intensity", &["operation=elementwise", "elements=7"]),
    ("intensity", &["operation=dot"]),
    ("intensity", &["operation=attention"]),
    ("intensity", &["operation=counts"]),
    ("tensor-parallel", &[]),
    (
        "tensor-parallel",
        &[
            "ranks=1000",
            "sequence_parallel=true",
            "bytes_per_element=0",
        ],
    ),
    ("quantize", &[]),
    ("quantize", &["scheme=symmetric", "bits=3"]),
    (
        "quantize",
        &[
            "scheme=symmetric-restricted",
            "values=[[0.0, 0.0], [0.0]]",
            "scale=0.5",
            "zero_point=1",
            "bits=2",
        ],
    ),
    ("integer-matmul", &[]),
    (
        "integer-matmul",
        &["a=[[1, 2], [3, 4]]", "b=[[5], [6]]", "multiplier=0.003"],
    ),
    ("quantization-noise", &[]),
    (
        "quantization-noise",
        &["signal=sine", "step=0.25", "bits=5"],
    ),
    ("quantized-storage", &[]),
    (
        "quantized-storage",
        &["block_size=64", "second_block_size=256", "parameters=1"],
    ),
    ("nf4", &[]),
    ("nf4", &["values=[0.0, 0.0, 1.0]", "block_size=2"]),
    ("kmeans-quantize", &[]),
    (
        "kmeans-quantize",
        &[
            "weights=[[1.0, 2.0], [3.0, 9.0]]",
            "gradients=[[1.0, 1.0], [1.0, 1.0]]",
            "clusters=1",
        ],
    ),
    ("prune", &[]),
    ("prune", &["method=magnitude", "sparsity=1"]),
    ("distill-loss", &[]),
    (
        "distill-loss",
        &[
            "student_logits=[900.0, -900.0]",
            "teacher_logits=[-900.0, 900.0]",
            "temperature=1",
        ],
    ),
    ("lora-params", &[]),
    (
        "lora-params",
        &[
            "model=llama-2-7b",
            "targets=[\"q\", \"k\", \"v\", \"o\", \"gate\", \"up\", \"down\"]",
            "rank=3",
        ],
    ),
    ("kv-cache", &[]),
    (
        "kv-cache",
        &[
            "model=deepseek-v3",
            "memory_bytes=80e9",
            "prompt_tokens=100",
            "generated_tokens=50",
        ],
    ),
    ("online-softmax", &[]),
    ("online-softmax", &["blocks=[[-900.0], [900.0, 3]]"]),
    ("flash-io", &[]),
    ("flash-io", &["sequence=1000", "sram_elements=1"]),
    ("speculative-decoding", &[]),
    (
        "speculative-decoding",
        &[
            "acceptance_rate=1",
            "draft_tokens=1000000",
            "draft_time_ratio=0.1",
        ],
    ),
    ("operation-energy", &[]),
    (
        "operation-energy",
        &["operation=int8-add", "baseline=dram-32b"],
    ),
    ("energy", &[]),
    ("energy", &["device_hours=1e6", "reported_tonnes_co2e=500"]),
    ("link-time", &[]),
    ("link-time", &["bytes=0", "latency_seconds=0"]),
    (
        "link-time",
        &["bandwidth_bytes_per_second=1", "bytes=1e300"],
    ),
    ("all-reduce", &[]),
    (
        "all-reduce",
        &["algorithm=double-tree", "ranks=1000000000000"],
    ),
    ("all-reduce", &["algorithm=parameter-server", "bytes=0.5"]),
    ("all-reduce", &["ranks=33", "bytes=0", "link=10gige"]),
    ("bus-bandwidth", &[]),
    (
        "bus-bandwidth",
        &[
            "operation=reduce",
            "algorithm_bandwidth_bytes_per_second=1e11",
        ],
    ),
    ("double-binary-tree", &["ranks=2"]),
    ("double-binary-tree", &["ranks=9"]),
    ("double-binary-tree", &["ranks=65536"]),
    ("activation-memory", &[]),
    (
        "activation-memory",
        &["model=gpt2", "sequence=1000", "recompute=selective"],
    ),
    (
        "activation-memory",
        &["recompute=full", "tensor_ranks=8", "sequence_parallel=true"],
    ),
    ("pipeline", &[]),
    (
        "pipeline",
        &["schedule=interleaved-1f1b", "chunks_per_stage=3"],
    ),
    ("pipeline", &["schedule=zb-h1", "backward_weight_time=0"]),
    (
        "pipeline",
        &["schedule=zb-h2", "stages=256", "microbatches=2048"],
    ),
    ("transformer-params", &[]),
    ("transformer-params", &["model=gpt2"]),
    (
        "transformer-params",
        &["model=gpt2", "tied_embeddings=false", "context=0"],
    ),
    ("transformer-flops", &[]),
    (
        "transformer-flops",
        &["devices=8", "seconds=1.1", "recompute=full"],
    ),
    ("training-compute", &[]),
    (
        "training-compute",
        &[
            "flops=1e20",
            "device_hours=7",
            "usd_per_device_hour=2",
            "within_days=3",
        ],
    ),
    ("training-compute", &["parameters=1", "tokens=1"]),
    ("scaling-law", &[]),
    (
        "scaling-law",
        &["parameters=1", "tokens=1", "flops=1e30", "token_exponent=1"],
    ),
    ("supercomputer", &[]),
    ("supercomputer", &["system=summit"]),
    ("supercomputer", &["system=fugaku", "cpus=159976"]),
    ("scaling", &[]),
    ("scaling", &["processors=9600", "measured_speedup=7205"]),
    (
        "scaling",
        &[
            "baseline_processors=8",
            "baseline_seconds=1.42",
            "seconds=1.1",
        ],
    ),
    // Faster than as many times as there are processors, and not parallel at all.
    (
        "scaling",
        &["processors=4", "measured_speedup=5", "parallel_fraction=0"],
    ),
    ("scaling", &["processors=1", "parallel_fraction=1"]),
    ("checkpoint-interval", &[]),
    (
        "checkpoint-interval",
        &["devices=1000000", "checkpoint_seconds=3600"],
    ),
    ("zero-memory", &[]),
    ("zero-memory", &["ranks=1", "stage=0", "capacity_bytes=0"]),
    ("zero-memory", &["ranks=9000000000000000000", "stage=2"]),
    ("deepspeed-memory", &[]),
    (
        "deepspeed-memory",
        &["stage=2", "offload=optimizer", "nodes=1000000"],
    ),
    (
        "deepspeed-memory",
        &["offload=optimizer+parameters", "zero_init=false"],
    ),
    ("parallel-plan", &[]),
    (
        "parallel-plan",
        &["tensor=1", "pipeline=1", "data=1", "devices=1"],
    ),
    (
        "parallel-plan",
        &["model=gpt2", "pipeline=100", "data=3", "recompute=full"],
    ),
    (
        "parallel-plan",
        &[
            "devices=9000000000000000000",
            "data=7",
            "zero_stage=3",
            "chunks_per_stage=3",
        ],
    ),
];

fn case(kind: &str, set: &[&str]) -> RunData {
    let settings = Settings::from_pairs(set.iter().copied()).expect("name=value");
    run(kind, &settings).unwrap_or_else(|error| panic!("{kind} {set:?}: {error}"))
}

fn type_of(value: &Value) -> Type {
    match value {
        Value::Bool(_) => Type::Bool,
        Value::Int(_) => Type::Int,
        Value::Float(_) => Type::Float,
        Value::Text(_) => Type::String,
        Value::Array(_) => Type::Array,
        Value::Table(_) => Type::Table,
    }
}

#[test]
fn every_metric_reported_is_declared_with_its_type_and_finite() {
    for &(kind, set) in CASES {
        let schema = lab(kind).schema().clone();
        for (name, value) in case(kind, set).metrics() {
            let declared = schema.metric(name);
            let declared = declared.unwrap_or_else(|| panic!("{kind} reports {name} undeclared"));
            assert_eq!(type_of(&value), declared.ty, "{kind} {name}: {value}");
            assert!(value.is_finite(), "{kind} {name}: {value}");
        }
    }
}

#[test]
fn every_metric_without_a_condition_is_reported_at_the_defaults() {
    for lab in mlsys_machines::labs().expect("every schema reads") {
        let schema = lab.schema();
        let data = case(&schema.kind, &[]);
        for metric in schema.metrics.iter().filter(|metric| metric.when.is_none()) {
            assert!(
                reported(&data, &metric.name),
                "{} {}",
                schema.kind,
                metric.name
            );
        }
    }
}

#[test]
fn every_metric_is_reported_where_its_condition_is_met_and_only_there() {
    let conditional: &[(&str, &str, &[&str], &str)] = &[
        ("graph", "updated.*", &["learning_rate=0"], "expression=x"),
        (
            "kernel",
            "first_problem",
            &["example=window-sum-slide"],
            "example=vector-add",
        ),
        (
            "kernel",
            "buffer.*",
            &[
                "example=custom",
                "source=__global__ void k(int *a) { a[0] = 1; }",
            ],
            "example=vector-add",
        ),
        (
            "thread-index",
            "linear_index",
            &["width=1"],
            "thread_index=[0]",
        ),
        (
            "occupancy",
            "limit_shared",
            &["compute_capability=8.0"],
            "compute_capability=7.0",
        ),
        (
            "gpu-peak",
            "units",
            &["precision=fp16-tensor"],
            "quoted_flops_per_second=1e15",
        ),
        (
            "gpu-peak",
            "flops_per_sm_per_clock",
            &["precision=fp16-tensor"],
            "quoted_flops_per_second=1e15",
        ),
        (
            "gpu-peak",
            "ratio",
            &["baseline_flops_per_second=1e12"],
            "precision=fp32",
        ),
        (
            "gpu-peak",
            "sparse_ratio",
            &["baseline_flops_per_second=1e12"],
            "precision=fp32",
        ),
        (
            "sm-limits",
            "carveout_bytes",
            &["carveout_percent=0"],
            "compute_capability=8.0",
        ),
        (
            "sm-limits",
            "device_warps",
            &["sms=4"],
            "compute_capability=8.0",
        ),
        (
            "sm-limits",
            "device_threads",
            &["gpu=v100-sxm2-16gb"],
            "compute_capability=8.0",
        ),
        ("waves", "tile_efficiency", &["rows=1"], "blocks=7"),
        (
            "roofline",
            "compute_seconds",
            &["flops=1", "bytes=1"],
            "flops=1",
        ),
        (
            "roofline",
            "memory_seconds",
            &["flops=1", "bytes=1"],
            "bytes=1",
        ),
        (
            "roofline",
            "seconds",
            &["flops=1", "bytes=1"],
            "intensity=1",
        ),
        (
            "integer-matmul",
            "multiplier_q31",
            &["multiplier=0.5"],
            "a_zero_point=1",
        ),
        (
            "integer-matmul",
            "right_shift",
            &["multiplier=0.5"],
            "a_zero_point=1",
        ),
        (
            "kmeans-quantize",
            "centroid_gradients",
            &["weights=[1.0, 2.0]", "gradients=[1.0, 1.0]"],
            "clusters=1",
        ),
        (
            "kmeans-quantize",
            "updated_centroids",
            &["weights=[1.0, 2.0]", "gradients=[1.0, 1.0]"],
            "clusters=1",
        ),
        ("landscape", "first", &["filter=nvidia"], "filter=nobody"),
        ("landscape", "last", &["filter=nvidia"], "filter=nobody"),
        ("landscape", "first_value", &["sort=power"], "sort=chip"),
        ("landscape", "last_value", &["sort=power"], "sort=chip"),
        ("prune", "storage_ratio", &["keep=1"], "method=magnitude"),
        (
            "prune",
            "patterns_per_group",
            &["keep=1"],
            "method=magnitude",
        ),
        (
            "lora-params",
            "total_parameters",
            &["base_parameters=1"],
            "rank=1",
        ),
        (
            "lora-params",
            "trainable_percent",
            &["base_parameters=1"],
            "rank=1",
        ),
        ("kv-cache", "max_batch", &["memory_bytes=1"], "batch=2"),
        (
            "kv-cache",
            "evicted_tokens_per_step",
            &["prompt_tokens=1", "generated_tokens=1"],
            "prompt_tokens=1",
        ),
        (
            "energy",
            "implied_kg_co2e_per_kwh",
            &["reported_tonnes_co2e=1"],
            "days=1",
        ),
        (
            "transformer-flops",
            "mfu",
            &["devices=8", "seconds=1.0"],
            "devices=8",
        ),
        (
            "transformer-flops",
            "hfu",
            &["devices=8", "seconds=1.0"],
            "seconds=1.0",
        ),
        (
            "transformer-flops",
            "tokens_per_second",
            &["devices=8", "seconds=1.0"],
            "batch=8",
        ),
        (
            "training-compute",
            "usd",
            &["usd_per_device_hour=2"],
            "within_days=54",
        ),
        (
            "training-compute",
            "flops_within_days",
            &["within_days=54"],
            "usd_per_device_hour=2",
        ),
        (
            "training-compute",
            "fraction_within_days",
            &["within_days=54"],
            "usd_per_device_hour=2",
        ),
        (
            "link-time",
            "achieved_bytes_per_second",
            &["bytes=0"],
            "bytes=0 latency_seconds=0",
        ),
        ("supercomputer", "cpu_cores", &[], "system=summit"),
        ("supercomputer", "total_cores", &[], "system=summit"),
        ("supercomputer", "linpack_efficiency", &[], "system=summit"),
        (
            "supercomputer",
            "node_flops_per_second",
            &["system=summit"],
            "system=lumi",
        ),
        (
            "supercomputer",
            "accelerator_flops_per_second",
            &["system=summit"],
            "system=lumi",
        ),
        ("scaling", "amdahl_limit", &[], "parallel_fraction=1"),
        (
            "scaling",
            "measured_speedup",
            &["measured_speedup=2"],
            "seconds=2",
        ),
        (
            "scaling",
            "measured_efficiency",
            &["throughput=2", "baseline_throughput=1"],
            "throughput=2",
        ),
        (
            "scaling",
            "karp_flatt_serial_fraction",
            &["measured_speedup=2"],
            "processors=1",
        ),
        (
            "zero-memory",
            "largest_parameters",
            &["stage=0"],
            "weight_bytes_per_parameter=0 gradient_bytes_per_parameter=0 optimizer_bytes_per_parameter=0",
        ),
        (
            "deepspeed-memory",
            "largest_layer_bytes",
            &["stage=3"],
            "stage=2",
        ),
        (
            "parallel-plan",
            "best_plan",
            &["capacity_bytes=80e9"],
            "capacity_bytes=1",
        ),
        (
            "parallel-plan",
            "best_step_seconds",
            &["capacity_bytes=80e9"],
            "capacity_bytes=1",
        ),
        (
            "parallel-plan",
            "solution_step_seconds",
            &["bubble_limit=0.1"],
            "bubble_limit=0",
        ),
    ];
    for &(kind, name, met, unmet) in conditional {
        assert!(
            reported(&case(kind, met), name),
            "{kind} {name} with {met:?}"
        );
        assert!(
            !reported(&case(kind, &unmet.split(' ').collect::<Vec<_>>()), name),
            "{kind} {name} with {unmet}"
        );
    }
    // What needs a network or a device is not there without whoever registers the labs: `plug.rs` and `lowering.rs` look at it.
    let joined = |schema: &Schema, name: &str| {
        let begins = |start: &str| name.starts_with(start);
        (schema.kind == "kernel" && (begins("network_") || begins("device_")))
            || (schema.kind == "graph" && begins("burn_"))
            || (schema.kind == "lowering" && (begins("compile_seconds") || begins("max_")))
    };
    let listed: BTreeSet<(&str, &str)> = conditional.iter().map(|c| (c.0, c.1)).collect();
    for lab in mlsys_machines::labs().expect("every schema reads") {
        let schema = lab.schema();
        let metrics = schema.metrics.iter().filter(|m| m.when.is_some());
        for metric in metrics.filter(|m| !joined(schema, &m.name)) {
            assert!(
                listed.contains(&(schema.kind.as_str(), metric.name.as_str())),
                "{} {} has a condition and is missing from the table above",
                schema.kind,
                metric.name
            );
        }
    }
}

fn reported(data: &RunData, metric: &str) -> bool {
    data.metrics()
        .keys()
        .any(|name| match metric.strip_suffix('*') {
            Some(stem) => name.starts_with(stem),
            None => *name == metric,
        })
}

#[test]
fn every_panel_gets_a_well_formed_picture_and_no_other_is_sent() {
    for &(kind, set) in CASES {
        let schema = lab(kind).schema().clone();
        let drawn: BTreeSet<&str> = schema
            .panels
            .iter()
            .filter(|panel| panel.draw == Draw::Frame)
            .map(|panel| panel.name.as_str())
            .collect();
        let data = case(kind, set);
        let sent: BTreeSet<&str> = data.frames.keys().map(AsRef::as_ref).collect();
        assert_eq!(sent, drawn, "{kind}");
        assert!(!drawn.is_empty(), "{kind} shows nothing");
        for (panel, (_, frame)) in &data.frames {
            well_formed(frame, &format!("{kind} {panel} {set:?}"));
        }
    }
}

#[test]
fn kinds_are_distinct_and_say_what_a_learner_must_know() {
    let labs = mlsys_machines::labs().expect("every schema reads");
    let kinds: BTreeSet<&str> = labs.iter().map(|lab| lab.schema().kind.as_str()).collect();
    assert_eq!(kinds.len(), labs.len());
    for lab in &labs {
        let schema = lab.schema();
        assert!(!schema.is_live(), "{} answers at once", schema.kind);
        assert!(schema.formula.is_some(), "{} has no formula", schema.kind);
        assert!(!schema.source.is_empty(), "{} has no source", schema.kind);
    }
}
