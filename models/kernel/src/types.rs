//! The types of the kernel language.

use std::fmt;

mlsys_lab::named_enum! {
    /// A number's type; of two that meet, the later one decides.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Scalar {
        /// True or false, one byte in memory.
        Bool = "bool",
        /// Signed, as with the compilers for NVIDIA's cards.
        Char = "char",
        UnsignedChar = "unsigned char",
        Short = "short",
        UnsignedShort = "unsigned short",
        Int = "int",
        Unsigned = "unsigned",
        Long = "long long",
        /// 64 bits, unsigned; also `size_t`.
        UnsignedLong = "unsigned long long",
        Half = "half",
        Bfloat16 = "nv_bfloat16",
        Float = "float",
        Double = "double",
    }
}

impl Scalar {
    pub fn bytes(self) -> u32 {
        match self {
            Self::Bool | Self::Char | Self::UnsignedChar => 1,
            Self::Short | Self::UnsignedShort | Self::Half | Self::Bfloat16 => 2,
            Self::Int | Self::Unsigned | Self::Float => 4,
            Self::Long | Self::UnsignedLong | Self::Double => 8,
        }
    }

    pub fn is_wide(self) -> bool {
        self.bytes() == 8
    }

    pub fn is_real(self) -> bool {
        matches!(self, Self::Half | Self::Bfloat16 | Self::Float | Self::Double)
    }

    /// Whether it is a signed whole number, for which an overflow is a fault.
    pub fn is_signed(self) -> bool {
        matches!(self, Self::Char | Self::Short | Self::Int | Self::Long)
    }

    /// Integer promotion: what is smaller than an int becomes one.
    pub(crate) fn promote(self) -> Self {
        self.max(Self::Int)
    }

    /// Whether it is smaller than an int, or less exact than a float.
    pub fn is_small(self) -> bool {
        self.bytes() < 4
    }

    /// The usual arithmetic conversions. A long long holds every unsigned, so the higher rank alone decides.
    pub(crate) fn common_type(self, other: Self) -> Self {
        self.max(other).promote()
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
        self.list().iter().fold(1, |all, &extent| u64::saturating_mul(all, extent.into()))
    }

    /// What is left once the outermost is indexed.
    pub(crate) fn inner(&self) -> Self {
        Self::new(&self.list()[1..])
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Type {
    #[default]
    Void,
    Scalar(Scalar),
    /// An address of numbers in global, shared or local memory.
    Pointer {
        to: Scalar,
        access: Access,
    },
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

    /// What an array or a pointer has elements of, or a number's own type.
    pub(crate) fn element(self) -> Option<Scalar> {
        match self {
            Self::Pointer { to: of, .. } | Self::Array { of, .. } | Self::Scalar(of) => Some(of),
            Self::Void => None,
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
