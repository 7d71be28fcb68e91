//! Handwritten digits that the program writes itself: strokes of a [glyph](glyphs), moved about as a hand
//! would, drawn with a [pen] on 28x28 pixels. Ink is 1, paper 0.

// One stroke a line.
#[rustfmt::skip]
mod glyphs;
mod pen;

use super::{Labelled, Part, add_pixel_noise};
use crate::random::{Stream, exact};
use glyphs::{Point, VARIANTS};

/// The digits 0 to 9.
pub(super) const CLASSES: usize = 10;
/// Pixels along either side of an image.
pub(super) const SIDE: usize = 28;
/// Pixels of an image.
pub(super) const PIXELS: usize = SIDE * SIDE;

/// Every ten images hold each digit once, in random order.
pub(super) fn generate(jitter: f32, mut part: Part) -> Labelled {
    let mut inputs = vec![0.0; part.samples * PIXELS];
    let mut labels = Vec::with_capacity(part.samples);
    let mut decade: [usize; CLASSES] = std::array::from_fn(|digit| digit);
    for (index, image) in inputs.chunks_exact_mut(PIXELS).enumerate() {
        if index % CLASSES == 0 {
            part.shape.shuffle(&mut decade);
        }
        let digit = decade[index % CLASSES];
        // Variants take different numbers of draws, so each digit has a stream to itself: turning the
        // jitter up moves every digit, and makes none of them another one.
        let mut stream = Stream::new(part.shape.bits(), "digit");
        write(digit, jitter, &mut stream, image);
        add_pixel_noise(image, part.noise, &mut part.normals);
        labels.push(digit as i32);
    }
    Labelled { inputs, labels, features: PIXELS }
}

/// Writes one digit on an empty image.
fn write(digit: usize, jitter: f32, stream: &mut Stream, image: &mut [f32]) {
    let hand = Hand::new(jitter, stream);
    // The more jitter, the more writers who have a shape of their own; without it all use the first.
    let unusual = (stream.uniform() as f32) < jitter;
    let choice = stream.choice(VARIANTS[digit]).filter(|_| unusual);
    for stroke in choice.or(VARIANTS[digit].first()).copied().unwrap_or_default() {
        let mut wobble = [0.0, 0.0];
        let mut previous = None;
        let mut points = Vec::with_capacity(stroke.len());
        for &point in *stroke {
            // A point given twice is a corner, and stays one.
            if previous != Some(point) {
                wobble = [(); 2].map(|()| WOBBLE * jitter * bounded(stream));
            }
            previous = Some(point);
            points.push(hand.place([point[0] + wobble[0], point[1] + wobble[1]]));
        }
        // The pen is pressed differently at either end.
        let [start, end] =
            [(); 2].map(|()| hand.radius * (1.0 + PRESSURE * jitter * bounded(stream)));
        pen::stroke(&points, start.max(THINNEST), end.max(THINNEST), image);
    }
}

// Standard deviations at jitter 1, of draws cut off at 1.5 times that; lengths in pixels.
const TURN_RADIANS: f32 = 0.13;
const SHEAR: f32 = 0.16;
const SCALE: f32 = 0.09;
const SHIFT: f32 = 0.9;
const WOBBLE: f32 = 0.45;
const THICKNESS: f32 = 0.18;
const PRESSURE: f32 = 0.1;

/// Half the width of a stroke without jitter.
const RADIUS: f32 = 1.1;
/// Half the width of the thinnest stroke.
const THINNEST: f32 = 0.5;

/// How one digit as a whole is written.
struct Hand {
    /// Turn, scale and shear about the middle of the glyph.
    linear: [[f32; 2]; 2],
    /// Where the middle of the glyph lies on the image.
    middle: Point,
    /// Half the width of a stroke.
    radius: f32,
}

impl Hand {
    fn new(jitter: f32, stream: &mut Stream) -> Self {
        let mut draw = |deviation: f32| deviation * jitter * bounded(stream);
        let (sine, cosine) = exact::sin_cos(f64::from(draw(TURN_RADIANS)));
        let (sine, cosine) = (sine as f32, cosine as f32);
        let shear = draw(SHEAR);
        let [wide, tall] = [(); 2].map(|()| 1.0 + draw(SCALE));
        let middle = [(); 2].map(|()| SIDE as f32 / 2.0 + draw(SHIFT));
        let radius = RADIUS * (1.0 + draw(THICKNESS));
        // Rotation times shear times scale.
        let linear = [
            [cosine * wide, (cosine * shear - sine) * tall],
            [sine * wide, (sine * shear + cosine) * tall],
        ];
        Self { linear, middle, radius }
    }

    fn place(&self, [x, y]: Point) -> Point {
        let (x, y) = (x - glyphs::WIDTH / 2.0, y - glyphs::HEIGHT / 2.0);
        let [[a, b], [c, d]] = self.linear;
        [self.middle[0] + a * x + b * y, self.middle[1] + c * x + d * y]
    }
}

/// A normal deviate cut off at 1.5, so that most digits can still be read at the largest jitter.
fn bounded(stream: &mut Stream) -> f32 {
    stream.normal().clamp(-1.5, 1.5) as f32
}

#[cfg(test)]
mod tests;
