//! Rows and columns of values.

mod fit;
mod numbers;
mod order;

use std::borrow::Cow;
use std::ops::Range;

use mlsys_lab::frame::table::SortOrder;
use mlsys_lab::frame::{Frame, Table};
use mlsys_lab::value::{Value, plural};
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::canvas::{self as pen, Canvas, Pen};
use crate::csv::{self, Lines};
use crate::glyphs::Glyphs;
use crate::panel::Focus;
use crate::panel::picture::table::fit::{GAP, Widths, lines, most_heads, wishes};
use crate::panel::picture::table::numbers::{Column, with_prefixes};
pub(crate) use crate::panel::picture::table::order::ordered;
pub use crate::panel::picture::table::order::rows;
use crate::panel::picture::table::order::{near, own_place};
use crate::panel::picture::{At, Picture, READ_ROWS, RowNeed, Sheet, spaced, unspaced};
use crate::panel::view::{FrameView, Mark};
use crate::text;
use crate::theme::Look;

struct Layout<'a> {
    area: Rect,
    table: &'a Table,
    titles: Vec<String>,
    /// The columns that can be seen, each with its left edge and its width.
    columns: Vec<(usize, u16, u16)>,
    forms: Vec<Column<'a>>,
    /// The row below titles and rule.
    top: u16,
    /// Lines for rows; the last may tell how many others there are.
    height: usize,
    ordered: Option<String>,
}

