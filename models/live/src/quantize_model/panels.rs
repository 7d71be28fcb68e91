//! The panels: levels over weights, weights before and after, what changed, noise, sensitivity, size and time.

use mlsys_device as device;
use mlsys_lab::frame::{Bar, Better, Dimension, Histogram, Image, Images, Verdict};
use mlsys_lab::picture::{
    self, axis, bars, heat_map, image, line, marks, pane, point, scatter, stacks, table,
};
use mlsys_lab::value::number;
use mlsys_lab::{Frame, Value};
use mlsys_nn::baseline::Layer;
use mlsys_nn::data::{Examples, Labelled, Sequence};
use mlsys_nn::networks::Architecture;
use mlsys_sim::quantizer::{Granularity, Levels, Matrix, Quantized};

use super::params::{Execution, Knobs};
use super::rounding::EXAMPLES;
use super::{Scan, Session, plain, rounding};

pub(super) const NOISE: &str = "noise";

type Picture = fn(&Session) -> Frame;

pub(super) const ALL: [(&str, Picture); 8] = [
    ("histogram", histogram),
    ("weights", weights),
    ("samples", samples),
    (NOISE, noise),
    ("sensitivity", sensitivity),
    ("size", size),
    ("activations", activations),
    ("speed", speed),
];

fn shown_layer(session: &Session) -> usize {
    session.knobs.layer.min(session.layers.len().saturating_sub(1))
}

const MOST_IMAGES: usize = 24;
const MOST_TOKENS: usize = 20;
const REMINDER: usize = 6;

fn samples(session: &Session) -> Frame {
    let changed = session.after.changed(&session.before);
    if changed.is_empty() {
        let count = session.before.classes.len();
        return Frame::Text(format!("All {count} answers are what they were before rounding."));
    }
    match &session.judge.examples {
        Examples::Labelled(labelled) => images(session, labelled, &changed),
        Examples::Sequence(sequence) => tokens(session, sequence, &changed),
    }
}

fn images(session: &Session, examples: &Labelled, changed: &[usize]) -> Frame {
    let edge = examples.features.isqrt();
    let image = |&index: &usize| {
        let (then, now) = (session.before.classes[index], session.after.classes[index]);
        let is_right = usize::try_from(examples.labels[index]) == Ok(now);
        Image {
            pixels: examples.input(index).iter().map(|x| (255.0 * x).round() as u8).collect(),
            // The mark of the verdict stands before it, and is of the answer now.
            label: format!("{now}, was {then}"),
            verdict: if is_right { Verdict::Right } else { Verdict::Wrong },
        }
    };
    let some = changed.iter().map(image).take(MOST_IMAGES).collect();
    Frame::Images(picture::images([edge, edge], some))
}

fn tokens(session: &Session, sequence: &Sequence, changed: &[usize]) -> Frame {
    let (labels, vocabulary) = (sequence.all_labels(), session.judge.vocabulary.as_ref());
    let name =
        |token: i32| vocabulary.map_or_else(|| token.to_string(), |known| known.label(token));
    let row = |&index: &usize| {
        let truth = labels[index];
        let [then, now] =
            [&session.before, &session.after].map(|answers| answers.classes[index] as i32);
        let before = &labels[index.saturating_sub(REMINDER)..index];
        let read: Vec<String> = before.iter().map(|token| name(*token)).collect();
        let verdict = if now == truth { "right" } else { "" };
        let row = [read.join(" "), name(then), name(now), name(truth), verdict.to_owned()];
        row.map(Value::from)
    };
    let titles = ["after", "it said", "says now", "comes next", ""];
    table(titles, changed.iter().map(row).take(MOST_TOKENS).collect())
}

// Quantization noise by bits with its prediction, and each layer's sensitivity.

/// Decibels of a bit: 20 log10 2, because a bit halves the step.
const OF_A_BIT: f64 = 6.020_599_913_279_624;

/// At most this many layers' noise is drawn, so that curves stay distinguishable.
const DRAWN: usize = 3;

/// Signal over noise of each layer at several widths, measured and predicted, of the weights as they were trained.
pub(crate) struct Curves {
    knobs: Knobs,
    layers: Vec<Vec<Width>>,
}

type Width = (u32, Option<f64>, Option<f64>);

