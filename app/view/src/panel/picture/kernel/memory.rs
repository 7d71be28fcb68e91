//! Cells of memory, buffer by buffer: what happened to each, what is in it, and which lane reaches it now.

use std::collections::BTreeMap;

use mlsys_kernel::types::Scalar;
use mlsys_kernel::{AccessKind, CellState, Machine, Reach};
use mlsys_lab::Value;
use mlsys_lab::frame::{Cell, CellRow, Cells, Kind, Tone};

use crate::panel::picture::kernel::{KernelDebugger, Thread, Touch, touches};

/// Bytes of a sector of global memory.
const SECTOR: u32 = 32;

/// Rows that each buffer gets at least.
const LEAST: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    pub columns: usize,
    pub rows: usize,
}

impl Room {
    /// A page of a file.
    pub const PAGE: Self = Self { columns: 140, rows: 60 };
}

/// Cells with the one that the lane which is looked at reaches: its row and its column.
#[derive(Clone, Debug, PartialEq)]
pub struct Marked {
    pub cells: Cells,
    /// The cell of the lane.
    pub mark: Option<(usize, usize)>,
}

/// A stretch of memory with a name.
struct Strip {
    name: String,
    of: Scalar,
    elements: usize,
    place: Home,
}

/// Where a strip lies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Home {
    Global,
    /// Shared memory, from a byte on.
    Shared(u32),
}

/// What a cell is, in the order of the legend.
const KINDS: [(&str, Tone); 6] = [
    ("untouched", Tone::Faint),
    ("read", Tone::First),
    ("written", Tone::Second),
    ("written more than once", Tone::Warn),
    ("poison: nobody wrote it", Tone::Empty),
    ("racing", Tone::Bad),
];

/// The strips of all buffers and of the block's shared memory, as much of each as there is room for, around what is
/// touched.
pub fn memory(walk: &KernelDebugger, room: Room) -> Marked {
    let note = |note: &str| Marked {
        cells: Cells { note: note.to_owned(), ..Cells::default() },
        mark: None,
    };
    let machine = match walk.machine() {
        Ok(machine) => machine,
        Err(reason) => return note(reason),
    };
    let here = walk.here();
    let strips = strips(machine);
    if strips.is_empty() {
        return note("The kernel has no buffer.");
    }
    let touches = touches(walk);
    // Numbers, legend, sentence, and what names the mark.
    let rows = room.rows.saturating_sub(7);
    let each = (rows / strips.len()).max(LEAST);
    let across = across(machine, &strips, here, room);
    let mut cells = Cells {
        across: String::new(),
        first: 0,
        group: SECTOR as usize / 4,
        kinds: kinds(),
        rows: Vec::new(),
        note: told(walk, &touches),
        ..Cells::default()
    };
    let mut mark = None;
    // A buffer that is not reached shows what lies at the same place as in the one that is.
    let own = touches.get(here.lane as usize).and_then(Option::as_ref);
    let reached = own.or(touches.iter().flatten().next());
    for strip in &strips {
        let touched = by_element(&touches, strip);
        let about = strip.element(reached).or_else(|| touched.keys().next().copied());
        let about = about.or_else(|| reached.and_then(global_element));
        let first = window(about.unwrap_or(0), strip.elements, across, each);
        let last = (first + across * each).min(strip.elements);
        let own = own.and_then(|own| strip.element(Some(own)));
        for start in (first..last).step_by(across) {
            let end = (start + across).min(last);
            let row = start..end;
            if let Some(at) = own.filter(|at| row.contains(at)) {
                mark = Some((cells.rows.len(), at - start));
            }
            let lanes: Vec<usize> =
                touched.range(row.clone()).flat_map(|(_, lanes)| lanes.iter().copied()).collect();
            cells.rows.push(CellRow {
                label: format!("{}[{start}]", strip.name),
                cells: row
                    .map(|element| Some(strip.cell(machine, here, element, &touched)))
                    .collect(),
                remark: if lanes.is_empty() {
                    String::new()
                } else {
                    let kind = touches.iter().flatten().next().map(|touch| touch.kind);
                    format!("{} {}", lanes_named(&lanes), verb(kind, lanes.len()))
                },
            });
        }
    }
    Marked { cells, mark }
}

/// The kinds as a legend lists them.
pub(super) fn kinds() -> Vec<Kind> {
    let kind = |(name, tone): (&str, Tone)| Kind { name: name.to_owned(), tone };
    KINDS.map(kind).to_vec()
}

pub(super) fn kind(state: CellState) -> usize {
    match state {
        CellState { raced: true, .. } => 5,
        CellState { rewritten: true, .. } => 3,
        CellState { written: true, .. } => 2,
        CellState { defined: false, .. } => 4,
        CellState { read: true, .. } => 1,
        CellState { .. } => 0,
    }
}

fn strips(machine: &Machine) -> Vec<Strip> {
    let buffers = machine.buffers().map(|(name, of, elements)| Strip {
        name: name.to_owned(),
        of,
        elements,
        place: Home::Global,
    });
    let shared = machine.shared_arrays().into_iter().map(|array| Strip {
        name: array.name,
        of: array.of,
        elements: array.elements,
        place: Home::Shared(array.offset),
    });
    buffers.chain(shared).filter(|strip| strip.elements > 0).collect()
}

impl Strip {
    /// The element that a lane reaches, if it lies in this strip.
    fn element(&self, touch: Option<&Touch>) -> Option<usize> {
        let element = match (&touch?.reach, self.place) {
            (Reach::Global { buffer, element, .. }, Home::Global) if *buffer == self.name => {
                usize::try_from(*element).ok()?
            }
            (Reach::Shared { byte, .. }, Home::Shared(offset)) => {
                let byte = u32::try_from(*byte).ok()?.checked_sub(offset)?;
                (byte / self.of.bytes().max(1)) as usize
            }
            (
                Reach::Global { .. } | Reach::Shared { .. } | Reach::Local { .. } | Reach::Nowhere,
                Home::Global | Home::Shared(_),
            ) => return None,
        };
        (element < self.elements).then_some(element)
    }

