//! Weights one by one as pixels, and all of them by value.

use mlsys_lab::Frame;
use mlsys_lab::frame::{Distribution, Histogram, Images, Pane};
use mlsys_lab::picture::{self, heat_map, image, marks, pane};
use mlsys_nn::baseline::Layer;

use super::Session;
use super::hardware::Item;
use super::masks::{Candidates, Masks};
use super::network::{Kind, PrunableGroup};
use super::params::Method;

/// Units shown, each large enough for its gaps to be seen.
const MOST_UNITS: usize = 8;
/// Units shown where whole ones go, so that some that went and some that stay are among them.
const MOST_WHOLE: usize = 32;
const BINS: usize = 61;
/// The level of a weight that was removed; those that are there have levels above.
pub(super) const GONE: u8 = 0;

/// Of the first hidden layer, each unit's weights on a scale of their own; black is the most negative, white the most
/// positive, blank is gone.
pub(super) fn images(session: &Session) -> Frame {
    match session.work.kind {
        Item::Image => units(session),
        Item::Token => draw_blocks(session),
    }
}

fn units(session: &Session) -> Frame {
    let (Some(layer), Some(mask)) = (session.body.layers.first(), session.cut.masks.first()) else {
        return Frame::Text("The network has no layers.".to_owned());
    };
    let matrix = layer.matrix(&session.row);
    let edge = layer.inputs.isqrt();
    let (width, height) =
        if edge * edge == layer.inputs { (edge, edge) } else { (layer.inputs, 1) };
    let most = match session.knobs.choice.method {
        Method::Neurons | Method::Heads => MOST_WHOLE,
        Method::Magnitude | Method::Groups | Method::Random => MOST_UNITS,
    };
    let column = |unit: usize| (0..layer.inputs).map(move |input| input * layer.outputs + unit);
    let unit = |unit: usize| {
        let there = column(unit).filter(|at| mask[*at]);
        let left = there.clone().count();
        let largest = there.fold(f32::MIN_POSITIVE, |most, at| most.max(matrix[at].abs()));
        let level = |at: usize| {
            if mask[at] { shade(matrix[at], largest) } else { GONE }
        };
        let label = match left {
            0 => "gone".to_owned(),
            _ => format!("{left} left"),
        };
        image(column(unit).map(level).collect(), label)
    };
    let images = (0..layer.outputs.min(most)).map(unit).collect();
    Frame::Images(Images { blank: Some(GONE), ..picture::images([width, height], images) })
}

/// A weight's level, from 1 to 255; what is not finite is cast to 0 or clamped, never an error.
pub(super) fn shade(weight: f32, largest: f32) -> u8 {
    ((128.0 + 127.0 * weight / largest).round() as u8).max(GONE + 1)
}

/// Of each layer the weights that are left, with those before as an outline, and the threshold; of neurons their norms.
pub(super) fn histograms(session: &Session) -> Frame {
    let panes = match session.knobs.choice.method {
        Method::Neurons => norms(session, Kind::Units),
        Method::Heads => norms(session, Kind::Heads),
        Method::Magnitude | Method::Groups | Method::Random => weights(session),
    };
    Frame::Panes(panes)
}

fn weights(session: &Session) -> Vec<Pane> {
    let with = session.body.layers.iter().zip(&session.cut.masks).zip(&session.cut.thresholds);
    with.map(|((layer, mask), threshold)| {
        let before = numbers(&layer.matrix(&session.before));
        let now = numbers(&layer.matrix(&session.row));
        let left: Vec<f64> =
            now.iter().zip(mask).filter(|(_, stays)| **stays).map(|(weight, _)| *weight).collect();
        let reach = before
            .iter()
            .chain(&left)
            .filter(|weight| weight.is_finite())
            .fold(f64::MIN_POSITIVE, |most, weight| most.max(weight.abs()));
        let edge = threshold.filter(|at| at.is_finite() && *at > 0.0);
        let edges = edge.into_iter().flat_map(|at| [-at, at]).collect();
        histogram(titled(layer, *threshold), "weight", (&before, &left), (-reach, reach), edges)
    })
    .collect()
}

fn norms(session: &Session, kind: Kind) -> Vec<Pane> {
    let from = |row| Candidates { body: &session.body, row, draws: &[] };
    let before = Masks::none(&session.body).norms(&from(&session.before));
    let now = session.cut.norms(&from(&session.row));
    let parts = session.body.parts.iter().zip(before).zip(now);
    let with = parts.zip(&session.cut.thresholds);
    with.filter(|(((part, _), _), _)| part.kind == kind)
        .map(|(((part, before), now), threshold)| {
            let left: Vec<f64> = now.into_iter().filter(|norm| norm.is_finite()).collect();
            let most = before.iter().chain(&left).copied();
            let reach = most.fold(f64::MIN_POSITIVE, f64::max);
            let quantity = match kind {
                Kind::Units => "norm of a unit",
                Kind::Heads => "norm of a head",
            };
            let edge = threshold.filter(|at| at.is_finite()).into_iter().collect();
            let title = titled_part(part, *threshold);
            histogram(title, quantity, (&before, &left), (0.0, reach), edge)
        })
        .collect()
}

