//! Handwritten digits that the program writes itself: strokes of a [glyph](glyphs), moved about as a hand
//! would, drawn with a [pen] on 28x28 pixels. Ink is 1, paper 0.

use crate::data::digits::glyphs::{Point, VARIANTS};
use crate::data::{Labelled, SplitSpec, add_pixel_noise};
use crate::random::{Stream, exact};

// One stroke a line.
#[rustfmt::skip]
mod glyphs;

pub(super) const CLASSES: usize = 10;
pub(super) const SIDE: usize = 28;
pub(super) const PIXELS: usize = SIDE * SIDE;

/// Every ten images hold each digit once, in random order.
pub(super) fn generate(jitter: f32, mut part: SplitSpec) -> Labelled {
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

fn write(digit: usize, jitter: f32, stream: &mut Stream, image: &mut [f32]) {
    let hand = Hand::new(jitter, stream);
    // With more jitter the rarer variants are more frequent; without it all digits use the first.
    let unusual = (stream.uniform() as f32) < jitter;
    let variants = VARIANTS[digit];
    let choice = stream.below(variants.len());
    for stroke in variants[if unusual { choice } else { 0 }] {
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
        draw_stroke(&points, start.max(THINNEST), end.max(THINNEST), image);
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

const RADIUS: f32 = 1.1;
const THINNEST: f32 = 0.5;

struct Hand {
    /// Turn, scale and shear about the middle of the glyph.
    linear: [[f32; 2]; 2],
    middle: Point,
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

// Strokes: smooth curves through points, drawn with a round, anti-aliased nib.

const PIECES: usize = 6;

/// Draws a curve through `points`; half its width goes from `start` to `end`, in pixels.
fn draw_stroke(points: &[Point], start: f32, end: f32, image: &mut [f32]) {
    let curve = curve(points);
    for (index, piece) in curve.windows(2).enumerate() {
        let radius = start + (end - start) * index as f32 / curve.len() as f32;
        capsule(piece[0], piece[1], radius, image);
    }
}

/// The Catmull-Rom curve through `points` (Catmull & Rom 1974), as a polyline.
fn curve(points: &[Point]) -> Vec<Point> {
    let mut line = Vec::with_capacity(points.len() * PIECES + 1);
    line.extend(points.first());
    for index in 1..points.len() {
        let (from, to) = (points[index - 1], points[index]);
        let before = points[index.saturating_sub(2)];
        let after = points[(index + 1).min(points.len() - 1)];
        for piece in 1..=PIECES {
            let t = piece as f32 / PIECES as f32;
            line.push(std::array::from_fn(|axis| {
                let (p0, p1, p2, p3) = (before[axis], from[axis], to[axis], after[axis]);
                let linear = p2 - p0;
                let square = 2.0 * p0 - 5.0 * p1 + 4.0 * p2 - p3;
                let cube = 3.0 * (p1 - p2) + p3 - p0;
                p1 + 0.5 * t * (linear + t * (square + t * cube))
            }));
        }
    }
    line
}

/// Inks every pixel whose centre is within `radius` of the segment, with an edge one pixel soft.
fn capsule(from: Point, to: Point, radius: f32, image: &mut [f32]) {
    let reach = radius + 0.5;
    let [columns, rows] = [0, 1].map(|axis| {
        let low = (from[axis].min(to[axis]) - reach).floor().clamp(0.0, SIDE as f32);
        let high = (from[axis].max(to[axis]) + reach).ceil().clamp(0.0, SIDE as f32);
        low as usize..high as usize
    });
    for row in rows {
        for column in columns.clone() {
            let centre = [column as f32 + 0.5, row as f32 + 0.5];
            let ink = (reach - distance(centre, from, to)).clamp(0.0, 1.0);
            let pixel = &mut image[row * SIDE + column];
            *pixel = pixel.max(ink);
        }
    }
}

fn distance(point: Point, from: Point, to: Point) -> f32 {
    let along = [to[0] - from[0], to[1] - from[1]];
    let offset = [point[0] - from[0], point[1] - from[1]];
    let length_squared = along[0] * along[0] + along[1] * along[1];
    let share = if length_squared > 0.0 {
        ((offset[0] * along[0] + offset[1] * along[1]) / length_squared).clamp(0.0, 1.0)
    } else {
        0.0
    };
    let [x, y] = [offset[0] - share * along[0], offset[1] - share * along[1]];
    (x * x + y * y).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::tests::{Halves, labelled};
    use crate::data::{DataConfig, Dataset, load};

    fn digits(samples: usize, noise: f32, jitter: f32) -> Halves {
        let config = DataConfig { samples, noise, jitter, ..DataConfig::new(Dataset::Digits, 1) };
        labelled(load(&config).expect("generated data cannot fail"))
    }

    /// The share of the held-out digits whose nearest class mean is that of their own class.
    fn nearest_mean_accuracy(data: &Halves) -> f32 {
        let mut means = vec![[0.0_f32; PIXELS]; CLASSES];
        // Classes are balanced, so sums stand for means up to one factor.
        for index in 0..data.train.len() {
            let mean = &mut means[data.train.labels[index] as usize];
            for (sum, pixel) in mean.iter_mut().zip(data.train.input(index)) {
                *sum += pixel * CLASSES as f32 / data.train.len() as f32;
            }
        }
        let right = (0..data.held_out.len()).filter(|&index| {
            let image = data.held_out.input(index);
            let distance = |class: &usize| -> f32 {
                means[*class].iter().zip(image).map(|(a, b)| (a - b) * (a - b)).sum()
            };
            let nearest = (0..CLASSES).min_by(|a, b| distance(a).total_cmp(&distance(b)));
            nearest == Some(data.held_out.labels[index] as usize)
        });
        right.count() as f32 / data.held_out.len() as f32
    }

    #[test]
    fn digits_can_be_told_apart_and_jitter_makes_it_harder() {
        let [none, one, three] =
            [0.0, 1.0, 3.0].map(|jitter| nearest_mean_accuracy(&digits(500, 0.1, jitter)));
        let harder = none > 0.999 && one > 0.6 && three < one - 0.2 && three > 0.15;
        assert!(harder, "{none} {one} {three}");
    }

    #[test]
    fn digits_of_a_class_are_alike_without_jitter_and_noise_and_differ_with_jitter() {
        for jitter in [0.0, 0.3] {
            let train = digits(50, 0.0, jitter).train;
            for index in 0..train.len() {
                for other in 0..index {
                    let alike = train.input(index) == train.input(other);
                    let same_class = train.labels[index] == train.labels[other];
                    assert_eq!(alike, same_class && jitter == 0.0);
                }
            }
        }
    }

    #[test]
    fn a_little_more_jitter_moves_the_same_digits_a_little() {
        let [one, more, three] = [1.0, 1.01, 3.0].map(|jitter| digits(100, 0.0, jitter).train);
        assert_eq!(one.labels, more.labels);
        let apart = |a: &Labelled, b: &Labelled| -> f32 {
            a.inputs.iter().zip(&b.inputs).map(|(a, b)| (a - b).abs()).sum()
        };
        let (little, much) = (apart(&one, &more), apart(&one, &three));
        assert!(little * 20.0 < much, "{little} {much}");
    }

    #[test]
    fn pixels_stay_between_paper_and_ink_whatever_the_knobs() {
        for (noise, jitter) in [(0.0, 0.0), (0.1, 1.0), (1.0, 3.0), (0.0, 3.0)] {
            let train = digits(100, noise, jitter).train;
            assert!(train.inputs.iter().all(|pixel| (0.0..=1.0).contains(pixel)));
        }
        let train = digits(100, 0.0, 3.0).train;
        for index in 0..train.len() {
            let (ink, label): (f32, i32) = (train.input(index).iter().sum(), train.labels[index]);
            assert!((8.0..350.0).contains(&ink), "digit {label} has {ink} pixels of ink");
        }
    }

    #[test]
    fn unturned_glyphs_lie_inside_the_image_with_a_margin() {
        let train = digits(10, 0.0, 0.0).train;
        for index in 0..train.len() {
            let image = train.input(index);
            let ink = |row: usize, column: usize| image[row * SIDE + column] > 0.0;
            for edge in 0..SIDE {
                for near in [0, 1, SIDE - 2, SIDE - 1] {
                    assert!(!ink(edge, near) && !ink(near, edge), "digit {}", train.labels[index]);
                }
            }
        }
    }

    #[test]
    fn curves_interpolate_their_points() {
        let points = [[1.0, 1.0], [4.0, 2.0], [7.0, 3.0], [3.0, 9.0]];
        let line = curve(&points);
        for (index, point) in points.iter().enumerate() {
            assert_eq!(line[index * PIECES], *point);
        }
        assert!(line[PIECES..2 * PIECES].windows(2).all(|pair| pair[1][0] > pair[0][0]));
        assert_eq!(curve(&[]), Vec::<Point>::new());
        assert_eq!(curve(&points[..1]), points[..1]);
    }

    #[test]
    fn a_horizontal_stroke_inks_as_many_rows_as_it_is_wide() {
        let mut image = [0.0; SIDE * SIDE];
        draw_stroke(&[[4.0, 14.0], [24.0, 14.0]], 1.5, 1.5, &mut image);
        let column: Vec<f32> = (0..SIDE).map(|row| image[row * SIDE + 14]).collect();
        assert!((column.iter().sum::<f32>() - 3.0).abs() < 1e-5, "{column:?}");
        assert_eq!((column[12], column[13], column[14], column[15]), (0.5, 1.0, 1.0, 0.5));
    }

    #[test]
    fn a_stroke_may_leave_the_image() {
        let mut image = [0.0; SIDE * SIDE];
        draw_stroke(&[[-50.0, -50.0], [80.0, 80.0]], 1.0, 2.0, &mut image);
        draw_stroke(&[[-50.0, 200.0], [-60.0, 210.0]], 1.0, 2.0, &mut image);
        assert_eq!(image[0], 1.0);
        assert_eq!(image[SIDE - 1], 0.0);
    }
}
