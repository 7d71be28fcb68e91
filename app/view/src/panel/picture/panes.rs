//! Several small pictures with their titles: as many as there is room for, from one on.

use std::borrow::Cow;
use std::ops::Range;

use mlsys_lab::frame::{Frame, FrameSequence, Pane};
use ratatui::layout::{Constraint, Layout, Rect};

use crate::canvas::{self as pen, Canvas, Pen};
use crate::csv::Lines;
use crate::glyphs::Glyphs;
use crate::panel::picture::{At, LEAST, Picture, RowNeed, Sheet, inspect_marked};
use crate::panel::view::{FrameView, Inspect, Way};
use crate::panel::words::frame_words;
use crate::panel::{draw_frame, picture};
use crate::text;
use crate::theme::Look;

/// The rows of a picture from which on its title may take two of them.
const TALL: u16 = 5;

fn most(needs: &[(u16, u16)]) -> (u16, u16) {
    needs.iter().fold(LEAST, |(wide, high), need| (wide.max(need.0), high.max(need.1)))
}

/// The pictures in pages, as many in each as have room next to each other with a gap between two. The last of a page may
/// be shortened to the room that is left, down to the least length that it is given here.
fn pages(lengths: &mut [u16], least: &[u16], gap: u16, room: u16) -> Vec<Range<usize>> {
    let mut pages = Vec::new();
    let (mut first, mut used) = (0, 0_u16);
    for (place, (length, least)) in lengths.iter_mut().zip(least).enumerate() {
        let left = room.saturating_sub(used).saturating_sub(gap);
        if place == first {
            used = *length;
        } else if left < *least {
            pages.push(first..place);
            (first, used) = (place, *length);
        } else {
            *length = (*length).min(left);
            used = used.saturating_add(*length).saturating_add(gap);
        }
    }
    pages.push(first..lengths.len());
    pages
}

/// How many pictures of a size stand side by side, and how many below each other, in a grid as square as can be.
fn grid(area: Rect, count: usize, (wide, high): (u16, u16)) -> (usize, usize) {
    let most_across = usize::from((area.width / wide).max(1));
    let most_down = usize::from((area.height / high).max(1));
    let fits = (1..=most_across.min(count)).find(|across| {
        let down = count.div_ceil(*across);
        // A cell is about twice as high as it is wide.
        let wide = usize::from(area.width) / across;
        down <= most_down && wide <= usize::from(area.height) / down * 4
    });
    let across = fits.unwrap_or(most_across.min(count));
    (across, count.div_ceil(across).min(most_down))
}

/// Which pictures are seen in an area, and where.
struct Placing {
    across: usize,
    down: usize,
    seen: Range<usize>,
    /// One row, or one column, in which each takes only what it needs.
    packed: Option<Layout>,
}

impl Placing {
    fn new(area: Rect, panes: &[Pane], marked: usize) -> Self {
        let (count, needs) = (panes.len(), needs(panes));
        let (across, down) = grid(area, count, most(&needs));
        let page = across * down;
        // Whole pages, so that the pictures stand still while the mark moves among them.
        let first = marked / page * page;
        let regular = first..(first + page).min(count);
        let pack = |mut lengths: Vec<u16>, least: Vec<u16>, gap: u16, room: u16| {
            let pages = pages(&mut lengths, &least, gap, room);
            let is_better = pages.len() < count.div_ceil(page);
            let found = pages.into_iter().find(|page| page.contains(&marked));
            let fill = |of: Range<usize>| lengths[of].iter().copied().map(Constraint::Fill);
            found.filter(|_| is_better).map(|of| (fill(of.clone()).collect::<Vec<_>>(), of))
        };
        let packed = (down == 1).then(|| {
            let wide: Vec<u16> = needs.iter().map(|need| need.0).collect();
            pack(wide.clone(), wide, 1, area.width)
        });
        let packed = packed.flatten().map(|(parts, of)| (Layout::horizontal(parts).spacing(1), of));
        let packed = packed.or_else(|| {
            let high: Vec<u16> = needs.iter().map(|need| need.1).collect();
            let mut with_text = high.clone();
            let mut least = high.clone();
            for (place, pane) in panes.iter().enumerate() {
                // Cells have a sentence below them, and say which of their rows are seen.
                if let Frame::Cells(cells) = &pane.frame {
                    with_text[place] += text::rows(&cells.note, area.width);
                    least[place] = least[place].min(LEAST.1);
                }
            }
            // A row says which pictures are seen.
            let room = area.height.saturating_sub(1);
            let mut lengths = [with_text, high].into_iter().filter(|_| across == 1);
            let found = lengths.find_map(|high| pack(high, least.clone(), 0, room));
            found.map(|(parts, of)| (Layout::vertical(parts), of))
        });
        let (packed, seen) = packed.map_or((None, regular), |(layout, of)| (Some(layout), of));
        Self { across, down, seen, packed }
    }
}

