//! The panels: what is left, what it reads, what it takes.

use mlsys_lab::frame::{Dimension, Distribution, Histogram, Images, Pane};
use mlsys_lab::picture::{
    self, axis, bar, bars, heat_map, image, line, log_axis, marks, pane, point, scatter, table,
};
use mlsys_lab::value::number;
use mlsys_lab::{Frame, Value};
use mlsys_sim::pruning::{Format, mask};

use super::Session;
use super::hardware::{Crossing, Size};
use super::masks::{Candidates, Masks};
use super::network::Kind;
use super::params::Method;

/// What recovery shows, and its unit: a loss falls, which the trail keeps with a minus as what is to grow.
fn recovered(session: &Session) -> (Dimension, f64) {
    if session.reads_tokens() {
        (axis("validation loss", "nats"), -1.0)
    } else {
        (axis("accuracy", ""), 1.0)
    }
}

type Picture = fn(&Session) -> Frame;

pub(super) const ALL: [(&str, Picture); 6] = [
    ("weights", images),
    ("histogram", histograms),
    ("layers", layers),
    ("recovery", draw_recovery),
    ("size", draw_size),
    ("hardware", draw_speed),
];

fn layers(session: &Session) -> Frame {
    let share = |label: String, kept: usize, all: usize| {
        let remark = format!("{} of {}", number(kept as f64), number(all as f64));
        bar(label, 100.0 * kept as f64 / all.max(1) as f64, remark)
    };
    let masks = session.body.layers.iter().zip(&session.cut.masks);
    let layers = masks.map(|(layer, kept)| {
        share(format!("{}, {}", layer.name, layer.what), mask::count(kept), kept.len())
    });
    let mut all: Vec<_> = layers.collect();
    all.push(share("all weights".to_owned(), session.cut.kept(), session.cut.weights_in_all()));
    for (kind, what) in [(Kind::Units, "hidden units"), (Kind::Heads, "attention heads")] {
        let (left, count) = session.cut.left_of(kind, &session.body);
        if left < count {
            all.push(share(what.to_owned(), left, count));
        }
    }
    bars("%", all)
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sample {
    pub(super) step: u64,
    pub(super) accuracy: f64,
    pub(super) event: Event,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Event {
    Dense,
    Pruned(String),
    /// Those that are left were put back to initial values.
    Rewound,
    Tuned,
    Rounded(u32),
}

impl Sample {
    fn label(&self, sign: f64) -> Option<String> {
        let what = match &self.event {
            Event::Dense => "dense".to_owned(),
            Event::Pruned(what) => what.clone(),
            Event::Rewound => "set back".to_owned(),
            Event::Rounded(bits) => format!("{bits} bits"),
            Event::Tuned => return None,
        };
        Some(format!("{what} {:.3}", sign * self.accuracy))
    }
}

fn draw_recovery(session: &Session) -> Frame {
    let (dimension, sign) = recovered(session);
    let place = |sample: &Sample| (sample.step as f64, sign * sample.accuracy);
    let named = |sample: &Sample, label: String| {
        let (x, y) = place(sample);
        point(x, y, label, 0)
    };
    let dense = session.trail.first().map_or(0.0, |sample| sign * sample.accuracy);
    let last = session.trail.last();
    let end = last.map_or(0.0, |sample| sample.step as f64);
    let labelled =
        session.trail.iter().filter_map(|sample| Some(named(sample, sample.label(sign)?)));
    let tuned = last.filter(|sample| sample.event == Event::Tuned);
    let tuned = tuned.map(|last| named(last, format!("fine-tuned {:.3}", sign * last.accuracy)));
    let name = dimension.name.clone();
    scatter::<&str>(
        [axis("step of fine-tuning", ""), dimension],
        &[],
        labelled.chain(tuned).collect(),
        vec![
            line(name, session.trail.iter().map(place)),
            line("dense", [(0.0, dense), (end.max(1.0), dense)]),
        ],
    )
}

fn draw_size(session: &Session) -> Frame {
    let Some(curves) = &session.curves else {
        return Frame::Text("Nothing has been counted.".to_owned());
    };
    let curve = |(place, format): (usize, &Format)| {
        let points = curves.points.iter();
        line(format.name(), points.map(|(share, size)| (*share, size.bytes[place] as f64)))
    };
    let crossing = |at: Crossing| {
        // Short: a name is drawn next to its point only where there is room.
        let label = format!("{} {:.2}", at.smaller.name(), at.sparsity);
        point(at.sparsity, at.bytes, label, 1)
    };
    let (format, bytes) =
        Size::new(&session.body, session.row.len(), &session.cut, &session.knobs).best();
    let gone = 1.0 - session.cut.kept() as f64 / session.cut.weights_in_all().max(1) as f64;
    let label = format!("{} {:.1} kB", format.name(), bytes as f64 / 1000.0);
    let mut points = vec![point(gone, bytes as f64, label, 0)];
    points.extend(curves.crossings().into_iter().map(crossing));
    let stored = format!("stored at {} bits a weight", session.knobs.value_bits);
    scatter(
        [axis("share removed", ""), log_axis(&stored, "bytes")],
        &["this network", "from here on smaller than another"],
        points,
        Format::ALL.iter().enumerate().map(curve).collect(),
    )
}

fn draw_speed(session: &Session) -> Frame {
    let smaller = matches!(session.knobs.choice.method, Method::Neurons | Method::Heads);
    let why = if smaller {
        "a smaller network in the same kernels"
    } else {
        "the same kernels multiply the zeros as well"
    };
    let mut rows = vec![match session.seconds {
        Some([dense, pruned]) => row("measured here", dense, pruned, why),
        None => ["measured here", "at the end", "", "", why].map(Value::from),
    }];
    let chip = &session.knobs.chip;
    let products = session.products();
    rows.extend(products.iter().map(|product| {
        let limit = if product.waits_for_memory { "memory" } else { "arithmetic" };
        let place = format!("{} model, {}", chip.short, product.layer);
        let why = format!("waits for {limit}; {}", product.why);
        row(&place, product.dense, product.pruned, &why)
    }));
    rows.push(row(
        &format!("{} model, all layers", chip.short),
        products.iter().map(|product| product.dense).sum(),
        products.iter().map(|product| product.pruned).sum(),
        &format!("{} in 16 bits, one product after the other", chip.roof.name),
    ));
    let items = if session.reads_tokens() { "tokens" } else { "images" };
    let time = format!("µs for {} {items}", session.items);
    table([time.as_str(), "dense", "pruned", "gain", "why"], rows)
}

fn row(place: &str, dense: f64, pruned: f64, why: &str) -> [Value; 5] {
    // Three digits are all that a clock or a model is good for.
    let micro = |seconds: f64| {
        let micro = seconds * 1e6;
        let digit = 10.0_f64.powf(micro.max(1e-9).log10().floor() - 2.0);
        Value::from((micro / digit).round() * digit)
    };
    let gain = (100.0 * dense / pruned).round() / 100.0;
    [place.into(), micro(dense), micro(pruned), gain.into(), why.into()]
}

// Weights one by one as pixels, and all of them by value.

const MOST_UNITS: usize = 8;
/// Units shown where whole ones go, so that some that went and some that stay are among them.
const MOST_WHOLE: usize = 32;
const BINS: usize = 61;
/// The level of a weight that was removed; those that are there have levels above.
const GONE: u8 = 0;

/// Each first-layer unit's weights on their own scale: black most negative, white most positive, blank removed.
fn images(session: &Session) -> Frame {
    if session.reads_tokens() { draw_blocks(session) } else { units(session) }
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
        let label = if left == 0 { "removed".to_owned() } else { format!("{left} left") };
        image(column(unit).map(level).collect(), label)
    };
    let images = (0..layer.outputs.min(most)).map(unit).collect();
    Frame::Images(Images { blank: Some(GONE), ..picture::images([width, height], images) })
}

/// A weight's level, from 1 to 255; what is not finite is cast to 0 or clamped, never an error.
fn shade(weight: f32, largest: f32) -> u8 {
    ((128.0 + 127.0 * weight / largest).round() as u8).max(GONE + 1)
}

/// Of each layer the weights that are left, with those before as an outline, and the threshold; of neurons their norms.
fn histograms(session: &Session) -> Frame {
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
        let left = now.into_iter().zip(mask).filter(|(_, stays)| **stays);
        let left: Vec<f64> = left.map(|(weight, _)| weight).collect();
        let finite = before.iter().chain(&left).filter(|weight| weight.is_finite());
        let reach = finite.fold(f64::MIN_POSITIVE, |most, weight| most.max(weight.abs()));
        let edge = threshold.filter(|at| at.is_finite() && *at > 0.0);
        let edges = edge.into_iter().flat_map(|at| [-at, at]).collect();
        let title = titled(&layer.name, &format!(", {}", layer.what), *threshold);
        histogram(title, "weight", (&before, &left), (-reach, reach), edges)
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
            let title = titled(&part.what, "", *threshold);
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
    histogram.marked = if thresholds.len() == 1 { "threshold" } else { "thresholds" }.to_owned();
    histogram.levels = marks(thresholds);
    pane(title, Frame::Histogram(histogram))
}

/// A name with the size or norm below which everything went, or else what it is.
fn titled(name: &str, what: &str, threshold: Option<f64>) -> String {
    match threshold.filter(|at| at.is_finite()) {
        Some(at) => format!("{name}, threshold {at:.3}"),
        None => format!("{name}{what}"),
    }
}

fn numbers(weights: &[f32]) -> Vec<f64> {
    weights.iter().map(|weight| f64::from(*weight)).collect()
}

/// Which heads or gated units stay, block above block; then their matrices, blank where weights are gone.
fn draw_blocks(session: &Session) -> Frame {
    let is_of_units = session.knobs.choice.method == Method::Neurons;
    let kind = if is_of_units { Kind::Units } else { Kind::Heads };
    let mut panes = vec![map(session, kind)];
    panes.extend(matrices(session, kind));
    Frame::Panes(panes)
}

fn map(session: &Session, kind: Kind) -> Pane {
    let from = Candidates { body: &session.body, row: &session.row, draws: &[] };
    let parts = session.body.parts.iter().zip(session.cut.norms(&from));
    let rows: Vec<_> = parts.filter(|(part, _)| part.kind == kind).collect();
    let columns = rows.iter().map(|(part, _)| part.count).max().unwrap_or(0);
    // A labelled cell without a number is empty; a field of many small ones has the end of its scale instead.
    let (what, gone, legend) = match kind {
        Kind::Heads => ("head", f32::NAN, "empty: removed"),
        Kind::Units => ("unit", 0.0, "0: removed"),
    };
    let cell = |norm: &f64| if norm.is_finite() { *norm as f32 } else { gone };
    let row = |norms: &Vec<f64>| {
        let missing = columns - norms.len();
        norms.iter().map(cell).chain(std::iter::repeat_n(gone, missing)).collect::<Vec<f32>>()
    };
    let cells: Vec<f32> = rows.iter().flat_map(|(_, norms)| row(norms)).collect();
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

#[cfg(test)]
mod tests {
    use mlsys_lab::Frame;

    #[test]
    fn the_loss_of_sequences_is_drawn_as_it_falls() {
        let data = super::super::tests::quick(&[]);
        let Frame::Scatter(drawn) = crate::trial::frame(&data, "recovery") else { panic!() };
        assert_eq!((&*drawn.y.name, &*drawn.y.unit), ("validation loss", "nats"));
        assert!(drawn.points.iter().all(|point| point.y > Some(0.0)));
    }
}
