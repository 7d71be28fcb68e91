//! Expressions on burn's autodiff: each operation of lab `graph` is one operation of burn on a tensor of one number.

use std::{panic, thread};

use burn::tensor::{DType, Device, Tensor, TensorData, activation};
use mlsys_lab::DeviceId;
use mlsys_sim::graph::operation::{
    Binary, Derivatives, Engine, EngineError, Operation, Scalar, Unary,
};

use mlsys_device as device;

/// burn walks and drops its record by recursion: room for `MOST_OPERATIONS` frames, whatever thread asks.
const STACK: usize = 64 << 20;

/// burn's autodiff as an engine to compare with the lab's own reverse mode.
#[derive(Clone, Copy, Debug)]
pub struct Autodiff;

impl Engine for Autodiff {
    fn name(&self) -> &str {
        "burn"
    }

    fn differentiate(
        &self,
        graph: &[Scalar],
        output: usize,
        id: DeviceId,
    ) -> Result<Derivatives, EngineError> {
        thread::scope(|scope| {
            let work = || differentiate(graph, output, id);
            let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
            let running = thread.map_err(|error| EngineError::Framework(error.to_string()))?;
            running.join().unwrap_or_else(|payload| panic::resume_unwind(payload))
        })
    }
}

fn differentiate(
    graph: &[Scalar],
    output: usize,
    id: DeviceId,
) -> Result<Derivatives, EngineError> {
    let device = device::open(id)?;
    // The CPU computes with 64 bits, as the lab does; other devices get what all of them have.
    let dtype = if device::is_asynchronous(id) { DType::F32 } else { DType::F64 };
    let device = device.autodiff();
    let values = evaluate(graph, &device, dtype);
    let Some(result) = values.get(output).cloned() else {
        return Err(EngineError::NoNode(output));
    };
    let value = number(result.clone())?;
    let mut gradients = vec![None; graph.len()];
    // An output that no input reaches has nothing to go back to.
    let tracked = result.is_require_grad() || depends(graph)[output];
    let found = tracked.then(|| result.backward());
    for (index, node) in graph.iter().enumerate() {
        if node.operation != Operation::Input {
            continue;
        }
        let gradient = found.as_ref().and_then(|found| values[index].grad(found));
        gradients[index] = Some(gradient.map_or(Ok(0.0), number)?);
    }
    Ok(Derivatives { value, gradients, bits: if dtype == DType::F64 { 64 } else { 32 } })
}

/// A tensor of shape [1] per node, in the order of evaluation; burn records each as it is computed.
fn evaluate(graph: &[Scalar], device: &Device, dtype: DType) -> Vec<Tensor<1>> {
    let given = |x: f64| Tensor::<1>::from_data(TensorData::from([x]), (device, dtype));
    let mut values: Vec<Tensor<1>> = Vec::with_capacity(graph.len());
    for node in graph {
        let at = |index: usize| values[index].clone();
        values.push(match node.operation {
            Operation::Input => given(node.value).require_grad(),
            Operation::Constant => given(node.value),
            Operation::Copy(a) => at(a),
            Operation::Unary(function, a) => unary(function, at(a)),
            Operation::Binary(operator, a, b) => binary(operator, at(a), at(b)),
        });
    }
    values
}

fn unary(function: Unary, a: Tensor<1>) -> Tensor<1> {
    match function {
        Unary::Negate => a.neg(),
        Unary::Sqrt => a.sqrt(),
        Unary::Exp => a.exp(),
        Unary::Log => a.log(),
        Unary::Sin => a.sin(),
        Unary::Cos => a.cos(),
        Unary::Tanh => a.tanh(),
        Unary::Sigmoid => activation::sigmoid(a),
        Unary::Relu => activation::relu(a),
    }
}

fn binary(operator: Binary, a: Tensor<1>, b: Tensor<1>) -> Tensor<1> {
    match operator {
        Binary::Add => a + b,
        Binary::Subtract => a - b,
        Binary::Multiply => a * b,
        Binary::Divide => a / b,
        Binary::Power => a.powf(b),
        Binary::Max => a.max_pair(b),
    }
}

/// By node: whether an input has a say in it.
fn depends(graph: &[Scalar]) -> Vec<bool> {
    let mut depends: Vec<bool> = Vec::with_capacity(graph.len());
    for node in graph {
        let from_inputs = node.operation.arguments().any(|index| depends[index]);
        depends.push(node.operation == Operation::Input || from_inputs);
    }
    depends
}

