//! What holds of labs that are data besides their vectors: laws, published figures, and the tables they read.

use mlsys_lab::frame::{Cells, Frame, Pane};
use mlsys_lab::report::RunData;
use mlsys_lab::{Tables, Value};

use crate::run::{number, ran};

fn metric(kind: &str, set: &[String], name: &str) -> f64 {
    number(&ran(kind, set), name)
}

fn set<const N: usize>(pairs: [(&str, f64); N]) -> Vec<String> {
    pairs.iter().map(|(name, value)| format!("{name}={value:e}")).collect()
}

#[test]
fn every_tabled_model_has_its_published_parameters() {
    let tables = Tables::builtin();
    let mut counted = 0;
    for name in tables.names("model") {
        // Entries with the dimensions of their attention alone have no count.
        let Some(Value::Int(published)) = tables.field("model", name, "parameters") else {
            continue;
        };
        let model = [format!("model={name}")];
        let parameters = metric("transformer-params", &model, "parameters");
        assert_eq!(parameters, published as f64, "{name}");
        counted += 1;
    }
    assert!(counted >= 10, "{counted}");
}

#[test]
fn every_datasheet_peak_follows_from_its_geometry() {
    let tables = Tables::builtin();
    let mut rebuilt = 0;
    for gpu in tables.names("gpu") {
        for path in ["fp64", "fp64-tensor", "fp32", "tf32-tensor", "fp16-tensor", "fp8-tensor"] {
            let field = |name: &str| {
                let found = tables.field("gpu", gpu, &format!("path.{path}.{name}"));
                found.and_then(|value| value.as_f64())
            };
            let (Some(_), Some(peak)) = (field("clock_hertz"), field("peak_flops_per_second"))
            else {
                continue;
            };
            if tables.field("gpu", gpu, "sms").is_none() || field("units_per_sm").is_none() {
                continue;
            }
            let chosen = [format!("gpu={gpu}"), format!("precision={path}")];
            let product = metric("gpu-peak", &chosen, "flops_per_second");
            assert!((product - peak).abs() < 0.01 * peak, "{gpu} {path}: {product} is not {peak}");
            rebuilt += 1;
        }
    }
    assert!(rebuilt > 15, "{rebuilt}");
}

#[test]
fn karp_flatt_reads_back_the_serial_share() {
    for parallel in [0.0, 0.3, 0.95, 0.999_999, 1.0] {
        for processors in [2.0, 8.0, 16384.0] {
            let law = set([("parallel_fraction", parallel), ("processors", processors)]);
            let speedup = metric("scaling", &law, "amdahl_speedup");
            let measured = set([("processors", processors), ("measured_speedup", speedup)]);
            let serial = metric("scaling", &measured, "karp_flatt_serial_fraction");
            assert!((serial - (1.0 - parallel)).abs() < 1e-9, "{parallel} {processors}: {serial}");
            let gustafson = metric("scaling", &law, "gustafson_speedup");
            assert!(speedup <= gustafson + 1e-9 && gustafson <= processors + 1e-9);
        }
    }
}

#[test]
fn best_checkpoint_interval_balances_costs() {
    for (rate, devices, save) in [(4.7e-4, 16384.0, 60.0), (1e-3, 1000.0, 300.0), (1.0, 1.0, 0.1)] {
        let cluster = set([
            ("failures_per_device_day", rate),
            ("devices", devices),
            ("checkpoint_seconds", save),
        ]);
        let interval = metric("checkpoint-interval", &cluster, "optimal_interval_seconds");
        let lost = metric("checkpoint-interval", &cluster, "lost_fraction");
        assert!((lost - 2.0 * save / interval).abs() < 1e-12);
    }
}

#[test]
fn after_the_doubling_time_a_trend_has_doubled() {
    for (factor, months) in [(3.0, 24.0), (750.0, 24.0), (1.001, 1.0), (2.0, 7.0)] {
        let trend = set([("factor", factor), ("months", months)]);
        let doubled = metric("doubling-time", &trend, "factor_per_year")
            .powf(metric("doubling-time", &trend, "doubling_months") / 12.0);
        assert!((doubled - 2.0).abs() < 1e-9, "{factor} {months}: {doubled}");
    }
}

