//! A text with styled parts, each in its colour and between its marks.

use crate::canvas::Canvas;
use crate::figure::csv::Lines;
use crate::glyphs::Glyphs;
use crate::panel::picture::{At, Picture, spaced};
use crate::panel::view::{FrameView, Way};
use mlsys_lab::frame::{StyledText, Tone};
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use crate::canvas::Pen;
use crate::figure::passage::{Row, rows};
use crate::panel::legend::{self, Item};
use crate::panel::picture::text;
use crate::theme::Look;

/// Draws the end of each text, a legend and the sentence: what is new is at the end.
pub(crate) fn draw(area: Rect, canvas: &mut Canvas, passage: &StyledText, look: &Look) {
    if area.is_empty() {
        return;
    }
    let items = items(passage, look);
    let legend = if area.height >= 5 { legend::rows(&items, area.width, 2) } else { 0 };
    let note: Vec<String> = match passage.note.as_str() {
        "" => Vec::new(),
        note => text::wrap(note, area.width),
    };
    let said = u16::try_from(note.len()).unwrap_or(u16::MAX);
    let said = said.min(area.height.saturating_sub(legend + 3));
    // A row between the text and what is said of it.
    let gap = u16::from(area.height > legend + said + 3 && legend + said > 0);
    let height = area.height - legend - said - gap;
    let texts = passage.paragraphs.len();
    // Where not all texts have a row, the last one tells of the others.
    let told = u16::from(texts > usize::from(height) && height > 1);
    let rows = usize::from(height - told);
    let shown = fitting(passage, area.width, rows);
    let mut pen = Pen::new(area, canvas, &look.glyphs);
    let mut y = area.y;
    for row in shown.iter().take(rows) {
        let mut x = area.x;
        for run in row {
            let style = run.standing.and_then(|place| passage.standings.get(place));
            let style = style.map_or(look.theme.dim, |standing| tone(standing.tone, look));
            x = pen.text(x, y, &run.text, style);
        }
        y += 1;
    }
    if told > 0 {
        let more = texts.saturating_sub(rows);
        let more = format!("{} {more} more texts", look.glyphs.ellipsis);
        pen.text(area.x, y, &more, look.theme.dim);
        y += 1;
    }
    y += gap;
    let below = Rect { y, height: legend.min(area.bottom().saturating_sub(y)), ..area };
    legend::draw(below, canvas, &items, look);
    y += legend;
    let mut pen = Pen::new(area, canvas, &look.glyphs);
    for line in note.iter().take(usize::from(said)) {
        pen.text(area.x, y, line, look.theme.text);
        y += 1;
    }
}

/// The last rows of each text, so that all have a part of the height; texts beyond it are left out.
fn fitting(passage: &StyledText, width: u16, height: usize) -> Vec<Row> {
    let count = passage.paragraphs.len();
    let shown = count.min(height.max(1));
    let each = height / shown.max(1);
    let mut all = Vec::new();
    for paragraph in passage.paragraphs.iter().take(shown) {
        let rows = rows(passage, paragraph, usize::from(width));
        let first = rows.len().saturating_sub(each.max(1));
        all.extend(rows.into_iter().skip(first));
    }
    all
}

fn items(passage: &StyledText, look: &Look) -> Vec<Item> {
    let item = |standing: &mlsys_lab::frame::SpanKind| {
        let [before, behind] = &standing.marks;
        Item {
            mark: format!("{before}ab{behind}"),
            style: tone(standing.tone, look),
            text: standing.name.clone(),
            text_style: look.theme.dim,
        }
    };
    passage.standings.iter().map(item).collect()
}

fn tone(tone: Tone, look: &Look) -> Style {
    let theme = &look.theme;
    match tone {
        Tone::First => theme.text,
        Tone::Second => theme.curves[1],
        Tone::Third => theme.curves[2],
        Tone::Faint | Tone::Empty => theme.dim,
        Tone::Warn => theme.warn,
        Tone::Bad => theme.bad.add_modifier(Modifier::CROSSED_OUT),
    }
}

impl Picture for StyledText {
    fn draw(&self, area: Rect, canvas: &mut Canvas, _: At<'_>, look: &Look) {
        canvas.fixed(|canvas| draw(spaced(area), canvas, self, look));
    }

    fn words(&self, _: &FrameView, _: &Glyphs) -> String {
        crate::figure::passage::outline(self).join("\n")
    }

    fn values(&self, lines: &mut Lines) {
        values(lines, self);
    }

    fn go(&self, _: &mut FrameView, _: Way) {}

    fn page_size(&self, columns: u16) -> (u16, u16) {
        let rows = self.paragraphs.iter().map(|p| rows(self, p, columns.into()).len());
        let rows = u16::try_from(rows.sum::<usize>()).unwrap_or(u16::MAX).saturating_add(5);
        (columns, rows.saturating_add(text::rows(&self.note, columns)))
    }
}

/// One line a part of a text.
fn values(lines: &mut Lines, passage: &StyledText) {
    lines.line(["paragraph", "standing", "text"]);
    for paragraph in &passage.paragraphs {
        for part in &paragraph.stretches {
            let standing = passage.standing(part).map_or("", |of| of.name.as_str());
            lines.line([paragraph.label.as_str(), standing, part.text.as_str()]);
        }
    }
}
