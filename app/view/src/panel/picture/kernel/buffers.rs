//! The buffers of a launch and its shared arrays.

use mlsys_kernel::types::Scalar;
use mlsys_kernel::{CellState, Kernel, Machine, Reach};
use mlsys_lab::Value;
use mlsys_lab::frame::kernel::{Argument, Recipe};

use super::debugger::{KernelDebugger, Thread};
use super::indices::factor;
use super::state::LaneAccess;

/// A buffer in global memory, or an array in shared memory from a byte on.
pub(super) struct Buffer {
    pub(super) name: String,
    pub(super) scalar: Scalar,
    pub(super) elements: usize,
    pub(super) shared: Option<u32>,
    /// Elements in a row, if it is a matrix of a launch in two dimensions.
    pub(super) columns: Option<usize>,
}

pub(super) fn buffers(machine: &Machine, recipe: &Recipe) -> Vec<Buffer> {
    let global = machine.buffers().map(|(name, scalar, elements)| Buffer {
        name: name.to_owned(),
        scalar,
        elements,
        shared: None,
        columns: row_length(recipe, name, elements),
    });
    let shared = machine.shared_arrays().into_iter().map(|array| Buffer {
        name: array.name,
        scalar: array.of,
        elements: array.elements,
        shared: Some(array.offset),
        columns: None,
    });
    global.chain(shared).filter(|buffer| buffer.elements > 0).collect()
}

/// The row length of a matrix of a launch in two dimensions: the size that the text multiplies by in an index into it, such
/// as `columns` in `out[y * columns + x]`. Else by the two arguments that the launch covers with its threads: of a matrix of
/// as many rows and columns, or of one that shares either with it.
fn row_length(recipe: &Recipe, name: &str, elements: usize) -> Option<usize> {
    let is_flat = (1..3).all(|axis| recipe.block_dim[axis] == 1 && recipe.grid_dim[axis] == 1);
    if is_flat {
        return None;
    }
    let sizes: Vec<(usize, usize)> = (0..).zip(&recipe.arguments).filter_map(size).collect();
    let kernel: Option<&Kernel> = recipe.parsed.get();
    let names: Vec<&str> =
        kernel.into_iter().flat_map(Kernel::params).map(|(name, _)| name).collect();
    let named: Vec<(&str, usize)> =
        sizes.iter().filter_map(|(place, size)| Some((*names.get(*place)?, *size))).collect();
    let written = factor(&recipe.source, name, &named);
    if let Some(columns) = written.filter(|columns| elements.is_multiple_of(*columns)) {
        return Some(columns);
    }
    let covers = |axis: usize, size: usize| {
        let block = recipe.block_dim[axis] as usize;
        recipe.grid_dim[axis] as usize == size.div_ceil(block.max(1))
    };
    // Where two sizes would do, nothing says which one is meant.
    let only = |axis: usize| {
        let mut all = sizes.iter().map(|(_, size)| *size).filter(|size| covers(axis, *size));
        let first = all.next()?;
        all.all(|size| size == first).then_some(first)
    };
    let (columns, rows) = (only(0)?, only(1)?);
    let is_size = |size: usize| sizes.iter().any(|(_, known)| *known == size);
    let shared = |other: usize| elements.is_multiple_of(other) && is_size(elements / other);
    if shared(columns) {
        return Some(columns);
    }
    shared(rows).then(|| elements / rows)
}

/// A whole number that can be the size of something, with its place among the arguments.
fn size((place, argument): (usize, &Argument)) -> Option<(usize, usize)> {
    match argument {
        Argument::Whole(size) => {
            usize::try_from(*size).ok().filter(|size| *size > 1).map(|size| (place, size))
        }
        Argument::Buffer { .. } | Argument::Real(_) => None,
    }
}

impl Buffer {
    /// The name of a row that begins at an element, which the buffer may not have.
    pub(super) fn label(&self, start: i64) -> String {
        match self.columns {
            Some(columns) => format!("{} row {}", self.name, start.div_euclid(columns as i64)),
            None => format!("{}[{start}]", self.name),
        }
    }

    /// How far it goes on behind the last element that is seen, if it does.
    pub(super) fn rest(&self, seen: usize) -> Option<String> {
        let last = self.elements.checked_sub(1).filter(|last| seen <= *last)?;
        Some(match self.columns {
            Some(columns) => format!("more to row {}", last / columns),
            None => format!("more to {}", self.label(last as i64)),
        })
    }

    /// Whether it is a matrix of as many rows and columns as another one.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.columns.is_some() && (self.columns, self.elements) == (other.columns, other.elements)
    }

    /// The element that a lane reaches, if it lies in this buffer.
    pub(super) fn element(&self, access: Option<&LaneAccess>) -> Option<usize> {
        let element = match (&access?.reach, self.shared) {
            (Reach::Global { buffer, element, .. }, None) if *buffer == self.name => {
                usize::try_from(*element).ok()?
            }
            (Reach::Shared { byte, .. }, Some(offset)) => {
                let byte = u32::try_from(*byte).ok()?.checked_sub(offset)?;
                (byte / self.scalar.bytes().max(1)) as usize
            }
            (
                Reach::Global { .. } | Reach::Shared { .. } | Reach::Local { .. } | Reach::Nowhere,
                _,
            ) => return None,
        };
        (element < self.elements).then_some(element)
    }

    /// The element of it that stays in sight.
    pub(super) fn watched(&self, debugger: &KernelDebugger) -> Option<usize> {
        let watched = debugger.watched.as_ref().filter(|of| of.buffer == self.name)?;
        (self.shared.is_none() && watched.at < self.elements).then_some(watched.at)
    }

    pub(super) fn value(
        &self,
        machine: &Machine,
        here: Thread,
        element: usize,
    ) -> Option<(CellState, Value)> {
        match self.shared {
            None => {
                let state = machine.cell(&self.name, element)?;
                Some((state, Value::Float(machine.element(&self.name, element)?)))
            }
            Some(offset) => {
                let byte = u32::try_from(element).ok()?.checked_mul(self.scalar.bytes())?;
                machine.shared_cell(here.block, offset.checked_add(byte)?, self.scalar)
            }
        }
    }
}
