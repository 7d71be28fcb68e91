//! Tables of lesson expressions and their values.

use super::{Dialect, Env, EvalErrorKind, LookupError, Value, evaluate, parse};
use crate::nearest::nearest;
use std::sync::Arc;

struct Lesson;

const NAMES: [&str; 6] =
    ["run.loss", "run.none", "run.steps", "two.identical", "device.name", "answer.grad.x"];

impl Env for Lesson {
    fn lookup(&self, name: &str) -> Result<Value, LookupError> {
        match name {
            "run.loss" => Ok(Value::Series(Arc::from([(0, 4.0), (10, 1.0), (20, 3.0), (25, 2.0)]))),
            "run.none" => Ok(Value::Series(Arc::from([]))),
            "run.steps" => Ok(Value::Number(40.0)),
            "two.identical" => Ok(Value::Bool(true)),
            "device.name" => Ok(Value::Text("flex".to_owned())),
            "answer.grad.x" => Ok(Value::Number(7.000_000_001)),
            "device.peak_flops_per_second" => {
                Err(LookupError::Missing { reason: "no saved device-peak run".to_owned() })
            }
            _ => Err(LookupError::Unknown { nearest: nearest(name, NAMES).map(str::to_owned) }),
        }
    }
}

/// The value, or what stands in its way and the part of the source that has none.
fn value(source: &str) -> Result<Value, (String, EvalErrorKind)> {
    let expr = parse(source, Dialect::Lesson)
        .map_err(|error| (error.to_string(), EvalErrorKind::NotFinite))?;
    evaluate(&expr, &Lesson).map_err(|error| {
        let part = source.get(error.span.start..error.span.end).unwrap_or("");
        (part.to_owned(), error.kind)
    })
}

#[test]
fn numbers() {
    for (source, expected) in [
        ("2*512^3 / (3*512^2*4)", 85.333_333_333_333_33),
        ("1 + 2*3", 7.0),
        ("8 - 3 - 2", 3.0),
        ("8 / 4 / 2", 1.0),
        ("2^3^2", 512.0),
        ("-3^2", -9.0),
        ("(-3)^2", 9.0),
        ("2^-2", 0.25),
        ("2^-1^2", 0.5),
        ("--2", 2.0),
        ("3 * -2", -6.0),
        ("-7 % 3", -1.0),
        ("7 % -3", 1.0),
        ("5.5 % 2", 1.5),
        ("2 * 7 % 4", 2.0),
        ("1.5e-3", 0.0015),
        ("1E3", 1000.0),
        ("0^0", 1.0),
        ("log(exp(2)) + ln(1) + log2(8) + log10(1000)", 8.0),
        ("sqrt(16) + abs(-3) + sin(0) + cos(0) + tanh(0)", 8.0),
        ("sigmoid(0) + relu(-1) + relu(2)", 2.5),
        ("floor(-1.5)", -2.0),
        ("ceil(-1.5)", -1.0),
        ("round(-2.5)", -3.0),
        ("round(2.5)", 3.0),
        ("min(2, 3) + max(2, 3)", 5.0),
        ("(2 > 1) + (3 > 1)", 2.0),
        ("two.identical * 5", 5.0),
        ("run.loss", 2.0),
        ("run.loss + 1", 3.0),
        ("first(run.loss)", 4.0),
        ("last(run.loss)", 2.0),
        ("min(run.loss)", 1.0),
        ("max(run.loss)", 4.0),
        ("mean(run.loss)", 2.5),
        ("median(run.loss)", 2.5),
        ("len(run.loss)", 4.0),
        ("len(run.none)", 0.0),
        ("at(run.loss, 2*10)", 3.0),
        ("max(run.loss, 3)", 3.0),
    ] {
        assert_eq!(value(source), Ok(Value::Number(expected)), "{source}");
    }
}

