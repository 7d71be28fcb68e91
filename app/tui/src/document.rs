//! The text of a lesson as lines: prose, and cards for what is asked, with what the learner has done.

mod activity;
mod instructor;

use mlsys_lesson::{Block, Check, DeviceFacts, LessonEnv};
use mlsys_view::prose::{self, Signs, Styles};
use mlsys_view::text::wrap_spans;
use mlsys_view::theme::Look;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use crate::answer;
use crate::list::{FieldPurpose, TextField};
use crate::state::{Audience, CheckState, Page, Side};
use instructor::Remark;

pub struct Document {
    pub lines: Vec<Line<'static>>,
    /// First line, and one past the last, of each block.
    pub blocks: Vec<(usize, usize)>,
    /// Line and column of the cursor, if a field is open in the text.
    pub cursor: Option<(usize, usize)>,
    /// One past the last line of that field, the message below it included.
    field_end: usize,
    /// The lines of options: line, block and option.
    pub options: Vec<(usize, usize, usize)>,
}

pub fn build(page: &Page, width: usize, look: &Look) -> Document {
    let mut document = Document {
        lines: Vec::new(),
        blocks: Vec::new(),
        cursor: None,
        field_end: 0,
        options: Vec::new(),
    };
    for (index, block) in page.lesson.blocks.iter().enumerate() {
        let start = document.lines.len();
        match block {
            Block::Prose(prose) => {
                document.lines.extend(rendered(page, &prose.markdown, width, look));
                document.lines.push(Line::default());
            }
            Block::Notes(notes) if page.audience == Audience::Instructor => {
                let mut card = Card::new(page, index, width, look);
                card.notes(notes);
                document.lines.append(&mut card.lines);
                document.lines.push(Line::default());
            }
            Block::Notes(_) => {}
            Block::Check(check) => {
                document.lines.extend(check_lines(page, check, width, look));
                let mut card = Card::new(page, index, width, look);
                card.unseen(|env| instructor::check(check, env));
                document.lines.append(&mut card.lines);
            }
            Block::Lab(_) | Block::Predict(_) | Block::Question(_) => {
                let mut card = Card::new(page, index, width, look);
                match block {
                    Block::Lab(lab) => card.lab(lab),
                    Block::Predict(predict) => {
                        card.predict(predict);
                        card.unseen(|env| instructor::predict(predict, env));
                    }
                    Block::Question(question) => {
                        card.question(question);
                        card.unseen(|env| instructor::question(page, question, env));
                    }
                    Block::Prose(_) | Block::Check(_) | Block::Notes(_) => {}
                }
                let options = card.options.iter();
                let options = options.map(|&(line, option)| (start + line, index, option));
                document.options.extend(options);
                if let Some((line, column)) = card.cursor {
                    document.cursor = Some((start + line, column));
                    document.field_end = start + card.field_end;
                }
                document.lines.append(&mut card.lines);
                document.lines.push(Line::default());
            }
        }
        document.blocks.push((start, document.lines.len()));
    }
    while document.lines.last().is_some_and(|line| line.width() == 0) {
        document.lines.pop();
    }
    document
}

impl Document {
    /// The scroll position nearest to a present one at which a block is seen, its top first.
    pub fn scroll_for(&self, block: Option<usize>, scroll: usize, height: usize) -> usize {
        let longest = self.longest_scroll(height);
        let Some(&(start, end)) = block.and_then(|block| self.blocks.get(block)) else {
            return scroll.min(longest);
        };
        let end = end.min(self.lines.len());
        let scroll = if self.cursor.is_some() && end - start > height {
            // A field that is being typed in is always seen, with as much of its task as there is room for.
            start.max(self.field_end.saturating_sub(height))
        } else if start < scroll || end - start >= height {
            start
        } else if end > scroll + height {
            end - height
        } else {
            scroll
        };
        scroll.min(longest)
    }

    /// The scroll position at which the last line is seen.
    pub fn longest_scroll(&self, height: usize) -> usize {
        self.lines.len().saturating_sub(height)
    }
}

