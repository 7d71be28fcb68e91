//! Several small pictures with their titles: as many as there is room for, from one on.

mod placing;

use std::borrow::Cow;

use mlsys_lab::frame::{Frame, FrameSequence, Pane};
use ratatui::layout::Rect;

use crate::canvas::{self as pen, Canvas, Pen};
use crate::csv::Lines;
use crate::glyphs::Glyphs;
use crate::panel::picture::cells::{self, Legend};
use crate::panel::picture::panes::placing::{
    Needs, Placing, as_cells, as_timeline, most, shared_legend,
};
use crate::panel::picture::{At, Picture, RowNeed, Sheet, inspect_marked, timeline};
use crate::panel::view::{FrameView, Inspect, Way};
use crate::panel::words::frame_words;
use crate::panel::{draw_frame, legend, picture};
use crate::text;
use crate::theme::Look;

/// The rows of a picture from which on its title may take two of them.
const TALL: u16 = 5;

impl Picture for Vec<Pane> {
    fn draw(&self, area: Rect, canvas: &mut Canvas, at: At<'_>, look: &Look) {
        if self.is_empty() || area.is_empty() {
            return;
        }
        let marked = at.view.mark.map(|mark| mark.column.min(self.len() - 1));
        let placing = Placing::new(area, &Needs::new(self, look), marked.unwrap_or(0));
        let end = placing.end(area);
        let Placing { seen, places, legend } = placing;
        let shown = || self.iter().enumerate().skip(seen.start).take(seen.len());
        let lines = |(pane, cell): (&Pane, &Rect)| match cell.height {
            0..4 => 1,
            // A title is whole where that leaves half of the cell to its picture.
            height => text::rows(&pane.title, cell.width.saturating_sub(1)).clamp(1, height / 2),
        };
        let titles = shown().map(|(_, pane)| pane).zip(&places).map(lines).max().unwrap_or(1);
        let below = |cell: Rect| Rect { y: cell.y + titles, height: cell.height - titles, ..cell };
        let alike = shown().zip(&places);
        let alike = alike.filter_map(|((_, pane), cell)| Some((below(*cell), as_cells(pane)?)));
        let limits = match legend {
            0 => cells::Limits::NONE,
            _ => cells::Limits::among(&alike.collect::<Vec<_>>()),
        };
        for ((index, pane), cell) in shown().zip(places) {
            // The title of the marked one is set off by a glyph as well.
            let (before, style) = match marked == Some(index) {
                true => (look.glyphs.forward, look.theme.accent),
                false => ("", look.theme.title),
            };
            let title = format!("{before}{}", pane.title);
            let lines = match titles {
                1 => vec![title],
                _ => text::wrap(&title, cell.width),
            };
            let mut pen = Pen::new(cell, canvas, &look.glyphs);
            for (line, y) in lines.iter().zip(cell.y..cell.y + titles) {
                pen.text(cell.x, y, line.trim_end(), style);
            }
            let below = below(cell);
            let view = &FrameView::default();
            let shared = (as_cells(pane), as_timeline(pane));
            match shared {
                (Some(of), _) if legend > 0 => {
                    cells::draw_alike(below, canvas, of, limits, look);
                }
                (_, Some(of)) if legend > 0 => {
                    timeline::draw(below, canvas, of, view, Legend::Shared, look);
                }
                (Some(_) | None, Some(_) | None) => {
                    draw_frame(below, canvas, &pane.frame, At { view, walk: None, ..at }, look);
                }
            }
        }
        if let Some(items) = shared_legend(self, look).filter(|_| legend > 0) {
            let below = Rect { y: end, height: legend, ..area };
            legend::draw(below, canvas, &items, look);
        }
        if seen.len() < self.len() {
            let label = match seen.len() {
                1 => format!("{} of {}", seen.end, self.len()),
                _ => format!("{} to {} of {}", seen.start + 1, seen.end, self.len()),
            };
            let mut pen = Pen::new(area, canvas, &look.glyphs);
            pen.ending(area.right(), area.bottom() - 1, &label, look.theme.dim);
        }
    }

