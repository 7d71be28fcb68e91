//! The record as lists.

use std::collections::BTreeMap;

use mlsys_lab::frame::Table;
use mlsys_lab::value::significant;
use mlsys_lab::{Frame, Value};

use super::{Shown, layer};
use mlsys_nn::capture::cost::Unit;
use mlsys_nn::capture::table::{Node, Pass, Source};

/// Rows beyond these are left out: a list of them is read by nobody, and drawn slowly.
const MOST_ROWS: usize = 1500;

/// Every operation of the forward pass, or every fused chain, with what it costs.
pub(super) fn operations(shown: Shown<'_>) -> Frame {
    let (table, count) = (&shown.record.table, shown.count);
    let roof = &shown.counting.roof;
    let seconds: Vec<f64> = count.units.iter().map(|unit| roof.seconds(unit)).collect();
    let all: f64 = seconds.iter().sum();
    let row = |(place, unit): (usize, &Unit)| {
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
                if roof.is_memory_bound(unit) { "memory" } else { "arithmetic" }.to_owned(),
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

/// The backward pass as burn recorded it: what each operation reads of the forward pass, and whose gradient it gives.
pub(super) fn tape(shown: Shown<'_>) -> Frame {
    let record = shown.record;
    let table = &record.table;
    let gradients: BTreeMap<usize, usize> = table
        .gradients
        .iter()
        .enumerate()
        .filter_map(|(parameter, gradient)| Some(((*gradient)?, parameter)))
        .collect();
    let of_step = table.nodes.iter().enumerate();
    let of_step = of_step.filter(|(_, node)| !node.is_view() && node.pass == Pass::Backward);
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
fn saved(shown: Shown<'_>, tensor: usize) -> Option<String> {
    let table = &shown.record.table;
    let storage = table.storage(tensor);
    match table.tensors[storage].source {
        Source::Input => Some("the input".to_owned()),
        Source::Labels => Some("labels".to_owned()),
        Source::Parameter(index) => Some(shown.record.layers.parameters[index].clone()),
        Source::Node(node) => match table.nodes[node].pass {
            Pass::Forward | Pass::Loss => {
                Some(format!("{} of {}", table.nodes[node].name, layer(shown.record, node)))
            }
            Pass::Backward | Pass::Update(_) => None,
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
