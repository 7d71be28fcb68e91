//! A block with a bar at its left, line by line.

use mlsys_lesson::{DeviceFacts, LessonEnv};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::instructor::Remark;
use super::{finder, signs, styles};
use crate::answer;
use crate::state::page::{Audience, Page, Side};
use crate::text_field::{FieldPurpose, TextField};
use mlsys_view::prose;
use mlsys_view::text::wrap_spans;
use mlsys_view::theme::Look;

/// A block that asks something, with a bar at its left.
pub(super) struct Card<'a> {
    pub(super) page: &'a Page,
    block: usize,
    width: usize,
    pub(super) look: &'a Look,
    pub(super) lines: Vec<Line<'static>>,
    pub(super) cursor: Option<(usize, usize)>,
    pub(super) options: Vec<(usize, usize)>,
}

impl<'a> Card<'a> {
    pub(super) fn new(page: &'a Page, block: usize, width: usize, look: &'a Look) -> Self {
        Self { page, block, width, look, lines: Vec::new(), cursor: None, options: Vec::new() }
    }

    fn is_marked(&self) -> bool {
        self.page.marked == Some(self.block)
    }

    pub(super) fn bar(&self) -> Span<'static> {
        let theme = &self.look.theme;
        if self.is_marked() && self.page.side == Side::Text {
            Span::styled(format!("{} ", self.look.glyphs.vertical), theme.focus)
        } else {
            Span::styled(format!("{} ", self.look.glyphs.vertical), theme.border)
        }
    }

    pub(super) fn say(&mut self, spans: &[(String, Style)]) {
        let lines = wrap_spans(spans, self.width, self.bar(), self.bar());
        self.lines.extend(lines);
    }

    pub(super) fn line(&mut self, text: impl Into<String>, style: Style) {
        self.say(&[(text.into(), style)]);
    }

    /// The first line: what it is, and what enter does if it is marked.
    pub(super) fn head(&mut self, name: &str, about: String, key: &str) {
        let theme = &self.look.theme;
        let mark = if self.is_marked() { self.look.glyphs.arrow } else { " " };
        let mut spans = vec![
            (format!("{mark} {name}"), theme.accent.add_modifier(Modifier::BOLD)),
            (format!("  {about}"), theme.dim),
        ];
        if self.is_marked() && self.page.entry.is_none() && !key.is_empty() {
            spans.push((format!("  {key}"), theme.key));
        }
        self.say(&spans);
    }

    pub(super) fn prose(&mut self, markdown: &str) {
        let bar = self.bar();
        let width = self.width.saturating_sub(2);
        for mut line in prose::render(
            markdown,
            width,
            styles(self.look),
            signs(self.look),
            Some(&finder(self.page)),
        ) {
            line.spans.insert(0, bar.clone());
            self.lines.push(line);
        }
    }

    pub(super) fn options(&mut self, options: &[String]) {
        let theme = &self.look.theme;
        let (letter_style, text) = (theme.key, theme.text);
        for (index, option) in options.iter().enumerate() {
            let lead = Span::styled(
                format!("{}  {}) ", self.look.glyphs.vertical, answer::letter(index)),
                letter_style,
            );
            let rest = Span::styled(format!("{}     ", self.look.glyphs.vertical), theme.border);
            let start = self.lines.len();
            self.lines.extend(wrap_spans(&[(option.clone(), text)], self.width, lead, rest));
            self.options.extend((start..self.lines.len()).map(|line| (line, index)));
        }
    }

    pub(super) fn field(&mut self, how: &str) {
        let theme = &self.look.theme;
        let Some(entry) = self
            .page
            .entry
            .as_ref()
            .filter(|entry| entry.purpose == FieldPurpose::Block(self.block))
        else {
            return;
        };
        let room = self.width.saturating_sub(6).max(1);
        let (shown, column) = window(entry, room);
        self.cursor = Some((self.lines.len(), 4 + column));
        let mut line = Line::from(vec![
            self.bar(),
            Span::styled("> ", theme.key),
            Span::styled(shown, theme.text.add_modifier(Modifier::UNDERLINED)),
        ]);
        if entry.text().is_empty() {
            line.spans.push(Span::styled("  ", theme.dim));
        }
        self.lines.push(line);
        match &entry.complaint {
            Some(complaint) => {
                self.line(format!("{} {complaint}", self.look.glyphs.wrong), theme.bad)
            }
            None => self.line(how.to_owned(), theme.dim),
        }
    }

    /// What students do not see, if an instructor reads.
    pub(super) fn unseen(&mut self, remarks: impl FnOnce(&LessonEnv<'_>) -> Vec<Remark>) {
        if self.page.audience == Audience::Student {
            return;
        }
        let theme = &self.look.theme;
        let facts = DeviceFacts::default();
        let remarks = remarks(&self.page.env(&facts));
        let unseen =
            ("  students do not see: ".to_owned(), theme.warn.add_modifier(Modifier::BOLD));
        self.say(&[unseen]);
        for Remark { name, text } in remarks {
            let lead = Span::styled(format!("{}  {name}: ", self.look.glyphs.vertical), theme.warn);
            let rest = Span::styled(format!("{}    ", self.look.glyphs.vertical), theme.warn);
            // Markdown of several lines is laid out below its name: a table cannot flow.
            let (flowing, below) =
                if text.contains('\n') { (String::new(), Some(text)) } else { (text, None) };
            let spans = [(flowing, theme.text)];
            self.lines.extend(wrap_spans(&spans, self.width, lead, rest));
            if let Some(markdown) = below {
                self.prose(&markdown);
            }
        }
    }
}

/// The part of an entry's text that fits a room, and the cursor's column in it.
fn window(entry: &TextField, room: usize) -> (String, usize) {
    use unicode_width::UnicodeWidthChar;
    let column = entry.cursor_column();
    let skip = column.saturating_sub(room.saturating_sub(1));
    let mut passed = 0;
    let mut shown = String::new();
    let mut used = 0;
    for c in entry.text().chars() {
        let wide = c.width().unwrap_or(0);
        if passed >= skip && used + wide <= room {
            shown.push(c);
            used += wide;
        }
        passed += wide;
    }
    (shown, column - skip)
}
