//! Running text, and a text with styled parts, each in its colour and between its marks.

use mlsys_lab::frame::{Paragraph, StyledText, Tone};
use mlsys_lab::value::plural;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::canvas::{self as pen, Canvas, Pen};
use crate::csv::Lines;
use crate::glyphs::Glyphs;
use crate::panel::legend::{self, Item};
use crate::panel::picture::{At, Picture, RowNeed, spaced, unspaced};
use crate::panel::view::{FrameView, Way};
use crate::text;
use crate::theme::Look;

impl Picture for String {
    /// Draws text from a line on, wrapped at spaces; the last row counts the lines for which there is no room.
    fn draw(&self, area: Rect, canvas: &mut Canvas, at: At<'_>, look: &Look) {
        let (area, first) = (spaced(area), at.view.scroll);
        canvas.fixed(|canvas| {
            let lines: Vec<&str> = self.trim_end().split('\n').skip(first).collect();
            let room = usize::from(area.height);
            // A row holds at most its width in letters, so that the rest of a long line need not be looked at.
            let most = (usize::from(area.width) + 1) * room;
            let rows = |line: &str| {
                let end = line.char_indices().nth(most).map_or(line.len(), |(end, _)| end);
                wrapped(&line[..end], area.width)
            };
            // The lines of which all rows have room.
            let fitting = |room: usize| {
                let ends = lines.iter().scan(0, |end, line| {
                    *end += rows(line).len();
                    (*end <= room).then_some(())
                });
                ends.count()
            };
            let whole = fitting(room);
            let (shown, left) = match whole == lines.len() || room == 1 {
                true => (room, 0),
                false => (room.saturating_sub(1), lines.len() - fitting(room.saturating_sub(1))),
            };
            let mut pen = Pen::new(area, canvas, &look.glyphs);
            let seen = lines.iter().take(whole + 1).flat_map(|line| rows(line)).take(shown);
            for (y, row) in (area.y..).zip(seen) {
                pen.text(area.x, y, &row, look.theme.text);
            }
            if left > 0 {
                let more = format!("{} below", plural(left, "more line"));
                pen.text(area.x, area.bottom() - 1, &more, look.theme.dim);
            }
        });
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

    fn row_need(&self, _: At<'_>, width: u16, _: &Look) -> Option<RowNeed> {
        Some(RowNeed::exactly(unspaced(self.page_size(width).1.saturating_sub(1))))
    }

    fn page_size(&self, columns: u16) -> (u16, u16) {
        let rows = self.lines().map(|line| pen::cells(wrapped(line, columns).len()));
        (columns, rows.fold(1, u16::saturating_add))
    }
}

/// The rows of a line; what goes on from a line of code stands further in.
fn wrapped(line: &str, width: u16) -> Vec<String> {
    match line.trim_end().ends_with([';', '{', '}']) {
        true => text::wrap_code(line, width.into()),
        false => text::wrap(line, width),
    }
}

/// Draws the end of each text, a legend and the sentence: what is new is at the end.
pub(crate) fn draw(area: Rect, canvas: &mut Canvas, styled: &StyledText, look: &Look) {
    if area.is_empty() {
        return;
    }
    let items = items(styled, look);
    let legend = if area.height >= 5 { legend::rows(&items, area.width, 2) } else { 0 };
    // Of several texts one stays, with the number of the others.
    let spare = area.height.saturating_sub(legend + 2);
    let note = text::whole(&styled.note, area.width, spare);
    let note_rows = pen::cells(note.len());
    // A row between the text and what is said of it.
    let gap = u16::from(area.height > legend + note_rows + 3 && legend + note_rows > 0);
    let height = area.height - legend - note_rows - gap;
    let texts = styled.paragraphs.len();
    // Where not all texts have a row, the last one tells of the others.
    let left_out = u16::from(texts > usize::from(height) && height > 1);
    let rows = usize::from(height - left_out);
    let shown = fitting(styled, area.width, rows);
    let mut pen = Pen::new(area, canvas, &look.glyphs);
    let mut y = area.y;
    for row in shown.iter().take(rows) {
        let mut x = area.x;
        for run in row {
            let style = run.standing.and_then(|place| styled.standings.get(place));
            let style = style.map_or(look.theme.dim, |standing| tone(standing.tone, look));
            x = pen.text(x, y, &run.text, style);
        }
        y += 1;
    }
    if left_out > 0 {
        let more = texts.saturating_sub(rows);
        let more = format!("{more} more texts below");
        pen.text(area.x, y, &more, look.theme.dim);
        y += 1;
    }
    y += gap;
    let below = Rect { y, height: legend.min(area.bottom().saturating_sub(y)), ..area };
    legend::draw(below, canvas, &items, look);
    y += legend;
    let mut pen = Pen::new(area, canvas, &look.glyphs);
    for line in &note {
        pen.text(area.x, y, line, look.theme.text);
        y += 1;
    }
}

/// The last rows of each text, so that all have a part of the height; texts beyond it are left out.
fn fitting(styled: &StyledText, width: u16, height: usize) -> Vec<Row> {
    let count = styled.paragraphs.len();
    let shown = count.min(height.max(1));
    let each = height / shown.max(1);
    let mut all = Vec::new();
    for paragraph in styled.paragraphs.iter().take(shown) {
        let rows = rows(styled, paragraph, usize::from(width));
        let first = rows.len().saturating_sub(each.max(1));
        all.extend(rows.into_iter().skip(first));
    }
    all
}

fn items(styled: &StyledText, look: &Look) -> Vec<Item> {
    let item = |standing: &mlsys_lab::frame::SpanKind| {
        let [before, behind] = &standing.marks;
        Item::new(
            format!("{before}ab{behind}"),
            tone(standing.tone, look),
            &standing.name,
            look.theme.dim,
        )
    };
    styled.standings.iter().map(item).collect()
}

fn tone(tone: Tone, look: &Look) -> Style {
    let theme = &look.theme;
    match tone {
        Tone::First | Tone::Text => theme.text,
        Tone::Second => theme.curves[1],
        Tone::Third => theme.curves[2],
        Tone::Faint | Tone::Empty | Tone::Ghost => theme.dim,
        Tone::Now => theme.accent,
        Tone::Warn => theme.warn,
        Tone::Bad => theme.bad.add_modifier(Modifier::CROSSED_OUT),
    }
}

impl Picture for StyledText {
    fn draw(&self, area: Rect, canvas: &mut Canvas, _: At<'_>, look: &Look) {
        canvas.fixed(|canvas| draw(spaced(area), canvas, self, look));
    }

