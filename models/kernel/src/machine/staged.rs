//! Shared memory of a block, array by array, for whoever draws it.

use super::view::value;
use super::{CellState, Machine};
use crate::types::{Scalar, Type};
use mlsys_lab::Value;

/// An array in shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedArray {
    /// Its name.
    pub name: String,
    /// What it is of.
    pub of: Scalar,
    /// Its first byte.
    pub offset: u32,
    /// Its elements, of all dimensions together.
    pub elements: usize,
}

impl Machine {
    /// The arrays of shared memory in the order of their bytes; a dynamic one reaches to the end.
    pub fn shared_arrays(&self) -> Vec<SharedArray> {
        let all = self.shared_bytes();
        let array = |shared: &crate::typed::Shared| {
            let of = match shared.ty {
                Type::Array { of, .. } | Type::Scalar(of) => of,
                Type::Pointer { to, .. } => to,
                Type::Void => return None,
            };
            let bytes = match shared.bytes {
                0 => all.saturating_sub(shared.offset),
                bytes => bytes,
            };
            Some(SharedArray {
                name: shared.name.clone(),
                of,
                offset: shared.offset,
                elements: (bytes / of.bytes().max(1)) as usize,
            })
        };
        let mut arrays: Vec<SharedArray> = self.code.shared.iter().filter_map(array).collect();
        arrays.sort_by_key(|array| array.offset);
        arrays
    }

    /// What happened to the number at a byte of a block's shared memory, and the number; none if the block is not in
    /// flight or has no such byte.
    pub fn shared_cell(&self, block: u32, byte: u32, of: Scalar) -> Option<(CellState, Value)> {
        let store = &self.resident(block)?.shared;
        let at = byte as usize;
        let end = at.checked_add(of.bytes() as usize)?;
        if end > store.bytes.len() {
            return None;
        }
        let cell = store.cells.get(store.cell_of(at))?;
        Some((cell.state(), value(store.read(at, of), of)))
    }
}
