//! burn's record as a small table of our own: what reads what, of which shape, and what it costs.

use std::collections::HashMap;

use burn::backend::ir::{OperationIr, TensorId, TensorIr};

use super::execute::name_of;
use super::record::{Forward, Parameter, RecordError, RecordedPhase, Training};

pub struct Table {
    pub tensors: Vec<Tensor>,
    /// Everything that is done, each after all that it reads from.
    pub nodes: Vec<Node>,
    /// In the order in which the network holds them.
    pub parameters: Vec<Parameter>,
    pub weights: Vec<usize>,
    pub gradients: Vec<Option<usize>>,
    pub logits: usize,
    pub loss: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    pub shape: Vec<usize>,
    pub source: Source,
    /// The tensor that owns its memory: itself unless it is a view.
    pub storage: usize,
    /// Whether it holds numbers that derivatives are taken of.
    pub real: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Input,
    Labels,
    Parameter(usize),
    /// The same in every step: a mask, an angle, a number.
    Constant,
    /// What the optimizer remembers from the steps before.
    Moment,
    Node(usize),
    /// A result inside of a node of the forward pass, which autodiff does in several operations.
    Inside(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepPhase {
    Forward,
    Loss,
    Backward,
    Update(usize),
}

#[derive(Clone, Debug)]
pub struct Node {
    /// burn's name for it, such as `matmul`.
    pub name: String,
    pub class: Class,
    pub pass: StepPhase,
    pub inputs: Vec<usize>,
    pub output: usize,
    /// Operations of its matrix product or convolution, 2 for a multiply-add.
    pub matmul_flops: u64,
    /// Operations besides: 1 per output of an elementwise operation, 1 per input of a reduction.
    pub other_flops: u64,
    /// What autodiff does in its place, where that is more than one operation.
    pub inside: Vec<String>,
}

fn numbers(shape: &[usize]) -> u64 {
    shape.iter().map(|&size| size as u64).product()
}

impl StepPhase {
    pub fn is_forward(self) -> bool {
        matches!(self, Self::Forward | Self::Loss)
    }
}

impl Tensor {
    pub fn numbers(&self) -> u64 {
        numbers(&self.shape)
    }

    /// Its sizes as people write them, `[64, 784]`.
    pub fn sizes(&self) -> String {
        format!("{:?}", self.shape)
    }
}

impl Node {
    pub fn flops(&self) -> u64 {
        self.matmul_flops + self.other_flops
    }

    /// Whether it gives another shape to the same memory and does nothing.
    pub fn is_view(&self) -> bool {
        self.class == Class::View
    }
}

impl Table {
    pub fn new(forward: &Forward, training: &Training) -> Result<Self, RecordError> {
        let mut builder = Builder::default();
        let parameters = forward.parameters.iter().zip(0..);
        builder.sources.extend(forward.values.keys().map(|id| (*id, Source::Constant)));
        builder.sources.extend(parameters.map(|(own, index)| (own.id, Source::Parameter(index))));
        builder.sources.insert(forward.input, Source::Input);
        builder.sources.insert(forward.labels, Source::Labels);
        let mut pass = StepPhase::Forward;
        let mut nodes_of = vec![None; forward.operations.len()];
        for (index, operation) in forward.operations.iter().enumerate() {
            nodes_of[index] = builder.add(operation, pass);
            if operation.outputs().any(|out| out.id == forward.logits) {
                pass = StepPhase::Loss;
            }
        }
        builder.add_training(training, &nodes_of);
        let place = |id: &TensorId| {
            let place = builder.places.get(id).copied();
            place.ok_or_else(|| RecordError::Refused(format!("it recorded no tensor {id}")))
        };
        let gradients = training.gradients.iter().map(|id| id.as_ref().map(place).transpose());
        let weights = forward.parameters.iter().map(|parameter| place(&parameter.id));
        Ok(Self {
            gradients: gradients.collect::<Result<_, _>>()?,
            weights: weights.collect::<Result<_, _>>()?,
            logits: place(&forward.logits)?,
            loss: place(&forward.loss)?,
            parameters: forward.parameters.clone(),
            tensors: builder.tensors,
            nodes: builder.nodes,
        })
    }

    /// The nodes of the model and its loss.
    pub fn forward(&self) -> impl Iterator<Item = (usize, &Node)> {
        self.nodes.iter().enumerate().filter(|(_, node)| node.pass.is_forward())
    }

    /// The nodes that the model and its loss are made of, views left out.
    pub fn operations(&self) -> impl Iterator<Item = (usize, &Node)> {
        self.forward().filter(|(_, node)| !node.is_view())
    }

    pub fn storage(&self, tensor: usize) -> usize {
        self.tensors[tensor].storage
    }

    pub fn producer(&self, tensor: usize) -> Option<usize> {
        let Source::Node(node) = self.tensors[self.storage(tensor)].source else { return None };
        Some(node)
    }

    /// Whether memory is neither a parameter nor the same in every step.
    pub fn is_activation(&self, tensor: usize) -> bool {
        let source = self.tensors[self.storage(tensor)].source;
        matches!(source, Source::Input | Source::Node(_) | Source::Inside(_))
    }
}

#[derive(Default)]
struct Builder {
    tensors: Vec<Tensor>,
    nodes: Vec<Node>,
    places: HashMap<TensorId, usize>,
    /// Where tensors come from that no node computes.
    sources: HashMap<TensorId, Source>,
}

impl Builder {
    /// The tensor that the record means; a new one if it comes from outside.
    fn tensor(&mut self, tensor: &TensorIr) -> usize {
        if let Some(&place) = self.places.get(&tensor.id) {
            return place;
        }
        let source = self.sources.get(&tensor.id);
        self.push(tensor, source.copied().unwrap_or(Source::Constant))
    }

    fn push(&mut self, tensor: &TensorIr, source: Source) -> usize {
        let place = self.tensors.len();
        self.tensors.push(Tensor {
            shape: tensor.shape.to_vec(),
            source,
            storage: place,
            real: tensor.dtype.is_float(),
        });
        self.places.insert(tensor.id, place);
        place
    }

    /// Adds an operation; nothing if all it does is make a tensor.
    fn add(&mut self, operation: &OperationIr, pass: StepPhase) -> Option<usize> {
        let name = name_of(operation);
        let class = Class::from_name(&name);
        let out = operation.outputs().next()?;
        if class == Class::Creation {
            self.tensor(out);
            return None;
        }
        let inputs: Vec<usize> = operation.inputs().map(|input| self.tensor(input)).collect();
        // What is made of constants alone is a constant, such as a mask.
        let constant = inputs.iter().all(|&input| self.tensors[input].source == Source::Constant);
        let source = if constant { Source::Constant } else { Source::Node(self.nodes.len()) };
        let output = self.push(out, source);
        if let (Class::View, Some(&looked_into)) = (class, inputs.first()) {
            self.tensors[output].storage = self.tensors[looked_into].storage;
        }
        let shapes: Vec<&[usize]> = inputs.iter().map(|&i| &*self.tensors[i].shape).collect();
        let (matmul_flops, other_flops) = class.flops(&name, &shapes, &self.tensors[output].shape);
        self.nodes.push(Node {
            name,
            class,
            pass,
            inputs,
            output,
            matmul_flops,
            other_flops,
            inside: Vec::new(),
        });
        Some(self.nodes.len() - 1)
    }

    /// Adds the backward pass and the updates; their reads of forward tensors are those of the forward table.
    fn add_training(&mut self, training: &Training, nodes_of: &[Option<usize>]) {
        let places = training.same.iter().map(|(id, same)| Some((*same, *self.places.get(id)?)));
        let places: Vec<_> = places.flatten().collect();
        self.places.extend(places);
        for (part, operation) in &training.operations {
            match part {
                RecordedPhase::Forward(index) => self.add_inside(operation, nodes_of[*index]),
                RecordedPhase::Backward => {
                    self.add(operation, StepPhase::Backward);
                }
                RecordedPhase::Warming => {
                    let moments = operation.outputs().map(|out| (out.id, Source::Moment));
                    self.sources.extend(moments);
                }
                RecordedPhase::Update(parameter) => {
                    self.add(operation, StepPhase::Update(*parameter));
                }
            }
        }
    }

    /// What autodiff does for one forward node: its last result is the node's own.
    fn add_inside(&mut self, operation: &OperationIr, node: Option<usize>) {
        let Some(node) = node else { return };
        let name = name_of(operation);
        for out in operation.outputs() {
            if !self.places.contains_key(&out.id) {
                self.push(out, Source::Inside(node));
            }
        }
        if name != self.nodes[node].name {
            self.nodes[node].inside.push(name);
        }
    }
}

// What kind of work an operation is, by burn's name for it, and how much.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Product,
    Elementwise,
    Reduction,
    /// Reductions and elementwise work over rows, done as one.
    Rows,
    Move,
    /// Another shape of the same memory.
    View,
    Creation,
}

/// The operations of each class by name; all others are elementwise.
const CLASSES: [(Class, &str); 8] = [
    (Class::Product, "matmul conv2d conv2d_x_backward conv2d_weight_backward"),
    (Class::View, "reshape swap_dims permute expand slice"),
    (Class::Creation, "empty zeros ones full init random"),
    (Class::Rows, "softmax log_softmax softmin layer_norm"),
    (
        Class::Reduction,
        "sum sum_dim sum_dims mean mean_dim max max_dim min min_dim arg_max arg_min",
    ),
    (Class::Reduction, "all any conv2d_bias_backward"),
    (
        Class::Move,
        "gather scatter select select_assign embedding embedding_backward cat repeat_dim",
    ),
    (Class::Move, "flip cast slice_assign into_float into_int"),
];

impl Class {
    pub fn from_name(name: &str) -> Self {
        let listed = CLASSES.iter().find(|(_, names)| names.split(' ').any(|own| own == name));
        listed.map_or(Self::Elementwise, |(class, _)| *class)
    }

