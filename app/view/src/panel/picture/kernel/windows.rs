//! Which rows of each buffer are seen: rows are shared out among the buffers, and lie around what is reached.

use std::ops::Range;

use mlsys_kernel::Machine;

use super::buffers::Buffer;
use super::cell_kinds::short;
use super::debugger::KernelDebugger;

/// Bytes of a sector of global memory.
const SECTOR: usize = 32;
/// A blocks' height in rows from which lines across are drawn where blocks end.
const LEAST_BAND: usize = 4;

/// How the elements of a launch's buffers stand in rows.
pub(super) struct Windows {
    /// Elements in a row of a buffer that is no matrix.
    line: usize,
    /// Rows of a matrix from one line across to the next; absent without matrices, and where blocks are low.
    band: Option<usize>,
    /// Elements between two lines down.
    pub(super) group: usize,
    /// Whether values have room in the cells, and whether all cells of a row have room without.
    pub(super) has_values: bool,
    pub(super) is_whole: bool,
}

/// One row of a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    Elements(Range<usize>),
    /// A line across, where blocks end.
    Across,
}

impl Line {
    /// The element after the last one of the row.
    pub(super) fn end(&self) -> usize {
        match self {
            Self::Elements(row) => row.end,
            Self::Across => 0,
        }
    }
}

impl Windows {
    pub(super) fn new(
        debugger: &KernelDebugger,
        machine: &Machine,
        buffers: &[Buffer],
        columns: usize,
    ) -> Self {
        let here = debugger.here();
        let longest = |buffer: &Buffer| {
            let values =
                (0..buffer.elements.min(256)).filter_map(|at| buffer.value(machine, here, at));
            values.map(|(_, value)| short(&value).len()).max().unwrap_or(1)
        };
        // A glyph, the value, an arrow with a lane, a gap.
        let lane = debugger.lanes_of(0).saturating_sub(1).to_string().len();
        let cell = buffers.iter().map(longest).max().unwrap_or(1) + 3 + lane;
        let labels =
            buffers.iter().map(|of| of.label(of.elements.saturating_sub(1) as i64).len()).max();
        let room = columns.saturating_sub(labels.unwrap_or(0) + 2);
        let [block_columns, block_rows, _] =
            debugger.recipe.block_dim.map(|extent| extent as usize);
        let Some(longest) = buffers.iter().filter_map(|buffer| buffer.columns).max() else {
            let group = SECTOR / 4;
            let fits = |count: &usize| count * cell + count / group <= room;
            // As many sectors as fit with their values.
            let line = [32, 16, 8, 4].into_iter().find(fits).unwrap_or(8);
            return Self { line, band: None, group, has_values: true, is_whole: true };
        };
        let wide = |cell: usize| longest * cell + longest.saturating_sub(1) / block_columns.max(1);
        Self {
            // Next to the rows of a matrix, whole sectors of about the same length.
            line: [32, 16].into_iter().find(|count| *count <= longest).unwrap_or(8),
            band: Some(block_rows).filter(|rows| *rows >= LEAST_BAND),
            group: block_columns,
            has_values: wide(cell) <= room,
            is_whole: wide(1) <= room + 1,
        }
    }

    /// Elements in a row of a buffer.
    pub(super) fn across(&self, buffer: &Buffer) -> usize {
        buffer.columns.unwrap_or(self.line).max(1)
    }

    fn band(&self, buffer: &Buffer) -> Option<usize> {
        self.band.filter(|_| buffer.columns.is_some())
    }

    /// The lines of a whole buffer.
    pub(super) fn all(&self, buffer: &Buffer) -> usize {
        let rows = buffer.elements.div_ceil(self.across(buffer));
        rows + self.band(buffer).map_or(0, |band| rows.saturating_sub(1) / band)
    }

