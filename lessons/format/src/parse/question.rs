//! The directive `{question}`.

use std::collections::BTreeMap;

use crate::diagnostic::{Code, Located, Place};
use crate::model::{Asked, Bounds, Formula, Match, Question, QuestionKind, QuestionType};
use crate::parse::fields::Fields;
use crate::parse::kernel;
use crate::parse::keys::{
    bounds, distinct, located, one_of, settings, tolerance, wrong, wrong_texts,
};
use crate::parse::vary::{self, Above};

/// Keys that only some types have.
pub(crate) const TYPED: &str = "answer tolerance unit min max wrong shown pair extra lab param set accept starter reference test limit at_least at_most";

pub(super) fn read(
    id: String,
    place: Place,
    fields: &mut Fields<'_, '_>,
    above: Above<'_>,
) -> Option<Question> {
    fields.require(&[("type", "type = \"numeric\""), ("prompt", "prompt = \"...\"")]);
    let ty = fields.line("type");
    let prompt = fields.text("prompt");
    let points = fields.integer("points", 0..=1000);
    let hints = fields.strings("hints");
    let explain = fields.text("explain");
    let is_withheld = fields.has("withheld") && fields.flag("withheld");
    let kind = ty.and_then(|ty| match one_of(&ty, QuestionType::ALL, QuestionType::name, fields) {
        Some(ty) if is_withheld => withheld(ty, fields).map(QuestionKind::Withheld),
        Some(ty) => kind(ty, fields),
        None => {
            // Which keys it may have is not known, so none of them is blamed.
            TYPED.split(' ').for_each(|key| fields.ignore(key));
            None
        }
    });
    let names = vary::drawn(fields, above);
    let written = Question {
        id,
        prompt: prompt?.value,
        kind: kind?,
        points: points.map_or(1, |points| points.value as u32),
        hints,
        explain: explain.map(|text| text.value),
        wording: BTreeMap::new(),
        variants: None,
        place,
    };
    Some(vary::printed(names?, written, fields, above))
}

fn kind(ty: QuestionType, fields: &mut Fields<'_, '_>) -> Option<QuestionKind> {
    fields.rename(&format!("a question of type {ty}"));
    match ty {
        QuestionType::Numeric => numeric(fields),
        QuestionType::Choice => choice(fields),
        QuestionType::Multiple => multiple(fields),
        QuestionType::Match => matching(fields),
        QuestionType::Order => order(fields),
        QuestionType::List => list(fields),
        QuestionType::Expression => expression(fields),
        QuestionType::Text => text(fields),
        QuestionType::Kernel => kernel::kernel(fields),
    }
}

fn numeric(fields: &mut Fields<'_, '_>) -> Option<QuestionKind> {
    fields.require(&[("answer", "answer = \"2*512^3\"")]);
    let answer = fields.formula("answer");
    let tolerance = tolerance(fields);
    let unit = fields.line("unit");
    let wrong = wrong(fields, |fields| {
        let formula = fields.formula("value")?;
        let place = formula.place;
        Some((formula, place))
    });
    let shown = shown(fields);
    let unit = unit.map(|unit| unit.value);
    let bounds = bounds(unit.as_deref(), fields);
    Some(QuestionKind::Numeric { answer: answer?, tolerance, unit, bounds, wrong, shown })
}

/// Why the answer may be shown before it is asked for.
fn shown(fields: &mut Fields<'_, '_>) -> Option<String> {
    fields.line("shown").map(|reason| reason.value)
}

fn choice(fields: &mut Fields<'_, '_>) -> Option<QuestionKind> {
    fields.require(&[
        ("answer", "answer = \"...\""),
        ("wrong", "[[wrong]] with value = \"...\" and say = \"...\""),
    ]);
    let answer = fields.text("answer");
    let wrong = wrong_texts(fields);
    let answer = answer?;
    let choices = [answer.clone()].into_iter().chain(located(&wrong)).collect();
    distinct(Some(choices), 2, fields);
    Some(QuestionKind::Choice { answer: answer.value, wrong })
}

fn multiple(fields: &mut Fields<'_, '_>) -> Option<QuestionKind> {
    fields.require(&[("answer", "answer = [\"...\", \"...\"]")]);
    let answer = fields.texts("answer");
    let wrong = wrong_texts(fields);
    let answer = answer?;
    let choices = answer.iter().cloned().chain(located(&wrong)).collect();
    distinct(Some(choices), 2, fields);
    Some(QuestionKind::Multiple { answer: distinct(Some(answer), 1, fields)?, wrong })
}