impl Curves {
    pub(crate) fn new(knobs: &Knobs, layers: &[Layer], row: &[f32]) -> Self {
        let widths = Scan::widths(knobs);
        let curve = |layer: &Layer| {
            let matrix = layer.matrix(row);
            let at = |bits: &u32| {
                let knobs = Knobs { bits: *bits, ..*knobs };
                let noise = rounding::of_layer(&knobs, layer, row).noise(&matrix);
                (*bits, noise.sqnr_db(), noise.predicted_db())
            };
            widths.iter().map(at).collect()
        };
        Self { knobs: *knobs, layers: layers.iter().map(curve).collect() }
    }

    pub(crate) fn matches(&self, knobs: &Knobs) -> bool {
        let key = |knobs: &Knobs| (plain(knobs), Scan::widths(knobs));
        key(&self.knobs) == key(knobs)
    }
}

fn noise(session: &Session) -> Frame {
    let Some(curves) = &session.curves else {
        return Frame::Text("No layer has been rounded yet.".to_owned());
    };
    let mut series = Vec::new();
    let mut points = Vec::new();
    let mut lines = vec![line("6.02 dB a bit", [2.0, 8.0].map(|bits| (bits, OF_A_BIT * bits)))];
    let own = session.knobs.weight_bits();
    for layer in chosen(shown_layer(session), session.layers.len()) {
        let (curve, what) = (&curves.layers[layer], &session.layers[layer].what);
        points.extend(curve.iter().map(|(bits, measured, _)| {
            let set = if *bits == own { ", as set" } else { "" };
            let label = format!("{bits} bits{set}");
            point(f64::from(*bits), measured.unwrap_or(f64::NAN), label, series.len())
        }));
        let predicted = curve.iter();
        let predicted = predicted.filter_map(|(bits, _, db)| Some((f64::from(*bits), (*db)?)));
        lines.push(line(format!("{what}, computed"), predicted));
        series.push(format!("{what}, measured"));
    }
    let noise = Dimension { better: Better::More, ..axis("signal over noise", "dB") };
    scatter([axis("bits a weight", ""), noise], &series, points, lines)
}

/// The layer that is shown, the first and the last, in order.
fn chosen(shown: usize, layers: usize) -> Vec<usize> {
    let mut chosen = vec![shown, 0, layers.saturating_sub(1)];
    if layers <= DRAWN {
        chosen.extend(0..layers);
    }
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}

fn sensitivity(session: &Session) -> Frame {
    let widths = Scan::widths(&session.knobs);
    // Accuracy in points, of which a test of a thousand images tells tenths.
    let (times, lost) =
        if session.judge.reads_tokens() { (1.0, "nats") } else { (100.0, "points of accuracy") };
    let cell = |layer: usize, bits: u32| {
        let lost = session.scan.lost(layer, bits).filter(|lost| lost.is_finite());
        // A gain from rounding is chance, and drawn as no loss.
        lost.map_or(f32::NAN, |lost| (times * lost).max(0.0) as f32)
    };
    let layers = 0..session.layers.len();
    let row = |layer| widths.iter().map(move |bits| cell(layer, *bits));
    let cells: Vec<f32> = layers.flat_map(row).collect();
    let scale = (0.0, reach(&cells).max(0.01 * times as f32));
    let legend = format!("{lost} lost if this layer alone is rounded; · none");
    let mut map = heat_map([session.layers.len(), widths.len()], cells, scale, legend);
    map.column_labels = widths.iter().map(|bits| format!("{bits} bits")).collect();
    map.row_labels = session.layers.iter().map(|layer| layer.what.clone()).collect();
    Frame::HeatMap(map)
}

// Weights and inputs of one layer: how they are spread, and what they look like.

const BINS: usize = 61;
const UNITS: usize = 6;
const LEVELS: &str = "levels";
const MOST: usize = 48;

