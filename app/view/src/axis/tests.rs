use super::*;
use crate::glyphs::GlyphSet;

fn labels(axis: &Axis, wanted: u16, unit: Option<&str>) -> Vec<String> {
    let ticks = axis.ticks(wanted, unit, &Glyphs::new(GlyphSet::Unicode));
    ticks.into_iter().map(|(_, label)| label).collect()
}

#[test]
fn ticks_are_round() {
    let linear = |low, high| Axis::around(low, high, Scale::Linear);
    assert_eq!(labels(&linear(0.02, 0.7), 4, None), ["0.0", "0.2", "0.4", "0.6"]);
    assert_eq!(labels(&linear(0.0, 0.012), 3, Some("seconds")), ["0 ms", "5 ms", "10 ms"]);
    assert_eq!(labels(&linear(1.8, 2.7), 2, Some("nats")), ["2.0", "2.5"]);
    assert_eq!(labels(&linear(-1.0, 1.0), 4, Some("nats")), ["-1.0", "-0.5", "0.0", "0.5", "1.0"]);
    let short = Axis::over(4e-6, 20e-6, Scale::Log);
    assert!(labels(&short, 1, Some("s")).len() >= 2);
    for (low, ratio) in
        (1..30).flat_map(|low| [4.0, 5.0, 7.0, 9.0].map(|r| (0.33 * f64::from(low), r)))
    {
        let axis = Axis::over(low * 1e-6, low * ratio * 1e-6, Scale::Log);
        assert!(labels(&axis, 2, Some("s")).len() >= 2, "{low} to {}", low * ratio);
    }
    let log = Axis::around(3e-4, 0.9, Scale::Log);
    assert_eq!(labels(&log, 5, None), ["1e-4", "0.001", "0.01", "0.1", "1"]);
    assert_eq!(labels(&Axis::around(1.0, 8.0, Scale::Log), 4, None), ["1", "2", "5", "10"]);
    let short = Axis::around(1.93, 2.62, Scale::Log);
    assert!((short.low - 1.9).abs() + (short.high - 2.7).abs() < 1e-9, "{short:?}");
    assert_eq!(labels(&short, 4, Some("nats")), ["2.0", "2.2", "2.4", "2.6"]);
    assert_eq!(labels(&Axis::around(2e11, 2e13, Scale::Log), 2, Some("flop/s")), ["1 T", "10 T"]);
    assert_eq!(labels(&linear(0.0, 4e9), 2, Some("bytes/s")), ["0 G", "2 G", "4 G"]);
    assert_eq!(labels(&Axis::steps(1, 400), 4, None), ["0", "100", "200", "300", "400"]);
    assert_eq!(labels(&Axis::steps(1, 3), 9, None), ["1", "2", "3"]);
    assert_eq!(labels(&linear(0.48, 0.97), 4, None), ["0.6", "0.8"]);
}

#[test]
fn a_dot_is_in_the_cell_of_its_mark() {
    for cells in 1..200_u16 {
        for place in 0..=1000 {
            let share = f64::from(place) / 1000.0;
            let dot = dot_at(share, 4 * usize::from(cells));
            assert_eq!(dot / 4, usize::from(cell_at(share, cells)), "{share} of {cells}");
        }
    }
    assert_eq!(dot_at(0.5, 0), 0);
}

#[test]
fn names_stand_at_whole_numbers_and_long_ones_are_cut() {
    let names = ["GPU", "inference server on two chips"].map(str::to_owned);
    let axis = Axis::of_names(&names);
    assert_eq!(labels(&axis, 1, None), ["GPU", "inference server on two c…"]);
    assert_eq!(axis.share(0.0), Some(0.25));
    assert_eq!(axis.share(1.0), Some(0.75));
    assert!(labels(&Axis::of_names(&[]), 3, None).len() <= 32);
}

#[test]
fn every_pair_of_bounds_makes_an_axis_with_few_ticks() {
    let bounds = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        1e-320,
        1e308,
        -1e308,
        f64::MAX,
        f64::MIN,
        f64::NAN,
        f64::INFINITY,
        0.1 + 0.2,
        0.3,
        1e-12,
        1e15,
        1e15 + 1.0,
    ];
    for low in bounds {
        for high in bounds {
            for scale in [Scale::Linear, Scale::Log] {
                let axis = Axis::around(low, high, scale);
                assert!(axis.low < axis.high, "{low} {high} {axis:?}");
                assert!(labels(&axis, 5, Some("seconds")).len() <= 32);
                for value in bounds {
                    let share = axis.share(value);
                    assert!(share.is_none_or(|s| (0.0..=1.0).contains(&s)), "{axis:?} {value}");
                }
            }
        }
    }
}
