//! A machine's arguments and buffers as bytes, for whoever runs the same launch elsewhere.

use super::Machine;
use crate::types::{Access, Scalar, Type};

/// An argument as it lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given<'a> {
    /// A pointer to a buffer.
    Buffer {
        /// The kernel's name for it.
        name: &'a str,
        /// What its elements are.
        of: Scalar,
        /// Whether the kernel may write there.
        access: Access,
        /// What it holds, little-endian; what nobody has written is zero.
        bytes: &'a [u8],
    },
    /// A number.
    Number {
        /// The kernel's name for it.
        name: &'a str,
        /// Its type.
        of: Scalar,
        /// Its bits, the low ones of 64.
        bits: u64,
    },
}

impl Machine {
    /// The arguments in their order, with what the buffers hold now.
    pub fn given(&self) -> impl Iterator<Item = Given<'_>> {
        let mut buffers = self.buffers.iter();
        self.code.params.iter().zip(&self.params).filter_map(move |(param, bits)| {
            let name = param.name.as_str();
            Some(match param.ty {
                Type::Pointer { to, access } => {
                    Given::Buffer { name, of: to, access, bytes: &buffers.next()?.store.bytes }
                }
                Type::Scalar(of) => Given::Number { name, of, bits: *bits },
                Type::Void | Type::Array { .. } => return None,
            })
        })
    }

    /// What a buffer holds, little-endian; empty if there is no such buffer.
    pub fn bytes_of(&self, buffer: &str) -> &[u8] {
        let found = self.buffers.iter().find(|found| found.name == buffer);
        found.map_or(&[], |buffer| &buffer.store.bytes)
    }

    /// Puts other contents into the buffers, in the order of the arguments; what is known of each cell stays.
    pub fn overwrite(&mut self, contents: &[Vec<u8>]) {
        for (buffer, bytes) in self.buffers.iter_mut().zip(contents) {
            let length = buffer.store.bytes.len().min(bytes.len());
            buffer.store.bytes[..length].copy_from_slice(&bytes[..length]);
        }
    }
}

/// The bits of an element of a buffer's bytes; zero beyond its end.
pub(crate) fn bits(bytes: &[u8], element: usize, of: Scalar) -> u64 {
    let size = of.bytes() as usize;
    let mut all = [0; 8];
    if let Some(found) = bytes.get(element * size..(element + 1) * size) {
        all[..size].copy_from_slice(found);
    }
    u64::from_le_bytes(all)
}
