//! The lab's panels.

use std::collections::BTreeMap;

use mlsys_lab::frame::{
    Bar, Bars, Better, Dimension, Milestone, Scatter, ScatterLine, ScatterPoint, Span, Table,
    Timeline, Total,
};
use mlsys_lab::report::{FrameTrigger, Report};
use mlsys_lab::schema::Scale;
use mlsys_lab::value::significant;
use mlsys_lab::{Frame, Run, Value};
use mlsys_nn::capture::cost::Costs;
use mlsys_nn::capture::cost::{CostModel, FusedOp};
use mlsys_nn::capture::lifetime::{Lifetime, Phase, alive};
use mlsys_nn::capture::record::Rule;
use mlsys_nn::capture::table::{Node, Source, StepPhase};

use super::{Record, graph};

/// What a panel is drawn from.
#[derive(Clone, Copy)]
pub(super) struct PanelData<'a> {
    pub(super) record: &'a Record,
    pub(super) count: &'a Costs,
    pub(super) counting: &'a CostModel,
}

type Picture = fn(PanelData<'_>) -> Frame;

/// Draws every visible panel.
pub(super) fn draw(
    run: &mut Run<'_>,
    record: &Record,
    count: &Costs,
    counting: &CostModel,
    step: u64,
    moment: FrameTrigger,
) {
    let shown = PanelData { record, count, counting };
    let panels: [(&str, Picture); 7] = [
        ("graph", graph::draw_graph),
        ("operation-table", operations),
        ("roofline", draw_roofline),
        ("lifetimes", draw_lifetimes),
        ("tape", tape),
        ("memory", draw_memory),
        ("energy", draw_energy),
    ];
    for (panel, picture) in panels {
        if run.sink.wants_frame(panel, moment) {
            let frame = picture(shown);
            let panel = panel.into();
            run.sink.report(Report::Frame { panel, step, frame: Box::new(frame) });
        }
    }
    run.sink.frames_done();
}

/// What a node does, with the shapes of what it reads: `matmul [64, 784] x [784, 512]`.
pub(super) fn written_out(record: &Record, node: usize) -> String {
    let table = &record.table;
    let node = &table.nodes[node];
    let shapes: Vec<String> =
        node.inputs.iter().map(|&input| table.tensors[input].sizes()).collect();
    let between = match node.name.as_str() {
        "matmul" => " x ",
        _ => ", ",
    };
    let shapes = shapes.join(between);
    format!("{} {shapes}", node.name)
}

/// The name of every node, counted where its layer has several of its pass: `matmul`, or `matmul 2`.
pub(super) fn names(record: &Record) -> Vec<String> {
    let table = &record.table;
    let key = |index: usize| {
        let node = &table.nodes[index];
        let pass = match node.pass {
            StepPhase::Forward | StepPhase::Loss => 0,
            StepPhase::Backward => 1,
            StepPhase::Update(parameter) => 2 + parameter,
        };
        (pass, record.layers.of[index], node.name.as_str())
    };
    let mut all = BTreeMap::new();
    for index in 0..table.nodes.len() {
        *all.entry(key(index)).or_insert(0) += 1;
    }
    let mut seen = BTreeMap::new();
    let name = |index: usize| {
        let number = seen.entry(key(index)).or_insert(0);
        *number += 1;
        let name = &table.nodes[index].name;
        match all.get(&key(index)) {
            Some(1) | None => name.clone(),
            Some(_) => format!("{name} {number}"),
        }
    };
    (0..table.nodes.len()).map(name).collect()
}

/// The layer of a node, such as `block1.attention`.
pub(super) fn layer(record: &Record, node: usize) -> String {
    let place = record.layers.of.get(node).copied().flatten();
    let path = place.and_then(|place| record.layers.paths.get(place));
    path.map(|path| path.join(".")).unwrap_or_default()
}

// Energy of the forward pass.

/// Energy of arithmetic and of memory traffic for one example; weights read once are shared by the batch.
pub(super) fn draw_energy(shown: PanelData<'_>) -> Frame {
    let PanelData { record, count, .. } = shown;
    let examples = record.setup.batch.max(1) as f64;
    let bar = |label: &str, joules: Option<f64>, of: &str| Bar {
        label: label.to_owned(),
        value: joules.map(|joules| joules / examples),
        remark: match joules {
            Some(_) => of.to_owned(),
            None => "no figure is known".to_owned(),
        },
    };
    Frame::Bars(Bars {
        unit: "joules".to_owned(),
        scale: Scale::Linear,
        bars: vec![
            bar("arithmetic", count.arithmetic_joules, "an example"),
            bar("trips to memory", count.memory_joules, "an example"),
        ],
    })
}

// Lifetimes of tensors.

/// Bars beyond these are left out; the curve counts all.
const MOST_LANES: usize = 400;

/// One bar per tensor over the operations of a step, the largest amounts first to be kept, and the total as a curve.
pub(super) fn draw_lifetimes(shown: PanelData<'_>) -> Frame {
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
    })
}