impl<'a> Layout<'a> {
    fn new(
        area: Rect,
        table: &'a Table,
        shown: &[usize],
        view: &FrameView,
        mark: Option<Mark>,
        look: &Look,
    ) -> Self {
        let title = |(place, form): (usize, &Column<'_>)| {
            let sign = view.sort.filter(|sort| sort.column == place);
            let sign = sign.map(|sort| match sort.order {
                SortOrder::Ascending => look.glyphs.ascending,
                SortOrder::Descending => look.glyphs.descending,
            });
            let title = form.title(&look.glyphs);
            sign.map_or_else(|| title.clone(), |sign| format!("{title} {sign}"))
        };
        let titles =
            |forms: &[Column<'_>]| -> Vec<String> { forms.iter().enumerate().map(title).collect() };
        let ordered = ordered(table, view).filter(|_| area.height > 4);
        let near = near(shown, own_place(table, shown), mark, area.height);
        let form = |column| Column::new(table, column, &near);
        let mut forms: Vec<Column<'_>> = (0..table.columns.len()).map(form).collect();
        let heads = |titles: &[String], widths: &[(usize, u16)]| {
            let rows = widths.iter().map(|(column, width)| text::rows(&titles[*column], *width));
            rows.max().unwrap_or(1).clamp(1, most_heads(area.height))
        };
        let below = |titles: &[String], widths: &[(usize, u16)]| {
            let top = area.y + heads(titles, widths) + u16::from(area.height > 3);
            let bottom = area.bottom() - u16::from(ordered.is_some());
            (top, usize::from(bottom.saturating_sub(top)))
        };
        let natural = titles(&forms);
        let wishes = wishes(table, &natural, &forms, &near, area.height);
        // Rows that go over several lines for the sake of further columns: all of them, or at least a few, have to be seen.
        let shows_rows = |widths: &Widths| {
            const FEW: usize = 4;
            let rows = shown.iter().filter_map(|index| table.rows.get(*index)).take(FEW);
            let lines = rows.map(|row| lines(row, &forms, widths)).sum::<usize>();
            lines <= below(&natural, widths).1
        };
        let target = mark.map_or(0, |mark| mark.column);
        let (widths, gap) = fit::share(&wishes, area.width, target, shows_rows);
        for (column, width) in &widths {
            forms[*column] = forms[*column].within(*width);
        }
        let titles = titles(&forms);
        let (top, height) = below(&titles, &widths);
        let mut x = area.x;
        let placed = widths.into_iter().map(|(column, width)| {
            let left = x;
            x = x.saturating_add(width).saturating_add(gap);
            (column, left, width)
        });
        let columns = placed.collect();
        Self { area, table, forms, titles, columns, top, height, ordered }
    }

    fn put(&self, pen: &mut Pen<'_>, y: u16, place: (usize, u16, u16), text: &str, style: Style) {
        let (column, x, width) = place;
        let right = self.forms.get(column).is_some_and(Column::is_numeric);
        if right && pen::width(text) <= width {
            pen.ending(x.saturating_add(width), y, text, style);
        } else {
            pen.within(x, y, width, text, style);
        }
    }

    /// The line below the titles.
    fn rule(&self) -> u16 {
        self.top - u16::from(self.area.height > 3)
    }

    fn lines(&self, row: &[Value]) -> usize {
        let widths: Vec<_> = self.columns.iter().map(|place| (place.0, place.2)).collect();
        lines(row, &self.forms, &widths)
    }

    /// The rows to draw, as places among those shown: all that fit, with the marked one. Until a cell is marked, they have
    /// the run's own row, or the last ones of a table that grows.
    fn seen(&self, shown: &[usize], mark: Option<Mark>, view: &FrameView) -> Range<usize> {
        let lines: Vec<usize> = shown
            .iter()
            .map(|index| self.table.rows.get(*index).map_or(1, |row| self.lines(row)))
            .collect();
        if lines.iter().sum::<usize>() <= self.height {
            return 0..shown.len();
        }
        let room = self.height.saturating_sub(1);
        let fits = |range: Range<usize>| lines[range].iter().sum::<usize>() <= room;
        let last = lines.len().saturating_sub(1);
        let own = own_place(self.table, shown);
        let unmarked = own.unwrap_or(if view.grows { last } else { 0 });
        let at = mark.map_or(unmarked, |mark| mark.row).min(last);
        let first = (0..at).find(|first| fits(*first..at + 1)).unwrap_or(at);
        let after = (first + 1..=lines.len()).rev().find(|end| fits(first..*end));
        first..after.unwrap_or(first + usize::from(room > 0))
    }

    fn titles(&self, canvas: &mut Canvas, view: &FrameView, mark: Option<Mark>, look: &Look) {
        let mut pen = Pen::new(self.area, canvas, &look.glyphs);
        for &place in &self.columns {
            let sorted = view.sort.is_some_and(|sort| sort.column == place.0);
            let style = match mark {
                Some(mark) if mark.column == place.0 => look.theme.selection,
                Some(_) | None if sorted => look.theme.accent,
                Some(_) | None => look.theme.title,
            };
            let title = self.titles.get(place.0).map_or("", String::as_str);
            let mut lines = text::wrap(title, place.2);
            if lines.len() > usize::from(self.rule() - self.area.y) {
                lines = vec![pen::cut(title, place.2, pen.ellipsis()).into_owned()];
            }
            for (line, y) in lines.iter().zip(self.area.y..self.rule()) {
                self.put(&mut pen, y, place, line.trim_end(), style);
            }
        }
        if self.top > self.rule() {
            let end = self.columns.last().map_or(0, |(_, x, width)| x.saturating_add(*width));
            let wide = end.min(self.area.right()).saturating_sub(self.area.x);
            let line = look.glyphs.horizontal;
            pen.run(self.area.x, self.rule(), wide, line, look.theme.border);
            let beyond = self.titles.len().saturating_sub(self.columns.len());
            if beyond > 0 {
                let more = match beyond {
                    1 => " one more column".to_owned(),
                    more => format!(" {more} more columns"),
                };
                pen.ending(self.area.right(), self.rule(), &more, look.theme.dim);
            }
        }
        if let Some(ordered) = &self.ordered {
            pen.text(self.area.x, self.area.bottom() - 1, ordered, look.theme.accent);
        }
    }

    fn rows(
        &self,
        canvas: &mut Canvas,
        shown: &[usize],
        view: &FrameView,
        mark: Option<Mark>,
        look: &Look,
    ) {
        let theme = &look.theme;
        let mut pen = Pen::new(self.area, canvas, &look.glyphs);
        if shown.is_empty() && !self.table.rows.is_empty() && self.height > 0 {
            let text = "no row is like that: / and an empty filter show all";
            pen.text(self.area.x, self.top, text, theme.dim);
            return;
        }
        let seen = self.seen(shown, mark, view);
        let fits = seen == (0..shown.len());
        let bottom = self.top + self.height as u16 - u16::from(!fits && self.height > 0);
        let mut y = self.top;
        for (place, index) in shown.iter().enumerate().skip(seen.start).take(seen.len()) {
            let Some(row) = self.table.rows.get(*index) else { continue };
            for &column in &self.columns {
                let (Some(value), Some(form)) = (row.get(column.0), self.forms.get(column.0))
                else {
                    continue;
                };
                let marked = mark == Some(Mark { column: column.0, row: place });
                let style = if marked { theme.selection } else { theme.text };
                let text = form.text(value);
                let is_whole = pen::width(&text) <= column.2;
                if value.as_f64().is_some() {
                    // A number is shortened, never cut.
                    let text = if is_whole { text } else { pen.ellipsis().to_owned() };
                    self.put(&mut pen, y, column, &text, style);
                    continue;
                }
                if form.are_quantities() && is_whole {
                    self.put(&mut pen, y, column, &text, style);
                    continue;
                }
                for (line, y) in text::wrap(&text, column.2).iter().zip(y..bottom) {
                    self.put(&mut pen, y, column, line.trim_end(), style);
                }
            }
            y = y.saturating_add(pen::cells(self.lines(row)));
        }
        if !fits && self.height > 0 {
            let below = shown.len().saturating_sub(seen.end);
            let more = match (seen.start, below) {
                (0, 1) => "1 more row below".to_owned(),
                (0, below) => format!("{below} more rows below"),
                (above, below) => format!("{} above, {below} below", plural(above, "row")),
            };
            pen.text(self.area.x, bottom, &more, theme.dim);
        }
    }
}

impl Picture for Table {
    /// Draws titles, a rule and as many rows as fit about the marked one; numbers stand at the right of their column.
    fn draw(&self, area: Rect, canvas: &mut Canvas, at: At<'_>, look: &Look) {
        let area = spaced(area);
        let view = at.view;
        let focus = at.focus;
        let shown = rows(self, view);
        let mark = view.mark.map(|mark| mark.within(self.columns.len(), shown.len()));
        let table = &with_prefixes(self, &look.glyphs);
        let layout = Layout::new(area, table, &shown, view, mark, look);
        layout.titles(canvas, view, mark.filter(|_| focus == Focus::Keys), look);
        layout.rows(canvas, &shown, view, mark, look);
    }

