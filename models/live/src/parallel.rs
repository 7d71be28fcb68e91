//! What the labs that split training over workers share: pictures of traffic and memory.

use mlsys_distributed::model::Model;
use mlsys_distributed::transport::Traffic;
use mlsys_lab::frame::{HeatMap, Stack, Stacks};
use mlsys_lab::{Frame, Run};
use mlsys_sim::network::Network;

/// Reports the size of the model and its work in a step, and the rounding that differences from one worker are held against.
pub(crate) fn report_sizes(run: &mut Run<'_>, model: &Model, examples: usize) {
    run.scalar("parameters", model.parameters() as i64);
    run.scalar("model_flops", model.flops(examples as u64) as i64);
    run.scalar("f32_rounding", f64::from(f32::EPSILON) / 2.0);
}

/// Bytes by sender (row) and receiver (column); what a worker sends itself is `own`.
pub(crate) fn traffic(traffic: &Traffic, names: Vec<String>, own: f32, legend: &str) -> Frame {
    let workers = names.len();
    let pairs = (0..workers).flat_map(|from| (0..workers).map(move |to| (from, to)));
    let bytes = |(from, to)| if from == to { own } else { traffic.flow(from, to).bytes as f32 };
    let cells: Vec<f32> = pairs.map(bytes).collect();
    Frame::HeatMap(HeatMap {
        columns: workers,
        rows: workers,
        low: 0.0,
        high: cells.iter().copied().fold(1.0, f32::max),
        cells,
        x: (0.0, workers as f32),
        y: (0.0, workers as f32),
        column_labels: names.clone(),
        row_labels: names,
        points: Vec::new(),
        legend: legend.to_owned(),
    })
}

/// A worker's memory, bytes by part.
pub(crate) fn stack<const N: usize>(label: String, bytes: [f64; N], remark: String) -> Stack {
    Stack { label, values: bytes.map(Some).to_vec(), remark }
}

/// Memory of each worker by part.
pub(crate) fn memory<const N: usize>(parts: [&str; N], stacks: Vec<Stack>, note: &str) -> Frame {
    Frame::Stacks(Stacks {
        unit: "bytes".to_owned(),
        parts: parts.map(str::to_owned).to_vec(),
        stacks,
        limit: None,
        note: note.to_owned(),
    })
}

/// The network of knobs until [`Network::read`] has read its parameters, which a link sets from a table.
pub(crate) fn free_network() -> Network {
    Network::FREE
}
