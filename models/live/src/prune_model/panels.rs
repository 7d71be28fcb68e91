//! The panels: what is left, what it reads, what it takes.

use mlsys_lab::frame::{Bar, Bars, Better, Dimension, Scatter, ScatterLine, ScatterPoint, Table};
use mlsys_lab::schema::Scale;
use mlsys_lab::value::number;
use mlsys_lab::{Frame, Value};
use mlsys_sim::pruning::{Format, mask};

use super::hardware::{Bound, Crossing, Curves, Gain, Item, Size, Uses, Work, Zeros};
use super::masks::Masks;
use super::network::{Body, Kind};
use super::params::{Knobs, Method};
use super::weight_panels;

/// What the panels show.
pub(super) struct PanelData<'a> {
    pub(super) body: &'a Body,
    pub(super) uses: &'a [Uses],
    pub(super) work: Work,
    pub(super) knobs: &'a Knobs,
    pub(super) cut: &'a Masks,
    /// The weights that the last cut was made of.
    pub(super) before: &'a [f32],
    /// The weights now.
    pub(super) row: &'a [f32],
    pub(super) trail: &'a [Sample],
    pub(super) curves: Option<&'a Curves>,
    /// Measured seconds of the whole network and of what is left.
    pub(super) seconds: Option<[f64; 2]>,
}

impl PanelData<'_> {
    /// What a network is judged by.
    fn score(&self) -> &'static str {
        match self.work.of {
            Item::Token => "minus validation loss, nats",
            Item::Image => "accuracy",
        }
    }
}

/// Makes a picture.
type Draw = fn(&PanelData<'_>) -> Frame;

/// Every panel that is no curve.
pub(super) const ALL: [(&str, Draw); 6] = [
    ("weights", weight_panels::images),
    ("histogram", weight_panels::histograms),
    ("layers", layers),
    ("recovery", draw_recovery),
    ("size", draw_size),
    ("hardware", draw_speed),
];

/// The share of each layer's weights that is left.
fn layers(of: &PanelData<'_>) -> Frame {
    let bar = |label: String, kept: usize, all: usize| Bar {
        label,
        value: Some(100.0 * kept as f64 / all.max(1) as f64),
        remark: format!("{} of {}", number(kept as f64), number(all as f64)),
    };
    let masks = of.body.layers.iter().zip(&of.cut.masks);
    let mut bars: Vec<Bar> = masks
        .map(|(layer, kept)| {
            let label = format!("{}, {}", layer.name, layer.what);
            bar(label, mask::count(kept), kept.len())
        })
        .collect();
    bars.push(bar("all weights".to_owned(), of.cut.kept(), of.cut.weights_in_all()));
    for (kind, what) in [(Kind::Units, "hidden units"), (Kind::Heads, "attention heads")] {
        let (left, all) = of.cut.left_of(kind, of.body);
        if left < all {
            bars.push(bar(what.to_owned(), left, all));
        }
    }
    Frame::Bars(Bars { unit: "%".to_owned(), scale: Scale::Linear, bars })
}

// Accuracy before, just after, and on the way back.

/// An accuracy with what led to it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sample {
    step: u64,
    accuracy: f64,
    event: Event,
}

/// What led to an accuracy.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Event {
    /// The whole network.
    Dense,
    /// Weights went: in words which.
    Pruned(String),
    /// Those that are left were put back to initial values.
    Rewound,
    /// Steps of fine-tuning.
    Tuned,
    /// Rounding to this many bits.
    Rounded(u32),
}

impl Sample {
    pub(super) fn at(step: u64, accuracy: f64, event: Event) -> Self {
        Self { step, accuracy, event }
    }

    fn label(&self) -> Option<String> {
        let accuracy = self.accuracy;
        match &self.event {
            Event::Dense => Some(format!("dense {accuracy:.3}")),
            Event::Pruned(what) => Some(format!("{what} {accuracy:.3}")),
            Event::Rewound => Some(format!("set back {accuracy:.3}")),
            Event::Rounded(bits) => Some(format!("{bits} bits {accuracy:.3}")),
            Event::Tuned => None,
        }
    }
}

