//! Summaries against looking at every point.

use super::*;
use crate::report::Series;

/// The same, from every point.
fn brute(points: &[(u64, f64)], places: Range<usize>, among: Among) -> Option<Summary> {
    let shown = |value: f64| match among {
        Among::All => true,
        Among::Positive => value > 0.0,
    };
    let stretch = points.get(places.clone())?;
    let kept: Vec<_> = stretch.iter().copied().filter(|p| shown(p.1)).collect();
    let values = || kept.iter().map(|p| p.1);
    let from = places.start.saturating_sub(1);
    let pairs = points[from..places.end].windows(2);
    Some(Summary {
        first: *kept.first()?,
        last: *kept.last()?,
        low: values().fold(f64::INFINITY, f64::min),
        high: values().fold(f64::NEG_INFINITY, f64::max),
        sum: values().sum(),
        count: kept.len(),
        travel: pairs.map(|pair| (pair[1].1 - pair[0].1).abs()).sum(),
    })
}

/// Whole numbers, so that sums are exact in any order.
fn numbers(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |below| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    }
}

#[test]
fn any_stretch_is_summarised_as_if_every_point_were_looked_at() {
    let mut next = numbers(3);
    for count in [0, 1, 31, 32, 33, 255, 256, 257, 2048, 2049, 5000] {
        for lowest in [-50, 1, -1000, -96] {
            let mut series = Series::default();
            for step in 0..count {
                series.push(step, next(100) as f64 + f64::from(lowest));
            }
            for _ in 0..60 {
                let (a, b) = (next(count + 1) as usize, next(count + 1) as usize);
                let places = a.min(b)..a.max(b);
                for among in [Among::All, Among::Positive] {
                    assert_eq!(
                        series.summary(places.clone(), among),
                        brute(series.points(), places.clone(), among),
                        "{places:?} of {count}, {among:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn pieces_hold_every_point_once_and_are_neither_too_few_nor_too_many() {
    let mut next = numbers(5);
    for count in [0, 1, 31, 33, 300, 5000, 40_000] {
        let mut series = Series::default();
        for step in 0..count {
            series.push(step, next(100) as f64 - 30.0);
        }
        for pieces in [1, 7, 100] {
            for among in [Among::All, Among::Positive] {
                let (a, b) = (next(count + 1) as usize, next(count + 1) as usize);
                let places = a.min(b)..a.max(b);
                let found: Vec<Summary> = series.pieces(places.clone(), pieces, among).collect();
                let whole = brute(series.points(), places.clone(), among);
                assert_eq!(found.first().map(|s| s.first), whole.map(|s| s.first));
                assert_eq!(found.last().map(|s| s.last), whole.map(|s| s.last));
                let held: usize = found.iter().map(|s| s.count).sum();
                assert_eq!(held, whole.map_or(0, |s| s.count));
                let low = found.iter().map(|s| s.low).reduce(f64::min);
                assert_eq!(low, whole.map(|s| s.low));
                let high = found.iter().map(|s| s.high).reduce(f64::max);
                assert_eq!(high, whole.map(|s| s.high));
                assert!(found.windows(2).all(|pair| pair[0].last.0 < pair[1].first.0));
                assert!(found.len() <= 32 * pieces + 2);
                let enough = places.len().min(pieces);
                assert!(among == Among::Positive || found.len() >= enough);
            }
        }
    }
}

#[test]
fn a_stretch_that_is_not_there_has_no_summary() {
    let mut series = Series::default();
    (0..100).for_each(|step| series.push(step, -1.0));
    assert_eq!(series.summary(100..200, Among::All), None);
    assert_eq!(series.summary(7..7, Among::All), None);
    assert_eq!(series.summary(0..100, Among::Positive), None);
    let beyond = series.summary(90..usize::MAX, Among::All);
    assert_eq!(beyond.map(|summary| summary.count), Some(10));
}

#[test]
fn huge_values_make_a_sum_that_is_not_finite_and_no_failure() {
    let mut series = Series::default();
    for step in 0..1000 {
        series.push(step, if step % 2 == 0 { f64::MAX } else { f64::MIN });
    }
    let summary = series.summary(0..1000, Among::All).unwrap();
    assert_eq!((summary.low, summary.high), (f64::MIN, f64::MAX));
}

#[test]
fn the_summary_of_a_million_points_looks_at_few_parts() {
    let mut series = Series::default();
    let mut levels = Levels::default();
    for step in 0..1_000_000 {
        series.push(step, 1.0);
        levels.follow(series.points());
    }
    for places in [0..1_000_000, 1..999_999, 123_457..654_321] {
        let parts = levels.parts(series.points(), places, levels.0.len());
        assert!(parts.count() < 2 * (POINTS + BLOCKS * levels.0.len()));
    }
    let blocks: usize = levels.0.iter().map(Vec::len).sum();
    assert!(blocks * size_of::<Block>() <= 1_000_000 * 16 / 7);
}
