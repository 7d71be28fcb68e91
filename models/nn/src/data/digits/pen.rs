//! Strokes: smooth curves through points, drawn with a round, anti-aliased nib.

use super::SIDE;
use super::glyphs::Point;

/// Straight pieces between two points of a curve.
const PIECES: usize = 6;

/// Draws a curve through `points`; half its width goes from `start` to `end`, in pixels.
pub(super) fn stroke(points: &[Point], start: f32, end: f32, image: &mut [f32]) {
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

/// The distance of a point from a segment.
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

    #[test]
    fn a_curve_goes_through_its_points_and_is_straight_where_they_are() {
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
        stroke(&[[4.0, 14.0], [24.0, 14.0]], 1.5, 1.5, &mut image);
        let column: Vec<f32> = (0..SIDE).map(|row| image[row * SIDE + 14]).collect();
        assert!((column.iter().sum::<f32>() - 3.0).abs() < 1e-5, "{column:?}");
        assert_eq!((column[12], column[13], column[14], column[15]), (0.5, 1.0, 1.0, 0.5));
    }

    #[test]
    fn a_stroke_may_leave_the_image() {
        let mut image = [0.0; SIDE * SIDE];
        stroke(&[[-50.0, -50.0], [80.0, 80.0]], 1.0, 2.0, &mut image);
        stroke(&[[-50.0, 200.0], [-60.0, 210.0]], 1.0, 2.0, &mut image);
        assert_eq!(image[0], 1.0);
        assert_eq!(image[SIDE - 1], 0.0);
    }
}
