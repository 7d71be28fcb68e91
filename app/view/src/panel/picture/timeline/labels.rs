//! The labels of bars: what has room in a bar, and which of them stand clear of each other.

use std::collections::BTreeMap;
use std::ops::Range;

use ratatui::style::Style;

use crate::canvas as pen;

/// Labels up to here are numbers of microbatches, or as short as these.
const SHORT: u16 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Whole,
    /// The number of a chunk without its letter, where no whole label is near.
    Number,
}

/// A label of a bar: its place, and the column behind the bar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Label {
    pub(super) y: u16,
    pub(super) x: u16,
    end: u16,
    pub(super) text: String,
    pub(super) style: Style,
    rank: Rank,
}

impl Label {
    /// The label of a bar over columns of a row, or its number, if there is room for it.
    pub(super) fn new(label: &str, bar: Range<u16>, y: u16, style: Style) -> Option<Self> {
        let (room, wide) = (bar.end - bar.start, pen::width(label));
        let at = |x: u16, text: String, rank| Some(Self { y, x, end: bar.end, text, style, rank });
        // Where words would touch the next bar's, the number alone is what tells them apart.
        let number = label.rsplit(' ').next().filter(|last| last.parse::<u64>().is_ok());
        let number = number.filter(|number| pen::width(number) + 1 < room);
        match (number, chunk_number(label)) {
            (Some(number), _) if wide > SHORT && wide >= room => {
                at(bar.start, number.to_owned(), Rank::Whole)
            }
            (_, Some(number)) if wide > room && pen::width(number) <= room => {
                at(bar.start, number.to_owned(), Rank::Number)
            }
            (_, _) if wide == 0 || wide > room => None,
            (_, _) if wide > SHORT && wide + 2 <= room => {
                at(bar.start + (room - wide - 2) / 2, format!(" {label} "), Rank::Whole)
            }
            // A number stands at the beginning, where it parts the bar from an equal one before it.
            (_, _) => at(bar.start, label.to_owned(), Rank::Whole),
        }
    }

    fn has_room(&self, x: u16, placed: &BTreeMap<(u16, u16), Self>) -> bool {
        let end = |label: &Self, x: u16| x + pen::width(&label.text);
        // Next to a whole label, a number alone would be read as part of it.
        let touch = |left: &Self, right: &Self| {
            left.rank != right.rank || run_together(&left.text, &right.text)
        };
        let gap = |left: &Self, right: &Self| u16::from(touch(left, right));
        let before = placed.range(..=(self.y, x)).next_back().map(|(_, label)| label);
        let behind = placed.range((self.y, x)..).next().map(|(_, label)| label);
        let is_here = |label: &&Self| label.y == self.y;
        end(self, x) <= self.end
            && before.filter(is_here).is_none_or(|left| end(left, left.x) + gap(left, self) <= x)
            && behind.filter(is_here).is_none_or(|right| end(self, x) + gap(self, right) <= right.x)
    }
}

/// The labels that can be read, each clear of the others; in a bar of several columns one may stand one further in.
pub(super) fn clear(mut labels: Vec<Label>) -> impl Iterator<Item = Label> {
    labels.sort_by_key(|label| (label.rank, label.y, label.x));
    let mut placed = BTreeMap::new();
    for label in labels {
        let x = [label.x, label.x + 1].into_iter().find(|x| label.has_room(*x, &placed));
        if let Some(x) = x {
            placed.insert((label.y, x), Label { x, ..label });
        }
    }
    placed.into_values()
}

/// The number of a microbatch in the label of its chunk: `0` of `0a`.
fn chunk_number(label: &str) -> Option<&str> {
    let number = label.strip_suffix(|letter: char| letter.is_ascii_lowercase())?;
    number.parse::<u64>().is_ok().then_some(number)
}

/// Whether two labels without a gap would be read as one number; single digits in a row are read one a bar.
fn run_together(before: &str, behind: &str) -> bool {
    let is_digit = |letter: char| letter.is_ascii_digit();
    let are_single = before.len() == 1 && behind.len() == 1;
    before.ends_with(is_digit) && behind.starts_with(is_digit) && !are_single
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The row of bars next to each other, each with its columns and its label.
    fn row(bars: &[(u16, &str)]) -> String {
        let mut row = String::new();
        let mut labels = Vec::new();
        for (columns, label) in bars {
            let from = row.len() as u16;
            labels.extend(Label::new(label, from..from + columns, 0, Style::new()));
            row.push_str(&"-".repeat((*columns).into()));
        }
        for Label { x, text, .. } in clear(labels) {
            let at = usize::from(x);
            row.replace_range(at..at + text.len(), &text);
        }
        row
    }

    #[test]
    fn labels_say_what_has_room_and_stand_apart() {
        for (bars, expected) in [
            (vec![(1, "0"), (1, "1"), (1, "2")], "012"),
            (vec![(2, "9"), (2, "10"), (2, "11")], "9-10--"),
            (vec![(3, "9"), (3, "10"), (3, "11")], "9--10-11-"),
            (vec![(1, "10"), (2, "11")], "-11"),
            // A chunk without room for its letter keeps its number, where it does not touch another's label.
            (vec![(1, "0a"), (1, "1a"), (1, "2a")], "012"),
            (vec![(1, "3a"), (2, "0b"), (1, "4a"), (2, "1b")], "-0b-1b"),
            (vec![(1, "3a"), (1, "4a"), (3, "0b"), (2, "1b")], "3-0b-1b"),
            (vec![(1, "3 µs")], "-"),
            (vec![(9, "forward 3"), (12, "forward 4")], "3-------- forward 4 -"),
        ] {
            assert_eq!(row(&bars), expected, "{bars:?}");
        }
    }

    #[test]
    fn only_numbers_without_a_gap_run_together() {
        assert!(run_together("12", "13") && run_together("a2", "1b") && run_together("9", "10"));
        assert!(!run_together("0", "1"));
        assert!(!run_together("0a", "1a") && !run_together("", "1") && !run_together(" run ", "2"));
    }
}
