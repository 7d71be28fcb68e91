//! Running text in a rectangle.

use ratatui::layout::Rect;
use unicode_width::UnicodeWidthChar;

use crate::canvas as pen;
use crate::canvas::{Canvas, Pen};
use crate::export::csv::Lines;
use crate::glyphs::Glyphs;
use crate::panel::picture::{At, Picture, spaced};
use crate::panel::view::{FrameView, Way};
use crate::theme::Look;

/// Draws text from a line on, wrapped at spaces; what does not fit below is left out.
pub(crate) fn draw(area: Rect, canvas: &mut Canvas, text: &str, first: usize, look: &Look) {
    let above = text.split_inclusive('\n').take(first).map(str::len).sum();
    let text = text.get(above..).unwrap_or("");
    // A row holds at most its width in letters, so that what lies below need not be looked at.
    let most = (usize::from(area.width) + 1) * usize::from(area.height);
    let seen = text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end]);
    let lines = seen.split('\n').flat_map(|line| wrap(line, area.width));
    for (y, line) in (area.y..area.bottom()).zip(lines) {
        Pen::new(area, canvas, &look.glyphs).text(area.x, y, &line, look.theme.text);
    }
}

/// Breaks a line at spaces into rows of at most `width` columns; longer words are cut.
pub(crate) fn wrap(line: &str, width: u16) -> Vec<String> {
    let width = usize::from(width.max(1));
    let mut rows = vec![String::new()];
    let mut used = 0;
    for word in line.split_inclusive(' ') {
        let wide = usize::from(pen::width(word.trim_end()));
        if used > 0 && used + wide > width {
            rows.push(String::new());
            used = 0;
        }
        for c in word.chars() {
            let wide = c.width().unwrap_or(0);
            if used + wide > width {
                if c == ' ' {
                    continue;
                }
                rows.push(String::new());
                used = 0;
            }
            if let Some(row) = rows.last_mut() {
                row.push(c);
            }
            used += wide;
        }
    }
    rows
}

/// The rows that a sentence takes; none if there is none.
pub(crate) fn rows(text: &str, width: u16) -> u16 {
    match text {
        "" => 0,
        text => u16::try_from(wrap(text, width).len()).unwrap_or(u16::MAX),
    }
}

impl Picture for String {
    fn draw(&self, area: Rect, canvas: &mut Canvas, at: At<'_>, look: &Look) {
        canvas.fixed(|canvas| draw(spaced(area), canvas, self, at.view.scroll, look));
    }

    fn words(&self, view: &FrameView, _: &Glyphs) -> String {
        let shown: Vec<&str> = self.lines().skip(view.scroll).collect();
        shown.join("\n").trim().to_owned()
    }

    fn values(&self, lines: &mut Lines) {
        lines.line(["text"]);
        self.lines().for_each(|line| lines.line([line]));
    }

    fn go(&self, view: &mut FrameView, way: Way) {
        view.scroll = way.along(view.scroll, self.lines().count().saturating_sub(1));
    }

    fn page_size(&self, columns: u16) -> (u16, u16) {
        let rows = self.lines().map(|line| rows(line, columns).max(1));
        (columns, rows.fold(1, u16::saturating_add))
    }
}

#[cfg(test)]
mod tests {
    use super::wrap;

    #[test]
    fn rows_are_no_wider_than_asked_and_lose_nothing_but_spaces() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("", 4), [""]);
        let text = "the quick brown fox jumps over extraordinarily-long lazy dogs";
        for width in 1..30 {
            let rows = wrap(text, width);
            assert!(rows.iter().all(|r| r.chars().count() <= usize::from(width)), "{rows:?}");
            assert_eq!(rows.concat().replace(' ', ""), text.replace(' ', ""));
        }
    }
}
