//! Pictures one after the other: which of them is seen, its title, and the picture.

use crate::canvas::Canvas;
use crate::figure::csv::Lines;
use crate::glyphs::Glyphs;
use crate::panel::picture::{self, At, Picture, Sheet};
use crate::panel::view::{Inspect, Way};
use mlsys_lab::frame::Frame;
use mlsys_lab::frame::FrameSequence;
use ratatui::layout::Rect;
use std::borrow::Cow;

use crate::canvas::Pen;
use crate::panel::view::FrameView;
use crate::panel::{Focus, draw_frame};
use crate::theme::Look;

/// Draws the picture where the view stands, below its place among all and its title.
pub(crate) fn draw(
    area: Rect,
    canvas: &mut Canvas,
    film: &FrameSequence,
    view: &FrameView,
    focus: Focus,
    look: &Look,
) {
    let mut pen = Pen::new(area, canvas, &look.glyphs);
    let Some(still) = film.at(view.round) else {
        pen.text(area.x, area.y, "no pictures", look.theme.dim);
        return;
    };
    let title = self::still(film, view.round);
    pen.text(area.x, area.y, &title, look.theme.accent);
    let at = At { view, focus, walk: None };
    draw_frame(crate::panel::below_title(area), canvas, &still.frame, at, look);
}

impl Picture for FrameSequence {
    fn draw(&self, area: Rect, canvas: &mut Canvas, at: At<'_>, look: &Look) {
        draw(area, canvas, self, at.view, at.focus, look);
    }

    fn words(&self, view: &FrameView, glyphs: &Glyphs) -> String {
        match self.at(view.round) {
            Some(seen) => {
                let said = crate::panel::words::frame_words(&seen.frame, view, glyphs);
                format!("{}: {said}", still(self, view.round))
            }
            None => "no pictures.".to_owned(),
        }
    }

    fn values(&self, lines: &mut Lines) {
        super::panes::values(lines, &self.stills);
    }

    /// Left and right go from picture to picture; up and down move the mark in the one that is seen.
    fn go(&self, view: &mut FrameView, way: Way) {
        match way {
            Way::Left => self.step(view, -1),
            Way::Right => self.step(view, 1),
            Way::First => self.step(view, isize::MIN),
            Way::Last => self.step(view, isize::MAX),
            Way::Up(_) | Way::Down(_) => within(self, view, way),
        }
    }

    fn inspect(&self, view: &mut FrameView, inspect: Inspect) {
        match inspect {
            Inspect::NextPoint | Inspect::Right => self.step(view, 1),
            Inspect::PreviousPoint | Inspect::Left => self.step(view, -1),
            Inspect::Earlier => within(self, view, Way::Left),
            Inspect::Later => within(self, view, Way::Right),
            Inspect::Fit => view.mark = None,
            Inspect::Closer | Inspect::Wider | Inspect::LogAxis | Inspect::Smooth => {}
        }
    }

    fn steps(&self, view: &FrameView) -> (usize, usize) {
        (view.round.min(self.last()), self.last())
    }

    fn step(&self, view: &mut FrameView, by: isize) {
        view.round = view.round.min(self.last()).saturating_add_signed(by).min(self.last());
    }

    fn step_said(&self, view: &FrameView, _: &Glyphs) -> Option<String> {
        Some(still(self, view.round))
    }

    fn page<'a>(&'a self, sheet: &mut Sheet<'a>) {
        if let Some(cover) = self.at(self.cover) {
            sheet.above.push(still(self, self.cover));
            sheet.frame = Cow::Borrowed(&cover.frame);
            picture::of(&cover.frame).page(sheet);
        }
    }
}

/// Moves the mark in the picture that is seen.
fn within(film: &FrameSequence, view: &mut FrameView, way: Way) {
    match film.at(view.round).map(|still| &still.frame) {
        // Films have no films in them.
        Some(Frame::FrameSequence(_)) | None => {}
        Some(frame) => view.go(frame, way),
    }
}

/// Which of the pictures of a film stands at a place: "3 of 8: rows 0 to 31".
fn still(film: &FrameSequence, place: usize) -> String {
    let title = film.at(place).map_or("", |still| still.title.as_str());
    let place = place.min(film.last()) + 1;
    format!("{place} of {}: {title}", film.stills.len())
}
