//! Explanations that presume what a machine will show.

use mlsys_lab::Registry;
use mlsys_lab::schema::Class;

use crate::diagnostic::{Code, Diagnostic, Place};
use crate::lint::numbers::numbers;
use crate::model::{Lesson, Predict};

/// A warning for each `explain` that states a number of three digits or more, other than those of the prompt, where
/// what the guess is held against is measured on the learner's machine: there it may come out otherwise.
pub fn presumptions(lesson: &Lesson, registry: &Registry) -> Vec<Diagnostic> {
    let measured = lesson.predictions().filter(|predict| is_measured(predict, lesson, registry));
    measured.filter_map(|predict| presumption(predict, lesson)).collect()
}

/// Whether a metric that depends on the machine is among what a guess is held against.
fn is_measured(predict: &Predict, lesson: &Lesson, registry: &Registry) -> bool {
    let names = predict.target.formula().map_or_else(Vec::new, |formula| formula.expr.names());
    names.iter().any(|(name, _)| {
        let mut parts = name.parts();
        let (Some(stem), Some(metric)) = (parts.next(), parts.next()) else { return false };
        let own = predict.lab.as_ref().filter(|_| stem == predict.id);
        let lab = lesson.lab(own.map_or(stem, |lab| lab.value.as_str()));
        let lab = lab.and_then(|lab| registry.find(&lab.kind.value).ok());
        let metric = lab.and_then(|lab| lab.schema().metric(metric));
        metric.is_some_and(|metric| matches!(metric.class, Class::Hardware | Class::Device))
    })
}

fn presumption(predict: &Predict, lesson: &Lesson) -> Option<Diagnostic> {
    let explain = predict.explain.as_ref()?;
    let given: Vec<&str> = numbers(&predict.prompt).map(|token| token.digits).collect();
    let token = numbers(explain).find(|token| {
        let mantissa = token.digits.split('e').next().unwrap_or(token.digits);
        let digits = mantissa.replace(['.', ',', '_'], "");
        digits.trim_matches('0').len() >= 3 && !given.contains(&token.digits)
    })?;
    let line = explain[..token.at].rfind('\n').map_or(0, |at| at + 1);
    let before = &explain[line..token.at + token.digits.len()];
    let source = lesson.source.slice(predict.place);
    let place = source.find(before).map_or(predict.place, |at| {
        let end = predict.place.start + at + before.len();
        Place::new(end - token.digits.len(), end)
    });
    let message = format!(
        "`explain` of `{}` states {}, but what is measured depends on the machine",
        predict.id, token.digits
    );
    let help =
        "say it in [[outcome]] when = \"...\" say = \"...\", or name what holds on every machine";
    Some(lesson.source.warning(Code::Presumption, place, message).help(help))
}