/// The resident blocks fit by every resource counted on its own.
#[test]
fn occupancy_never_exceeds_a_resource() {
    let tables = Tables::builtin();
    for capability in tables.names("compute_capability") {
        let has = |field: &str| {
            let found = tables.field("compute_capability", capability, field);
            found.and_then(|value| value.as_f64()).expect(field)
        };
        for (threads, registers, shared) in
            [(1, 255, 0), (64, 42, 4096), (256, 32, 40_000), (513, 63, 101_376), (1024, 64, 1)]
        {
            let kernel = [
                format!("compute_capability={capability}"),
                format!("threads_per_block={threads}"),
                format!("registers_per_thread={registers}"),
                format!("static_shared_bytes={shared}"),
            ];
            let blocks = metric("occupancy", &kernel, "blocks_per_sm");
            let all = blocks * f64::from(threads);
            assert!(all <= 32.0 * has("max_warps_per_sm"), "{kernel:?}");
            assert!(all * f64::from(registers) <= has("registers_per_sm"), "{kernel:?}");
            let bytes = f64::from(shared) + has("shared_reserved_bytes_per_block");
            assert!(blocks * bytes <= has("shared_bytes_per_sm"), "{kernel:?}");
            assert!(blocks <= has("max_blocks_per_sm"), "{kernel:?}");
        }
    }
}

/// The kernel thread by thread: its loads, and the outputs of which a slot is unwritten.
fn window_sum(elements: usize, threads: usize, radius: usize, limit: usize) -> (usize, Vec<usize>) {
    let (mut loads, mut wrong) = (0, Vec::new());
    for base in (0..elements).step_by(threads) {
        let mut written = vec![false; threads + 2 * radius];
        for t in 0..threads {
            let halo = (t < 2 * radius).then_some(threads + t);
            for slot in [Some(t), halo].into_iter().flatten().filter(|slot| base + slot < limit) {
                written[slot] = true;
                loads += 1;
            }
        }
        let outputs = (0..threads).filter(|t| base + t < elements);
        wrong.extend(
            outputs.filter(|t| written[*t..=t + 2 * radius].contains(&false)).map(|t| base + t),
        );
    }
    (loads, wrong)
}

#[test]
fn window_sum_is_the_kernel_thread_by_thread() {
    for elements in [1, 7, 8, 31, 65] {
        for threads in [1, 3, 8, 32, 100] {
            for radius in [0, 1, 2, 5, 40] {
                for (guard, limit) in [("padded", elements + 2 * radius), ("elements", elements)] {
                    let set = [
                        format!("elements={elements}"),
                        format!("threads_per_block={threads}"),
                        format!("radius={radius}"),
                        format!("load_guard={guard}"),
                    ];
                    let data = ran("window-sum", &set);
                    let (loads, wrong) = window_sum(elements, threads, radius, limit);
                    let wrong = wrong.into_iter().map(|output| Value::Int(output as i64)).collect();
                    assert_eq!(
                        data.metric("shared_loads"),
                        Some(Value::Int(loads as i64)),
                        "{set:?}"
                    );
                    assert_eq!(data.metric("bad_outputs"), Some(Value::Array(wrong)), "{set:?}");
                }
            }
        }
    }
}

#[test]
fn a_systolic_array_takes_the_ticks_of_its_formula() {
    let count = |data: &RunData, name: &str| match data.metric(name) {
        Some(Value::Int(value)) => value,
        other => panic!("{name} is {other:?}"),
    };
    for dataflow in ["output-stationary", "weight-stationary"] {
        for [rows, columns, m, k, n] in
            [[4, 4, 4, 4, 4], [3, 5, 3, 20, 5], [4, 2, 9, 7, 5], [1, 1, 3, 2, 4], [8, 8, 20, 30, 3]]
        {
            let set = [
                format!("dataflow={dataflow}"),
                format!("rows={rows}"),
                format!("columns={columns}"),
                format!("m={m}"),
                format!("k={k}"),
                format!("n={n}"),
            ];
            let data = ran("systolic-array", &set);
            assert_eq!(count(&data, "largest_error"), 0, "{set:?}");
            assert_eq!(count(&data, "ticks"), count(&data, "formula_ticks"), "{set:?}");
            assert_eq!(count(&data, "multiply_adds"), m * k * n, "{set:?}");
            assert_eq!(data.metric("utilisation"), data.metric("formula_utilisation"), "{set:?}");
            let stream = if dataflow == "output-stationary" { k } else { m };
            let is_whole = dataflow == "output-stationary" && [m, n] == [rows, columns];
            if is_whole && stream > rows + columns - 2 {
                for name in ["fill_ticks", "drain_ticks"] {
                    assert_eq!(count(&data, name), rows + columns - 2, "{name} {set:?}");
                }
            }
        }
    }
}

