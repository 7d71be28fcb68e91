//! A kernel being written: its text with line numbers and what is wrong in it, and below it what its run has said.

mod cost;
mod text;

use mlsys_lesson::{Block, Case, CaseResult};
use mlsys_view::text::wrap_spans;
use ratatui::prelude::*;

use super::{TWO_SIDES, body, cleared};
use crate::document::rendered;
use crate::editor::{Editor, Subject, TestsState};
use crate::lines::{draw_cut, put};
use crate::state::{App, Page, RunStatus};

pub struct Sides {
    pub editor: Rect,
    /// The question's text, or the lab's pictures, where there is room.
    pub page_area: Option<Rect>,
}

/// The editor next to the question that it answers, or next to the pictures of the lab that it changes.
pub fn sides(app: &App, editor: &Editor, body: Rect) -> Sides {
    if app.screen.size.0 < TWO_SIDES {
        return Sides { editor: body, page_area: None };
    }
    let super::Sides { text, lab, .. } = super::sides(app.screen.size);
    let (editor, page) = match editor.subject {
        Subject::Question(_) => (lab, text),
        Subject::Lab(..) => (text, lab),
    };
    Sides { editor: editor.intersection(body), page_area: Some(page.intersection(body)) }
}

struct Areas {
    head: Rect,
    text: Rect,
    strip: Rect,
}

fn areas(area: Rect, strip: usize) -> Areas {
    let strip = u16::try_from(strip).unwrap_or(u16::MAX).min(area.height / 2);
    let [head, text, strip] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(1), Constraint::Length(strip)])
            .areas(area);
    Areas { head, text, strip }
}

/// Where the letters of the text are, without the numbers of its lines; none if none is open.
pub fn text_area(app: &App) -> Option<Rect> {
    let page = app.page.as_ref()?;
    let editor = page.editor.as_deref()?;
    let area = sides(app, editor, body(app.screen.size)).editor;
    let strip = strip_lines(app, page, editor, usize::from(area.width)).len();
    Some(text::letters(editor, areas(area, strip).text))
}

pub fn at(app: &App, editor: &Editor, at: Position) -> Option<(usize, usize)> {
    let letters = text_area(app)?;
    let row = letters.contains(at).then(|| at.y - letters.y)?;
    let (lines, columns) = (usize::from(letters.height), usize::from(letters.width));
    let (top, left) = editor.followed(lines, columns);
    Some((top + usize::from(row), left + usize::from(at.x - letters.x)))
}

pub fn draw(
    app: &App,
    page: &Page,
    editor: &Editor,
    area: Rect,
    buffer: &mut Buffer,
) -> Option<Position> {
    cleared(&app.screen.look, area, buffer);
    let lines = strip_lines(app, page, editor, usize::from(area.width));
    let Areas { head, text, strip } = areas(area, lines.len());
    draw_head(app, page, editor, head, buffer);
    let cursor = text::draw(app, editor, text, buffer);
    draw_cut(&app.screen.look, lines, "", strip, buffer);
    cursor
}

fn draw_head(app: &App, page: &Page, editor: &Editor, area: Rect, buffer: &mut Buffer) {
    let theme = app.theme();
    let (line, column) = editor.text.cursor();
    let name = match &editor.subject {
        Subject::Question(_) => editor.draft.name.clone(),
        Subject::Lab(_, example) => example.clone(),
    };
    let (state, style) = state(app, page, editor);
    let selection = editor.text.selection();
    let selected = selection.map_or(0, |range| editor.text.as_str()[range].chars().count());
    let mut parts = vec![
        Span::styled(format!(" KERNEL {name} "), theme.accent.add_modifier(Modifier::BOLD)),
        Span::styled(format!(" {state} "), style),
        Span::styled(format!(" {}:{} ", line + 1, column + 1), theme.dim),
    ];
    if selected > 0 {
        parts.push(Span::styled(format!(" {selected} selected "), theme.dim));
    }
    put(&app.screen.look, Line::from(parts), area, buffer);
}

/// Whether the question of an editor is graded elsewhere, so that its tests are samples.
fn is_withheld(page: &Page, editor: &Editor) -> bool {
    let question = page.lesson.question(&editor.draft.name);
    question.is_some_and(|question| question.kind.is_withheld())
}

fn state(app: &App, page: &Page, editor: &Editor) -> (String, Style) {
    let (theme, glyphs) = (app.theme(), app.glyphs());
    match editor.complaints.len() {
        0 => {}
        1 => return (format!("{} 1 error", glyphs.wrong), theme.bad),
        errors => return (format!("{} {errors} errors", glyphs.wrong), theme.bad),
    }
    match &editor.subject {
        Subject::Question(_) => {
            let Some(trial) = page.trials.get(&editor.draft.name) else {
                return ("not tested".to_owned(), theme.dim);
            };
            let same = trial.text == editor.text.as_str();
            let right = page.answers.get(&editor.draft.name);
            match &trial.state {
                TestsState::Going => (format!("{} testing", glyphs.running), theme.good),
                TestsState::Done(_) | TestsState::Refused(_) if !same => {
                    ("changed since the tests".to_owned(), theme.warn)
                }
                TestsState::Refused(_) => (format!("{} not run", glyphs.wrong), theme.bad),
                TestsState::Done(_) if right.is_some_and(|answered| answered.right) => {
                    (format!("{} right", glyphs.right), theme.good)
                }
                TestsState::Done(cases) if is_withheld(page, editor) => {
                    let failed = |case: &Case| matches!(case.result, CaseResult::Failed(_));
                    match cases.iter().any(failed) {
                        true => ("recorded, a sample test fails".to_owned(), theme.warn),
                        false => (format!("{} recorded", glyphs.right), theme.accent),
                    }
                }
                TestsState::Done(_) => (format!("{} not yet", glyphs.wrong), theme.bad),
            }
        }
        Subject::Lab(place, _) => {
            let Some(lab) = page.labs.get(*place) else { return (String::new(), theme.dim) };
            let run = lab.own_kernel.as_ref().map(|edited| edited.text.as_str());
            match run.unwrap_or(&editor.starter) == editor.text.as_str() {
                true => (lab.run.state.word().to_owned(), theme.dim),
                false => ("changed since the run".to_owned(), theme.warn),
            }
        }
    }
}

