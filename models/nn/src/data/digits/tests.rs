use super::*;
use crate::data::tests::labelled;
use crate::data::{DataConfig, Dataset, Halves, Labelled, load};

fn digits(samples: usize, noise: f32, jitter: f32) -> Halves<Labelled> {
    let config = DataConfig { samples, noise, jitter, ..DataConfig::new(Dataset::Digits, 1) };
    labelled(load(&config).expect("generated data cannot fail"))
}

/// The share of the held-out digits whose nearest class mean is that of their own class.
fn nearest_mean_accuracy(data: &Halves<Labelled>) -> f32 {
    let mut means = vec![[0.0_f32; PIXELS]; CLASSES];
    // Classes are balanced, so sums stand for means up to one factor.
    for index in 0..data.train.len() {
        let mean = &mut means[data.train.labels[index] as usize];
        for (sum, pixel) in mean.iter_mut().zip(data.train.input(index)) {
            *sum += pixel * CLASSES as f32 / data.train.len() as f32;
        }
    }
    let distance = |mean: &[f32; PIXELS], image: &[f32]| -> f32 {
        mean.iter().zip(image).map(|(a, b)| (a - b) * (a - b)).sum()
    };
    let right = (0..data.held_out.len()).filter(|&index| {
        let image = data.held_out.input(index);
        let nearest = (0..CLASSES)
            .min_by(|&a, &b| distance(&means[a], image).total_cmp(&distance(&means[b], image)));
        nearest == Some(data.held_out.labels[index] as usize)
    });
    right.count() as f32 / data.held_out.len() as f32
}

#[test]
fn digits_can_be_told_apart_and_jitter_makes_it_harder() {
    let [none, one, three] =
        [0.0, 1.0, 3.0].map(|jitter| nearest_mean_accuracy(&digits(500, 0.1, jitter)));
    assert!(none > 0.999 && one > 0.6 && three < one - 0.2 && three > 0.15, "{none} {one} {three}");
}

#[test]
fn without_jitter_and_noise_every_digit_of_a_class_is_alike() {
    let train = digits(50, 0.0, 0.0).train;
    for index in 0..train.len() {
        for other in 0..index {
            let alike = train.input(index) == train.input(other);
            assert_eq!(alike, train.labels[index] == train.labels[other]);
        }
    }
}

#[test]
fn jitter_makes_every_digit_of_a_class_different() {
    let train = digits(50, 0.0, 0.3).train;
    for index in 0..train.len() {
        assert!((0..index).all(|other| train.input(index) != train.input(other)));
    }
}

#[test]
fn a_little_more_jitter_moves_the_same_digits_a_little() {
    let [one, more, three] = [1.0, 1.01, 3.0].map(|jitter| digits(100, 0.0, jitter).train);
    assert_eq!(one.labels, more.labels);
    let apart = |a: &Labelled, b: &Labelled| {
        a.inputs.iter().zip(&b.inputs).map(|(a, b)| (a - b).abs()).sum::<f32>()
            / a.inputs.len() as f32
    };
    assert!(
        apart(&one, &more) * 20.0 < apart(&one, &three),
        "{} {}",
        apart(&one, &more),
        apart(&one, &three)
    );
}

#[test]
fn pixels_stay_between_paper_and_ink_whatever_the_knobs() {
    for (noise, jitter) in [(0.0, 0.0), (0.1, 1.0), (1.0, 3.0), (0.0, 3.0)] {
        let train = digits(100, noise, jitter).train;
        assert!(train.inputs.iter().all(|pixel| (0.0..=1.0).contains(pixel)));
    }
    let train = digits(100, 0.0, 3.0).train;
    for index in 0..train.len() {
        let ink: f32 = train.input(index).iter().sum();
        assert!(
            (8.0..350.0).contains(&ink),
            "digit {} has {ink} pixels of ink",
            train.labels[index]
        );
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
