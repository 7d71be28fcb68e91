//! Blocks, their warps and the threads of one block.

use mlsys_kernel::{BlockState, ThreadState, WarpState};
use mlsys_lab::frame::Table;
use mlsys_lab::value::Value;

use super::{KernelDebugger, LaneState};

/// Blocks that a file lists.
const LISTED: u64 = 1024;

/// A block of the grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its number.
    pub number: u32,
    /// The same in x, y and z.
    pub id: [u32; 3],
    /// Where it stands.
    pub state: BlockState,
    /// Its warps, while it is in flight: what each does and the line it comes to.
    pub warps: Vec<(WarpState, u32)>,
}

impl Block {
    /// The letter and the word for how it stands.
    pub fn word(&self) -> (char, &'static str) {
        let waits = |(state, _): &(WarpState, u32)| *state == WarpState::Waiting;
        let goes = |(state, _): &(WarpState, u32)| *state == WarpState::Ready;
        match self.state {
            BlockState::Waiting => ('.', "waiting"),
            BlockState::Ended => ('d', "done"),
            BlockState::Resident
                if self.warps.iter().any(waits) && !self.warps.iter().any(goes) =>
            {
                ('b', "at a barrier")
            }
            BlockState::Resident => ('r', "running"),
        }
    }
}

/// The letter and the word for what a warp does.
pub fn warp_word(state: WarpState) -> (char, &'static str) {
    match state {
        WarpState::Ready => ('r', "running"),
        WarpState::Waiting => ('b', "at a barrier"),
        WarpState::Done => ('d', "done"),
    }
}

/// A range of consecutive blocks.
pub fn blocks(walk: &KernelDebugger, first: u64, count: u64) -> Vec<Block> {
    let Ok(machine) = walk.machine() else {
        return Vec::new();
    };
    let flying = machine.blocks();
    let end = first.saturating_add(count).min(walk.blocks());
    let block = |number: u64| {
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        let view = flying.iter().find(|view| view.block == number);
        let warps = view.map_or(&[][..], |view| &view.warps);
        Block {
            number,
            id: machine.block_id(number),
            state: machine.block_state(number),
            warps: warps.iter().map(|(state, place)| (*state, place.line)).collect(),
        }
    };
    (first..end).map(block).collect()
}

/// What the threads of the block that is looked at do; a block that is not in flight has them all alike.
pub fn threads(walk: &KernelDebugger) -> Vec<LaneState> {
    let Ok(machine) = walk.machine() else {
        return Vec::new();
    };
    let block = walk.here().block;
    let state = |state: &ThreadState| match state {
        ThreadState::Active => LaneState::Active,
        ThreadState::Masked => LaneState::Masked,
        ThreadState::Waiting => LaneState::Waiting,
        ThreadState::Done => LaneState::Done,
        ThreadState::Faulted => LaneState::Faulted,
    };
    let all = |state: LaneState| vec![state; walk.threads() as usize];
    match machine.block_state(block) {
        BlockState::Waiting => all(LaneState::NotBegun),
        BlockState::Ended => all(LaneState::Done),
        BlockState::Resident => machine.threads(block).iter().map(state).collect(),
    }
}

pub(super) fn table(walk: &KernelDebugger) -> Table {
    let mut rows = Vec::new();
    for block in blocks(walk, 0, LISTED) {
        let id = block.id.map(|axis| Value::Int(i64::from(axis)));
        let mut row = |warp: Value, state: &str, line: Value| {
            let mut cells = vec![Value::Int(i64::from(block.number))];
            cells.extend(id.iter().cloned());
            cells.extend([Value::from(block.word().1), warp, Value::from(state), line]);
            rows.push(cells);
        };
        if block.warps.is_empty() {
            row(Value::from(""), "", Value::from(""));
        }
        for (warp, (state, line)) in block.warps.iter().enumerate() {
            let (warp, line) = (Value::Int(warp as i64), Value::Int(i64::from(*line)));
            row(warp, warp_word(*state).1, line);
        }
    }
    Table {
        columns: ["block", "x", "y", "z", "state", "warp", "warp state", "next line"]
            .map(str::to_owned)
            .to_vec(),
        rows,
        ..Table::default()
    }
}
