//! The panels: levels over weights, weights before and after, what changed, noise, sensitivity, size and time.

use mlsys_lab::frame::{Better, Dimension, Image, Verdict};
use mlsys_lab::picture::{self, axis, heat_map, line, point, scatter, table};
use mlsys_lab::{Frame, Value};
use mlsys_nn::baseline::Layer;
use mlsys_nn::data::{Examples, Labelled, Sequence};

use super::params::{Knobs, Method};
use super::{Scan, Session, rounding, weight_panels};

type Draw = fn(&Session) -> Frame;

pub(super) const NOISE: &str = "noise";

pub(super) const ALL: [(&str, Draw); 8] = [
    ("histogram", weight_panels::histogram),
    ("weights", weight_panels::weights),
    ("samples", samples),
    (NOISE, noise),
    ("sensitivity", sensitivity),
    ("size", weight_panels::size),
    ("activations", weight_panels::activations),
    ("speed", weight_panels::speed),
];

/// The layer that is shown, from 0; at most the last.
pub(super) fn shown_layer(session: &Session) -> usize {
    session.knobs.layer.min(session.layers.len().saturating_sub(1))
}

// Examples with answers changed by rounding.

const MOST_IMAGES: usize = 24;
const MOST_TOKENS: usize = 20;
const REMINDER: usize = 6;

/// The images, or positions in the sequence, with a changed answer.
pub(super) fn samples(session: &Session) -> Frame {
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

/// The old and the new answer under each image, and whether the new one is right.
fn images(session: &Session, examples: &Labelled, changed: &[usize]) -> Frame {
    let edge = examples.features.isqrt();
    let image = |index: &usize| {
        let then = session.before.classes.get(*index)?;
        let now = session.after.classes.get(*index)?;
        let truth = usize::try_from(*examples.labels.get(*index)?).ok()?;
        Some(Image {
            pixels: examples.input(*index).iter().map(|x| (255.0 * x).round() as u8).collect(),
            label: format!("{then}, now {now}"),
            verdict: if *now == truth { Verdict::Right } else { Verdict::Wrong },
        })
    };
    let some = changed.iter().filter_map(image).take(MOST_IMAGES).collect();
    Frame::Images(picture::images([edge, edge], some))
}

fn tokens(session: &Session, sequence: &Sequence, changed: &[usize]) -> Frame {
    let labels = sequence.all_labels();
    let vocabulary = session.judge.vocabulary.as_ref();
    let name =
        |token: i32| vocabulary.map_or_else(|| token.to_string(), |known| known.label(token));
    let row = |index: &usize| {
        let truth = *labels.get(*index)?;
        let before = labels.get(index.saturating_sub(REMINDER)..*index)?;
        let then = *session.before.classes.get(*index)? as i32;
        let now = *session.after.classes.get(*index)? as i32;
        let read: Vec<String> = before.iter().map(|token| name(*token)).collect();
        let verdict = if now == truth { "right" } else { "" };
        let row = [read.join(" "), name(then), name(now), name(truth), verdict.to_owned()];
        Some(row.map(Value::from))
    };
    let titles = ["after", "it said", "says now", "comes next", ""];
    table(titles, changed.iter().filter_map(row).take(MOST_TOKENS).collect())
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

/// Bits of a weight, decibels measured, and decibels predicted.
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

    /// Whether they would come out the same by these knobs.
    pub(crate) fn matches(&self, knobs: &Knobs) -> bool {
        let key = |knobs: &Knobs| (knobs.method == Method::Kmeans, knobs.method == Method::Nf4);
        key(&self.knobs) == key(knobs)
            && (self.knobs.scheme, self.knobs.granularity) == (knobs.scheme, knobs.granularity)
            && Scan::widths(&self.knobs) == Scan::widths(knobs)
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
        let (Some(curve), Some(named)) = (curves.layers.get(layer), session.layers.get(layer))
        else {
            continue;
        };
        for (bits, measured, _) in curve {
            let set = if *bits == own { ", as set" } else { "" };
            let measured = measured.unwrap_or(f64::NAN);
            points.push(point(
                f64::from(*bits),
                measured,
                format!("{bits} bits{set}"),
                series.len(),
            ));
        }
        let predicted = curve.iter();
        let predicted = predicted.filter_map(|(bits, _, db)| Some((f64::from(*bits), (*db)?)));
        lines.push(line(format!("{}, predicted", named.what), predicted));
        series.push(named.what.clone());
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

/// A row a layer, a column a width; what has not been tried yet is left open.
pub(super) fn sensitivity(session: &Session) -> Frame {
    let widths = Scan::widths(&session.knobs);
    // Accuracy in points, of which a test of a thousand images tells tenths.
    let times = if session.judge.reads_tokens() { 1.0 } else { 100.0 };
    let mut cells = Vec::new();
    for layer in 0..session.layers.len() {
        for bits in &widths {
            let lost = session.scan.lost(layer, *bits).filter(|lost| lost.is_finite());
            // A gain from rounding is chance, and drawn as no loss.
            cells.push(lost.map_or(f32::NAN, |lost| (times * lost).max(0.0) as f32));
        }
    }
    let most = cells.iter().filter(|x| x.is_finite()).fold(0.0_f32, |most, x| most.max(*x));
    let scale = (0.0, most.max(0.01 * times as f32));
    let legend = if session.judge.reads_tokens() {
        "nats lost if this layer alone is rounded"
    } else {
        "points of accuracy lost if this layer alone is rounded"
    };
    let mut map = heat_map([session.layers.len(), widths.len()], cells, scale, legend);
    map.column_labels = widths.iter().map(|bits| format!("{bits} bits")).collect();
    map.row_labels = session.layers.iter().map(|layer| layer.what.clone()).collect();
    Frame::HeatMap(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_the_last_and_the_shown_layer_are_drawn_once_each() {
        assert_eq!(chosen(1, 3), [0, 1, 2]);
        assert_eq!(chosen(0, 2), [0, 1]);
        assert_eq!(chosen(5, 16), [0, 5, 15]);
        assert_eq!(chosen(15, 16), [0, 15]);
        assert_eq!(chosen(0, 1), [0]);
    }
}
