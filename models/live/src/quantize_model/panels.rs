//! The panels: levels over weights, weights before and after, what changed, noise, sensitivity, size and time.

use mlsys_lab::frame::{
    Better, Dimension, Frame, HeatMap, Image, Images, Scatter, ScatterLine, ScatterPoint, Table,
    Verdict,
};
use mlsys_lab::{DeviceId, Value};
use mlsys_nn::baseline::Layer;
use mlsys_nn::data::{Examples, Labelled, Sequence};

use super::params::{Knobs, Method};
use super::rounding::{InputGrids, Observed};
use super::{Scan, Session, rounding, weight_panels};

/// What the panels show.
pub(super) struct PanelData<'a> {
    pub(super) session: &'a Session,
    pub(super) observed: Option<&'a Observed>,
    pub(super) grids: &'a InputGrids,
    pub(super) curves: Option<&'a Curves>,
    pub(super) device: DeviceId,
}

/// Makes a picture.
type Draw = fn(&PanelData<'_>) -> Frame;

/// The panel that needs the noise of all widths.
pub(super) const NOISE: &str = "noise";

/// Every panel that is no curve.
pub(super) const ALL: [(&str, Draw); 8] = [
    ("histogram", weight_panels::histogram),
    ("weights", weight_panels::weights),
    ("samples", samples),
    (NOISE, draw),
    ("sensitivity", sensitivity),
    ("size", weight_panels::size),
    ("activations", weight_panels::activations),
    ("speed", weight_panels::speed),
];

impl PanelData<'_> {
    /// The layer that is shown, from 0; at most the last.
    pub(super) fn layer(&self) -> usize {
        let last = self.session.layers.len().saturating_sub(1);
        self.session.knobs().layer.min(last)
    }
}

// Examples with answers changed by rounding.

/// Images shown.
const MOST_IMAGES: usize = 24;
/// Tokens shown.
const MOST_TOKENS: usize = 20;
/// Tokens before each.
const REMINDER: usize = 6;

/// The images, or positions in the sequence, with a changed answer.
pub(super) fn samples(of: &PanelData<'_>) -> Frame {
    let session = of.session;
    let changed = session.after.changed(&session.before);
    if changed.is_empty() {
        let said = format!(
            "All {} answers are what they were before rounding.",
            session.before.classes.len()
        );
        return Frame::Text(said);
    }
    match &session.judge.examples {
        Examples::Labelled(labelled) => images(of, labelled, &changed),
        Examples::Sequence(sequence) => tokens(of, sequence, &changed),
    }
}

/// What was said and what is said now stands under each; right or wrong is what is said now.
fn images(of: &PanelData<'_>, examples: &Labelled, changed: &[usize]) -> Frame {
    let session = of.session;
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
    Frame::Images(Images {
        width: edge,
        height: edge,
        images: changed.iter().filter_map(image).take(MOST_IMAGES).collect(),
        blank: None,
        together: 1,
    })
}

fn tokens(of: &PanelData<'_>, sequence: &Sequence, changed: &[usize]) -> Frame {
    let session = of.session;
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
        Some(vec![
            Value::from(read.join(" ")),
            Value::from(name(then)),
            Value::from(name(now)),
            Value::from(name(truth)),
            Value::from(if now == truth { "right" } else { "" }),
        ])
    };
    Frame::Table(Table {
        columns: ["after", "it said", "says now", "comes next", ""].map(str::to_owned).into(),
        rows: changed.iter().filter_map(row).take(MOST_TOKENS).collect(),
        ..Table::default()
    })
}

// Quantization noise by bits with its prediction, and each layer's sensitivity.

/// Decibels of a bit: 20 log10 2, because a bit halves the step.
const OF_A_BIT: f64 = 6.020_599_913_279_624;

/// At most this many layers' noise is drawn, so that curves stay distinguishable.
const DRAWN: usize = 3;

/// Signal over noise of each layer at several widths, measured and predicted, of the weights as they were trained.
pub(crate) struct Curves {
    of: Knobs,
    layers: Vec<Vec<Width>>,
}

