//! Which columns are seen, and how wide.

use std::ops::Range;

use mlsys_lab::frame::Table;
use mlsys_lab::value::Value;

use crate::canvas as pen;
use crate::panel::picture::table::numbers::{Column, unbroken_title};
pub(super) use crate::text::GAP;
use crate::text::{self, squeeze, total};

/// Columns between two cells where a table would not be seen whole otherwise.
const NARROW: u16 = 1;
/// Digits of a number that are kept while words can still be cut.
const KEPT: i32 = 3;
/// Letters that most words have.
const WORD: u16 = 12;
/// Letters of a long name that is not broken yet.
const NAME: u16 = 24;

/// What a column would like, and what it can do with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wish {
    pub natural: u16,
    /// The width of its longest cell.
    pub cells: u16,
    /// The width that numbers of three digits need; nothing for a column of words.
    pub short: Option<u16>,
    /// The width that numbers of two digits need.
    pub shortest: Option<u16>,
    /// The longest part of its words that is not broken.
    pub unbroken: u16,
    /// The least width at which its title is whole.
    pub title: u16,
}

impl Wish {
    /// The width at which most words stay whole, and numbers keep three digits.
    fn compact(&self) -> u16 {
        let words = WORD.max(self.unbroken.min(NAME));
        self.short.unwrap_or(words).max(self.title).min(self.natural)
    }

    /// The width at which words are broken wherever they can be.
    fn least(&self) -> u16 {
        self.short.unwrap_or(self.unbroken).max(self.title).min(self.compact())
    }
}

/// Breaks titles, then takes from words down to the length of most words, then from numbers what they can spare, the widest
/// first, until all columns fit side by side; none where that is not enough.
fn fit(wishes: &[Wish], room: u16) -> Option<Vec<u16>> {
    let cells = |wish: &Wish| wish.cells.max(wish.title).min(wish.natural);
    let words_only = |wish: &Wish| if wish.short.is_some() { wish.natural } else { wish.compact() };
    squeezed(wishes, room, &[&cells, &words_only, &Wish::compact])
}

/// As [`fit`], with words broken wherever they can be.
fn tight(wishes: &[Wish], room: u16) -> Option<Vec<u16>> {
    squeezed(wishes, room, &[&Wish::compact, &Wish::least])
}

/// As [`tight`], with numbers of two digits.
fn tightest(wishes: &[Wish], room: u16) -> Option<Vec<u16>> {
    let least = |wish: &Wish| match wish.shortest {
        Some(shortest) => shortest.max(wish.title).min(wish.least()),
        None => wish.least(),
    };
    squeezed(wishes, room, &[&Wish::compact, &Wish::least, &least])
}

fn squeezed(wishes: &[Wish], room: u16, floors: &[&dyn Fn(&Wish) -> u16]) -> Option<Vec<u16>> {
    let mut widths: Vec<u16> = wishes.iter().map(|wish| wish.natural).collect();
    for floor in floors {
        let floors: Vec<u16> = wishes.iter().map(floor).collect();
        squeeze(&mut widths, &floors, room);
    }
    (total(&widths) <= usize::from(room)).then_some(widths)
}

/// The columns that are seen, each with its width.
pub(super) type Widths = Vec<(usize, u16)>;

/// How the columns of a table share its room, with the gap between them: all of them if there is any way to it, the one that
/// breaks least. `shows_rows` says whether broken words leave enough of the rows.
pub(super) fn share(
    wishes: &[Wish],
    room: u16,
    target: usize,
    shows_rows: impl Fn(&Widths) -> bool,
) -> (Widths, u16) {
    let all = |widths: Vec<u16>| widths.into_iter().enumerate().collect::<Widths>();
    let saved = pen::cells(wishes.len().saturating_sub(1)).saturating_mul(GAP - NARROW);
    let narrow = room.saturating_add(saved);
    let found = [(room, GAP), (narrow, NARROW)].into_iter();
    let whole = found.clone().find_map(|(room, gap)| Some((all(fit(wishes, room)?), gap)));
    let broken = found.filter_map(|(room, gap)| Some((all(tight(wishes, room)?), gap)));
    let last = tightest(wishes, narrow).map(|widths| (all(widths), NARROW));
    let mut broken = broken.chain(last);
    whole.or_else(|| broken.find(|(widths, _)| shows_rows(widths))).unwrap_or_else(|| {
        let [wide, narrow] = [GAP, NARROW].map(|gap| (scrolled(wishes, room, target, gap), gap));
        if narrow.0.len() > wide.0.len() { narrow } else { wide }
    })
}

