//! What threads and blocks hold: variables, addresses and shared memory, as a panel or a test reads them.

use crate::bytecode::{VariableHome, address};
use crate::machine::inspect::value;
use crate::machine::{Access, CellState, LANES, Machine};
use crate::typed_ast::Shared;
use crate::types::{Scalar, Type};
use mlsys_lab::Value;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// An element of a buffer; negative before its beginning.
    Global {
        buffer: String,
        element: i64,
        /// The 32-byte sector, counted from the buffer's beginning.
        sector: i64,
    },
    /// A byte of shared memory, and its bank.
    Shared {
        byte: i64,
        bank: i64,
    },
    /// A byte of the thread's own arrays.
    Local {
        byte: i64,
    },
    Nowhere,
}

#[derive(Clone, Debug, PartialEq)]
pub struct VariableView {
    pub name: String,
    pub ty: Type,
    /// Its value; none if it has none yet. Arrays are lists, addresses texts.
    pub value: Option<Value>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedArray {
    pub name: String,
    pub of: Scalar,
    pub offset: u32,
    /// Its elements, of all dimensions together.
    pub elements: usize,
}

impl Machine {
    /// Variables that exist where a thread's warp is, with the thread's values; the innermost declaration last.
    pub fn variables(&self, block: u32, thread: usize) -> Vec<VariableView> {
        let Some(warp) =
            self.resident(block).and_then(|resident| resident.warps.get(thread / LANES))
        else {
            return Vec::new();
        };
        let lane = thread % LANES;
        let here =
            self.code.shown.iter().filter(|shown| (shown.from..=shown.to).contains(&warp.pc));
        here.map(|shown| {
            let set = shown.slot.is_none_or(|slot| warp.set[usize::from(slot)] >> lane & 1 != 0);
            let local = |offset: u32, of: Scalar| {
                let at = lane * self.code.local + offset as usize;
                let mut bytes = [0; 8];
                let length = of.bytes() as usize;
                bytes[..length].copy_from_slice(&warp.local[at..at + length]);
                let whole = !warp.written[at..at + length].contains(&0);
                whole.then(|| value(u64::from_le_bytes(bytes), of))
            };
            let held = || match (shown.ty, shown.home) {
                (Type::Scalar(of), VariableHome::Register(reg)) if of.is_wide() => {
                    Some(value(warp.wide[usize::from(reg)][lane], of))
                }
                (Type::Scalar(of), VariableHome::Register(reg)) => {
                    Some(value(u64::from(warp.narrow[usize::from(reg)][lane]), of))
                }
                (Type::Pointer { to, .. }, VariableHome::Register(reg)) => {
                    Some(Value::Text(self.pointed(warp.wide[usize::from(reg)][lane], to.bytes())))
                }
                (Type::Scalar(of), VariableHome::Local(offset)) => local(offset, of),
                (Type::Array { of, extents, .. }, VariableHome::Local(offset)) => {
                    let count = extents.elements().min(64) as u32;
                    let element = |element| {
                        local(offset + element * of.bytes(), of)
                            .unwrap_or_else(|| Value::Text("poison".to_owned()))
                    };
                    Some(Value::Array((0..count).map(element).collect()))
                }
                (Type::Void | Type::Pointer { .. } | Type::Array { .. }, _) => {
                    Some(Value::Text(String::new()))
                }
            };
            VariableView { name: shown.name.clone(), ty: shown.ty, value: set.then(held).flatten() }
        })
        .collect()
    }

    /// An address as the text would write it.
    fn pointed(&self, at: u64, bytes: u32) -> String {
        match self.reach(at, bytes) {
            Reach::Global { buffer, element, .. } => format!("&{buffer}[{element}]"),
            Reach::Shared { byte, .. } => format!("shared memory + {byte}"),
            Reach::Local { byte } => format!("own memory + {byte}"),
            Reach::Nowhere => "nowhere".to_owned(),
        }
    }

    pub(super) fn reach(&self, at: u64, bytes: u32) -> Reach {
        let byte = address::offset(at);
        match (address::space(at), self.buffers.get(address::buffer(at))) {
            (address::GLOBAL, Some(buffer)) => Reach::Global {
                buffer: buffer.name.clone(),
                element: byte.div_euclid(i64::from(bytes.max(1))),
                sector: byte.div_euclid(32),
            },
            (address::SHARED, _) => Reach::Shared { byte, bank: byte.div_euclid(4).rem_euclid(32) },
            (address::LOCAL, _) => Reach::Local { byte },
            _ => Reach::Nowhere,
        }
    }

    /// The last access of a warp in flight, and where each of its lanes reached; none for lanes that took no part.
    pub fn access(&self, block: u32, warp: usize) -> Option<(&Access, Vec<Option<Reach>>)> {
        self.resident(block)?;
        self.last_access(block, warp).map(|(_, access, reached)| (access, reached))
    }

    /// The same of a warp that may have ended, after the barriers that its block had passed.
    pub(crate) fn last_access(
        &self,
        block: u32,
        warp: usize,
    ) -> Option<(u32, &Access, Vec<Option<Reach>>)> {
        let resident = self.latest(block)?;
        let access = resident.warps.get(warp)?.access.as_deref()?;
        let lane = |lane: usize| {
            (access.mask >> lane & 1 != 0).then(|| self.reach(access.addresses[lane], access.bytes))
        };
        Some((resident.epoch, access, (0..LANES).map(lane).collect()))
    }

    /// The element of a `__shared__` array, or the variable, that a byte of shared memory belongs to, as the text would write it; accesses
    /// have this size in bytes. None outside every array.
    pub fn shared_element(&self, byte: i64, bytes: u32) -> Option<String> {
        self.code.shared_element(u32::try_from(byte).ok()?, bytes)
    }

    /// Words of a block's shared memory, as numbers of a type; None where uninitialized.
    pub fn shared(&self, block: u32, of: Scalar) -> Vec<Option<Value>> {
        let words = (0..self.shared_bytes()).step_by(of.bytes() as usize);
        let cells = words.map_while(|byte| self.shared_cell(block, byte, of));
        cells.map(|(state, value)| state.defined.then_some(value)).collect()
    }

    /// The arrays of shared memory in the order of their bytes; a dynamic one reaches to the end.
    pub fn shared_arrays(&self) -> Vec<SharedArray> {
        let all = self.shared_bytes();
        let array = |shared: &Shared| {
            let of = shared.ty.element()?;
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

    /// State and number at a byte of a block's shared memory; none if it has no such byte, before the block has begun, and when
    /// another block has taken its place.
    pub fn shared_cell(&self, block: u32, byte: u32, of: Scalar) -> Option<(CellState, Value)> {
        let store = &self.latest(block)?.shared;
        let at = byte as usize;
        let end = at.checked_add(of.bytes() as usize)?;
        if end > store.bytes.len() {
            return None;
        }
        let cell = store.cells.get(store.cell_of(at))?;
        Some((cell.state(), value(store.read(at, of), of)))
    }
}
