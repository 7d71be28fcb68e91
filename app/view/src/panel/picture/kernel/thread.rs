//! Where a walk stands, in sentences.

use mlsys_expr::{Dialect, evaluate_pattern, parse};
use mlsys_kernel::{BlockState, Event, Goal};

use crate::panel::picture::kernel::{KernelDebugger, Play, Thread, Whence, touches, variables};

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

/// An index, written out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    pub name: String,
    /// What the text computes it from.
    pub text: String,
    /// The same with the numbers of the thread that is looked at.
    pub numbers: String,
    /// What it holds; absent if it has no value yet.
    pub value: Option<String>,
    /// Whether that is what the numbers come to: the variable may have changed since.
    pub explains: bool,
}

/// The indices of the thread that is looked at, in the order of the text, of those variables that exist where it is.
///
/// Of several assignments to one variable the one that explains what it holds is told, else the first.
pub fn formulas(walk: &KernelDebugger) -> Vec<Formula> {
    let held = variables(walk);
    let mut found: Vec<Formula> = Vec::new();
    for line in walk.source().lines() {
        let line = line.split("//").next().unwrap_or_default();
        for (name, text) in line.split(';').filter_map(assignment) {
            let Some(variable) = held.iter().rev().find(|held| held.name == name) else {
                continue;
            };
            let numbers = with_numbers(walk, text);
            let value = variable.value.as_ref();
            let explains = value.is_some_and(|value| {
                let held = value.as_f64();
                computed(&numbers).is_some_and(|computed| held == Some(computed as f64))
            });
            let formula = Formula {
                name: name.to_owned(),
                text: text.to_owned(),
                numbers,
                value: value.map(ToString::to_string),
                explains,
            };
            match found.iter_mut().find(|known| known.name == name) {
                Some(known) if !known.explains && formula.explains => *known = formula,
                Some(_) => {}
                None => found.push(formula),
            }
        }
    }
    found
}

/// What a formula of numbers comes to, by C's rules for whole numbers.
fn computed(numbers: &str) -> Option<i64> {
    let read = parse(numbers, Dialect::Pattern).ok()?;
    evaluate_pattern(&read, &|_| None).ok()
}

/// The global index that most kernels mean, of the thread that is looked at: the formula and the numbers, along x.
pub fn global_index(walk: &KernelDebugger) -> Formula {
    const TEXT: &str = "blockIdx.x * blockDim.x + threadIdx.x";
    let number = |name: &str| builtin(walk, name).unwrap_or_default();
    let value = u64::from(number("blockIdx.x")) * u64::from(number("blockDim.x"))
        + u64::from(number("threadIdx.x"));
    Formula {
        name: "global index".to_owned(),
        text: TEXT.to_owned(),
        numbers: with_numbers(walk, TEXT),
        value: Some(value.to_string()),
        explains: true,
    }
}

/// The variable and the expression of an assignment that reads the thread's place.
fn assignment(statement: &str) -> Option<(&str, &str)> {
    let (left, right) = statement.split_once('=')?;
    let compound = left.ends_with(['<', '>', '!', '=', '+', '-', '*', '/', '%', '&', '|', '^']);
    let right = right.trim();
    if compound || right.starts_with('=') || !right.contains("threadIdx.") {
        return None;
    }
    // What reads memory is no index, and a condition is none either.
    if right.contains(['[', '?', '<', '>', '{']) {
        return None;
    }
    let name = left.trim_end().rsplit(|c: char| !is_letter(c)).next()?;
    let starts = name.chars().next().is_some_and(|c| !c.is_ascii_digit());
    starts.then_some((name, right))
}

fn is_letter(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The text with the place of the thread, and what variables hold, as numbers.
fn with_numbers(walk: &KernelDebugger, text: &str) -> String {
    let held = variables(walk);
    let mut written = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let word: String = rest.chars().take_while(|c| is_letter(*c) || *c == '.').collect();
        if word.is_empty() || c.is_ascii_digit() {
            let taken = if word.is_empty() { c.len_utf8() } else { word.len() };
            written.push_str(&rest[..taken]);
            rest = &rest[taken..];
            continue;
        }
        rest = &rest[word.len()..];
        let variable = held.iter().rev().find(|variable| variable.name == word);
        let value = variable.and_then(|variable| variable.value.as_ref());
        match (builtin(walk, &word), value) {
            (Some(number), _) => written.push_str(&number.to_string()),
            (None, Some(value)) => written.push_str(&value.to_string()),
            (None, None) => written.push_str(&defined(walk.source(), &word)),
        }
    }
    written
}

/// What a `#define` puts in a word's place, else the word.
fn defined(source: &str, word: &str) -> String {
    let definition = source.lines().find_map(|line| {
        let rest = line.trim().strip_prefix("#define")?.trim();
        let (name, text) = rest.split_once(char::is_whitespace)?;
        (name == word).then(|| text.trim())
    });
    let number = definition.filter(|text| text.chars().all(|c| c.is_ascii_digit()));
    number.unwrap_or(word).to_owned()
}

/// One of the numbers that a thread knows its place by.
pub fn builtin(walk: &KernelDebugger, word: &str) -> Option<u32> {
    let here = walk.here();
    let recipe = walk.recipe();
    let machine = walk.machine().ok()?;
    let (name, axis) = word.split_once('.')?;
    let axis = ["x", "y", "z"].iter().position(|known| *known == axis)?;
    Some(match name {
        "threadIdx" => machine.thread(here.number() as u32)[axis],
        "blockIdx" => machine.block_id(here.block)[axis],
        "blockDim" => recipe.block_dim[axis],
        "gridDim" => recipe.grid_dim[axis],
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::assignment;

    #[test]
    fn indices_are_told_from_everything_else() {
        for (statement, expected) in [
            (
                "    int i = blockDim.x * blockIdx.x + threadIdx.x",
                Some(("i", "blockDim.x * blockIdx.x + threadIdx.x")),
            ),
            ("x = TILE + threadIdx.y", Some(("x", "TILE + threadIdx.y"))),
            ("for (int t = threadIdx.x", Some(("t", "threadIdx.x"))),
            ("i += threadIdx.x", None),
            ("if (i == threadIdx.x)", None),
            ("float v = tile[threadIdx.x]", None),
            ("int n = 3", None),
            ("x[tid] = threadIdx.x", None),
        ] {
            assert_eq!(assignment(statement), expected, "{statement}");
        }
    }
}
