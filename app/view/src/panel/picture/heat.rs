//! A field of numbers over the plane, with points on it.

mod names;
mod scale;

use mlsys_lab::frame::HeatMap;
use mlsys_lab::value::number;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};

use crate::axis::cell_at;
use crate::canvas::{self as pen, Canvas, Pen};
use crate::csv::{self, Lines};
use crate::glyphs::{GlyphSet, Glyphs};
use crate::panel::legend::{self, Item};
use crate::panel::picture::{At, LEAST, PAGE_ROWS, Picture, RowNeed, matrix, page_rows};
use crate::panel::view::{FrameView, Mark};
use crate::quantity::quantity;
use crate::text;
use crate::theme::Look;

pub(crate) fn draw(
    area: Rect,
    canvas: &mut Canvas,
    map: &HeatMap,
    mark: Option<Mark>,
    look: &Look,
) {
    let (items, scale) = (classes(map, canvas, look), area.height >= 5 && area.width >= 16);
    let rows = if area.height >= 7 { legend::rows(&items, area.width, 1) } else { 0 };
    // The legend stands right of its scale, or below it.
    let is_long = scale::width(area.width, map) + pen::width(&map.legend) > area.width;
    let lines = if is_long { text::rows(&map.legend, area.width) } else { 0 };
    let lines = lines.min(area.height / 3);
    let below = rows + (1 + lines) * u16::from(scale);
    let (names, plot) = names::field(Rect { height: area.height - below, ..area }, map);
    if is_empty(map) {
        canvas.say(area, "an empty field", look);
        return;
    }
    let most = |cells: usize, places: u16, each: usize| cells.min(usize::from(places) * each);
    let grid = (most(map.columns, plot.width, 8), most(map.rows, plot.height, 16));
    let exact = canvas.mosaic(plot, grid, |row, column| {
        let middle = |place: usize, of: usize| (place as f32 + 0.5) / of as f32;
        let share = share_at(map, middle(column, grid.0), middle(row, grid.1))?;
        color_of(map, look, share)
    });
    if !exact {
        for (x, y) in plot.positions().map(Into::into) {
            cell(canvas, (x, y), plot, map, look);
        }
    }
    if names > 0 {
        names::draw(canvas, plot, map, names, look);
    }
    points(canvas, plot, map, look);
    if let Some(mark) = mark {
        self::mark(canvas, plot, map, mark, look);
    }
    if scale {
        let y = plot.bottom();
        let right = if is_long { "" } else { map.legend.as_str() };
        scale::draw(Rect { y, height: 1, ..area }, canvas, map, right, look);
        let mut pen = Pen::new(area, canvas, &look.glyphs);
        for (line, y) in text::wrap(&map.legend, area.width).iter().zip(y + 1..y + 1 + lines) {
            pen.text(area.x, y, line.trim_end(), look.theme.text);
        }
        legend::draw(Rect { y: y + 1 + lines, height: rows, ..area }, canvas, &items, look);
    }
}

/// The largest part of an area, in its middle, in which the plane is not distorted; a cell is twice as high as wide.
fn proportioned(area: Rect, map: &HeatMap) -> Rect {
    let wide = f64::from(map.x.1 - map.x.0).abs();
    let high = f64::from(map.y.1 - map.y.0).abs();
    let ratio = if wide > 0.0 && high > 0.0 { 2.0 * wide / high } else { 2.0 };
    // Beyond this the plane would be a line.
    let ratio = if ratio.is_finite() { ratio.clamp(0.5, 16.0) } else { 2.0 };
    let width = (f64::from(area.height) * ratio).round().min(f64::from(area.width)) as u16;
    let height =
        (f64::from(width) / ratio).round().clamp(1.0, f64::from(area.height.max(1))) as u16;
    // Each category has a column of its own.
    let columns = if matrix::is_matrix(map) { pen::cells(map.columns) } else { 0 };
    let width = whole(width.max(columns.min(area.width)), columns);
    let height = height.min(area.height);
    // A cell has room for two rows.
    let rows = if columns > 0 { pen::cells(map.rows) } else { 0 };
    let height = whole(height.saturating_mul(2), rows).div_ceil(2);
    let x = area.x + (area.width - width) / 2;
    Rect { x, width, height, ..area }
}