    fn words(&self, _: &FrameView, glyphs: &Glyphs) -> String {
        let lines = self.iter().enumerate().map(|(place, Pane { title, frame })| {
            let words = picture::drawn(frame).words(&FrameView::default(), glyphs);
            let between = if words.contains('\n') { "\n" } else { " " };
            format!("{} of {}, {title}:{between}{words}", place + 1, self.len())
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    fn values(&self, lines: &mut Lines) {
        values(lines, self);
    }

    fn marked(&self, view: &FrameView, _: &Glyphs) -> Option<String> {
        let index = view.mark?.within(self.len(), 1).column;
        let title = &self.get(index)?.title;
        Some(format!("{} of {}: {title}", index + 1, self.len()))
    }

    fn places(&self, _: &FrameView) -> (usize, usize) {
        (self.len(), 1)
    }

    /// Enough rows for all pictures to be whole, or at least seen.
    fn row_need(&self, _: At<'_>, width: u16, look: &Look) -> Option<RowNeed> {
        /// Rows of a large screen.
        const HIGH: u16 = 60;
        if self.is_empty() {
            return None;
        }
        let needs = Needs::new(self, look);
        let has = |high: u16, wanted: fn(RowNeed) -> u16| {
            let area = Rect::new(0, 0, width, high);
            let Placing { seen, places, legend } = Placing::new(area, &needs, 0);
            let mut each = places.iter().zip(0..);
            let is_met = each.all(|(place, pane): (&Rect, usize)| {
                place.height >= wanted(needs.at(place.width, legend > 0)[pane])
            });
            (seen.len() == self.len(), is_met)
        };
        let mut heights = most(&needs.sizes).1.min(TALL)..=HIGH;
        let whole = heights.clone().find(|high| has(*high, |need| need.least) == (true, true));
        let least = whole.or_else(|| heights.find(|high| has(*high, |_| 0).0))?;
        let most = (least..=HIGH).find(|high| has(*high, |need| need.most).1);
        Some(RowNeed { least, most: most.unwrap_or(u16::MAX) })
    }

    fn page_size(&self, columns: u16) -> (u16, u16) {
        let count = pen::cells(self.len()).max(1);
        let across = count.min(if count <= 4 { 2 } else { 3 });
        let wide = columns / across;
        let rows = |pane: &Pane| picture::drawn(&pane.frame).page_size(wide).1.min(wide / 2 + 4);
        let high = self.iter().map(rows).max().unwrap_or(1);
        (columns, count.div_ceil(across).saturating_mul(high.saturating_add(2)))
    }
}

/// The lines of every picture with its header, each with its pane before it.
fn values(lines: &mut Lines, panes: &[Pane]) {
    for pane in panes {
        let outer = lines.before.replace(("pane".to_owned(), pane.title.clone()));
        picture::drawn(&pane.frame).values(lines);
        lines.before = outer;
    }
}

/// A picture of a sequence; cells are as wide as those with the longest text of all, so that they stand still.
fn steady<'a>(sequence: &FrameSequence, still: &'a Frame) -> Cow<'a, Frame> {
    let Frame::Cells(cells) = still else { return Cow::Borrowed(still) };
    let others = sequence.stills.iter().filter_map(as_cells);
    let widest = others.map(cells::text_width).max().unwrap_or(0);
    let mut cells = cells.clone();
    let all = cells.rows.iter_mut().flat_map(|row| row.cells.iter_mut().flatten());
    if let Some(cell) = all.max_by_key(|cell| pen::width(&cell.text)) {
        let missing = widest.saturating_sub(pen::width(&cell.text));
        cell.text.push_str(&" ".repeat(missing.into()));
    }
    Cow::Owned(Frame::Cells(cells))
}

impl Picture for FrameSequence {
    fn draw(&self, area: Rect, canvas: &mut Canvas, at: At<'_>, look: &Look) {
        let mut pen = Pen::new(area, canvas, &look.glyphs);
        let Some(still) = self.at(at.view.round) else {
            pen.text(area.x, area.y, "no pictures", look.theme.dim);
            return;
        };
        // As many rows for each title as one of them needs, so that the pictures stand still.
        let is_long = |round| pen::width(&title(self, round)) > area.width;
        let rows = if area.height >= TALL && (0..self.stills.len()).any(is_long) { 2 } else { 1 };
        let lines = match rows {
            1 => vec![title(self, at.view.round)],
            _ => text::wrap(&title(self, at.view.round), area.width),
        };
        for (line, y) in lines.iter().zip(area.y..area.y + rows) {
            pen.text(area.x, y, line.trim_end(), look.theme.accent);
        }
        let below = Rect { y: area.y + rows, height: area.height.saturating_sub(rows), ..area };
        draw_frame(below, canvas, &steady(self, &still.frame), At { walk: None, ..at }, look);
    }

    fn words(&self, view: &FrameView, glyphs: &Glyphs) -> String {
        match self.at(view.round) {
            Some(still) => {
                let words = frame_words(&still.frame, view, glyphs);
                format!("{}: {words}", title(self, view.round))
            }
            None => "no pictures.".to_owned(),
        }
    }

    fn values(&self, lines: &mut Lines) {
        values(lines, &self.stills);
    }

    fn go(&self, view: &mut FrameView, way: Way) {
        match self.at(view.round).map(|still| &still.frame) {
            // There are no sequences in a sequence.
            Some(Frame::FrameSequence(_)) | None => {}
            Some(frame) => view.go(frame, way),
        }
    }

    fn inspect(&self, view: &mut FrameView, inspect: Inspect) {
        inspect_marked(view, inspect, |view, way| self.go(view, way));
    }

    /// That of the pictures at both ends and in the middle, which stands for all, so that no picture moves during steps.
    fn row_need(&self, at: At<'_>, width: u16, look: &Look) -> Option<RowNeed> {
        let places = [0, self.last() / 2, self.last()];
        let needs = places.map(|place| {
            let still = steady(self, &self.at(place)?.frame);
            picture::drawn(&still).row_need(At { walk: None, ..at }, width, look)
        });
        let larger = |a: RowNeed, b: RowNeed| RowNeed {
            least: a.least.max(b.least),
            most: a.most.max(b.most),
        };
        let need = needs.into_iter().collect::<Option<Vec<_>>>()?.into_iter().reduce(larger)?;
        let is_long = (0..self.stills.len()).any(|place| pen::width(&title(self, place)) > width);
        Some(need.and(if is_long { 2 } else { 1 }))
    }

    fn step_count(&self) -> usize {
        self.last()
    }

    fn step_text(&self, view: &FrameView, _: &Glyphs) -> Option<String> {
        Some(title(self, view.round))
    }

    fn page<'a>(&'a self, sheet: &mut Sheet<'a>) {
        if let Some(cover) = self.at(self.cover) {
            sheet.above.push(title(self, self.cover));
            sheet.frame = Cow::Borrowed(&cover.frame);
            super::drawn(&cover.frame).page(sheet);
        }
    }
}

/// The place of a picture and its title: "3 of 8: rows 0 to 31".
fn title(sequence: &FrameSequence, place: usize) -> String {
    let title = sequence.at(place).map_or("", |still| still.title.as_str());
    let place = place.min(sequence.last()) + 1;
    format!("{place} of {}: {title}", sequence.stills.len())
}
