//! A lesson in plain lines: paragraphs, what is asked, knobs and pictures in words.

use mlsys_lab::value::{number, plural};
use mlsys_lesson::{
    Asked, Block, Case, CaseResult, Check, LabDirective, Predict, PredictKind, Question,
};
use mlsys_view::panel::words;
use mlsys_view::prose::{self, Signs, Styles};
use mlsys_view::text::wrap_spans;

use super::words::WORDS;
use crate::answer;
use crate::editor::TestsState;
use crate::state::{App, CheckState, Knob, LabState, Page, RunStatus};

pub const WIDTH: usize = 78;

/// Signs that are read aloud as little as possible.
const SIGNS: Signs = Signs { bullet: "-", quote: ">", rule: "-" };

pub fn sentence(text: &str) -> Vec<String> {
    text.lines()
        .flat_map(|line| {
            let spans = [(line.to_owned(), ratatui::style::Style::new())];
            wrap_spans(&spans, WIDTH, "".into(), "".into())
        })
        .map(|line| line.to_string().trim_end().to_owned())
        .collect()
}

/// A sentence with its full stop, unless it ends already.
pub fn stopped(text: String) -> String {
    if text.ends_with(['.', '?', '!']) { text } else { text + "." }
}

pub fn markdown(text: &str) -> Vec<String> {
    prose::render(text, WIDTH, Styles::default(), SIGNS, None)
        .iter()
        .map(|line| line.to_string().trim_end().to_owned())
        .collect()
}

pub fn course(app: &App) -> Vec<String> {
    let mut lines = Vec::new();
    if !app.course.title.is_empty() {
        lines.push(app.course.title.clone());
    }
    for module in &app.course.modules {
        let lessons = app.course.lessons_in(&module.lessons);
        if lessons.is_empty() {
            continue;
        }
        lines.extend([String::new(), format!("{}.", module.title)]);
        for (index, lesson) in lessons.iter().enumerate() {
            let state = match app.course.progress.lesson(&lesson.front.id) {
                Some(progress) if progress.completed => ", complete",
                Some(_) => ", begun",
                None => "",
            };
            let due = app.course.deadline(&lesson.front.id).words();
            let due = due.map_or_else(String::new, |words| format!(", {words}"));
            let front = &lesson.front;
            let needs: Vec<&str> = front.requires.iter().map(|id| id.value.as_str()).collect();
            let after = if needs.is_empty() { "" } else { ", after " };
            lines.push(format!(
                "{}. {} ({}), {}{after}{}{due}{state}",
                module.lessons.start + index + 1,
                front.title,
                front.id,
                plural(front.minutes as usize, "minute"),
                needs.join(" and ")
            ));
        }
    }
    let how = "Type open and a lesson's number. help says what else can be typed.";
    lines.extend([String::new(), how.to_owned()]);
    lines
}

pub fn help() -> Vec<String> {
    let mut lines = vec!["What can be typed:".to_owned()];
    for (word, more, about) in WORDS {
        let space = if more.is_empty() { "" } else { " " };
        lines.extend(sentence(&format!("{word}{space}{more}: {about}.")));
    }
    lines
}

/// A block, as it is read; notes are not read to learners.
pub fn block(page: &Page, index: usize) -> Vec<String> {
    match page.lesson.blocks.get(index) {
        Some(Block::Prose(prose)) => markdown(&prose.markdown),
        Some(Block::Check(check)) => check_line(page, check),
        Some(Block::Lab(lab)) => lab_lines(page, lab),
        Some(Block::Predict(predict)) => prediction(page, predict),
        Some(Block::Question(asked)) => question(page, asked),
        Some(Block::Notes(_)) | None => Vec::new(),
    }
}

