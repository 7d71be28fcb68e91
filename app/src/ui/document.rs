//! The text of a lesson as lines: prose, predictions, labs, questions and checks, with what the learner has done.

mod instructor;

use mlsys_lesson::{
    Asked, Block, Check, DeviceFacts, LabDirective, LessonEnv, Notes, Predict, PredictKind,
    Question,
};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::answer;
use super::entry::{Entry, For};
use super::page::{Audience, CheckState, Page, Side};
use super::prose::{self, Signs, Styles};
use super::slot::State;
use super::theme::Look;
use super::wrap::wrap;
use instructor::Remark;

/// The lines of a lesson.
pub struct Document {
    /// All lines.
    pub lines: Vec<Line<'static>>,
    /// First line, and one past the last, of each block.
    pub blocks: Vec<(usize, usize)>,
    /// Line and column of the cursor, if a field is open in the text.
    pub cursor: Option<(usize, usize)>,
    /// The lines of options: line, block and option.
    pub options: Vec<(usize, usize, usize)>,
}

/// Lays a lesson out for a width.
pub fn build(page: &Page, width: usize, look: &Look) -> Document {
    let mut document = Document {
        lines: Vec::new(),
        blocks: Vec::new(),
        cursor: None,
        options: Vec::new(),
    };
    for (index, block) in page.lesson.blocks.iter().enumerate() {
        let start = document.lines.len();
        match block {
            Block::Prose(prose) => {
                let lines = prose::render(&prose.markdown, width, styles(page, look), signs(look));
                document.lines.extend(lines);
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
                document.cursor = document
                    .cursor
                    .or(card.cursor.map(|(line, column)| (start + line, column)));
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

/// The scroll position nearest to the present one at which the marked block is seen, its top first.
pub fn scroll_for_marked(page: &Page, width: usize, height: usize, look: &Look) -> usize {
    let document = build(page, width, look);
    let longest = document.lines.len().saturating_sub(height);
    let Some(&(start, end)) = page.marked.and_then(|marked| document.blocks.get(marked)) else {
        return page.scroll.min(longest);
    };
    let end = end.min(document.lines.len());
    let scroll = if let Some((line, _)) = document.cursor {
        // A field that is being typed in is always seen, whatever stands above it.
        let top = line.saturating_sub(1).max(start.min(line));
        page.scroll.max((line + 2).saturating_sub(height)).min(top)
    } else if start < page.scroll || end - start >= height {
        start
    } else if end > page.scroll + height {
        end - height
    } else {
        page.scroll
    };
    scroll.min(longest)
}

/// The number of lines at a width.
pub fn length(page: &Page, width: usize, look: &Look) -> usize {
    build(page, width, look).lines.len()
}

fn styles<'a>(page: &'a Page, look: &Look) -> Styles<'a> {
    Styles {
        text: look.theme.text,
        heading: look.theme.title,
        code: look.theme.code,
        dim: look.theme.dim,
        terms: Some(&page.glossary),
    }
}

fn signs(look: &Look) -> Signs {
    Signs {
        bullet: look.glyphs.bullet,
        quote: look.glyphs.vertical,
        rule: look.glyphs.horizontal,
    }
}

/// A check in one line, and what it says once it can be told.
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
    let mut spans = vec![
        (check.assert.source.clone(), theme.code),
        (format!("  {remark}"), style),
    ];
    if let (Some(CheckState::Failed(_)), Some(why)) = (state, &check.why) {
        spans.push((format!("  {why}"), theme.text));
    }
    wrap(
        &spans,
        width,
        Span::styled(format!("{sign} "), style),
        Span::raw("  "),
    )
}

/// A block that asks something, with a bar at its left.
struct Card<'a> {
    page: &'a Page,
    block: usize,
    width: usize,
    look: &'a Look,
    lines: Vec<Line<'static>>,
    cursor: Option<(usize, usize)>,
    options: Vec<(usize, usize)>,
}

