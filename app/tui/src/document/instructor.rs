//! What students do not see: notes, stated answers, tolerances, feedback, hints, settings, and what checks come to.

use mlsys_expr::Env;
use mlsys_lesson::{
    Check, Formula, Knob, LabDirective, Predict, PredictKind, Question, QuestionKind, Setting,
    Target, Tolerance, Wrong,
};

use crate::answer;
use crate::state::Page;

pub(super) struct Remark {
    pub(super) name: String,
    pub(super) text: String,
}

fn remark(name: impl Into<String>, text: impl Into<String>) -> Remark {
    Remark { name: name.into(), text: text.into() }
}

pub(super) fn question(page: &Page, question: &Question, env: &dyn Env) -> Vec<Remark> {
    let options = answer::options(&page.lesson, question);
    let lettered = |text: &str| {
        let label = question.label(text);
        let at = options.iter().position(|option| option == label);
        match at {
            Some(at) => format!("{}) {label}", answer::letter(at)),
            None => label.to_owned(),
        }
    };
    let all = |texts: &[String]| {
        let texts: Vec<String> = texts.iter().map(|text| lettered(text)).collect();
        texts.join(", ")
    };
    let numbers = |formulas: &[Formula]| {
        let numbers: Vec<String> = formulas.iter().map(|f| number(f, env)).collect();
        numbers.join(", ")
    };
    let mut remarks = Vec::new();
    match &question.kind {
        QuestionKind::Numeric { answer, tolerance, wrong, .. } => {
            remarks.push(remark("answer", number(answer, env)));
            remarks.push(remark("tolerance", within(*tolerance)));
            remarks.extend(says(wrong, |value| number(value, env)));
        }
        QuestionKind::List { answer, tolerance, wrong, .. } => {
            remarks.push(remark("answer", numbers(answer)));
            remarks.push(remark("tolerance", within(*tolerance)));
            remarks.extend(says(wrong, |value| numbers(value)));
        }
        QuestionKind::Choice { answer, wrong } => {
            remarks.push(remark("answer", lettered(answer)));
            remarks.extend(says(wrong, |value| lettered(value)));
        }
        QuestionKind::Multiple { answer, wrong } => {
            remarks.push(remark("answer", all(answer)));
            remarks.extend(says(wrong, |value| lettered(value)));
        }
        QuestionKind::Order { answer, wrong } => {
            remarks.push(remark("answer", all(answer)));
            remarks.extend(says(wrong, |value| all(value)));
        }
        QuestionKind::Match { pairs, extra } => {
            for pair in pairs {
                let pair = format!("{}: {}", question.label(&pair.left), lettered(&pair.right));
                remarks.push(remark("answer", pair));
            }
            if !extra.is_empty() {
                remarks.push(remark("belongs to none", all(extra)));
            }
        }
        QuestionKind::Text { answer, accept, wrong } => {
            remarks.push(remark("answer", answer.clone()));
            if !accept.is_empty() {
                remarks.push(remark("also right", accept.join(", ")));
            }
            remarks.extend(says(wrong, Clone::clone));
        }
        QuestionKind::Expression { lab, param, set, accept, answer, wrong } => {
            remarks.push(remark("answer", answer.value.clone()));
            remarks.push(remark("graded by", format!("{}.{}", lab.value, param.value)));
            remarks.extend(set.iter().map(setting));
            remarks.push(remark("accept", accept.source.clone()));
            remarks.extend(says(wrong, Clone::clone));
        }
        QuestionKind::Kernel(task) => {
            remarks.push(remark("answer", task.answer.value.clone()));
            for test in &task.tests {
                let expected = test.expect.iter();
                let expected: Vec<String> =
                    expected.map(|e| format!("{} = {}", e.buffer.value, e.value.source)).collect();
                let wanted = if expected.is_empty() {
                    "as the reference leaves it".to_owned()
                } else {
                    expected.join(", ")
                };
                remarks.push(remark(format!("test {}", test.name), wanted));
            }
            let limits = task.limits.iter();
            remarks.extend(limits.map(|limit| remark("limit", limit.assert.source.clone())));
            remarks.extend(says(&task.wrong, Clone::clone));
        }
        QuestionKind::Withheld(_) => {
            remarks.push(remark("answer", "kept elsewhere, and graded there"));
        }
    }
    for (index, hint) in question.hints.iter().enumerate() {
        remarks.push(remark(format!("hint {}", index + 1), hint.clone()));
    }
    if let Some(explain) = &question.explain {
        remarks.push(remark("said once right", explain.clone()));
    }
    remarks
}