/// The most places up to `size` of which each of `of` categories has equally many; `size` if that is none.
fn whole(size: u16, of: u16) -> u16 {
    match size.checked_div(of) {
        Some(each) if each > 0 => each * of,
        Some(_) | None => size,
    }
}

fn is_empty(map: &HeatMap) -> bool {
    let size = map.columns.checked_mul(map.rows);
    size.is_none_or(|size| size == 0 || size > map.cells.len())
}

/// The share of the cell at a place: between categories there is nothing.
fn nearest(map: &HeatMap, x: f32, y: f32) -> Option<f32> {
    let place = |share: f32, cells: usize| ((share * cells as f32) as usize).min(cells - 1);
    let (column, row) = (place(x, map.columns), place(y, map.rows));
    let share = (matrix::value(map, row, column)? - map.low) / span_of(map);
    share.is_finite().then(|| share.clamp(0.0, 1.0))
}

fn span_of(map: &HeatMap) -> f32 {
    map.high - map.low
}

/// The share at a place, both coordinates from 0 (left, top) to 1; between cells it is interpolated.
fn share_at(map: &HeatMap, x: f32, y: f32) -> Option<f32> {
    if matrix::is_matrix(map) {
        return nearest(map, x, y);
    }
    let place = |share: f32, cells: usize| {
        let at = (share * cells as f32 - 0.5).clamp(0.0, cells.saturating_sub(1) as f32);
        let first = (at as usize).min(cells.saturating_sub(1));
        (first, (first + 1).min(cells.saturating_sub(1)), at - first as f32)
    };
    let (left, right, across) = place(x, map.columns);
    let (above, under, down) = place(y, map.rows);
    let value = |column, row| map.cells.get(row * map.columns + column).copied();
    let mix = |a: f32, b: f32, share: f32| a + (b - a) * share;
    let upper = mix(value(left, above)?, value(right, above)?, across);
    let lower = mix(value(left, under)?, value(right, under)?, across);
    let share = (mix(upper, lower, down) - map.low) / span_of(map);
    share.is_finite().then(|| share.clamp(0.0, 1.0))
}

/// One cell: two values above one another where the glyphs allow it, one shade where there is no colour.
fn cell(canvas: &mut Canvas, (x, y): (u16, u16), plot: Rect, map: &HeatMap, look: &Look) {
    let across = (f32::from(x - plot.x) + 0.5) / f32::from(plot.width);
    let down = |part: f32| (f32::from(y - plot.y) + part) / f32::from(plot.height);
    let share = |part| share_at(map, across, down(part));
    let color = |share: Option<f32>| share.and_then(|share| color_of(map, look, share));
    let halves = [share(0.25), share(0.75)];
    // Two rows of a matrix in one cell: the stronger one is seen.
    let one = if matrix::is_matrix(map) {
        halves.into_iter().flatten().reduce(f32::max)
    } else {
        share(0.5)
    };
    let target = &mut canvas.cells[(x, y)];
    match (look.glyphs.set, halves.map(color), color(one)) {
        (GlyphSet::Unicode, [Some(upper), Some(lower)], _) if upper != lower => {
            target.set_symbol("▀").set_fg(upper).set_bg(lower);
        }
        (_, _, Some(color)) => {
            target.set_symbol(" ").set_bg(color);
        }
        (_, _, None) => {
            let glyph = one.map_or("?", |share| look.glyphs.shade(share));
            target.set_symbol(glyph).set_style(look.theme.dim);
        }
    }
}

