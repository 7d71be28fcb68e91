//! Parsing of arguments and extents that the learner typed.

use crate::examples::Example;
use crate::types::{Access, Scalar, Type};
use crate::{Kernel, Values, recipe};
use mlsys_lab::frame::kernel::{Argument, Fill};
use mlsys_lab::{LabError, Params, Value};
use std::collections::BTreeMap;

/// Elements that all buffers may have together.
const MOST_ELEMENTS: usize = 1 << 23;

/// One to three extents; what is not given is 1.
pub(super) fn extents(params: &Params, name: &str) -> Result<[u32; 3], LabError> {
    let refuse = || {
        LabError::contradiction(
            [name],
            "expected 1 to 3 whole numbers of at least 1, such as [16, 16]",
        )
    };
    let Some(Value::Array(list)) = params.get(name) else { return Err(refuse()) };
    if list.is_empty() || list.len() > 3 {
        return Err(refuse());
    }
    let mut extents = [1; 3];
    for (extent, value) in extents.iter_mut().zip(list) {
        *extent = match value.as_f64() {
            Some(x) if x >= 1.0 && x.fract() == 0.0 && x <= f64::from(u32::MAX) => x as u32,
            Some(_) | None => return Err(refuse()),
        };
    }
    Ok(extents)
}

/// Whether the buffers fit into memory together.
pub(super) fn check_elements(
    given: &[Argument],
    example: Option<&Example>,
) -> Result<(), LabError> {
    let elements = given.iter().map(|argument| match argument {
        Argument::Buffer { elements, .. } => *elements,
        Argument::Whole(_) | Argument::Real(_) => 0,
    });
    if elements.fold(0, usize::saturating_add) <= MOST_ELEMENTS {
        return Ok(());
    }
    let params: &[_] = if example.is_some() { &["rows", "columns"] } else { &["arguments"] };
    let message = format!("the buffers have more than {MOST_ELEMENTS} elements together");
    Err(LabError::contradiction(params.iter().copied(), message))
}

/// The arguments of a custom kernel, in the order in which it takes them.
///
/// A buffer that is not described has `elements` elements counted up from 0, or nothing if the kernel may write there;
/// buffers in `held` have given contents and take no description.
pub(super) fn given(
    kernel: &Kernel,
    params: &Params,
    elements: usize,
    held: &BTreeMap<String, Values>,
) -> Result<Vec<Argument>, LabError> {
    let empty = BTreeMap::new();
    let mut entries: BTreeMap<&str, &Value> = match params.get("arguments") {
        Some(Value::Table(table)) => {
            table.iter().map(|(name, value)| (name.as_str(), value)).collect()
        }
        _ => empty,
    };
    let seed = params.int("seed")? as u64;
    let mut arguments = Vec::new();
    for (name, ty) in kernel.params() {
        let mut field = |field: &str| entries.remove(format!("{name}.{field}").as_str());
        let (size, fill, written) = (field("buffer"), field("fill"), field("type"));
        let plain = entries.remove(name);
        let is_described = size.or(fill).or(written).or(plain).is_some();
        let global = kernel.globals().find(|(own, ..)| *own == name && !is_described);
        if let Some((_, elements, initial)) = global {
            arguments.push(Argument::Buffer { elements, fill: Fill::Values(initial.to_vec()) });
            continue;
        }
        if let Some(values) = held.get(name) {
            if size.or(fill).or(written).or(plain).is_some() {
                return Err(refuse(format!(
                    "'{name}' is filled by the network; leave arguments.{name} out, or set plug_in to none"
                )));
            }
            arguments.push(recipe::buffer_argument(values));
            continue;
        }
        let argument = match (ty, plain) {
            (Type::Pointer { to, access, .. }, None) => {
                if let Some(written) =
                    written.and_then(Value::as_str).filter(|written| *written != to.to_string())
                {
                    return Err(refuse(format!(
                        "arguments.{name}.type is {written}, and the kernel takes {to}*"
                    )));
                }
                let usual = Value::from(match access {
                    Access::Constant => "index",
                    Access::Mutable => "poison",
                });
                let seed = seed ^ arguments.len() as u64;
                let field = Field { name, of: to };
                let (fill, listed) = field.fill(fill.unwrap_or(&usual), seed)?;
                let count = match size.map(Value::as_f64) {
                    None => listed.unwrap_or(elements) as f64,
                    Some(Some(x)) if x >= 1.0 && x.fract() == 0.0 => x,
                    Some(_) => {
                        return Err(refuse(format!(
                            "arguments.{name}.buffer is a number of elements, at least 1"
                        )));
                    }
                };
                if let Some(listed) = listed.filter(|listed| *listed as f64 > count) {
                    return Err(refuse(format!(
                        "arguments.{name}.fill has {listed} numbers, and its buffer {count} elements"
                    )));
                }
                Argument::Buffer { elements: count as usize, fill }
            }
            (Type::Pointer { to, .. }, Some(_)) => {
                return Err(refuse(format!(
                    "'{name}' is a {to}*: set arguments.{name}.buffer to its number of elements"
                )));
            }
            (ty, Some(Value::Int(value))) if ty.scalar().is_some() => Argument::Whole(*value),
            (ty, Some(value)) => match value.as_f64() {
                Some(x) => Argument::Real(x),
                None => {
                    return Err(refuse(format!(
                        "'{name}' is a {ty}: set arguments.{name} to a number"
                    )));
                }
            },
            // The size of the problem by its usual name.
            (Type::Scalar(scalar), None) if name == "n" && !scalar.is_real() => {
                Argument::Whole(elements as i64)
            }
            (ty, None) => {
                return Err(refuse(format!(
                    "'{name}' has no value: set arguments.{name}, of type {ty}"
                )));
            }
        };
        arguments.push(argument);
    }
    if let Some(name) = entries.keys().next() {
        let name = name.split_once('.').map_or(*name, |(buffer, _)| buffer);
        let names: Vec<&str> = kernel.params().map(|(name, _)| name).collect();
        let message =
            format!("'{}' takes no '{name}'; it takes {}", kernel.name(), names.join(", "));
        return Err(LabError::contradiction(["arguments"], message));
    }
    Ok(arguments)
}

