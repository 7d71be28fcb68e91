//! The launches of a test: one for each combination of its varied numbers.

use std::collections::BTreeMap;

use mlsys_expr::{Dialect, Env, EvalError, ExprError, LookupError, Value as Known, evaluate};
use mlsys_lab::nearest::nearest;
use mlsys_lab::params::{Given, Settings};
use mlsys_lab::schema::{Schema, Type};
use mlsys_lab::value::{Value, number};

use crate::diagnostic::Place;
use crate::model::{KernelTest, Setting, Varied, settings};

/// Warp instructions of one launch where the test says nothing: an answer is graded while the learner waits.
const BUDGET: i64 = 1_000_000;

/// One launch of a test.
pub(crate) struct Launch {
    /// Its varied numbers, for feedback; empty where the test varies nothing.
    pub(crate) label: String,
    /// Parameters of the lab `kernel`.
    pub(crate) set: Vec<Setting>,
    /// What expressions about it refer to: the varied numbers, and those among its arguments.
    pub(crate) numbers: Numbers,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers(pub(crate) BTreeMap<String, f64>);

/// A text in the settings of a test that varies numbers, which is not a number.
#[derive(Debug, thiserror::Error)]
#[error("`{text}` is no number: {problem}")]
pub(crate) struct InvalidNumber {
    pub(crate) place: Place,
    text: String,
    problem: NumberProblem,
}

#[derive(Debug, thiserror::Error)]
enum NumberProblem {
    #[error(transparent)]
    Syntax(ExprError),
    #[error(transparent)]
    NoValue(EvalError),
    #[error("it is {0}")]
    OtherKind(&'static str),
}

/// The launches of a test; `earlier` is the number of launches before it, so that random inputs differ.
pub(crate) fn launches(
    test: &KernelTest,
    schema: &Schema,
    earlier: usize,
) -> Result<Vec<Launch>, InvalidNumber> {
    if test.vary.is_empty() {
        let numbers = numbers(Numbers::default(), &test.set);
        return Ok(vec![Launch { label: String::new(), set: test.set.clone(), numbers }]);
    }
    (0..test.launches())
        .map(|index| {
            let varied = combination(&test.vary, index);
            // Numbers that the question draws for other tests would be taken for this one's.
            let own = varied.iter().filter(|(name, _)| test.refers_to(name));
            let label: Vec<String> =
                own.map(|(name, value)| format!("{name} = {}", number(*value))).collect();
            let names = varied.into_iter().map(|(name, value)| (name.to_owned(), value));
            let names = Numbers(names.collect());
            let mut set = Vec::new();
            for setting in &test.set {
                set.push(instantiated(setting, schema, &names)?);
            }
            if !test.set.iter().any(|setting| setting.name == "seed") {
                let value = Value::Int((earlier + index + 1) as i64);
                let place = test.place;
                set.push(Setting { name: "seed".to_owned(), value, place, value_place: place });
            }
            let numbers = numbers(names, &set);
            Ok(Launch { label: label.join(", "), set, numbers })
        })
        .collect()
}

/// The values of one of all combinations; the last name changes first.
fn combination(vary: &[Varied], mut index: usize) -> Vec<(&str, f64)> {
    let mut values: Vec<(&str, f64)> = Vec::new();
    for Varied { name, values: of, .. } in vary.iter().rev() {
        values.push((&name.value, of[index % of.len()]));
        index /= of.len();
    }
    values.reverse();
    values
}

/// A setting with the values of the expressions in it. Names, such as fills and types, stay texts.
fn instantiated(
    setting: &Setting,
    schema: &Schema,
    names: &Numbers,
) -> Result<Setting, InvalidNumber> {
    let evaluated = |value: &Value| evaluated(value, setting.value_place, names);
    let value = match (schema.param(&setting.name).map(|param| param.ty), &setting.value) {
        (Some(Type::Int | Type::Float), text @ Value::Text(_)) => evaluated(text)?,
        (Some(Type::Array), Value::Array(items)) => {
            Value::Array(items.iter().map(evaluated).collect::<Result<_, _>>()?)
        }
        (Some(Type::Table), Value::Table(arguments)) => {
            let arguments = arguments.iter().map(|(name, argument)| {
                let mut argument = evaluated(argument)?;
                if let Value::Table(buffer) = &mut argument
                    && let Some(count) = buffer.get_mut("buffer")
                {
                    *count = evaluated(count)?;
                }
                Ok((name.clone(), argument))
            });
            Value::Table(arguments.collect::<Result<_, _>>()?)
        }
        (_, other) => other.clone(),
    };
    Ok(Setting { value, ..setting.clone() })
}

fn evaluated(value: &Value, place: Place, names: &Numbers) -> Result<Value, InvalidNumber> {
    let Value::Text(text) = value else { return Ok(value.clone()) };
    let invalid = |problem| InvalidNumber { place, text: text.clone(), problem };
    let expr = mlsys_expr::parse(text, Dialect::Lesson)
        .map_err(|error| invalid(NumberProblem::Syntax(error)))?;
    match evaluate(&expr, names).map_err(|error| invalid(NumberProblem::NoValue(error)))? {
        Known::Number(x) if x.fract() == 0.0 && x.abs() < 2_f64.powi(53) => {
            Ok(Value::Int(x as i64))
        }
        Known::Number(x) => Ok(Value::Float(x)),
        other @ (Known::Text(_) | Known::Bool(_) | Known::Series(_)) => {
            Err(invalid(NumberProblem::OtherKind(other.kind())))
        }
    }
}

/// Adds the numbers among the arguments.
fn numbers(mut names: Numbers, set: &[Setting]) -> Numbers {
    for setting in set {
        let ("arguments", Value::Table(arguments)) = (setting.name.as_str(), &setting.value) else {
            continue;
        };
        let plain = arguments.iter().filter_map(|(name, value)| Some((name, value.as_f64()?)));
        names.0.extend(plain.map(|(name, value)| (name.clone(), value)));
    }
    names
}

impl Env for Numbers {
    fn lookup(&self, name: &str) -> Result<Known, LookupError> {
        let known = self.0.keys().map(String::as_str);
        let unknown = || LookupError::Unknown { nearest: nearest(name, known).map(str::to_owned) };
        self.0.get(name).map(|value| Known::Number(*value)).ok_or_else(unknown)
    }
}

impl Launch {
    /// The arguments by name, if there are any.
    pub(crate) fn arguments(&self) -> Option<&BTreeMap<String, Value>> {
        let arguments = self.set.iter().find(|setting| setting.name == "arguments")?;
        match &arguments.value {
            Value::Table(arguments) => Some(arguments),
            Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::Array(_) => {
                None
            }
        }
    }

    /// The lab's parameters. A buffer without a fill is one that the kernel is to fill, whatever its type says.
    pub(super) fn settings(&self) -> Settings {
        let mut given = settings(&self.set);
        if !self.set.iter().any(|setting| setting.name == "max_instructions") {
            given.push("max_instructions", Given::Value(Value::Int(BUDGET)));
        }
        let Some(arguments) = self.arguments() else { return given };
        let filled = arguments.iter().map(|(name, value)| {
            let mut value = value.clone();
            if let Value::Table(buffer) = &mut value {
                buffer.entry("fill".to_owned()).or_insert_with(|| "poison".into());
            }
            (name.clone(), value)
        });
        let mut over = Settings::new();
        over.push("arguments", Given::Value(Value::Table(filled.collect())));
        given.overlaid(&over)
    }
}
