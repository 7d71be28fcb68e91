//! The panels: the teacher's softened answers, and those of the students.

use burn::tensor::Device;
use mlsys_lab::frame::{Image, Verdict};
use mlsys_lab::picture::{bar, bars, images, pane};
use mlsys_lab::value::{number, significant};
use mlsys_lab::{Frame, LabError};
use mlsys_nn::baseline::Trained;
use mlsys_nn::data::{self, Labelled};
use mlsys_nn::networks::{Activation, Network};
use mlsys_nn::train::{EvaluationSet, data_error};

use super::{CLASSES, Session, Student, only_images};
use crate::sampling::likeliest;
use crate::train::confusion;

const SHOWN: usize = 12;

/// Images among which the one with the most to say is looked for.
const LOOKED_AT: usize = 200;

/// Images seen by neither teacher nor students.
pub(super) struct HeldOut {
    pub(super) set: EvaluationSet,
    examples: Labelled,
    /// The teacher's, `[images, classes]`.
    logits: Vec<f32>,
    missing: Option<i32>,
    /// The image with the smallest [`hidden`].
    telling: usize,
}

/// How far an image is from saying all that a temperature can bring out: a teacher that is sure of it at 1, with a second
/// digit, if one is missing that one, as near behind as that allows. Smaller is better.
fn hidden(logits: &[f32], index: usize, missing: Option<i32>) -> f64 {
    /// Probability at 1 from which the teacher is sure.
    const SURE: f64 = 0.95;
    let p = softened(&logits[index * CLASSES..][..CLASSES], 1.0);
    let first = p.iter().copied().fold(0.0, f64::max);
    let second = match missing.and_then(|missing| usize::try_from(missing).ok()) {
        Some(missing) => p.get(missing).copied().unwrap_or(0.0),
        None => 1.0 - first,
    };
    // Where the teacher is sure of none, the image it is surest of.
    let unsure = if first < SURE { 2.0 - first } else { 0.0 };
    unsure - second
}

type Picture = (&'static str, fn(&Session) -> Frame);

pub(super) const ALL: [Picture; 3] =
    [("soft-targets", soft_targets), ("missing", missing), ("confusion", confused)];

impl HeldOut {
    pub(super) fn new(
        teacher: &Trained,
        network: &Network,
        device: &Device,
        missing: Option<i32>,
    ) -> Result<Self, LabError> {
        const COUNT: usize = 1000;
        let examples = data::fresh(&teacher.data, COUNT).map_err(data_error)?;
        let set = EvaluationSet::new(&examples, device);
        let (logits, examples) = (set.logits(network, teacher.activation), only_images(examples)?);
        // With a digit missing, an image of another one: only those can tell the student of it.
        let candidates = (0..examples.len().min(LOOKED_AT)).filter(|&index| {
            let label = examples.labels[index];
            let right = likeliest(&logits[index * CLASSES..][..CLASSES]);
            missing != Some(label) && usize::try_from(label) == Ok(right)
        });
        let telling = candidates.min_by(|a, b| {
            let [a, b] = [*a, *b].map(|index| hidden(&logits, index, missing));
            a.total_cmp(&b)
        });
        Ok(Self { set, telling: telling.unwrap_or(0), examples, logits, missing })
    }

    /// The share that a student reads right, and that of the digit that it was not shown.
    pub(super) fn judge(&self, student: &Student) -> (f64, Option<f64>) {
        let verdict = self.set.judge(&student.network(), Activation::Relu);
        let missing = self.missing.map(|missing| {
            let hits = verdict.hits.iter().zip(&self.examples.labels);
            let own = hits.filter(|(_, label)| **label == missing).map(|(hit, _)| *hit);
            let (right, all) =
                own.fold((0, 0), |(right, all), hit| (right + u32::from(hit), all + 1));
            f64::from(right) / f64::from(all.max(1))
        });
        (verdict.accuracy, missing)
    }

    fn image(&self, index: usize, label: String, verdict: Verdict) -> Image {
        let pixels = self.examples.input(index).iter();
        let pixels = pixels.map(|&pixel| (255.0 * pixel).round() as u8).collect();
        Image { pixels, label, verdict }
    }

    fn images(&self, some: Vec<Image>) -> Frame {
        let edge = self.examples.features.isqrt();
        Frame::Images(images([edge, edge], some))
    }
}

/// The probabilities that logits mean at a temperature: softmax(v / T).
pub(super) fn softened(logits: &[f32], temperature: f64) -> Vec<f64> {
    let scaled = logits.iter().map(|v| f64::from(*v) / temperature);
    let scaled: Vec<f64> = scaled.collect();
    let most = scaled.iter().fold(f64::NEG_INFINITY, |most, x| most.max(*x));
    let powers: Vec<f64> = scaled.iter().map(|x| (x - most).exp()).collect();
    let total: f64 = powers.iter().sum();
    powers.into_iter().map(|power| power / total).collect()
}

/// What the teacher says of an image at the temperature, the image, and what it says at 1.
fn soft_targets(session: &Session) -> Frame {
    let fresh = &session.fresh;
    let index = fresh.telling;
    let logits = &fresh.logits[index * CLASSES..][..CLASSES];
    let answer = |temperature: f64| {
        let p = softened(logits, temperature).into_iter().enumerate();
        // Three digits, and no more than three behind the point: a share, not a measurement.
        let percent = |p: f64| (1e3 * significant(100.0 * p, 3)).round() / 1e3;
        let p = p.map(|(class, p)| bar(class.to_string(), percent(p), ""));
        pane(format!("teacher at T = {}", number(temperature)), bars("%", p.collect()))
    };
    let label = fresh.examples.labels[index].to_string();
    let image = fresh.image(index, label, Verdict::Unjudged);
    // Where there is no room for all, the first are drawn: the effect of a temperature shows by comparison.
    let mut panes = vec![answer(session.knobs.temperature)];
    if session.knobs.temperature != 1.0 {
        panes.push(answer(1.0));
    }
    panes.push(pane("what it was shown", fresh.images(vec![image])));
    Frame::Panes(panes)
}

/// Images of the digit that students were not shown, with what each says.
fn missing(session: &Session) -> Frame {
    let fresh = &session.fresh;
    let Some(missing) = fresh.missing else {
        let text = "no digit is missing: the students have been shown them all; missing_class leaves one out";
        return Frame::Text(text.to_owned());
    };
    let indices =
        (0..fresh.examples.len()).filter(|&index| fresh.examples.labels[index] == missing);
    let indices: Vec<usize> = indices.take(SHOWN).collect();
    let answers = |student: &Student| {
        let classes = fresh.set.classes(&student.network(), Activation::Relu);
        let images = indices.iter().map(|&index| {
            let answer = classes.get(index).copied().unwrap_or(0);
            let is_right = usize::try_from(missing) == Ok(answer);
            let verdict = if is_right { Verdict::Right } else { Verdict::Wrong };
            fresh.image(index, answer.to_string(), verdict)
        });
        fresh.images(images.collect())
    };
    Frame::Panes(vec![
        pane("taught by the teacher", answers(&session.distilled)),
        pane("taught by labels", answers(&session.label_only)),
    ])
}

fn confused(session: &Session) -> Frame {
    let fresh = &session.fresh;
    let classes = fresh.set.classes(&session.distilled.network(), Activation::Relu);
    let names: Vec<String> = (0..CLASSES).map(|class| class.to_string()).collect();
    confusion(&classes, &fresh.examples.labels, &names)
}
