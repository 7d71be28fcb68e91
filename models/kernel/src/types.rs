//! The types of the kernel language.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scalar {
    /// True or false, one byte in memory.
    Bool,
    Int,
    Unsigned,
    /// 64 bits, signed: `long long`.
    Long,
    /// 64 bits, unsigned: `unsigned long long`, also `size_t`.
    UnsignedLong,
    Float,
    Double,
}

impl Scalar {
    pub fn bytes(self) -> u32 {
        match self {
            Self::Bool => 1,
            Self::Int | Self::Unsigned | Self::Float => 4,
            Self::Long | Self::UnsignedLong | Self::Double => 8,
        }
    }

    /// Whether a register of 64 bits holds it.
    pub fn is_wide(self) -> bool {
        self.bytes() == 8
    }

    /// Whether it has a fraction.
    pub fn is_real(self) -> bool {
        matches!(self, Self::Float | Self::Double)
    }

    /// Whether it is a signed whole number, for which an overflow is a fault.
    pub fn is_signed(self) -> bool {
        matches!(self, Self::Int | Self::Long)
    }

    /// Integer promotion: what is smaller than an int becomes one.
    pub(crate) fn promote(self) -> Self {
        match self {
            Self::Bool => Self::Int,
            other @ (Self::Int
            | Self::Unsigned
            | Self::Long
            | Self::UnsignedLong
            | Self::Float
            | Self::Double) => other,
        }
    }

    /// The usual arithmetic conversions: the type in which two numbers meet.
    pub(crate) fn common_type(self, other: Self) -> Self {
        let rank = |scalar: Self| match scalar {
            Self::Bool | Self::Int => 0,
            Self::Unsigned => 1,
            Self::Long => 2,
            Self::UnsignedLong => 3,
            Self::Float => 4,
            Self::Double => 5,
        };
        // A long long holds every unsigned, so that the higher rank alone decides.
        if rank(self) >= rank(other) { self.promote() } else { other.promote() }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Unsigned => "unsigned",
            Self::Long => "long long",
            Self::UnsignedLong => "unsigned long long",
            Self::Float => "float",
            Self::Double => "double",
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Mutable,
    Constant,
}

/// The extents of an array, the outermost first; at most three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extents {
    extents: [u32; 3],
    count: usize,
}

impl Extents {
    pub(crate) const MOST: usize = 3;

    pub(crate) fn new(list: &[u32]) -> Self {
        let mut extents = [1; Self::MOST];
        let count = list.len().min(Self::MOST);
        extents[..count].copy_from_slice(&list[..count]);
        Self { extents, count }
    }

    pub fn list(&self) -> &[u32] {
        &self.extents[..self.count]
    }

    pub fn elements(&self) -> u64 {
        self.list().iter().map(|&extent| u64::from(extent)).product()
    }

    /// What is left once the outermost is indexed.
    pub(crate) fn inner(&self) -> Self {
        Self::new(&self.list()[1..])
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Void,
    Scalar(Scalar),
    /// An address of numbers in global, shared or local memory.
    Pointer {
        to: Scalar,
        access: Access,
    },
    /// Numbers side by side.
    Array {
        of: Scalar,
        extents: Extents,
        access: Access,
    },
}

impl Type {
    pub fn scalar(self) -> Option<Scalar> {
        match self {
            Self::Scalar(scalar) => Some(scalar),
            Self::Void | Self::Pointer { .. } | Self::Array { .. } => None,
        }
    }

    pub(crate) fn is_wide(self) -> bool {
        match self {
            Self::Scalar(scalar) => scalar.is_wide(),
            Self::Pointer { .. } | Self::Array { .. } => true,
            Self::Void => false,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let constant = |access: &Access| match access {
            Access::Mutable => "",
            Access::Constant => "const ",
        };
        match self {
            Self::Void => f.write_str("void"),
            Self::Scalar(scalar) => write!(f, "{scalar}"),
            Self::Pointer { to, access } => write!(f, "{}{to}*", constant(access)),
            Self::Array { of, extents, access } => {
                write!(f, "{}{of}", constant(access))?;
                extents.list().iter().try_for_each(|extent| write!(f, "[{extent}]"))
            }
        }
    }
}
