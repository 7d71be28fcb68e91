//! Which of several pictures are seen in an area, and where: each has the rows that it needs, as long as there are enough.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use mlsys_lab::frame::{Cells, Frame, Pane, Timeline};
use ratatui::layout::{Constraint, Layout, Rect};

use crate::canvas as pen;
use crate::panel::legend::Item;
use crate::panel::picture::cells::{self, Legend};
use crate::panel::picture::panes::TALL;
use crate::panel::picture::{At, LEAST, RowNeed, timeline};
use crate::panel::view::FrameView;
use crate::panel::{Focus, legend, picture};
use crate::text;
use crate::theme::Look;

pub(super) fn most(sizes: &[(u16, u16)]) -> (u16, u16) {
    sizes.iter().fold(LEAST, |(wide, high), size| (wide.max(size.0), high.max(size.1)))
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
pub(super) struct Placing {
    pub(super) seen: Range<usize>,
    pub(super) places: Vec<Rect>,
    /// Rows below all of them for the one legend that they have.
    pub(super) legend: u16,
}

impl Placing {
    pub(super) fn new(area: Rect, of: &Needs<'_>, marked: usize) -> Self {
        let Needs { panes, look, sizes, .. } = of;
        let shared = shared_legend(panes, look).filter(|_| area.height >= TALL);
        let legend = shared.map(|items| legend::rows(&items, area.width, 2));
        let count = panes.len();
        let all = Rect { height: area.height - legend.unwrap_or(0), ..area };
        let (across, down) = match stacked(panes, all, of) {
            true => (1, count),
            false => grid(all, count, most(sizes)),
        };
        let page = across * down;
        // Whole pages, so that the pictures stand still while the mark moves among them.
        let first = marked / page * page;
        let regular = first..(first + page).min(count);
        let pack = |lengths: &[u16], least: &[u16], gap: u16, room: u16| {
            let mut lengths = lengths.to_vec();
            let pages = pages(&mut lengths, least, gap, room);
            let found = pages.iter().find(|page| page.contains(&marked))?.clone();
            Some((pages.len(), lengths[found.clone()].to_vec(), found))
        };
        let is_better = |pages: usize| pages < count.div_ceil(page);
        let placed = |seen: Range<usize>, places: &dyn Fn(Rect) -> Vec<Rect>| {
            // Where not all fit, a row says which these are.
            let label = u16::from(seen.len() < count && all.height > 1);
            let places = places(Rect { height: all.height - label, ..all });
            Self { seen, places, legend: legend.unwrap_or(0) }
        };
        // In one row each takes the width that it needs.
        let wide: Vec<u16> = sizes.iter().map(|size| size.0).collect();
        let in_row = (down == 1).then(|| pack(&wide, &wide, 1, all.width)).flatten();
        if let Some((_, lengths, seen)) = in_row.filter(|(pages, ..)| is_better(*pages)) {
            let parts = Layout::horizontal(lengths.into_iter().map(Constraint::Fill)).spacing(1);
            return placed(seen, &|area| parts.split(area).to_vec());
        }
        let width = (all.width + 1) / pen::cells(across).max(1) - u16::from(across > 1);
        let needs = of.at(width, legend.is_some());
        if across == 1 {
            let least: Vec<u16> = needs.iter().map(|need| need.least).collect();
            // Cells say which of their rows are seen.
            let shortest = panes.iter().zip(&least).map(|(pane, least)| {
                let is_cells = matches!(pane.frame, Frame::Cells(_));
                if is_cells { (*least).min(LEAST.1) } else { *least }
            });
            let shortest: Vec<u16> = shortest.collect();
            let sizes: Vec<u16> = sizes.iter().map(|size| size.1).collect();
            let room = all.height.saturating_sub(1);
            let whole = pack(&least, &least, 0, all.height).filter(|(pages, ..)| *pages == 1);
            let found = whole
                .or_else(|| pack(&least, &shortest, 0, room).filter(|of| is_better(of.0)))
                .or_else(|| pack(&sizes, &shortest, 0, room).filter(|of| is_better(of.0)));
            if let Some((_, lengths, seen)) = found {
                let needs = lengths.into_iter().zip(&needs[seen.clone()]);
                let needs = needs.map(|(least, need)| RowNeed { least, ..*need });
                let needs: Vec<RowNeed> = needs.collect();
                return placed(seen, &|area| bands(area, &needs));
            }
        }
        // Each row of them has what its highest one needs, where there is so much.
        let rows = needs[regular.clone()].chunks(across);
        let larger = |a: RowNeed, b: &RowNeed| RowNeed {
            least: a.least.max(b.least),
            most: a.most.max(b.most),
        };
        let none = RowNeed { least: 1, most: 1 };
        let needs: Vec<RowNeed> = rows.map(|row| row.iter().fold(none, larger)).collect();
        let least = needs.iter().map(|need| u32::from(need.least)).sum::<u32>();
        let count = regular.len();
        placed(regular, &|area| {
            let bands = match least <= u32::from(area.height) {
                true => bands(area, &needs),
                false => Layout::vertical(vec![Constraint::Fill(1); down]).split(area).to_vec(),
            };
            // Those of a row that is not full share the whole width.
            let in_row = |row: usize| across.min(count - row * across);
            let cells = |row: usize| Layout::horizontal(vec![Constraint::Fill(1); in_row(row)]);
            let bands = bands.into_iter().enumerate();
            bands.flat_map(|(row, band)| cells(row).spacing(1).split(band).to_vec()).collect()
        })
    }

    /// The row below the places.
    pub(super) fn end(&self, area: Rect) -> u16 {
        self.places.iter().map(|place| place.bottom()).max().unwrap_or(area.y)
    }
}

/// Whether timelines stand below each other, where one place on their axes is one column.
fn stacked(panes: &[Pane], area: Rect, of: &Needs<'_>) -> bool {
    let least = || of.at(area.width, true).iter().map(|need| u32::from(need.least)).sum::<u32>();
    shared_classes(panes).is_some() && least() <= u32::from(area.height)
}

/// Bands of an area that have what they need, and of what is left each as much as it can use.
fn bands(area: Rect, needs: &[RowNeed]) -> Vec<Rect> {
    let wish = |need: &RowNeed| u32::from(need.most.min(area.height).saturating_sub(need.least));
    let wishes = needs.iter().map(wish).sum::<u32>().max(1);
    let taken = needs.iter().map(|need| u32::from(need.least)).sum::<u32>();
    let left = u32::from(area.height).saturating_sub(taken);
    let spare = left.min(wishes);
    // A row between two where nothing else needs it.
    let air = u16::from(left - spare >= needs.len() as u32);
    let (mut y, mut wished) = (area.y, 0);
    let band = |need: &RowNeed| {
        let before = spare * wished / wishes;
        wished += wish(need);
        let more = (spare * wished / wishes - before) as u16;
        let height = need.least.saturating_add(more).min(area.bottom().saturating_sub(y));
        let top = y;
        y += height + air;
        Rect { y: top, height, ..area }
    };
    needs.iter().map(band).collect()
}

/// The rows of each at a width, with a legend of its own or a shared one.
type RowsByWidth = BTreeMap<(u16, bool), Rc<[RowNeed]>>;

/// What several pictures need, worked out once for each width.
pub(super) struct Needs<'a> {
    panes: &'a [Pane],
    look: &'a Look,
    /// The columns and rows without which each cannot be read.
    pub(super) sizes: Vec<(u16, u16)>,
    rows: RefCell<RowsByWidth>,
}

