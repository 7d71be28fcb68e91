//! What the teacher says, and what students make of it, as pictures.

use mlsys_lab::frame::{Bar, Bars, Frame, Image, Images, Pane, Verdict};
use mlsys_lab::schema::Scale;
use mlsys_lab::value::number;

use super::setup::CLASSES;
use super::student::Student;
use crate::data::Labelled;
use crate::nets::{Activation, Network};
use crate::train::{EvaluationSet, confusion};

/// Images of the missing digit.
const SHOWN: usize = 12;

/// Images among which the one with the most to say is looked for.
const LOOKED_AT: usize = 200;

/// Images that nobody has learned.
pub(super) struct Fresh {
    pub(super) set: EvaluationSet,
    examples: Labelled,
    /// The teacher's, `[images, classes]`.
    logits: Vec<f32>,
    missing: Option<i32>,
    /// The image of which the teacher has the most to say.
    telling: usize,
}

/// How a student does.
pub(super) struct Judged {
    pub(super) accuracy: f64,
    /// On the digit that it was not shown.
    pub(super) missing: Option<f64>,
}

/// What is pictured.
pub(super) struct Pictured<'a> {
    pub(super) fresh: &'a Fresh,
    pub(super) distilled: &'a Student,
    pub(super) label_only: &'a Student,
    pub(super) temperature: f64,
}

/// A panel, and what draws it.
type Picture = (&'static str, fn(&Pictured<'_>) -> Frame);

/// The pictures by panel.
pub(super) const ALL: [Picture; 3] = [
    ("soft-targets", soft_targets),
    ("missing", missing),
    ("confusion", confused),
];

impl Fresh {
    /// Images with the teacher's logits for them.
    pub(super) fn new(
        set: EvaluationSet,
        examples: Labelled,
        logits: Vec<f32>,
        missing: Option<i32>,
    ) -> Self {
        let candidates = (0..examples.len().min(LOOKED_AT)).filter(|&index| {
            let label = examples.labels[index];
            let row = logits.get(index * CLASSES..).unwrap_or_default();
            let right = likeliest(row.get(..CLASSES).unwrap_or_default());
            missing.is_none_or(|missing| missing == label) && usize::try_from(label) == Ok(right)
        });
        // Where the runner-up comes nearest to the first: the temperature has the most to bring out.
        let gap = |index: usize| {
            let row = logits.get(index * CLASSES..).unwrap_or_default();
            let mut row: Vec<f32> = row.iter().take(CLASSES).copied().collect();
            row.sort_by(|a, b| b.total_cmp(a));
            match row.as_slice() {
                [first, second, ..] => first - second,
                _ => f32::INFINITY,
            }
        };
        let telling = candidates.min_by(|a, b| gap(*a).total_cmp(&gap(*b)));
        Self {
            set,
            telling: telling.unwrap_or(0),
            examples,
            logits,
            missing,
        }
    }

    /// How a student does on them.
    pub(super) fn judge(&self, network: &Network) -> Judged {
        let verdict = self.set.judge(network, Activation::Relu);
        let missing = self.missing.map(|missing| {
            let hits = verdict.hits.iter().zip(&self.examples.labels);
            let own: Vec<bool> = hits
                .filter(|(_, label)| **label == missing)
                .map(|(hit, _)| *hit)
                .collect();
            let right = own.iter().filter(|hit| **hit).count();
            right as f64 / own.len().max(1) as f64
        });
        Judged {
            accuracy: verdict.accuracy,
            missing,
        }
    }

    fn image(&self, index: usize, label: String, verdict: Verdict) -> Image {
        let pixels = self.examples.input(index).iter();
        Image {
            pixels: pixels.map(|&pixel| (255.0 * pixel).round() as u8).collect(),
            label,
            verdict,
        }
    }

    fn images(&self, images: Vec<Image>) -> Frame {
        let edge = self.examples.features.isqrt();
        Frame::Images(Images {
            width: edge,
            height: edge,
            images,
            blank: None,
        })
    }
}