/// All weights of the layer, and those of one group alone, over the same range and with that group's levels.
fn histogram(session: &Session) -> Frame {
    let (layer, rounded) = shown(session);
    let weights = layer.matrix(&session.row);
    let matrix = Matrix::by_inputs(layer.inputs, layer.outputs);
    // Of the weights as they came, so that it is the same output while training moves them.
    let output = typical(&layer.matrix(&session.trained.weights), matrix);
    let group = rounded.group(matrix.index(0, output));
    let levels = &rounded.levels[group];
    let reach = reach(&weights);
    if !(reach.is_finite() && reach > 0.0) {
        return Frame::Text("Every weight of this layer is zero.".to_owned());
    }
    let reach = f64::from(reach);
    // The levels within the picture.
    let inside = levels.all().into_iter().map(f64::from).filter(|at| at.abs() <= reach * 1.000_001);
    let inside = marks(inside.map(|at| at.clamp(-reach, reach)));
    let draw = |title: String, values: Vec<f64>| {
        let histogram = Histogram {
            levels: inside.clone(),
            marked: LEVELS.to_owned(),
            ..Histogram::between("weight", "", &values, (-reach, reach), BINS)
        };
        pane(title, Frame::Histogram(histogram))
    };
    let all: Vec<f64> = weights.iter().map(|weight| f64::from(*weight)).collect();
    let is_own = |index| rounded.group(index) == group && matrix.place(index).1 == output;
    let own = all.iter().enumerate().filter(|(index, _)| is_own(*index));
    let own: Vec<f64> = own.map(|(_, weight)| *weight).collect();
    let all_of_it = format!("{}, all weights", layer.what);
    let group = match (levels, session.knobs.granularity) {
        (Levels::Even(_), Granularity::Tensor | Granularity::Channel) => " alone".to_owned(),
        (Levels::Even(_), Granularity::Group(size)) => format!(", first {}", size.min(own.len())),
        (Levels::Listed(_), _) => format!(", {} levels", levels.all().len()),
    };
    Frame::Panes(vec![draw(all_of_it, all), draw(format!("output {}{group}", output + 1), own)])
}

fn typical(weights: &[f32], matrix: Matrix) -> usize {
    let mut largest = vec![0.0_f32; matrix.outputs()];
    for (index, weight) in weights.iter().enumerate() {
        let largest = &mut largest[matrix.place(index).1];
        *largest = largest.max(weight.abs());
    }
    let mut order: Vec<usize> = (0..largest.len()).collect();
    order.sort_by(|a, b| largest[*a].total_cmp(&largest[*b]));
    order.get(order.len() / 2).copied().unwrap_or(0)
}

fn weights(session: &Session) -> Frame {
    let (layer, rounded) = shown(session);
    let before = layer.matrix(&session.trained.weights);
    let lost: Vec<f32> = before.iter().zip(&rounded.back).map(|(old, new)| new - old).collect();
    let edge = layer.inputs.isqrt();
    // Inputs of other layers are no pixels, however many they are.
    let sees = shown_layer(session) == 0 && !session.judge.reads_tokens();
    if sees && edge * edge == layer.inputs && edge >= 8 {
        return units(layer, edge, [&before, &rounded.back, &lost]);
    }
    let maps = [("before", &before), ("after", &rounded.back), ("difference", &lost)];
    let panes = maps
        .map(|(name, matrix)| pane(format!("{}, {name}", layer.what), map(layer, matrix, name)));
    Frame::Panes(panes.into())
}

/// Black is the most negative, white the most positive, grey 0. A unit has one scale before and after, and another for
/// what it lost, which would be too faint to see.
fn units(layer: &Layer, edge: usize, [before, after, lost]: [&[f32]; 3]) -> Frame {
    let matrix = Matrix::by_inputs(layer.inputs, layer.outputs);
    let column = |of: &[f32], unit: usize| -> Vec<f32> {
        (0..layer.inputs).map(|input| of[matrix.index(input, unit)]).collect()
    };
    let mut images = Vec::new();
    for unit in 0..layer.outputs.min(UNITS) {
        let [before, after, lost] = [before, after, lost].map(|of| column(of, unit));
        let (own, faint) = (reach(&before).max(reach(&after)), reach(&lost));
        let times = if faint > 0.0 { (own / faint).round().max(1.0) } else { 1.0 };
        for (values, largest, label) in [
            (before, own, format!("unit {}", unit + 1)),
            (after, own, "rounded".to_owned()),
            (lost, own / times, format!("lost x{times}")),
        ] {
            let largest = largest.max(f32::MIN_POSITIVE);
            let grey = |weight: &f32| (127.5 + 127.5 * weight / largest).round() as u8;
            images.push(image(values.iter().map(grey).collect(), label));
        }
    }
    Frame::Images(Images { together: 3, ..picture::images([edge, edge], images) })
}

fn map(layer: &Layer, matrix: &[f32], legend: &str) -> Frame {
    let (rows, columns) = (layer.inputs.min(MOST), layer.outputs.min(MOST));
    let index = Matrix::by_inputs(layer.inputs, layer.outputs);
    let cell = |place: usize| {
        let weight = matrix[index.index(place / columns, place % columns)];
        if weight.is_finite() { weight } else { f32::NAN }
    };
    let cells: Vec<f32> = (0..rows * columns).map(cell).collect();
    let reach = reach(&cells).max(f32::MIN_POSITIVE);
    Frame::HeatMap(heat_map([rows, columns], cells, (-reach, reach), legend))
}

