//! The palette: everything that can be done or opened, found by some letters of its name.

use mlsys_view::theme::Look;
use ratatui::prelude::*;
use unicode_width::UnicodeWidthChar;

use crate::command::Command;
use crate::fuzzy::{self, Haystack, Query};
use crate::list::{self, FilteredList};

const KIND: usize = 9;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    Command(Command),
    Lesson(String),
    Lab(String),
    Run(String),
}

impl Target {
    pub fn word(&self) -> &'static str {
        match self {
            Self::Command(_) => "command",
            Self::Lesson(_) => "lesson",
            Self::Lab(_) => "lab",
            Self::Run(_) => "run",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub target: Target,
    /// How many letters of the text are its name; the rest says more.
    pub name: usize,
    /// Name and description, as they are searched and shown.
    pub text: Haystack,
    pub keys: String,
    pub refused: Option<String>,
}

impl Item {
    pub fn new(target: Target, name: &str, about: &str) -> Self {
        Self {
            target,
            name: name.chars().count(),
            text: Haystack::new(&format!("{name}  {about}")),
            keys: String::new(),
            refused: None,
        }
    }

    /// One entry in a width: the mark, its kind, name and description or the reason against it, and its keys.
    fn line(&self, look: &Look, query: &Query, marked: bool, width: usize) -> Line<'static> {
        let theme = &look.theme;
        let refused = self.refused.as_deref();
        let mark = if marked { look.glyphs.arrow } else { " " };
        let mut line = Line::from(Span::styled(format!("{mark:<2}"), theme.accent));
        if width >= usize::from(list::BOXED) - 2 {
            let word = self.target.word();
            line.spans.push(Span::styled(format!("{word:<KIND$}"), theme.dim));
        }
        let keys = if refused.is_some() { "" } else { self.keys.as_str() };
        let keys_wide = if keys.is_empty() { 0 } else { keys.chars().count() + 2 };
        let room = width.saturating_sub(line.width() + keys_wide);
        let name = match (refused, marked) {
            (Some(_), _) => theme.dim,
            (None, true) => theme.selection,
            (None, false) => theme.text,
        };
        let places = query.places(&self.text);
        let letters = self.text.letters().iter().enumerate().map(|(at, &letter)| {
            let style = if at < self.name { name } else { theme.dim };
            let is_matched = places.binary_search(&at).is_ok();
            let matched = Modifier::UNDERLINED | Modifier::BOLD;
            (letter, if is_matched { style.add_modifier(matched) } else { style })
        });
        // The reason says more than the description and takes its room.
        let shown = if refused.is_some() { self.name } else { usize::MAX };
        let mut text: Vec<(char, Style)> = letters.take(shown).collect();
        let reason = refused.map(|reason| format!("  {reason}")).unwrap_or_default();
        text.extend(reason.chars().map(|c| (c, theme.warn)));
        let used = push_letters(&mut line, &text, room, look.glyphs.ellipsis);
        if !keys.is_empty() && room + keys_wide >= used {
            line.spans.push(Span::raw(" ".repeat(room - used + 1)));
            line.spans.push(Span::styled(keys.to_owned(), theme.key));
        }
        line
    }
}

/// What is taken off an entry that cannot be chosen: less than half a letter.
const REFUSED: i32 = 6;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Palette {
    pub list: FilteredList,
    /// Everything there is, what was used last first.
    pub items: Vec<Item>,
}

impl Palette {
    /// Opens it; `recent` is what was chosen before, the newest first.
    pub fn new(mut items: Vec<Item>, recent: &[Target]) -> Self {
        let place = |item: &Item| recent.iter().position(|target| *target == item.target);
        items.sort_by_key(|item| place(item).unwrap_or(usize::MAX));
        let mut palette = Self { list: FilteredList::empty(), items };
        palette.search();
        palette
    }

    pub fn item(&self) -> Option<&Item> {
        self.items.get(self.list.marked()?)
    }

    fn query(&self) -> Query {
        Query::new(self.list.entry.text())
    }

    pub fn search(&mut self) {
        let query = self.query();
        self.list.show(if query.is_empty() {
            (0..self.items.len()).collect()
        } else {
            let handicap = |item: &Item| if item.refused.is_some() { REFUSED } else { 0 };
            fuzzy::rank(&query, self.items.iter().map(|item| (&item.text, handicap(item))))
        });
    }

    /// Draws it, the letters that match underlined; returns where the cursor stands.
    pub fn draw(&self, look: &Look, area: Rect, buffer: &mut Buffer) -> Option<Position> {
        let theme = &look.theme;
        let (field, rows) = list::draw_box(look, area, buffer)?;
        let hint = "type some letters of its name".to_owned();
        let cursor = self.list.draw_field(look, " : ", hint, field, buffer);
        let count = format!("{} of {} ", self.list.found.len(), self.items.len());
        let at = field.right().saturating_sub(count.len() as u16);
        let is_empty = self.list.entry.text().is_empty();
        if cursor.x + 1 < at && (!is_empty || at > field.x + 36) {
            let place = Rect { x: at, width: field.right() - at, ..field };
            Line::from(Span::styled(count, theme.dim)).render(place, buffer);
        }
        if self.list.found.is_empty() {
            Line::styled(" nothing has these letters in this order", theme.dim)
                .render(rows, buffer);
        }
        let query = self.query();
        for (place, index, row) in self.list.shown(rows) {
            if let Some(item) = self.items.get(index) {
                let marked = place == self.list.chosen;
                item.line(look, &query, marked, usize::from(row.width)).render(row, buffer);
            }
        }
        Some(cursor)
    }
}

/// Adds letters as far as they fit and returns the columns they take; what is cut ends in a sign for it.
fn push_letters(
    line: &mut Line<'static>,
    letters: &[(char, Style)],
    room: usize,
    ellipsis: &'static str,
) -> usize {
    let wide = |c: char| c.width().unwrap_or(0);
    let all: usize = letters.iter().map(|&(c, _)| wide(c)).sum();
    let end = if all <= room { room } else { room.saturating_sub(1) };
    let mut used = 0;
    for &(c, style) in letters {
        if used + wide(c) > end {
            line.spans.push(Span::styled(ellipsis, style));
            return used + 1;
        }
        used += wide(c);
        match line.spans.last_mut() {
            Some(last) if last.style == style && used > wide(c) => last.content.to_mut().push(c),
            Some(_) | None => line.spans.push(Span::styled(c.to_string(), style)),
        }
    }
    used
}
