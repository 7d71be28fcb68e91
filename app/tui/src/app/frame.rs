//! Commands on a picture that is no chart.

use mlsys_lab::frame::table::Filter;
use mlsys_lab::frame::{Frame, Graph, Table};
use mlsys_lab::schema::Draw;

use super::App;
use crate::command::{Motion, Place};
use crate::entry::{Entry, For};
use crate::overlay::Overlay;
use crate::page::Page;
use crate::slot::Slot;
use mlsys_view::figure::graph::line;
use mlsys_view::figure::kernel::Play;
use mlsys_view::figure::{exchange, outline};
use mlsys_view::glyphs::{GlyphSet, Glyphs};
use mlsys_view::panel::Inspect;
use mlsys_view::panel::{FrameView, Stepped, Tint, Way};

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

    /// Does something with the chosen table and how it is looked at; nothing if the picture is no table.
    fn with_table<T>(&mut self, act: impl FnOnce(&Table, &mut FrameView) -> T) -> Option<T> {
        let glyphs = &self.look.glyphs;
        let slot = self.page.as_mut().and_then(Page::slot_mut)?;
        let (frame, mut view) = chosen(slot, glyphs)?;
        let result = act(frame.table()?, &mut view);
        slot.chosen_view()?.frame = view;
        Some(result)
    }

    /// Whether the chosen picture is a table with columns.
    pub(super) fn has_table(&self) -> bool {
        self.is_chosen(|frame| {
            let table = frame.table();
            table.is_some_and(|table| !table.columns.is_empty())
        })
    }

    /// Whether the chosen picture is one, other than a chart, with parts that can be looked at closer.
    pub(super) fn has_space(&self) -> bool {
        self.is_chosen(|frame| frame.graph().is_some() || frame.timeline().is_some())
    }

    /// Whether the chosen picture is a timeline.
    pub(super) fn has_timeline(&self) -> bool {
        self.is_chosen(|frame| frame.timeline().is_some())
    }

    /// What the colour of bars tells in the chosen timeline; nothing if the picture is none.
    pub fn tint(&self) -> Option<Tint> {
        let slot = self.page.as_ref().and_then(Page::slot)?;
        let view = slot.views.get(slot.chosen()?)?;
        self.has_timeline().then_some(view.frame.tint)
    }

    /// Whether the chosen picture is an exchange of messages, or one of several that follow each other.
    pub(super) fn has_stages(&self) -> bool {
        self.is_chosen(|frame| matches!(frame, Frame::Exchange(_) | Frame::Film(_)))
    }

    /// Whether the chosen picture is a graph with groups.
    pub(super) fn has_groups(&self) -> bool {
        self.is_chosen(|frame| frame.graph().is_some_and(|graph| !graph.groups.is_empty()))
    }

    /// Whether the keys act on a picture that has steps, other than a kernel's.
    pub fn is_walked(&self) -> bool {
        let slot = self.page.as_ref().and_then(Page::slot);
        self.place() == Place::Picture && slot.is_some_and(|slot| walk_at(slot, slot.chosen()))
    }

    /// Whether there is something to go through point by point: on the picture's side the chosen chart or graph, else
    /// any graph of the lab.
    pub(super) fn has_points(&self, slot: &Slot) -> bool {
        let chart = slot.draws() == Some(Draw::Line);
        if self.ground() == Place::Picture {
            chart || walk_at(slot, slot.chosen()) || self.has_kernel_chosen()
        } else {
            walked(slot).is_some() || slot.walk.is_some()
        }
    }

    fn is_chosen(&self, test: impl Fn(&Frame) -> bool) -> bool {
        let slot = self.page.as_ref().and_then(Page::slot);
        let scene = slot.and_then(|slot| slot.scene(slot.chosen()?));
        let frame = scene.and_then(|scene| scene.frame(&self.look.glyphs));
        frame.is_some_and(|frame| test(frame.as_ref()))
    }

    /// Folds or unfolds the group of the chosen graph's selected node.
    pub(super) fn fold_group(&mut self) {
        self.notice = self.with_graph(|graph, view| view.graph.fold(graph));
    }

    /// Folds or unfolds all groups of the chosen graph.
    pub(super) fn fold_groups(&mut self) {
        self.notice = self.with_graph(|graph, view| view.graph.fold_all(graph));
    }

    fn with_graph<T>(&mut self, act: impl FnOnce(&Graph, &mut FrameView) -> T) -> Option<T> {
        let slot = self.page.as_mut().and_then(Page::slot_mut)?;
        let index = slot.chosen()?;
        let mut act = Some(act);
        let mut result = None;
        look_at(slot, index, |frame, view| {
            if let (Some(graph), Some(act)) = (frame.graph(), act.take()) {
                result = Some(act(graph, view));
            }
        });
        result
    }

    /// Goes along the steps of the lab's picture without going to it; false if none has any.
    pub(super) fn walk_from_afar(&mut self, inspect: Inspect) -> bool {
        let by = match inspect {
            Inspect::NextPoint => 1,
            Inspect::PreviousPoint => -1,
            Inspect::Left
            | Inspect::Right
            | Inspect::Closer
            | Inspect::Wider
            | Inspect::Earlier
            | Inspect::Later
            | Inspect::Fit
            | Inspect::LogAxis
            | Inspect::Smooth => return false,
        };
        if self.ground() == Place::Picture {
            return false;
        }
        let glyphs = Glyphs::new(self.look.glyphs.set);
        let Some(slot) = self.page.as_mut().and_then(Page::slot_mut) else {
            return false;
        };
        let Some(index) = walked(slot) else {
            return false;
        };
        // The picture that is walked is shown large, else its steps were done in the dark.
        if let Some(place) = slot.panels.iter().position(|panel| *panel == index) {
            slot.panel = place;
        }
        let mut said = None;
        let done = look_at(slot, index, |frame, view| {
            view.play = Play::Still;
            view.step(frame, by);
            said = match Stepped::of(frame) {
                Some(Stepped::Graph(graph)) => line(graph, &view.graph),
                Some(Stepped::Exchange(of)) => Some(exchange::line(of, view.round, &glyphs)),
                Some(Stepped::Film(film)) => Some(outline::still(film, view.round)),
                None => None,
            };
        });
        // On a small screen the picture is not in sight.
        self.notice = said;
        done
    }
}

