//! Commands on a picture that is no chart.

use mlsys_lab::frame::{Frame, Table};
use mlsys_lab::schema::Draw;

use super::App;
use crate::ui::command::{Inspect, Motion};
use crate::ui::entry::{Edit, Entry, For};
use crate::ui::glyphs::{GlyphSet, Glyphs};
use crate::ui::key::Key;
use crate::ui::overlay::Overlay;
use crate::ui::page::Page;
use crate::ui::panel::{Filter, FrameView, Way};
use crate::ui::slot::Slot;

impl App {
    /// Moves the mark of the chosen picture; false if it is a chart.
    pub(super) fn move_mark(&mut self, motion: Motion) -> bool {
        let half = self.half_screen();
        let slot = self.page.as_mut().and_then(Page::slot_mut);
        slot.is_some_and(|slot| {
            go(
                slot,
                match motion {
                    Motion::Up => Way::Up(1),
                    Motion::Down => Way::Down(1),
                    Motion::PageUp => Way::Up(half),
                    Motion::PageDown => Way::Down(half),
                    Motion::Top => Way::First,
                    Motion::Bottom => Way::Last,
                },
            )
        })
    }

    /// Sorts the chosen table by its marked column.
    pub(super) fn sort_table(&mut self) {
        self.notice = self.with_table(|table, view| view.sort_marked(&table.columns));
    }

    /// Opens the field for the filter of the chosen table; it holds the last one.
    pub(super) fn open_row_filter(&mut self) {
        let text = self.with_table(|_, view| {
            let filter = view.filter.as_ref();
            filter.map_or(String::new(), |filter| filter.text.clone())
        });
        if let Some(text) = text {
            self.overlay = Some(Overlay::Rows(Entry::new(For::Search, text)));
        }
    }

    /// Filters the chosen table as the field says, or says what is wrong with it.
    pub(super) fn filter_rows(&mut self) {
        let Some(Overlay::Rows(entry)) = &self.overlay else {
            return;
        };
        let text = entry.text().to_owned();
        let read = self.with_table(|table, view| {
            let filter = Filter::read(&text, &table.columns)?;
            view.filter = filter;
            Ok::<(), String>(())
        });
        match (read, &mut self.overlay) {
            (Some(Err(complaint)), Some(Overlay::Rows(entry))) => entry.complaint = Some(complaint),
            (Some(_) | None, _) => self.overlay = None,
        }
    }

    /// A key in the field for the filter of a table.
    pub(super) fn rows_key(&mut self, key: Key) {
        if let Some(Overlay::Rows(entry)) = &mut self.overlay {
            match entry.key(key) {
                Edit::Typed | Edit::Done | Edit::Dropped | Edit::Unused => {}
            }
        }
    }

    /// Does something with the chosen table and how it is looked at; nothing if the picture is no table.
    fn with_table<T>(&mut self, act: impl FnOnce(&Table, &mut FrameView) -> T) -> Option<T> {
        let glyphs = &self.look.glyphs;
        let slot = self.page.as_mut().and_then(Page::slot_mut)?;
        let (frame, mut view) = chosen(slot, glyphs)?;
        let Frame::Table(table) = &frame else {
            return None;
        };
        let result = act(table, &mut view);
        slot.chosen_view()?.frame = view;
        Some(result)
    }

    /// Whether the chosen picture is a table with columns.
    pub(super) fn has_table(&self) -> bool {
        let slot = self.page.as_ref().and_then(Page::slot);
        let scene = slot.and_then(|slot| slot.scene(slot.chosen()?));
        let frame = scene.and_then(|scene| scene.frame(&self.look.glyphs));
        frame.is_some_and(|frame| match frame.as_ref() {
            Frame::Table(table) => !table.columns.is_empty(),
            Frame::HeatMap(_)
            | Frame::Bars(_)
            | Frame::Histogram(_)
            | Frame::Scatter(_)
            | Frame::Images(_)
            | Frame::Graph(_)
            | Frame::Timeline(_)
            | Frame::Panes(_)
            | Frame::Text(_) => false,
        })
    }
}

/// Moves the mark left or right; false if the picture is a chart, or the way to look is for charts.
pub(super) fn inspect_frame(slot: &mut Slot, inspect: Inspect) -> bool {
    match inspect {
        Inspect::Left => go(slot, Way::Left),
        Inspect::Right => go(slot, Way::Right),
        Inspect::PreviousPoint
        | Inspect::NextPoint
        | Inspect::Closer
        | Inspect::Wider
        | Inspect::Earlier
        | Inspect::Later
        | Inspect::Fit
        | Inspect::LogAxis
        | Inspect::Smooth => false,
    }
}

/// The mark moves by the picture alone, so the glyphs of its numbers do not matter.
fn go(slot: &mut Slot, way: Way) -> bool {
    let glyphs = Glyphs::new(GlyphSet::Ascii);
    let Some((frame, mut view)) = chosen(slot, &glyphs) else {
        return slot.draws().is_some_and(|draw| draw != Draw::Line);
    };
    view.go(&frame, way);
    if let Some(kept) = slot.chosen_view() {
        kept.frame = view;
    }
    true
}

/// The chosen picture and how it is looked at; nothing if it is a chart or not there yet.
fn chosen(slot: &Slot, glyphs: &Glyphs) -> Option<(Frame, FrameView)> {
    let scene = slot.scene(slot.chosen()?)?;
    let frame = scene.frame(glyphs)?;
    Some((frame.into_owned(), scene.view.frame.clone()))
}