/// The lines below the text, a rule above them; none where there is nothing to say.
fn strip_lines(app: &App, page: &Page, editor: &Editor, width: usize) -> Vec<Line<'static>> {
    let mut strip = Strip { app, width: width.saturating_sub(1), lines: Vec::new() };
    if editor.complaints.is_empty() {
        match editor.subject {
            Subject::Question(block) => strip.question(page, editor, block),
            Subject::Lab(place, _) => strip.lab(page, place),
        }
    } else {
        strip.complaints(editor);
    }
    if !strip.lines.is_empty() {
        let rule = app.glyphs().horizontal.repeat(width);
        strip.lines.insert(0, Line::styled(rule, app.theme().border));
    }
    strip.lines
}

struct Strip<'a> {
    app: &'a App,
    width: usize,
    lines: Vec<Line<'static>>,
}

impl Strip<'_> {
    fn say(&mut self, sign: &str, sentence: &str, style: Style) {
        let lead = Span::styled(format!(" {sign} "), style);
        for (index, paragraph) in sentence.lines().enumerate() {
            let lead = if index == 0 { lead.clone() } else { Span::raw("   ") };
            let spans = [(paragraph.to_owned(), style)];
            self.lines.extend(wrap_spans(&spans, self.width, lead, Span::raw("   ")));
        }
    }

    /// What a lesson says, as its card has it.
    fn markdown(&mut self, sign: &str, page: &Page, markdown: &str) {
        let look = &self.app.screen.look;
        let room = self.width.saturating_sub(3);
        for (index, mut line) in rendered(page, markdown, room, look).into_iter().enumerate() {
            let lead = if index == 0 { format!(" {sign} ") } else { "   ".to_owned() };
            line.spans.insert(0, Span::styled(lead, look.theme.text));
            self.lines.push(line);
        }
    }

    /// Everything that is wrong, what stands nearest below the cursor first.
    fn complaints(&mut self, editor: &Editor) {
        let app = self.app;
        let (theme, glyphs) = (app.theme(), app.glyphs());
        let line = editor.text.cursor().0 + 1;
        let (behind, ahead): (Vec<_>, Vec<_>) =
            editor.complaints.iter().partition(|complaint| (complaint.place.line as usize) < line);
        for complaint in ahead.into_iter().chain(behind) {
            let place = complaint.place;
            let said = format!("{}:{} {}", place.line, place.column, complaint.message);
            self.say(glyphs.wrong, &said, theme.bad);
            if !complaint.help.is_empty() {
                self.say(" ", &complaint.help, theme.dim);
            }
        }
    }

    fn question(&mut self, page: &Page, editor: &Editor, block: usize) {
        let app = self.app;
        let (theme, glyphs) = (app.theme(), app.glyphs());
        let Some(Block::Question(question)) = page.lesson.blocks.get(block) else { return };
        if let Some(trial) = page.trials.get(&editor.draft.name) {
            match &trial.state {
                TestsState::Going => self.say(glyphs.running, "the tests run", theme.good),
                TestsState::Refused(reason) => self.say(glyphs.wrong, reason, theme.bad),
                TestsState::Done(cases) => {
                    // What the lesson says of a known mistake comes before the tests that show it.
                    let answered = page.answers.get(&editor.draft.name);
                    if let Some(answered) =
                        answered.filter(|a| !a.feedback.is_empty() && !trial.repeats(&a.feedback))
                    {
                        self.markdown(glyphs.arrow, page, &answered.feedback);
                    }
                    for case in cases {
                        if let CaseResult::Failed(how) = &case.result {
                            let said = format!("{}: {how}", case.name);
                            self.say(glyphs.wrong, &said, theme.bad);
                        }
                    }
                    for case in cases {
                        match &case.result {
                            CaseResult::Passed(costs) => {
                                let said = match costs.as_slice() {
                                    [] => case.name.clone(),
                                    costs => format!("{} ({})", case.name, costs.join(", ")),
                                };
                                self.say(glyphs.right, &said, theme.good);
                            }
                            CaseResult::NotRun => {
                                let why = "not run, as one before did not end";
                                let said = format!("{}: {why}", case.name);
                                self.say(glyphs.open, &said, theme.dim);
                            }
                            CaseResult::Failed(_) => {}
                        }
                    }
                    if question.kind.is_withheld() {
                        self.say(glyphs.right, "recorded; it is graded later", theme.accent);
                    }
                }
            }
        }
        for hint in page.shown_hints(question) {
            self.say(glyphs.bullet, &hint, theme.warn);
        }
    }

    fn lab(&mut self, page: &Page, place: usize) {
        let app = self.app;
        let (theme, glyphs) = (app.theme(), app.glyphs());
        let state = page.labs.get(place).map(|lab| &lab.run.state);
        if let Some(RunStatus::Failed(reason)) = state {
            self.say(glyphs.wrong, reason, theme.bad);
        }
        if let Some(cost) = page.labs.get(place).and_then(|lab| cost::line(app, page, lab)) {
            self.say(glyphs.arrow, &cost, theme.text);
        }
    }
}
