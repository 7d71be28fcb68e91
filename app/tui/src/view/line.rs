//! The line that opens this state, so that it can be copied by hand too: from the first column on, with nothing else on its lines.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::state::App;
use mlsys_view::text::wrap_spans;

/// Draws the line, broken as a shell puts it together again.
pub fn draw(app: &App, line: &str, area: Rect, buffer: &mut Buffer) {
    let theme = &app.screen.look.theme;
    let width = usize::from(area.width);
    let say = |text: &str, style| {
        wrap_spans(&[(text.to_owned(), style)], width, Span::raw(" "), Span::raw(" "))
    };
    let mut lines = say("This line opens what is on the screen", theme.title);
    lines.push(Line::default());
    let broken = wrap_spans(
        &[(line.to_owned(), theme.code)],
        width.saturating_sub(2),
        Span::raw(""),
        Span::raw(""),
    );
    let last = broken.len().saturating_sub(1);
    lines.extend(broken.into_iter().enumerate().map(|(index, mut line)| {
        if index < last {
            line.spans.push(Span::styled(" \\", theme.code));
        }
        line
    }));
    lines.push(Line::default());
    lines.extend(say(
        "It was sent to the clipboard. Terminals may refuse that (tmux: set -g set-clipboard on): then mark it and copy it.",
        theme.dim,
    ));
    for (line, row) in lines.into_iter().zip(area.rows()) {
        line.render(row, buffer);
    }
}
