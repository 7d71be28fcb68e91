//! The list of recorded runs.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::records::{RecordEntry, Records, Source};
use crate::state::App;
use crate::state::page::Page;

const ROWS: u16 = 18;

/// Where it lies: over the upper part of the page, as wide as it.
pub fn area(body: Rect) -> Rect {
    Rect { height: body.height.min(ROWS), ..body }
}

pub fn draw(app: &App, records: &Records, area: Rect, buffer: &mut Buffer) {
    let theme = &app.screen.look.theme;
    let mut rows = area.rows();
    let lab = app.page.as_ref().and_then(Page::lab);
    let kind = lab.map_or("", |lab| lab.schema.kind.as_str());
    if let Some(head) = rows.next() {
        Line::styled(format!(" Recorded runs of lab {kind}"), theme.title).render(head, buffer);
    }
    let mut say = |text: &'static str| {
        if let Some(row) = rows.next() {
            Line::styled(text, theme.dim).render(row, buffer);
        }
    };
    let Some(entries) = &records.entries else {
        say(" reading the folder of runs");
        return;
    };
    if entries.is_empty() {
        say(" none yet: every run of this lab is recorded");
        return;
    }
    let rule = area.bottom().saturating_sub(1);
    let visible = usize::from(area.height.saturating_sub(2)).max(1);
    let skipped = (records.chosen + 1).saturating_sub(visible);
    let params = lab.and_then(|lab| lab.params().ok());
    for (place, (entry, row)) in entries
        .iter()
        .enumerate()
        .skip(skipped)
        .zip(rows)
        .map(|((place, entry), row)| (place, (entry, row)))
    {
        if row.y >= rule {
            break;
        }
        let differences = params.as_ref().map_or_else(Vec::new, |params| entry.differences(params));
        let is_marked = place == records.chosen;
        line(app, entry, &differences, is_marked.then_some(app.screen.look.glyphs.arrow))
            .render(row, buffer);
    }
    let line = app.screen.look.glyphs.horizontal.repeat(usize::from(area.width));
    let bottom = Rect { y: rule, height: 1, ..area };
    Line::styled(line, theme.dim).render(bottom, buffer);
}

/// One run: the mark, when, where, how it ended, and what differs from the knobs as they stand.
fn line(
    app: &App,
    entry: &RecordEntry,
    differences: &[String],
    mark: Option<&str>,
) -> Line<'static> {
    let theme = &app.screen.look.theme;
    let style = if mark.is_some() { theme.selection } else { theme.text };
    let mut line = Line::from(vec![
        Span::styled(format!("{:<2}", mark.unwrap_or(" ")), theme.accent),
        Span::styled(entry.started.clone(), style),
        Span::styled(format!("  {}", entry.device), theme.text),
        Span::styled(format!("  {}", entry.standing), theme.dim),
    ]);
    if matches!(entry.source, Source::Shipped(_)) {
        line.spans.push(Span::styled("  ships with mlsys", theme.dim));
    }
    if !differences.is_empty() {
        line.spans.push(Span::styled(format!("  {}", differences.join(", ")), theme.accent));
    }
    line
}