    fn words(&self, view: &FrameView, _: &Glyphs) -> String {
        let shown = rows(self, view);
        let ordered = ordered(self, view);
        let (table, notes) = &self.numbered();
        let rows = shown.iter().take(READ_ROWS);
        let rows = rows.filter_map(|index| table.rows.get(*index)).map(|row| {
            let cells = table.columns.iter().zip(row);
            let cells: Vec<String> =
                cells.map(|(title, value)| format!("{title} {value}")).collect();
            cells.join(", ")
        });
        let sentence = rows.collect::<Vec<_>>().join("; ");
        let sentence = match ordered {
            Some(ordered) => format!("{ordered}: {sentence}"),
            None => sentence,
        };
        let sources = match notes.as_slice() {
            [] => String::new(),
            notes => format!(" Sources: {}.", notes.join("; ")),
        };
        let sentence = match shown.len().saturating_sub(READ_ROWS) {
            0 => format!("{sentence}."),
            more => format!("{sentence}; and {more} more rows."),
        };
        sentence + &sources
    }

    fn values(&self, lines: &mut Lines) {
        let table = &self.annotated();
        lines.line(&table.columns);
        for row in &table.rows {
            lines.line(row.iter().map(csv::exact));
        }
    }

    fn marked(&self, view: &FrameView, _: &Glyphs) -> Option<String> {
        let mark = view.mark?;
        let shown = rows(self, view);
        let mark = mark.within(self.columns.len(), shown.len());
        let row = self.rows.get(*shown.get(mark.row)?)?;
        let value = row.get(mark.column)?;
        let title = self.columns.get(mark.column)?;
        let of = format!("row {} of {}", mark.row + 1, shown.len());
        match row.first().filter(|_| mark.column > 0) {
            Some(name) => Some(format!("{name}, {title}: {value} ({of})")),
            None => Some(format!("{title}: {value} ({of})")),
        }
    }

