//! Properties of rounding on values that look random, and agreement with the plain way to do it.

use crate::quantizer::levels::{nearest, nearest_of_sorted};
use crate::quantizer::*;
use mlsys_lab::random::unit;

/// Values around zero, a few outliers, and some exact zeros.
fn values(seed: u64, count: usize) -> Vec<f32> {
    let value = |i: u64| {
        let sum: f64 = (0..4).map(|part| unit(seed, 4 * i + part)).sum();
        let far = if i.is_multiple_of(37) { 5.0 } else { 1.0 };
        if i.is_multiple_of(11) { 0.0 } else { ((sum - 1.9) * far) as f32 }
    };
    (0..count as u64).map(value).collect()
}

fn granularities() -> [Granularity; 4] {
    [Granularity::Tensor, Granularity::Channel, Granularity::Group(4), Granularity::Group(7)]
}

/// Every way to round a matrix that the tests go through.
fn all_ways(weights: &[f32], matrix: Matrix) -> Vec<(String, Quantized)> {
    let mut all = Vec::new();
    for granularity in granularities() {
        for scheme in Scheme::ALL {
            for bits in 2..=8 {
                let name = format!("{scheme:?} {bits} {granularity:?}");
                all.push((name, Quantized::linear(weights, matrix, bits, scheme, granularity)));
            }
        }
        all.push((format!("nf4 {granularity:?}"), Quantized::nf4(weights, matrix, granularity)));
    }
    all
}

#[test]
fn each_bit_halves_the_rounding_error() {
    let weights = values(7, 40 * 3);
    let matrix = Matrix::by_inputs(40, 3);
    for scheme in Scheme::ALL {
        let worst = |bits| {
            let rounded = Quantized::linear(&weights, matrix, bits, scheme, Granularity::Tensor);
            assert_eq!(rounded.storage().bits, bits);
            let off = weights.iter().zip(&rounded.back);
            let off = off.map(|(weight, back)| f64::from((weight - back).abs()));
            off.fold(0.0, f64::max)
        };
        let most = weights.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
        for bits in 9..=31 {
            // Half a step, and the rounding of a float, of its scale and of their product.
            let step = 2.0 * f64::from(most) / 2.0_f64.powi(bits as i32 - 1);
            let floats = 3.0 * f64::from(most * f32::EPSILON);
            assert!(worst(bits) <= step / 2.0 + floats, "{scheme:?} {bits}");
        }
        assert!(worst(16) > 10.0 * worst(20) && worst(20) > 4.0 * worst(24), "{scheme:?}");
    }
}

#[test]
fn zero_comes_back_as_zero() {
    let weights = values(1, 20 * 6);
    for (name, rounded) in all_ways(&weights, Matrix::by_inputs(20, 6)) {
        for (weight, back) in weights.iter().zip(&rounded.back) {
            assert!(*weight != 0.0 || *back == 0.0, "{name}: {back}");
        }
    }
}

#[test]
fn unclipped_error_is_at_most_half_a_step() {
    let weights = values(2, 20 * 6);
    for (name, rounded) in all_ways(&weights, Matrix::by_outputs(20, 6)) {
        let noise = rounded.noise(&weights);
        assert!(noise.worst <= 1.0 + 1e-5, "{name}: {}", noise.worst);
        assert!(noise.worst > 0.5, "{name}: {}", noise.worst);
        // Only the symmetric integers, without one for the largest value, and affine ones, with the zero moved to an
        // integer, cut anything off, and no more than one step of it.
        let cuts = !(name.starts_with("SymmetricRestricted") || name.starts_with("nf4"));
        assert!(cuts || noise.clipped == 0, "{name}: {}", noise.clipped);
        for (index, (weight, back)) in weights.iter().zip(&rounded.back).enumerate() {
            let step = rounded.levels_of(index).unwrap().step(*weight);
            assert!(f64::from((weight - back).abs()) <= step * 1.00001, "{name}: {weight} {back}");
        }
    }
}

#[test]
fn larger_values_come_back_no_smaller() {
    for scheme in Scheme::ALL {
        for bits in 2..=8 {
            let grid = Grid::over((-1.3, 0.7), bits, scheme);
            let backs: Vec<f32> = (-200..=200).map(|i| grid.round(i as f32 / 100.0)).collect();
            assert!(backs.is_sorted(), "{scheme:?} {bits}");
        }
    }
    let nf4 = Levels::Listed(Listed::nf4(1.5));
    let back = |i: i32| nf4.value(nf4.code(i as f32 / 100.0));
    assert!((-200..=200).map(back).is_sorted());
}

