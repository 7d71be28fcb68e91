//! The lab's panels.

mod energy;
mod graph;
mod lifetimes;
mod memory;
mod roofline;
mod tables;

use std::collections::BTreeMap;

use mlsys_lab::Frame;
use mlsys_lab::Run;
use mlsys_lab::report::{Moment, Report};

use super::session::Record;
use mlsys_nn::capture::cost::Counting;
use mlsys_nn::capture::count::Count;
use mlsys_nn::capture::table::Pass;

/// What a panel is drawn from.
#[derive(Clone, Copy)]
struct Shown<'a> {
    record: &'a Record,
    count: &'a Count,
    counting: &'a Counting,
}

type Picture = fn(Shown<'_>) -> Frame;

/// Draws every panel that somebody looks at.
pub(super) fn draw(
    run: &mut Run<'_>,
    record: &Record,
    count: &Count,
    counting: &Counting,
    step: u64,
    moment: Moment,
) {
    let shown = Shown { record, count, counting };
    let panels: [(&str, Picture); 7] = [
        ("graph", graph::picture),
        ("operation-table", tables::operations),
        ("roofline", roofline::picture),
        ("lifetimes", lifetimes::picture),
        ("tape", tables::tape),
        ("memory", memory::picture),
        ("energy", energy::picture),
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
fn written_out(record: &Record, node: usize) -> String {
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
fn names(record: &Record) -> Vec<String> {
    let table = &record.table;
    let key = |index: usize| {
        let node = &table.nodes[index];
        let pass = match node.pass {
            Pass::Forward | Pass::Loss => 0,
            Pass::Backward => 1,
            Pass::Update(parameter) => 2 + parameter,
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
fn layer(record: &Record, node: usize) -> String {
    let place = record.layers.of.get(node).copied().flatten();
    let path = place.and_then(|place| record.layers.paths.get(place));
    path.map(|path| path.join(".")).unwrap_or_default()
}
