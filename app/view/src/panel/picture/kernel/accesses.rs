//! What the last access of a warp moves: 32-byte sectors of global memory, or words of the banks of shared memory.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use mlsys_kernel::types::Scalar;
use mlsys_kernel::{Access, BlockState, LANES, Machine, Reach};
use mlsys_lab::frame::{Cell, CellRow, Cells, Frame, Kind, Pane, Tone};

use super::before::Before;
use super::cell_kinds::{kind, kinds, lane_ranges, taken, verb};
use super::{KernelDebugger, NOTHING_RUN, Thread};
use crate::quantity::percent;

/// Bytes of a sector of global memory.
const SECTOR: i64 = 32;
/// Banks of shared memory, each four bytes wide.
const BANKS: usize = 32;
/// Words of shared memory in a picture.
const WORDS: u32 = 64 * BANKS as u32;
/// Steps in which the first access is looked for.
const MOST_STEPS: usize = 4096;

#[derive(Debug, thiserror::Error)]
enum NoAccess {
    #[error("{0}")]
    Start(#[from] mlsys_kernel::recipe::StartError),
    #[error("{NOTHING_RUN}")]
    NothingRun,
    #[error("Warp {warp} of block {block} has accessed no memory, or has ended.")]
    None { block: u32, warp: u32 },
}

/// The machine right after an access of a warp.
struct Position<'a> {
    machine: Cow<'a, Machine>,
    block: u32,
    warp: u32,
    /// What the sentence below the picture begins with.
    preface: String,
}

impl<'a> Position<'a> {
    /// The last access of the selected warp. Before the first step it is the first access to this memory that the launch makes,
    /// so that the picture is not empty.
    fn of(debugger: &'a KernelDebugger, is_to: fn(&Reach) -> bool) -> Result<Self, NoAccess> {
        let machine = debugger.machine().map_err(Clone::clone)?;
        let Thread { block, warp, .. } = debugger.here();
        if debugger.last().is_none() {
            return Self::first(machine.clone(), is_to).ok_or(NoAccess::NothingRun);
        }
        Ok(Self { machine: Cow::Borrowed(machine), block, warp, preface: String::new() })
    }

    fn first(mut machine: Machine, is_to: fn(&Reach) -> bool) -> Option<Self> {
        for _ in 0..MOST_STEPS {
            let step = machine.step()?;
            let (block, warp) = (step.block, step.warp);
            let Some((access, reached)) = machine.access(block, warp as usize) else { continue };
            if access.place == step.place && reached.iter().flatten().any(is_to) {
                let preface = format!(
                    "Before the first step: the first access, by warp {warp} of block {block}. "
                );
                return Some(Self { machine: Cow::Owned(machine), block, warp, preface });
            }
        }
        None
    }

    /// The access, and where each lane reached.
    fn access(&self) -> Result<(&Access, Vec<Option<Reach>>), NoAccess> {
        let Self { block, warp, .. } = *self;
        self.machine.access(block, warp as usize).ok_or(NoAccess::None { block, warp })
    }
}

fn is_global(reach: &Reach) -> bool {
    matches!(reach, Reach::Global { .. })
}

fn is_shared(reach: &Reach) -> bool {
    matches!(reach, Reach::Shared { .. })
}

/// The requested bytes of a sector, and the lanes that request them.
#[derive(Default)]
struct Request {
    bytes: BTreeSet<i64>,
    lanes: Vec<usize>,
}

