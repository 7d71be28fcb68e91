//! Whether the record is true: done again node by node, and its gradients against nudges of the weights.

use burn::backend::Dispatch;
use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use mlsys_nn::capture::execute::{Handle, Machine};
use mlsys_nn::capture::record::{Forward, RecordError};
use mlsys_nn::capture::table::Table;
use mlsys_nn::networks::{
    Architecture, Initialization, Inputs, Network, cross_entropy, gradient, in_f64, max_error,
    perturbed,
};
use mlsys_nn::random::Stream;

use super::Setup;

pub(super) struct Real {
    /// With autodiff.
    network: Network,
    /// The same weights in f64 on the CPU, to be nudged.
    exact: Network,
    host: Device,
    values: Vec<f32>,
    labels: Vec<i32>,
    setup: Setup,
    device: Device,
}

/// The replay is done up to this many weights and results, which it holds at once, and operations.
const MOST_NUMBERS: u64 = 20_000_000;
const MOST_FLOPS: u64 = 2_000_000_000;

pub(super) fn too_large(setup: &Setup, table: &Table) -> Option<String> {
    let results = table.operations();
    let results = results.map(|(_, node)| table.tensors[node.output].numbers());
    let numbers = setup.architecture.parameters() + results.sum::<u64>();
    let flops = setup.architecture.forward_flops(setup.batch as u64);
    (numbers > MOST_NUMBERS || flops > MOST_FLOPS).then(|| {
        format!(
            "Recorded and counted only: with {:.3e} numbers and {:.3e} operations a pass, the replay and the gradient \
             check are left out (they are done up to {:.0e} numbers and {:.0e} operations).",
            numbers as f64, flops as f64, MOST_NUMBERS as f64, MOST_FLOPS as f64
        )
    })
}

impl Real {
    pub(super) fn new(setup: &Setup, device: &Device, host: &Device) -> Self {
        let [batch, of_one] = setup.input();
        let classes = setup.classes();
        let mut stream = Stream::new(setup.seed, "capture/inputs");
        let count = batch * of_one;
        let (values, rows): (Vec<f32>, usize) = match setup.architecture {
            Architecture::Mlp(_) | Architecture::Cnn(_) | Architecture::Filters(_) => {
                ((0..count).map(|_| stream.normal() as f32).collect(), batch)
            }
            Architecture::Transformer(_) => {
                ((0..count).map(|_| stream.below(classes) as f32).collect(), count)
            }
        };
        let mut stream = Stream::new(setup.seed, "capture/labels");
        let labels = (0..rows).map(|_| stream.below(classes) as i32).collect();
        let differentiated = device.clone().autodiff();
        let on_host = setup.architecture.init(Initialization::He, setup.seed, host);
        Self {
            network: setup.architecture.init(Initialization::He, setup.seed, &differentiated),
            exact: in_f64(on_host),
            host: host.clone(),
            values,
            labels,
            setup: setup.clone(),
            device: device.clone(),
        }
    }

    fn inputs(&self, device: &Device, format: DType) -> Inputs {
        let shape = self.setup.input();
        match self.setup.architecture {
            Architecture::Mlp(_) | Architecture::Cnn(_) | Architecture::Filters(_) => {
                let data = TensorData::new(self.values.clone(), shape);
                Inputs::from(Tensor::<2>::from_data(data, (device, format)))
            }
            Architecture::Transformer(_) => {
                let tokens: Vec<i32> = self.values.iter().map(|&token| token as i32).collect();
                let data = TensorData::new(tokens, shape);
                Inputs::from(Tensor::<2, Int>::from_data(data, device))
            }
        }
    }

    fn labels(&self, device: &Device) -> Tensor<1, Int> {
        Tensor::from_data(TensorData::new(self.labels.clone(), [self.labels.len()]), device)
    }

    /// The largest difference between the network's output and that of the record, over the largest output.
    pub(super) fn replay_difference(&self, forward: &Forward) -> Result<f64, RecordError> {
        let network = self.network.valid();
        let own = network.forward(self.inputs(&self.device, DType::F32), self.setup.activation);
        let mut machine = Machine::<Dispatch>::new(self.device.as_dispatch().clone());
        for (id, data) in &forward.values {
            machine.put_data(*id, data.clone());
        }
        match self.inputs(&self.device, DType::F32) {
            Inputs::Numbers(x) => machine.put(forward.input, Handle::Float(x.into_dispatch())),
            Inputs::Tokens(x) => machine.put(forward.input, Handle::Int(x.into_dispatch())),
        }
        let labels = self.labels(&self.device).into_dispatch();
        machine.put(forward.labels, Handle::Int(labels));
        let mut weights = Weights(Vec::new());
        network.visit(&mut weights);
        let given: Vec<_> = forward.parameters.iter().map(|parameter| parameter.id).collect();
        given.iter().zip(weights.0).for_each(|(&id, weight)| machine.put(id, weight));
        let mut replayed = None;
        for operation in &forward.operations {
            let is_given = |id| given.contains(&id) || id == forward.input || id == forward.labels;
            if !operation.outputs().any(|out| is_given(out.id)) {
                machine.execute(operation)?;
            }
            if let Some(out) = operation.outputs().find(|out| out.id == forward.logits) {
                replayed = Some(machine.float(out)?);
            }
        }
        let Some(replayed) = replayed else { return Ok(f64::NAN) };
        let replayed = Tensor::<2>::from_dispatch(replayed);
        let largest = own.clone().abs().max().into_scalar::<f32>();
        let difference = (own - replayed).abs().max().into_scalar::<f32>();
        Ok(f64::from(difference) / f64::from(largest).max(f64::MIN_POSITIVE))
    }

