//! What a thread holds and where its addresses point.

use super::view::value;
use super::{Access, LANES, Machine};
use crate::code::{Home, address};
use crate::types::{Scalar, Type};
use mlsys_lab::Value;

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
                (Type::Scalar(of), Home::Register(reg)) if of.is_wide() => {
                    Some(value(warp.wide[usize::from(reg)][lane], of))
                }
                (Type::Scalar(of), Home::Register(reg)) => {
                    Some(value(u64::from(warp.narrow[usize::from(reg)][lane]), of))
                }
                (Type::Pointer { to, .. }, Home::Register(reg)) => {
                    Some(Value::Text(self.pointed(warp.wide[usize::from(reg)][lane], to.bytes())))
                }
                (Type::Scalar(of), Home::Local(offset)) => local(offset, of),
                (Type::Array { of, extents, .. }, Home::Local(offset)) => {
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
        let access = self.resident(block)?.warps.get(warp)?.access.as_deref()?;
        let lane = |lane: usize| {
            (access.mask >> lane & 1 != 0).then(|| self.reach(access.addresses[lane], access.bytes))
        };
        Some((access, (0..LANES).map(lane).collect()))
    }

    /// The element of a `__shared__` array, or the variable, that a byte of shared memory belongs to, as the text would write it; accesses
    /// are of so many bytes. None where no array is.
    pub fn shared_element(&self, byte: i64, bytes: u32) -> Option<String> {
        self.code.shared_element(u32::try_from(byte).ok()?, bytes)
    }

    /// Words of a block's shared memory, as numbers of a type; none where nobody wrote.
    pub fn shared(&self, block: u32, of: Scalar) -> Vec<Option<Value>> {
        let Some(resident) = self.resident(block) else {
            return Vec::new();
        };
        let bytes = of.bytes() as usize;
        let store = &resident.shared;
        let word = |at: usize| {
            let cell = store.cells.get(store.cell_of(at * bytes))?;
            cell.state().defined.then(|| value(store.read(at * bytes, of), of))
        };
        (0..store.bytes.len() / bytes).map(word).collect()
    }
}

/// Where a lane's address points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// An element of a buffer; negative before its beginning.
    Global {
        /// The buffer's name.
        buffer: String,
        /// The element.
        element: i64,
        /// The 32-byte sector, counted from the buffer's beginning.
        sector: i64,
    },
    /// A byte of shared memory, and its bank.
    Shared {
        /// The byte.
        byte: i64,
        /// The bank.
        bank: i64,
    },
    /// A byte of the thread's own arrays.
    Local {
        /// The byte.
        byte: i64,
    },
    /// Nowhere.
    Nowhere,
}

/// A variable of one thread.
#[derive(Clone, Debug, PartialEq)]
pub struct VariableView {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Its value; none if it has none yet. Arrays are lists, addresses texts.
    pub value: Option<Value>,
}
