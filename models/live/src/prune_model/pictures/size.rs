//! Bytes in each format against the share removed, with the places where one becomes smaller than another.

use mlsys_lab::Frame;
use mlsys_lab::frame::{Dimension, Scatter, ScatterLine, ScatterPoint};
use mlsys_lab::schema::Scale;
use mlsys_sim::pruning::Format;

use super::Pictured;
use crate::prune_model::size::{Crossing, Size};

/// A line for each format, points where they cross, and one for the network as it is.
pub(super) fn draw(of: &Pictured<'_>) -> Frame {
    let Some(curves) = of.curves else {
        return Frame::Text("Nothing has been counted.".to_owned());
    };
    let line = |(place, format): (usize, &Format)| ScatterLine {
        name: format.name().to_owned(),
        points: curves
            .points
            .iter()
            .map(|(sparsity, size)| (*sparsity, size.bytes[place] as f64))
            .collect(),
    };
    let crossing = |crossing: Crossing| ScatterPoint {
        x: Some(crossing.sparsity),
        y: Some(crossing.bytes),
        // Short, for names stand beside their points only where there is room.
        label: format!("{} {:.2}", crossing.smaller.name(), crossing.sparsity),
        series: 1,
    };
    let (format, bytes) = Size::of(of.body, of.row.len(), of.cut, of.knobs).best();
    let gone = 1.0 - of.cut.kept() as f64 / of.cut.weights_in_all().max(1) as f64;
    let mut points = vec![ScatterPoint {
        x: Some(gone),
        y: Some(bytes as f64),
        label: format!("{} {:.1} kB", format.name(), bytes as f64 / 1000.0),
        series: 0,
    }];
    points.extend(curves.crossings().into_iter().map(crossing));
    Frame::Scatter(Scatter {
        x: Dimension { name: "share removed".to_owned(), ..Dimension::default() },
        y: Dimension {
            name: format!("stored at {} bits a weight", of.knobs.value_bits),
            unit: "bytes".to_owned(),
            scale: Scale::Log,
            ..Dimension::default()
        },
        series: vec!["this network".to_owned(), "from here on smaller than another".to_owned()],
        points,
        lines: Format::ALL.iter().enumerate().map(line).collect(),
    })
}
