//! Commands on the chosen picture of a lab.

use mlsys_lab::schema::{Draw, Scale};

use super::App;
use crate::ui::command::{Inspect, Motion};
use crate::ui::earlier::Overlay;
use crate::ui::page::{Page, Side};
use crate::ui::panel::{Extent, extent, step_after, step_before};
use crate::ui::slot::Slot;

impl App {
    /// Gives the whole screen to the chosen picture, or goes back to where the learner was.
    pub(super) fn full_screen(&mut self) {
        if let Some(page) = self.page.as_mut() {
            match page.full_screen.take() {
                Some(side) => page.side = side,
                None => {
                    page.full_screen = Some(page.side);
                    page.side = Side::Picture;
                }
            }
        }
    }

    /// Leaves the full screen or takes the cursor away; false if there was nothing to leave.
    pub(super) fn leave_picture(&mut self) -> bool {
        let Some(page) = self.page.as_mut() else {
            return false;
        };
        if page.full_screen.is_some() {
            self.full_screen();
            return true;
        }
        let on_picture = page.side == Side::Picture;
        let slot = page.slot_mut().filter(|_| on_picture);
        slot.is_some_and(|slot| slot.cursor.take().is_some())
    }

    /// Puts the newest earlier run, all, or none behind the curves.
    pub(super) fn next_earlier_runs(&mut self) {
        let Some(slot) = self.page.as_mut().and_then(Page::slot_mut) else {
            return;
        };
        slot.overlay = slot.overlay.next();
        self.notice = Some(match (slot.earlier.len(), slot.overlay) {
            (_, Overlay::Newest) => "the newest earlier run is behind the curves".to_owned(),
            (1, Overlay::All) => "the one earlier run is behind the curves".to_owned(),
            (count, Overlay::All) => format!("{count} earlier runs are behind the curves"),
            (_, Overlay::Nothing) => "no earlier run is behind the curves".to_owned(),
        });
    }

    /// Looks at the chosen picture in another way.
    pub(super) fn inspect(&mut self, inspect: Inspect) {
        let slot = self.page.as_mut().and_then(Page::slot_mut);
        self.notice = slot.and_then(|slot| inspect_chart(slot, inspect));
    }

    /// Moves through the picture, or to another one.
    pub(super) fn move_picture(&mut self, motion: Motion) {
        let Some(slot) = self.page.as_mut().and_then(Page::slot_mut) else {
            return;
        };
        let count = slot.panels.len().max(1);
        match motion {
            Motion::Up => slot.panel = (slot.panel + count - 1) % count,
            Motion::Down => slot.panel = (slot.panel + 1) % count,
            Motion::PageUp => self.inspect(Inspect::Earlier),
            Motion::PageDown => self.inspect(Inspect::Later),
            Motion::Top => put_cursor(slot, |there| there.first),
            Motion::Bottom => put_cursor(slot, |there| there.last),
        }
    }
}

/// The steps of the chosen chart.
fn chosen_extent(slot: &Slot) -> Option<Extent> {
    let index = slot.chosen().filter(|_| slot.draws() == Some(Draw::Line))?;
    extent(&slot.scene(index)?)
}

fn put_cursor(slot: &mut Slot, at: impl Fn(Extent) -> u64) {
    if let Some(there) = chosen_extent(slot) {
        let at = at(there).clamp(there.first, there.last);
        slot.cursor = Some(at);
        if let Some(view) = slot.chosen_view() {
            view.chart.window = view.chart.window.around(at, there);
        }
    }
}

/// Looks at the chosen chart in another way; returns what is to be said of it.
fn inspect_chart(slot: &mut Slot, inspect: Inspect) -> Option<String> {
    let there = chosen_extent(slot)?;
    let scene = slot.scene(slot.chosen()?)?;
    let (window, cursor) = (scene.view.chart.window, slot.cursor);
    let (from, to) = window.steps(there);
    let column = window.column(there);
    // The first press shows the cursor where the newest values are.
    let moved = |by: &dyn Fn(u64) -> u64| cursor.map_or(to, by);
    let at = match inspect {
        Inspect::Left => moved(&|at| at.clamp(from, to).saturating_sub(column)),
        Inspect::Right => moved(&|at| at.clamp(from, to).saturating_add(column)),
        Inspect::PreviousPoint => moved(&|at| step_before(&scene, at).unwrap_or(at)),
        Inspect::NextPoint => moved(&|at| step_after(&scene, at).unwrap_or(at)),
        Inspect::Closer
        | Inspect::Wider
        | Inspect::Earlier
        | Inspect::Later
        | Inspect::Fit
        | Inspect::LogAxis
        | Inspect::Smooth => {
            let chart = &mut slot.chosen_view()?.chart;
            match inspect {
                Inspect::Closer => chart.window = window.closer(there, cursor),
                Inspect::Wider => chart.window = window.wider(there),
                Inspect::Earlier => chart.window = window.earlier(there),
                Inspect::Later => chart.window = window.later(there),
                Inspect::Fit => chart.window = window.fit(there),
                Inspect::LogAxis => {
                    chart.scale = match chart.scale {
                        Scale::Linear => Scale::Log,
                        Scale::Log => Scale::Linear,
                    };
                }
                Inspect::Smooth => {
                    chart.smoothing = chart.smoothing.next();
                    return Some(chart.smoothing.said().to_owned());
                }
                Inspect::Left | Inspect::Right | Inspect::PreviousPoint | Inspect::NextPoint => {}
            }
            return None;
        }
    };
    put_cursor(slot, |_| at);
    None
}