/// The way of the accuracy over steps of fine-tuning: each pruning is a fall straight down.
pub(super) fn draw_recovery(of: &PanelData<'_>) -> Frame {
    let place = |sample: &Sample| (sample.step as f64, sample.accuracy);
    let dense = of.trail.first().map_or(0.0, |sample| sample.accuracy);
    let last = of.trail.last().map_or(0.0, |sample| sample.step as f64);
    let mut points: Vec<ScatterPoint> = of
        .trail
        .iter()
        .filter_map(|sample| {
            let label = sample.label()?;
            Some(point(sample, label))
        })
        .collect();
    if let Some(end) = of.trail.last().filter(|sample| sample.event == Event::Tuned) {
        points.push(point(end, format!("fine-tuned {:.3}", end.accuracy)));
    }
    Frame::Scatter(Scatter {
        x: Dimension { name: "step of fine-tuning".to_owned(), ..Dimension::default() },
        y: Dimension {
            name: of.score().to_owned(),
            better: Better::Neither,
            ..Dimension::default()
        },
        series: Vec::new(),
        points,
        lines: vec![
            ScatterLine {
                name: of.score().to_owned(),
                points: of.trail.iter().map(place).collect(),
            },
            ScatterLine {
                name: "dense".to_owned(),
                points: vec![(0.0, dense), (last.max(1.0), dense)],
            },
        ],
    })
}

fn point(sample: &Sample, label: String) -> ScatterPoint {
    ScatterPoint { x: Some(sample.step as f64), y: Some(sample.accuracy), label, series: 0 }
}

// Bytes in each format against the share removed, with the places where one becomes smaller than another.

/// A line for each format, points where they cross, and one for the network as it is.
pub(super) fn draw_size(of: &PanelData<'_>) -> Frame {
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
        // Short: a name is drawn next to its point only where there is room.
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

// What it gains in time: measured here, and modelled where there are units for it.

/// A row for this machine, one for each layer on the chip, and one for all of them.
pub(super) fn draw_speed(of: &PanelData<'_>) -> Frame {
    let mut rows = Vec::new();
    let method = of.knobs.choice.method;
    let why = match method {
        Method::Neurons | Method::Heads => "a smaller network in the same kernels",
        Method::Magnitude | Method::Groups | Method::Random => {
            "the same kernels multiply the zeros as well"
        }
    };
    let measured = "measured here".to_owned();
    rows.push(match of.seconds {
        Some([dense, pruned]) => row(&measured, dense, pruned, why),
        None => vec![
            Value::from(measured),
            Value::from("at the end"),
            Value::from(""),
            Value::from(""),
            Value::from(why),
        ],
    });
    let chip = &of.knobs.chip;
    let products = chip.products(of.body, (of.uses, of.work), of.cut, method);
    for product in &products {
        let bound = match product.bound {
            Bound::Memory => "waits for memory",
            Bound::Arithmetic => "waits for arithmetic",
        };
        let why = match (product.gain, chip.zeros) {
            (Gain::Pattern, _) => "2 of 4: half the multiply-adds, 0.5625 of the weight bytes",
            (Gain::Smaller, _) => "a smaller matrix",
            (Gain::None, Zeros::TwoOfFourSkipped) => "no 2 of 4: zeros are multiplied",
            (Gain::None, Zeros::Multiplied) => "no units for zeros",
        };
        rows.push(row(
            &format!("{} model, {}", chip.short, product.layer),
            product.dense,
            product.pruned,
            &format!("{bound}; {why}"),
        ));
    }
    let dense = products.iter().map(|product| product.dense).sum();
    let pruned = products.iter().map(|product| product.pruned).sum();
    rows.push(row(
        &format!("{} model, all layers", chip.short),
        dense,
        pruned,
        &format!("{} in 16 bits, one product after the other", chip.roof.name),
    ));
    let time = match of.work.of {
        Item::Image => format!("µs for {} images", of.work.items),
        Item::Token => format!("µs for {} tokens", of.work.items),
    };
    let columns = [&time, "dense", "pruned", "gain", "why"];
    Frame::Table(Table { columns: columns.map(str::to_owned).to_vec(), rows, ..Table::default() })
}

fn row(place: &str, dense: f64, pruned: f64, why: &str) -> Vec<Value> {
    // Three digits are all that a clock or a model is good for.
    let micro = |seconds: f64| {
        let micro = seconds * 1e6;
        let digit = 10.0_f64.powf(micro.max(1e-9).log10().floor() - 2.0);
        Value::from((micro / digit).round() * digit)
    };
    vec![
        Value::from(place),
        micro(dense),
        micro(pruned),
        Value::from((100.0 * dense / pruned).round() / 100.0),
        Value::from(why),
    ]
}