fn number(tensor: Tensor<1>) -> Result<f64, EngineError> {
    tensor.try_into_scalar().map_err(|error| EngineError::Framework(error.to_string()))
}

#[cfg(test)]
mod tests {
    use mlsys_sim::graph::operation::MOST_OPERATIONS;

    use super::*;

    fn graph(operations: &[(Operation, f64)]) -> Vec<Scalar> {
        let scalar = |&(operation, value)| Scalar { operation, value };
        operations.iter().map(scalar).collect()
    }

    fn gradient(operations: &[(Operation, f64)]) -> Derivatives {
        let graph = graph(operations);
        Autodiff.differentiate(&graph, graph.len() - 1, DeviceId::CPU).unwrap()
    }

    /// Values and derivatives of every operation from tables and by hand, in 64 bits.
    #[test]
    fn every_operation_agrees_with_its_formula() {
        use Operation::Input;
        let x: f64 = 0.7;
        let sigmoid = 1.0 / (1.0 + (-x).exp());
        for (function, value, slope) in [
            (Unary::Negate, -x, -1.0),
            (Unary::Sqrt, x.sqrt(), 0.5 / x.sqrt()),
            (Unary::Exp, x.exp(), x.exp()),
            (Unary::Log, x.ln(), 1.0 / x),
            (Unary::Sin, x.sin(), x.cos()),
            (Unary::Cos, x.cos(), -x.sin()),
            (Unary::Tanh, x.tanh(), 1.0 - x.tanh() * x.tanh()),
            (Unary::Sigmoid, sigmoid, sigmoid * (1.0 - sigmoid)),
            (Unary::Relu, x, 1.0),
        ] {
            let found = gradient(&[(Input, x), (Operation::Unary(function, 0), 0.0)]);
            assert!((found.value - value).abs() < 1e-12, "{function:?} {found:?}");
            let found_slope = found.gradients[0].unwrap();
            assert!((found_slope - slope).abs() < 1e-12, "{function:?} {found:?}");
        }
        let (a, b) = (1.5_f64, 0.4_f64);
        for (operator, value, slopes) in [
            (Binary::Add, a + b, [1.0, 1.0]),
            (Binary::Subtract, a - b, [1.0, -1.0]),
            (Binary::Multiply, a * b, [b, a]),
            (Binary::Divide, a / b, [1.0 / b, -a / (b * b)]),
            (Binary::Power, a.powf(b), [b * a.powf(b - 1.0), a.powf(b) * a.ln()]),
            (Binary::Max, a, [1.0, 0.0]),
        ] {
            let found =
                gradient(&[(Input, a), (Input, b), (Operation::Binary(operator, 0, 1), 0.0)]);
            assert!((found.value - value).abs() < 1e-12, "{operator:?} {found:?}");
            for (found_slope, slope) in found.gradients.iter().flatten().zip(slopes) {
                assert!((found_slope - slope).abs() < 1e-12, "{operator:?} {found:?}");
            }
        }
        assert_eq!(gradient(&[(Input, x)]).bits, 64);
    }

    #[test]
    fn what_the_output_does_not_use_has_a_gradient_of_zero() {
        let found = gradient(&[
            (Operation::Input, 3.0),
            (Operation::Input, 2.0),
            (Operation::Binary(Binary::Multiply, 1, 1), 0.0),
        ]);
        assert_eq!(found.gradients[..2], [Some(0.0), Some(4.0)]);
        let constant = gradient(&[(Operation::Input, 3.0), (Operation::Constant, 5.0)]);
        assert_eq!((constant.value, constant.gradients[0]), (5.0, Some(0.0)));
    }

    /// As deep as lab `graph` hands over, on a stack half as large as a thread's usual one.
    #[test]
    fn a_deep_graph_does_not_overflow_the_stack() {
        let mut operations = vec![(Operation::Input, 1.0)];
        let sums = (0..MOST_OPERATIONS - 1).map(|at| (Operation::Binary(Binary::Add, at, 0), 0.0));
        operations.extend(sums);
        let work = move || gradient(&operations).gradients[0];
        let thread = thread::Builder::new().stack_size(1024 * 1024);
        let found = thread.spawn(work).unwrap().join().unwrap();
        assert_eq!(found, Some(MOST_OPERATIONS as f64));
    }
}
