//! What the threads of a block are doing, what they hold, and what the lanes of a warp reached last.

use std::collections::BTreeSet;

use mlsys_kernel::{AccessKind, BlockState, LANES, Reach, ThreadState, VariableView};
use mlsys_lab::value::number;
use ratatui::style::Style;

use super::debugger::{KernelDebugger, Thread};
use crate::theme::Theme;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LaneState {
    Active,
    /// The warp runs the other side of a branch.
    Masked,
    Waiting,
    Done,
    Faulted,
    NotBegun,
    /// The block has no thread for it.
    Beyond,
}

impl LaneState {
    pub(super) const ALL: [Self; 7] = [
        Self::Active,
        Self::Masked,
        Self::Waiting,
        Self::Done,
        Self::Faulted,
        Self::NotBegun,
        Self::Beyond,
    ];

    /// The letter, as colour is never alone, and the word.
    pub(super) fn name(self) -> (&'static str, &'static str) {
        match self {
            Self::Active => ("A", "active"),
            Self::Masked => ("m", "masked by a branch"),
            Self::Waiting => ("b", "at a barrier"),
            Self::Done => ("d", "finished"),
            Self::Faulted => ("!", "in trouble"),
            Self::NotBegun => (".", "not begun"),
            Self::Beyond => ("-", "beyond the block"),
        }
    }

    pub(super) fn style(self, theme: &Theme) -> Style {
        match self {
            Self::Active => theme.good,
            Self::Masked => theme.text,
            Self::Waiting => theme.warn,
            Self::Done | Self::NotBegun | Self::Beyond => theme.dim,
            Self::Faulted => theme.bad,
        }
    }
}

/// The states of the selected block's threads.
pub(super) fn threads(debugger: &KernelDebugger) -> Vec<LaneState> {
    let Ok(machine) = debugger.machine() else { return Vec::new() };
    let block = debugger.here().block;
    let state = |state: &ThreadState| match state {
        ThreadState::Active => LaneState::Active,
        ThreadState::Masked => LaneState::Masked,
        ThreadState::Waiting => LaneState::Waiting,
        ThreadState::Done => LaneState::Done,
        ThreadState::Faulted => LaneState::Faulted,
    };
    let all = |state: LaneState| vec![state; debugger.threads() as usize];
    match machine.block_state(block) {
        BlockState::Waiting => all(LaneState::NotBegun),
        BlockState::Ended => all(LaneState::Done),
        BlockState::Resident => machine.threads(block).iter().map(state).collect(),
    }
}

pub(super) fn variables(debugger: &KernelDebugger) -> Vec<VariableView> {
    variables_of(debugger, debugger.here())
}

pub(super) fn variables_of(debugger: &KernelDebugger, thread: Thread) -> Vec<VariableView> {
    let machine = debugger.machine();
    let mut all =
        machine.map_or(Vec::new(), |machine| machine.variables(thread.block, thread.number()));
    // Of equal names, those of the branch that was not taken have no value.
    let known = all.iter().filter(|v| v.value.is_some()).map(|v| v.name.clone());
    let known: BTreeSet<String> = known.collect();
    all.retain(|variable| variable.value.is_some() || !known.contains(&variable.name));
    all
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LaneAccess {
    pub(super) kind: AccessKind,
    pub(super) line: u32,
    pub(super) is_now: bool,
    bytes: u32,
    pub(super) reach: Reach,
}

/// What each lane of the selected warp reached in its last access.
pub(super) fn lane_accesses(debugger: &KernelDebugger) -> Vec<Option<LaneAccess>> {
    let here = debugger.here();
    let machine = debugger.machine().ok();
    let found = machine.and_then(|machine| machine.access(here.block, here.warp as usize));
    let Some((access, reached)) = found else { return vec![None; LANES] };
    let is_now = debugger.last().is_some_and(|step| {
        (step.block, step.warp, step.place) == (here.block, here.warp, access.place)
    });
    let (kind, line, bytes) = (access.kind, access.place.line, access.bytes);
    let lane =
        |reach: Option<Reach>| reach.map(|reach| LaneAccess { kind, line, is_now, bytes, reach });
    reached.into_iter().map(lane).collect()
}

impl LaneAccess {
    pub(super) fn describe(&self, debugger: &KernelDebugger) -> String {
        let verb = match self.kind {
            AccessKind::Load => "reads",
            AccessKind::Store => "writes",
            AccessKind::Atomic => "reads and writes at once",
        };
        let machine = debugger.machine().ok();
        match &self.reach {
            Reach::Global { buffer, element, sector } => {
                let value = usize::try_from(*element).ok().and_then(|element| {
                    let is_defined = machine?.cell(buffer, element)?.defined;
                    let value = machine?.element(buffer, element)?;
                    Some(if is_defined {
                        format!(" = {}", number(value))
                    } else {
                        ", never written".to_owned()
                    })
                });
                let value = value.unwrap_or_else(|| ", outside the buffer".to_owned());
                format!("{verb} {buffer}[{element}]{value} (sector {sector})")
            }
            Reach::Shared { byte, bank } => {
                let element = machine.and_then(|m| m.shared_element(*byte, self.bytes));
                let element = element.unwrap_or_else(|| "shared memory".to_owned());
                format!("{verb} {element}, byte {byte} of shared memory (bank {bank})")
            }
            Reach::Local { byte } => format!("{verb} its own memory, byte {byte}"),
            Reach::Nowhere => format!("{verb} no memory"),
        }
    }
}
