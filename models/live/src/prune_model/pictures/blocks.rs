//! A transformer's heads block by block, and its matrices.

use mlsys_lab::Frame;
use mlsys_lab::frame::{HeatMap, Image, Images, Pane, Verdict};

use super::Pictured;
use super::weights::{GONE, shade};
use crate::prune_model::cut::Field;
use crate::prune_model::parts::Kind;
use crate::prune_model::setup::Method;

/// Which heads stay, or which gated units, block above block; then the matrices that they lie in, blank where weights are
/// gone.
pub(super) fn draw(of: &Pictured<'_>) -> Frame {
    let kind = match of.knobs.choice.method {
        Method::Neurons => Kind::Units,
        Method::Heads | Method::Magnitude | Method::Groups | Method::Random => Kind::Heads,
    };
    let mut panes = vec![map(of, kind)];
    panes.extend(matrices(of, kind));
    Frame::Panes(panes)
}

/// The norm of each, a block a row; those that are gone are no cells.
fn map(of: &Pictured<'_>, kind: Kind) -> Pane {
    let field = Field { body: of.body, row: of.row, draws: &[] };
    let parts = of.body.parts.iter().zip(&of.cut.units);
    let parts = parts.zip(of.cut.norms(&field));
    let rows: Vec<_> = parts.filter(|((part, _), _)| part.kind == kind).collect();
    let columns = rows.iter().map(|((part, _), _)| part.count).max();
    let columns = columns.unwrap_or_default();
    // A labelled cell without a number is empty; a field of many small ones has the end of its scale instead.
    let (what, gone, legend) = match kind {
        Kind::Heads => ("head", f32::NAN, "empty: gone"),
        Kind::Units => ("unit", 0.0, "0: gone"),
    };
    let cells: Vec<f32> = rows
        .iter()
        .flat_map(|(_, norms)| {
            let norm = |place: usize| match norms.get(place) {
                Some(norm) if norm.is_finite() => *norm as f32,
                Some(_) | None => gone,
            };
            (0..columns).map(norm)
        })
        .collect();
    let high = cells.iter().copied().fold(0.0, f32::max);
    let name = rows.first().and_then(|((part, _), _)| part.what.split_once(", "));
    let name = name.map_or("", |(_, name)| name);
    let column_labels = match kind {
        Kind::Heads => (1..=columns).map(|head| head.to_string()).collect(),
        Kind::Units => Vec::new(),
    };
    let row_labels = (1..=rows.len()).map(|block| format!("block {block}"));
    let (left, all) = of.cut.left_of(kind, of.body);
    Pane {
        title: format!("{left} of {all} {name} stay"),
        frame: Frame::HeatMap(HeatMap {
            columns,
            rows: rows.len(),
            low: 0.0,
            high,
            x: (0.5, columns as f32 + 0.5),
            y: (0.5, rows.len() as f32 + 0.5),
            column_labels,
            row_labels: row_labels.collect(),
            points: Vec::new(),
            legend: format!("norm of a {what}; {legend}"),
            cells,
        }),
    }
}

/// Matrices that such things lie in, those of one size side by side, each on a scale of its own.
fn matrices(of: &Pictured<'_>, kind: Kind) -> Vec<Pane> {
    let wanted: &[&str] = match kind {
        Kind::Heads => &["query", "key", "value", "attention output"],
        Kind::Units => &["gate", "up"],
    };
    let is_wanted = |what: &str| wanted.iter().any(|wanted| what.ends_with(wanted));
    let mut of_sizes: Vec<Images> = Vec::new();
    for (layer, mask) in of.body.layers.iter().zip(&of.cut.masks) {
        if !is_wanted(&layer.what) {
            continue;
        }
        let matrix = layer.matrix(of.row);
        let there = matrix.iter().zip(mask).filter(|(_, stays)| **stays);
        let largest = there.fold(f32::MIN_POSITIVE, |most, (weight, _)| most.max(weight.abs()));
        let level = |(weight, stays): (&f32, &bool)| {
            if *stays { shade(*weight, largest) } else { GONE }
        };
        let image = Image {
            pixels: matrix.iter().zip(mask).map(level).collect(),
            label: short(&layer.what),
            verdict: Verdict::Unjudged,
        };
        let same =
            |images: &&mut Images| (images.width, images.height) == (layer.outputs, layer.inputs);
        match of_sizes.iter_mut().find(same) {
            Some(images) => images.images.push(image),
            None => of_sizes.push(Images {
                width: layer.outputs,
                height: layer.inputs,
                images: vec![image],
                blank: Some(GONE),
                together: 1,
            }),
        }
    }
    let pane = |images: Images| Pane {
        title: format!("inputs {} x outputs {}", images.height, images.width),
        frame: Frame::Images(images),
    };
    of_sizes.into_iter().map(pane).collect()
}

/// `block 2, attention output` as `2 output`: a picture's label has little room.
fn short(what: &str) -> String {
    let short = what.strip_prefix("block ").unwrap_or(what);
    short.replace(", attention", "").replace(',', "")
}
