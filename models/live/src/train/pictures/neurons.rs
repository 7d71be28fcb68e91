//! A small perceptron whole: every weight, and what the loss asks of it.

use burn::tensor::Tensor;
use mlsys_lab::frame::{Frame, HeatMap, Pane};

use mlsys_nn::data::Examples;
use mlsys_nn::nets::Activation;
use mlsys_nn::nets::Network;
use mlsys_nn::train::trainer::Trainer;

/// Inputs and neurons of the widest layer that is shown: larger pictures cannot be read.
const MOST: usize = 32;
/// Examples whose mean gradient is shown.
const MOST_EXAMPLES: usize = 1000;

/// Of each layer a map of the weights and one of their gradients: a row a neuron, a column an input, the bias last.
/// The gradient is that of the mean loss of all training examples, where the network stands.
pub(super) fn draw(trainer: &Trainer, train: &Examples, activation: Activation) -> Option<Frame> {
    let network = trainer.network();
    let Network::Mlp(mlp) = &network else {
        return None;
    };
    let is_small = |layer: &burn::nn::Linear| layer.weight.dims().iter().all(|&size| size <= MOST);
    if !mlp.layers.iter().all(is_small) {
        return None;
    }
    let indices: Vec<usize> = (0..train.len().min(MOST_EXAMPLES)).collect();
    let gradients = trainer.gradients(train, &indices, activation);
    let mut panes = Vec::new();
    for (index, layer) in mlp.layers.iter().enumerate() {
        let bias = layer.bias.as_ref()?;
        let of_weights = gradients.get::<2>(layer.weight.id)?;
        let of_biases = gradients.get::<1>(bias.id)?;
        let name = format!("layer{}", index + 1);
        panes.push(Pane {
            title: format!("{name} weights"),
            frame: map(layer.weight.val(), bias.val(), index, "weight")?,
        });
        panes.push(Pane {
            title: format!("{name} gradients"),
            frame: map(of_weights, of_biases, index, "gradient of the mean loss")?,
        });
    }
    Some(Frame::Panes(panes))
}

/// Weights `[inputs, neurons]` and biases `[neurons]` as a map around zero; nothing if one is no number.
fn map(weights: Tensor<2>, biases: Tensor<1>, layer: usize, legend: &str) -> Option<Frame> {
    let [inputs, neurons] = weights.dims();
    let rows = Tensor::cat(vec![weights.transpose(), biases.unsqueeze_dim(1)], 1);
    let cells: Vec<f32> = rows.into_data().iter::<f32>().collect();
    if !cells.iter().all(|cell| cell.is_finite()) {
        return None;
    }
    let reach = cells.iter().fold(f32::MIN_POSITIVE, |most, cell| most.max(cell.abs()));
    let from = |index: usize| match (layer, inputs) {
        (0, 2) => ["x", "y"][index].to_owned(),
        (0, _) => format!("x{}", index + 1),
        (_, _) => format!("n{}", index + 1),
    };
    Some(Frame::HeatMap(HeatMap {
        columns: inputs + 1,
        rows: neurons,
        cells,
        low: -reach,
        high: reach,
        x: (0.0, (inputs + 1) as f32),
        y: (0.0, neurons as f32),
        column_labels: (0..inputs).map(from).chain(["bias".to_owned()]).collect(),
        row_labels: (1..=neurons).map(|neuron| format!("n{neuron}")).collect(),
        points: Vec::new(),
        legend: legend.to_owned(),
    }))
}
