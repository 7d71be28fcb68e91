//! Summaries of stretches of a series, from blocks of points and blocks of blocks.

use std::ops::Range;

/// What a stretch of points holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Step and value of the first point.
    pub first: (u64, f64),
    /// Step and value of the last point.
    pub last: (u64, f64),
    pub low: f64,
    pub high: f64,
    /// All values added up; not finite where they are too large for that.
    pub sum: f64,
    pub count: usize,
    /// How far all values of the stretch, positive or not, go up and down, from the point before the stretch on.
    pub travel: f64,
}

/// Which points of a stretch are summarised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Among {
    All,
    /// Those with a value above zero: the ones a logarithmic axis can show.
    Positive,
}

/// Points in the smallest block.
const POINTS: usize = 32;
/// Blocks in a block of the level above.
const BLOCKS: usize = 8;

/// The summaries of whole blocks, the smallest blocks first.
#[derive(Clone, Debug, Default)]
pub(super) struct Levels(Vec<Vec<Block>>);

/// What a block of points holds: 56 bytes for 32 points, and a seventh more for the levels above.
#[derive(Clone, Copy, Debug)]
struct Block {
    low: f64,
    high: f64,
    sum: f64,
    travel: f64,
    positive_low: f64,
    positive_sum: f64,
    positives: usize,
}

const NOTHING: Block = Block {
    low: f64::INFINITY,
    high: f64::NEG_INFINITY,
    sum: 0.0,
    travel: 0.0,
    positive_low: f64::INFINITY,
    positive_sum: 0.0,
    positives: 0,
};

impl Block {
    /// With one more point, and the value before it.
    fn with(self, before: Option<f64>, value: f64) -> Self {
        let positive = value > 0.0;
        let travel = before.map_or(0.0, |before| (value - before).abs());
        self.and(Self {
            low: value,
            high: value,
            sum: value,
            travel,
            positive_low: if positive { value } else { f64::INFINITY },
            positive_sum: if positive { value } else { 0.0 },
            positives: usize::from(positive),
        })
    }

    /// Together with the block after it.
    fn and(self, next: Self) -> Self {
        Self {
            low: self.low.min(next.low),
            high: self.high.max(next.high),
            sum: self.sum + next.sum,
            travel: self.travel + next.travel,
            positive_low: self.positive_low.min(next.positive_low),
            positive_sum: self.positive_sum + next.positive_sum,
            positives: self.positives + next.positives,
        }
    }
}

/// A part of a stretch: a whole block, or one point.
#[derive(Clone, Copy)]
struct BlockPart {
    from: usize,
    /// The level of the block; absent for a point.
    level: Option<usize>,
    holds: Block,
}

impl BlockPart {
    fn has_positive(&self) -> bool {
        self.holds.positives > 0
    }
}

impl Levels {
    /// Takes in that a point has been added.
    #[inline]
    pub(super) fn follow(&mut self, points: &[(u64, f64)]) {
        if points.len().is_multiple_of(POINTS) {
            self.add_block(points);
        }
    }

    /// Takes in the block that the points end with.
    fn add_block(&mut self, points: &[(u64, f64)]) {
        let (before, new) = points.split_at(points.len().saturating_sub(POINTS));
        let mut before = before.last().map(|(_, value)| *value);
        let mut block = NOTHING;
        for &(_, value) in new {
            block = block.with(before, value);
            before = Some(value);
        }
        for level in 0.. {
            if level == self.0.len() {
                self.0.push(Vec::new());
            }
            let blocks = &mut self.0[level];
            blocks.push(block);
            if !blocks.len().is_multiple_of(BLOCKS) {
                return;
            }
            let whole = &blocks[blocks.len() - BLOCKS..];
            block = whole.iter().copied().fold(NOTHING, Block::and);
        }
    }

