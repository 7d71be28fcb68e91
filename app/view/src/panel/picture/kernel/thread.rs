//! The position in a launch in sentences, and the selected thread: where its indices come from and what it holds.

use mlsys_expr::{Dialect, evaluate_pattern, parse};
use mlsys_kernel::{BlockState, Event, Goal, VariableView};

use super::debugger::{KernelDebugger, Play, SearchResult, Thread};
use super::indices::is_letter;
use super::state::{lane_accesses, variables};

pub fn status(debugger: &KernelDebugger) -> Vec<String> {
    let machine = match debugger.machine() {
        Ok(machine) => machine,
        Err(error) => return vec![error.to_string()],
    };
    let (clock, total) = (debugger.clock(), debugger.total());
    let Some(step) = debugger.last() else {
        return vec![format!(
            "Before the first of {total} warp instructions; the counts next to the lines are of the whole run."
        )];
    };
    let event = match step.event {
        Event::Went => "",
        Event::Arrived => ", and waits at the barrier",
        Event::Released => ", and its block passes the barrier",
        Event::Ended => ", and ends",
        Event::BlockEnded => ", and its block ends",
    };
    let mut lines = vec![format!(
        "Step {clock} of {total}: block {} warp {} did one instruction of line {}{event}.",
        step.block, step.warp, step.place.line
    )];
    let here = debugger.here();
    let access = machine.access(here.block, here.warp as usize);
    let mut accesses = lane_accesses(debugger);
    let first = accesses.iter().position(Option::is_some).unwrap_or(0);
    // The selected lane, if it takes part.
    let lane = here.lane as usize;
    let lane = if accesses.get(lane).is_some_and(Option::is_some) { lane } else { first };
    let told = accesses.get_mut(lane).and_then(Option::take).filter(|told| told.is_now);
    if let (Some((access, reached)), Some(told)) = (access, told) {
        let lanes = reached.iter().flatten().count();
        let cost = match (access.sectors, access.replays) {
            (0, 0) => String::new(),
            (0, replays) => {
                format!("; {replays} extra passes, as lanes ask one bank for several words")
            }
            (sectors, _) => {
                let unit = if sectors == 1 { "sector" } else { "sectors" };
                format!("; {sectors} {unit}, {} of {} bytes used", access.used, 32 * sectors)
            }
        };
        let who = match lanes {
            1 => "1 lane:".to_owned(),
            _ if lane == first => format!("{lanes} lanes: the first"),
            _ => format!("{lanes} lanes: lane {lane}"),
        };
        lines.push(format!("{who} {}{cost}.", told.describe(debugger)));
    }
    match debugger.fault().filter(|_| step.found) {
        Some(found) => lines.push(format!("Line {}: {}.", found.place.line, found.sentence)),
        None if step.found => lines.push(format!(
            "Line {}: once more; of each kind of problem the first 64 are told.",
            step.place.line
        )),
        None => {}
    }
    lines.extend(next_line(debugger));
    lines.extend(search(debugger));
    lines
}

fn next_line(debugger: &KernelDebugger) -> Option<String> {
    let Thread { block, warp, .. } = debugger.here();
    match (debugger.line(), debugger.is_pinned()) {
        (Some(line), true) => {
            Some(format!("Followed: block {block} warp {warp}; it comes to line {line}."))
        }
        (Some(line), false) => {
            Some(format!("Block {block} warp {warp} comes to line {line} next."))
        }
        (None, true) => Some(format!("Followed: block {block} warp {warp}; it is not in flight.")),
        (None, false) => None,
    }
}

fn search(debugger: &KernelDebugger) -> Option<String> {
    if let Some(goal) = debugger.search_goal() {
        return Some(format!("Looking for {}: any key stops.", goal_name(goal)));
    }
    match (debugger.search, debugger.play()) {
        (SearchResult::NotFound(goal), _) => Some(format!(
            "There is no {} {}.",
            goal_name(goal).trim_start_matches("the next "),
            if debugger.clock() == 0 { "before" } else { "after" }
        )),
        (SearchResult::Found, Play::Going) => Some("Playing: space pauses.".to_owned()),
        (SearchResult::Found, Play::Still) => None,
    }
}

fn goal_name(goal: Goal) -> &'static str {
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    Head,
    Now,
    Plain,
}