fn refuse(message: String) -> LabError {
    LabError::contradiction(["arguments"], message)
}

/// The `fill` of a buffer.
struct Field<'a> {
    name: &'a str,
    /// The type of its elements.
    of: Scalar,
}

impl Field<'_> {
    fn refuse(&self, why: &str) -> LabError {
        refuse(format!("arguments.{}.fill {why}", self.name))
    }

    fn is_unknown(&self) -> LabError {
        self.refuse(
            "is one of index, ones, zeros, random and poison, uniform(-1, 1), or a list of numbers",
        )
    }

    /// What the buffer holds at the start, and how many elements that are, if it says so.
    fn fill(&self, fill: &Value, seed: u64) -> Result<(Fill, Option<usize>), LabError> {
        let list = |list: Vec<f64>| {
            let count = list.len();
            (Fill::Values(list), Some(count))
        };
        let Some(text) = fill.as_str() else {
            return fill.as_f64().map(|one| list(vec![one])).ok_or_else(|| self.is_unknown());
        };
        let known = match text.trim() {
            "poison" => Fill::Poison,
            "index" => Fill::INDEX,
            "ones" => Fill::constant(1.0),
            "zeros" => Fill::constant(0.0),
            "random" => Fill::Random { seed },
            text => match text.strip_prefix("uniform(").and_then(|rest| rest.strip_suffix(')')) {
                Some(range) => self.uniform(range, seed)?,
                None => return self.numbers(text).map(list),
            },
        };
        Ok((known, None))
    }

    /// `-1, 1`
    fn uniform(&self, range: &str, seed: u64) -> Result<Fill, LabError> {
        let ends: Vec<Option<f64>> = range.split(',').map(|end| end.trim().parse().ok()).collect();
        match ends.as_slice() {
            [Some(low), Some(high)]
                if low <= high
                    && (high - low).is_finite()
                    && (self.of.is_real() || (low.fract() == 0.0 && high.fract() == 0.0)) =>
            {
                Ok(Fill::Uniform { seed, low: *low, high: *high })
            }
            _ => Err(self.refuse(&format!(
                "uniform({range}) takes the least and the largest {}, such as uniform(-1, 1)",
                self.of
            ))),
        }
    }

    /// Numbers between commas, blanks and line ends.
    fn numbers(&self, text: &str) -> Result<Vec<f64>, LabError> {
        let mut list = Vec::new();
        for (line, words) in text.trim_matches(['[', ']']).lines().enumerate() {
            for word in words.split([',', ' ', '\t']).filter(|word| !word.is_empty()) {
                let number = word.parse::<f64>().ok();
                match number.filter(|number| self.of.is_real() || number.fract() == 0.0) {
                    Some(number) => list.push(number),
                    // Not a list at all.
                    None if number.is_none() && list.is_empty() => return Err(self.is_unknown()),
                    None => {
                        let word: String = word.chars().take(40).collect();
                        return Err(self.refuse(&format!(
                            "has '{}' in line {} as number {}, which is no {}",
                            word.escape_debug(),
                            line + 1,
                            list.len() + 1,
                            self.of
                        )));
                    }
                }
                if list.len() > MOST_ELEMENTS {
                    return Err(self.refuse(&format!("has more than {MOST_ELEMENTS} numbers")));
                }
            }
        }
        if list.is_empty() { Err(self.is_unknown()) } else { Ok(list) }
    }
}