    /// Operations of its product, and operations besides, from the shapes of what it reads and writes.
    pub fn flops(self, name: &str, inputs: &[&[usize]], output: &[usize]) -> (u64, u64) {
        let first = inputs.first().copied().unwrap_or(output);
        let read = numbers(first);
        let written = numbers(output);
        match self {
            Self::Product => {
                let has_bias = inputs.len() > 2 && !name.ends_with("_backward");
                (2 * multiply_adds(name, inputs, output), if has_bias { written } else { 0 })
            }
            Self::Elementwise => (0, written),
            Self::Reduction => (0, read),
            // Largest, minus it, exponential, sum, divided by it (or minus its logarithm, one more a row).
            Self::Rows => {
                let row = first.last().copied().unwrap_or(1).max(1) as u64;
                let logarithms = if name == "log_softmax" { read / row } else { 0 };
                (0, 5 * read + logarithms)
            }
            Self::Move | Self::View | Self::Creation => (0, 0),
        }
    }
}

/// Multiply-adds of a product. A convolution's weights are `[channels out, channels in, height, width]`, and every
/// output pixel takes one multiply-add per weight of its channel; its two backward products take as many.
fn multiply_adds(name: &str, inputs: &[&[usize]], output: &[usize]) -> u64 {
    let of_a_channel = || numbers(&inputs[1][1..]);
    match name {
        "conv2d" => numbers(output) * of_a_channel(),
        // x, weight, gradient of the result.
        "conv2d_x_backward" | "conv2d_weight_backward" => numbers(inputs[2]) * of_a_channel(),
        // [.., rows, inner] x [.., inner, columns].
        _ => numbers(output) * inputs[0].last().map_or(1, |&size| size as u64),
    }
}
