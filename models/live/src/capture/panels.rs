//! The lab's panels.

use std::collections::BTreeMap;

use mlsys_lab::frame::{Bar, Milestone, Span, Timeline, Total};
use mlsys_lab::picture::{self, bar, bars, line, log_axis, point, scatter};
use mlsys_lab::report::FrameTrigger;
use mlsys_lab::value::significant;
use mlsys_lab::{Frame, Run, Value};
use mlsys_nn::capture::cost::FusedOp;
use mlsys_nn::capture::lifetime::{Lifetime, Phase, alive};
use mlsys_nn::capture::record::Rule;
use mlsys_nn::capture::table::{Node, Source, StepPhase};

use super::graph;
use super::record::{PanelData, layer, names};
use crate::stepped;

type Picture = fn(PanelData<'_>) -> Frame;

const ALL: [(&str, Picture); 8] = [
    ("graph", graph::draw_graph),
    ("operation-table", operations),
    ("roofline", roofline),
    ("lifetimes", lifetimes),
    ("tape", tape),
    ("memory", memory),
    ("energy", energy),
    ("energy-table", energy_table),
];

pub(super) fn draw(run: &mut Run<'_>, at: (u64, FrameTrigger), shown: PanelData<'_>) {
    stepped::draw(run, at, &ALL, |_, picture| picture(shown));
}

/// Energy of arithmetic and of memory traffic of the forward pass for one example; weights read once are shared by the
/// batch. What an example alone would take gives all batches one scale.
fn energy(shown: PanelData<'_>) -> Frame {
    let PanelData { record, count, .. } = shown;
    let examples = record.setup.batch.max(1) as f64;
    let bar = |label: &str, joules: Option<f64>| Bar {
        label: label.to_owned(),
        value: joules.map(|joules| joules / examples),
        remark: joules.map_or("no figure is known", |_| "an example").to_owned(),
    };
    let mut all = vec![
        bar("arithmetic", count.arithmetic_joules),
        bar("memory accesses", count.memory_joules),
    ];
    if record.setup.batch > 1 {
        let alone = count.memory_joules_alone(record.setup.batch);
        all.push(Bar { value: alone, ..bar("memory accesses, batch of 1", alone) });
    }
    bars("joules", all)
}

/// The same by operation, with the part of the weights, those that take most first.
fn energy_table(shown: PanelData<'_>) -> Frame {
    let PanelData { record, count, counting } = shown;
    let examples = record.setup.batch.max(1) as f64;
    let nano = |joules: Option<f64>| joules.map_or(0.0, |joules| 1e9 * joules / examples);
    let all = nano(count.arithmetic_joules) + nano(count.memory_joules);
    // A picojoule is the least that is told where there are nanojoules, so that no cell has a power of ten.
    let told = |amount: f64| if all >= 1.0 { (1e3 * amount).round() / 1e3 } else { amount };
    let short = |amount: f64| short(told(amount));
    let mut rows: Vec<(f64, [Value; 7])> = Vec::new();
    for unit in count.units.iter().take(MOST_ROWS) {
        let nodes = unit.nodes.iter().map(|&node| record.table.nodes[node].name.as_str());
        let [arithmetic, memory] =
            [unit.arithmetic_joules(counting), unit.memory_joules()].map(nano);
        let sum = arithmetic + memory;
        let weights = unit.weight_bytes as f64 / (unit.bytes as f64).max(1.0);
        let row = [
            nodes.collect::<Vec<_>>().join(" + ").into(),
            layer(record, unit.nodes[unit.nodes.len() - 1]).into(),
            short(arithmetic),
            short(memory),
            short(memory * weights),
            short(sum),
            short(100.0 * sum / all.max(f64::MIN_POSITIVE)),
        ];
        rows.push((sum, row));
    }
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let titles = ["operation", "layer", "arithmetic nJ", "memory nJ", "weights nJ", "sum nJ", "%"];
    picture::table(titles, rows.into_iter().map(|(_, row)| row).collect())
}

/// Bars beyond these are left out; the curve counts all.
const MOST_LANES: usize = 400;

/// One bar per tensor over the operations of a step, the largest amounts first to be kept, and the total as a curve.
fn lifetimes(shown: PanelData<'_>) -> Frame {
    let PanelData { count, counting, .. } = shown;
    let step = &count.step;
    let mut lives: Vec<&Lifetime> = step.lives.iter().collect();
    if lives.len() > MOST_LANES {
        lives.sort_by_key(|life| std::cmp::Reverse(life.numbers));
        lives.truncate(MOST_LANES);
    }
    lives.sort_by_key(|life| (life.start, life.end));
    let names = names(shown.record);
    let mut lanes: Vec<String> = Vec::new();
    let span = |life: &&Lifetime| {
        let label = name(shown, &names, life);
        let known = lanes.iter().position(|lane| *lane == label);
        let lane = known.unwrap_or_else(|| {
            lanes.push(label.clone());
            lanes.len() - 1
        });
        Span {
            lane,
            start: life.start as f64,
            end: (life.end + 1) as f64,
            class: match life.phase {
                Phase::Passing => 0,
                Phase::Saved => 1,
                Phase::Rebuilt => 2,
                Phase::Gradient => 3,
            },
            label,
            amount: Some((counting.bytes * life.numbers) as f64),
        }
    };
    let spans: Vec<Span> = lives.iter().map(span).collect();
    let alive = alive(&step.lives, step.length);
    let points = alive.into_iter().enumerate();
    let points = points.map(|(at, numbers)| (at as f64, (counting.bytes * numbers) as f64));
    Frame::Timeline(Timeline {
        unit: "operation".to_owned(),
        lanes,
        classes: ["passing", "kept for backward", "computed again", "gradient"]
            .map(str::to_owned)
            .to_vec(),
        spans,
        marks: vec![Milestone { at: step.forward as f64, label: "backward begins".to_owned() }],
        total: Some(Total {
            name: "activations alive, by rule".to_owned(),
            unit: "bytes".to_owned(),
            points: points.collect(),
        }),
        ..Timeline::default()
    })
}

fn name(shown: PanelData<'_>, names: &[String], life: &Lifetime) -> String {
    let table = &shown.record.table;
    let Some(tensor) = life.tensor else { return "one number a row".to_owned() };
    let of = match table.tensors[tensor].source {
        Source::Input => "input".to_owned(),
        Source::Node(node) | Source::Inside(node) => {
            format!("{} {}", layer(shown.record, node), names[node])
        }
        Source::Labels => "labels".to_owned(),
        Source::Parameter(_) | Source::Constant | Source::Moment => "constant".to_owned(),
    };
    match life.phase {
        Phase::Passing | Phase::Saved | Phase::Rebuilt => of,
        Phase::Gradient => format!("gradient of {of}"),
    }
}

/// Weights, gradients, optimizer state and kept activations of a training step as bars.
fn memory(shown: PanelData<'_>) -> Frame {
    let PanelData { record, count, counting } = shown;
    let weights = counting.bytes * record.setup.architecture.parameters();
    let (moments, of_rule) = match record.setup.rule {
        Rule::Sgd => (0, "sgd keeps nothing"),
        Rule::Momentum | Rule::RmsProp => (1, "one moment a weight"),
        Rule::Adam | Rule::AdamW => (2, "two moments a weight"),
    };
    let kept = match count.step.recomputed_flops {
        0 => "kept, by rule".to_owned(),
        flops => format!("{:.3e} FLOP done again", flops as f64),
    };
    let rows = [
        ("weights", weights, ""),
        ("gradients", weights, "one a weight"),
        ("optimizer", moments * weights, of_rule),
        ("activations", count.saved_bytes, &kept),
        ("activations at the peak", count.training_peak_bytes, "with their gradients"),
        ("activations burn keeps", count.recorded.saved_bytes, "by its record"),
        ("activations of inference", count.inference_peak_bytes, "peak of inference"),
    ];
    bars("bytes", rows.map(|(label, bytes, remark)| bar(label, bytes as f64, remark)).to_vec())
}

/// Every pass over memory of the forward pass: intensity across, operations per second under the roof upwards.
fn roofline(shown: PanelData<'_>) -> Frame {
    let (table, roof) = (&shown.record.table, &shown.counting.roof);
    // Blocks are alike: their operations are named once, and counted where there are several.
    let mut points: Vec<(_, u64)> = Vec::new();
    // Moves have no operations, and no place on a logarithmic axis.
    for unit in shown.count.units.iter().filter(|unit| unit.flops > 0) {
        let first = unit.nodes[0];
        let is_product = unit.nodes.iter().any(|&node| table.nodes[node].matmul_flops > 0);
        let layer = layer(shown.record, first);
        let part = layer.rsplit('.').next().unwrap_or("");
        let label = format!("{} {part}", table.nodes[first].name);
        let rate = unit.flops as f64 / unit.seconds(roof);
        let point = point(unit.intensity(), rate, label, usize::from(!is_product));
        match points.iter_mut().find(|(known, _)| *known == point) {
            Some((_, times)) => *times += 1,
            None => points.push((point, 1)),
        }
    }
    let points = points.into_iter().map(|(mut point, times)| {
        if times > 1 {
            point.label = format!("{} x{times}", point.label);
        }
        point
    });
    let ridge = point(roof.ridge(), roof.peak, "ridge", 2);
    let points: Vec<_> = points.chain([ridge]).collect();
    let xs = || points.iter().filter_map(|point| point.x);
    let low = xs().fold(roof.ridge() / 4.0, f64::min) / 2.0;
    let high = xs().fold(roof.ridge() * 4.0, f64::max) * 2.0;
    let line = line(format!("roof of {}", roof.name), roof.line(low, high));
    let axes = [log_axis("intensity", "flops/byte"), log_axis("attainable", "flop/s")];
    let series = ["matrix products", "other operations", "ridge"];
    scatter(axes, &series, points, vec![line])
}

/// Rows beyond these are left out: a longer list is slow to draw and not read.
const MOST_ROWS: usize = 1500;

/// Every operation of the forward pass, or every fused chain, with what it costs.
fn operations(shown: PanelData<'_>) -> Frame {
    let (nodes, count) = (&shown.record.table.nodes, shown.count);
    let roof = &shown.counting.roof;
    let seconds: Vec<f64> = count.units.iter().map(|unit| unit.seconds(roof)).collect();
    let all: f64 = seconds.iter().sum();
    let row = |(place, unit): (usize, &FusedOp)| {
        let names: Vec<&str> = unit.nodes.iter().map(|&node| nodes[node].name.as_str()).collect();
        let last = unit.nodes[unit.nodes.len() - 1];
        let output = &shown.record.table.tensors[nodes[last].output];
        [
            Value::Int(place as i64 + 1),
            names.join(" + ").into(),
            layer(shown.record, last).into(),
            output.sizes().into(),
            integer(unit.flops),
            integer(unit.bytes),
            short(unit.intensity()),
            thousandths(100.0 * seconds[place] / all.max(f64::MIN_POSITIVE)),
            (if unit.is_memory_bound(roof) { "memory" } else { "compute" }).into(),
        ]
    };
    let titles =
        ["#", "operation", "layer", "result", "FLOP", "bytes", "FLOP/B", "time %", "limit"];
    picture::table(titles, count.units.iter().enumerate().take(MOST_ROWS).map(row).collect())
}

/// The backward pass as burn recorded it: what each operation reads of the forward pass, and which tensor's gradient it gives.
fn tape(shown: PanelData<'_>) -> Frame {
    let record = shown.record;
    let table = &record.table;
    let known = table.gradients.iter().enumerate();
    let known = known.filter_map(|(parameter, gradient)| Some(((*gradient)?, parameter)));
    let gradients: BTreeMap<usize, usize> = known.collect();
    let of_step = table.nodes.iter().enumerate();
    let of_step = of_step.filter(|(_, node)| !node.is_view() && node.pass == StepPhase::Backward);
    let row = |(place, (index, node)): (usize, (usize, &Node))| {
        let reads = node.inputs.iter().filter_map(|&input| saved(shown, input));
        let reads: Vec<String> = reads.collect();
        let output = &table.tensors[node.output];
        let adds = gradients.get(&node.output).or_else(|| {
            // A bias's gradient is a sum in another shape.
            let views = table
                .nodes
                .iter()
                .filter(|view| view.is_view() && table.storage(view.output) == node.output);
            views.filter_map(|view| gradients.get(&view.output)).next()
        });
        let gives =
            adds.map_or_else(String::new, |&parameter| record.layers.parameters[parameter].clone());
        [
            Value::Int(place as i64 + 1),
            node.name.clone().into(),
            layer(record, index).into(),
            reads.join(", ").into(),
            output.sizes().into(),
            integer(node.matmul_flops),
            gives.into(),
        ]
    };
    let reads = "reads of the forward pass";
    let titles = ["#", "recorded", "layer", reads, "result", "product flops", "gradient of"];
    picture::table(titles, of_step.enumerate().take(MOST_ROWS).map(row).collect())
}

/// The name of a forward tensor that a backward operation reads.
fn saved(shown: PanelData<'_>, tensor: usize) -> Option<String> {
    let table = &shown.record.table;
    let storage = table.storage(tensor);
    match table.tensors[storage].source {
        Source::Input => Some("the input".to_owned()),
        Source::Labels => Some("labels".to_owned()),
        Source::Parameter(index) => Some(shown.record.layers.parameters[index].clone()),
        Source::Node(node) => match table.nodes[node].pass {
            StepPhase::Forward | StepPhase::Loss => {
                Some(format!("{} of {}", table.nodes[node].name, layer(shown.record, node)))
            }
            StepPhase::Backward | StepPhase::Update(_) => None,
        },
        Source::Inside(node) => Some(format!("inside {}", table.nodes[node].name)),
        Source::Constant | Source::Moment => None,
    }
}

fn integer(number: u64) -> Value {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

/// A share of the whole: three digits, and no more than three behind the point.
fn thousandths(percent: f64) -> Value {
    Value::Float((significant(percent, 3) * 1e3).round() / 1e3)
}

/// Three digits are read; more only widen the column.
fn short(number: f64) -> Value {
    Value::Float(significant(number, 3))
}