    fn places(&self, view: &FrameView) -> (usize, usize) {
        (self.columns.len(), rows(self, view).len())
    }

    /// What is known of the marked cell of a table besides its value, in at most `most` lines of a width; where no cell is
    /// marked, how to mark one. The lines of a table are equally many whatever is marked, so that its rows stand still.
    fn notes_below(&self, view: &FrameView, width: u16, most: u16) -> Vec<String> {
        if self.notes.is_empty() {
            return Vec::new();
        }
        let wrapped = |note: &str| text::first_lines(note, width, most, "...");
        let notes = self.notes.all().iter();
        let longest = notes.map(|note| wrapped(note).len()).max().unwrap_or(0);
        let sentence = match view.mark {
            Some(mark) => note(self, view, mark).unwrap_or("no value, so no source"),
            None => "arrows mark a cell; its source stands here",
        };
        let mut lines = wrapped(sentence);
        lines.resize(longest.max(lines.len()), String::new());
        lines
    }

    fn source(&self, view: &FrameView) -> Option<&str> {
        note(self, view, view.mark?)
    }

    fn page<'a>(&'a self, sheet: &mut Sheet<'a>) {
        if !self.notes.is_empty() {
            let (table, notes) = self.numbered();
            sheet.frame = Cow::Owned(Frame::Table(table));
            sheet.below = notes;
        }
    }

    fn row_need(&self, at: At<'_>, width: u16, look: &Look) -> Option<RowNeed> {
        /// Rows of a large screen.
        const HIGH: u16 = 60;
        let shown = rows(self, at.view);
        let mark = at.view.mark.map(|mark| mark.within(self.columns.len(), shown.len()));
        let table = &with_prefixes(self, &look.glyphs);
        let taken = |height: u16| {
            let area = Rect::new(0, 0, width, height);
            let layout = Layout::new(area, table, &shown, at.view, mark, look);
            let seen = shown.iter().take(usize::from(HIGH)).filter_map(|row| table.rows.get(*row));
            // A filter that hides all of them says so in a row.
            let rows = pen::cells(seen.map(|row| layout.lines(row)).sum()).max(1);
            layout.top.saturating_add(rows).saturating_add(u16::from(layout.ordered.is_some()))
        };
        // The lines of the titles depend on the height.
        Some(RowNeed::exactly(unspaced(taken(taken(HIGH).min(HIGH)))))
    }

    fn page_size(&self, columns: u16) -> (u16, u16) {
        /// Columns of a cell, and rows that are looked at.
        const CELL: (u16, usize) = (48, 360);
        let wide = |column: usize| {
            let title = self.columns.get(column).map_or(0, |title| pen::width(title));
            let cells = self.rows.iter().take(CELL.1).filter_map(|row| row.get(column));
            let cells = cells.map(|value| pen::width(&value.to_string())).max();
            cells.unwrap_or(0).max(title).min(CELL.0) + GAP
        };
        let wide = (0..self.columns.len()).map(wide).fold(0, u16::saturating_add);
        let rows = pen::cells(self.rows.len());
        (wide.max(columns), rows.saturating_add(4))
    }
}

fn note<'a>(table: &'a Table, view: &FrameView, mark: Mark) -> Option<&'a str> {
    let shown = rows(table, view);
    let mark = mark.within(table.columns.len(), shown.len());
    table.notes.at(*shown.get(mark.row)?, mark.column)
}

/// The columns of a table that are seen in an area, each with its title and its cells as they are written.
pub fn columns(table: &Table, area: Rect, look: &Look) -> Vec<(String, Vec<String>)> {
    let table = &with_prefixes(table, &look.glyphs);
    let shown: Vec<usize> = (0..table.rows.len()).collect();
    let layout = Layout::new(area, table, &shown, &FrameView::default(), None, look);
    let seen = layout.columns.iter().map(|(place, ..)| {
        let cells = table.rows.iter().filter_map(|row| row.get(*place));
        let written = cells.map(|value| layout.forms[*place].text(value));
        (layout.titles[*place].clone(), written.collect())
    });
    seen.collect()
}
