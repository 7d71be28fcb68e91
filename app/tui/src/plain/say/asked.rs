//! Predictions and questions in plain lines, with what was answered and said to it.

use mlsys_lesson::{Asked, Case, CaseResult, Predict, PredictKind, Question, QuestionKind, Target};

use super::{markdown, sentence};
use crate::answer;
use crate::editor::TestsState;
use crate::state::page::Page;

pub(super) fn prediction(page: &Page, predict: &Predict) -> Vec<String> {
    let all = page.lesson.predictions().count();
    let place = page.lesson.predictions().position(|p| p.id == predict.id).map_or(0, |at| at + 1);
    let (kind, how) = match &predict.kind {
        PredictKind::Numeric { unit: Some(unit) } => {
            (format!("a number in {unit}"), "Type a number or a formula.".to_owned())
        }
        PredictKind::Numeric { unit: None } => {
            ("a number".to_owned(), "Type a number or a formula.".to_owned())
        }
        PredictKind::Choice { .. } => ("choice".to_owned(), "Type a letter.".to_owned()),
    };
    let mut lines = vec![format!("Prediction {place} of {all} ({kind}).")];
    lines.extend(markdown(&predict.prompt));
    if let PredictKind::Choice { choices } = &predict.kind {
        lines.extend(options(&answer::choices(predict, choices)));
    }
    match page.predictions.get(&predict.id) {
        Some(made) => {
            lines.extend(sentence(&format!(
                "You said: {}.",
                answer::spelled(&made.given, |text| predict.label(text))
            )));
            let waits = matches!(predict.target, Target::Metric(_));
            if made.locked && waits {
                lines.push("It stands: its run has started.".to_owned());
            }
            lines.extend(comparison(page, predict));
        }
        None => lines.push(how),
    }
    lines
}

/// What a run has said to a prediction, if it has.
pub fn comparison(page: &Page, predict: &Predict) -> Vec<String> {
    let made = page.predictions.get(&predict.id);
    let Some(statement) = made.and_then(|made| made.comparison.as_ref()) else {
        return Vec::new();
    };
    let mut lines = sentence(statement);
    if let Some(explain) = &predict.explain {
        lines.extend(markdown(explain));
    }
    lines
}

/// The lab that a prediction is about.
pub fn lab_of(predict: &Predict) -> Option<String> {
    match &predict.target {
        Target::Metric(formula) => formula
            .expr
            .names()
            .first()
            .and_then(|(name, _)| name.parts().next().map(str::to_owned)),
        Target::Answer(_) | Target::Choice(_) => None,
    }
}

pub(super) fn question(page: &Page, question: &Question) -> Vec<String> {
    let all = page.lesson.questions().count();
    let place = page.lesson.questions().position(|q| q.id == question.id).map_or(0, |at| at + 1);
    let points = match question.points {
        1 => "1 point".to_owned(),
        points => format!("{points} points"),
    };
    let mut lines =
        vec![format!("Question {place} of {all} ({}, {points}).", question.kind.name())];
    lines.extend(markdown(&question.prompt));
    if let QuestionKind::Match { pairs, .. } = &question.kind {
        for (index, pair) in pairs.iter().enumerate() {
            lines.extend(sentence(&format!("{}. {}", index + 1, question.label(&pair.left))));
        }
    }
    lines.extend(options(&answer::options(&page.lesson, question)));
    if let Asked::Kernel { starter: Some(text) } = question.kind.asked() {
        lines.extend(text.lines().map(str::to_owned));
    }
    for number in 0..page.hints.get(&question.id).copied().unwrap_or(0) {
        lines.extend(hint(question, number));
    }
    match page.answers.get(&question.id) {
        Some(_) => lines.extend(answered(page, question)),
        None => lines.extend(sentence(&format!(
            "Type {}.{}",
            answer::how(&question.kind).split(';').next().unwrap_or_default(),
            if question.hints.is_empty() { "" } else { " hint says a hint." }
        ))),
    }
    lines
}

/// A hint, counted from 0.
pub fn hint(question: &Question, number: usize) -> Vec<String> {
    let Some(hint) = question.hints.get(number) else {
        return Vec::new();
    };
    let all = question.hints.len();
    sentence(&format!("Hint {} of {all}: {hint}", number + 1))
}

/// What came of each test of a kernel.
pub fn trial(page: &Page, question: &Question) -> Vec<String> {
    let state = page.trials.get(&question.id).map(|trial| &trial.state);
    let cases = match state {
        Some(TestsState::Done(cases)) => cases,
        Some(TestsState::Refused(why)) => return sentence(&format!("Not taken: {why}.")),
        Some(TestsState::Going) | None => return Vec::new(),
    };
    let said = |case: &Case| match &case.result {
        CaseResult::Failed(how) => format!("Test {} fails: {how}.", case.name),
        CaseResult::NotRun => format!("Test {} was not run.", case.name),
        CaseResult::Passed(costs) if costs.is_empty() => format!("Test {} passes.", case.name),
        CaseResult::Passed(costs) => {
            format!("Test {} passes ({}).", case.name, costs.join("; "))
        }
    };
    let cases = cases.iter();
    cases.flat_map(|case| sentence(&said(case))).collect()
}

/// What was said to the last answer.
pub fn answered(page: &Page, question: &Question) -> Vec<String> {
    let Some(answered) = page.answers.get(&question.id) else {
        return Vec::new();
    };
    let word = if question.kind.is_withheld() {
        "Answer recorded, graded later"
    } else if answered.right {
        "Right"
    } else {
        "Not yet"
    };
    // A kernel is not read out again.
    let mut lines = match question.kind.asked() {
        Asked::Kernel { .. } => vec![format!("{word}.")],
        Asked::Numeric { .. }
        | Asked::Choice { .. }
        | Asked::Multiple { .. }
        | Asked::Match { .. }
        | Asked::Order { .. }
        | Asked::List
        | Asked::Expression
        | Asked::Text => sentence(&format!(
            "{word}: {}.",
            answer::spelled(&answered.given, |text| question.label(text))
        )),
    };
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