fn matching(fields: &mut Fields<'_, '_>) -> Option<QuestionKind> {
    const EXAMPLE: &str = "[[pair]] with left = \"...\" and right = \"...\"";
    fields.require(&[("pair", EXAMPLE)]);
    let place = fields.place_of("pair");
    let pairs = fields.tables("pair", |fields| {
        fields.require(&[("left", "left = \"...\""), ("right", "right = \"...\"")]);
        let (left, right) = (fields.line("left"), fields.line("right"));
        Some((left?, right?.value))
    });
    let extra = fields.strings("extra");
    if let (Some(place), 0 | 1) = (place, pairs.len()) {
        let message = "a question of type match needs two pairs at least";
        fields.error(Code::BadValue, place, message, format!("add {EXAMPLE}"));
    }
    distinct(Some(pairs.iter().map(|(left, _)| left.clone()).collect()), 0, fields);
    Some(QuestionKind::Match {
        pairs: pairs.into_iter().map(|(left, right)| Match { left: left.value, right }).collect(),
        extra,
    })
}

fn order(fields: &mut Fields<'_, '_>) -> Option<QuestionKind> {
    fields.require(&[("answer", "answer = [\"first\", \"second\"]")]);
    let answer = fields.texts("answer");
    let answer = distinct(answer, 2, fields);
    let wrong = wrong(fields, |fields| {
        let place = fields.place_of("value")?;
        let texts = fields.texts("value")?;
        let texts: Vec<String> = texts.into_iter().map(|text| text.value).collect();
        Some((texts, place))
    });
    let answer = answer?;
    for wrong in &wrong {
        let mut sorted: [Vec<String>; 2] = [answer.clone(), wrong.value.clone()];
        sorted.iter_mut().for_each(|texts| texts.sort());
        if sorted[0] != sorted[1] {
            let message = "this is not the answer's texts in another order";
            fields.error(Code::BadValue, wrong.place, message, "name each of them once");
        }
    }
    Some(QuestionKind::Order { answer, wrong })
}

fn list(fields: &mut Fields<'_, '_>) -> Option<QuestionKind> {
    fields.require(&[("answer", "answer = [1, \"2^3\"]")]);
    let place = fields.place_of("answer");
    let answer = fields.formulas("answer");
    let tolerance = tolerance(fields);
    let wrong = wrong(fields, |fields| {
        let place = fields.place_of("value")?;
        Some((fields.formulas("value")?, place))
    });
    let shown = shown(fields);
    let answer: Vec<Formula> = answer?;
    if let (Some(place), true) = (place, answer.is_empty()) {
        let message = "`answer` is an empty list";
        fields.error(Code::BadValue, place, message, "name one number at least");
    }
    let bounds = vec![Bounds::default(); answer.len()];
    Some(QuestionKind::List { answer, tolerance, bounds, wrong, shown })
}

fn expression(fields: &mut Fields<'_, '_>) -> Option<QuestionKind> {
    fields.require(&[
        ("lab", "lab = \"graph\""),
        ("accept", "accept = \"close(answer.grad.x, 7, 1e-9)\""),
        ("answer", "answer = \"x*y + x^2\""),
    ]);
    let lab = fields.line("lab");
    let param = fields.line("param");
    let set = settings(fields);
    let accept = fields.formula("accept");
    let answer = fields.text("answer");
    let wrong = wrong_texts(fields);
    let lab = lab?;
    Some(QuestionKind::Expression {
        param: param
            .unwrap_or_else(|| Located { value: "expression".to_owned(), place: lab.place }),
        lab,
        set,
        accept: accept?,
        answer: answer?,
        wrong,
    })
}

fn text(fields: &mut Fields<'_, '_>) -> Option<QuestionKind> {
    fields.require(&[("answer", "answer = \"...\"")]);
    let answer = fields.line("answer");
    let accept = fields.strings("accept");
    let wrong = wrong_texts(fields);
    Some(QuestionKind::Text { answer: answer?.value, accept, wrong })
}

/// Reads a withheld question, which has no key with its answer.
fn withheld(ty: QuestionType, fields: &mut Fields<'_, '_>) -> Option<Asked> {
    fields.rename(&format!("a question of type {ty} without its answer"));
    Some(match ty {
        QuestionType::Numeric => {
            let unit = fields.line("unit").map(|unit| unit.value);
            let bounds = bounds(unit.as_deref(), fields);
            Asked::Numeric { unit, bounds }
        }
        QuestionType::Choice => Asked::Choice { choices: choices(2, fields)? },
        QuestionType::Multiple => Asked::Multiple { choices: choices(2, fields)? },
        QuestionType::Order => Asked::Order { choices: choices(2, fields)? },
        QuestionType::Match => {
            fields.require(&[("left", "left = [\"...\", \"...\"]")]);
            let left = fields.texts("left");
            let left = distinct(left, 2, fields);
            let choices = choices(1, fields);
            Asked::Match { left: left?, choices: choices? }
        }
        QuestionType::List => Asked::List,
        QuestionType::Expression => Asked::Expression,
        QuestionType::Kernel => kernel::withheld(fields)?,
        QuestionType::Text => Asked::Text,
    })
}

fn choices(least: usize, fields: &mut Fields<'_, '_>) -> Option<Vec<String>> {
    fields.require(&[("choices", "choices = [\"...\", \"...\"]")]);
    let choices = fields.texts("choices");
    distinct(choices, least, fields)
}
