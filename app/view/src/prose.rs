//! Markdown as styled lines of a width: headings, paragraphs, lists, quotes, code, tables and rules.

#[cfg(test)]
mod tests;

use std::ops::Range;

use pulldown_cmark::{Alignment, CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use crate::text::{wrap_code, wrap_spans, wrapped_columns};

#[derive(Clone, Copy, Debug, Default)]
pub struct Styles {
    pub text: Style,
    pub heading: Style,
    pub code: Style,
    /// Quotes, rules, bullets and link targets.
    pub dim: Style,
}

/// Finds terms in a text: the bytes of each, and which term it is, from left to right.
pub type TermFinder<'a> = &'a dyn Fn(&str) -> Vec<(Range<usize>, usize)>;

/// Signs that depend on what the terminal can draw.
#[derive(Clone, Copy, Debug, Default)]
pub struct Signs {
    pub bullet: &'static str,
    pub quote: &'static str,
    pub rule: &'static str,
}

/// Renders markdown; links are shown as text and address, never followed. The first use of each term in a paragraph is underlined.
pub fn render(
    markdown: &str,
    width: usize,
    styles: Styles,
    signs: Signs,
    terms: Option<TermFinder<'_>>,
) -> Vec<Line<'static>> {
    let mut writer = Writer { width: width.max(8), styles, signs, terms, ..Writer::default() };
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    for event in Parser::new_ext(markdown, options) {
        writer.event(event);
    }
    while writer.lines.last().is_some_and(|line| line.width() == 0) {
        writer.lines.pop();
    }
    writer.lines
}

/// What stands before each line of code.
const CODE_INDENT: &str = "  ";

#[derive(Default)]
struct Writer<'a> {
    width: usize,
    styles: Styles,
    signs: Signs,
    terms: Option<TermFinder<'a>>,
    lines: Vec<Line<'static>>,
    pieces: Vec<Piece>,
    /// Per open list, the next number, or nothing for bullets.
    lists: Vec<Option<u64>>,
    quotes: usize,
    modifier: Modifier,
    heading: bool,
    code: Option<String>,
    table: Option<Table>,
    links: Vec<String>,
    /// Whether the next paragraph starts an item of a list.
    item: bool,
}

struct Piece {
    text: String,
    style: Style,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Words, among which terms are looked for.
    Words,
    /// Code and addresses, shown as they are.
    Verbatim,
}