    /// What a stretch of the points holds.
    pub(super) fn summary(
        &self,
        points: &[(u64, f64)],
        places: Range<usize>,
        among: Among,
    ) -> Option<Summary> {
        let places = places.start..places.end.min(points.len());
        let mut whole = NOTHING;
        let mut positive = (None, None);
        for part in self.parts(points, places.clone(), self.0.len()) {
            whole = whole.and(part.holds);
            if part.has_positive() {
                positive = (positive.0.or(Some(part)), Some(part));
            }
        }
        // Where all values are positive, both kinds of summary are the same.
        let every = among == Among::All || whole.positives == places.len();
        let (first, last, low, sum, count) = if every {
            (places.start, places.end.checked_sub(1)?, whole.low, whole.sum, places.len())
        } else {
            (
                self.end(points, positive.0?, |mut parts| parts.find(BlockPart::has_positive))?,
                self.end(points, positive.1?, |parts| {
                    parts.filter(BlockPart::has_positive).last()
                })?,
                whole.positive_low,
                whole.positive_sum,
                whole.positives,
            )
        };
        if places.is_empty() {
            return None;
        }
        Some(Summary {
            first: *points.get(first)?,
            last: *points.get(last)?,
            low,
            high: whole.high,
            sum,
            count,
            travel: whole.travel,
        })
    }

    /// A stretch as summaries of blocks of one level, or of single points where there are too few of them.
    pub(super) fn pieces<'a>(
        &'a self,
        points: &'a [(u64, f64)],
        places: Range<usize>,
        pieces: usize,
        among: Among,
    ) -> impl Iterator<Item = Summary> + 'a {
        let places = places.start.min(points.len())..places.end.min(points.len());
        let enough = |level: &usize| size(*level).saturating_mul(pieces) <= places.len();
        let wide = (0..self.0.len()).take_while(enough).last().map_or(1, size);
        let mut from = places.start;
        std::iter::from_fn(move || {
            while from < places.end {
                let here = from..((from / wide + 1) * wide).min(places.end);
                from = here.end;
                let found = self.summary(points, here, among);
                if found.is_some() {
                    return found;
                }
            }
            None
        })
    }

    /// Goes down from a part to one of its points, choosing at every level.
    fn end<'a>(
        &'a self,
        points: &'a [(u64, f64)],
        mut part: BlockPart,
        choose: impl Fn(Box<dyn Iterator<Item = BlockPart> + 'a>) -> Option<BlockPart>,
    ) -> Option<usize> {
        while let Some(level) = part.level {
            let places = part.from..part.from + size(level);
            part = choose(Box::new(self.parts(points, places, level)))?;
        }
        Some(part.from)
    }

    /// A stretch as the fewest blocks of the levels below `top`, and points at its ends.
    fn parts<'a>(
        &'a self,
        points: &'a [(u64, f64)],
        places: Range<usize>,
        top: usize,
    ) -> impl Iterator<Item = BlockPart> + 'a {
        let mut from = places.start;
        std::iter::from_fn(move || {
            if from >= places.end {
                return None;
            }
            let whole = |level: &usize| {
                from.is_multiple_of(size(*level)) && from + size(*level) <= places.end
            };
            let level = (0..top).take_while(whole).last();
            let found = level.and_then(|level| {
                let block = self.0.get(level)?.get(from / size(level))?;
                Some((level, *block))
            });
            let part = match found {
                Some((level, holds)) => BlockPart { from, level: Some(level), holds },
                None => BlockPart { from, level: None, holds: point(points, NOTHING, from) },
            };
            from += part.level.map_or(1, size);
            Some(part)
        })
    }
}

/// Points in a block of a level.
fn size(level: usize) -> usize {
    // Levels grow with the logarithm of the points there are, so this stays far from overflow.
    POINTS * BLOCKS.pow(level as u32)
}

/// A block with the point at a place taken in.
fn point(points: &[(u64, f64)], block: Block, place: usize) -> Block {
    let before = place.checked_sub(1).and_then(|before| points.get(before));
    let value = points.get(place).map_or(0.0, |(_, value)| *value);
    block.with(before.map(|(_, value)| *value), value)
}

#[cfg(test)]
mod tests {
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
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        }
    }

    #[test]
    fn summaries_match_a_scan_of_all_points() {
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
    fn pieces_partition_the_points() {
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
                    let found: Vec<Summary> =
                        series.pieces(places.clone(), pieces, among).collect();
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
    fn an_empty_stretch_has_no_summary() {
        let mut series = Series::default();
        (0..100).for_each(|step| series.push(step, -1.0));
        assert_eq!(series.summary(100..200, Among::All), None);
        assert_eq!(series.summary(7..7, Among::All), None);
        assert_eq!(series.summary(0..100, Among::Positive), None);
        let beyond = series.summary(90..usize::MAX, Among::All);
        assert_eq!(beyond.map(|summary| summary.count), Some(10));
    }

    #[test]
    fn huge_values_overflow_to_infinity() {
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
}