pub fn activities(page: &Page) -> Vec<String> {
    let mut lines = Vec::new();
    for (index, &block) in page.activities().iter().enumerate() {
        let said = match page.lesson.blocks.get(block) {
            Some(Block::Lab(lab)) => match page.labs.iter().find(|open| open.id == lab.id) {
                Some(open) => format!("Lab {}: {}, {}", lab.id, open.title, open.run.state.word()),
                None => format!("Lab {}", lab.id),
            },
            Some(Block::Predict(predict)) => {
                let spelled = |given| answer::spelled(given, |text| predict.label(text));
                let made = page.predictions.get(&predict.id).map(|made| spelled(&made.given));
                let state = made.map_or("not made".to_owned(), |given| format!("you said {given}"));
                let word = if predict.turn.is_some() { "Try" } else { "Prediction" };
                format!("{word} {}: {state}", predict.id)
            }
            Some(Block::Question(question)) => {
                let state = match page.answers.get(&question.id) {
                    Some(answered) if answered.is_earned() => "right",
                    Some(_) if question.kind.is_withheld() => "answered, graded later",
                    Some(_) => "not right yet",
                    None => "not answered",
                };
                format!("Question {}: {state}", question.id)
            }
            Some(Block::Prose(_) | Block::Check(_) | Block::Notes(_)) | None => continue,
        };
        let here = if page.marked == Some(block) { " (you are here)" } else { "" };
        lines.push(format!("{}. {said}{here}.", index + 1));
    }
    lines
}

pub fn check_line(page: &Page, check: &Check) -> Vec<String> {
    let said = match page.checks.get(&check.id) {
        None => "told after the run".to_owned(),
        Some(CheckState::Passed) => "it holds".to_owned(),
        Some(CheckState::Failed(values)) => {
            let why = check.why.as_ref().map_or_else(String::new, |why| format!(" {why}"));
            format!("it does not hold: {values}.{why}")
        }
        Some(CheckState::Skipped(reason)) => format!("skipped: {reason}"),
    };
    sentence(&format!("Check {}: {said}", check.assert.source))
}

pub(super) fn prediction(page: &Page, predict: &Predict) -> Vec<String> {
    let predictions = || page.lesson.predictions().filter(|one| one.turn.is_none());
    let all = predictions().count();
    let place = predictions().position(|one| one.id == predict.id).map_or(0, |at| at + 1);
    let how = "Type a number or a formula.";
    let (kind, how) = match &predict.kind {
        PredictKind::Numeric { unit: Some(unit), .. } => (format!("a number in {unit}"), how),
        PredictKind::Numeric { unit: None, .. } => ("a number".to_owned(), how),
        PredictKind::Choice { .. } => ("choice".to_owned(), "Type a letter."),
    };
    let mut lines = vec![match predict.turned_text() {
        None => format!("Prediction {place} of {all} ({kind})."),
        Some(turned) => format!("Try ({kind}): guess, then turn {turned}."),
    }];
    lines.extend(markdown(&predict.prompt));
    if let PredictKind::Choice { choices } = &predict.kind {
        lines.extend(options(&answer::choices(predict, choices)));
    }
    match page.predictions.get(&predict.id) {
        Some(made) => {
            let given = answer::spelled(&made.given, |text| predict.label(text));
            lines.extend(sentence(&format!("You said: {given}.")));
            if !made.locked && predict.turn.is_some() {
                lines.push("Now set the knob and run the lab.".to_owned());
            }
            if made.locked && !page.lesson.labs_of(predict).is_empty() {
                lines.push("It is closed: its run has started.".to_owned());
            }
            lines.extend(comparison(page, predict));
        }
        None => lines.push(how.to_owned()),
    }
    lines
}

pub fn comparison(page: &Page, predict: &Predict) -> Vec<String> {
    let made = page.predictions.get(&predict.id);
    let Some(statement) = made.and_then(|made| made.comparison.as_ref()) else { return Vec::new() };
    let mut lines = sentence(statement);
    let outcome = made.and_then(|made| made.outcome.as_ref());
    lines.extend(outcome.into_iter().flat_map(|outcome| markdown(outcome)));
    if let Some(explain) = &predict.explain {
        lines.extend(markdown(explain));
    }
    lines
}

