//! What the tables of all labs keep to.

use mlsys_lab::frame::{Frame, Table};
use mlsys_lab::value::Value;

/// The tables in a picture.
#[expect(clippy::wildcard_enum_match_arm, reason = "only these kinds have tables in them")]
pub fn tables(frame: &Frame) -> Vec<&Table> {
    match frame {
        Frame::Table(table) => vec![table],
        Frame::Panes(panes) => panes.iter().flat_map(|pane| tables(&pane.frame)).collect(),
        Frame::FrameSequence(film) => {
            film.stills.iter().flat_map(|still| tables(&still.frame)).collect()
        }
        _ => Vec::new(),
    }
}

/// The columns of which all cells are numbers, and some of them words with a unit: the unit belongs into the title. Names
/// may be digits alone, such as versions.
pub fn worded_numbers(table: &Table) -> Vec<String> {
    let column = |place: usize| {
        let cells = || table.rows.iter().filter_map(move |row| row.get(place));
        let words = cells().filter_map(Value::as_str).filter(|word| !word.trim().is_empty());
        let words: Vec<&str> = words.collect();
        let is_name = words.iter().all(|word| word.ends_with(|c: char| c.is_ascii_digit()));
        let all = !is_name && words.iter().all(|word| is_quantity(word));
        all.then(|| format!("{}: {}", table.columns[place], words.join(" | ")))
    };
    (0..table.columns.len()).filter_map(column).collect()
}

/// Whether a text is a number, alone or with one word behind it.
fn is_quantity(text: &str) -> bool {
    let text = text.trim();
    let is_digit = |letter: char| letter.is_ascii_digit() || matches!(letter, '.' | '-' | ',');
    let end = text.find(|letter| !is_digit(letter)).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let is_number = digits.replace(',', "").parse::<f64>().is_ok();
    is_number && !unit.trim_start().contains(' ') && unit.chars().all(|c| !c.is_ascii_digit())
}

/// What is wrong with the cells of a drawn column of numbers: several prefixes, or powers of ten next to numbers of such sizes
/// without one.
pub fn mixed(cells: &[String]) -> Option<String> {
    let has_power = cells.iter().any(|cell| cell.contains('e'));
    let is_plain = |cell: &&str| cell.parse().is_ok_and(|x: f64| (0.01..1e4).contains(&x.abs()));
    let cells = cells.iter().map(|cell| cell.trim()).filter(|cell| *cell != "0");
    let cells = cells.filter(|cell| !(has_power && is_plain(cell)));
    let numbers: Vec<&str> = cells.filter(|cell| is_written_number(cell)).collect();
    let sign = |cell: &&str| cell.chars().find(char::is_ascii_alphabetic);
    let signs: std::collections::BTreeSet<_> = numbers.iter().map(sign).collect();
    (signs.len() > 1).then(|| numbers.join(" | "))
}

/// A number with a power of ten, or with a letter for one.
fn is_written_number(cell: &str) -> bool {
    let cell = cell.strip_suffix(['k', 'M', 'G', 'T', 'P', 'E', 'm', 'u', 'n']).unwrap_or(cell);
    cell.parse::<f64>().is_ok_and(f64::is_finite)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_words_and_mixed_forms_are_found() {
        let cells =
            |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        for (words, is_mixed) in [
            (&["15.7T", "19.5T"][..], false),
            (&["900G", "1.5T"], true),
            (&["562k", "87"], true),
            (&["0.5", "9e-4"], false),
            (&["0.005", "9e-4"], true),
            (&["12500", "9e4"], true),
            (&["5e-3", "9e-4", "0"], false),
            (&["0.5", "unknown", "12"], false),
        ] {
            assert_eq!(mixed(&cells(words)).is_some(), is_mixed, "{words:?}");
        }
        let column = |cells: &[Value]| {
            let rows = cells.iter().map(|cell| vec![cell.clone()]).collect();
            worded_numbers(&Table::new(vec!["title".to_owned()], rows))
        };
        assert_eq!(column(&["13 min".into(), "2 h".into()]), ["title: 13 min | 2 h"]);
        assert_eq!(column(&["3 times".into(), 2.0.into()]).len(), 1);
        assert!(column(&["7.0".into(), "8.6".into()]).is_empty());
        assert!(column(&["4 of 8".into(), 2.0.into()]).is_empty());
        assert!(column(&["2017-06".into(), "unknown".into()]).is_empty());
    }
}
