//! The lines of a kernel: numbers, letters by what they are, and complaints at their place.

use mlsys_kernel::Diagnostic;
use ratatui::prelude::*;
use unicode_width::UnicodeWidthStr;

use crate::editor::Editor;
use crate::editor::highlight::{Class, Inside, parts};
use crate::editor::text::advance;
use crate::state::App;
use mlsys_view::theme::Theme;

/// The least columns in which a complaint is begun behind its line.
const LEAST: usize = 16;

fn gutter(editor: &Editor) -> u16 {
    let lines = editor.text.lines().count();
    let digits = lines.to_string().len().max(2);
    digits as u16 + 2
}

pub(super) fn letters(editor: &Editor, area: Rect) -> Rect {
    let gutter = gutter(editor).min(area.width.saturating_sub(1));
    Rect::new(area.x + gutter, area.y, area.width.saturating_sub(gutter), area.height)
}

/// What a class of letters looks like; weight and slant say it where there is no colour.
fn style(class: Class, theme: &Theme) -> Style {
    match class {
        Class::Plain => theme.text,
        Class::Keyword => theme.text.add_modifier(Modifier::BOLD),
        Class::Given => theme.accent,
        Class::Number => theme.code,
        Class::Comment => theme.dim.add_modifier(Modifier::ITALIC),
        Class::Directive => theme.key,
    }
}

pub(super) fn draw(
    app: &App,
    editor: &Editor,
    area: Rect,
    buffer: &mut Buffer,
) -> Option<Position> {
    let theme = app.theme();
    let letters = letters(editor, area);
    let (top, left) = editor.followed(usize::from(letters.height), usize::from(letters.width));
    let (cursor_line, cursor_column) = editor.text.cursor();
    let digits = usize::from(gutter(editor)) - 2;
    let selection = editor.text.selection();
    let is_selected = |at: usize| selection.as_ref().is_some_and(|range| range.contains(&at));
    let mut inside = Inside::default();
    let mut start = 0;
    for (index, line) in editor.text.lines().enumerate() {
        let (classes, next) = parts(line, inside);
        inside = next;
        let from = start;
        start += line.len() + 1;
        let Some(row) = index.checked_sub(top) else { continue };
        if row >= usize::from(area.height) {
            break;
        }
        let y = area.y + row as u16;
        let own: Vec<&Diagnostic> = editor
            .complaints
            .iter()
            .filter(|complaint| complaint.place.line as usize == index + 1)
            .collect();
        let (sign, number) = match own.is_empty() {
            true if index == cursor_line => (" ", theme.text),
            true => (" ", theme.dim),
            false => (app.glyphs().wrong, theme.bad),
        };
        let gutter = Line::styled(format!("{:>digits$}{sign}", index + 1), number);
        gutter.render(Rect::new(area.x, y, area.width, 1), buffer);
        let mut pen = Pen::new(left, usize::from(letters.width));
        for (range, class) in classes {
            let style = style(class, theme);
            let text = &line[range.clone()];
            for (offset, c) in text.char_indices() {
                let at = range.start + offset;
                let is_wrong = own.iter().any(|complaint| covers(complaint, line, at));
                let mut style = style;
                if is_wrong {
                    style = theme.bad.add_modifier(Modifier::UNDERLINED);
                }
                if is_selected(from + at) {
                    style = style.add_modifier(Modifier::REVERSED);
                }
                pen.put(c, style);
            }
        }
        if is_selected(from + line.len()) {
            pen.put(' ', theme.text.add_modifier(Modifier::REVERSED));
        }
        if let Some(first) = own.first() {
            pen.remark(&first.message, app.glyphs().ellipsis, theme.bad);
        }
        let row = Rect::new(letters.x, y, letters.width, 1);
        Line::from(pen.spans).render(row, buffer);
    }
    let row = cursor_line.checked_sub(top)?;
    let column = cursor_column.checked_sub(left)?;
    let position = Position::new(letters.x + column as u16, letters.y + row as u16);
    letters.contains(position).then_some(position)
}

/// Whether a complaint is about the letter at a byte of its line: its place and the rest of the word there.
fn covers(complaint: &Diagnostic, line: &str, at: usize) -> bool {
    let place = complaint.place.column.saturating_sub(1) as usize;
    let Some(begin) = line.char_indices().map(|(byte, _)| byte).nth(place) else { return false };
    let rest = &line[begin..];
    let word = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    let first = rest.chars().next().map_or(1, char::len_utf8);
    (begin..begin + word.max(first)).contains(&at)
}

struct Pen {
    spans: Vec<Span<'static>>,
    /// The first column shown, and one past the last.
    left: usize,
    right: usize,
    column: usize,
}

impl Pen {
    fn new(left: usize, room: usize) -> Self {
        Self { spans: Vec::new(), left, right: left + room, column: 0 }
    }

    fn put(&mut self, c: char, style: Style) {
        let next = advance(self.column, c);
        let (from, to) = (self.column.max(self.left), next.min(self.right));
        let is_whole = self.column >= self.left && next <= self.right;
        let text = match c {
            '\t' => " ".repeat(to.saturating_sub(from)),
            // Half of a wide letter is a blank.
            _ if !is_whole => " ".repeat(to.saturating_sub(from)),
            c => c.to_string(),
        };
        self.column = next;
        self.say(text, style);
    }

    fn say(&mut self, text: String, style: Style) {
        match self.spans.last_mut() {
            Some(last) if last.style == style => last.content.to_mut().push_str(&text),
            Some(_) | None => self.spans.push(Span::styled(text, style)),
        }
    }

    fn remark(&mut self, sentence: &str, ellipsis: &str, style: Style) {
        let room = self.right.saturating_sub(self.column.max(self.left) + 3);
        if room < LEAST {
            return;
        }
        let mut text = sentence.to_owned();
        if text.width() > room {
            while text.width() + ellipsis.width() > room && text.pop().is_some() {}
            text.push_str(ellipsis);
        }
        self.say("   ".to_owned(), Style::new());
        self.say(text, style.add_modifier(Modifier::ITALIC));
    }
}
