//! A table of counts between categories, such as true against predicted class.

use mlsys_lab::frame::HeatMap;
use mlsys_lab::value::{number, significant};
use ratatui::layout::Rect;

use crate::canvas::{self as pen, Canvas, Pen};
use crate::glyphs::Glyphs;
use crate::panel::picture::{LEAST, READ_ROWS, RowNeed};
use crate::panel::view::Mark;
use crate::quantity::{Prefix, quantity};
use crate::text;
use crate::theme::Look;

/// Whether rows and columns are categories.
pub(crate) fn is_matrix(map: &HeatMap) -> bool {
    !map.column_labels.is_empty() && !map.row_labels.is_empty()
}

/// Whether each pair has a place of its own in an area, in which the rows of a few categories are scrolled.
pub(crate) fn fits(area: Rect, map: &HeatMap) -> bool {
    const FEW: usize = 12;
    // A row for the titles, and a third of the width at most for the labels.
    let (wide, high) = (area.width - area.width / 3, area.height.saturating_sub(1));
    map.columns <= usize::from(wide) && map.rows <= usize::from(high).max(FEW)
}

/// The unit of all numbers, if the legend begins with one that takes prefixes: "bytes from the row to the column".
pub(crate) fn unit(map: &HeatMap) -> Option<&str> {
    let first = map.legend.split_whitespace().next()?;
    matches!(first, "bytes" | "seconds" | "flops").then_some(first)
}

pub(crate) fn value(map: &HeatMap, row: usize, column: usize) -> Option<f32> {
    let place = row.checked_mul(map.columns)?.checked_add(column)?;
    map.cells.get(place).copied()
}

/// How the number of a cell is written, the longest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Significant digits with the unit.
    Unit(usize),
    /// Significant digits with the prefix alone: the legend has the unit.
    Prefix(usize),
    /// Digits behind the point, of what has no unit.
    Decimals(usize),
}

const WITH_UNIT: [Form; 5] =
    [Form::Unit(3), Form::Unit(2), Form::Prefix(3), Form::Prefix(2), Form::Prefix(1)];
const PLAIN: [Form; 3] = [Form::Decimals(2), Form::Decimals(1), Form::Decimals(0)];
/// Of whole numbers, such as counts.
const WHOLE: [Form; 1] = [Form::Decimals(0)];

fn forms(map: &HeatMap) -> &'static [Form] {
    let is_whole = || map.cells.iter().all(|value| !value.is_finite() || value.fract() == 0.0);
    match unit(map) {
        Some(_) => &WITH_UNIT,
        None if is_whole() => &WHOLE,
        None => &PLAIN,
    }
}

struct Plan<'a> {
    labels: u16,
    field: u16,
    /// How numbers are written; none if they have no room.
    form: Option<Form>,
    /// What all columns are called, if a field has no room for it.
    shared: &'a str,
}

impl<'a> Plan<'a> {
    fn new(area: Rect, map: &'a HeatMap, look: &Look) -> Self {
        let visible = usize::from(area.height);
        let labels = pen::widest(map.row_labels.iter().take(visible)).min(area.width / 3);
        let room = area.width.saturating_sub(labels + 1);
        let cells = || map.cells.iter().take(map.columns.saturating_mul(map.rows.min(visible)));
        let widest = |form: Form| {
            let numbers = cells().map(|v| pen::width(&number_text(*v, form, map, &look.glyphs)));
            numbers.max().unwrap_or(1)
        };
        let all = forms(map);
        let titles = pen::widest(&map.column_labels);
        let wanted = all.first().map_or(1, |form| widest(*form)).max(titles.min(8)) + 2;
        let field = (room / pen::cells(map.columns).max(1)).min(wanted).max(1);
        // Of a number that is not 0 a digit is left.
        let tells = |form: Form| {
            let shown = |v: &f32| {
                let text = number_text(*v, form, map, &look.glyphs);
                *v == 0.0
                    || v.is_nan()
                    || text.contains(|letter: char| ('1'..='9').contains(&letter))
            };
            form == all[0] || cells().all(shown)
        };
        let form = all.iter().copied().find(|form| field > widest(*form) && tells(*form));
        let shared = if titles >= field { shared_word(&map.column_labels) } else { "" };
        Self { labels, field, form, shared }
    }