impl<'a> Card<'a> {
    fn new(page: &'a Page, block: usize, width: usize, look: &'a Look) -> Self {
        Self {
            page,
            block,
            width,
            look,
            lines: Vec::new(),
            cursor: None,
            options: Vec::new(),
        }
    }

    fn is_marked(&self) -> bool {
        self.page.marked == Some(self.block)
    }

    fn bar(&self) -> Span<'static> {
        let theme = &self.look.theme;
        if self.is_marked() && self.page.side == Side::Text {
            Span::styled(format!("{} ", self.look.glyphs.vertical), theme.focus)
        } else {
            Span::styled(format!("{} ", self.look.glyphs.vertical), theme.border)
        }
    }

    fn say(&mut self, spans: &[(String, Style)]) {
        let lines = wrap(spans, self.width, self.bar(), self.bar());
        self.lines.extend(lines);
    }

    fn line(&mut self, text: impl Into<String>, style: Style) {
        self.say(&[(text.into(), style)]);
    }

    /// The first line: what it is, and what enter does if it is marked.
    fn head(&mut self, name: &str, about: String, key: &str) {
        let theme = &self.look.theme;
        let mark = if self.is_marked() {
            self.look.glyphs.arrow
        } else {
            " "
        };
        let mut spans = vec![
            (
                format!("{mark} {name}"),
                theme.accent.add_modifier(Modifier::BOLD),
            ),
            (format!("  {about}"), theme.dim),
        ];
        if self.is_marked() && self.page.entry.is_none() && !key.is_empty() {
            spans.push((format!("  {key}"), theme.key));
        }
        self.say(&spans);
    }

    /// Markdown inside the card.
    fn prose(&mut self, markdown: &str) {
        let bar = self.bar();
        let width = self.width.saturating_sub(2);
        for mut line in prose::render(
            markdown,
            width,
            styles(self.page, self.look),
            signs(self.look),
        ) {
            line.spans.insert(0, bar.clone());
            self.lines.push(line);
        }
    }

    fn options(&mut self, options: &[String]) {
        let theme = &self.look.theme;
        let (letter_style, text) = (theme.key, theme.text);
        for (index, option) in options.iter().enumerate() {
            let lead = Span::styled(
                format!("{}  {}) ", self.look.glyphs.vertical, answer::letter(index)),
                letter_style,
            );
            let rest = Span::styled(format!("{}     ", self.look.glyphs.vertical), theme.border);
            let start = self.lines.len();
            self.lines
                .extend(wrap(&[(option.clone(), text)], self.width, lead, rest));
            self.options
                .extend((start..self.lines.len()).map(|line| (line, index)));
        }
    }

    fn field(&mut self, how: &str) {
        let theme = &self.look.theme;
        let Some(entry) = self
            .page
            .entry
            .as_ref()
            .filter(|entry| entry.purpose == For::Block(self.block))
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
    fn unseen(&mut self, remarks: impl FnOnce(&LessonEnv<'_>) -> Vec<Remark>) {
        if self.page.audience == Audience::Student {
            return;
        }
        let theme = &self.look.theme;
        let facts = DeviceFacts::default();
        let remarks = remarks(&self.page.env(&facts));
        let unseen = (
            "  students do not see: ".to_owned(),
            theme.warn.add_modifier(Modifier::BOLD),
        );
        self.say(&[unseen]);
        for Remark { name, text } in remarks {
            let lead = Span::styled(
                format!("{}  {name}: ", self.look.glyphs.vertical),
                theme.warn,
            );
            let rest = Span::styled(format!("{}    ", self.look.glyphs.vertical), theme.warn);
            // Markdown of several lines is laid out below its name: a table cannot flow.
            let (flowing, below) = if text.contains('\n') {
                (String::new(), Some(text))
            } else {
                (text, None)
            };
            let spans = [(flowing, theme.text)];
            self.lines.extend(wrap(&spans, self.width, lead, rest));
            if let Some(markdown) = below {
                self.prose(&markdown);
            }
        }
    }

    fn notes(&mut self, notes: &Notes) {
        let theme = &self.look.theme;
        self.say(&[
            (
                "  NOTES".to_owned(),
                theme.warn.add_modifier(Modifier::BOLD),
            ),
            ("  students do not see this".to_owned(), theme.warn),
        ]);
        self.prose(&notes.markdown);
    }

    fn lab(&mut self, lab: &LabDirective) {
        let Some(slot) = self.page.slots.iter().find(|slot| slot.id == lab.id) else {
            return;
        };
        let state = match &slot.state {
            State::Ready => "space runs it".to_owned(),
            State::Running
            | State::Paused
            | State::Finished
            | State::Diverged(_)
            | State::Stopped
            | State::Failed(_) => slot.state.word().to_owned(),
        };
        self.head(
            &format!("LAB {}", lab.id),
            slot.title.clone(),
            "enter: knobs",
        );
        self.line(state, self.look.theme.dim);
        self.unseen(|_| instructor::lab(lab));
    }

    fn predict(&mut self, predict: &Predict) {
        let theme = &self.look.theme;
        let made = self.page.predictions.get(&predict.id);
        let locked = made.is_some_and(|made| made.locked);
        let about = if locked {
            format!("{} it stands", self.look.glyphs.locked)
        } else {
            "before the run".to_owned()
        };
        self.head(
            "PREDICT",
            about,
            if locked { "" } else { "enter: your guess" },
        );
        self.prose(&predict.prompt);
        let how = match &predict.kind {
            PredictKind::Numeric { unit } => format!(
                "a number or a formula{}; enter keeps it",
                in_unit(unit.as_deref())
            ),
            PredictKind::Choice { choices } => {
                self.options(&answer::choices(predict, choices));
                "a letter; enter keeps it".to_owned()
            }
        };
        self.field(&how);
        if let Some(made) = made {
            self.line(
                format!(
                    "your guess: {}",
                    answer::spelled(&made.given, |text| predict.label(text))
                ),
                theme.text,
            );
            if let Some(comparison) = &made.comparison {
                self.line(comparison.clone(), theme.accent);
                if let Some(explain) = &predict.explain {
                    self.prose(explain);
                }
            }
        }
    }

    fn question(&mut self, question: &Question) {
        let theme = &self.look.theme;
        let answered = self.page.answers.get(&question.id);
        let points = match question.points {
            1 => "1 point".to_owned(),
            points => format!("{points} points"),
        };
        self.head(
            &format!("QUESTION {}", question.id),
            points,
            "enter: answer  h: hint",
        );
        self.prose(&question.prompt);
        let options = answer::options(&self.page.lesson, question);
        if let Asked::Match { left, .. } = question.kind.asked() {
            for (index, left) in left.iter().enumerate() {
                self.line(
                    format!("  {}. {}", index + 1, question.label(left)),
                    theme.text,
                );
            }
        }
        self.options(&options);
        let shown = self.page.hints.get(&question.id).copied().unwrap_or(0);
        for (index, hint) in question.hints.iter().take(shown).enumerate() {
            self.line(
                format!("hint {} of {}: {hint}", index + 1, question.hints.len()),
                theme.warn,
            );
        }
        self.field(answer::how(&question.kind));
        if let Some(answered) = answered {
            let (sign, style, word) = if question.kind.is_withheld() {
                let word = "answer recorded, graded later";
                (self.look.glyphs.right, theme.accent, word)
            } else if answered.right {
                (self.look.glyphs.right, theme.good, "right")
            } else {
                (self.look.glyphs.wrong, theme.bad, "not yet")
            };
            let given = answer::spelled(&answered.given, |text| question.label(text));
            self.line(format!("{sign} {word}: {given}"), style);
            if !answered.feedback.is_empty() {
                self.prose(&answered.feedback);
            }
            if let (true, Some(explain)) = (answered.right, &question.explain) {
                self.prose(explain);
            }
        }
    }
}

fn in_unit(unit: Option<&str>) -> String {
    unit.map_or_else(String::new, |unit| format!(" in {unit}"))
}

/// The part of an entry's text that fits a room, and the cursor's column in it.
fn window(entry: &Entry, room: usize) -> (String, usize) {
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
