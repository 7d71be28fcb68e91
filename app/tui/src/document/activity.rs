//! What stands in the card of a lab, a prediction, a question or a note.

use mlsys_lesson::{Asked, CaseResult, LabDirective, Notes, Predict, PredictKind, Question};
use mlsys_view::text::wrap_code;
use ratatui::style::Modifier;
use ratatui::text::Line;

use super::{Card, instructor};
use crate::answer;
use crate::editor::TestsState;
use crate::state::{Answered, RunStatus};

impl Card<'_> {
    pub(super) fn notes(&mut self, notes: &Notes) {
        let theme = &self.look.theme;
        self.say(&[
            ("  NOTES".to_owned(), theme.warn.add_modifier(Modifier::BOLD)),
            ("  students do not see this".to_owned(), theme.warn),
        ]);
        self.prose(&notes.markdown);
    }

    pub(super) fn lab(&mut self, lab: &LabDirective) {
        let Some(open) = self.page.labs.iter().find(|open| open.id == lab.id) else { return };
        let is_new = open.run.state == RunStatus::Ready;
        let state = match (is_new, self.page.finished_before.contains(&lab.id)) {
            (true, true) => "has run before; space runs it again",
            (true, false) => "space runs it",
            (false, _) => open.run.state.word(),
        };
        self.head(&format!("LAB {}", lab.id), open.title.clone(), "enter: knobs");
        self.line(state, self.look.theme.dim);
        self.unseen(|_| instructor::lab(lab));
    }

    pub(super) fn predict(&mut self, predict: &Predict) {
        let theme = &self.look.theme;
        let made = self.page.predictions.get(&predict.id);
        let locked = made.is_some_and(|made| made.locked);
        let labs = self.page.lesson.labs_of(predict);
        let is_open = made.is_some_and(|made| made.comparison.is_none());
        let about = match labs.first() {
            Some(_) if locked && is_open && predict.turn.is_none() => {
                let sign = self.look.glyphs.locked;
                format!("{sign} kept; revealed by {}", labs.join(" and "))
            }
            _ if locked && is_open => format!("{} kept", self.look.glyphs.locked),
            _ if locked => format!("{} revealed", self.look.glyphs.right),
            Some(lab) if made.is_some() && self.page.unmade_prediction(lab).is_some() => {
                "space goes to the next guess".to_owned()
            }
            Some(_) if made.is_some() => "space runs it".to_owned(),
            Some(_) => "before the run".to_owned(),
            None => "before you read on".to_owned(),
        };
        let (word, about) = match predict.turned_text() {
            None => ("PREDICT", about),
            Some(turned) if locked => ("TRY", format!("{about}; {turned}")),
            Some(turned) if made.is_some() => ("TRY", format!("now turn {turned}")),
            Some(turned) => ("TRY", format!("guess, then turn {turned}")),
        };
        self.head(
            &format!("{word} {}", predict.id),
            about,
            if locked { "" } else { "enter: your guess" },
        );
        self.prose(&predict.prompt);
        let how = match &predict.kind {
            PredictKind::Numeric { unit, .. } => {
                let unit = unit.as_ref().map_or_else(String::new, |unit| format!(" in {unit}"));
                format!("a number or a formula{unit}; enter keeps it")
            }
            PredictKind::Choice { choices } => {
                self.options(&answer::choices(predict, choices));
                "a letter; enter keeps it".to_owned()
            }
        };
        self.field(&how);
        if let Some(made) = made {
            let given = answer::spelled(&made.given, |text| predict.label(text));
            self.line(format!("your guess: {given}"), theme.text);
            if locked && is_open && predict.turn.is_some() {
                for lab in self.page.unrun_labs_of(predict) {
                    let sentence = format!("it also needs a run of {lab} with the lesson's values");
                    self.line(sentence, theme.warn);
                }
            }
            if let Some(comparison) = &made.comparison {
                self.line(comparison.clone(), theme.accent);
                made.outcome.iter().for_each(|outcome| self.prose(outcome));
                if let Some(explain) = &predict.explain {
                    self.prose(explain);
                }
            }
        }
    }

    pub(super) fn question(&mut self, question: &Question) {
        let theme = &self.look.theme;
        let answered = self.page.answers.get(&question.id);
        let is_kernel = matches!(question.kind.asked(), Asked::Kernel { .. });
        let mut worth = vec![answer::points(question)];
        worth.extend(answer::worth(self.page, question));
        let has_hint = self.page.hints_shown(&question.id) < question.hints.len();
        let hint = if has_hint { "  h: hint" } else { "" };
        let enter = if is_kernel { "enter: write the kernel" } else { "enter: answer" };
        let name = format!("QUESTION {}", question.id);
        self.head(&name, worth.join(", "), &format!("{enter}{hint}"));
        self.prose(&question.prompt);
        let options = answer::options(&self.page.lesson, question);
        if let Asked::Match { left, .. } = question.kind.asked() {
            for (index, left) in left.iter().enumerate() {
                self.line(format!("  {}. {}", index + 1, question.label(left)), theme.text);
            }
        }
        self.options(&options);
        let is_right = answered.is_some_and(Answered::is_earned);
        if let Asked::Kernel { starter: Some(text), .. } = question.kind.asked()
            && !is_right
        {
            self.code(&text);
        }
        for hint in self.page.shown_hints(question) {
            self.line(hint, theme.warn);
        }
        self.field(&answer::how(&question.kind));
        if let Some(answered) = answered {
            let glyphs = &self.look.glyphs;
            let (sign, style, word) = match answered.right {
                _ if question.kind.is_withheld() => {
                    (glyphs.right, theme.accent, "answer recorded, graded later")
                }
                true => (glyphs.right, theme.good, "right"),
                false if answered.earned.is_some() => (glyphs.wrong, theme.bad, "wrong"),
                false => (glyphs.wrong, theme.bad, "not yet"),
            };
            if is_kernel {
                self.line(format!("{sign} {word}"), style);
            } else {
                match answer::given(question, &answered.given, glyphs.arrow).as_slice() {
                    [given] => self.line(format!("{sign} {word}: {given}"), style),
                    pairs => {
                        self.line(format!("{sign} {word}:"), style);
                        pairs.iter().for_each(|pair| self.line(format!("  {pair}"), style));
                    }
                }
            }
            if let Some(earned) = answer::earned(question, answered, glyphs.arrow) {
                self.line(format!("{} {earned}", glyphs.right), theme.good);
            }
            let trial = self.page.trials.get(&question.id);
            let is_told = trial.is_some_and(|trial| trial.repeats(&answered.feedback));
            if !answered.feedback.is_empty() && !is_told {
                self.prose(&answered.feedback);
            }
            if is_kernel {
                self.cases(question);
            }
            if let (true, Some(explain)) = (answered.right, &question.explain) {
                self.prose(explain);
            }
        }
    }

    fn code(&mut self, text: &str) {
        // The bar with its space, and the indent of code.
        let width = self.width.saturating_sub(4).max(1);
        for line in text.lines().flat_map(|line| wrap_code(line, width)) {
            let mut line = Line::styled(format!("  {line}"), self.look.theme.code);
            line.spans.insert(0, self.bar());
            self.lines.push(line);
        }
    }

    fn cases(&mut self, question: &Question) {
        let trial = self.page.trials.get(&question.id).map(|trial| &trial.state);
        let Some(TestsState::Done(cases)) = trial else { return };
        let (theme, glyphs) = (&self.look.theme, &self.look.glyphs);
        for case in cases {
            let (sign, style, how) = match &case.result {
                // The editor has what it cost.
                CaseResult::Passed(_) => (glyphs.right, theme.good, String::new()),
                CaseResult::Failed(how) => (glyphs.wrong, theme.bad, format!(": {how}")),
                CaseResult::NotRun => (glyphs.open, theme.dim, ": not run".to_owned()),
            };
            self.say(&[(format!("{sign} {}", case.name), style), (how, theme.text)]);
        }
    }
}
