//! The panels: what is left, what it reads, what it takes.

use mlsys_lab::picture::{axis, bar, bars, line, log_axis, point, scatter, table};
use mlsys_lab::value::number;
use mlsys_lab::{Frame, Value};
use mlsys_sim::pruning::{Format, mask};

use super::hardware::{Crossing, Gain, Item, Size, Zeros};
use super::network::Kind;
use super::params::Method;
use super::{Session, weight_panels};

/// What a network is judged by.
fn score(session: &Session) -> &'static str {
    match session.work.kind {
        Item::Token => "minus validation loss, nats",
        Item::Image => "accuracy",
    }
}

type Draw = fn(&Session) -> Frame;

pub(super) const ALL: [(&str, Draw); 6] = [
    ("weights", weight_panels::images),
    ("histogram", weight_panels::histograms),
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

// Accuracy before, just after, and on the way back.

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sample {
    pub(super) step: u64,
    pub(super) accuracy: f64,
    pub(super) event: Event,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Event {
    /// The whole network.
    Dense,
    /// Weights went: in words which.
    Pruned(String),
    /// Those that are left were put back to initial values.
    Rewound,
    Tuned,
    /// Rounding to this many bits.
    Rounded(u32),
}

impl Sample {
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

/// The accuracy over steps of fine-tuning: each pruning is a fall straight down.
pub(super) fn draw_recovery(session: &Session) -> Frame {
    let place = |sample: &Sample| (sample.step as f64, sample.accuracy);
    let named = |sample: &Sample, label: String| {
        let (x, y) = place(sample);
        point(x, y, label, 0)
    };
    let dense = session.trail.first().map_or(0.0, |sample| sample.accuracy);
    let last = session.trail.last().map_or(0.0, |sample| sample.step as f64);
    let labelled = session.trail.iter().filter_map(|sample| Some(named(sample, sample.label()?)));
    let end = session.trail.last().filter(|sample| sample.event == Event::Tuned);
    let end = end.map(|end| named(end, format!("fine-tuned {:.3}", end.accuracy)));
    scatter::<&str>(
        [axis("step of fine-tuning", ""), axis(score(session), "")],
        &[],
        labelled.chain(end).collect(),
        vec![
            line(score(session), session.trail.iter().map(place)),
            line("dense", [(0.0, dense), (last.max(1.0), dense)]),
        ],
    )
}

// Bytes in each format against the share removed, with the places where one becomes smaller than another.

/// A line for each format, points where they cross, and one for the network as it is.
pub(super) fn draw_size(session: &Session) -> Frame {
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

// What it gains in time: measured here, and modelled where there are units for it.

/// A row for this machine, one for each layer on the chip, and one for all of them.
pub(super) fn draw_speed(session: &Session) -> Frame {
    let mut rows = Vec::new();
    let method = session.knobs.choice.method;
    let why = match method {
        Method::Neurons | Method::Heads => "a smaller network in the same kernels",
        Method::Magnitude | Method::Groups | Method::Random => {
            "the same kernels multiply the zeros as well"
        }
    };
    rows.push(match session.seconds {
        Some([dense, pruned]) => row("measured here", dense, pruned, why),
        None => ["measured here", "at the end", "", "", why].map(Value::from),
    });
    let chip = &session.knobs.chip;
    let products =
        chip.products(&session.body, (&session.uses, session.work), &session.cut, method);
    for product in &products {
        let limit = if product.waits_for_memory { "memory" } else { "arithmetic" };
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
            &format!("waits for {limit}; {why}"),
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
    let time = match session.work.kind {
        Item::Image => format!("µs for {} images", session.work.items),
        Item::Token => format!("µs for {} tokens", session.work.items),
    };
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