impl<'a> Needs<'a> {
    pub(super) fn new(panes: &'a [Pane], look: &'a Look) -> Self {
        let sizes = panes.iter().map(|pane| picture::drawn(&pane.frame).least()).collect();
        Self { panes, look, sizes, rows: RefCell::default() }
    }

    /// The rows of each at a width; pictures of cells may share a legend.
    pub(super) fn at(&self, width: u16, is_shared: bool) -> Rc<[RowNeed]> {
        let mut known = self.rows.borrow_mut();
        let rows = known.entry((width, is_shared)).or_insert_with(|| {
            self.panes.iter().map(|pane| need(pane, width, is_shared, self.look)).collect()
        });
        Rc::clone(rows)
    }
}

/// The rows of one with its title; cells may share the legend of all.
fn need(pane: &Pane, width: u16, is_shared: bool, look: &Look) -> RowNeed {
    let picture = picture::drawn(&pane.frame);
    let view = FrameView::default();
    let at = At { view: &view, focus: Focus::Aside, walk: None, past: None };
    let cells = as_cells(pane).filter(|_| is_shared);
    let cells = cells.map(|of| cells::row_need(of, width, Legend::Shared, look));
    let timeline = as_timeline(pane).filter(|_| is_shared);
    let timeline =
        timeline.and_then(|of| timeline::row_need(of, &view, width, Legend::Shared, look));
    let own = cells.or(timeline).or_else(|| picture.row_need(at, width, look));
    let title = text::rows(&pane.title, width.saturating_sub(1)).max(1);
    match own {
        Some(need) => need.and(title),
        None => RowNeed { least: picture.least().1, most: u16::MAX },
    }
}

/// The first of several pictures of cells that are all of the same kinds: one legend below them says what they are.
fn shared_kinds(panes: &[Pane]) -> Option<&Cells> {
    let panes = if panes.len() > 1 { panes } else { &[] };
    let mut all = panes.iter().map(as_cells);
    let first = all.next()??;
    all.all(|of| of.is_some_and(|of| of.kinds == first.kinds)).then_some(first)
}

/// The first of several timelines of the same classes.
fn shared_classes(panes: &[Pane]) -> Option<&Timeline> {
    let panes = if panes.len() > 1 { panes } else { &[] };
    let mut all = panes.iter().map(|pane| as_timeline(pane).filter(|of| of.total.is_none()));
    let first = all.next()??;
    all.all(|of| of.is_some_and(|of| of.classes == first.classes)).then_some(first)
}

/// The one legend below several pictures that would all have the same.
pub(super) fn shared_legend(panes: &[Pane], look: &Look) -> Option<Vec<Item>> {
    let cells = shared_kinds(panes).map(|of| cells::kinds(of, look));
    cells.or_else(|| shared_classes(panes).map(|of| timeline::kinds(of, look)))
}

pub(super) fn as_timeline(pane: &Pane) -> Option<&Timeline> {
    if let Frame::Timeline(timeline) = &pane.frame { Some(timeline) } else { None }
}

pub(super) fn as_cells(pane: &Pane) -> Option<&Cells> {
    if let Frame::Cells(cells) = &pane.frame { Some(cells) } else { None }
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
