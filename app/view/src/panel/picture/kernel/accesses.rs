//! What the last access of a warp moves: 32-byte sectors of global memory, or words of the banks of shared memory.

use std::collections::{BTreeMap, BTreeSet};

use mlsys_kernel::{Access, LANES, Machine, Reach};
use mlsys_lab::frame::{Cell, CellRow, Cells, Frame, Kind, Pane, Tone};

use crate::panel::picture::kernel::memory::{kind, kinds, lanes_named, verb};
use crate::panel::picture::kernel::{KernelDebugger, Thread};

const SECTOR: i64 = 32;

/// Banks of shared memory, each four bytes wide.
const BANKS: usize = 32;

/// Words of shared memory in a picture.
const WORDS: u32 = 64 * BANKS as u32;

/// What of a sector was asked for: which of its bytes, and by which lanes.
#[derive(Default)]
struct Asked {
    bytes: BTreeSet<i64>,
    lanes: Vec<usize>,
}

/// The last access of the warp that is looked at, if it was to global memory: its sectors, byte by byte.
pub fn sectors(walk: &KernelDebugger) -> Frame {
    let (machine, access, reached) = match last(walk) {
        Ok(found) => found,
        Err(reason) => return Frame::Text(reason),
    };
    let bytes = i64::from(access.bytes);
    // By buffer and sector.
    let mut moved: BTreeMap<(&str, i64), Asked> = BTreeMap::new();
    for (lane, reach) in reached.iter().enumerate() {
        if let Some(Reach::Global { buffer, element, .. }) = reach {
            for byte in element * bytes..(element + 1) * bytes {
                let at = (buffer.as_str(), byte.div_euclid(SECTOR));
                let asked = moved.entry(at).or_default();
                asked.bytes.insert(byte.rem_euclid(SECTOR));
                if asked.lanes.last() != Some(&lane) {
                    asked.lanes.push(lane);
                }
            }
        }
    }
    if moved.is_empty() {
        return Frame::Text(format!(
            "The warp's last access, in line {}, was not to global memory: panel banks shows it.",
            access.place.line
        ));
    }
    let row = |((buffer, sector), asked): (&(&str, i64), &Asked)| {
        let end = machine.buffers().find(|(name, ..)| name == buffer);
        let end = end.map_or(0, |(_, of, elements)| elements as i64 * i64::from(of.bytes()));
        let cell = |byte: i64| {
            let at = sector * SECTOR + byte;
            let outside = at < 0 || at >= end;
            Some(Cell::of(match (asked.bytes.contains(&byte), outside) {
                (true, false) => 0,
                (true, true) => 2,
                (false, false) => 1,
                (false, true) => 3,
            }))
        };
        CellRow {
            label: format!("{buffer} byte {}", sector * SECTOR),
            cells: (0..SECTOR).map(cell).collect(),
            remark: format!(
                "{} of {SECTOR} used, {}",
                asked.bytes.len(),
                lanes_named(&asked.lanes)
            ),
        }
    };
    let lanes: Vec<usize> = (0..LANES).filter(|lane| reached[*lane].is_some()).collect();
    let note = format!(
        "Line {}: {} {} {} bytes each. {} sectors of {SECTOR} bytes move, {} bytes; {} of them are used, {}.",
        access.place.line,
        lanes_named(&lanes),
        verb(Some(access.kind), lanes.len()),
        access.bytes,
        access.sectors,
        32 * access.sectors,
        access.used,
        share(access.used, 32 * access.sectors),
    );
    Frame::Cells(Cells {
        across: String::new(),
        first: 0,
        group: access.bytes.max(1) as usize,
        kinds: named([
            ("used", Tone::First),
            ("moved for nothing", Tone::Faint),
            ("asked for outside the buffer", Tone::Bad),
            ("beyond the buffer", Tone::Empty),
        ]),
        rows: moved.iter().map(row).collect(),
        note,
        ..Cells::default()
    })
}

/// The last access of the warp that is looked at by bank, if it was to shared memory, and that memory of its block.
pub fn banks(walk: &KernelDebugger) -> Frame {
    let machine = match walk.machine() {
        Ok(machine) => machine,
        Err(reason) => return Frame::Text(reason.to_owned()),
    };
    if machine.shared_bytes() == 0 {
        return Frame::Text("The kernel uses no shared memory.".to_owned());
    }
    let access = match last(walk) {
        Ok((_, access, reached)) => passes(access, &reached),
        Err(reason) => Frame::Text(reason),
    };
    let Thread { block, .. } = walk.here();
    Frame::Panes(vec![
        Pane { title: "the warp's last access".to_owned(), frame: access },
        Pane { title: format!("shared memory of block {block}"), frame: words(machine, block) },
    ])
}

