//! Where a walk stands, in sentences.

use mlsys_machines::kernel::{Event, Goal};

use super::{Play, Thread, Walk, Whence, touches};

/// Where the walk stands: how far it is, what the last step did, and what the warp comes to.
pub fn said(walk: &Walk) -> Vec<String> {
    let machine = match walk.machine() {
        Ok(machine) => machine,
        Err(reason) => return vec![reason.to_owned()],
    };
    let (clock, total) = (walk.clock(), walk.total());
    let Some(step) = walk.last() else {
        return vec![format!(
            "Before the first of {total} warp instructions; what stands beside the lines is of the whole run."
        )];
    };
    let mut lines = Vec::new();
    let did = match step.event {
        Event::Went => "",
        Event::Arrived => ", and waits at the barrier",
        Event::Released => ", and its block passes the barrier",
        Event::Ended => ", and ends",
        Event::BlockEnded => ", and its block ends",
    };
    lines.push(format!(
        "Step {clock} of {total}: block {} warp {} did a part of line {}{did}.",
        step.block, step.warp, step.place.line
    ));
    let here = walk.here();
    let moved = machine
        .access(here.block, here.warp as usize)
        .filter(|(access, _)| {
            (step.block, step.warp, step.place) == (here.block, here.warp, access.place)
        });
    if let (Some((access, reached)), Some(touch)) =
        (moved, touches(walk).into_iter().flatten().next())
    {
        let lanes = reached.iter().flatten().count();
        let cost = match (access.sectors, access.replays) {
            (0, 0) => String::new(),
            (0, replays) => {
                format!("; {replays} extra passes, as lanes ask one bank for several words")
            }
            (sectors, _) => format!(
                "; {sectors} sectors, {} of {} bytes used",
                access.used,
                32 * sectors
            ),
        };
        lines.push(format!(
            "{lanes} lanes: the first {}{cost}.",
            touch.said(walk)
        ));
    }
    if step.found {
        let found = machine.findings().told().last();
        if let Some(found) = found {
            lines.push(format!("Line {}: {}.", found.place.line, found.sentence));
        }
    }
    lines.extend(ahead(walk, here));
    lines.extend(news(walk));
    lines
}

fn ahead(walk: &Walk, here: Thread) -> Option<String> {
    let Thread { block, warp, .. } = here;
    let followed = if walk.is_pinned() {
        format!("Followed: block {block} warp {warp}; ")
    } else {
        format!("Block {block} warp {warp} ")
    };
    let next = match (walk.line(), walk.is_pinned()) {
        (Some(line), true) => format!("it comes to line {line}."),
        (Some(line), false) => format!("comes to line {line} next."),
        (None, true) => "it is not in flight.".to_owned(),
        (None, false) => return None,
    };
    Some(followed + &next)
}

fn news(walk: &Walk) -> Option<String> {
    if let Some(goal) = walk.sought() {
        return Some(format!("Looking for {}: any key stops.", name(goal)));
    }
    match (walk.whence(), walk.play()) {
        (Whence::Nowhere(goal), _) => Some(format!(
            "There is no {} {}.",
            name(goal).trim_start_matches("the next "),
            if walk.clock() == 0 { "before" } else { "after" }
        )),
        (Whence::There, Play::Going) => Some("Playing: space pauses.".to_owned()),
        (Whence::There, Play::Still) => None,
    }
}

fn name(goal: Goal) -> &'static str {
    match goal {
        Goal::Instruction => "the next instruction",
        Goal::Line => "the next line",
        Goal::Barrier => "the next barrier",
        Goal::Block => "the next end of a block",
        Goal::Problem => "the next problem",
        Goal::Breakpoint => "the next breakpoint",
        Goal::End => "the end",
    }
}