/// The probabilities that logits mean at a temperature: softmax(v / T).
pub(super) fn softened(logits: &[f32], temperature: f64) -> Vec<f64> {
    let scaled = logits.iter().map(|v| f64::from(*v) / temperature);
    let scaled: Vec<f64> = scaled.collect();
    let most = scaled
        .iter()
        .fold(f64::NEG_INFINITY, |most, x| most.max(*x));
    let powers: Vec<f64> = scaled.iter().map(|x| (x - most).exp()).collect();
    let total: f64 = powers.iter().sum();
    powers.into_iter().map(|power| power / total).collect()
}

/// What the teacher says of an image at the temperature, the image, and what it says at 1.
fn soft_targets(pictured: &Pictured<'_>) -> Frame {
    let fresh = pictured.fresh;
    let index = fresh.telling;
    let logits = fresh.logits.get(index * CLASSES..).unwrap_or_default();
    let logits = logits.get(..CLASSES).unwrap_or_default();
    let bars = |temperature| {
        let p = softened(logits, temperature);
        let bars = p.iter().enumerate().map(|(class, p)| Bar {
            label: class.to_string(),
            value: Some(*p),
            remark: String::new(),
        });
        Frame::Bars(Bars {
            unit: String::new(),
            scale: Scale::Linear,
            bars: bars.collect(),
        })
    };
    let label = fresh.examples.labels.get(index).copied().unwrap_or(0);
    let image = fresh.image(index, label.to_string(), Verdict::Unjudged);
    let temperature = pictured.temperature;
    // Where not all have room, the first are seen: the bars are what it is about, and their title names the image.
    let mut panes = vec![
        pane(
            &format!("the teacher on this {label} at T = {}", number(temperature)),
            bars(temperature),
        ),
        pane("that image", fresh.images(vec![image])),
    ];
    if temperature != 1.0 {
        panes.push(pane("at T = 1", bars(1.0)));
    }
    Frame::Panes(panes)
}

/// Images of the digit that students were not shown, with what each says.
fn missing(pictured: &Pictured<'_>) -> Frame {
    let fresh = pictured.fresh;
    let Some(missing) = fresh.missing else {
        return Frame::Text(
            "no digit is missing: the students have been shown them all; missing_class leaves one out".to_owned(),
        );
    };
    let indices =
        (0..fresh.examples.len()).filter(|&index| fresh.examples.labels[index] == missing);
    let indices: Vec<usize> = indices.take(SHOWN).collect();
    let answers = |student: &Student| {
        let classes = fresh.set.classes(&student.network(), Activation::Relu);
        let images = indices.iter().map(|&index| {
            let answer = classes.get(index).copied().unwrap_or(0);
            let verdict = match usize::try_from(missing) == Ok(answer) {
                true => Verdict::Right,
                false => Verdict::Wrong,
            };
            fresh.image(index, answer.to_string(), verdict)
        });
        fresh.images(images.collect())
    };
    Frame::Panes(vec![
        pane("taught by the teacher", answers(pictured.distilled)),
        pane("taught by labels", answers(pictured.label_only)),
    ])
}

/// True class by row, the distilled student's by column.
fn confused(pictured: &Pictured<'_>) -> Frame {
    let fresh = pictured.fresh;
    let classes = fresh
        .set
        .classes(&pictured.distilled.network(), Activation::Relu);
    let names: Vec<String> = (0..CLASSES).map(|class| class.to_string()).collect();
    confusion(&classes, &fresh.examples.labels, &names)
}

fn pane(title: &str, frame: Frame) -> Pane {
    Pane {
        title: title.to_owned(),
        frame,
    }
}

/// The index of the largest.
fn likeliest(row: &[f32]) -> usize {
    let all = row.iter().enumerate();
    all.max_by(|(_, a), (_, b)| a.total_cmp(b))
        .map_or(0, |(index, _)| index)
}
