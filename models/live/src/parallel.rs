//! What the labs that split training over workers share: sizes, the modelled clock, and the picture of traffic.

use mlsys_distributed::model::Model;
use mlsys_distributed::transport::Traffic;
use mlsys_lab::frame::HeatMap;
use mlsys_lab::picture::heat_map;
use mlsys_lab::{Frame, Run};
use mlsys_sim::network::Network;

/// Reports the size of the model and its work in a step, and the rounding that differences from one worker are held against.
pub(crate) fn report_sizes(run: &mut Run<'_>, model: &Model, examples: usize) {
    run.scalar("parameters", model.parameters() as i64);
    run.scalar("model_flops", model.flops(examples as u64) as i64);
    run.scalar("f32_rounding", f64::from(f32::EPSILON) / 2.0);
}

/// Bytes by sender (row) and receiver (column).
pub(crate) fn traffic(traffic: &Traffic, names: Vec<String>, legend: &str) -> Frame {
    let workers = names.len();
    let pairs = (0..workers).flat_map(|from| (0..workers).map(move |to| (from, to)));
    let bytes = |(from, to)| if from == to { 0.0 } else { traffic.flow(from, to).bytes as f32 };
    let cells: Vec<f32> = pairs.map(bytes).collect();
    let high = cells.iter().copied().fold(1.0, f32::max);
    Frame::HeatMap(HeatMap {
        column_labels: names.clone(),
        row_labels: names,
        ..heat_map([workers; 2], cells, (0.0, high), legend)
    })
}

/// Reports the modelled seconds of computing, of messages, and of a step.
pub(crate) fn report_clock(run: &mut Run<'_>, seconds: [f64; 3], speedup: f64) {
    let [compute, communication, step] = seconds;
    run.scalar("compute_seconds", compute);
    run.scalar("communication_seconds", communication);
    run.scalar("step_seconds", step);
    run.scalar("speedup", speedup);
}

/// The network of knobs until [`Network::read`] has read its parameters, which a link sets from a table.
pub(crate) fn free_network() -> Network {
    Network::FREE
}
