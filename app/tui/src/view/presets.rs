//! The presets of the lab shown.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::state::App;
use mlsys_view::text::wrap_spans;

/// Columns of the names, where the sentences fit next to them.
const NAME: usize = 22;
/// Below this width the sentences stand below the names.
const BESIDE: usize = 60;

pub fn draw(app: &App, chosen: usize, area: Rect, buffer: &mut Buffer) {
    for ((line, _), row) in shown(app, chosen, area).into_iter().zip(area.rows()) {
        line.render(row, buffer);
    }
}

/// The lines from the first that is shown on, each with the place of its preset.
pub fn shown(app: &App, chosen: usize, area: Rect) -> Vec<(Line<'static>, Option<usize>)> {
    let theme = &app.screen.look.theme;
    let lab = app.page.as_ref().and_then(|page| page.lab());
    let title = lab.map_or("", |open| open.title.as_str());
    let title = Line::styled(format!(" Presets: {title}"), theme.title);
    let mut lines = vec![(title, None)];
    let mut end = 0;
    let width = usize::from(area.width).saturating_sub(1);
    for (index, (preset, refused)) in app.presets().into_iter().enumerate() {
        let mark = if index == chosen { app.screen.look.glyphs.arrow } else { " " };
        let name = match (&refused, index == chosen) {
            (Some(_), _) => theme.dim,
            (None, true) => theme.selection,
            (None, false) => theme.text,
        };
        let mut spans = vec![(preset.about.clone(), theme.dim)];
        if let Some(reason) = refused {
            spans.push((format!(" (not here: {reason})"), theme.warn));
        }
        let head = Line::from(vec![
            Span::styled(format!(" {mark:<2}"), theme.accent),
            Span::styled(preset.name.clone(), name),
        ]);
        let indent = |columns: usize| Span::raw(" ".repeat(columns));
        if width < BESIDE {
            lines.push((head, Some(index)));
            let below = wrap_spans(&spans, width, indent(5), indent(5));
            lines.extend(below.into_iter().map(|line| (line, Some(index))));
        } else {
            let mut beside = wrap_spans(&spans, width, indent(NAME), indent(NAME));
            if let Some(first) = beside.first_mut() {
                let pad = NAME.saturating_sub(head.width()).max(1);
                let rest = first.spans.split_off(1.min(first.spans.len()));
                first.spans = head.spans;
                first.spans.push(indent(pad));
                first.spans.extend(rest);
            }
            lines.extend(beside.into_iter().map(|line| (line, Some(index))));
        }
        if index == chosen {
            end = lines.len();
        }
    }
    let skip = end.saturating_sub(usize::from(area.height));
    lines.drain(..skip);
    lines
}