/// The columns that are seen of a table too wide for its room, with their widths: the first, which tells the rows apart, and
/// those about `target` for which there is room. What they leave goes to those that are narrower than they like to be.
fn scrolled(wishes: &[Wish], room: u16, target: usize, gap: u16) -> Widths {
    let Some(head) = wishes.first() else { return Vec::new() };
    let head = (0, head.compact().min((room / 2).max(1)));
    let taken = |range: Range<usize>| {
        let widths = wishes.iter().take(range.end).skip(range.start);
        widths.fold(head.1, |sum, wish| sum.saturating_add(gap).saturating_add(wish.compact()))
    };
    let target = target.max(1);
    let first = (1..target).find(|first| taken(*first..target + 1) <= room).unwrap_or(target);
    let fitting = (first + 1..=wishes.len()).rev().find(|end| taken(first..*end) <= room);
    let end = fitting.unwrap_or((first + 1).min(wishes.len()));
    let others = wishes.iter().enumerate().take(end).skip(first);
    let mut seen: Vec<(usize, u16)> = vec![head];
    seen.extend(others.map(|(column, wish)| (column, wish.compact())));
    let mut left = room.saturating_sub(taken(first..end));
    // Those that need least come first, so that as many as can be are whole.
    let mut by_need: Vec<usize> = (0..seen.len()).collect();
    let missing = |(column, width): (usize, u16)| wishes[column].natural - width;
    by_need.sort_by_key(|place| missing(seen[*place]));
    for place in by_need {
        let more = missing(seen[place]).min(left);
        seen[place].1 += more;
        left -= more;
    }
    if let [(_, head), (_, wide)] = seen.as_mut_slice() {
        // One that has to be seen may be wider than the room.
        *wide = (*wide).min(room.saturating_sub(*head + gap).max(1));
    }
    seen
}