fn name(shown: PanelData<'_>, names: &[String], life: &Lifetime) -> String {
    let table = &shown.record.table;
    let Some(tensor) = life.tensor else {
        return "one number a row".to_owned();
    };
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

// Memory of a training step.

/// Weights, gradients, optimizer state and kept activations as bars.
pub(super) fn draw_memory(shown: PanelData<'_>) -> Frame {
    let PanelData { record, count, counting } = shown;
    let weights = counting.bytes * record.setup.architecture.parameters();
    let (moments, of_rule) = match record.setup.rule {
        Rule::Sgd => (0, "sgd keeps nothing"),
        Rule::Adam => (2, "two moments a weight"),
    };
    let bar = |label: &str, bytes: u64, remark: &str| Bar {
        label: label.to_owned(),
        value: Some(bytes as f64),
        remark: remark.to_owned(),
    };
    let mut bars = vec![
        bar("weights", weights, ""),
        bar("gradients", weights, "one a weight"),
        bar("optimizer", moments * weights, of_rule),
        bar("activations", count.saved_bytes, "kept, by rule"),
        bar("activations at the peak", count.training_peak_bytes, "with their gradients"),
        bar("activations burn keeps", count.recorded.saved_bytes, "by its record"),
        bar("activations of inference", count.inference_peak_bytes, "peak of inference"),
    ];
    if count.step.recomputed_flops > 0 {
        let remark = format!("{:.3e} flops done again", count.step.recomputed_flops as f64);
        bars[3].remark = remark;
    }
    Frame::Bars(Bars { unit: "bytes".to_owned(), scale: Scale::Linear, bars })
}

// Operations in the roofline of a machine.

/// Every pass over memory of the forward pass: intensity across, operations per second under the roof upwards.
pub(super) fn draw_roofline(shown: PanelData<'_>) -> Frame {
    let (table, roof) = (&shown.record.table, &shown.counting.roof);
    let series = ["matrix products", "other operations"];
    let reached = |unit: &FusedOp| unit.flops as f64 / unit.seconds(roof);
    // Moves have no operations, and no place on a logarithmic axis.
    let working = shown.count.units.iter().filter(|unit| unit.flops > 0);
    let mut points: Vec<(ScatterPoint, u64)> = Vec::new();
    for unit in working {
        let first = unit.nodes[0];
        let is_product = unit.nodes.iter().any(|&node| table.nodes[node].matmul_flops > 0);
        let place = layer(shown.record, first);
        // Blocks are alike: what they are made of is named once, and where it is more than one, how often.
        let place = place.rsplit('.').next().unwrap_or_default();
        let point = ScatterPoint {
            x: Some(unit.intensity()),
            y: Some(reached(unit)),
            label: format!("{} {place}", table.nodes[first].name),
            series: usize::from(!is_product),
        };
        match points.iter_mut().find(|(known, _)| *known == point) {
            Some((_, times)) => *times += 1,
            None => points.push((point, 1)),
        }
    }
    let counted = |(mut point, times): (ScatterPoint, u64)| {
        if times > 1 {
            point.label = format!("{} x{times}", point.label);
        }
        point
    };
    let points: Vec<ScatterPoint> = points.into_iter().map(counted).collect();
    let xs = || points.iter().filter_map(|point| point.x);
    let low = xs().fold(roof.ridge() / 4.0, f64::min) / 2.0;
    let high = xs().fold(roof.ridge() * 4.0, f64::max) * 2.0;
    let at = |x: f64| (x, roof.at(x));
    let line = ScatterLine {
        name: format!("roof of {}", roof.name),
        points: vec![at(low), at(roof.ridge()), at(high)],
    };
    let axis = |name: &str, unit: &str| Dimension {
        name: name.to_owned(),
        unit: unit.to_owned(),
        scale: Scale::Log,
        better: Better::Neither,
        ..Dimension::default()
    };
    Frame::Scatter(Scatter {
        x: axis("intensity", "flops/byte"),
        y: axis("attainable", "flop/s"),
        series: series.map(str::to_owned).to_vec(),
        points,
        lines: vec![line],
    })
}

// The record as tables.

/// Rows beyond these are left out: a longer list is slow to draw and not read.
const MOST_ROWS: usize = 1500;

/// Every operation of the forward pass, or every fused chain, with what it costs.
pub(super) fn operations(shown: PanelData<'_>) -> Frame {
    let (table, count) = (&shown.record.table, shown.count);
    let roof = &shown.counting.roof;
    let seconds: Vec<f64> = count.units.iter().map(|unit| unit.seconds(roof)).collect();
    let all: f64 = seconds.iter().sum();
    let row = |(place, unit): (usize, &FusedOp)| {
        let names: Vec<&str> = unit.nodes.iter().map(|&n| table.nodes[n].name.as_str()).collect();
        let last = unit.nodes.last().copied().unwrap_or_default();
        let output = &table.tensors[table.nodes[last].output];
        vec![
            Value::Int(place as i64 + 1),
            Value::Text(names.join(" + ")),
            Value::Text(layer(shown.record, last)),
            Value::Text(output.sizes()),
            whole(unit.flops),
            whole(unit.bytes),
            short(unit.intensity()),
            short(100.0 * seconds[place] / all.max(f64::MIN_POSITIVE)),
            Value::Text(
                if unit.is_memory_bound(roof) { "memory" } else { "arithmetic" }.to_owned(),
            ),
        ]
    };
    let rows = count.units.iter().enumerate().take(MOST_ROWS).map(row);
    Frame::Table(Table {
        columns: columns(&[
            "#",
            "operation",
            "layer",
            "result",
            "flops",
            "bytes",
            "flops/byte",
            "time %",
            "limit",
        ]),
        rows: rows.collect(),
        ..Table::default()
    })
}

/// The backward pass as burn recorded it: what each operation reads of the forward pass, and which tensor's gradient it gives.
pub(super) fn tape(shown: PanelData<'_>) -> Frame {
    let record = shown.record;
    let table = &record.table;
    let gradients: BTreeMap<usize, usize> = table
        .gradients
        .iter()
        .enumerate()
        .filter_map(|(parameter, gradient)| Some(((*gradient)?, parameter)))
        .collect();
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
        vec![
            Value::Int(place as i64 + 1),
            Value::Text(node.name.clone()),
            Value::Text(layer(record, index)),
            Value::Text(reads.join(", ")),
            Value::Text(output.sizes()),
            whole(node.matmul_flops),
            Value::Text(gives),
        ]
    };
    Frame::Table(Table {
        columns: columns(&[
            "#",
            "recorded",
            "layer",
            "reads of the forward pass",
            "result",
            "product flops",
            "gradient of",
        ]),
        rows: of_step.enumerate().take(MOST_ROWS).map(row).collect(),
        ..Table::default()
    })
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

fn columns(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn whole(number: u64) -> Value {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

/// Three digits are read; more only widen the column.
fn short(number: f64) -> Value {
    Value::Float(significant(number, 3))
}