fn histogram(
    title: String,
    quantity: &str,
    (before, left): (&[f64], &[f64]),
    range: (f64, f64),
    thresholds: Vec<f64>,
) -> Pane {
    let outline = Histogram::between(quantity, "", before, range, BINS).first;
    let mut histogram = Histogram::between(quantity, "", left, range, BINS);
    histogram.first.name = "left".to_owned();
    histogram.second = Some(Distribution { name: "before".to_owned(), ..outline });
    // Without names, which would cover the neighbouring columns.
    histogram.levels = marks(thresholds);
    pane(title, Frame::Histogram(histogram))
}

/// The layer with the size below which everything went.
fn titled(layer: &Layer, threshold: Option<f64>) -> String {
    match threshold.filter(|at| at.is_finite()) {
        Some(at) => format!("{}, threshold {at:.3}", layer.name),
        None => format!("{}, {}", layer.name, layer.what),
    }
}

/// The part with the norm below which everything went.
fn titled_part(part: &PrunableGroup, threshold: Option<f64>) -> String {
    let what = &part.what;
    match threshold.filter(|at| at.is_finite()) {
        Some(at) => format!("{what}, threshold {at:.3}"),
        None => what.clone(),
    }
}

fn numbers(weights: &[f32]) -> Vec<f64> {
    weights.iter().map(|weight| f64::from(*weight)).collect()
}

// A transformer's heads block by block, and its matrices.

/// Which heads stay, or which gated units, block above block; then the matrices that they lie in, blank where weights are
/// gone.
pub(super) fn draw_blocks(session: &Session) -> Frame {
    let kind = match session.knobs.choice.method {
        Method::Neurons => Kind::Units,
        Method::Heads | Method::Magnitude | Method::Groups | Method::Random => Kind::Heads,
    };
    let mut panes = vec![map(session, kind)];
    panes.extend(matrices(session, kind));
    Frame::Panes(panes)
}

/// The norm of each, a block a row; those that are gone are no cells.
fn map(session: &Session, kind: Kind) -> Pane {
    let from = Candidates { body: &session.body, row: &session.row, draws: &[] };
    let parts = session.body.parts.iter().zip(session.cut.norms(&from));
    let rows: Vec<_> = parts.filter(|(part, _)| part.kind == kind).collect();
    let columns = rows.iter().map(|(part, _)| part.count).max().unwrap_or(0);
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
    let name = rows.first().and_then(|(part, _)| part.what.split_once(", "));
    let name = name.map_or("", |(_, name)| name);
    let mut map =
        heat_map([rows.len(), columns], cells, (0.0, high), format!("norm of a {what}; {legend}"));
    map.x = (0.5, columns as f32 + 0.5);
    map.y = (0.5, rows.len() as f32 + 0.5);
    if kind == Kind::Heads {
        map.column_labels = (1..=columns).map(|head| head.to_string()).collect();
    }
    map.row_labels = (1..=rows.len()).map(|block| format!("block {block}")).collect();
    let (left, all) = session.cut.left_of(kind, &session.body);
    pane(format!("{left} of {all} {name} stay"), Frame::HeatMap(map))
}

/// Matrices that such things lie in, those of one size side by side, each on a scale of its own.
fn matrices(session: &Session, kind: Kind) -> Vec<Pane> {
    let wanted: &[&str] = match kind {
        Kind::Heads => &["query", "key", "value", "attention output"],
        Kind::Units => &["gate", "up"],
    };
    let is_wanted = |what: &str| wanted.iter().any(|wanted| what.ends_with(wanted));
    let mut of_sizes: Vec<Images> = Vec::new();
    for (layer, mask) in session.body.layers.iter().zip(&session.cut.masks) {
        if !is_wanted(&layer.what) {
            continue;
        }
        let matrix = layer.matrix(&session.row);
        let there = matrix.iter().zip(mask).filter(|(_, stays)| **stays);
        let largest = there.fold(f32::MIN_POSITIVE, |most, (weight, _)| most.max(weight.abs()));
        let level = |(weight, stays): (&f32, &bool)| {
            if *stays { shade(*weight, largest) } else { GONE }
        };
        let image = image(matrix.iter().zip(mask).map(level).collect(), short(&layer.what));
        let same =
            |images: &&mut Images| (images.width, images.height) == (layer.outputs, layer.inputs);
        match of_sizes.iter_mut().find(same) {
            Some(images) => images.images.push(image),
            None => of_sizes.push(Images {
                blank: Some(GONE),
                ..picture::images([layer.outputs, layer.inputs], vec![image])
            }),
        }
    }
    let titled = |images: Images| {
        let title = format!("inputs {} x outputs {}", images.height, images.width);
        pane(title, Frame::Images(images))
    };
    of_sizes.into_iter().map(titled).collect()
}

/// `block 2, attention output` as `2 output`: a picture's label has little room.
fn short(what: &str) -> String {
    let short = what.strip_prefix("block ").unwrap_or(what);
    short.replace(", attention", "").replace(',', "")
}
