//! The cells of a store, in parts that take memory when a thread first reaches them.
//!
//! A thread that runs a part of a launch's blocks has cells for that part alone, and what it did is added part by part.

use crate::machine::cell::Cell;
use std::iter::repeat_n;
use std::mem::swap;
use std::ops::Range;

/// Cells of a part.
const PART: usize = 1 << 12;

#[derive(Clone, Debug, Default)]
pub(crate) struct Cells {
    count: usize,
    /// Every cell before its first access.
    first: Cell,
    /// Empty until a cell in it is reached.
    parts: Vec<Vec<Cell>>,
}

impl Cells {
    pub(super) fn new(count: usize, first: Cell) -> Self {
        Self { count, first, parts: vec![Vec::new(); count.div_ceil(PART)] }
    }

    /// As many, before the first access.
    pub(super) fn untouched(&self) -> Self {
        Self::new(self.count, self.first)
    }

    pub(super) fn reset(&mut self) {
        self.parts.iter_mut().for_each(|part| part.fill(self.first));
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    pub(super) fn get(&self, index: usize) -> Option<Cell> {
        let part = self.parts.get(index / PART).filter(|_| index < self.count)?;
        Some(part.get(index % PART).copied().unwrap_or(self.first))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Cell> {
        self.parts.iter().enumerate().flat_map(|(index, part)| {
            let untouched = if part.is_empty() { self.length(index) } else { 0 };
            part.iter().copied().chain(repeat_n(self.first, untouched))
        })
    }

    #[inline(always)]
    pub(super) fn at(&mut self, index: usize) -> &mut Cell {
        &mut self.part(index / PART)[index % PART]
    }

    /// Cells that follow each other; none if they lie in two parts.
    #[inline(always)]
    pub(super) fn row(&mut self, from: usize, count: usize) -> Option<&mut [Cell]> {
        self.part(from / PART).get_mut(from % PART..from % PART + count)
    }

    #[inline(always)]
    fn part(&mut self, part: usize) -> &mut [Cell] {
        if self.parts[part].is_empty() {
            self.hold(part);
        }
        &mut self.parts[part]
    }

    #[cold]
    fn hold(&mut self, part: usize) {
        self.parts[part] = vec![self.first; self.length(part)];
    }

    fn length(&self, part: usize) -> usize {
        PART.min(self.count - part * PART)
    }

    /// Takes over the parts that another store's cells hold and these do not; the cells of each part that was taken over,
    /// and of each that both hold.
    pub(super) fn take_over(&mut self, other: &mut Self) -> Vec<Shared> {
        let pairs = self.parts.iter_mut().zip(&mut other.parts).enumerate();
        let reached = pairs.filter(|(_, (_, other))| !other.is_empty());
        let shared = reached.map(|(index, (own, other))| {
            let cells = index * PART..index * PART + other.len();
            if own.is_empty() {
                swap(own, other);
                Shared::TakenOver(cells)
            } else {
                Shared::Both(cells)
            }
        });
        shared.collect()
    }
}

/// Cells of a part that another store reached.
pub(super) enum Shared {
    TakenOver(Range<usize>),
    Both(Range<usize>),
}

/// Stores are equal if their cells are, whether untouched ones take memory or not.
impl PartialEq for Cells {
    fn eq(&self, other: &Self) -> bool {
        self.count == other.count
            && self.parts.iter().zip(&other.parts).all(|(own, others)| {
                let is_untouched = |part: &[Cell], first| part.iter().all(|cell| *cell == first);
                match (own.is_empty(), others.is_empty()) {
                    (false, false) => own == others,
                    (true, true) => self.first == other.first,
                    (true, false) => is_untouched(others, self.first),
                    (false, true) => is_untouched(own, other.first),
                }
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untouched_parts_take_no_memory_and_are_equal_to_held_ones() {
        let mut cells = Cells::new(2 * PART + 5, Cell::default());
        let untouched = cells.clone();
        assert!(cells.row(PART - 3, 6).is_none(), "a row that lies in two parts");
        assert_eq!(cells.row(2 * PART, 5).map(|row| row.len()), Some(5));
        assert_eq!(cells.get(2 * PART + 4), untouched.get(0));
        assert_eq!(cells.get(2 * PART + 5), None);
        assert_eq!(cells.iter().count(), cells.len());
        assert_eq!(cells.parts.iter().filter(|part| part.is_empty()).count(), 1);
        assert_eq!(cells, untouched);
        *cells.at(1) = Cell::INITIALIZED;
        assert_ne!(cells, untouched);
        assert_ne!(untouched, cells);
    }

    #[test]
    fn parts_are_taken_over_where_no_cell_was_reached() {
        let mut own = Cells::new(3 * PART, Cell::default());
        let mut other = own.clone();
        own.at(0);
        for part in 0..2 {
            other.at(part * PART);
        }
        let shared = own.take_over(&mut other);
        assert!(matches!(&shared[..], [Shared::Both(a), Shared::TakenOver(b)]
            if *a == (0..PART) && *b == (PART..2 * PART)));
        assert!(own.parts[2].is_empty());
    }
}
