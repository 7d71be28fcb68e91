//! What a test is launched on, and what its buffers must hold by its own word.

use std::collections::BTreeMap;

use mlsys_expr::{Env, LookupError, Value as Known, evaluate};
use mlsys_lab::params::{Given, Settings};
use mlsys_lab::value::Value;

use crate::model::{Formula, KernelTest, settings};

/// Warp instructions of one test where it says nothing: an answer is graded while the learner waits.
const BUDGET: i64 = 1_000_000;

/// Elements of a buffer that the lab reports.
const SHOWN: usize = 4096;

/// A test's parameters. A buffer without a fill is one that the kernel is to fill, whatever its type says.
pub(crate) fn launch(test: &KernelTest) -> Settings {
    let mut given = settings(&test.set);
    let has = |name: &str| test.set.iter().any(|setting| setting.name == name);
    if !has("max_instructions") {
        given.push("max_instructions", Given::Value(Value::Int(BUDGET)));
    }
    for setting in &test.set {
        let ("arguments", Value::Table(arguments)) = (setting.name.as_str(), &setting.value) else {
            continue;
        };
        let filled = arguments.iter().map(|(name, value)| {
            let mut value = value.clone();
            if let Value::Table(buffer) = &mut value {
                buffer.entry("fill".to_owned()).or_insert_with(|| "poison".into());
            }
            (name.clone(), value)
        });
        let mut over = Settings::new();
        over.push("arguments", Given::Value(Value::Table(filled.collect())));
        given = given.overlaid(&over);
    }
    given
}

/// The elements that a formula gives for a buffer.
pub(crate) fn expected(
    test: &KernelTest,
    buffer: &str,
    value: &Formula,
) -> Result<Vec<Value>, String> {
    let arguments = test.set.iter().find(|setting| setting.name == "arguments");
    let Some(Value::Table(arguments)) = arguments.map(|setting| &setting.value) else {
        return Err("the test has no arguments".to_owned());
    };
    let count = match arguments.get(buffer) {
        Some(Value::Table(fields)) => fields.get("buffer").and_then(Value::as_f64),
        Some(_) | None => None,
    };
    let Some(count) = count else {
        return Err(format!("no argument is a buffer called '{buffer}'"));
    };
    (0..(count as usize).min(SHOWN))
        .map(|i| match evaluate(&value.expr, &AtElement { arguments, i }) {
            Ok(Known::Number(x)) => Ok(Value::Float(x)),
            Ok(other) => Err(format!("{} is no number", other.kind())),
            Err(error) => Err(error.to_string()),
        })
        .collect()
}

/// Names in an expected value: `i`, numbers among the arguments, and what buffers held at `i` at the start.
struct AtElement<'a> {
    arguments: &'a BTreeMap<String, Value>,
    i: usize,
}

impl Env for AtElement<'_> {
    fn lookup(&self, name: &str) -> Result<Known, LookupError> {
        if name == "i" {
            return Ok(Known::Number(self.i as f64));
        }
        let missing = |reason: &str| LookupError::Missing { reason: reason.to_owned() };
        match self.arguments.get(name) {
            Some(Value::Table(buffer)) => match buffer.get("fill").and_then(Value::as_str) {
                Some("index") => Ok(Known::Number(self.i as f64)),
                Some("ones") => Ok(Known::Number(1.0)),
                Some("zeros") => Ok(Known::Number(0.0)),
                Some("random") => {
                    Err(missing("what a random fill gives has no formula; write a reference"))
                }
                Some(_) | None => Err(missing("nothing is written there at the start")),
            },
            Some(value) => match value.as_f64() {
                Some(x) => Ok(Known::Number(x)),
                None => Err(missing("it is no number")),
            },
            None => Err(LookupError::Unknown {
                nearest: mlsys_lab::nearest::nearest(
                    name,
                    self.arguments.keys().map(String::as_str).chain(["i"]),
                )
                .map(str::to_owned),
            }),
        }
    }
}
