//! How wide columns are, and numbers as long as their column allows: a number is shortened, never cut.

use mlsys_lab::value::{Value, number, significant};

use crate::canvas as pen;
use crate::quantity::Prefix;

pub(super) const GAP: u16 = 2;
/// No column is made narrower than this while a wider one is left.
const NARROW: u16 = 4;
/// Digits of a number that are kept while words can still be cut.
const KEPT: usize = 3;

/// What a column would like, and what it can do with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wish {
    pub natural: u16,
    /// The width that numbers of three digits need; nothing for a column of words.
    pub short: Option<u16>,
}

/// Takes from words down to the length of most words, then from numbers what they can spare, the widest first, until all
/// columns fit side by side; none where that is not enough.
pub(super) fn fit(wishes: &[Wish], room: u16) -> Option<Vec<u16>> {
    /// Letters that most words have.
    const WORD: u16 = 12;
    let mut widths = natural(wishes);
    let word = |wish: &Wish| wish.natural.min(WORD);
    let floors = |of: &dyn Fn(&Wish) -> u16| wishes.iter().map(of).collect::<Vec<u16>>();
    for floors in [
        floors(&|wish| wish.short.map_or(word(wish), |_| wish.natural)),
        floors(&|wish| wish.short.unwrap_or(word(wish)).min(wish.natural)),
    ] {
        squeeze(&mut widths, &floors, room);
    }
    (total(&widths) <= usize::from(room)).then_some(widths)
}

/// Columns that are gone along rather than squeezed: the first, which stays in sight, at most half of the room, and the others
/// as wide as they like to be, sentences within bounds.
pub(super) fn roomy(wishes: &[Wish], room: u16) -> Vec<u16> {
    const SENTENCE: u16 = 30;
    if total(&natural(wishes)) <= usize::from(room) {
        return natural(wishes);
    }
    let width = |(column, wish): (usize, &Wish)| match column {
        0 => wish.natural.min((room / 2).max(NARROW)),
        _ => wish.natural.min(SENTENCE),
    };
    wishes.iter().enumerate().map(width).collect()
}

fn natural(wishes: &[Wish]) -> Vec<u16> {
    wishes.iter().map(|wish| wish.natural).collect()
}

/// The columns that all take with the gaps between them.
fn total(widths: &[u16]) -> usize {
    let gaps = usize::from(GAP) * widths.len().saturating_sub(1);
    widths.iter().map(|width| usize::from(*width)).sum::<usize>() + gaps
}

/// Takes from the widest columns above their floors.
fn squeeze(widths: &mut [u16], floors: &[u16], room: u16) {
    while total(widths) > usize::from(room) {
        let over = total(widths) - usize::from(room);
        let above = widths.iter_mut().zip(floors).filter(|(w, floor)| **w > **floor);
        let Some((widest, floor)) = above.max_by_key(|(width, _)| **width) else { break };
        // In few steps, whatever the width, and never far below the others.
        let cut = pen::cells(over);
        *widest -= cut.min((*widest - floor).div_ceil(2)).max(1);
    }
}

/// The width of a cell with its number, if it is one, cut to three digits.
pub(super) fn short_width(value: &Value) -> u16 {
    let full = pen::width(&value.to_string());
    let shorter = value.as_f64().map(|x| pen::width(&rounded(x, KEPT)));
    shorter.map_or(full, |shorter| shorter.min(full))
}

/// A number with as many digits as there is room for, in the end with none.
pub(super) fn text(value: &Value, width: u16, ellipsis: &str) -> String {
    let full = value.to_string();
    match value.as_f64() {
        Some(x) if pen::width(&full) > width => {
            let mut shorter = (1..=6).rev().map(|digits| rounded(x, digits));
            let found = shorter.find(|text| pen::width(text) <= width);
            found.unwrap_or_else(|| ellipsis.to_owned())
        }
        Some(_) | None => full,
    }
}

/// A number rounded to `digits` significant digits, with the prefix of its size where digits before the point would be lost.
fn rounded(x: f64, digits: usize) -> String {
    let rounded = significant(x, digits);
    let size = rounded.abs();
    let prefix = Prefix::for_size(size, Some("B"));
    let lost = size >= 1e4 || rounded.trunc() != x.trunc();
    match prefix.letter() {
        Some(letter) if lost && size < 1e18 => {
            let scaled = significant(rounded / prefix.factor, digits);
            format!("{}{letter}", number(scaled))
        }
        Some(_) | None => number(rounded),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_shortened_and_never_cut() {
        for (value, width, expected) in [
            (Value::Float(5.73208e-13), 11, "5.73208e-13"),
            (Value::Float(5.73208e-13), 8, "5.73e-13"),
            (Value::Float(5.73208e-13), 5, "6e-13"),
            (Value::Float(5.73208e-13), 4, "~"),
            (Value::Float(0.642_857), 5, "0.643"),
            (Value::Float(-0.642_857), 5, "-0.64"),
            (Value::Int(4_194_304), 7, "4194304"),
            (Value::Int(4_194_304), 6, "4.194M"),
            (Value::Int(4_194_304), 5, "4.19M"),
            (Value::Int(528_384), 5, "528k"),
            (Value::Int(999_999), 4, "1M"),
            (Value::Int(12_345), 4, "12k"),
            (Value::Int(1218), 3, "1k"),
            (Value::Int(1218), 1, "~"),
            (Value::Int(-70_000_000_000), 5, "-70G"),
        ] {
            assert_eq!(text(&value, width, "~"), expected, "{value} in {width}");
        }
    }

    #[test]
    fn a_shortened_number_is_near_the_number() {
        for exponent in -30..17 {
            for mantissa in [1.0, 1.5, 9.994, 9.996, -3.218_281] {
                let x = mantissa * 10_f64.powi(exponent);
                let text = text(&Value::Float(x), 9, "~");
                let scaled = ["k", "M", "G", "T", "P"].iter().zip([1e3, 1e6, 1e9, 1e12, 1e15]);
                let mut found = scaled.filter_map(|(letter, factor)| {
                    let digits = text.strip_suffix(letter)?;
                    Some(digits.parse::<f64>().unwrap() * factor)
                });
                let read = found.next().unwrap_or_else(|| text.parse().unwrap());
                assert!((read - x).abs() <= 0.006 * x.abs(), "{x} as {text}");
            }
        }
    }

    fn words(natural: u16) -> Wish {
        Wish { natural, short: None }
    }

    #[test]
    fn columns_that_are_gone_along_keep_their_width() {
        assert_eq!(roomy(&[words(5), words(9)], 30), [5, 9]);
        assert_eq!(roomy(&[words(50), words(9), words(90)], 60), [30, 9, 30]);
        assert_eq!(roomy(&[words(9), words(9)], 3), [4, 9]);
        assert!(roomy(&[], 3).is_empty());
    }

    #[test]
    fn narrow_tables_break_words_then_shorten_numbers_then_scroll() {
        let widths = |wishes: &[Wish], room| fit(wishes, room);
        let digits = Wish { natural: 11, short: Some(8) };
        assert_eq!(widths(&[words(5), words(9)], 30), Some(vec![5, 9]));
        assert_eq!(widths(&[words(6), words(60_000), words(8)], 40), Some(vec![6, 22, 8]));
        assert_eq!(widths(&[words(40), digits, digits], 60), Some(vec![34, 11, 11]));
        assert_eq!(widths(&[words(20), digits, digits], 32), Some(vec![12, 8, 8]));
        assert_eq!(widths(&[words(20), digits, digits], 30), None);
        assert_eq!(widths(&[], 3), Some(vec![]));
    }
}