/// The lines that a row takes: its words go over several rather than being cut.
pub(super) fn lines(row: &[Value], columns: &[Column<'_>], widths: &[(usize, u16)]) -> usize {
    let cells = widths.iter().filter_map(|(place, width)| {
        let value = row.get(*place).filter(|value| value.as_f64().is_none())?;
        Some((columns.get(*place)?.text(value), *width))
    });
    let lines = cells.map(|(words, width)| text::wrap(words.trim_end(), width).len());
    lines.max().unwrap_or(1).max(1)
}

/// The lines that titles may take of a table's height.
pub(super) fn most_heads(height: u16) -> u16 {
    (height / 3).max(1)
}

/// What the columns would like for some rows, under titles with the sign of a sorted column.
pub(super) fn wishes(
    table: &Table,
    titles: &[String],
    columns: &[Column<'_>],
    shown: &[usize],
    height: u16,
) -> Vec<Wish> {
    let seen = shown.iter();
    let seen: Vec<&Vec<Value>> = seen.filter_map(|index| table.rows.get(*index)).collect();
    let wish = |(place, (title, column)): (usize, (&String, &Column<'_>))| {
        let cells = || seen.iter().filter_map(|row| row.get(place));
        let widest = cells().map(|value| pen::width(&column.text(value))).max();
        let words = cells().filter(|value| value.as_f64().is_none());
        let unbroken = words.clone().map(|value| text::unbroken(&column.text(value))).max();
        let words = words.map(|value| pen::width(&column.text(value))).max().unwrap_or(0);
        let digits = |digits: i32| column.width_of(digits).max(words);
        let whole = pen::width(title);
        let in_rows = |width: &u16| text::rows(title, *width) <= most_heads(height);
        Wish {
            natural: widest.unwrap_or(0).max(whole),
            cells: widest.unwrap_or(0),
            short: column.has_numbers().then(|| digits(KEPT)),
            shortest: column.has_numbers().then(|| digits(KEPT - 1)),
            // Quantities are as whole as numbers.
            unbroken: if column.are_quantities() { widest } else { unbroken }.unwrap_or(0),
            // No part of a title is cut for the sake of what is below it.
            title: (unbroken_title(title)..whole).find(in_rows).unwrap_or(whole),
        }
    };
    titles.iter().zip(columns).enumerate().map(wish).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(natural: u16) -> Wish {
        Wish {
            natural,
            cells: natural,
            short: None,
            shortest: None,
            unbroken: natural.min(6),
            title: 1,
        }
    }

    const DIGITS: Wish =
        Wish { natural: 11, cells: 11, short: Some(8), shortest: Some(7), unbroken: 11, title: 1 };

    #[test]
    fn a_table_too_wide_shows_as_many_columns_as_fit() {
        let wishes = [words(20), DIGITS, words(30), DIGITS, words(9)];
        for (room, target, expected) in [
            // The first, a number that is whole again, and what words are left.
            (40, 0, vec![(0, 13), (1, 11), (2, 12)]),
            (32, 3, vec![(0, 19), (3, 11)]),
            (33, 4, vec![(0, 12), (3, 8), (4, 9)]),
            (20, 2, vec![(0, 10), (2, 8)]),
            (1, 0, vec![(0, 1), (1, 1)]),
        ] {
            assert_eq!(scrolled(&wishes, room, target, GAP), expected, "{target} in {room}");
        }
        assert!(scrolled(&[], 3, 0, GAP).is_empty());
    }

    #[test]
    fn gaps_are_narrow_before_a_column_is_hidden() {
        let wishes = [words(12), DIGITS, DIGITS, DIGITS];
        let shared = |room| share(&wishes, room, 0, |_| false);
        let all = |widths: [u16; 4]| widths.into_iter().enumerate().collect::<Widths>();
        assert_eq!(shared(42), (all([12, 8, 8, 8]), 2));
        assert_eq!(shared(41), (all([12, 9, 9, 8]), 1));
        assert_eq!(shared(39), (all([12, 8, 8, 8]), 1));
        let broken = |room| share(&wishes, room, 0, |_| true);
        assert_eq!(broken(33), (all([6, 8, 8, 8]), 1));
        assert_eq!(broken(30), (all([6, 7, 7, 7]), 1));
        // A third column next to the first, where wide gaps would leave two.
        assert_eq!(shared(30), (vec![(0, 12), (1, 8), (2, 8)], 1));
    }

    #[test]
    fn narrow_tables_break_words_then_shorten_numbers_then_break_all() {
        let widths = |wishes: &[Wish], room| fit(wishes, room);
        assert_eq!(widths(&[words(5), words(9)], 30), Some(vec![5, 9]));
        assert_eq!(widths(&[words(6), words(60_000), words(8)], 40), Some(vec![6, 22, 8]));
        assert_eq!(widths(&[words(40), DIGITS, DIGITS], 60), Some(vec![34, 11, 11]));
        assert_eq!(widths(&[words(20), DIGITS, DIGITS], 32), Some(vec![12, 8, 8]));
        assert_eq!(widths(&[words(20), DIGITS, DIGITS], 30), None);
        assert_eq!(tight(&[words(20), DIGITS, DIGITS], 30), Some(vec![10, 8, 8]));
        assert_eq!(tight(&[words(20), DIGITS, DIGITS], 25), None);
        assert_eq!(widths(&[], 3), Some(vec![]));
    }
}
