//! What the network makes of its data, as pictures.

use burn::tensor::{Device, Tensor, TensorData};
use mlsys_lab::Sink;
use mlsys_lab::frame::{BoxPlot, Frame, HeatMap, Histogram, Image, Point, ValueSpread, Verdict};
use mlsys_lab::picture::{heat_map, image, images, pane};
use mlsys_lab::report::{FrameTrigger, Report};
use mlsys_nn::data::{Data, Examples, Labelled, Vocabulary};
use mlsys_nn::flat_params::values;
use mlsys_nn::networks::{Activation, Network};
use mlsys_nn::train::evaluate::{EvaluationSet, probabilities};
use mlsys_nn::train::trainer::Trainer;

use super::text_panels::{Reading, Writing};
use crate::sampling::likeliest;

pub(super) struct Pictures {
    held_out: EvaluationSet,
    labels: Vec<i32>,
    classes: Vec<String>,
    view: View,
}

enum View {
    Plane(Plane),
    Samples(Samples),
    /// A few held-out tokens, to read and to write on from.
    Tokens(Box<(Reading, Writing)>),
}

#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) trainer: &'a Trainer,
    pub(super) train: &'a Examples,
    pub(super) activation: Activation,
    pub(super) step: u64,
    pub(super) evaluated: u64,
}

struct Plane {
    /// `[ROWS * COLUMNS, 2]`, row by row from the top left.
    grid: Tensor<2>,
    /// Half the edge of the square shown.
    reach: f32,
    points: Vec<Point>,
}

struct Samples {
    /// `[count, pixels]`.
    inputs: Tensor<2>,
    examples: Labelled,
}

const COLUMNS: usize = 72;
const ROWS: usize = 36;
/// Points drawn; more would hide the field.
const MOST_POINTS: usize = 400;
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
                let reading = Reading::new(held_out, &vocabulary, device);
                let writing = Writing::new(held_out, &vocabulary, seed, device);
                (View::Tokens(Box::new((reading, writing))), held_out.all_labels())
            }
            (Examples::Labelled(train), Examples::Labelled(held_out)) if train.features == 2 => {
                (View::Plane(Plane::new(train, device)), held_out.labels.clone())
            }
            (_, Examples::Labelled(held_out)) => {
                (View::Samples(Samples::new(held_out, device)), held_out.labels.clone())
            }
        };
        let classes = (0..classes).map(|class| vocabulary.label(class as i32)).collect();
        Self { held_out: EvaluationSet::new(&data.held_out, device), labels, classes, view }
    }

    pub(super) fn offer(
        &mut self,
        sink: &mut dyn Sink,
        moment: FrameTrigger,
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
        send("confusion", &mut || {
            let read = self.held_out.classes(&trainer.network(), activation);
            Some(confusion(&read, &self.labels, &self.classes))
        });
        send("weights", &mut || draw_weights(&trainer.network()));
        send("weight-spread", &mut || weight_spread(&trainer.network()));
        send("network", &mut || draw_neurons(trainer, train, activation));
        match &mut self.view {
            View::Plane(plane) => {
                send("decision-boundary", &mut || plane.draw(&trainer.network(), activation))
            }
            View::Samples(samples) => send("samples", &mut || {
                Some(samples.draw(&trainer.network(), activation, self.classes.len()))
            }),
            View::Tokens(tokens) => {
                let (reading, writing) = tokens.as_mut();
                send("next-token", &mut || reading.next_token(&trainer.network()));
                send("attention", &mut || reading.attention(&trainer.network()));
                send("logit-lens", &mut || reading.lens(&trainer.network()));
                // Writing takes as long as many steps: once an evaluation is enough.
                if moment == FrameTrigger::Final || writing.is_due(evaluated) {
                    send("text", &mut || writing.draw_writing(&trainer.network(), step, evaluated));
                }
            }
        }
        made
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
    let legend = "share of a true class (row) read as a class (column)";
    let map = heat_map([classes, classes], counts, (0.0, 1.0), legend);
    Frame::HeatMap(HeatMap { column_labels: names.to_vec(), row_labels: names.to_vec(), ..map })
}

impl Plane {
    fn new(examples: &Labelled, device: &Device) -> Self {
        let farthest = examples.inputs.iter().fold(1.0_f32, |far, x| far.max(x.abs()));
        let reach = 1.1 * farthest;
        // The middle of each cell.
        let middle = |index: usize, count: usize| (2.0 * index as f32 + 1.0) / count as f32 - 1.0;
        let cells = (0..ROWS).flat_map(|row| (0..COLUMNS).map(move |column| (row, column)));
        let grid = cells.flat_map(|(row, column)| {
            [reach * middle(column, COLUMNS), -reach * middle(row, ROWS)]
        });
        let grid: Vec<f32> = grid.collect();
        let count = examples.len().min(MOST_POINTS);
        let points = (0..count).map(|index| {
            let class = u8::try_from(examples.labels[index]).unwrap_or(u8::MAX);
            Point { x: examples.input(index)[0], y: examples.input(index)[1], class }
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
            let around = (-self.reach, self.reach);
            let map = heat_map([ROWS, COLUMNS], cells, (0.0, 1.0), "probability of class 1");
            Frame::HeatMap(HeatMap { x: around, y: around, points: self.points.clone(), ..map })
        })
    }
}

