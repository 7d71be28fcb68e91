//! Arguments and what buffers hold at first, as numbers and as bytes.

use crate::machine::inspect::real;
use crate::machine::memory::Store;
use crate::typed_ast::Global;
use crate::types::Scalar;

#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    Float(Vec<f32>),
    Double(Vec<f64>),
    Int(Vec<i32>),
    Unsigned(Vec<u32>),
    Long(Vec<i64>),
    UnsignedLong(Vec<u64>),
    Bool(Vec<bool>),
    /// Of a type of 8 or 16 bits, the numbers nearest to these.
    Small(Scalar, Vec<f64>),
    Poison(usize),
}

impl Values {
    /// Their type and their bytes; none of uninitialized ones.
    fn encoded(&self) -> Option<(Scalar, Vec<u8>)> {
        macro_rules! numbers {
            ($of:ident, $list:ident) => {
                (
                    Scalar::$of,
                    $list.iter().map(|x| x.to_le_bytes()).collect::<Vec<_>>().into_flattened(),
                )
            };
        }
        Some(match self {
            Self::Float(list) => numbers!(Float, list),
            Self::Double(list) => numbers!(Double, list),
            Self::Int(list) => numbers!(Int, list),
            Self::Unsigned(list) => numbers!(Unsigned, list),
            Self::Long(list) => numbers!(Long, list),
            Self::UnsignedLong(list) => numbers!(UnsignedLong, list),
            Self::Bool(list) => (Scalar::Bool, list.iter().map(|x| u8::from(*x)).collect()),
            Self::Small(of, list) => {
                let bytes = |x: &f64| {
                    let bits = if of.is_real() {
                        u64::from(of.rounded(*x).to_bits())
                    } else {
                        *x as i64 as u64
                    };
                    of.memory(bits).to_le_bytes().into_iter().take(of.bytes() as usize)
                };
                (*of, list.iter().flat_map(bytes).collect())
            }
            Self::Poison(_) => return None,
        })
    }

    /// Elements of a type that are nearest to some numbers; a bool is whether a number is odd.
    pub fn new(of: Scalar, numbers: impl Iterator<Item = f64>) -> Self {
        match of {
            Scalar::Float => Self::Float(numbers.map(|x| x as f32).collect()),
            Scalar::Double => Self::Double(numbers.collect()),
            Scalar::Int => Self::Int(numbers.map(|x| x as i32).collect()),
            Scalar::Unsigned => Self::Unsigned(numbers.map(|x| x as u32).collect()),
            Scalar::Long => Self::Long(numbers.map(|x| x as i64).collect()),
            Scalar::UnsignedLong => Self::UnsignedLong(numbers.map(|x| x as u64).collect()),
            Scalar::Char
            | Scalar::UnsignedChar
            | Scalar::Short
            | Scalar::UnsignedShort
            | Scalar::Half
            | Scalar::Bfloat16 => Self::Small(of, numbers.collect()),
            Scalar::Bool => Self::Bool(numbers.map(|x| x as u64 % 2 == 1).collect()),
        }
    }

    /// The elements as numbers; uninitialized ones are left out.
    pub(crate) fn numbers(&self) -> Vec<f64> {
        match self {
            Self::Float(list) => list.iter().map(|x| f64::from(*x)).collect(),
            Self::Double(list) => list.clone(),
            Self::Int(list) => list.iter().map(|x| f64::from(*x)).collect(),
            Self::Unsigned(list) => list.iter().map(|x| f64::from(*x)).collect(),
            Self::Long(list) => list.iter().map(|x| *x as f64).collect(),
            Self::UnsignedLong(list) => list.iter().map(|x| *x as f64).collect(),
            Self::Bool(list) => list.iter().map(|x| f64::from(u8::from(*x))).collect(),
            Self::Small(..) | Self::Poison(_) => {
                let Some((of, bytes)) = self.encoded() else { return Vec::new() };
                let count = bytes.len() / of.bytes() as usize;
                (0..count).map(|element| real(bits(&bytes, element, of), of)).collect()
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    Buffer(Values),
    Whole(i64),
    Real(f64),
}

impl Argument {
    /// What a variable outside of functions holds at first: its values, then zeros.
    pub(super) fn initial(global: &Global) -> Self {
        let of = global.param.ty.element().unwrap_or(Scalar::Float);
        let rest = std::iter::repeat(0.0);
        let all = global.initial.iter().copied().chain(rest).take(global.elements as usize);
        Self::Buffer(Values::new(of, all))
    }
}

/// A buffer of a type with its first contents; none if these are of another type.
pub(super) fn buffer(values: &Values, of: Scalar) -> Option<Store> {
    let shift = of.bytes().trailing_zeros();
    if let Values::Poison(count) = values {
        return Some(Store::new(count * of.bytes() as usize, shift));
    }
    let (_, bytes) = values.encoded().filter(|(scalar, _)| *scalar == of)?;
    Some(Store::holding(bytes, shift))
}

pub(super) fn whole(value: i64, scalar: Scalar) -> Option<u64> {
    Some(match scalar {
        Scalar::Bool => u64::from(value != 0),
        Scalar::Char => u64::from(i32::from(i8::try_from(value).ok()?) as u32),
        Scalar::UnsignedChar => u64::from(u8::try_from(value).ok()?),
        Scalar::Short => u64::from(i32::from(i16::try_from(value).ok()?) as u32),
        Scalar::UnsignedShort => u64::from(u16::try_from(value).ok()?),
        Scalar::Half | Scalar::Bfloat16 => u64::from(scalar.rounded(value as f64).to_bits()),
        Scalar::Int => u64::from(i32::try_from(value).ok()? as u32),
        Scalar::Unsigned => u64::from(u32::try_from(value).ok()?),
        Scalar::Long => value as u64,
        Scalar::UnsignedLong => u64::try_from(value).ok()?,
        Scalar::Float => u64::from((value as f32).to_bits()),
        Scalar::Double => (value as f64).to_bits(),
    })
}

/// The bits of an element of a buffer's bytes; zero beyond its end.
pub(crate) fn bits(bytes: &[u8], element: usize, of: Scalar) -> u64 {
    let size = of.bytes() as usize;
    let mut all = [0; 8];
    if let Some(found) = bytes.get(element * size..(element + 1) * size) {
        all[..size].copy_from_slice(found);
    }
    of.register(u64::from_le_bytes(all))
}