    fn words(&self, _: &FrameView, _: &Glyphs) -> String {
        let mut lines: Vec<String> = Vec::new();
        if !self.note.is_empty() {
            lines.push(self.note.clone());
        }
        let marked =
            self.standings.iter().filter(|of| of.marks.iter().any(|mark| !mark.is_empty()));
        let marks = marked.map(|of| format!("{}...{} {}", of.marks[0], of.marks[1], of.name));
        let marks: Vec<String> = marks.collect();
        if !marks.is_empty() {
            lines.push(marks.join(", "));
        }
        lines.extend(self.paragraphs.iter().map(|paragraph| self.plain(paragraph)));
        lines.join("\n")
    }

    fn values(&self, lines: &mut Lines) {
        lines.line(["paragraph", "standing", "text"]);
        for paragraph in &self.paragraphs {
            for part in &paragraph.stretches {
                let standing = self.standing(part).map_or("", |of| of.name.as_str());
                lines.line([paragraph.label.as_str(), standing, part.text.as_str()]);
            }
        }
    }

    fn go(&self, _: &mut FrameView, _: Way) {}

    fn page_size(&self, columns: u16) -> (u16, u16) {
        let rows = self.paragraphs.iter().map(|p| rows(self, p, columns.into()).len());
        let rows = pen::cells(rows.sum::<usize>()).saturating_add(5);
        (columns, rows.saturating_add(text::rows(&self.note, columns)))
    }
}

/// Letters in a row that stand alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// How, as a place in [`StyledText::standings`]; nothing for a label.
    pub standing: Option<usize>,
    pub text: String,
}

pub type Row = Vec<Run>;

/// The furthest back that a row is broken at a space, in letters.
const WORD: usize = 16;