#[test]
fn what_came_back_comes_back_unchanged() {
    let weights = values(3, 20 * 6);
    for (name, rounded) in all_ways(&weights, Matrix::by_inputs(20, 6)) {
        for (index, (code, back)) in rounded.codes.iter().zip(&rounded.back).enumerate() {
            let levels = rounded.levels_of(index).unwrap();
            assert_eq!(levels.code(*back), *code, "{name}: {back}");
            assert_eq!(levels.value(*code), *back, "{name}");
        }
    }
    // Without a level that is given up, the range is that of before as well.
    let matrix = Matrix::by_inputs(20, 6);
    let once =
        Quantized::linear(&weights, matrix, 4, Scheme::SymmetricRestricted, Granularity::Channel);
    let twice =
        Quantized::linear(&once.back, matrix, 4, Scheme::SymmetricRestricted, Granularity::Channel);
    assert_eq!(once.codes, twice.codes);
}

#[test]
fn a_group_is_rounded_as_its_values_alone() {
    let (inputs, outputs) = (10, 3);
    for matrix in [Matrix::by_inputs(inputs, outputs), Matrix::by_outputs(inputs, outputs)] {
        let weights = values(4, inputs * outputs);
        let size = 4;
        let whole =
            Quantized::linear(&weights, matrix, 3, Scheme::Affine, Granularity::Group(size));
        assert_eq!(whole.levels.len(), outputs * 3);
        for output in 0..outputs {
            for begin in (0..inputs).step_by(size) {
                let places: Vec<usize> = (begin..inputs.min(begin + size))
                    .map(|input| matrix.index(input, output))
                    .collect();
                let own: Vec<f32> = places.iter().map(|at| weights[*at]).collect();
                let alone = Matrix::by_outputs(own.len(), 1);
                let alone = Quantized::linear(&own, alone, 3, Scheme::Affine, Granularity::Tensor);
                let codes: Vec<i32> = places.iter().map(|at| whole.codes[*at]).collect();
                assert_eq!(codes, alone.codes);
                let group = whole.group(places[0]);
                assert_eq!(whole.scales()[group], alone.scales()[0]);
            }
        }
    }
}

#[test]
fn places_in_a_matrix_and_back() {
    for matrix in [Matrix::by_inputs(5, 3), Matrix::by_outputs(5, 3)] {
        for index in 0..15 {
            let (input, output) = matrix.place(index);
            assert!(input < 5 && output < 3);
            assert_eq!(matrix.index(input, output), index);
        }
    }
}

#[test]
fn halving_finds_what_looking_at_every_level_finds() {
    for seed in 0..20 {
        let mut levels: Vec<f64> = (0..9).map(|i| (unit(seed, i) * 16.0).round() / 4.0).collect();
        levels.sort_by(f64::total_cmp);
        for i in 0..200 {
            // Quarters and eighths meet levels and the middles between them.
            let value = f64::from(i) / 8.0 - 10.0;
            assert_eq!(
                nearest_of_sorted(value, &levels),
                nearest(value, &levels),
                "{value} {levels:?}"
            );
        }
        // So far away that all distances round to the same.
        assert_eq!(nearest_of_sorted(1e30, &levels), nearest(1e30, &levels));
    }
}

#[test]
fn sorted_clustering_equals_lloyds() {
    for seed in 0..5 {
        let weights: Vec<f64> = values(seed, 300).iter().map(|x| f64::from(*x)).collect();
        let start = Codebook::spread(&weights, 6);
        let mut plain = start.clone();
        for _ in 0..10 {
            let own: Vec<usize> = weights.iter().map(|w| nearest(*w, &plain)).collect();
            for (at, centroid) in plain.iter_mut().enumerate() {
                let members: Vec<f64> =
                    weights.iter().zip(&own).filter(|(_, i)| **i == at).map(|(w, _)| *w).collect();
                if !members.is_empty() {
                    *centroid = members.iter().sum::<f64>() / members.len() as f64;
                }
            }
        }
        let fitted = Codebook::fit(&weights, start.clone(), 10);
        for (quick, slow) in fitted.centroids.iter().zip(&plain) {
            assert!((quick - slow).abs() < 1e-9, "{quick} {slow}");
        }
        // From the same centroids in another order, the same clusters.
        let turned = start.into_iter().rev().collect();
        let turned = Codebook::fit(&weights, turned, 10);
        for (a, b) in fitted.centroids.iter().rev().zip(&turned.centroids) {
            assert!((a - b).abs() < 1e-9, "{a} {b}");
        }
    }
}

#[test]
fn clusters_beat_even_levels_of_as_many_bits() {
    let weights = values(6, 40 * 8);
    let matrix = Matrix::by_inputs(40, 8);
    let even =
        Quantized::linear(&weights, matrix, 3, Scheme::SymmetricRestricted, Granularity::Tensor);
    let shared = Quantized::kmeans(&weights, matrix, 8, 50);
    let [even, shared] = [even, shared].map(|q| q.noise(&weights).sqnr_db().unwrap());
    assert!(shared > even + 3.0, "{shared} {even}");
}