/// Bits of a weight, decibels measured, and decibels predicted.
type Width = (u32, Option<f64>, Option<f64>);

impl Curves {
    pub(crate) fn of(knobs: &Knobs, layers: &[Layer], row: &[f32]) -> Self {
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
        Self { of: *knobs, layers: layers.iter().map(curve).collect() }
    }

    /// Whether they would come out the same by these knobs.
    pub(crate) fn is_of(&self, knobs: &Knobs) -> bool {
        let key = |knobs: &Knobs| (knobs.method == Method::Kmeans, knobs.method == Method::Nf4);
        key(&self.of) == key(knobs)
            && (self.of.scheme, self.of.granularity) == (knobs.scheme, knobs.granularity)
            && Scan::widths(&self.of) == Scan::widths(knobs)
    }
}

pub(super) fn draw(of: &PanelData<'_>) -> Frame {
    let session = of.session;
    let Some(curves) = of.curves else {
        return Frame::Text("No layer has been rounded yet.".to_owned());
    };
    let shown = chosen(of.layer(), session.layers.len());
    let mut series = Vec::new();
    let mut points = Vec::new();
    let mut lines = vec![ScatterLine {
        name: "6.02 dB a bit".to_owned(),
        points: [2.0, 8.0].map(|bits| (bits, OF_A_BIT * bits)).into(),
    }];
    let own = session.knobs().weight_bits();
    for layer in shown {
        let (Some(curve), Some(named)) = (curves.layers.get(layer), session.layers.get(layer))
        else {
            continue;
        };
        for (bits, measured, _) in curve {
            let label =
                if *bits == own { format!("{bits} bits, as set") } else { format!("{bits} bits") };
            points.push(ScatterPoint {
                x: Some(f64::from(*bits)),
                y: *measured,
                label,
                series: series.len(),
            });
        }
        let predicted = curve.iter();
        let predicted = predicted.filter_map(|(bits, _, db)| Some((f64::from(*bits), (*db)?)));
        lines.push(ScatterLine {
            name: format!("{}, predicted", named.what),
            points: predicted.collect(),
        });
        series.push(named.what.clone());
    }
    Frame::Scatter(Scatter {
        x: Dimension { name: "bits a weight".to_owned(), ..Dimension::default() },
        y: Dimension {
            name: "signal over noise".to_owned(),
            unit: "dB".to_owned(),
            better: Better::More,
            ..Dimension::default()
        },
        series,
        points,
        lines,
    })
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
pub(super) fn sensitivity(of: &PanelData<'_>) -> Frame {
    let session = of.session;
    let widths = Scan::widths(session.knobs());
    // Accuracy in points, of which a test of a thousand images tells tenths.
    let times = if session.judge.reads_tokens() { 1.0 } else { 100.0 };
    let mut cells = Vec::new();
    for layer in 0..session.layers.len() {
        for bits in &widths {
            let lost = session.scan.lost(layer, *bits);
            // What rounding gains by chance is nothing to see.
            cells.push(
                lost.filter(|lost| lost.is_finite())
                    .map_or(f32::NAN, |lost| (times * lost).max(0.0) as f32),
            );
        }
    }
    let most = cells.iter().filter(|x| x.is_finite()).fold(0.0_f32, |most, x| most.max(*x));
    let (columns, rows) = (widths.len(), session.layers.len());
    Frame::HeatMap(HeatMap {
        columns,
        rows,
        cells,
        low: 0.0,
        high: most.max(0.01 * times as f32),
        x: (0.0, columns as f32),
        y: (0.0, rows as f32),
        column_labels: widths.iter().map(|bits| format!("{bits} bits")).collect(),
        row_labels: session.layers.iter().map(|layer| layer.what.clone()).collect(),
        points: Vec::new(),
        legend: if session.judge.reads_tokens() {
            "nats lost if this layer alone is rounded".to_owned()
        } else {
            "points of accuracy lost if this layer alone is rounded".to_owned()
        },
    })
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
