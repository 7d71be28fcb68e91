use crate::networks::filters::*;
use crate::networks::{Architecture, Initialization};
use crate::random::Stream;
use burn::tensor::{Device, Tensor, TensorData};
use mlsys_device as device;
use mlsys_lab::DeviceId;

fn host() -> Device {
    device::open(DeviceId::CPU).unwrap()
}

fn drawn<const D: usize>(shape: [usize; D], stream: &mut Stream) -> Vec<f32> {
    let count = shape.iter().product();
    (0..count).map(|_| stream.normal() as f32).collect()
}

fn tensor<const D: usize>(values: &[f32], shape: [usize; D]) -> Tensor<D> {
    Tensor::from_data(TensorData::new(values.to_vec(), shape), &host())
}

fn filter(weights: &[f32], shape: [usize; 4], groups: usize) -> Filter {
    Filter { weight: Param::from_tensor(tensor(weights, shape)), stride: 1, groups }
}

fn assert_near(found: Tensor<4>, expected: Tensor<4>) {
    let size: f64 = expected.clone().abs().max().into_scalar::<f64>();
    let apart: f64 = (found - expected).abs().max().into_scalar::<f64>();
    assert!(apart < 1e-5 * size.max(1.0), "{apart} of {size}");
}

#[test]
fn separable_filters_equal_their_outer_product() {
    let mut stream = Stream::new(3, "test");
    for k in [3, 5, 7] {
        let image = drawn([2, 1, 9, 9], &mut stream);
        let x = tensor(&image, [2, 1, 9, 9]);
        let (column, row) = (drawn([k], &mut stream), drawn([k], &mut stream));
        let outer: Vec<f32> =
            column.iter().flat_map(|down| row.iter().map(move |across| down * across)).collect();
        let both = filter(&column, [1, 1, k, 1], 1).forward(x.clone());
        let both = filter(&row, [1, 1, 1, k], 1).forward(both);
        assert_near(both, filter(&outer, [1, 1, k, k], 1).forward(x));
    }
}

#[test]
fn depthwise_then_pointwise_equals_the_joint_filter() {
    let mut stream = Stream::new(4, "test");
    let (inputs, outputs, k) = (3, 5, 5);
    let image = drawn([2, inputs, 8, 8], &mut stream);
    let x = tensor(&image, [2, inputs, 8, 8]);
    let depthwise = drawn([inputs, k * k], &mut stream);
    let pointwise = drawn([outputs, inputs], &mut stream);
    let mut joint = Vec::new();
    for out in 0..outputs {
        for channel in 0..inputs {
            let mixed = pointwise[out * inputs + channel];
            let window = &depthwise[channel * k * k..(channel + 1) * k * k];
            joint.extend(window.iter().map(|weight| mixed * weight));
        }
    }
    let both = filter(&depthwise, [inputs, 1, k, k], inputs).forward(x.clone());
    let both = filter(&pointwise, [outputs, inputs, 1, 1], 1).forward(both);
    assert_near(both, filter(&joint, [outputs, inputs, k, k], 1).forward(x));
}

#[test]
fn what_a_filter_costs_is_what_it_has() {
    let stem = FilterShape {
        channels_in: 1,
        channels_out: 6,
        window: [5, 3],
        stride: 2,
        sight: ReceptiveField::All,
    };
    let own = FilterShape { channels_in: 6, stride: 1, sight: ReceptiveField::Own, ..stem };
    let cost = own.cost(7);
    assert_eq!((cost.inputs, cost.outputs), (6 * 49, 6 * 49));
    assert_eq!(cost.weights, 6 * 15);
    assert_eq!(cost.flops(3), 2 * 3 * 6 * 15 * 49);
    assert_eq!(cost.bytes(3), 4 * (3 * 2 * 6 * 49 + 90));
    let config = FilterNetConfig { edge: 13, filters: vec![stem, own], outputs: 4 };
    assert_eq!(config.flat(), 6 * 49);
    assert_eq!(config.judging_bytes(3), 4 * 3 * 5 * 6 * 49);
    let parameters = 6 * 15 + 6 * 15 + (6 * 49 + 1) * 4;
    let architecture = Architecture::Filters(config);
    assert_eq!(architecture.parameters(), parameters);
    let network = architecture.init(Initialization::He, 1, &host());
    assert_eq!(network.num_params() as u64, parameters);
    let images = tensor(&vec![0.5; 2 * 169], [2, 169]);
    assert_eq!(network.forward(images, Activation::Relu).dims(), [2, 4]);
    assert_eq!(
        architecture.in_words(),
        "filters (images of 13 x 13, 6 5 x 3 / 2, 6 depthwise 5 x 3, 4 classes)"
    );
}