#[test]
fn a_systolic_array_is_drawn_in_all_of_its_ticks() {
    let stills = |dataflow: &str| {
        let mut set = ["rows=3", "columns=3", "m=3", "k=12", "n=3"].map(str::to_owned).to_vec();
        set.push(format!("dataflow={dataflow}"));
        let data = ran("systolic-array", &set);
        let Frame::FrameSequence(sequence) = data.frames["grid"].1.clone() else {
            panic!("the grid is no sequence");
        };
        assert_eq!(number(&data, "ticks"), sequence.stills.len() as f64, "{dataflow}");
        sequence.stills
    };
    let texts = |still: &Pane| {
        let Frame::Cells(cells) = &still.frame else { panic!("{} has no cells", still.title) };
        let cells = cells.rows.iter().flat_map(|row| row.cells.iter().flatten());
        cells.map(|cell| cell.text.clone()).collect::<Vec<_>>()
    };
    let weights = stills("weight-stationary");
    assert_eq!(weights[0].title, "tick 1, part 1 of 4: weights move in");
    assert_eq!(weights[13].title, "tick 14, part 2 of 4: 1 of 9 cells multiplies");
    // The weights that the last tick of loading leaves stay there, also after the last product.
    let loaded = texts(&weights[2]);
    assert!(loaded.iter().all(|text| text.starts_with('*')), "{loaded:?}");
    let after = texts(&weights[9]);
    assert_eq!(loaded[..8], after[..8]);
    assert!(after[8].contains(&loaded[8]), "{loaded:?} {after:?}");
    let sums = stills("output-stationary");
    assert_eq!(sums[18].title, "tick 19: sums move out");
    assert_eq!(texts(&sums[18])[..3], ["", "", ""]);
}

#[test]
fn a_right_backward_rule_trains_as_nudging_does() {
    let rules = [
        ("silu", "g*(sigmoid(x) + y*(1 - sigmoid(x)))", true),
        ("silu", "g*sigmoid(x)", false),
        ("softplus", "g*sigmoid(x)", true),
        ("softplus", "g*y", false),
        ("tanh", "g*(1 - y^2)", true),
        ("tanh", "(1 - y^2)", false),
    ];
    for (forward, rule, is_right) in rules {
        let set = [format!("forward={forward}"), format!("expression={rule}")];
        let data = ran("backward-rule", &set);
        assert_eq!(data.metric("is_right"), Some(Value::Bool(is_right)), "{set:?}");
        let [before, after, reference] = ["loss_before", "loss_after", "reference_loss"]
            .map(|name| data.metric(name).and_then(|value| value.as_f64()).unwrap());
        assert!(reference < before / 2.0, "{set:?}: {before} {reference}");
        // Descent at this rate is sensitive: what nudging is off by at first grows to some percent.
        assert_eq!(
            (after / reference - 1.0).abs() < 0.05,
            is_right,
            "{set:?}: {after} {reference}"
        );
    }
}

fn cells<'a>(data: &'a RunData, panel: &str) -> &'a Cells {
    let Frame::Cells(cells) = &data.frames[panel].1 else { panic!("{panel} has no cells") };
    cells
}

#[test]
fn only_a_last_wave_with_room_is_marked() {
    for (columns, last) in [(1536, 0), (1537, 9), (3072, 0), (3073, 9)] {
        let data = ran("waves", &[format!("columns={columns}")]);
        let rows = &cells(&data, "tiles").rows;
        let tiles = rows.iter().flat_map(|row| row.cells.iter().flatten());
        assert_eq!(tiles.filter(|tile| tile.kind == 2).count(), last, "{columns} columns");
    }
}

#[test]
fn one_warp_of_a_block_is_counted_in_the_singular() {
    for (threads, said) in [(32, "blocks of 1 warp take"), (64, "blocks of 2 warps take")] {
        let data = ran("occupancy", &[format!("threads_per_block={threads}")]);
        let note = &cells(&data, "slots").note;
        assert!(note.contains(said), "{note}");
    }
}

#[test]
fn a_link_without_a_tabled_latency_is_said_to_have_none() {
    for kind in ["link-time", "all-reduce"] {
        let told = |set: &[&str]| {
            let notices = ran(kind, set).notices;
            notices.iter().any(|notice| notice.contains("no latency for infiniband-hdr"))
        };
        assert!(told(&["link=infiniband-hdr"]), "{kind}");
        assert!(!told(&["link=infiniband-edr"]), "{kind}");
        assert!(!told(&["link=infiniband-hdr", "latency_seconds=1e-6"]), "{kind}");
    }
}

#[test]
fn without_an_else_only_warps_that_take_a_branch_have_a_pass() {
    let reduction = ["condition=tid % (2*s) == 0", "threads=256", "steps=[1,2,4,8,16,32,64,128]"];
    let empty = [&reduction[..], &["other_side=empty"]].concat();
    // 255 lanes add, in 5 rounds of 8 warps, then in 4, 2 and 1.
    assert_eq!(number(&ran("divergence", &empty), "lane_efficiency"), 255.0 / (32.0 * 47.0));
    // With an else each of 8 warps has a pass in each round, and another one where it is split.
    assert_eq!(number(&ran("divergence", &reduction), "lane_efficiency"), 2048.0 / (32.0 * 111.0));
    let never = ["condition=0", "other_side=empty"];
    assert_eq!(ran("divergence", &never).metric("lane_efficiency"), None);
}