/// Markdown as lines, the terms of the glossary underlined.
pub(crate) fn rendered(
    page: &Page,
    markdown: &str,
    width: usize,
    look: &Look,
) -> Vec<Line<'static>> {
    let (theme, glyphs) = (&look.theme, &look.glyphs);
    let (text, heading, code, dim) = (theme.text, theme.title, theme.code, theme.dim);
    let styles = Styles { text, heading, code, dim };
    let signs = Signs { bullet: glyphs.bullet, quote: glyphs.vertical, rule: glyphs.horizontal };
    let terms = |text: &str| {
        let found = page.glossary.occurrences(text).into_iter();
        found.map(|found| (found.range, found.term)).collect()
    };
    prose::render(markdown, width, styles, signs, Some(&terms))
}

fn check_lines(page: &Page, check: &Check, width: usize, look: &Look) -> Vec<Line<'static>> {
    let theme = &look.theme;
    let state = page.checks.get(&check.id);
    let (sign, style, remark) = match state {
        None => (look.glyphs.open, theme.dim, "after the run".to_owned()),
        Some(CheckState::Passed) => (look.glyphs.right, theme.good, "holds".to_owned()),
        Some(CheckState::Failed(values)) => (look.glyphs.wrong, theme.bad, values.clone()),
        Some(CheckState::Skipped(reason)) => {
            (look.glyphs.open, theme.dim, format!("skipped: {reason}"))
        }
    };
    let mut spans = vec![(check.assert.source.clone(), theme.code), (format!("  {remark}"), style)];
    if let (Some(CheckState::Failed(_)), Some(why)) = (state, &check.why) {
        spans.push((format!("  {why}"), theme.text));
    }
    if let Some(CheckState::Failed(_)) = state {
        let source = &page.lesson.source;
        let place = format!("  {}:{}", source.file, source.line(check.place.start));
        spans.push((place, theme.dim));
    }
    wrap_spans(&spans, width, Span::styled(format!("{sign} "), style), Span::raw("  "))
}

/// A block that asks something, with a bar at its left.
struct Card<'a> {
    page: &'a Page,
    block: usize,
    width: usize,
    look: &'a Look,
    lines: Vec<Line<'static>>,
    cursor: Option<(usize, usize)>,
    field_end: usize,
    options: Vec<(usize, usize)>,
}

impl<'a> Card<'a> {
    pub(super) fn new(page: &'a Page, block: usize, width: usize, look: &'a Look) -> Self {
        let (lines, options) = (Vec::new(), Vec::new());
        Self { page, block, width, look, lines, cursor: None, field_end: 0, options }
    }

    fn is_marked(&self) -> bool {
        self.page.marked == Some(self.block)
    }

    pub(super) fn bar(&self) -> Span<'static> {
        let theme = &self.look.theme;
        let focused = self.is_marked() && self.page.side == Side::Text;
        let style = if focused { theme.focus } else { theme.border };
        Span::styled(format!("{} ", self.look.glyphs.vertical), style)
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
        for mut line in rendered(self.page, markdown, width, self.look) {
            line.spans.insert(0, bar.clone());
            self.lines.push(line);
        }
    }

    pub(super) fn options(&mut self, options: &[String]) {
        let theme = &self.look.theme;
        let bar = self.look.glyphs.vertical;
        for (index, option) in options.iter().enumerate() {
            let lead = Span::styled(format!("{bar}  {}) ", answer::letter(index)), theme.key);
            let rest = Span::styled(format!("{bar}     "), theme.border);
            let start = self.lines.len();
            self.lines.extend(wrap_spans(&[(option.clone(), theme.text)], self.width, lead, rest));
            self.options.extend((start..self.lines.len()).map(|line| (line, index)));
        }
    }

    pub(super) fn field(&mut self, how: &str) {
        let theme = &self.look.theme;
        let is_own = |entry: &&TextField| entry.purpose == FieldPurpose::Block(self.block);
        let Some(entry) = self.page.entry.as_ref().filter(is_own) else {
            if let Some(typed) = self.page.typed.get(&self.block) {
                self.line(format!("not given yet: {typed}"), theme.warn);
            }
            return;
        };
        let room = self.width.saturating_sub(6).max(1);
        let (shown, column) = window(entry, room);
        self.cursor = Some((self.lines.len(), 4 + column));
        let typed = theme.text.add_modifier(Modifier::UNDERLINED);
        let style = if entry.is_selected() { theme.selection } else { typed };
        let mut line =
            Line::from(vec![self.bar(), Span::styled("> ", theme.key), Span::styled(shown, style)]);
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
        self.field_end = self.lines.len();
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
