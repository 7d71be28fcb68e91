//! Pictures one after the other: the place and the title of the shown one, and the picture.

use std::borrow::Cow;

use mlsys_lab::frame::{Frame, FrameSequence};
use ratatui::layout::Rect;

use super::{At, Picture, Sheet, inspect_marked};
use crate::canvas::{Canvas, Pen};
use crate::figure::csv::Lines;
use crate::glyphs::Glyphs;
use crate::panel::view::{FrameView, Inspect, Way};
use crate::panel::{below_title, draw_frame, words::frame_words};
use crate::theme::Look;

impl Picture for FrameSequence {
    fn draw(&self, area: Rect, canvas: &mut Canvas, at: At<'_>, look: &Look) {
        let mut pen = Pen::new(area, canvas, &look.glyphs);
        let Some(still) = self.at(at.view.round) else {
            pen.text(area.x, area.y, "no pictures", look.theme.dim);
            return;
        };
        pen.text(area.x, area.y, &title(self, at.view.round), look.theme.accent);
        draw_frame(below_title(area), canvas, &still.frame, At { walk: None, ..at }, look);
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
        super::panes::values(lines, &self.stills);
    }

    /// Moves the mark in the picture that is shown.
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

    fn step_count(&self) -> usize {
        self.last()
    }

    fn step_said(&self, view: &FrameView, _: &Glyphs) -> Option<String> {
        Some(title(self, view.round))
    }

    fn page<'a>(&'a self, sheet: &mut Sheet<'a>) {
        if let Some(cover) = self.at(self.cover) {
            sheet.above.push(title(self, self.cover));
            sheet.frame = Cow::Borrowed(&cover.frame);
            super::of(&cover.frame).page(sheet);
        }
    }
}

/// The place of a picture and its title: "3 of 8: rows 0 to 31".
fn title(sequence: &FrameSequence, place: usize) -> String {
    let title = sequence.at(place).map_or("", |still| still.title.as_str());
    let place = place.min(sequence.last()) + 1;
    format!("{place} of {}: {title}", sequence.stills.len())
}