    /// The gradient by burn, and the nudges to compare it with.
    pub(super) fn slopes(&self) -> Slopes<'_> {
        let device = self.device.clone().autodiff();
        let loss = |network: &Network| {
            let inputs = self.inputs(&device, DType::F32);
            let logits = network.forward(inputs, self.setup.activation);
            cross_entropy(logits, self.labels(&device))
        };
        Slopes {
            real: self,
            gradient: gradient(&self.network, loss),
            stream: Stream::new(self.setup.seed, "capture/directions"),
            pairs: Vec::new(),
        }
    }

    /// The loss with weights moved by `step` along a direction, in f64.
    fn loss(&self, direction: &[Vec<f64>], step: f64) -> f64 {
        let network = perturbed(&self.exact, direction, step);
        let inputs = self.inputs(&self.host, DType::F64);
        let logits = network.forward(inputs, self.setup.activation);
        let [_, classes] = logits.dims();
        let logits: Vec<f64> = logits.into_data().iter::<f64>().collect();
        let of_row = |(row, &label): (&[f64], &i32)| {
            let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = row.iter().map(|x| (x - largest).exp()).sum();
            largest + sum.ln() - row[label as usize]
        };
        let rows = logits.chunks(classes).zip(&self.labels);
        rows.map(of_row).sum::<f64>() / self.labels.len() as f64
    }
}

/// Slopes of the loss along random directions: by burn's gradient, and by nudging the weights in f64 on the CPU.
pub(super) struct Slopes<'a> {
    real: &'a Real,
    gradient: Vec<Vec<f64>>,
    stream: Stream,
    pairs: Vec<(f64, f64)>,
}

impl Slopes<'_> {
    /// How far a weight is moved: hardly a relu changes sides, and in f64 the losses still differ.
    const STEP: f64 = 1e-6;

    pub(super) fn compare(&mut self) {
        let stream = &mut self.stream;
        let like = |values: &Vec<f64>| values.iter().map(|_| stream.normal()).collect();
        let direction: Vec<Vec<f64>> = self.gradient.iter().map(like).collect();
        let along = direction.iter().flatten();
        let by_burn: f64 = self.gradient.iter().flatten().zip(along).map(|(g, v)| g * v).sum();
        let ahead = self.real.loss(&direction, Self::STEP);
        let behind = self.real.loss(&direction, -Self::STEP);
        self.pairs.push((by_burn, (ahead - behind) / (2.0 * Self::STEP)));
    }

    pub(super) fn error(&self) -> f64 {
        error(&self.pairs)
    }
}

/// The largest difference over the usual size of a slope, as one direction may be level; infinite if one is no number.
fn error(pairs: &[(f64, f64)]) -> f64 {
    let squares = pairs.iter().map(|(burn, _)| burn * burn);
    let usual = (squares.sum::<f64>() / pairs.len().max(1) as f64).sqrt();
    let differences = pairs.iter().map(|(burn, nudged)| (burn - nudged).abs());
    let largest = differences.fold(0.0, max_error);
    if largest == 0.0 || largest.is_infinite() { largest } else { largest / usual }
}

/// The weights as tensors of the back end that dispatches.
struct Weights(Vec<Handle<Dispatch>>);

impl ModuleVisitor for Weights {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.0.push(Handle::Float(param.val().into_dispatch()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_without_a_number_are_not_slopes_that_agree() {
        assert_eq!(error(&[]), 0.0);
        assert_eq!(error(&[(3.0, 3.0), (4.0, 4.0)]), 0.0);
        assert_eq!(error(&[(2.0, 2.0), (2.0, 1.0)]), 0.5);
        for pairs in [[(f64::NAN, 1.0), (1.0, 1.0)], [(1.0, f64::NAN), (1.0, 1.0)]] {
            assert_eq!(error(&pairs), f64::INFINITY);
        }
        assert_eq!(error(&[(f64::INFINITY, 1.0)]), f64::INFINITY);
    }
}