/// The last access of the selected warp, if it was to global memory: its sectors, byte by byte.
pub(super) fn sectors(debugger: &KernelDebugger, before: Option<&Before<'_>>) -> Frame {
    /// What is asked for of a sector's bytes, outside of the buffer last.
    const KINDS: [(&str, Tone); 4] = [
        ("used", Tone::First),
        ("moved for nothing", Tone::Faint),
        ("asked for outside the buffer", Tone::Bad),
        ("beyond the buffer", Tone::Empty),
    ];
    let position = match Position::of(debugger, is_global) {
        Ok(position) => position,
        Err(error) => return Frame::Text(error.to_string()),
    };
    let (access, reached) = match position.access() {
        Ok(found) => found,
        Err(error) => return Frame::Text(error.to_string()),
    };
    let machine = &position.machine;
    let bytes = i64::from(access.bytes);
    // By buffer and sector.
    let mut moved: BTreeMap<(&str, i64), Request> = BTreeMap::new();
    for (lane, reach) in reached.iter().enumerate() {
        let Some(Reach::Global { buffer, element, .. }) = reach else { continue };
        for byte in element * bytes..(element + 1) * bytes {
            let request = moved.entry((buffer, byte.div_euclid(SECTOR))).or_default();
            request.bytes.insert(byte.rem_euclid(SECTOR));
            if request.lanes.last() != Some(&lane) {
                request.lanes.push(lane);
            }
        }
    }
    let line = access.place.line;
    if moved.is_empty() {
        return Frame::Text(format!(
            "The warp's last access, in line {line}, was not to global memory: panel banks shows it."
        ));
    }
    let row = |((buffer, sector), request): (&(&str, i64), &Request)| {
        let found = machine.buffers().find(|(name, ..)| name == buffer);
        let end = found.map_or(0, |(_, of, elements)| elements as i64 * i64::from(of.bytes()));
        let cell = |byte: i64| {
            let at = sector * SECTOR + byte;
            let is_outside = at < 0 || at >= end;
            Some(Cell::new(match (request.bytes.contains(&byte), is_outside) {
                (true, false) => 0,
                (true, true) => 2,
                (false, false) => 1,
                (false, true) => 3,
            }))
        };
        let (used, lanes) = (request.bytes.len(), lane_ranges(&request.lanes));
        CellRow {
            label: format!("{buffer} byte {}", sector * SECTOR),
            cells: (0..SECTOR).map(cell).collect(),
            remark: format!("{used} of {SECTOR} used, {lanes}"),
        }
    };
    let rows: Vec<CellRow> = moved.iter().map(row).collect();
    let last = rows.iter().flat_map(|row| row.cells.iter().flatten()).map(|cell| cell.kind).max();
    // Without a cell outside of its buffer the legend has none.
    let named_kinds = if last <= Some(1) { 2 } else { KINDS.len() };
    let lanes: Vec<usize> = (0..LANES).filter(|lane| reached[*lane].is_some()).collect();
    let all = 32 * access.sectors;
    let note = format!(
        "{}Line {line}: {} {} {bytes} bytes each. {} {} of {SECTOR} bytes move, {all} bytes; {} of them are used, {}.",
        position.preface,
        lane_ranges(&lanes),
        verb(Some(access.kind), lanes.len()),
        access.sectors,
        if access.sectors == 1 { "sector" } else { "sectors" },
        access.used,
        percent(access.used as f64 / all.max(1) as f64),
    );
    Frame::Cells(Cells {
        group: access.bytes.max(1) as usize,
        kinds: named(KINDS).into_iter().take(named_kinds).collect(),
        rows,
        note: note + &before.and_then(|before| before.accesses(line)).unwrap_or_default(),
        ..Cells::default()
    })
}

/// The last access of the selected warp by bank, if it was to shared memory, and that memory of its block.
pub(super) fn banks(debugger: &KernelDebugger, before: Option<&Before<'_>>) -> Frame {
    let machine = match debugger.machine() {
        Ok(machine) => machine,
        Err(error) => return Frame::Text(error.to_string()),
    };
    if machine.shared_bytes() == 0 {
        return Frame::Text("The kernel uses no shared memory.".to_owned());
    }
    let drawn = |position: &Position<'_>| {
        let (access, reached) = position.access()?;
        Ok(passes(access, &reached, &position.preface, before))
    };
    let access = Position::of(debugger, is_shared).and_then(|position| drawn(&position));
    let access = access.unwrap_or_else(|error: NoAccess| Frame::Text(error.to_string()));
    let block = debugger.here().block;
    let memory = words(machine, block);
    Frame::Panes(vec![
        Pane { title: "the warp's last access".to_owned(), frame: access },
        Pane { title: format!("shared memory of block {block}"), frame: memory },
    ])
}