#[test]
fn truths() {
    for (source, expected) in [
        ("two.identical", true),
        ("not two.identical", false),
        ("two.identical == true", true),
        ("false != two.identical", true),
        ("device.name == \"flex\"", true),
        ("device.name != \"cuda\"", true),
        ("1 == 1.0", true),
        ("1 < 2 and 2 < 3", true),
        ("1 > 2 or 2 >= 2", true),
        ("not 1 == 2", true),
        ("not 0 and 0", false),
        ("1 or 0 and 0", true),
        ("(1 or 0) and 0", false),
        ("(1 < 2) == true", true),
        ("0 and 1/0", false),
        ("1 or 1/0", true),
        ("two.identical and run.loss < 3", true),
        ("close(answer.grad.x, 7, 1e-9)", true),
        ("close(answer.grad.x, 7, 1e-11)", false),
        ("close(1, 1.1, 0.1)", true),
        ("close(0, 1e-300, 1e-9)", false),
        ("close(0, 0, 0)", true),
        ("close(1e308, -1e308, 1)", false),
        ("last(run.loss) > 0.3 * first(run.loss)", true),
    ] {
        assert_eq!(value(source), Ok(Value::Bool(expected)), "{source}");
    }
}

#[test]
fn errors_name_the_part_that_has_no_value() {
    let unknown = |name: &str, nearest: Option<&str>| EvalErrorKind::UnknownName {
        name: name.to_owned(),
        nearest: nearest.map(str::to_owned),
    };
    let missing = EvalErrorKind::Missing {
        name: "device.peak_flops_per_second".to_owned(),
        reason: "no saved device-peak run".to_owned(),
    };
    let empty = EvalErrorKind::EmptySeries { name: "run.none".to_owned() };
    let no_step =
        |step, nearest| EvalErrorKind::NoSuchStep { name: "run.loss".to_owned(), step, nearest };
    for (source, part, expected) in [
        ("2 * run.los", "run.los", unknown("run.los", Some("run.loss"))),
        ("what", "what", unknown("what", None)),
        ("run.loss > 0.3 * device.peak_flops_per_second", "device.peak_flops_per_second", missing),
        ("run.none + 1", "run.none", empty.clone()),
        ("mean(run.none)", "run.none", empty.clone()),
        ("at(run.none, 0)", "run.none", empty),
        ("at(run.loss, 5 + 9)", "5 + 9", no_step(14.0, 10)),
        ("at(run.loss, 9.5)", "9.5", no_step(9.5, 10)),
        ("at(run.loss, -1)", "-1", no_step(-1.0, 0)),
        (
            "mean(run.steps)",
            "run.steps",
            EvalErrorKind::Type { expected: "a series", found: "a number" },
        ),
        (
            "1 + device.name",
            "device.name",
            EvalErrorKind::Type { expected: "a number", found: "a text" },
        ),
        (
            "run.steps == \"40\"",
            "run.steps",
            EvalErrorKind::Type { expected: "a text", found: "a number" },
        ),
        (
            "device.name < 3",
            "device.name",
            EvalErrorKind::Type { expected: "a number", found: "a text" },
        ),
        ("1 + 1/(2 - 2)", "(2 - 2)", EvalErrorKind::DivisionByZero),
        ("1 % 0", "0", EvalErrorKind::DivisionByZero),
        ("0^-1", "0^-1", EvalErrorKind::DivisionByZero),
        ("1 + log(-1)", "log(-1)", EvalErrorKind::NotFinite),
        ("log(0)", "log(0)", EvalErrorKind::NotFinite),
        ("sqrt(-1)", "sqrt(-1)", EvalErrorKind::NotFinite),
        ("1 + 1e308*10", "1e308*10", EvalErrorKind::NotFinite),
        ("(-8)^0.5", "(-8)^0.5", EvalErrorKind::NotFinite),
        ("close(1, 2, -1)", "-1", EvalErrorKind::NegativeTolerance),
    ] {
        assert_eq!(value(source), Err((part.to_owned(), expected)), "{source}");
    }
}

#[test]
fn what_is_missing_is_told_apart_from_what_fails() -> Result<(), super::ExprError> {
    let peak = evaluate(&parse("device.peak_flops_per_second > 1", Dialect::Lesson)?, &Lesson);
    assert_eq!(
        peak.as_ref().err().and_then(|error| error.missing()),
        Some("no saved device-peak run")
    );
    let typo = evaluate(&parse("run.lsos > 1", Dialect::Lesson)?, &Lesson);
    assert_eq!(typo.as_ref().err().and_then(|error| error.missing()), None);
    assert_eq!(
        typo.err().map(|error| error.to_string()).as_deref(),
        Some("nothing is called `run.lsos` (did you mean `run.loss`?)")
    );
    Ok(())
}