    fn known(&self, machine: &Machine, here: Thread, element: usize) -> Option<(CellState, Value)> {
        match self.place {
            Home::Global => {
                let state = machine.cell(&self.name, element)?;
                Some((state, Value::Float(machine.element(&self.name, element)?)))
            }
            Home::Shared(offset) => {
                let byte = u32::try_from(element).ok()?.checked_mul(self.of.bytes())?;
                machine.shared_cell(here.block, offset.checked_add(byte)?, self.of)
            }
        }
    }

    fn cell(
        &self,
        machine: &Machine,
        here: Thread,
        element: usize,
        touched: &BTreeMap<usize, Vec<usize>>,
    ) -> Cell {
        let Some((state, value)) = self.known(machine, here, element) else {
            return Cell::of(4);
        };
        let mut text = if state.defined { short(&value) } else { "?".to_owned() };
        match touched.get(&element).map(Vec::as_slice) {
            Some([lane]) => text.push_str(&format!("<{lane}")),
            Some([lane, ..]) => text.push_str(&format!("<{lane}+")),
            Some([]) | None => {}
        }
        Cell { kind: kind(state), text }
    }
}

/// A value in few letters.
fn short(value: &Value) -> String {
    match value {
        Value::Float(x) if x.is_finite() => {
            let whole = mlsys_lab::value::number(*x);
            if whole.len() <= 5 {
                return whole;
            }
            let rounded = mlsys_lab::value::number((x * 100.0).round() / 100.0);
            if rounded.len() <= 6 && *x != 0.0 && x.abs() >= 0.01 {
                rounded
            } else {
                format!("{x:.0e}")
            }
        }
        Value::Bool(yes) => u8::from(*yes).to_string(),
        Value::Float(_) | Value::Int(_) | Value::Text(_) | Value::Array(_) | Value::Table(_) => {
            value.to_string()
        }
    }
}

/// Elements in a row: whole sectors of four bytes each, as many as fit with their values.
fn across(machine: &Machine, strips: &[Strip], here: Thread, room: Room) -> usize {
    let longest = |strip: &Strip| {
        let some = (0..strip.elements.min(256)).filter_map(|at| strip.known(machine, here, at));
        some.map(|(_, value)| short(&value).len()).max().unwrap_or(1)
    };
    // A glyph, the value, an arrow with a lane, a gap.
    let cell = strips.iter().map(longest).max().unwrap_or(1) + 5;
    let label = strips.iter().map(|strip| strip.name.len() + 6).max().unwrap_or(0);
    let left = room.columns.saturating_sub(label + 2);
    [32, 16, 8, 4].into_iter().find(|count| count * cell + count / 8 <= left).unwrap_or(8)
}

/// The first element in sight: whole rows, what is looked at among them.
fn window(about: usize, elements: usize, across: usize, rows: usize) -> usize {
    let all = elements.div_ceil(across);
    let row = (about.min(elements.saturating_sub(1))) / across;
    let first = (row + 1 + rows / 4).saturating_sub(rows);
    first.min(all.saturating_sub(rows)) * across
}

fn by_element(touches: &[Option<Touch>], strip: &Strip) -> BTreeMap<usize, Vec<usize>> {
    let mut found: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (lane, touch) in touches.iter().enumerate() {
        let touch = touch.as_ref().filter(|touch| touch.fresh);
        if let Some(element) = strip.element(touch) {
            found.entry(element).or_default().push(lane);
        }
    }
    found
}

fn global_element(touch: &Touch) -> Option<usize> {
    match &touch.reach {
        Reach::Global { element, .. } => usize::try_from(*element).ok(),
        Reach::Shared { .. } | Reach::Local { .. } | Reach::Nowhere => None,
    }
}

pub(super) fn verb(kind: Option<AccessKind>, lanes: usize) -> &'static str {
    match (kind, lanes) {
        (Some(AccessKind::Store), 1) => "writes",
        (Some(AccessKind::Store), _) => "write",
        (Some(AccessKind::Atomic), 1) => "changes",
        (Some(AccessKind::Atomic), _) => "change",
        (Some(AccessKind::Load) | None, 1) => "reads",
        (Some(AccessKind::Load) | None, _) => "read",
    }
}

/// Lanes with their name, as ranges where they follow each other: `lanes 0 to 7, 16`.
pub(super) fn lanes_named(lanes: &[usize]) -> String {
    let mut lanes = lanes.to_vec();
    lanes.sort_unstable();
    lanes.dedup();
    mlsys_lab::picture::index_ranges("lane", &lanes)
}

/// What the lane that is looked at does to memory.
fn told(walk: &KernelDebugger, touches: &[Option<Touch>]) -> String {
    let Thread { block, warp, lane } = walk.here();
    let who = format!("Lane {lane} of warp {warp} of block {block}");
    match touches.get(lane as usize).and_then(Option::as_ref) {
        Some(touch) if touch.fresh => {
            format!(
                "{who} {}. Behind a < stands the lane that touches the cell now.",
                touch.said(walk)
            )
        }
        Some(touch) => format!("{who} last {}, in line {}.", touch.said(walk), touch.line),
        None if walk.last().is_none() => {
            "Nothing has run yet: . goes on by one instruction, , goes back.".to_owned()
        }
        None => format!("{who} has touched nothing."),
    }
}