    /// The legend says how much the strongest shade is where no number does.
    fn legend(&self, map: &HeatMap, glyphs: &Glyphs) -> String {
        let most = map.cells.iter().copied().filter(|value| value.is_finite());
        match most.reduce(f32::max).filter(|most| *most > 0.0 && self.form.is_none()) {
            Some(most) => {
                let most = number_text(most, forms(map)[0], map, glyphs);
                format!("{}; the strongest shade is {most}", map.legend)
            }
            None => map.legend.clone(),
        }
    }
}

/// The words with which several names begin, and the space behind them: `worker ` of `worker 0` and `worker 1`.
fn shared_word(names: &[String]) -> &str {
    let head = names.first().and_then(|first| first.get(..=first.rfind(' ')?));
    let is_shared = |head: &&str| names.iter().filter(|name| name.starts_with(*head)).count() > 1;
    head.filter(is_shared).unwrap_or("")
}

/// The rows of a field that looks square, if the height allows it.
fn square(width: u16) -> u16 {
    (width / 2).max(1)
}

/// Half a cell for each row and a column for each column, so that no two share a place.
pub(crate) fn least(map: &HeatMap) -> (u16, u16) {
    /// Title, names of the columns, scale, legend.
    const AROUND: u16 = 4;
    /// Letters of a row's name.
    const NAME: u16 = 4;
    /// With more than these they share places in any case.
    const MOST: usize = 32;
    let (wide, high) = (map.columns.min(MOST), map.rows.min(MOST).div_ceil(2));
    let names = pen::widest(&map.row_labels).min(NAME);
    ((pen::cells(wide) + names).max(LEAST.0), (pen::cells(high) + AROUND).max(LEAST.1))
}

pub(crate) fn row_need(map: &HeatMap, width: u16, look: &Look) -> RowNeed {
    let plan = Plan::new(Rect::new(0, 0, width, u16::MAX / width.max(1)), map, look);
    let rows = pen::cells(map.rows);
    let need = RowNeed { least: rows, most: rows.saturating_mul(square(plan.field)) };
    need.and(text::rows(&plan.legend(map, &look.glyphs), width) + 1)
}

pub(crate) fn draw(
    area: Rect,
    canvas: &mut Canvas,
    map: &HeatMap,
    mark: Option<Mark>,
    look: &Look,
) {
    let mark = mark.map(|mark| mark.within(map.columns, map.rows));
    let theme = &look.theme;
    let columns = pen::cells(map.columns).max(1);
    let plan = Plan::new(area, map, look);
    let Plan { labels, field: width, form, shared } = plan;
    let told = plan.legend(map, &look.glyphs);
    let rows = pen::cells(map.rows);
    let free = area.height.saturating_sub(1 + text::rows(&told, area.width));
    let pitch = (free / rows.max(1)).clamp(1, square(width));
    let mut pen = Pen::new(area, canvas, &look.glyphs);
    pen.ending(area.x + labels, area.y, shared.trim_end(), theme.dim);
    for (column, title) in (0..columns).zip(&map.column_labels) {
        let x = (area.x + labels + 1).saturating_add(column.saturating_mul(width));
        let title = pen::cut(title.strip_prefix(shared).unwrap_or(title), width, "");
        pen.within(x + (width - pen::width(&title)).div_ceil(2), area.y, width, &title, theme.dim);
    }
    let room = area.height.saturating_sub(1);
    // Of rows that have no room the marked one is seen, and the last line counts them.
    let shown = if rows <= room { rows } else { room.saturating_sub(1) };
    let at = mark.map_or(0, |mark| pen::cells(mark.row));
    let first = (at + 1).saturating_sub(shown).min(rows - shown);
    for row in first..first + shown {
        let top = (area.y + 1).saturating_add((row - first).saturating_mul(pitch));
        let middle = top + (pitch - 1) / 2;
        if let Some(label) = map.row_labels.get(usize::from(row)) {
            pen.ending(area.x + labels, middle, label, theme.dim);
        }
        for column in 0..columns {
            let Some(value) = value(map, row.into(), column.into()) else { break };
            let x = (area.x + labels + 1).saturating_add(column.saturating_mul(width));
            let share = (value - map.low) / (map.high - map.low);
            let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
            let field = theme.amount(share);
            let here = Mark { column: column.into(), row: row.into() };
            let style = if mark == Some(here) { theme.selection } else { theme.on(field) };
            // A number needs no shade; without colour a shade stands where no number fits.
            let glyph =
                if field.is_none() && form.is_none() { look.glyphs.shade(share) } else { " " };
            for y in top..top.saturating_add(pitch).min(area.bottom()) {
                pen.run(x, y, width, glyph, style);
            }
            if let Some(form) = form {
                let text = number_text(value, form, map, &look.glyphs);
                let indent = (width - pen::width(&text)).div_ceil(2);
                pen.within(x + indent, middle, width - indent, &text, style);
            }
        }
    }
    let end = (area.y + 1).saturating_add(shown.saturating_mul(pitch)).min(area.bottom());
    if shown < rows {
        let text = format!("rows {} to {} of {rows}", first + 1, first + shown);
        pen.text(area.x, end, &text, theme.dim);
        return;
    }
    let below = area.bottom() - end;
    let legend = text::whole(&told, area.width, below);
    for (line, y) in legend.iter().zip(end..area.bottom()) {
        pen.text(area.x, y, line.trim_end(), theme.text);
    }
}

