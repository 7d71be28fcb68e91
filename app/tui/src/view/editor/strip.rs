//! What is said below a kernel: what is wrong with its text, else what came of its tests or its run.

use mlsys_lesson::{Block, CaseResult};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::editor::{Editor, Subject, TestsState};
use crate::state::App;
use crate::state::lab::State;
use crate::state::page::Page;
use mlsys_view::text::wrap_spans;

/// The lines below the text, a rule above them; none where there is nothing to say.
pub(super) fn lines(app: &App, page: &Page, editor: &Editor, width: usize) -> Vec<Line<'static>> {
    let mut strip = Strip { app, width: width.saturating_sub(1), lines: Vec::new() };
    if editor.complaints.is_empty() {
        match editor.subject {
            Subject::Question(block) => strip.question(page, editor, block),
            Subject::Lab(place, _) => strip.lab(page, place),
        }
    } else {
        strip.complaints(editor);
    }
    let mut lines = strip.lines;
    if !lines.is_empty() {
        let rule = app.screen.look.glyphs.horizontal.repeat(width);
        lines.insert(0, Line::styled(rule, app.screen.look.theme.border));
    }
    lines
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
            let lead = match index {
                0 => lead.clone(),
                _ => Span::raw("   "),
            };
            let spans = [(paragraph.to_owned(), style)];
            self.lines.extend(wrap_spans(&spans, self.width, lead, Span::raw("   ")));
        }
    }

    /// Everything that is wrong, what stands nearest below the cursor first.
    fn complaints(&mut self, editor: &Editor) {
        let app = self.app;
        let (theme, glyphs) = (&app.screen.look.theme, &app.screen.look.glyphs);
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

    /// What failed first, then what is said to it, then what passed; hints stand below.
    fn question(&mut self, page: &Page, editor: &Editor, block: usize) {
        let app = self.app;
        let (theme, glyphs) = (&app.screen.look.theme, &app.screen.look.glyphs);
        let Some(Block::Question(question)) = page.lesson.blocks.get(block) else { return };
        if let Some(trial) = page.trials.get(&editor.draft.name) {
            match &trial.state {
                TestsState::Going => self.say(glyphs.running, "the tests run", theme.good),
                TestsState::Refused(reason) => self.say(glyphs.wrong, reason, theme.bad),
                TestsState::Done(cases) => {
                    for case in cases {
                        if let CaseResult::Failed(how) = &case.result {
                            let said = format!("{}: {how}", case.name);
                            self.say(glyphs.wrong, &said, theme.bad);
                        }
                    }
                    let answered = page.answers.get(&editor.draft.name);
                    if let Some(answered) =
                        answered.filter(|a| !a.feedback.is_empty() && !trial.repeats(&a.feedback))
                    {
                        self.say(glyphs.arrow, &answered.feedback, theme.text);
                    }
                    for case in cases {
                        match &case.result {
                            CaseResult::Passed(costs) => {
                                let costs = costs.iter().map(|cost| format!(" ({cost})"));
                                let said = format!("{}{}", case.name, costs.collect::<String>());
                                self.say(glyphs.right, &said, theme.good);
                            }
                            CaseResult::NotRun => {
                                let said =
                                    format!("{}: not run, as one before did not end", case.name);
                                self.say(glyphs.open, &said, theme.dim);
                            }
                            CaseResult::Failed(_) => {}
                        }
                    }
                    if cases.is_empty() {
                        self.say(glyphs.right, "recorded; it is graded later", theme.accent);
                    }
                }
            }
        }
        let shown = page.hints.get(&question.id).copied().unwrap_or(0);
        for (index, hint) in question.hints.iter().take(shown).enumerate() {
            let said = format!("hint {} of {}: {hint}", index + 1, question.hints.len());
            self.say(glyphs.bullet, &said, theme.warn);
        }
    }

    /// Why the lab did not run, where it did not.
    fn lab(&mut self, page: &Page, place: usize) {
        let app = self.app;
        let (theme, glyphs) = (&app.screen.look.theme, &app.screen.look.glyphs);
        let state = page.labs.get(place).map(|lab| &lab.run.state);
        if let Some(State::Failed(reason)) = state {
            self.say(glyphs.wrong, reason, theme.bad);
        }
    }
}
