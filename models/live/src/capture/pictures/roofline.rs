//! Operations under the roof of a machine.

use mlsys_lab::Frame;
use mlsys_lab::frame::{Better, Dimension, Scatter, ScatterLine, ScatterPoint};
use mlsys_lab::schema::Scale;

use super::{Shown, layer};
use mlsys_nn::capture::cost::Unit;

/// Every pass over memory of the forward pass: intensity across, operations per second under the roof upwards.
pub(super) fn picture(shown: Shown<'_>) -> Frame {
    let (table, roof) = (&shown.record.table, &shown.counting.roof);
    let series = ["matrix products", "other operations"];
    let reached = |unit: &Unit| unit.flops as f64 / roof.seconds(unit);
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
    let at = |x: f64| (x, (x * roof.bytes_per_second).min(roof.flops_per_second));
    let line = ScatterLine {
        name: format!("roof of {}", roof.machine),
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