impl Samples {
    fn new(held_out: &Labelled, device: &Device) -> Self {
        let indices: Vec<usize> = (0..held_out.len().min(MOST_SAMPLES)).collect();
        let examples = held_out.some(&indices);
        let data = TensorData::new(examples.inputs.clone(), [indices.len(), held_out.features]);
        Self { inputs: Tensor::from_data(data, device), examples }
    }

    fn draw(&self, network: &Network, activation: Activation, classes: usize) -> Frame {
        let predicted = probabilities(network, self.inputs.clone(), activation);
        let image = |(index, probabilities): (usize, &[f32])| {
            let pixels = self.examples.input(index).iter();
            let pixels = pixels.map(|&pixel| (255.0 * pixel).round() as u8).collect();
            judged_image(pixels, likeliest(probabilities), self.examples.labels[index])
        };
        let edge = self.examples.features.isqrt();
        let shown = predicted.chunks(classes).enumerate().map(image).collect();
        Frame::Images(images([edge, edge], shown))
    }
}

/// An image with what is read; where that is wrong, with what it is in brackets: short, for images are small.
pub(crate) fn judged_image(pixels: Vec<u8>, read: usize, truth: i32) -> Image {
    let (label, verdict) = match usize::try_from(truth) == Ok(read) {
        true => (read.to_string(), Verdict::Right),
        false => (format!("{read} ({truth})"), Verdict::Wrong),
    };
    Image { pixels, label, verdict }
}

/// Inputs and neurons of the widest layer that is shown: larger pictures cannot be read.
const MOST: usize = 32;
const MOST_EXAMPLES: usize = 1000;

/// Of each layer a map of the weights and one of their gradients: a row a neuron, a column an input, the bias last.
/// The gradient is that of the mean loss of all training examples, where the network stands.
pub(super) fn draw_neurons(
    trainer: &Trainer,
    train: &Examples,
    activation: Activation,
) -> Option<Frame> {
    let network = trainer.network();
    let Network::Mlp(mlp) = &network else { return None };
    let is_small = |layer: &burn::nn::Linear| layer.weight.dims().iter().all(|&size| size <= MOST);
    if !mlp.layers.iter().all(is_small) {
        return None;
    }
    let indices: Vec<usize> = (0..train.len().min(MOST_EXAMPLES)).collect();
    let all = trainer.gradients(train, &indices, activation);
    let mut panes = Vec::new();
    for (index, layer) in mlp.layers.iter().enumerate() {
        let bias = layer.bias.as_ref()?;
        let of_weights = all.get::<2>(layer.weight.id)?;
        let of_biases = all.get::<1>(bias.id)?;
        let name = format!("layer{}", index + 1);
        let weights = map(layer.weight.val(), bias.val(), index, "weight")?;
        panes.push(pane(format!("{name} weights"), weights));
        let gradients = map(of_weights, of_biases, index, "gradient of the mean loss")?;
        panes.push(pane(format!("{name} gradients"), gradients));
    }
    Some(Frame::Panes(panes))
}

/// Weights `[inputs, neurons]` and biases `[neurons]` as a map around zero; nothing if one is no number.
fn map(weights: Tensor<2>, biases: Tensor<1>, layer: usize, legend: &str) -> Option<Frame> {
    let [inputs, neurons] = weights.dims();
    let rows = Tensor::cat(vec![weights.transpose(), biases.unsqueeze_dim(1)], 1);
    let cells: Vec<f32> = values(rows);
    if !cells.iter().all(|cell| cell.is_finite()) {
        return None;
    }
    let reach = cells.iter().fold(f32::MIN_POSITIVE, |most, cell| most.max(cell.abs()));
    let from = |index: usize| match (layer, inputs) {
        (0, 2) => ["x", "y"][index].to_owned(),
        (0, _) => format!("x{}", index + 1),
        (_, _) => format!("n{}", index + 1),
    };
    let map = heat_map([neurons, inputs + 1], cells, (-reach, reach), legend);
    Some(Frame::HeatMap(HeatMap {
        column_labels: (0..inputs).map(from).chain(["bias".to_owned()]).collect(),
        row_labels: (1..=neurons).map(|neuron| format!("n{neuron}")).collect(),
        ..map
    }))
}

const MOST_UNITS: usize = 32;
const BINS: usize = 15;