pub(super) fn question(page: &Page, question: &Question) -> Vec<String> {
    let all = page.lesson.questions().count();
    let place = page.lesson.questions().position(|q| q.id == question.id).map_or(0, |at| at + 1);
    let points = answer::points(question);
    let mut lines = vec![format!("Question {place} of {all} ({}, {points}).", question.kind.ty())];
    lines.extend(answer::worth(page, question).into_iter().map(|words| format!("{words}.")));
    lines.extend(markdown(&question.prompt));
    let asked = question.kind.asked();
    if let Asked::Match { left, .. } = &asked {
        for (index, left) in left.iter().enumerate() {
            lines.extend(sentence(&format!("{}. {}", index + 1, question.label(left))));
        }
    }
    lines.extend(options(&answer::options(&page.lesson, question)));
    if let Asked::Kernel { starter: Some(text), .. } = asked {
        lines.extend(text.lines().map(str::to_owned));
    }
    for number in 0..page.hints.get(&question.id).copied().unwrap_or(0) {
        lines.extend(hint(question, number));
    }
    if page.answers.contains_key(&question.id) {
        lines.extend(answered(page, question));
    } else {
        let how = answer::how(&question.kind);
        let how = how.split(';').next().unwrap_or_default();
        let hint = if question.hints.is_empty() { "" } else { " hint says a hint." };
        lines.extend(sentence(&format!("Type {how}.{hint}")));
    }
    lines
}

pub fn hint(question: &Question, number: usize) -> Vec<String> {
    let Some(hint) = question.hints.get(number) else { return Vec::new() };
    let all = question.hints.len();
    sentence(&format!("Hint {} of {all}: {hint}", number + 1))
}

pub fn trial(page: &Page, question: &Question) -> Vec<String> {
    let cases = match page.trials.get(&question.id).map(|trial| &trial.state) {
        Some(TestsState::Done(cases)) => cases,
        Some(TestsState::Refused(why)) => return sentence(&format!("Not taken: {why}.")),
        Some(TestsState::Going) | None => return Vec::new(),
    };
    let result = |case: &Case| match &case.result {
        CaseResult::Failed(how) => format!("fails: {how}"),
        CaseResult::NotRun => "was not run".to_owned(),
        CaseResult::Passed(costs) if costs.is_empty() => "passes".to_owned(),
        CaseResult::Passed(costs) => format!("passes ({})", costs.join("; ")),
    };
    let cases = cases.iter();
    let said = |case: &Case| result(case).trim_end_matches('.').to_owned();
    cases.flat_map(|case| sentence(&format!("Test {} {}.", case.name, said(case)))).collect()
}

pub fn answered(page: &Page, question: &Question) -> Vec<String> {
    let Some(answered) = page.answers.get(&question.id) else { return Vec::new() };
    let word = match answered.right {
        _ if question.kind.is_withheld() => "Answer recorded, graded later",
        true => "Right",
        false if answered.earned.is_some() => "Wrong",
        false => "Not yet",
    };
    // A kernel is not read out again.
    let mut lines = if matches!(question.kind.asked(), Asked::Kernel { .. }) {
        vec![format!("{word}.")]
    } else {
        let given = answer::spelled(&answered.given, |text| question.label(text));
        sentence(&stopped(format!("{word}: {given}")))
    };
    lines.extend(answer::earned(question, answered, "->").iter().flat_map(|said| sentence(said)));
    let trial = page.trials.get(&question.id);
    if !trial.is_some_and(|trial| trial.repeats(&answered.feedback)) {
        lines.extend(markdown(&answered.feedback));
    }
    if let (true, Some(explain)) = (answered.right, &question.explain) {
        lines.extend(markdown(explain));
    }
    lines
}

