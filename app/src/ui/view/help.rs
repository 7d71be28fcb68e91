//! The help page: the table of commands as it is.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::ui::app::App;
use crate::ui::command::{Binding, Place, TABLE};

/// Draws every command with its keys, its places and its sentence.
pub fn draw(app: &App, scroll: usize, area: Rect, buffer: &mut Buffer) {
    let theme = &app.look.theme;
    let title = Line::styled(" Keys", theme.title);
    let rows = TABLE.iter().map(|binding| {
        Line::from(vec![
            Span::styled(format!(" {:<14}", keys(binding)), theme.key),
            Span::styled(format!("{:<9}", places(binding)), theme.dim),
            Span::styled(binding.help, theme.text),
        ])
    });
    let lines = std::iter::once(title).chain(rows).skip(scroll);
    for (line, row) in lines.zip(area.rows()) {
        line.render(row, buffer);
    }
}

fn keys(binding: &Binding) -> String {
    let keys: Vec<_> = binding.keys.iter().map(ToString::to_string).collect();
    keys.join(" ")
}

fn places(binding: &Binding) -> String {
    if Place::ALL
        .iter()
        .all(|place| binding.places.contains(place))
    {
        return "always".to_owned();
    }
    let over = |place: &&Place| **place != Place::Help;
    let names = binding.places.iter().filter(over).map(|place| place.word());
    names.collect::<Vec<_>>().join(" ")
}
