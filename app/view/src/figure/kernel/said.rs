//! Where a walk stands, in sentences.

use mlsys_kernel::{BlockState, Event, Goal};

use super::{
    KernelDebugger, Play, Thread, Whence, builtin, formulas, global_index, touches, variables,
};

/// Where the walk stands: how far it is, what the last step did, and what the warp comes to.
pub fn said(walk: &KernelDebugger) -> Vec<String> {
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
        "Step {clock} of {total}: block {} warp {} did one instruction of line {}{did}.",
        step.block, step.warp, step.place.line
    ));
    let here = walk.here();
    let moved = machine.access(here.block, here.warp as usize).filter(|(access, _)| {
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
            (sectors, _) => {
                format!("; {sectors} sectors, {} of {} bytes used", access.used, 32 * sectors)
            }
        };
        lines.push(format!("{lanes} lanes: the first {}{cost}.", touch.said(walk)));
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

/// How much a line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Which thread it is.
    Head,
    /// What the last step did.
    Fresh,
    /// What holds besides.
    Plain,
}

/// The thread that is looked at: where it is, where its indices come from, what it reached last, what it holds.
pub fn about_thread(walk: &KernelDebugger) -> Vec<(Weight, String)> {
    let here = walk.here();
    let axes = |name: &str| {
        let axis = |axis: &str| builtin(walk, &format!("{name}.{axis}")).unwrap_or_default();
        format!("({},{},{})", axis("x"), axis("y"), axis("z"))
    };
    let head = format!(
        "Thread {} of block {}: threadIdx {}, blockIdx {}",
        here.number(),
        here.block,
        axes("threadIdx"),
        axes("blockIdx")
    );
    let mut told = vec![(Weight::Head, head)];
    let mut indices = formulas(walk);
    if indices.is_empty() {
        indices.push(global_index(walk));
    }
    for index in indices {
        let mut text = format!("{} = {}", index.name, index.text);
        if index.numbers != index.text {
            text.push_str(&format!(" = {}", index.numbers));
        }
        match index.value {
            None => text.push_str("; it has no value yet"),
            Some(value) if !index.explains => {
                text.push_str(&format!(" at first; now it is {value}"));
            }
            Some(value) if value != index.numbers => text.push_str(&format!(" = {value}")),
            Some(_) => {}
        }
        told.push((Weight::Plain, text));
    }
    told.push(touched(walk));
    let held = variables(walk);
    if !held.is_empty() {
        let each = held.iter().map(|variable| {
            let value = variable.value.as_ref();
            let value = value.map_or("?".to_owned(), ToString::to_string);
            format!("{} = {value}", variable.name)
        });
        told.push((Weight::Plain, each.collect::<Vec<_>>().join(", ")));
    }
    told
}

/// What the thread reached last, or why there is nothing to say.
fn touched(walk: &KernelDebugger) -> (Weight, String) {
    let here = walk.here();
    let touches = touches(walk);
    let touch = touches.get(here.lane as usize).and_then(Option::as_ref);
    let (weight, text) = match touch {
        Some(touch) if touch.fresh => {
            (Weight::Fresh, format!("Now, line {}: {}", touch.line, touch.said(walk)))
        }
        Some(touch) => {
            (Weight::Plain, format!("Last access, line {}: {}", touch.line, touch.said(walk)))
        }
        None => {
            let state = walk.machine().map(|machine| machine.block_state(here.block));
            let other = touches.iter().flatten().next();
            let text = match (state, other) {
                (Ok(BlockState::Waiting), _) => "Its block has not begun.".to_owned(),
                (Ok(BlockState::Ended), _) => {
                    "Its block has ended: steps back show what it did.".to_owned()
                }
                (_, Some(other)) => {
                    format!("It took no part in its warp's last access, in line {}.", other.line)
                }
                (_, None) => "Its warp has accessed no memory yet.".to_owned(),
            };
            (Weight::Plain, text)
        }
    };
    (weight, text)
}

fn ahead(walk: &KernelDebugger, here: Thread) -> Option<String> {
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

fn news(walk: &KernelDebugger) -> Option<String> {
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