fn activations(session: &Session) -> Frame {
    let Some((bits, _)) = session.knobs.activations else {
        let text = "Only weights are rounded. With activation_bits set, what comes into each layer is rounded as well, and \
                    this panel shows it with its levels.";
        return Frame::Text(text.to_owned());
    };
    let (layer, what) = (shown_layer(session), &shown(session).0.what);
    let (Some(grid), Some(observed)) = (session.grids.layer(layer), &session.observed) else {
        return Frame::Text(format!(
            "Layer {}, {what}, has no input of its own to round: tokens are no numbers, and layers that share an input \
             are rounded with the first of them.",
            layer + 1
        ));
    };
    let values: Vec<f64> = observed.layer(layer).iter().map(|x| f64::from(*x)).collect();
    let Some(mut histogram) = Histogram::new("input", "", &values, BINS) else {
        return Frame::Text("No input of this layer is a finite number.".to_owned());
    };
    let range = histogram.edges[0]..=histogram.edges[BINS];
    let levels = Levels::Even(grid).all().into_iter().map(f64::from);
    histogram.levels = marks(levels.filter(|at| range.contains(at)));
    histogram.marked = LEVELS.to_owned();
    let title = format!("into {what}, {EXAMPLES} examples, {bits} bits");
    Frame::Panes(vec![pane(title, Frame::Histogram(histogram))])
}

fn shown(session: &Session) -> (&Layer, &Quantized) {
    let layer = shown_layer(session);
    (&session.layers[layer], &session.rounded.layers[layer])
}

/// The largest size of a number; NaN is none.
fn reach(numbers: &[f32]) -> f32 {
    numbers.iter().fold(0.0, |most, number| most.max(number.abs()))
}

const FLOAT: usize = 4;

fn size(session: &Session) -> Frame {
    let size = session.rounded.size();
    let stack = |label: &str, parts: [usize; 3], remark: String| {
        (label.to_owned(), parts.map(|bytes| bytes as f64).to_vec(), remark)
    };
    let stored = [size.matrices.weights, size.matrices.scales, size.others];
    let bits = number((1000.0 * size.bits_per_weight()).round() / 1000.0);
    stacks(
        "bytes",
        ["weights", "scales", "biases"],
        vec![
            stack("32-bit floats", [FLOAT * size.weights, 0, size.others], String::new()),
            stack("as stored", stored, format!("{:.2}x smaller", size.ratio())),
        ],
        None,
        &format!("{bits} bits a weight, scales included"),
    )
}

fn speed(session: &Session) -> Frame {
    let bar = |label: &str, seconds: Option<f64>| Bar {
        label: label.to_owned(),
        value: seconds.filter(|seconds| seconds.is_finite()),
        remark: String::new(),
    };
    let times =
        vec![bar("before", Some(session.seconds_before)), bar("rounded", session.seconds_after)];
    let words = if session.knobs.execution == Execution::Simulated {
        "The rounded weights lie in memory as 32-bit floats and are multiplied as such: the same arithmetic on other \
         values. No time is saved."
            .to_owned()
    } else if device::is_asynchronous(session.id) {
        held(session) + " This device reads them packed; the products are sums of floats."
    } else {
        held(session)
            + " On a CPU burn stores each weight in 8 bits and turns it into a float before the product: no time is saved."
    };
    let words = words + " The stored bytes are counted from the format.";
    Frame::Panes(vec![
        pane("seconds for all fresh examples", bars("s", times)),
        pane("what computes", Frame::Text(words)),
    ])
}

fn held(session: &Session) -> String {
    let (native, all) = (session.native, session.layers.len());
    if native == all {
        let all = if all == 2 { "Both".to_owned() } else { format!("All {all}") };
        return format!("{all} matrices are burn's quantized tensors.");
    }
    let others = if matches!(session.trained.architecture, Architecture::Transformer(_)) {
        "the embedding, of which rows are looked up, holds"
    } else {
        "convolutions, which burn has for floats alone, hold"
    };
    format!(
        "{native} of {all} matrices are burn's quantized tensors; {others} the rounded values as floats."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_layers_are_unique() {
        assert_eq!(chosen(1, 3), [0, 1, 2]);
        assert_eq!(chosen(0, 2), [0, 1]);
        assert_eq!(chosen(5, 16), [0, 5, 15]);
        assert_eq!(chosen(15, 16), [0, 15]);
        assert_eq!(chosen(0, 1), [0]);
    }
}
