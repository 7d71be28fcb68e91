//! Lines in an area: what has no room in it is never left out without a sign.

use mlsys_view::theme::Look;
use ratatui::prelude::*;
use unicode_width::UnicodeWidthStr;

/// Draws a line, with an ellipsis at its end where it is wider than its area.
pub fn put(look: &Look, line: Line<'_>, area: Rect, buffer: &mut Buffer) {
    (&line).render(area, buffer);
    let ellipsis = look.glyphs.ellipsis;
    let wide = ellipsis.width() as u16;
    let width = line.to_string().trim_end().width();
    if width > usize::from(area.width) && area.width > wide {
        buffer.set_string(area.right() - wide, area.y, ellipsis, look.theme.dim);
    }
}

pub fn draw_lines(
    look: &Look,
    lines: impl IntoIterator<Item = Line<'static>>,
    area: Rect,
    buffer: &mut Buffer,
) {
    for (line, row) in lines.into_iter().zip(area.rows()) {
        put(look, line, row, buffer);
    }
}

/// Draws lines as far as they fit; the last row says how many are left out, and how they can be seen.
pub fn draw_cut(
    look: &Look,
    lines: Vec<Line<'static>>,
    how: &str,
    area: Rect,
    buffer: &mut Buffer,
) {
    let hidden = lines.len().saturating_sub(usize::from(area.height));
    let shown = usize::from(area.height).saturating_sub(usize::from(hidden > 0));
    draw_lines(look, lines.into_iter().take(shown), area, buffer);
    if let (Some(last), true) = (area.rows().next_back(), hidden > 0) {
        let more = format!(" {} more lines{how}", hidden + 1);
        put(look, Line::styled(more, look.theme.dim), last, buffer);
    }
}