/// The words requested from each bank, one below the other in the order of passes.
fn passes(
    access: &Access,
    reached: &[Option<Reach>],
    preface: &str,
    before: Option<&Before<'_>>,
) -> Frame {
    // Lanes that take 8 bytes go in two halves of a warp.
    let together = if access.bytes > 4 { LANES / 2 } else { LANES };
    let mut rows = Vec::new();
    let mut requested = 0;
    for lanes in reached.chunks(together) {
        // The lanes of each word, by bank.
        let mut banks: Vec<BTreeMap<i64, usize>> = vec![BTreeMap::new(); BANKS];
        for reach in lanes {
            let Some(Reach::Shared { byte, .. }) = reach else { continue };
            let last = (byte + i64::from(access.bytes) - 1).div_euclid(4);
            for word in byte.div_euclid(4)..=last {
                let bank = word.rem_euclid(BANKS as i64) as usize;
                *banks[bank].entry(word).or_insert(0) += 1;
            }
        }
        requested += banks.iter().map(BTreeMap::len).sum::<usize>();
        for pass in 0..banks.iter().map(BTreeMap::len).max().unwrap_or(0) {
            let lanes = banks.iter().map(|words| words.values().nth(pass));
            let cells = lanes.map(|lanes| lanes.map(|lanes| Cell::new(usize::from(*lanes > 1))));
            let cells: Vec<Option<Cell>> = cells.collect();
            let busy = cells.iter().flatten().count();
            let label = format!("pass {}", rows.len() + 1);
            rows.push(CellRow {
                label,
                cells,
                remark: format!("{busy} {}", if busy == 1 { "word" } else { "words" }),
            });
        }
    }
    let (line, count, replays) = (access.place.line, rows.len(), access.replays);
    if rows.is_empty() {
        return Frame::Text(format!(
            "The warp's last access, in line {line}, was not to shared memory: panel sectors shows it."
        ));
    }
    Frame::Cells(Cells {
        across: "bank".to_owned(),
        group: 8,
        kinds: named([
            ("one lane's word", Tone::First),
            ("one word for several lanes", Tone::Second),
        ]),
        rows,
        note: format!(
            "{preface}Line {line}: {requested} different {} in {count} {}, {}.{}",
            if requested == 1 { "word" } else { "words" },
            if count == 1 { "pass" } else { "passes" },
            if replays == 0 {
                "without conflicts".to_owned()
            } else {
                format!("{replays} of them because of conflicts")
            },
            before.and_then(|before| before.replays(line)).unwrap_or_default()
        ),
        ..Cells::default()
    })
}

fn words(machine: &Machine, block: u32) -> Frame {
    let arrays = machine.shared_arrays();
    let all = machine.shared_bytes().div_ceil(4);
    let array_at = |byte: u32| arrays.iter().rev().find(|array| array.offset <= byte);
    let cell = |word: u32| {
        let array = array_at(word * 4);
        let (scalar, start) = array.map_or((Scalar::Int, 0), |array| (array.of, array.offset));
        // The number that the word belongs to.
        let byte = start + (word * 4 - start) / scalar.bytes().max(1) * scalar.bytes();
        let (state, _) = machine.shared_cell(block, byte, scalar)?;
        Some(Cell::new(kind(state)))
    };
    let row = |first: u32| {
        let byte = 4 * first;
        let element = array_at(byte).map(|array| {
            format!("{}[{}]", array.name, (byte - array.offset) / array.of.bytes().max(1))
        });
        CellRow {
            label: element.unwrap_or_else(|| format!("byte {byte}")),
            cells: (first..(first + BANKS as u32).min(all)).map(cell).collect(),
            remark: String::new(),
        }
    };
    let rows: Vec<CellRow> = (0..all.min(WORDS)).step_by(BANKS).map(row).collect();
    if rows.iter().all(|row| row.cells.iter().all(Option::is_none)) {
        return Frame::Text(match machine.block_state(block) {
            BlockState::Waiting => format!("Block {block} has not begun."),
            BlockState::Resident | BlockState::Ended => taken(block),
        });
    }
    let note = format!("The first {WORDS} of {all} words.");
    Frame::Cells(Cells {
        across: "bank".to_owned(),
        group: 8,
        kinds: kinds(),
        rows,
        note: if all > WORDS { note } else { String::new() },
        ..Cells::default()
    })
}

fn named<const N: usize>(kinds: [(&str, Tone); N]) -> Vec<Kind> {
    kinds.map(|(name, tone)| Kind { name: name.to_owned(), tone }).to_vec()
}
