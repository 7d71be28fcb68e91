//! Answers that are numbers, or expressions that come to one.

use std::iter;

use mlsys_expr::{Env, EvalError, Value, evaluate};
use mlsys_lab::schema::Range;

use crate::check::error_text;
use crate::grade::answer::Judgement;
use crate::grade::mistake;
use crate::grade::quantity::{self, ReadNumberError, Written};
use crate::model::{Bounds, Formula, Tolerance, Wrong};

/// The number that a learner wrote, as questions without a unit read it.
pub fn read_number(text: &str) -> Result<f64, ReadNumberError> {
    quantity::read(text, None).map(|written| written.value)
}

/// Why a stated answer cannot be compared with a learner's number.
#[derive(Debug, thiserror::Error)]
enum NoNumber<'f> {
    #[error("`{}` is {kind}, not a number", .formula.source)]
    OtherKind { formula: &'f Formula, kind: &'static str },
    #[error("{}", error_text(.0, .1))]
    NoValue(&'f Formula, EvalError),
}

fn value_of<'f>(formula: &'f Formula, env: &dyn Env) -> Result<f64, NoNumber<'f>> {
    match evaluate(&formula.expr, env) {
        Ok(Value::Number(x)) => Ok(x),
        Ok(other @ (Value::Text(_) | Value::Bool(_) | Value::Series(_))) => {
            Err(NoNumber::OtherKind { formula, kind: other.kind() })
        }
        Err(error) => Err(NoNumber::NoValue(formula, error)),
    }
}

/// The numbers that formulas come to.
pub(super) fn values<'f>(
    formulas: &'f [Formula],
    env: &dyn Env,
) -> Result<Vec<f64>, impl std::fmt::Display + use<'f>> {
    formulas.iter().map(|formula| value_of(formula, env)).collect::<Result<_, NoNumber<'f>>>()
}

/// What numbers are held against.
pub(super) struct Task<'q, W> {
    pub(super) answer: &'q [Formula],
    pub(super) tolerance: Tolerance,
    pub(super) unit: Option<&'q str>,
    /// What each number can be.
    pub(super) bounds: &'q [Bounds],
    pub(super) wrong: &'q [Wrong<W>],
    /// The numbers of a recognised mistake.
    pub(super) formulas: fn(&W) -> &[Formula],
}

/// Judges as many numbers as the answer has.
pub(super) fn judge<W>(texts: &[&str], task: &Task<'_, W>, env: &dyn Env) -> Judgement {
    let ranges = || task.bounds.iter().map(|bounds| bounds.range()).chain(iter::repeat(Range::ALL));
    let read = texts.iter().zip(ranges());
    let given: Result<Vec<Written>, _> =
        read.map(|(text, range)| quantity::read_share(text, task.unit, range)).collect();
    let given = match given {
        Ok(given) => given,
        Err(error) => {
            let unseparated = (task.answer.len() > 1).then(|| quantity::unseparated(texts));
            let error = unseparated.flatten().unwrap_or(error);
            return Judgement::Malformed(error.to_string());
        }
    };
    if given.len() != task.answer.len() {
        let (wanted, given) = (task.answer.len(), given.len());
        let message = match quantity::unseparated(texts) {
            Some(error) => error.to_string(),
            None => format!("{wanted} numbers are asked for, and these are {given}"),
        };
        return Judgement::Malformed(message);
    }
    let outside = given.iter().zip(ranges()).find(|(given, range)| !range.contains(given.value));
    let outside = outside
        .map(|(given, range)| ReadNumberError::Outside { given: given.value, range }.to_string());
    let values = match values(task.answer, env) {
        Ok(values) => values,
        // It depends on a run that has not been made.
        Err(reason) => {
            let reason = || format!("this cannot be graded yet: {reason}");
            return Judgement::Malformed(outside.unwrap_or_else(reason));
        }
    };
    let is_near = |given: Written, value: f64| task.tolerance.accepts(given.value, value);
    let is_right = |given: Written, value: f64| is_near(given, value) || given.displays(value);
    let holds = |wanted: &[f64], test: &dyn Fn(Written, f64) -> bool| {
        let mut pairs = given.iter().zip(wanted);
        wanted.len() == given.len() && pairs.all(|(&given, &value)| test(given, value))
    };
    let mistake = |test: &dyn Fn(Written, f64) -> bool| {
        task.wrong.iter().find(|wrong| {
            self::values((task.formulas)(&wrong.value), env)
                .is_ok_and(|values| holds(&values, test))
        })
    };
    if holds(&values, &is_near) {
        return Judgement::Right;
    }
    if holds(&values, &is_right) {
        return match mistake(&|given, value| is_near(given, value) || given.rounds(value)) {
            Some(_) => Judgement::Malformed(
                "write more digits: these could come from a mistake".to_owned(),
            ),
            None => Judgement::Right,
        };
    }
    if holds(&values, &|given, value| is_right(given, value) || given.is_coarse(value)) {
        return Judgement::Malformed("write more digits, four at least".to_owned());
    }
    let is_stated = mistake(&is_near).or_else(|| mistake(&Written::is));
    if let Some(stated) = is_stated.or_else(|| mistake(&Written::displays)) {
        return Judgement::Wrong(Some(stated.say.clone()));
    }
    if let Some(outside) = outside {
        return Judgement::Malformed(outside);
    }
    let (right, wrong): (Vec<usize>, Vec<usize>) =
        (0..given.len()).partition(|place| is_right(given[*place], values[*place]));
    let Some(&first) = wrong.first() else { return Judgement::Right };
    let (given, value) = (given[first], values[first]);
    let named = mistake::named(given, &task.answer[first], value, task.unit, env);
    let reason = named.unwrap_or_else(|| unexplained(given.value, value));
    Judgement::Wrong(Some(if values.len() == 1 { reason } else { told(&right, &wrong, &reason) }))
}