/// A cell's number, short; a dot for 0, so that the diagonal stands out, and nothing where there is none.
fn number_text(value: f32, form: Form, map: &HeatMap, glyphs: &Glyphs) -> String {
    let significant = |digits| significant(f64::from(value), digits);
    if value.is_nan() {
        return String::new();
    }
    if value == 0.0 {
        return glyphs.faint_point.to_owned();
    }
    match form {
        Form::Unit(digits) => quantity(significant(digits), unit(map), glyphs),
        Form::Prefix(digits) => {
            let value = significant(digits);
            let prefix = Prefix::for_size(value.abs(), unit(map));
            let digits = number(mlsys_lab::value::significant(value / prefix.factor, digits));
            prefix.letter().map_or(digits.clone(), |letter| format!("{digits}{letter}"))
        }
        Form::Decimals(digits) => {
            let factor = 10_f64.powi(digits as i32);
            // Where it rounds to zero it has no sign.
            let value = (f64::from(value) * factor).round() / factor + 0.0;
            format!("{value:.digits$}")
        }
    }
}

pub(crate) fn words(map: &HeatMap) -> String {
    let (mut diagonal, mut total) = (0.0, 0.0);
    let mut largest: Option<(f32, &str, &str)> = None;
    for (row, label) in map.row_labels.iter().enumerate() {
        for (column, other) in map.column_labels.iter().enumerate() {
            let cell = value(map, row, column);
            let Some(value) = cell.filter(|x| x.is_finite()) else { continue };
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
    let mut text = map.legend.clone();
    if agree {
        let (diagonal, total) = (number(diagonal), number(total));
        text.push_str(&format!("; {diagonal} of {total} on the diagonal"));
    }
    if let Some((value, row, column)) = largest {
        let value = number(significant(f64::from(value), 6));
        let most = if agree { ", most off it" } else { "; most" };
        text.push_str(&format!("{most} in row {row}, column {column}: {value}"));
    }
    text.push('.');
    text
}

pub(crate) fn traffic_words(map: &HeatMap, unit: &str, glyphs: &Glyphs) -> String {
    let mut pairs: Vec<(f64, &str, &str)> = Vec::new();
    for (row, from) in map.row_labels.iter().enumerate() {
        for (column, to) in map.column_labels.iter().enumerate() {
            let value = value(map, row, column).map(f64::from);
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
    let text = format!("{}, {} in all. {told}", map.legend, amount(all));
    match pairs.len().saturating_sub(READ_ROWS) {
        0 => format!("{text}."),
        more => format!("{text}; and {more} more."),
    }
}
