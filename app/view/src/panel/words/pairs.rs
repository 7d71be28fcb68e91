//! What pairs of categories amount to, in words.

use mlsys_lab::frame::HeatMap;
use mlsys_lab::value::{number, significant};

use super::READ_ROWS;
use crate::glyphs::Glyphs;
use crate::panel::{matrix, quantity};

/// How many pairs agree, and which disagree most.
pub(super) fn matrix_words(map: &HeatMap) -> String {
    let (mut diagonal, mut total) = (0.0, 0.0);
    let mut largest: Option<(f32, &str, &str)> = None;
    for (row, label) in map.row_labels.iter().enumerate() {
        for (column, other) in map.column_labels.iter().enumerate() {
            let cell = matrix::value(map, row, column);
            let Some(value) = cell.filter(|x| x.is_finite()) else {
                continue;
            };
            total += f64::from(value);
            if label == other {
                diagonal += f64::from(value);
            } else if value > largest.map_or(0.0, |(most, _, _)| most) {
                largest = Some((value, label, other));
            }
        }
    }
    // Only where both sides have the same names is there a diagonal.
    let agree = map.row_labels == map.column_labels;
    let mut said = map.legend.clone();
    if agree {
        let (diagonal, total) = (number(diagonal), number(total));
        said.push_str(&format!("; {diagonal} of {total} on the diagonal"));
    }
    if let Some((value, row, column)) = largest {
        let value = number(significant(f64::from(value), 6));
        let most = if agree { ", most off it" } else { "; most" };
        said.push_str(&format!("{most} in row {row}, column {column}: {value}"));
    }
    said.push('.');
    said
}

/// What each pair amounts to, the largest first: of who sends how many bytes to whom, say.
pub(super) fn traffic_words(map: &HeatMap, unit: &str, glyphs: &Glyphs) -> String {
    let mut pairs: Vec<(f64, &str, &str)> = Vec::new();
    for (row, from) in map.row_labels.iter().enumerate() {
        for (column, to) in map.column_labels.iter().enumerate() {
            let value = matrix::value(map, row, column).map(f64::from);
            let value = value.filter(|value| value.is_finite() && *value != 0.0);
            pairs.extend(value.map(|value| (value, from.as_str(), to.as_str())));
        }
    }
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
    let amount = |value: f64| quantity(value, Some(unit), glyphs);
    let all: f64 = pairs.iter().map(|pair| pair.0).sum();
    let told = pairs.iter().take(READ_ROWS);
    let told = told.map(|(value, from, to)| format!("{from}, {to}: {}", amount(*value)));
    let told = told.collect::<Vec<_>>().join("; ");
    let said = format!("{}, {} in all. {told}", map.legend, amount(all));
    match pairs.len().saturating_sub(READ_ROWS) {
        0 => format!("{said}."),
        more => format!("{said}; and {more} more."),
    }
}
