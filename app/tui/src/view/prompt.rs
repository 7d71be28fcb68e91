//! A field in the last line: what it is for, what is typed, and what came of it.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::state::App;
use crate::state::overlay::Overlay;
use crate::text_field::TextField;

pub struct Prompt<'a> {
    label: &'static str,
    entry: &'a TextField,
    /// What stands at the right, and how.
    remark: (String, Style),
}

impl<'a> Prompt<'a> {
    /// The field that is open, if it stands in the last line.
    pub fn of(app: &'a App) -> Option<Self> {
        let theme = &app.screen.look.theme;
        match app.overlay.as_ref()? {
            Overlay::Steps(entry) => Some(Self {
                label: "steps",
                entry,
                remark: match &entry.complaint {
                    Some(complaint) => (complaint.clone(), theme.bad),
                    None => ("enter does them, then pauses".to_owned(), theme.dim),
                },
            }),
            Overlay::Search(search) => {
                let found = app.hits(search).len();
                let typed = !search.entry.text().trim().is_empty();
                Some(Self {
                    label: "/",
                    entry: &search.entry,
                    remark: match (typed, found) {
                        (false, _) => ("enter repeats the last search".to_owned(), theme.dim),
                        (true, 0) => ("not found".to_owned(), theme.bad),
                        (true, found) => (format!("{} of {found}", search.at + 1), theme.text),
                    },
                })
            }
            Overlay::Filter(entry) => {
                let found = app.listed().len();
                Some(Self {
                    label: "/",
                    entry,
                    remark: match found {
                        0 => ("no lesson has these words".to_owned(), theme.bad),
                        found => {
                            (format!("{found} of {} lessons", app.course.lessons.len()), theme.dim)
                        }
                    },
                })
            }
            Overlay::Rows(entry) => Some(Self {
                label: "rows",
                entry,
                remark: match &entry.complaint {
                    Some(complaint) => (complaint.clone(), theme.bad),
                    None => (
                        "a text that a cell has, or column > 3; empty shows all".to_owned(),
                        theme.dim,
                    ),
                },
            }),
            Overlay::Weights(entry) => Some(Self {
                label: "save as",
                entry,
                remark: match &entry.complaint {
                    Some(complaint) => (complaint.clone(), theme.bad),
                    None => ("enter saves, never over a file".to_owned(), theme.dim),
                },
            }),
            Overlay::Help { .. }
            | Overlay::Presets { .. }
            | Overlay::Line(_)
            | Overlay::Palette(_)
            | Overlay::Records(_)
            | Overlay::Problems { .. }
            | Overlay::Confirm(_)
            | Overlay::Glossary(_) => None,
        }
    }

    pub fn draw(self, app: &App, area: Rect, buffer: &mut Buffer) -> Position {
        let theme = &app.screen.look.theme;
        let (remark, style) = self.remark;
        let remark = Line::from(Span::styled(format!("{remark} "), style));
        let label = Span::styled(format!(" {} ", self.label), theme.key);
        let column = label.width() + self.entry.cursor_column();
        let typed = Span::styled(self.entry.text().to_owned(), theme.text);
        let line = Line::from(vec![label, typed]);
        let used = line.width() + 2;
        line.render(area, buffer);
        if used + remark.width() <= usize::from(area.width) {
            remark.right_aligned().render(area, buffer);
        }
        let last = area.width.saturating_sub(1);
        Position::new(area.x + (column as u16).min(last), area.y)
    }
}