pub(super) fn draw_weights(network: &Network) -> Option<Frame> {
    if let Network::Mlp(mlp) = network {
        let first = mlp.layers.first()?.weight.val();
        let [inputs, units] = first.dims();
        let edge = inputs.isqrt();
        if edge * edge == inputs {
            // `[inputs, units]` to one row of inputs a unit.
            return Some(units_as_images(&values(first.transpose()), edge, units));
        }
    }
    let mut layers = layers(network);
    if matches!(network, Network::Cnn(_) | Network::Filters(_)) && layers.len() > 1 {
        // The largest filters, however large the head is.
        layers.pop();
    }
    histogram(layers.into_iter().map(|(_, weights)| weights).max_by_key(Vec::len)?)
}

/// The distribution of each layer's weights; a layer without a finite weight has none.
fn weight_spread(network: &Network) -> Option<Frame> {
    let boxes = layers(network).into_iter().filter_map(|(name, weights)| {
        let weights: Vec<f64> = weights.into_iter().map(f64::from).collect();
        ValueSpread::new(&name, &weights)
    });
    let boxes: Vec<ValueSpread> = boxes.collect();
    let plot = BoxPlot { quantity: "weight".to_owned(), boxes, ..BoxPlot::default() };
    (!plot.boxes.is_empty()).then_some(Frame::BoxPlot(plot))
}

/// The weights of each layer; of a transformer's blocks the gates stand for all.
fn layers(network: &Network) -> Vec<(String, Vec<f32>)> {
    fn numbered<const D: usize>(
        weights: impl Iterator<Item = Tensor<D>>,
    ) -> Vec<(String, Vec<f32>)> {
        let named = |(place, of)| (format!("layer{}", place + 1), values(of));
        weights.enumerate().map(named).collect()
    }
    let head = |weights: Tensor<2>| ("head".to_owned(), values(weights));
    match network {
        Network::Mlp(mlp) => numbered(mlp.layers.iter().map(|layer| layer.weight.val())),
        Network::Cnn(cnn) => {
            let layers = numbered(cnn.convolutions.iter().map(|layer| layer.weight.val()));
            layers.into_iter().chain([head(cnn.head.weight.val())]).collect()
        }
        Network::Filters(net) => {
            let layers = numbered(net.filters.iter().map(|filter| filter.weight.val()));
            layers.into_iter().chain([head(net.head.weight.val())]).collect()
        }
        Network::Transformer(net) => {
            let gates = net.blocks.iter().enumerate().map(|(place, block)| {
                (format!("block{}.gate", place + 1), values(block.mlp.gate.val()))
            });
            let embedding = ("embedding".to_owned(), values(net.embedding.val()));
            [embedding].into_iter().chain(gates).chain([head(net.head.val())]).collect()
        }
    }
}

/// Each unit's weights on a scale of their own: black is the most negative, white the most positive, grey 0.
fn units_as_images(rows: &[f32], edge: usize, units: usize) -> Frame {
    let units = rows.chunks(edge * edge).take(units.min(MOST_UNITS)).enumerate();
    let unit = |(index, row): (usize, &[f32])| {
        let largest = row.iter().fold(f32::MIN_POSITIVE, |most, weight| most.max(weight.abs()));
        // A weight that is not finite is cast to 0 or clamped, never an error.
        let grey = |weight: &f32| (127.5 + 127.5 * weight / largest).round() as u8;
        image(row.iter().map(grey).collect(), format!("unit {}", index + 1))
    };
    Frame::Images(images([edge, edge], units.map(unit).collect()))
}

/// The weights counted by value, zero in the middle; nothing if one is not finite.
fn histogram(weights: Vec<f32>) -> Option<Frame> {
    let reach = weights.iter().fold(0.0_f32, |most, weight| most.max(weight.abs()));
    if weights.is_empty() || !weights.iter().all(|weight| weight.is_finite()) {
        return None;
    }
    // All weights zero fall into the middle bin.
    let reach = f64::from(reach.max(f32::MIN_POSITIVE));
    let values: Vec<f64> = weights.iter().map(|weight| f64::from(*weight)).collect();
    Some(Frame::Histogram(Histogram::between("weight", "", &values, (-reach, reach), BINS)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(weights: &[f32]) -> Vec<f64> {
        match histogram(weights.to_vec()) {
            Some(Frame::Histogram(histogram)) => histogram.first.shares().collect(),
            other => panic!("no histogram: {other:?}"),
        }
    }

    #[test]
    fn a_histogram_holds_every_weight_once() {
        let halves = shares(&[-1.0, 1.0]);
        assert_eq!((halves[0], halves[BINS - 1]), (0.5, 0.5));
        assert_eq!(shares(&[0.0; 7])[BINS / 2], 1.0);
        assert!((shares(&[0.1, -0.3, 0.25, 0.7]).iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert_eq!(histogram(vec![f32::NAN]), None);
    }

    #[test]
    fn the_sign_of_a_weight_is_its_brightness() {
        let pixels = vec![0, 128, 255, 191];
        let expected = Frame::Images(images([2, 2], vec![image(pixels, "unit 1")]));
        assert_eq!(units_as_images(&[-2.0, 0.0, 2.0, 1.0], 2, 1), expected);
    }
}