#[test]
fn tuned_centroids_move_the_weights_that_share_them() {
    let weights = [0.0_f32, 0.1, 1.0, 1.1];
    let shared = Quantized::kmeans(&weights, Matrix::by_inputs(2, 2), 2, 10);
    assert_eq!(shared.codes, [0, 0, 1, 1]);
    let tuned = shared.clone().with_centroids(vec![0.25, 2.0]);
    assert_eq!(tuned.back, [0.25, 0.25, 2.0, 2.0]);
    assert_eq!(tuned.codes, shared.codes);
    // Of another number of centroids, nothing.
    assert_eq!(shared.clone().with_centroids(vec![1.0]), shared);
}

#[test]
fn six_decibels_per_bit() {
    let weights = values(7, 200 * 10);
    let matrix = Matrix::by_inputs(200, 10);
    let measured = |bits: u32| {
        let scheme = Scheme::SymmetricRestricted;
        let rounded = Quantized::linear(&weights, matrix, bits, scheme, Granularity::Channel);
        let noise = rounded.noise(&weights);
        (noise.sqnr_db().unwrap(), noise.predicted_db().unwrap())
    };
    for bits in 4..8 {
        let ((own, predicted), (more, _)) = (measured(bits), measured(bits + 1));
        assert!((own - predicted).abs() < 1.0, "{bits}: {own} {predicted}");
        assert!((5.0..7.0).contains(&(more - own)), "{bits}: {own} {more}");
    }
}

#[test]
fn stored_bytes_are_counted_by_the_scheme() {
    let weights = values(8, 784 * 128);
    let matrix = Matrix::by_inputs(784, 128);
    for (bits, scheme, granularity, bytes) in [
        (8, Scheme::SymmetricRestricted, Granularity::Channel, 784 * 128 + 4 * 128),
        (4, Scheme::SymmetricRestricted, Granularity::Tensor, 784 * 64 + 4),
        (4, Scheme::Affine, Granularity::Channel, 784 * 64 + 8 * 128),
        (4, Scheme::Symmetric, Granularity::Group(32), 784 * 64 + 4 * 128 * 25),
        (3, Scheme::Symmetric, Granularity::Channel, 784 * 48 + 4 * 128),
    ] {
        let rounded = Quantized::linear(&weights, matrix, bits, scheme, granularity);
        assert_eq!(rounded.storage().bytes(), bytes, "{bits} {scheme:?} {granularity:?}");
    }
    let shared = Quantized::kmeans(&weights, matrix, 16, 1).storage();
    assert_eq!(shared.bytes(), 784 * 64 + 4 * 16);
    let nf4 = Quantized::nf4(&weights, matrix, Granularity::Group(56)).storage();
    assert_eq!(nf4.bytes(), 784 * 64 + 4 * 128 * 14);
    // 4 bits and a scale of 32 for every 32: as kind quantized-storage has it.
    let even = Quantized::linear(
        &weights[..320],
        Matrix::by_inputs(32, 10),
        4,
        Scheme::Symmetric,
        Granularity::Group(32),
    );
    assert_eq!(even.storage().bits_per_weight(), 5.0);
}

#[test]
fn whatever_comes_is_answered() {
    let odd = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, -1e-45, 0.0];
    for weights in [&odd[..], &odd[4..], &[0.0; 6], &[]] {
        for matrix in [Matrix::by_inputs(3, 2), Matrix::by_outputs(3, 2), Matrix::by_inputs(0, 0)] {
            for (_, rounded) in all_ways(weights, matrix) {
                let noise = rounded.noise(weights);
                assert!(noise.signal.is_finite() && noise.error.is_finite());
                let _ = (noise.sqnr_db(), rounded.storage().bits_per_weight());
            }
            for clusters in [0, 1, 5] {
                let shared = Quantized::kmeans(weights, matrix, clusters, 3);
                assert_eq!(shared.back.len(), weights.len());
            }
        }
    }
    for bits in [0, 1, 2, 16, 40] {
        assert_eq!(Grid::over((-1.0, 1.0), bits, Scheme::Affine).round(0.0), 0.0);
    }
}

#[test]
fn many_weights_keep_sorted_levels() {
    // Large enough that a quadratic way to cluster would be felt.
    let weights = values(9, 100_352);
    let matrix = Matrix::by_inputs(784, 128);
    let shared = Quantized::kmeans(&weights, matrix, 256, 20);
    let levels = shared.levels[0].all();
    assert_eq!(levels.len(), 256);
    assert!(levels.is_sorted());
    // Iterations begin with even levels and never make them worse.
    let even = Quantized::linear(&weights, matrix, 8, Scheme::Affine, Granularity::Tensor);
    let [even, shared] = [even, shared].map(|q| q.noise(&weights).sqnr_db().unwrap());
    assert!(shared > even - 0.1, "{shared} {even}");
}
