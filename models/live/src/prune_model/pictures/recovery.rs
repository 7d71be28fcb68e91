//! Accuracy before, just after, and on the way back.

use mlsys_lab::Frame;
use mlsys_lab::frame::{Better, Dimension, Scatter, ScatterLine, ScatterPoint};

use super::Pictured;

/// An accuracy with what led to it.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::prune_model) struct Sample {
    step: u64,
    accuracy: f64,
    event: Event,
}

/// What led to an accuracy.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::prune_model) enum Event {
    /// The whole network.
    Dense,
    /// Weights went: in words which.
    Pruned(String),
    /// Those that are left were put back to initial values.
    Rewound,
    /// Steps of fine-tuning.
    Tuned,
    /// Rounding to so many bits.
    Rounded(u32),
}

impl Sample {
    pub(in crate::prune_model) fn at(step: u64, accuracy: f64, event: Event) -> Self {
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
pub(super) fn draw(of: &Pictured<'_>) -> Frame {
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
