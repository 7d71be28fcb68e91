//! Explanations that presume what a machine will show.

use mlsys_lab::Registry;
use mlsys_lab::schema::Class;

use crate::diagnostic::{Code, Diagnostic, Place};
use crate::lint::numbers::numbers;
use crate::model::{Lesson, Predict};

/// A warning for each `explain` and each outcome's `say` that states a number of three digits or more, other than those of
/// the prompt and of the outcome's condition, where what the guess is held against is measured on the learner's machine:
/// there it may come out otherwise.
pub fn presumptions(lesson: &Lesson, registry: &Registry) -> Vec<Diagnostic> {
    let measured = lesson.predictions().filter(|predict| is_measured(predict, lesson, registry));
    let mut found = Vec::new();
    for predict in measured {
        let explain = predict.explain.iter().map(|text| ("`explain`", text, ""));
        let said = predict.outcomes.iter();
        let said = said.map(|outcome| ("an outcome", &outcome.say, outcome.when.source.as_str()));
        let texts = explain.chain(said);
        found.extend(texts.filter_map(|(what, text, when)| {
            presumption(what, text, &[&predict.prompt, when], predict, lesson)
        }));
    }
    found
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

/// A text may state the numbers in the texts `given`.
fn presumption(
    what: &str,
    text: &str,
    given: &[&str],
    predict: &Predict,
    lesson: &Lesson,
) -> Option<Diagnostic> {
    let given: Vec<&str> =
        given.iter().flat_map(|text| numbers(text)).map(|token| token.digits).collect();
    let token = numbers(text).find(|token| {
        let mantissa = token.digits.split('e').next().unwrap_or(token.digits);
        let digits = mantissa.replace(['.', ',', '_'], "");
        digits.trim_matches('0').len() >= 3 && !given.contains(&token.digits)
    })?;
    let line = text[..token.at].rfind('\n').map_or(0, |at| at + 1);
    let before = &text[line..token.at + token.digits.len()];
    let source = lesson.source.slice(predict.place);
    let place = source.find(before).map_or(predict.place, |at| {
        let end = predict.place.start + at + before.len();
        Place::new(end - token.digits.len(), end)
    });
    let message = format!(
        "{what} of `{}` states {}, but what is measured depends on the machine",
        predict.id, token.digits
    );
    let help = match what {
        "`explain`" => {
            "say it in [[outcome]] when = \"...\" say = \"...\", or name what holds on every machine"
        }
        _ => "name what holds whenever its condition does, or put the number into `when`",
    };
    Some(lesson.source.warning(Code::Presumption, place, message).help(help))
}
