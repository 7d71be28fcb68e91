//! What the network makes of its data, as pictures.

mod neurons;
mod reading;
mod weights;
mod writing;

use burn::tensor::{Device, Tensor, TensorData};
use mlsys_lab::Sink;
use mlsys_lab::frame::{Frame, HeatMap, Image, Images, Point, Verdict};
use mlsys_lab::report::{Moment, Report};

use self::reading::Reading;
use self::writing::Writing;
use mlsys_nn::data::{Data, Examples, Labelled, Vocabulary};
use mlsys_nn::nets::{Activation, Network};
use mlsys_nn::train::evaluate::{EvaluationSet, probabilities};
use mlsys_nn::train::trainer::Trainer;

/// Everything pictures need besides the network.
pub(super) struct Pictures {
    held_out: EvaluationSet,
    labels: Vec<i32>,
    /// What the classes are called.
    classes: Vec<String>,
    view: View,
}

enum View {
    Plane(Plane),
    Samples(Samples),
    Tokens(Box<Tokens>),
}

/// What is pictured.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) trainer: &'a Trainer,
    pub(super) train: &'a Examples,
    pub(super) activation: Activation,
    /// Steps done.
    pub(super) step: u64,
    /// Steps done at the last evaluation.
    pub(super) evaluated: u64,
}

/// A few held-out tokens, to read and to write on from.
struct Tokens {
    reading: Reading,
    writing: Writing,
}

/// A grid over the plane that shows all points.
struct Plane {
    /// `[ROWS * COLUMNS, 2]`, row by row from the top left.
    grid: Tensor<2>,
    /// Half the edge of the square shown.
    reach: f32,
    points: Vec<Point>,
}

/// A few held-out images.
struct Samples {
    /// `[count, pixels]`.
    inputs: Tensor<2>,
    examples: Labelled,
}

const COLUMNS: usize = 72;
const ROWS: usize = 36;
/// Points drawn; more would hide the field.
const MOST_POINTS: usize = 400;
/// Images shown.
const MOST_SAMPLES: usize = 20;

impl Pictures {
    /// Pictures of a network that learns `data`; what is drawn at random comes from `seed`.
    pub(super) fn new(data: &Data, classes: usize, seed: u64, device: &Device) -> Self {
        let vocabulary = match &data.language {
            Some(language) => language.vocabulary.clone(),
            None => Vocabulary::numbers(classes),
        };
        let (view, labels) = match (&data.train, &data.held_out) {
            (_, Examples::Sequence(held_out)) => {
                let tokens = Tokens {
                    reading: Reading::new(held_out, &vocabulary, device),
                    writing: Writing::new(held_out, &vocabulary, seed, device),
                };
                (View::Tokens(Box::new(tokens)), held_out.all_labels())
            }
            (Examples::Labelled(train), Examples::Labelled(held_out)) if train.features == 2 => {
                let plane = Plane::new(train, device);
                (View::Plane(plane), held_out.labels.clone())
            }
            (_, Examples::Labelled(held_out)) => {
                let samples = Samples::new(held_out, device);
                (View::Samples(samples), held_out.labels.clone())
            }
        };
        let classes = (0..classes).map(|class| vocabulary.label(class as i32)).collect();
        Self { held_out: EvaluationSet::new(&data.held_out, device), labels, classes, view }
    }

    /// Sends the pictures that somebody wants now, and says how many.
    pub(super) fn offer(
        &mut self,
        sink: &mut dyn Sink,
        moment: Moment,
        subject: Subject<'_>,
    ) -> usize {
        let Subject { trainer, train, activation, step, evaluated } = subject;
        let mut made = 0;
        let mut send = |panel: &str, make: &mut dyn FnMut() -> Option<Frame>| {
            if sink.wants_frame(panel, moment)
                && let Some(frame) = make()
            {
                made += 1;
                sink.report(Report::Frame { panel: panel.into(), step, frame: Box::new(frame) });
            }
        };
        send("confusion", &mut || Some(self.confusion(&trainer.network(), activation)));
        send("weights", &mut || weights::draw(&trainer.network()));
        send("network", &mut || neurons::draw(trainer, train, activation));
        match &mut self.view {
            View::Plane(plane) => {
                send("decision-boundary", &mut || plane.draw(&trainer.network(), activation))
            }
            View::Samples(samples) => send("samples", &mut || {
                Some(samples.draw(&trainer.network(), activation, self.classes.len()))
            }),
            View::Tokens(tokens) => {
                let Tokens { reading, writing } = tokens.as_mut();
                send("next-token", &mut || reading.next_token(&trainer.network()));
                send("attention", &mut || reading.attention(&trainer.network()));
                send("logit-lens", &mut || reading.lens(&trainer.network()));
                // Writing takes as long as many steps: once an evaluation is enough.
                if moment == Moment::Final || writing.is_due(evaluated) {
                    send("text", &mut || writing.draw(&trainer.network(), step, evaluated));
                }
            }
        }
        made
    }