/// The data on top, each point the glyph of its class.
fn points(canvas: &mut Canvas, plot: Rect, map: &HeatMap, look: &Look) {
    let place = |value: f32, (low, high): (f32, f32), cells: u16| {
        let share = (value - low) / (high - low);
        let inside = (0.0..=1.0).contains(&share);
        let cell = ((share * f32::from(cells)) as u16).min(cells.saturating_sub(1));
        inside.then(|| (cell, f64::from(share) * f64::from(cells)))
    };
    // More points than this would hide the field; which are left out has nothing to do with their order.
    let most = usize::from(plot.width) * usize::from(plot.height) / 2;
    let chosen = |i: usize| (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let count = map.points.len().max(1) as u64;
    let shown = map.points.iter().enumerate();
    let shown = shown.filter(|(i, _)| (chosen(*i) * count) >> 32 < most as u64);
    for (_, point) in shown {
        let column = place(point.x, map.x, plot.width);
        let row = place(point.y, (map.y.1, map.y.0), plot.height);
        if let (Some((column, across)), Some((row, down))) = (column, row) {
            let at = (plot.x + column, plot.y + row);
            let style = if canvas.is_page() {
                look.theme.curve(usize::from(point.class) + 1)
            } else {
                let cell = canvas.cells[at].style();
                let field = behind(cell.bg, cell.fg, canvas.cells[at].symbol());
                look.theme.on(field)
            };
            let exact = (f64::from(plot.x) + across, f64::from(plot.y) + down);
            let style = style.add_modifier(Modifier::BOLD);
            let glyph = look.glyphs.class(point.class);
            Pen::new(plot, canvas, &look.glyphs).point(at, exact, glyph, style);
        }
    }
}

fn mark(canvas: &mut Canvas, plot: Rect, map: &HeatMap, mark: Mark, look: &Look) {
    let mark = mark.within(map.columns, map.rows);
    let at = |place: usize, cells: usize, size: u16| {
        cell_at((place as f64 + 0.5) / cells.max(1) as f64, size)
    };
    let x = plot.x + at(mark.column, map.columns, plot.width);
    let y = plot.y + at(mark.row, map.rows, plot.height);
    let mut pen = Pen::new(plot, canvas, &look.glyphs);
    pen.glyph(x, y, look.glyphs.mark, look.theme.selection);
}

/// The colour of a share: between categories the scale starts at nothing.
fn color_of(map: &HeatMap, look: &Look, share: f32) -> Option<Color> {
    if matrix::is_matrix(map) { look.theme.amount(share) } else { look.theme.heat(share) }
}

/// The one colour behind a glyph that takes the place of a cell; of two halves, the lower.
fn behind(bg: Option<Color>, fg: Option<Color>, symbol: &str) -> Option<Color> {
    let bg = bg.filter(|color| *color != Color::Reset);
    bg.or(if symbol == "▀" { fg } else { None })
}

fn classes(map: &HeatMap, canvas: &Canvas, look: &Look) -> Vec<Item> {
    let mut seen = [0_usize; 256];
    for point in &map.points {
        seen[usize::from(point.class)] += 1;
    }
    let present = seen.into_iter().zip(0..=u8::MAX).filter(|(count, _)| *count > 0);
    let item = |(count, class): (usize, u8)| {
        let of_class = look.theme.curve(usize::from(class) + 1);
        let style = if canvas.is_page() { of_class } else { look.theme.title };
        let text = format!("class {class} ({count} points)");
        Item::new(look.glyphs.class(class), style, text, look.theme.dim)
    };
    present.map(item).collect()
}

impl Picture for HeatMap {
    fn draw(&self, area: Rect, canvas: &mut Canvas, at: At<'_>, look: &Look) {
        match matrix::is_matrix(self) && matrix::fits(area, self) {
            true => matrix::draw(area, canvas, self, at.view.mark, look),
            false => draw(area, canvas, self, at.view.mark, look),
        }
    }

    fn words(&self, _: &FrameView, glyphs: &Glyphs) -> String {
        match (matrix::is_matrix(self), matrix::unit(self)) {
            (true, Some(unit)) => matrix::traffic_words(self, unit, glyphs),
            (true, None) => matrix::words(self),
            (false, _) => words(self),
        }
    }

    fn values(&self, lines: &mut Lines) {
        let columns = self.columns.max(1);
        if matrix::is_matrix(self) {
            let shown = columns.min(self.column_labels.len());
            let titles = self.column_labels.iter().take(shown).map(String::as_str);
            lines.line([self.legend.as_str()].into_iter().chain(titles));
            for (row, label) in self.cells.chunks(columns).zip(&self.row_labels) {
                let cells = row.iter().take(shown).map(|x| csv::single(*x));
                lines.line([label.clone()].into_iter().chain(cells));
            }
            return;
        }
        lines.line(["x", "y", &csv::titled("value", &self.legend), "class"]);
        for (row, cells) in self.cells.chunks(columns).take(self.rows).enumerate() {
            for (column, value) in cells.iter().enumerate() {
                let across = (column as f32 + 0.5) / columns as f32;
                let down = (row as f32 + 0.5) / self.rows as f32;
                let x = self.x.0 + (self.x.1 - self.x.0) * across;
                let y = self.y.1 + (self.y.0 - self.y.1) * down;
                lines.line([csv::single(x), csv::single(y), csv::single(*value), String::new()]);
            }
        }
        for point in &self.points {
            let class = point.class.to_string();
            lines.line([csv::single(point.x), csv::single(point.y), String::new(), class]);
        }
    }

    fn marked(&self, view: &FrameView, glyphs: &Glyphs) -> Option<String> {
        let mark = view.mark?;
        let Mark { column, row } = mark.within(self.columns, self.rows);
        let value = matrix::value(self, row, column)?;
        let value = if value.is_finite() {
            match matrix::unit(self) {
                Some(unit) => quantity(f64::from(value), Some(unit), glyphs),
                None => number(f64::from(value)),
            }
        } else {
            "not finite".to_owned()
        };
        if matrix::is_matrix(self) {
            let label = |labels: &[String], place: usize| {
                labels.get(place).cloned().unwrap_or_else(|| place.to_string())
            };
            let (row, column) = (label(&self.row_labels, row), label(&self.column_labels, column));
            return Some(format!("row {row}, column {column}: {value}"));
        }
        let middle = |(low, high): (f32, f32), place: usize, cells: usize| {
            let at =
                f64::from(low) + f64::from(high - low) * (place as f64 + 0.5) / cells.max(1) as f64;
            number((at * 1000.0).round() / 1000.0)
        };
        let x = middle(self.x, column, self.columns);
        let y = middle((self.y.1, self.y.0), row, self.rows);
        Some(format!("x {x}, y {y}: {value}"))
    }

    fn places(&self, _: &FrameView) -> (usize, usize) {
        (self.columns, self.rows.min(self.cells.len()))
    }

    /// A field is entered in its middle, a matrix at its first cell.
    fn first(&self, (columns, rows): (usize, usize)) -> Mark {
        match matrix::is_matrix(self) {
            true => Mark::default(),
            false => Mark { column: (columns - 1) / 2, row: (rows - 1) / 2 },
        }
    }

    fn least(&self) -> (u16, u16) {
        if matrix::is_matrix(self) { matrix::least(self) } else { LEAST }
    }

    fn row_need(&self, _: At<'_>, width: u16, look: &Look) -> Option<RowNeed> {
        matrix::is_matrix(self).then(|| matrix::row_need(self, width, look))
    }

    fn page_size(&self, columns: u16) -> (u16, u16) {
        match matrix::is_matrix(self) {
            true => (columns, page_rows(self.rows).saturating_add(3)),
            false => (columns, PAGE_ROWS),
        }
    }
}

fn words(map: &HeatMap) -> String {
    let finite: Vec<f32> = map.cells.iter().copied().filter(|x| x.is_finite()).collect();
    let middle = f32::midpoint(map.low, map.high);
    let above = finite.iter().filter(|x| **x >= middle).count();
    let share = if finite.is_empty() { 0.0 } else { 100.0 * above as f64 / finite.len() as f64 };
    let mut text = format!(
        "{}, {} by {} cells, {share:.0} % of them at or above {}.",
        if map.legend.is_empty() { "a field" } else { &map.legend },
        map.columns,
        map.rows,
        number(f64::from(middle)),
    );
    if finite.len() < map.cells.len() {
        text.push_str(&format!(" {} are not finite.", map.cells.len() - finite.len()));
    }
    if !map.points.is_empty() {
        text.push_str(&format!(" {} points lie on it.", map.points.len()));
    }
    text
}
