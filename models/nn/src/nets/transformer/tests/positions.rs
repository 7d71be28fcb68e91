//! Rotary positions.

use burn::tensor::{DType, Device, Tensor, TensorData};

use super::plain::rotated;
use super::{difference, values};
use crate::nets::transformer::Positions;

const TIME: usize = 40;
const HEAD: usize = 8;

/// The same head at every position, turned: one row a position.
fn turned(head: &[f64]) -> Vec<Vec<f64>> {
    let device = Device::flex();
    let everywhere = TensorData::new(head.repeat(TIME), [1, 1, TIME, HEAD]);
    let everywhere = Tensor::<4>::from_data(everywhere, (&device, DType::F64));
    let turned = Positions::new(TIME, HEAD, DType::F64, &device).turn(everywhere);
    values(turned).chunks(HEAD).map(<[f64]>::to_vec).collect()
}

fn query() -> Vec<f64> {
    (0..HEAD).map(|i| (1.3 * i as f64 + 0.4).sin()).collect()
}

fn key() -> Vec<f64> {
    (0..HEAD).map(|i| (0.7 * i as f64 - 1.1).cos()).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn turning_is_the_conventional_one_and_the_first_position_stays() {
    for (position, row) in turned(&query()).iter().enumerate() {
        assert!(difference(row, &rotated(&query(), position)) < 1e-14, "{position}");
    }
    assert_eq!(turned(&query())[0], query());
}

#[test]
fn turning_keeps_lengths() {
    let length = dot(&query(), &query());
    for row in turned(&query()) {
        assert!((dot(&row, &row) / length - 1.0).abs() < 1e-14);
    }
}

#[test]
fn scores_depend_on_the_distance_alone() {
    let (queries, keys) = (turned(&query()), turned(&key()));
    let mut seen = Vec::new();
    for distance in 0..TIME {
        let score = dot(&queries[distance], &keys[0]);
        for then in 1..TIME - distance {
            let other = dot(&queries[then + distance], &keys[then]);
            assert!((other - score).abs() < 1e-13, "{distance} from {then}");
        }
        // A model can tell distances apart.
        assert!(seen.iter().all(|other: &f64| (other - score).abs() > 1e-6), "{distance}");
        seen.push(score);
    }
}