pub(super) fn predict(predict: &Predict, env: &dyn Env) -> Vec<Remark> {
    let held = match (&predict.target, &predict.kind) {
        (Target::Choice(text), _) => text.clone(),
        (Target::Metric(formula), PredictKind::Choice { .. }) => formula.source.clone(),
        (Target::Metric(formula) | Target::Answer(formula), _) => number(formula, env),
    };
    let mut remarks = vec![remark("held against", held)];
    let theory = predict.theory.iter();
    remarks.extend(theory.map(|one| remark(one.label.to_string(), number(&one.formula, env))));
    let outcomes = predict.outcomes.iter();
    remarks.extend(
        outcomes.map(|one| remark(format!("said if {}", one.when.source), one.say.clone())),
    );
    let explain = predict.explain.iter();
    remarks.extend(explain.map(|text| remark("said afterwards", text.clone())));
    remarks
}

pub(super) fn check(check: &Check, env: &dyn Env) -> Vec<Remark> {
    let mut remarks = vec![remark("class", check.class.to_string())];
    for part in check.assert.parts(env) {
        remarks.push(remark("part", format!("{} = {}", part.source, part.value)));
    }
    let why = check.why.iter();
    remarks.extend(why.map(|why| remark("said if it fails", why.clone())));
    remarks
}

pub(super) fn lab(lab: &LabDirective) -> Vec<Remark> {
    let mut remarks = vec![remark("kind", lab.kind.value.clone())];
    let devices: Vec<&str> = lab.devices.iter().map(|device| device.name()).collect();
    remarks.push(remark("devices", devices.join(", ")));
    remarks.extend(lab.set.iter().map(setting));
    remarks.extend(lab.knobs.iter().map(knob));
    if !lab.panels.is_empty() {
        let panels: Vec<&str> = lab.panels.iter().map(|panel| panel.name.as_str()).collect();
        remarks.push(remark("panels", panels.join(", ")));
    }
    remarks
}

fn setting(setting: &Setting) -> Remark {
    remark("set", format!("{} = {}", setting.name, setting.value))
}

fn knob(knob: &Knob) -> Remark {
    let mut text = knob.param.clone();
    if let Some(values) = &knob.values {
        let values: Vec<String> = values.iter().map(ToString::to_string).collect();
        text.push_str(&format!(", one of {}", values.join(", ")));
    }
    for (name, bound) in [("from", knob.min), ("to", knob.max)] {
        if let Some(bound) = bound {
            text.push_str(&format!(", {name} {bound}"));
        }
    }
    if let Some(value) = &knob.default {
        text.push_str(&format!(", at first {value}"));
    }
    remark("knob", text)
}

/// The recognised mistakes with what is said to each.
fn says<T>(wrong: &[Wrong<T>], shown: impl Fn(&T) -> String) -> Vec<Remark> {
    wrong
        .iter()
        .map(|wrong| remark("wrong", format!("{}: {}", shown(&wrong.value), wrong.say)))
        .collect()
}

/// A formula, and what it comes to where that is not the same text.
fn number(formula: &Formula, env: &dyn Env) -> String {
    let value = formula.in_words(env);
    if value == formula.source { value } else { format!("{} = {value}", formula.source) }
}

fn within(tolerance: Tolerance) -> String {
    match tolerance {
        Tolerance::Exact => "none: the very number".to_owned(),
        Tolerance::Relative(share) => format!("{} % of the answer", 100.0 * share),
        Tolerance::Absolute(most) => format!("{most} up or down"),
    }
}
