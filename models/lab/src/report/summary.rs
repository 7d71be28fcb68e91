//! Summaries of stretches of a series, from blocks of points and blocks of blocks.

#[cfg(test)]
mod tests;

use std::ops::Range;

/// What a stretch of points holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Step and value of the first point.
    pub first: (u64, f64),
    /// Step and value of the last point.
    pub last: (u64, f64),
    /// The smallest value.
    pub low: f64,
    /// The largest value.
    pub high: f64,
    /// All values added up; not finite where they are too large for that.
    pub sum: f64,
    /// How many points there are.
    pub count: usize,
    /// How far all values of the stretch, positive or not, go up and down, from the point before the stretch on.
    pub travel: f64,
}

/// Which points of a stretch are summarised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Among {
    /// Every one.
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
struct Part {
    from: usize,
    /// The level of the block; absent for a point.
    level: Option<usize>,
    holds: Block,
}

impl Part {
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
        let (first, last, low, sum, count) = match among {
            Among::All => {
                (places.start, places.end.checked_sub(1)?, whole.low, whole.sum, places.len())
            }
            Among::Positive => (
                self.end(points, positive.0?, |mut parts| parts.find(Part::has_positive))?,
                self.end(points, positive.1?, |parts| parts.filter(Part::has_positive).last())?,
                whole.positive_low,
                whole.positive_sum,
                whole.positives,
            ),
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
        let level = (0..self.0.len()).take_while(enough).last();
        let wide = level.map_or(1, size);
        let mut from = places.start;
        std::iter::from_fn(move || {
            while from < places.end {
                let until = (from / wide + 1) * wide;
                let here = from..until.min(places.end);
                let block = level
                    .filter(|_| here.len() == wide)
                    .and_then(|level| self.0.get(level)?.get(from / wide).copied());
                from = here.end;
                let found = match block {
                    Some(holds) => self.whole(points, &here, holds, among),
                    None => self.summary(points, here, among),
                };
                if found.is_some() {
                    return found;
                }
            }
            None
        })
    }

    /// What a whole block holds.
    fn whole(
        &self,
        points: &[(u64, f64)],
        places: &Range<usize>,
        holds: Block,
        among: Among,
    ) -> Option<Summary> {
        let every = among == Among::All || holds.positives == places.len();
        if !every {
            return match holds.positives {
                0 => None,
                _ => self.summary(points, places.clone(), among),
            };
        }
        Some(Summary {
            first: *points.get(places.start)?,
            last: *points.get(places.end.checked_sub(1)?)?,
            low: holds.low,
            high: holds.high,
            sum: holds.sum,
            count: places.len(),
            travel: holds.travel,
        })
    }

    /// Goes down from a part to one of its points, choosing at every level.
    fn end<'a>(
        &'a self,
        points: &'a [(u64, f64)],
        mut part: Part,
        choose: impl Fn(Box<dyn Iterator<Item = Part> + 'a>) -> Option<Part>,
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
    ) -> impl Iterator<Item = Part> + 'a {
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
                Some((level, holds)) => Part { from, level: Some(level), holds },
                None => Part { from, level: None, holds: point(points, NOTHING, from) },
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