    /// A number of lines of a buffer, with those of the touched elements; where these have no room, with that of one.
    pub(super) fn seen(
        &self,
        buffer: &Buffer,
        about: usize,
        touched: &Range<usize>,
        count: usize,
    ) -> Vec<Line> {
        let across = self.across(buffer);
        let rows = Rows {
            all: buffer.elements.div_ceil(across),
            band: self.band(buffer),
            count: count.max(1),
        };
        let row = |element: usize| element.min(buffer.elements.saturating_sub(1)) / across;
        let (at, top, bottom) =
            (row(about), row(touched.start), row(touched.end.saturating_sub(1)));
        // Whole blocks, so that the picture stands still while their warps take turns; else by steps of a few rows.
        let block = rows.band.map(|band| top / band * band);
        let near = (at + 1 + rows.count / 4).saturating_sub(rows.count);
        let begins = block.into_iter().chain([near, top]);
        let first = begins.into_iter().find(|first| {
            (*first..first + rows.fitting(*first)).contains(&top)
                && bottom < first + rows.fitting(*first)
        });
        let first = first.unwrap_or_else(|| at.saturating_sub(rows.count / 2)).min(rows.last());
        let mut lines = Vec::new();
        for row in first..first + rows.fitting(first) {
            if row > first && rows.is_bound(row) {
                lines.push(Line::Across);
            }
            lines.push(Line::Elements(row * across..((row + 1) * across).min(buffer.elements)));
        }
        lines
    }
}

/// The rows of a buffer, of which a number of lines are seen.
struct Rows {
    all: usize,
    band: Option<usize>,
    count: usize,
}

impl Rows {
    /// Whether a line lies across before a row.
    fn is_bound(&self, row: usize) -> bool {
        self.band.is_some_and(|band| row.is_multiple_of(band))
    }

    /// The rows from a first one on that are seen with the lines across between them.
    fn fitting(&self, first: usize) -> usize {
        let mut lines = 0;
        let fits = |row: &usize| {
            lines += 1 + usize::from(*row > first && self.is_bound(*row));
            lines <= self.count
        };
        (first..self.all).take_while(fits).count()
    }

    /// The first of the rows at the end.
    fn last(&self) -> usize {
        let mut lines = 0;
        let fits = |row: &usize| {
            lines += 1 + usize::from(row + 1 < self.all && self.is_bound(row + 1));
            lines <= self.count
        };
        self.all - (0..self.all).rev().take_while(fits).count()
    }
}

/// Shares out lines: each part gets what it wants, or as much as the others that do not; one at least.
pub(super) fn shares(lines: usize, wanted: &[usize]) -> Vec<usize> {
    let mut shares = vec![0; wanted.len()];
    let mut left = lines;
    loop {
        let open: Vec<usize> = (0..wanted.len()).filter(|at| shares[*at] < wanted[*at]).collect();
        if open.is_empty() || left == 0 {
            break;
        }
        let (each, rest) = (left / open.len(), left % open.len());
        for (place, at) in open.iter().enumerate() {
            let more = each + usize::from(place < rest);
            let more = more.min(wanted[*at] - shares[*at]);
            shares[*at] += more;
            left -= more;
        }
    }
    for (share, wanted) in shares.iter_mut().zip(wanted) {
        *share = (*share).max(1.min(*wanted));
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_shared_out_by_what_is_wanted() {
        for (lines, wanted, expected) in [
            (10, vec![1, 1, 1], vec![1, 1, 1]),
            (10, vec![100, 1, 100], vec![5, 1, 4]),
            (11, vec![100, 3], vec![8, 3]),
            (7, vec![2, 9], vec![2, 5]),
            (2, vec![9, 9, 9], vec![1, 1, 1]),
            (0, vec![], vec![]),
        ] {
            assert_eq!(shares(lines, &wanted), expected, "{lines} for {wanted:?}");
        }
    }

    #[test]
    fn rows_in_sight_end_at_the_last() {
        for all in 1..40 {
            for band in [None, Some(4), Some(7)] {
                for count in 1..45 {
                    let rows = Rows { all, band, count };
                    let last = rows.last();
                    assert_eq!(last + rows.fitting(last), all, "{all} {band:?} {count}");
                    assert!(last == 0 || last - 1 + rows.fitting(last - 1) < all);
                }
            }
        }
    }
}
