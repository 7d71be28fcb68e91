//! Commands on the chosen picture of a lab.

use super::App;
use super::chart::{inspect_chart, put_cursor};
use super::frame::inspect_frame;
use crate::command::Motion;
use crate::page::{Page, Side};
use mlsys_view::earlier::Overlay;
use mlsys_view::figure::kernel::Play;
use mlsys_view::panel::Inspect;
use mlsys_view::panel::Tint;

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
        slot.is_some_and(|slot| {
            let walk = slot.walk.as_mut();
            if walk.is_some_and(|walk| walk.rest() || walk.follow()) {
                return true;
            }
            let view = slot.chosen_view();
            let left = view.is_some_and(|view| {
                let frame = &mut view.frame;
                let selected = frame.graph.selected.take();
                let played = std::mem::take(&mut frame.play) == Play::Going;
                played || frame.mark.take().is_some() || selected.is_some()
            });
            left || slot.cursor.take().is_some()
        })
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
        if self.inspect_kernel(inspect) || self.walk_from_afar(inspect) {
            return;
        }
        let slot = self.page.as_mut().and_then(Page::slot_mut);
        let said = slot.and_then(|slot| {
            if inspect_frame(slot, inspect) { None } else { inspect_chart(slot, inspect) }
        });
        self.notice = match (inspect, self.tint()) {
            (Inspect::Smooth, Some(Tint::Class)) => Some("coloured by kind".to_owned()),
            (Inspect::Smooth, Some(Tint::Label)) => {
                Some("coloured by label: bars of one label are alike".to_owned())
            }
            (_, _) => said,
        };
    }

    /// Moves through the picture; from a chart, up and down lead to another picture.
    pub(super) fn move_picture(&mut self, motion: Motion) {
        if self.move_in_kernel(motion) || self.move_mark(motion) {
            return;
        }
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