/// A paragraph in rows of at most `width` columns, of which some letters take two, broken at its own line ends and at
/// spaces; rows after the first stand under the text, not under the label.
pub fn rows(styled: &StyledText, paragraph: &Paragraph, width: usize) -> Vec<Row> {
    let label = match paragraph.label.as_str() {
        "" => String::new(),
        label => format!("{label} "),
    };
    let indent = label.width();
    let room = width.saturating_sub(indent).max(1);
    let mut lines: Vec<Vec<(char, usize)>> = vec![Vec::new()];
    // Columns of the last line.
    let mut used = 0;
    for part in &paragraph.stretches {
        for letter in styled.marked(part).chars() {
            if letter == '\n' {
                lines.push(Vec::new());
                used = 0;
                continue;
            }
            let letter = if mlsys_expr::steers_terminal(letter) { ' ' } else { letter };
            used += columns(letter);
            if let Some(row) = lines.last_mut() {
                row.push((letter, part.standing));
            }
            while let Some(row) = lines.last_mut()
                && used > room
                && row.len() > 1
            {
                let rest = broken(row);
                used = rest.iter().map(|(letter, _)| columns(*letter)).sum();
                lines.push(rest);
            }
        }
    }
    let rows = lines.into_iter().enumerate().map(|(place, line)| {
        let before = if place == 0 { label.clone() } else { " ".repeat(indent) };
        let mut row = Vec::new();
        if indent > 0 {
            row.push(Run { standing: None, text: before });
        }
        for (letter, standing) in line {
            match row.last_mut() {
                Some(Run { standing: Some(last), text }) if *last == standing => text.push(letter),
                Some(_) | None => {
                    row.push(Run { standing: Some(standing), text: letter.to_string() })
                }
            }
        }
        row
    });
    rows.collect()
}

fn columns(letter: char) -> usize {
    letter.width().unwrap_or(0)
}

/// Cuts a row that is a letter too long behind its last space, or before its last letter; what is cut off.
fn broken(row: &mut Vec<(char, usize)>) -> Vec<(char, usize)> {
    let least = row.len().saturating_sub(WORD).max(1);
    let space = row.iter().rposition(|(letter, _)| *letter == ' ');
    let at = space.map_or(row.len() - 1, |space| space + 1);
    let at = if at >= least && at < row.len() { at } else { row.len() - 1 };
    row.split_off(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mlsys_lab::frame::{SpanKind, StyledSpan, Tone};

    fn styled() -> StyledText {
        let standing = |name: &str, marks: [&str; 2]| SpanKind {
            name: name.to_owned(),
            tone: Tone::First,
            marks: marks.map(str::to_owned),
        };
        StyledText {
            standings: vec![standing("written", ["", ""]), standing("drafted", ["[", "]"])],
            ..StyledText::default()
        }
    }

    fn text(parts: &[(usize, &str)], label: &str, width: usize) -> Vec<String> {
        let paragraph = Paragraph {
            label: label.to_owned(),
            stretches: parts
                .iter()
                .map(|(standing, text)| StyledSpan {
                    standing: *standing,
                    text: (*text).to_owned(),
                })
                .collect(),
        };
        let rows = rows(&styled(), &paragraph, width);
        rows.iter().map(|row| row.iter().map(|run| run.text.as_str()).collect()).collect()
    }

    #[test]
    fn rows_break_at_line_ends_and_spaces_and_lose_nothing() {
        assert_eq!(text(&[(0, "1+2="), (1, "3\n4")], "", 20), ["1+2=[3", "4]"]);
        assert_eq!(text(&[(0, "one two three")], "", 8), ["one two ", "three"]);
        assert_eq!(text(&[(0, "abcdefgh")], "1", 5), ["1 abc", "  def", "  gh"]);
        assert_eq!(text(&[(1, "")], "", 0), [""]);
        for width in 0..9 {
            let rows = text(&[(0, "a bc def ghij"), (1, "klm no")], "", width);
            assert_eq!(rows.concat(), "a bc def ghij[klm no]");
        }
    }

    #[test]
    fn wide_letters_take_two_columns() {
        assert_eq!(text(&[(0, "漢字漢字")], "", 5), ["漢字", "漢字"]);
        assert_eq!(text(&[(0, "漢漢")], "漢", 5), ["漢 漢", "   漢"]);
        assert_eq!(text(&[(0, "e\u{301}e\u{301}ab")], "", 3), ["e\u{301}e\u{301}a", "b"]);
        for width in 2..9 {
            let rows = text(&[(0, "a 漢b 字字字c"), (1, "漢字 no")], "", width);
            assert_eq!(rows.concat(), "a 漢b 字字字c[漢字 no]");
            assert!(rows.iter().all(|row| row.width() <= width), "{rows:?}");
        }
    }
}