/// The words asked of each bank, one below the other in the order of passes.
fn passes(access: &Access, reached: &[Option<Reach>]) -> Frame {
    // Lanes that take 8 bytes go in two halves of a warp.
    let together = if access.bytes > 4 { LANES / 2 } else { LANES };
    let mut rows = Vec::new();
    let mut asked = 0;
    for start in (0..LANES).step_by(together) {
        let mut banks: Vec<BTreeMap<i64, usize>> = vec![BTreeMap::new(); BANKS];
        for lane in start..start + together {
            let Some(Some(Reach::Shared { byte, .. })) = reached.get(lane) else {
                continue;
            };
            let first = byte.div_euclid(4);
            let last = (byte + i64::from(access.bytes) - 1).div_euclid(4);
            for word in first..=last {
                let bank = word.rem_euclid(BANKS as i64) as usize;
                *banks[bank].entry(word).or_default() += 1;
            }
        }
        let most = banks.iter().map(BTreeMap::len).max().unwrap_or(0);
        asked += banks.iter().map(BTreeMap::len).sum::<usize>();
        for pass in 0..most {
            let cell = |words: &BTreeMap<i64, usize>| {
                let (_, lanes) = words.iter().nth(pass)?;
                Some(Cell::of(usize::from(*lanes > 1)))
            };
            let cells: Vec<Option<Cell>> = banks.iter().map(cell).collect();
            let busy = cells.iter().flatten().count();
            rows.push(CellRow {
                label: format!("pass {}", rows.len() + 1),
                cells,
                remark: format!("{busy} words"),
            });
        }
    }
    if rows.is_empty() {
        return Frame::Text(format!(
            "The warp's last access, in line {}, was not to shared memory: panel sectors shows it.",
            access.place.line
        ));
    }
    let note = format!(
        "Line {}: {asked} different words in {} passes, {} of them because of conflicts.",
        access.place.line,
        rows.len(),
        access.replays
    );
    Frame::Cells(Cells {
        across: "bank".to_owned(),
        first: 0,
        group: 8,
        kinds: named([
            ("one lane's word", Tone::First),
            ("one word for several lanes", Tone::Second),
        ]),
        rows,
        note,
        ..Cells::default()
    })
}

/// A block's shared memory, the banks across.
fn words(machine: &Machine, block: u32) -> Frame {
    let arrays = machine.shared_arrays();
    let all = machine.shared_bytes().div_ceil(4);
    let cell = |word: u32| {
        let byte = word * 4;
        let array = arrays.iter().rev().find(|array| array.offset <= byte);
        let of = array.map_or(mlsys_kernel::types::Scalar::Int, |array| array.of);
        // The number that the word belongs to.
        let start = array.map_or(0, |array| array.offset);
        let byte = start + (byte - start) / of.bytes().max(1) * of.bytes();
        let (state, _) = machine.shared_cell(block, byte, of)?;
        Some(Cell::of(kind(state)))
    };
    let row = |first: u32| {
        let byte = 4 * first;
        let array = arrays.iter().rev().find(|array| array.offset <= byte);
        CellRow {
            label: array.map_or(format!("byte {byte}"), |array| {
                format!("{}[{}]", array.name, (byte - array.offset) / array.of.bytes().max(1))
            }),
            cells: (first..(first + BANKS as u32).min(all)).map(cell).collect(),
            remark: String::new(),
        }
    };
    let rows: Vec<CellRow> = (0..all.min(WORDS)).step_by(BANKS).map(row).collect();
    if rows.iter().all(|row| row.cells.iter().all(Option::is_none)) {
        return Frame::Text(format!("Block {block} is not in flight."));
    }
    Frame::Cells(Cells {
        across: "bank".to_owned(),
        first: 0,
        group: 8,
        kinds: kinds(),
        rows,
        note: if all > WORDS {
            format!("The first {WORDS} of {all} words.")
        } else {
            String::new()
        },
        ..Cells::default()
    })
}

/// The warp's last access, and where each lane reached.
type Last<'a> = (&'a Machine, &'a Access, Vec<Option<Reach>>);

fn last(walk: &KernelDebugger) -> Result<Last<'_>, String> {
    let machine = walk.machine().map_err(str::to_owned)?;
    let Thread { block, warp, .. } = walk.here();
    match machine.access(block, warp as usize) {
        Some((access, reached)) => Ok((machine, access, reached)),
        None if walk.last().is_none() => {
            Err("Nothing has run yet: . goes on by one instruction, , goes back.".to_owned())
        }
        None => Err(format!("Warp {warp} of block {block} has accessed no memory, or has ended.")),
    }
}

fn share(part: u64, of: u64) -> String {
    let percent = 100.0 * part as f64 / of.max(1) as f64;
    format!("{percent:.1}%")
}

fn named<const N: usize>(kinds: [(&str, Tone); N]) -> Vec<Kind> {
    let kind = |(name, tone): (&str, Tone)| Kind { name: name.to_owned(), tone };
    kinds.map(kind).to_vec()
}