/// Which of several numbers are right, and why the first wrong one is not.
fn told(right: &[usize], wrong: &[usize], reason: &str) -> String {
    match wrong {
        [one] if right.len() > 1 => format!("all but {} are right. {reason}", ordinal(*one)),
        _ => {
            let which = match right {
                [] => "none of them is right".to_owned(),
                [one] => format!("only {} is right", ordinal(*one)),
                several => format!("only {} are right", listed(several)),
            };
            let first = wrong.first().map_or_else(String::new, |first| ordinal(*first));
            format!("{which}. Of {first}: {reason}")
        }
    }
}

/// Places in words: `the first, the second and the fourth`.
fn listed(places: &[usize]) -> String {
    let words: Vec<String> = places.iter().map(|place| ordinal(*place)).collect();
    match words.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        Some(_) | None => words.concat(),
    }
}

fn ordinal(place: usize) -> String {
    const WORDS: [&str; 6] = ["first", "second", "third", "fourth", "fifth", "sixth"];
    WORDS.get(place).map_or_else(|| format!("number {}", place + 1), |word| format!("the {word}"))
}

/// What is said of a wrong number that no edit of the answer gives: how far off it is, and not in which direction.
fn unexplained(given: f64, value: f64) -> String {
    let ratio = (given / value).max(value / given);
    let is_comparable = given * value > 0.0;
    let far = match ratio {
        _ if !is_comparable => "Its sign is not that of the answer, or one of both is 0.",
        ratio if ratio <= 1.1 => {
            "It is within 10 % of the answer: is an input rounded, or one of another case?"
        }
        ratio if ratio <= 3.0 => "Its order of magnitude is right.",
        _ => "It is off by more than a factor of 3.",
    };
    format!("No common mistake gives this number. {far}")
}

/// How many of several numbers are right, each at its place.
pub(super) fn count_right(
    texts: &[&str],
    answer: &[Formula],
    tolerance: Tolerance,
    env: &dyn Env,
) -> usize {
    let pairs = texts.iter().zip(answer);
    let right = pairs.filter(|(text, formula)| {
        let (given, value) = (quantity::read(text, None), value_of(formula, env));
        matches!((given, value), (Ok(given), Ok(value))
            if tolerance.accepts(given.value, value) || given.displays(value))
    });
    right.count()
}
