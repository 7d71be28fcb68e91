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

/// A type of several numbers, such as float4, by its number: those of CUDA first, then those that a text declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Record(u16);

/// What CUDA has vectors of.
const VECTORS_OF: [(&str, Scalar); 13] = [
    ("char", Scalar::Char),
    ("uchar", Scalar::UnsignedChar),
    ("short", Scalar::Short),
    ("ushort", Scalar::UnsignedShort),
    ("int", Scalar::Int),
    ("uint", Scalar::Unsigned),
    ("longlong", Scalar::Long),
    ("ulonglong", Scalar::UnsignedLong),
    ("float", Scalar::Float),
    ("double", Scalar::Double),
    ("half", Scalar::Half),
    ("__nv_bfloat16", Scalar::Bfloat16),
    ("dim", Scalar::Unsigned),
];

impl Record {
    /// Of those that CUDA has.
    pub(crate) const VECTORS: u16 = 4 * VECTORS_OF.len() as u16;

    pub(crate) fn declared(number: usize) -> Self {
        Self(Self::VECTORS + number as u16)
    }

    /// Its number among those that the text declares.
    pub(crate) fn number(self) -> Option<usize> {
        self.0.checked_sub(Self::VECTORS).map(usize::from)
    }

    /// A vector of CUDA by its name.
    pub(crate) fn vector(name: &str) -> Option<Self> {
        let name = if name == "__half2" { "half2" } else { name };
        let count = u16::from(name.as_bytes().last()?.checked_sub(b'1')?);
        let of = VECTORS_OF.iter().position(|(own, _)| name.get(..name.len() - 1) == Some(own))?;
        let exists = match VECTORS_OF[of].0 {
            "dim" => count == 2,
            "half" | "__nv_bfloat16" => count == 1,
            _ => count < 4,
        };
        exists.then_some(Self(4 * of as u16 + count))
    }

    /// Type and number of its elements, if it is one of CUDA's.
    pub(crate) fn elements(self) -> Option<(Scalar, u32)> {
        let (_, of) = VECTORS_OF.get(usize::from(self.0 / 4))?;
        Some((*of, u32::from(self.0 % 4 + 1)))
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match VECTORS_OF.get(usize::from(self.0 / 4)) {
            Some((name, _)) => write!(f, "{name}{}", self.0 % 4 + 1),
            None => f.write_str("struct"),
        }
    }
}

/// The extents of an array, the outermost first; at most three, and one for the numbers of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extents {
    extents: [u32; 4],
    count: usize,
    /// What the innermost extent holds the numbers of.
    record: Option<Record>,
}

impl Extents {
    pub(crate) const MOST: usize = 3;

    /// The outermost of an array without a known end.
    pub(crate) const OPEN: u32 = u32::MAX;

    pub(crate) fn new(list: &[u32]) -> Self {
        let mut extents = [1; 4];
        let count = list.len().min(extents.len());
        extents[..count].copy_from_slice(&list[..count]);
        Self { extents, count, record: None }
    }

    /// The same of records of this many numbers.
    pub(crate) fn of_records(self, record: Record, numbers: u32) -> Self {
        let mut list = self.list().to_vec();
        list.push(numbers);
        Self { record: Some(record), ..Self::new(&list) }
    }

    pub(crate) fn record(&self) -> Option<Record> {
        self.record
    }

    /// The record that this is, if it is no array of them.
    pub(crate) fn single(&self) -> Option<Record> {
        self.record.filter(|_| self.count == 1)
    }

    /// How often it can be indexed.
    pub(crate) fn dimensions(&self) -> usize {
        self.count - usize::from(self.record.is_some())
    }

    pub fn list(&self) -> &[u32] {
        &self.extents[..self.count]
    }

    pub fn elements(&self) -> u64 {
        self.list().iter().fold(1, |all, &extent| u64::saturating_mul(all, extent.into()))
    }

    /// What is left once the outermost is indexed.
    pub(crate) fn inner(&self) -> Self {
        Self { record: self.record, ..Self::new(&self.list()[1..]) }
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
        /// What the numbers belong to, of which an index counts whole ones.
        record: Option<Record>,
    },
    /// Also a single record.
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

    /// The record that a value of this type is.
    pub(crate) fn record(self) -> Option<Record> {
        if let Self::Array { extents, .. } = self { extents.single() } else { None }
    }

    pub(crate) fn extents(self) -> Option<Extents> {
        if let Self::Array { extents, .. } = self { Some(extents) } else { None }
    }

    /// An address of plain numbers.
    pub(crate) fn pointer(to: Scalar, access: Access) -> Self {
        Self::Pointer { to, access, record: None }
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
            Self::Pointer { access, record: Some(record), .. } => {
                write!(f, "{}{record}*", constant(access))
            }
            Self::Pointer { to, access, .. } => write!(f, "{}{to}*", constant(access)),
            Self::Array { of, extents, access } => {
                match extents.record() {
                    Some(record) => write!(f, "{}{record}", constant(access))?,
                    None => write!(f, "{}{of}", constant(access))?,
                }
                extents.list()[..extents.dimensions()].iter().try_for_each(|extent| {
                    if *extent == Extents::OPEN {
                        f.write_str("[]")
                    } else {
                        write!(f, "[{extent}]")
                    }
                })
            }
        }
    }
}
