use super::*;

const GENERATED: [Dataset; 5] =
    [Dataset::Spiral, Dataset::Moons, Dataset::Circles, Dataset::Xor, Dataset::Digits];

fn made(config: &DataConfig) -> Halves<Labelled> {
    labelled(load(config).expect("generated data cannot fail"))
}

/// Both halves of a data set of labelled examples.
pub(super) fn labelled(data: Data) -> Halves<Labelled> {
    match (data.train, data.held_out) {
        (Examples::Labelled(train), Examples::Labelled(held_out)) => Halves { train, held_out },
        other => panic!("a sequence: {other:?}"),
    }
}

/// A small set, so that the tests are quick.
fn small(dataset: Dataset) -> DataConfig {
    DataConfig { samples: 60, ..DataConfig::new(dataset, 1) }
}

/// FNV-1a over the bits of inputs and labels.
fn fingerprint(examples: &Labelled) -> u64 {
    let inputs = examples.inputs.iter().map(|input| u64::from(input.to_bits()));
    let labels = examples.labels.iter().map(|&label| label as u64);
    inputs
        .chain(labels)
        .fold(0xcbf2_9ce4_8422_2325, |hash, word| (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3))
}

#[test]
fn the_data_of_a_seed_are_fixed_for_ever() {
    // Recorded at the first release. If this fails, every recorded series of every learner has changed.
    let fixed = [
        0x9390_98ba_8c9a_7e3a,
        0xae8c_ab63_25f0_315d,
        0xc552_9365_c871_a649,
        0x91ab_e134_8018_e9f7,
        0xf8f0_a537_9876_1cb9,
    ];
    let fingerprints = GENERATED.map(|dataset| fingerprint(&made(&small(dataset)).train));
    assert_eq!(fingerprints, fixed, "{fingerprints:#018x?}");
}

#[test]
fn every_data_set_has_the_shape_it_says_and_balanced_classes() {
    for dataset in GENERATED {
        let data = made(&small(dataset));
        assert_eq!(data.train.len(), 60);
        assert_eq!(data.held_out.len(), dataset.held_out_samples());
        for examples in [&data.train, &data.held_out] {
            let config = small(dataset);
            assert_eq!(examples.features, config.features());
            assert_eq!(examples.inputs.len(), examples.len() * config.features());
            let classes = config.classes().expect("points and digits have classes");
            let mut counts = vec![0; classes];
            for &label in &examples.labels {
                counts[label as usize] += 1;
            }
            assert!(
                counts.iter().all(|&count| count * classes == examples.len()),
                "{dataset:?} {counts:?}"
            );
        }
    }
}

#[test]
fn another_seed_and_the_held_out_half_have_other_examples() {
    for dataset in GENERATED {
        let data = made(&small(dataset));
        let other = made(&DataConfig { seed: 2, ..small(dataset) });
        assert_ne!(data.train.inputs, other.train.inputs, "{dataset:?}");
        let length = data.train.inputs.len();
        assert_ne!(data.train.inputs, data.held_out.inputs[..length], "{dataset:?}");
    }
}

#[test]
fn more_samples_keep_the_first_ones_and_the_held_out_half() {
    for dataset in GENERATED {
        let few = made(&small(dataset));
        let many = made(&DataConfig { samples: 95, ..small(dataset) });
        assert_eq!(few.train.inputs, many.train.inputs[..few.train.inputs.len()], "{dataset:?}");
        assert_eq!(few.train.labels, many.train.labels[..60], "{dataset:?}");
        assert_eq!(few.held_out, many.held_out, "{dataset:?}");
    }
}

#[test]
fn noise_scales_the_same_deviates_around_the_same_points() {
    for dataset in [Dataset::Spiral, Dataset::Moons, Dataset::Circles, Dataset::Xor] {
        let [clean, some, double] =
            [0.0, 0.1, 0.2].map(|noise| made(&DataConfig { noise, ..small(dataset) }).train.inputs);
        let deviates: Vec<f32> =
            some.iter().zip(&clean).map(|(noisy, clean)| noisy - clean).collect();
        let spread = (deviates.iter().map(|d| d * d).sum::<f32>() / deviates.len() as f32).sqrt();
        assert!((spread - 0.1).abs() < 0.02, "{dataset:?} {spread}");
        for ((double, clean), deviate) in double.iter().zip(&clean).zip(&deviates) {
            assert!((double - clean - 2.0 * deviate).abs() < 1e-6, "{dataset:?}");
        }
    }
}

#[test]
fn points_without_noise_lie_where_their_formula_says() {
    let clean = |dataset| made(&DataConfig { noise: 0.0, ..small(dataset) }).train;
    for dataset in [Dataset::Spiral, Dataset::Moons, Dataset::Circles, Dataset::Xor] {
        assert!(clean(dataset).inputs.iter().all(|x| x.abs() <= 1.0), "{dataset:?}");
    }
    let circles = clean(Dataset::Circles);
    let xor = clean(Dataset::Xor);
    let spiral = clean(Dataset::Spiral);
    for index in 0..60 {
        let radius =
            |examples: &Labelled| examples.input(index).iter().map(|x| x * x).sum::<f32>().sqrt();
        let expected = if circles.labels[index] == 0 { 1.0 } else { 0.5 };
        assert!((radius(&circles) - expected).abs() < 1e-6);
        let [x, y] = [xor.input(index)[0], xor.input(index)[1]];
        assert_eq!(x * y < 0.0, xor.labels[index] == 1, "({x}, {y})");
        // Back from the radius to the angle: arm k starts at half a turn times k and makes 1.75 turns.
        let turns = 1.75 * (radius(&spiral) - 0.1) / 0.9 + 0.5 * spiral.labels[index] as f32;
        let (sine, cosine) = (turns * std::f32::consts::TAU).sin_cos();
        let [x, y] = [spiral.input(index)[0], spiral.input(index)[1]];
        assert!((x * sine - y * cosine).abs() < 1e-5 && x * cosine + y * sine > 0.0, "({x}, {y})");
    }
}

#[test]
fn a_batch_is_gathered_in_the_order_of_its_indices() {
    let examples = Labelled {
        inputs: vec![0.0, 1.0, 10.0, 11.0, 20.0, 21.0],
        labels: vec![5, 6, 7],
        features: 2,
    };
    assert_eq!(
        examples.gather(&[2, 0, 2]),
        (vec![20.0, 21.0, 0.0, 1.0, 20.0, 21.0], vec![7, 5, 7])
    );
    assert_eq!(examples.gather(&[]), (vec![], vec![]));
}

#[test]
fn no_samples_are_an_empty_set() {
    for dataset in GENERATED {
        assert!(made(&DataConfig { samples: 0, ..small(dataset) }).train.is_empty());
    }
}
