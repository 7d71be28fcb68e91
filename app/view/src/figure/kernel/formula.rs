//! Where a thread's indices come from: the assignments of the text that read the thread's place, with its numbers in them.

use mlsys_expr::{Dialect, evaluate_pattern, parse};

use super::KernelDebugger;
use super::lanes::variables;

/// An index, written out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    /// The variable.
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