/// The picture with steps that is walked from afar: the chosen one if it has any, else the lab's first.
fn walked(slot: &Slot) -> Option<usize> {
    let mut all = slot.chosen().into_iter().chain(slot.panels.iter().copied());
    all.find(|index| walk_at(slot, Some(*index)))
}

/// Whether a panel shows a picture with steps, other than a kernel's.
fn walk_at(slot: &Slot, index: Option<usize>) -> bool {
    let frame = index.and_then(|index| slot.frame(index));
    frame.is_some_and(|frame| FrameView::default().steps(frame).is_some())
}

/// Moves the mark left or right, or looks closer; false if the picture is a chart, or the way to look is for charts.
pub(super) fn inspect_frame(slot: &mut Slot, inspect: Inspect) -> bool {
    let Some(index) = slot.chosen().filter(|_| slot.draws() != Some(Draw::Line)) else {
        return false;
    };
    match inspect {
        Inspect::Left => go(slot, Way::Left),
        Inspect::Right => go(slot, Way::Right),
        Inspect::PreviousPoint
        | Inspect::NextPoint
        | Inspect::Closer
        | Inspect::Wider
        | Inspect::Earlier
        | Inspect::Later
        | Inspect::Fit => look_at(slot, index, |frame, view| view.inspect(frame, inspect)),
        Inspect::Smooth if is_timeline(slot, index) => {
            look_at(slot, index, |frame, view| view.inspect(frame, inspect))
        }
        Inspect::LogAxis | Inspect::Smooth => false,
    }
}

/// Whether a panel shows a timeline.
fn is_timeline(slot: &Slot, index: usize) -> bool {
    slot.frame(index).is_some_and(|frame| frame.timeline().is_some())
}

/// Whether the steps of the chosen picture follow each other by themselves.
pub(super) fn plays(slot: &Slot) -> bool {
    let view = slot.chosen().and_then(|index| slot.views.get(index));
    view.is_some_and(|view| view.frame.play == Play::Going)
}

/// Lets the steps of the chosen picture follow each other, or no longer.
pub(super) fn change_play(slot: &mut Slot) {
    if let Some(index) = slot.chosen() {
        look_at(slot, index, |frame, view| view.change_play(frame));
    }
}

/// The next step of the chosen picture, if its steps follow each other.
pub(super) fn beat(slot: &mut Slot) {
    if let Some(index) = slot.chosen() {
        look_at(slot, index, |frame, view| view.beat(frame));
    }
}

/// The mark moves by the picture alone.
fn go(slot: &mut Slot, way: Way) -> bool {
    let Some(index) = slot.chosen().filter(|_| slot.draws() != Some(Draw::Line)) else {
        return false;
    };
    look_at(slot, index, |frame, view| view.go(frame, way));
    true
}

/// Changes how a picture that is no chart is looked at; false if it is one or not there yet. The picture is not copied:
/// it may be large.
fn look_at(slot: &mut Slot, index: usize, act: impl FnOnce(&Frame, &mut FrameView)) -> bool {
    // What is marked depends on no glyph of the numbers.
    let glyphs = Glyphs::new(GlyphSet::Ascii);
    let scene = slot.scene(index);
    let seen = scene.and_then(|scene| Some((scene.frame(&glyphs)?, scene.view.frame.clone())));
    let Some((frame, mut view)) = seen else {
        return false;
    };
    act(frame.as_ref(), &mut view);
    drop(frame);
    if let Some(kept) = slot.views.get_mut(index) {
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
