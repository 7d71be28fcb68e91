//! Arguments and extents as somebody typed them.

use std::collections::BTreeMap;

use mlsys_lab::{LabError, Params, Value};

use crate::kernel::types::{Scalar, Type};
use crate::kernel::{Argument, Kernel, Values};

/// Elements that all buffers of a custom kernel may have together.
const MOST_ELEMENTS: f64 = (1_u64 << 24) as f64;

/// One to three extents; what is not given is 1.
pub(super) fn extents(params: &Params, name: &str) -> Result<[u32; 3], LabError> {
    let refuse = || {
        LabError::contradiction(
            [name],
            "expected 1 to 3 whole numbers of at least 1, such as [16, 16]",
        )
    };
    let Some(Value::Array(list)) = params.get(name) else {
        return Err(refuse());
    };
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

/// The arguments of a custom kernel, in the order in which it takes them.
///
/// A buffer that is not described has `elements` elements counted up from 0, or nothing if the kernel may write there;
/// what is in `held` is not for anybody to describe.
pub(super) fn given(
    kernel: &Kernel,
    params: &Params,
    elements: usize,
    held: &BTreeMap<String, Values>,
) -> Result<Vec<Argument>, LabError> {
    let empty = BTreeMap::new();
    let mut entries: BTreeMap<&str, &Value> = match params.get("arguments") {
        Some(Value::Table(table)) => table
            .iter()
            .map(|(name, value)| (name.as_str(), value))
            .collect(),
        _ => empty,
    };
    let seed = params.int("seed")? as u64;
    let mut total = 0.0;
    let mut arguments = Vec::new();
    for (name, ty) in kernel.params() {
        let mut field = |field: &str| entries.remove(format!("{name}.{field}").as_str());
        let (size, fill, written) = (field("buffer"), field("fill"), field("type"));
        let plain = entries.remove(name);
        let refuse = |message: String| LabError::contradiction(["arguments"], message);
        if let Some(values) = held.get(name) {
            if size.or(fill).or(written).or(plain).is_some() {
                return Err(refuse(format!(
                    "'{name}' is filled by the network; leave arguments.{name} out, or set plug_in to none"
                )));
            }
            arguments.push(Argument::Buffer(values.clone()));
            continue;
        }
        let argument = match (ty, plain) {
            (Type::Pointer { to, access }, None) => {
                let count = match size.map(Value::as_f64) {
                    None => elements as f64,
                    Some(Some(x)) if x >= 1.0 && x.fract() == 0.0 => x,
                    Some(_) => {
                        return Err(refuse(format!(
                            "arguments.{name}.buffer is a number of elements, at least 1"
                        )));
                    }
                };
                total += count;
                if total > MOST_ELEMENTS {
                    return Err(refuse(format!(
                        "the buffers have more than {MOST_ELEMENTS} elements together"
                    )));
                }
                if let Some(written) = written
                    .and_then(Value::as_str)
                    .filter(|written| *written != to.to_string())
                {
                    return Err(refuse(format!(
                        "arguments.{name}.type is {written}, and the kernel takes {to}*"
                    )));
                }
                let usual = match access {
                    crate::kernel::types::Access::Constant => "index",
                    crate::kernel::types::Access::Mutable => "poison",
                };
                let fill = fill.and_then(Value::as_str).unwrap_or(usual);
                let values = filled(fill, to, count as usize, seed ^ arguments.len() as u64);
                Argument::Buffer(values.ok_or_else(|| {
                    refuse(format!(
                        "arguments.{name}.fill is one of index, ones, zeros, random and poison"
                    ))
                })?)
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
                    "'{name}' has no value: set arguments.{name} to a {ty}"
                )));
            }
        };
        arguments.push(argument);
    }
    if let Some(name) = entries.keys().next() {
        let name = name.split('.').next().unwrap_or_default();
        let names: Vec<&str> = kernel.params().map(|(name, _)| name).collect();
        let message = format!(
            "'{}' takes no '{name}'; it takes {}",
            kernel.name(),
            names.join(", ")
        );
        return Err(LabError::contradiction(["arguments"], message));
    }
    Ok(arguments)
}

fn filled(fill: &str, of: Scalar, count: usize, seed: u64) -> Option<Values> {
    let number: Box<dyn FnMut(usize) -> f64> = match fill {
        "poison" => return Some(Values::Poison(count)),
        "index" => Box::new(|i| i as f64),
        "ones" => Box::new(|_| 1.0),
        "zeros" => Box::new(|_| 0.0),
        "random" => Box::new(random(of, seed)),
        _ => return None,
    };
    let all = (0..count).map(number);
    Some(match of {
        Scalar::Float => Values::Float(all.map(|x| x as f32).collect()),
        Scalar::Double => Values::Double(all.collect()),
        Scalar::Int => Values::Int(all.map(|x| x as i32).collect()),
        Scalar::Unsigned => Values::Unsigned(all.map(|x| x as u32).collect()),
        Scalar::Long => Values::Long(all.map(|x| x as i64).collect()),
        Scalar::UnsignedLong => Values::UnsignedLong(all.map(|x| x as u64).collect()),
        Scalar::Bool => Values::Bool(all.map(|x| x as u64 % 2 == 1).collect()),
    })
}

/// Numbers from 0 up to 1, or whole ones from 0 to 99.
fn random(of: Scalar, seed: u64) -> impl FnMut(usize) -> f64 {
    move |index| {
        // Splitmix64 of the place, so that an element does not depend on the size of its buffer.
        let mut z = seed
            .wrapping_mul(0xd134_2543_de82_ef95)
            .wrapping_add((index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        if of.is_real() {
            (z >> 40) as f64 / f64::from(1 << 24)
        } else {
            (z >> 33) as f64 % 100.0
        }
    }
}