pub fn thread_details(debugger: &KernelDebugger) -> Vec<(LineKind, String)> {
    let here = debugger.here();
    let axes = |name: &str| {
        let axis = |axis: &str| builtin(debugger, &format!("{name}.{axis}")).unwrap_or(0);
        format!("({},{},{})", axis("x"), axis("y"), axis("z"))
    };
    let (thread, block) = (axes("threadIdx"), axes("blockIdx"));
    let (number, of) = (here.number(), here.block);
    let head = format!("Thread {number} of block {of}: threadIdx {thread}, blockIdx {block}");
    let mut lines = vec![(LineKind::Head, head)];
    let mut indices = formulas(debugger);
    if indices.is_empty() {
        indices.push(global_index(debugger));
    }
    lines.extend(indices.iter().map(|index| (LineKind::Plain, index.describe())));
    lines.push(last_access(debugger));
    let variables = variables(debugger);
    // Those that are declared further down have no value yet.
    let valued = |variable: &VariableView| {
        let value = variable.value.as_ref()?;
        Some(format!("{} = {value}", variable.name))
    };
    let variables = variables.iter().filter_map(valued);
    let variables = variables.collect::<Vec<_>>().join(", ");
    if !variables.is_empty() {
        lines.push((LineKind::Plain, variables));
    }
    lines
}

fn last_access(debugger: &KernelDebugger) -> (LineKind, String) {
    let here = debugger.here();
    let accesses = lane_accesses(debugger);
    if let Some(Some(access)) = accesses.get(here.lane as usize) {
        let (line, text) = (access.line, access.describe(debugger));
        return match access.is_now {
            true => (LineKind::Now, format!("Now, line {line}: {text}")),
            false => (LineKind::Plain, format!("Last access, line {line}: {text}")),
        };
    }
    let state = debugger.machine().map(|machine| machine.block_state(here.block));
    let text = match (state, accesses.iter().flatten().next()) {
        (Ok(BlockState::Waiting), _) => "Its block has not begun.".to_owned(),
        (Ok(BlockState::Ended), _) => {
            "Its block has ended: steps back show what it did.".to_owned()
        }
        (_, Some(other)) => {
            format!("It took no part in its warp's last access, in line {}.", other.line)
        }
        (_, None) => "Its warp has accessed no memory yet.".to_owned(),
    };
    (LineKind::Plain, text)
}

/// An index of the thread: an assignment of the source that reads the thread's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Formula {
    pub(super) name: String,
    text: String,
    /// The text with the numbers of the selected thread.
    numbers: String,
    /// The value of the variable; absent if it has none yet.
    value: Option<String>,
    /// Whether the numbers give that value: the variable may have changed since.
    explains: bool,
}

impl Formula {
    fn describe(&self) -> String {
        let mut text = format!("{} = {}", self.name, self.text);
        if self.numbers != self.text {
            text.push_str(&format!(" = {}", self.numbers));
        }
        match &self.value {
            None => text.push_str("; it has no value yet"),
            Some(value) if !self.explains => {
                text.push_str(&format!(" at first; now it is {value}"));
            }
            Some(value) if *value != self.numbers => text.push_str(&format!(" = {value}")),
            Some(_) => {}
        }
        text
    }
}

/// The indices of the selected thread, in the order of the source, of those variables that exist there.
///
/// Of several assignments to one variable the one that explains its value counts, else the first.
pub(super) fn formulas(debugger: &KernelDebugger) -> Vec<Formula> {
    let variables = variables(debugger);
    let mut found: Vec<Formula> = Vec::new();
    let statements = statements(&debugger.recipe.source);
    for (name, text) in statements.iter().filter_map(|statement| assignment(statement)) {
        let Some(variable) = variables.iter().rev().find(|variable| variable.name == name) else {
            continue;
        };
        let numbers = with_numbers(debugger, text);
        let computed = parse(&numbers, Dialect::Pattern).ok();
        let computed = computed.and_then(|read| evaluate_pattern(&read, &|_| None).ok());
        let value = variable.value.as_ref();
        let explains =
            computed.is_some_and(|x| value.is_some_and(|value| value.as_f64() == Some(x as f64)));
        let (name, text) = (name.to_owned(), text.to_owned());
        let value = value.map(ToString::to_string);
        let formula = Formula { name, text, numbers, value, explains };
        match found.iter_mut().find(|known| known.name == formula.name) {
            Some(known) if !known.explains && formula.explains => *known = formula,
            Some(_) => {}
            None => found.push(formula),
        }
    }
    found
}

/// The global index along x that most kernels use.
fn global_index(debugger: &KernelDebugger) -> Formula {
    const TEXT: &str = "blockIdx.x * blockDim.x + threadIdx.x";
    let number = |name: &str| u64::from(builtin(debugger, name).unwrap_or(0));
    let value = number("blockIdx.x") * number("blockDim.x") + number("threadIdx.x");
    Formula {
        name: "global index".to_owned(),
        text: TEXT.to_owned(),
        numbers: with_numbers(debugger, TEXT),
        value: Some(value.to_string()),
        explains: true,
    }
}

/// Assignments of the text to a variable from the thread's place; each may name a variable of its own.
pub(super) fn index_count(source: &str) -> usize {
    statements(source).iter().filter_map(|statement| assignment(statement)).count()
}

