//! The help page: the table of commands as it is.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::ui::app::App;
use crate::ui::command::{Binding, Place, TABLE};

/// Draws every command with its keys, its places and its sentence.
pub fn draw(app: &App, area: Rect, buffer: &mut Buffer) {
    let theme = &app.look.theme;
    let title = Line::styled(" Keys", theme.title);
    let rows = TABLE.iter().map(|binding| {
        Line::from(vec![
            Span::styled(format!(" {:<14}", keys(binding)), theme.key),
            Span::styled(format!("{:<9}", places(binding)), theme.dim),
            Span::styled(binding.help, theme.text),
        ])
    });
    let lines = std::iter::once(title).chain(rows).skip(app.help_scroll);
    for (line, row) in lines.zip(area.rows()) {
        line.render(row, buffer);
    }
}

fn keys(binding: &Binding) -> String {
    let keys: Vec<_> = binding.keys.iter().map(ToString::to_string).collect();
    keys.join(" ")
}

fn places(binding: &Binding) -> String {
    const ALL: usize = 4;
    if binding.places.len() == ALL {
        return "always".to_owned();
    }
    let names = binding.places.iter().filter_map(|place| match place {
        Place::Course => Some("course"),
        Place::Text => Some("text"),
        Place::Lab => Some("lab"),
        Place::Help => None,
    });
    names.collect::<Vec<_>>().join(" ")
}
