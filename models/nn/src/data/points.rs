//! Two classes of points in the plane, within about [-1, 1] before noise. Classes take turns, so that any
//! number of points is balanced.

use std::f64::consts::PI;

use super::{Labelled, Part};
use crate::random::{Stream, exact};

/// Coordinates of a point.
pub(super) const FEATURES: usize = 2;

/// How the points of a class lie.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    Spiral { turns: f32 },
    Moons,
    Circles,
    Xor,
}

pub(super) fn generate(shape: Shape, mut part: Part) -> Labelled {
    let noise = f64::from(part.noise);
    let mut inputs = Vec::with_capacity(part.samples * FEATURES);
    let mut labels = Vec::with_capacity(part.samples);
    for index in 0..part.samples {
        let class = index % 2;
        for coordinate in point(shape, class, &mut part.shape) {
            inputs.push((coordinate + noise * part.normals.normal()) as f32);
        }
        labels.push(class as i32);
    }
    Labelled { inputs, labels, features: FEATURES }
}

/// A point of `class` (0 or 1).
fn point(shape: Shape, class: usize, stream: &mut Stream) -> [f64; 2] {
    let second = class as f64;
    match shape {
        Shape::Spiral { turns } => {
            // An arm's length grows as the square of the radius: the root spreads points evenly along it.
            let along = stream.uniform().sqrt();
            // The arms would touch at the origin.
            let radius = SPIRAL_HOLE + (1.0 - SPIRAL_HOLE) * along;
            on_circle(radius, 2.0 * PI * f64::from(turns) * along + PI * second)
        }
        Shape::Moons => {
            let [x, y] = on_circle(1.0, PI * stream.uniform());
            let [x, y] = if class == 0 { [x, y] } else { [1.0 - x, 0.5 - y] };
            // Together the moons span [-1, 2] x [-0.5, 1].
            [(x - 0.5) / 1.5, (y - 0.25) / 1.5]
        }
        Shape::Circles => on_circle(1.0 - 0.5 * second, 2.0 * PI * stream.uniform()),
        Shape::Xor => {
            let right = stream.below(2) == 1;
            let [x, y] = [(); 2].map(|()| stream.uniform_in(XOR_GAP, 1.0));
            let above = right == (class == 0);
            [if right { x } else { -x }, if above { y } else { -y }]
        }
    }
}

/// Where a spiral arm starts.
const SPIRAL_HOLE: f64 = 0.1;
/// Half the width of the empty strip along both axes between the quadrants.
const XOR_GAP: f64 = 0.06;

fn on_circle(radius: f64, angle: f64) -> [f64; 2] {
    let (sine, cosine) = exact::sin_cos(angle);
    [radius * cosine, radius * sine]
}