    fn confusion(&self, network: &Network, activation: Activation) -> Frame {
        let classes = self.held_out.classes(network, activation);
        confusion(&classes, &self.labels, &self.classes)
    }
}

/// True class by row, predicted class by column, as shares of the row.
pub(crate) fn confusion(predicted: &[usize], labels: &[i32], names: &[String]) -> Frame {
    let classes = names.len();
    let mut counts = vec![0.0_f32; classes * classes];
    for (&read, &label) in predicted.iter().zip(labels) {
        if let Ok(row) = usize::try_from(label)
            && let Some(count) = counts.get_mut(row * classes + read)
        {
            *count += 1.0;
        }
    }
    for row in counts.chunks_mut(classes.max(1)) {
        let total: f32 = row.iter().sum::<f32>().max(1.0);
        row.iter_mut().for_each(|count| *count /= total);
    }
    Frame::HeatMap(HeatMap {
        columns: classes,
        rows: classes,
        cells: counts,
        low: 0.0,
        high: 1.0,
        x: (0.0, classes as f32),
        y: (0.0, classes as f32),
        column_labels: names.to_vec(),
        row_labels: names.to_vec(),
        points: Vec::new(),
        legend: "share of a true class (row) read as a class (column)".to_owned(),
    })
}

impl Plane {
    fn new(examples: &Labelled, device: &Device) -> Self {
        let farthest = examples.inputs.iter().fold(1.0_f32, |far, x| far.max(x.abs()));
        let reach = 1.1 * farthest;
        let mut grid = Vec::with_capacity(2 * ROWS * COLUMNS);
        for row in 0..ROWS {
            for column in 0..COLUMNS {
                // The middle of each cell.
                let at =
                    |index: usize, count: usize| (2.0 * index as f32 + 1.0) / count as f32 - 1.0;
                grid.extend([reach * at(column, COLUMNS), -reach * at(row, ROWS)]);
            }
        }
        let count = examples.len().min(MOST_POINTS);
        let points = (0..count).map(|index| {
            let input = examples.input(index);
            Point {
                x: input[0],
                y: input[1],
                class: u8::try_from(examples.labels[index]).unwrap_or(u8::MAX),
            }
        });
        Self {
            grid: Tensor::from_data(TensorData::new(grid, [ROWS * COLUMNS, 2]), device),
            reach,
            points: points.collect(),
        }
    }

    /// The probability of class 1 over the plane; nothing once it is not a number any more.
    fn draw(&self, network: &Network, activation: Activation) -> Option<Frame> {
        let both = probabilities(network, self.grid.clone(), activation);
        let cells: Vec<f32> = both.chunks(2).map(|of| of[1]).collect();
        cells.iter().all(|cell| cell.is_finite()).then(|| {
            Frame::HeatMap(HeatMap {
                columns: COLUMNS,
                rows: ROWS,
                cells,
                low: 0.0,
                high: 1.0,
                x: (-self.reach, self.reach),
                y: (-self.reach, self.reach),
                column_labels: Vec::new(),
                row_labels: Vec::new(),
                points: self.points.clone(),
                legend: "probability of class 1".to_owned(),
            })
        })
    }
}

impl Samples {
    fn new(held_out: &Labelled, device: &Device) -> Self {
        let indices: Vec<usize> = (0..held_out.len().min(MOST_SAMPLES)).collect();
        let (inputs, labels) = held_out.gather(&indices);
        let shape = [indices.len(), held_out.features];
        let on_device = TensorData::new(inputs.clone(), shape);
        Self {
            inputs: Tensor::from_data(on_device, device),
            examples: Labelled { inputs, labels, features: held_out.features },
        }
    }

    fn draw(&self, network: &Network, activation: Activation, classes: usize) -> Frame {
        let predicted = probabilities(network, self.inputs.clone(), activation);
        let images = predicted.chunks(classes).enumerate().map(|(index, probabilities)| {
            let (read, truth) = (most_likely(probabilities), self.examples.labels[index]);
            let right = usize::try_from(truth) == Ok(read);
            Image {
                pixels: self
                    .examples
                    .input(index)
                    .iter()
                    .map(|&pixel| (255.0 * pixel).round() as u8)
                    .collect(),
                label: if right { read.to_string() } else { format!("{read} ({truth})") },
                verdict: if right { Verdict::Right } else { Verdict::Wrong },
            }
        });
        let edge = self.examples.features.isqrt();
        Frame::Images(Images {
            width: edge,
            height: edge,
            images: images.collect(),
            blank: None,
            together: 1,
        })
    }
}

/// The index of the largest probability, the first of equals.
fn most_likely(probabilities: &[f32]) -> usize {
    let better = |best: usize, index: usize| {
        if probabilities[index] > probabilities[best] { index } else { best }
    };
    (1..probabilities.len()).fold(0, better)
}