/// The statements of a text, each in one line, without comments and directives.
fn statements(source: &str) -> Vec<String> {
    let lines = source.lines().filter_map(|line| line.split("//").next());
    let lines = lines.filter(|line| !line.trim_start().starts_with('#'));
    let text = lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ");
    text.split([';', '{', '}']).map(str::to_owned).collect()
}

/// The variable and the expression of an assignment that reads the thread's place.
fn assignment(statement: &str) -> Option<(&str, &str)> {
    // Comparisons and compound assignments have a sign next to theirs.
    let is_assignment = |at: &usize| {
        let (left, right) = (&statement[..*at], &statement[at + 1..]);
        !right.starts_with('=')
            && !left.ends_with(['<', '>', '!', '=', '+', '-', '*', '/', '%', '&', '|', '^'])
    };
    let at = statement.match_indices('=').map(|(at, _)| at).find(is_assignment)?;
    let (left, right) = (&statement[..at], statement[at + 1..].trim());
    // What reads memory is no index, and a condition is none either.
    if !right.contains("threadIdx.") || right.contains(['[', '?', '<', '>', '=']) {
        return None;
    }
    let name = left.trim_end().rsplit(|c: char| !is_letter(c)).next()?;
    name.starts_with(|c: char| !c.is_ascii_digit()).then_some((name, right))
}

/// The text with built-in variables, variables and `#define`d numbers as numbers.
fn with_numbers(debugger: &KernelDebugger, text: &str) -> String {
    let variables = variables(debugger);
    let mut written = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = rest.find(|c| !is_letter(c) && c != '.').unwrap_or(rest.len());
        let (word, after) = rest.split_at(length.max(c.len_utf8()));
        rest = after;
        if length == 0 || c.is_ascii_digit() {
            written.push_str(word);
            continue;
        }
        let variable = variables.iter().rev().find(|variable| variable.name == word);
        let value = variable.and_then(|variable| variable.value.as_ref());
        written.push_str(&match (builtin(debugger, word), value) {
            (Some(number), _) => number.to_string(),
            (None, Some(value)) => value.to_string(),
            (None, None) => defined(&debugger.recipe.source, word).to_owned(),
        });
    }
    written
}

/// The number that a `#define` puts in a word's place, else the word.
fn defined<'a>(source: &'a str, word: &'a str) -> &'a str {
    let definition = source.lines().find_map(|line| {
        let rest = line.trim().strip_prefix("#define")?.trim();
        let (name, text) = rest.split_once(char::is_whitespace)?;
        (name == word).then(|| text.trim())
    });
    definition.filter(|text| text.chars().all(|c| c.is_ascii_digit())).unwrap_or(word)
}

/// A built-in variable of CUDA for the selected thread, such as `threadIdx.x`.
fn builtin(debugger: &KernelDebugger, word: &str) -> Option<u32> {
    let here = debugger.here();
    let machine = debugger.machine().ok()?;
    let (name, axis) = word.split_once('.')?;
    let axis = ["x", "y", "z"].iter().position(|known| *known == axis)?;
    Some(match name {
        "threadIdx" => machine.thread(here.number() as u32)[axis],
        "blockIdx" => machine.block_id(here.block)[axis],
        "blockDim" => debugger.recipe.block_dim[axis],
        "gridDim" => debugger.recipe.grid_dim[axis],
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{assignment, statements};

    #[test]
    fn indices_are_told_from_everything_else() {
        let text = "blockDim.x * blockIdx.x + threadIdx.x";
        for (statement, expected) in [
            (format!("    int i = {text}"), Some(("i", text))),
            ("x = TILE + threadIdx.y".to_owned(), Some(("x", "TILE + threadIdx.y"))),
            ("for (int t = threadIdx.x".to_owned(), Some(("t", "threadIdx.x"))),
            ("i += threadIdx.x".to_owned(), None),
            ("if (i == threadIdx.x)".to_owned(), None),
            ("float v = tile[threadIdx.x]".to_owned(), None),
            ("int n = 3".to_owned(), None),
            ("x[tid] = threadIdx.x".to_owned(), None),
            ("if (a == b) i = threadIdx.x".to_owned(), Some(("i", "threadIdx.x"))),
            ("if (a <= b) i += threadIdx.x".to_owned(), None),
        ] {
            assert_eq!(assignment(&statement), expected, "{statement}");
        }
    }

    #[test]
    fn an_index_may_go_over_two_lines() {
        let source = "#define N 8\n{\n    int i = blockDim.x * blockIdx.x // its block\n          \
                      + threadIdx.x;\n    if (i < N) return;\n}";
        let found: Vec<String> = statements(source);
        let found: Vec<_> = found.iter().filter_map(|statement| assignment(statement)).collect();
        assert_eq!(found, [("i", "blockDim.x * blockIdx.x + threadIdx.x")]);
    }
}