impl Writer<'_> {
    fn style(&self) -> Style {
        let base = if self.heading { self.styles.heading } else { self.styles.text };
        base.add_modifier(self.modifier)
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text),
            Event::Code(code) => self.verbatim(&code, self.styles.code.add_modifier(self.modifier)),
            Event::SoftBreak => self.text(" "),
            Event::HardBreak => self.flush(),
            Event::Rule => {
                self.flush();
                let rule = self.signs.rule.repeat(self.width);
                self.lines.push(Line::styled(rule, self.styles.dim));
                self.blank();
            }
            // Raw HTML has no meaning in a terminal: show it as what it is.
            Event::Html(html) | Event::InlineHtml(html) => self.text(&html),
            Event::InlineMath(math) | Event::DisplayMath(math) => self.text(&math),
            Event::FootnoteReference(name) => self.text(&format!("[{name}]")),
            Event::TaskListMarker(done) => self.text(if done { "[x] " } else { "[ ] " }),
        }
    }

    fn text(&mut self, text: &str) {
        if let Some(code) = &mut self.code {
            code.push_str(text);
        } else if let Some(table) = &mut self.table {
            table.cell(text);
        } else {
            let style = self.style();
            match self.pieces.last_mut() {
                // A term may be broken over two lines of the file.
                Some(last) if last.kind == Kind::Words && last.style == style => {
                    last.text.push_str(text);
                }
                Some(_) | None => {
                    self.pieces.push(Piece { text: text.to_owned(), style, kind: Kind::Words })
                }
            }
        }
    }

    fn verbatim(&mut self, text: &str, style: Style) {
        match &mut self.table {
            Some(table) => table.cell(text),
            None => self.pieces.push(Piece { text: text.to_owned(), style, kind: Kind::Verbatim }),
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "tags that carry no style of their own")]
    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => {
                self.flush();
                self.heading = true;
                if level == HeadingLevel::H1 {
                    self.modifier |= Modifier::UNDERLINED;
                }
            }
            Tag::Strong => self.modifier |= Modifier::BOLD,
            Tag::Emphasis => self.modifier |= Modifier::ITALIC,
            Tag::Strikethrough => self.modifier |= Modifier::CROSSED_OUT,
            Tag::BlockQuote(_) => {
                self.flush();
                self.quotes += 1;
            }
            Tag::List(start) => {
                self.flush();
                self.lists.push(start);
            }
            Tag::Item => {
                self.flush();
                self.item = true;
            }
            Tag::CodeBlock(kind) => {
                self.flush();
                self.code = Some(String::new());
                if let CodeBlockKind::Fenced(_) = kind {
                    self.item = false;
                }
            }
            Tag::Table(alignments) => {
                self.flush();
                self.table = Some(Table { alignments, rows: Vec::new() });
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.rows.push(Vec::new());
                }
            }
            Tag::TableCell => {
                if let Some(row) = self.table.as_mut().and_then(|t| t.rows.last_mut()) {
                    row.push(String::new());
                }
            }
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.links.push(dest_url.into_string())
            }
            _ => {}
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "tags that carry no style of their own")]
    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => {
                self.flush();
                self.blank();
            }
            TagEnd::Heading(_) => {
                self.flush();
                self.heading = false;
                self.modifier = Modifier::empty();
                self.blank();
            }
            TagEnd::Strong => self.modifier -= Modifier::BOLD,
            TagEnd::Emphasis => self.modifier -= Modifier::ITALIC,
            TagEnd::Strikethrough => self.modifier -= Modifier::CROSSED_OUT,
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.quotes = self.quotes.saturating_sub(1);
            }
            TagEnd::Item => self.flush(),
            TagEnd::List(_) => {
                self.flush();
                self.lists.pop();
                if self.lists.is_empty() {
                    self.blank();
                }
            }
            TagEnd::CodeBlock => {
                let width = self.width - CODE_INDENT.len();
                let code = self.code.take().unwrap_or_default();
                for line in code.lines().flat_map(|line| wrap_code(line, width)) {
                    self.lines.push(Line::from(vec![
                        Span::raw(CODE_INDENT),
                        Span::styled(line, self.styles.code),
                    ]));
                }
                self.blank();
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    self.lines.extend(table.lines(self.width, self.styles, self.signs.rule));
                    self.blank();
                }
            }
            TagEnd::Link | TagEnd::Image => {
                let cell = self.table.as_ref().and_then(|table| table.rows.last()?.last());
                let text = cell.or(self.pieces.last().map(|last| &last.text));
                let text = text.map_or("", String::as_str);
                let address = self.links.pop().filter(|address| !text.ends_with(address));
                if let Some(address) = address {
                    self.verbatim(&format!(" ({address})"), self.styles.dim);
                }
            }
            _ => {}
        }
    }

    fn flush(&mut self) {
        if self.pieces.is_empty() {
            return;
        }
        let indent = 2 * self.lists.len().saturating_sub(1);
        let quote = format!("{} ", self.signs.quote).repeat(self.quotes);
        let marker = match (self.item, self.lists.last_mut()) {
            (true, Some(Some(number))) => {
                *number += 1;
                format!("{}. ", *number - 1)
            }
            (true, Some(None)) => format!("{} ", self.signs.bullet),
            (false, Some(_)) => "  ".to_owned(),
            (_, None) => String::new(),
        };
        self.item = false;
        let prefix = |marker: &str| {
            Span::styled(format!("{}{quote}{marker}", " ".repeat(indent)), self.styles.dim)
        };
        let (first, rest) = (prefix(&marker), prefix(&" ".repeat(marker.width())));
        let spans = self.spans();
        self.lines.extend(wrap_spans(&spans, self.width, first, rest));
    }

    /// Takes the paragraph under construction, the first use of each term in it marked.
    fn spans(&mut self) -> Vec<(String, Style)> {
        let pieces = std::mem::take(&mut self.pieces);
        let mut seen = Vec::new();
        let mut spans = Vec::new();
        for Piece { text, style, kind } in pieces {
            let found = match self.terms {
                Some(terms) if !self.heading && kind == Kind::Words => terms(&text),
                Some(_) | None => Vec::new(),
            };
            let mut from = 0;
            for (range, term) in found {
                if seen.contains(&term) {
                    continue;
                }
                seen.push(term);
                let marked = style.add_modifier(Modifier::UNDERLINED);
                for (part, style) in [(from..range.start, style), (range.clone(), marked)] {
                    spans.extend(text.get(part).map(|part| (part.to_owned(), style)));
                }
                from = range.end;
            }
            spans.extend(text.get(from..).map(|rest| (rest.to_owned(), style)));
        }
        spans
    }

    fn blank(&mut self) {
        if self.lines.last().is_some_and(|line| line.width() > 0) {
            self.lines.push(Line::default());
        }
    }
}

#[derive(Default)]
struct Table {
    alignments: Vec<Alignment>,
    rows: Vec<Vec<String>>,
}

impl Table {
    fn cell(&mut self, text: &str) {
        if let Some(cell) = self.rows.last_mut().and_then(|row| row.last_mut()) {
            cell.push_str(text);
        }
    }

    /// The table as lines, its head above a rule; a head without a word is left out.
    fn lines(&self, width: usize, styles: Styles, rule: &str) -> Vec<Line<'static>> {
        let before = |column: usize, spaces: usize| match self.alignments.get(column) {
            Some(Alignment::Right) => spaces,
            Some(Alignment::Center) => spaces / 2,
            Some(Alignment::Left | Alignment::None) | None => 0,
        };
        let rows = wrapped_columns(&self.rows, width, before);
        let total = rows.iter().flatten().map(|line| line.width()).max().unwrap_or(0);
        let rule = Line::styled(rule.repeat(total), styles.dim);
        let Some((head, rows)) = rows.split_first() else { return vec![rule] };
        let styled = |line: &String, style: Style| Line::styled(line.clone(), style);
        let is_named = head.iter().any(|line| !line.trim().is_empty());
        let head = head.iter().map(|line| styled(line, styles.heading)).chain([rule]);
        head.filter(|_| is_named)
            .chain(rows.iter().flatten().map(|line| styled(line, styles.text)))
            .collect()
    }
}
