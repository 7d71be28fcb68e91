//! Pictures one after the other: which of them is seen, its title, and the picture.

use crate::canvas::Canvas;
use mlsys_lab::frame::Film;
use ratatui::layout::Rect;

use super::view::FrameView;
use super::{Focus, draw_frame};
use crate::canvas::Pen;
use crate::figure::outline;
use crate::theme::Look;

/// Draws the picture where the view stands, below its place among all and its title.
pub(super) fn draw(
    area: Rect,
    canvas: &mut Canvas,
    film: &Film,
    view: &FrameView,
    focus: Focus,
    look: &Look,
) {
    let mut pen = Pen::new(area, canvas, &look.glyphs);
    let Some(still) = film.at(view.round) else {
        pen.text(area.x, area.y, "no pictures", look.theme.dim);
        return;
    };
    let title = outline::still(film, view.round);
    pen.text(area.x, area.y, &title, look.theme.accent);
    draw_frame(super::below_title(area), canvas, &still.frame, view, focus, look);
}