fn options(options: &[String]) -> Vec<String> {
    let options = options.iter().enumerate();
    options
        .flat_map(|(index, option)| sentence(&format!("{}) {option}", answer::letter(index))))
        .collect()
}

pub(super) fn lab_lines(page: &Page, lab: &LabDirective) -> Vec<String> {
    let Some(open) = page.labs.iter().find(|open| open.id == lab.id) else { return Vec::new() };
    let standing = match open.run.state {
        RunStatus::Ready => "Type run to run it",
        RunStatus::Running => "It has started and runs",
        RunStatus::Paused => "It has paused",
        RunStatus::Finished => "It has finished",
        RunStatus::Diverged(_) => "It has diverged",
        RunStatus::Stopped => "It has stopped",
        RunStatus::Failed(_) => "It has failed",
    };
    let mut lines = sentence(&format!("Lab {}: {}. {standing}.", open.id, open.title));
    lines.extend(knobs(open));
    lines
}

pub fn knobs(lab: &LabState) -> Vec<String> {
    let knobs = &lab.controls.knobs;
    let head = (!knobs.is_empty()).then(|| "Knobs, turned by set NAME VALUE:".to_owned());
    let lines = knobs.iter().flat_map(|knob| sentence(&format!("- {}", knob_words(knob))));
    head.into_iter().chain(lines).collect()
}

fn knob_words(knob: &Knob) -> String {
    let value = knob.value.as_ref().map_or("not set".to_owned(), ToString::to_string);
    let may_be = if knob.values.is_empty() { knob.range_text() } else { knob.values_text() };
    let turned = match &knob.initial {
        Some(initial) if knob.initial != knob.value => format!("; in the lesson {initial}"),
        Some(_) | None => String::new(),
    };
    format!("{} is {value} ({may_be}{turned})", knob.name)
}

pub fn pictures(page: &Page, lab: &LabState) -> Vec<String> {
    let scenes = lab.pictures.panels.iter().filter_map(|&index| lab.scene(index));
    let words = scenes.map(|scene| words(&scene).replace("press space to run", "type run"));
    let held = lab.pictures.held_back(lab.schema, &page.lesson);
    words.chain(held).flat_map(|text| sentence(&text)).collect()
}

pub fn progress(lab: &LabState) -> String {
    let data = &lab.run.data;
    if data.step == 0 {
        let status = if data.status.is_empty() { "starting" } else { &data.status };
        return format!("{}: {status}.", lab.id);
    }
    let of = lab.steps().map_or_else(String::new, |all| format!(" of {all}"));
    let loss = data.series.get("loss").and_then(|loss| loss.last());
    let loss = loss.map_or_else(String::new, |loss| format!(", loss {}", number(loss)));
    format!("{}: step {}{of}{loss}.", lab.id, data.step)
}

pub fn end(page: &Page, lab: &LabState) -> Vec<String> {
    let took = format!(
        "{} steps in {:.1} s{}",
        lab.run.data.step,
        lab.run.elapsed.as_secs_f64(),
        lab.run.device.map_or_else(String::new, |device| format!(" on {device}"))
    );
    let result = match &lab.run.state {
        RunStatus::Finished if lab.schema.is_live() => format!(" finished: {took}."),
        RunStatus::Finished => " has answered.".to_owned(),
        RunStatus::Diverged(reason) => format!(" diverged: {took}. {reason}"),
        RunStatus::Stopped => format!(" stopped: {took}."),
        RunStatus::Failed(reason) => format!(
            " failed: {}",
            reason.replace("d takes another device, space runs again", "run runs it again")
        ),
        RunStatus::Ready | RunStatus::Running | RunStatus::Paused => String::new(),
    };
    let line = if result.is_empty() { result } else { lab.id.clone() + &result };
    let mut lines = sentence(&line);
    lines.extend(lab.run.data.notices.iter().flat_map(|notice| sentence(notice)));
    lines.extend(pictures(page, lab));
    lines
}