fn needs(panes: &[Pane]) -> Vec<(u16, u16)> {
    panes.iter().map(|pane| picture::drawn(&pane.frame).least()).collect()
}

impl Picture for Vec<Pane> {
    fn draw(&self, area: Rect, canvas: &mut Canvas, at: At<'_>, look: &Look) {
        if self.is_empty() || area.is_empty() {
            return;
        }
        let marked = at.view.mark.map(|mark| mark.column.min(self.len() - 1));
        let Placing { across, down, seen, packed } = Placing::new(area, self, marked.unwrap_or(0));
        // Where not all fit, a row says which these are.
        let whole = area;
        let area = Rect {
            height: area.height - u16::from(seen.len() < self.len() && area.height > 1),
            ..area
        };
        let places: Vec<Rect> = match packed {
            Some(layout) => layout.split(area).to_vec(),
            None => {
                let bands = Layout::vertical(vec![Constraint::Fill(1); down]).split(area);
                let cells = Layout::horizontal(vec![Constraint::Fill(1); across]).spacing(1);
                bands.iter().flat_map(|band| cells.split(*band).to_vec()).collect()
            }
        };
        let shown = || self.iter().enumerate().skip(seen.start).take(seen.len());
        let lines = |(pane, cell): (&Pane, &Rect)| match cell.height {
            0..4 => 1,
            // A title is whole where that leaves half of the cell to its picture.
            height => text::rows(&pane.title, cell.width.saturating_sub(1)).clamp(1, height / 2),
        };
        let titles = shown().map(|(_, pane)| pane).zip(&places).map(lines).max().unwrap_or(1);
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
            let below = Rect { y: cell.y + titles, height: cell.height - titles, ..cell };
            let at = At { view: &FrameView::default(), walk: None, ..at };
            draw_frame(below, canvas, &pane.frame, at, look);
        }
        if seen.len() < self.len() {
            let label = format!("{} to {} of {}", seen.start + 1, seen.end, self.len());
            let mut pen = Pen::new(whole, canvas, &look.glyphs);
            pen.ending(whole.right(), area.bottom(), &label, look.theme.dim);
        }
    }

    fn words(&self, _: &FrameView, glyphs: &Glyphs) -> String {
        let lines = self.iter().enumerate().map(|(place, Pane { title, frame })| {
            let words = picture::drawn(frame).words(&FrameView::default(), glyphs);
            format!("{} of {}, {title}: {words}", place + 1, self.len())
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

    /// Enough rows for all pictures to be seen; they fill what they get.
    fn row_need(&self, _: At<'_>, width: u16, _: &Look) -> Option<RowNeed> {
        /// Rows of a large screen.
        const HIGH: u16 = 60;
        if self.is_empty() {
            return None;
        }
        let is_whole = |high: &u16| {
            let area = Rect::new(0, 0, width, *high);
            Placing::new(area, self, 0).seen.len() == self.len()
        };
        let least = (most(&needs(self)).1..=HIGH).find(is_whole)?;
        Some(RowNeed { least, most: u16::MAX })
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
        draw_frame(below, canvas, &still.frame, At { walk: None, ..at }, look);
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
            let still = &self.at(place)?.frame;
            picture::drawn(still).row_need(At { walk: None, ..at }, width, look)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_holds_as_many_as_have_room() {
        const LENGTHS: [u16; 3] = [36, 18, 36];
        let found = |gap: u16, room: u16| pages(&mut LENGTHS.clone(), &LENGTHS, gap, room);
        assert_eq!(found(1, 54), [0..1, 1..2, 2..3]);
        assert_eq!(found(1, 55), [0..2, 2..3]);
        assert_eq!(found(0, 54), [0..2, 2..3]);
        assert_eq!(found(1, 92).len(), 1);
        // What has no room at all has a page of its own.
        assert_eq!(found(1, 0).len(), 3);
        // The last of a page takes what is left, if that is enough for it.
        let mut lengths = LENGTHS;
        assert_eq!(pages(&mut lengths, &[8; 3], 0, 50), [0..2, 2..3]);
        assert_eq!(lengths, [36, 14, 36]);
    }
}
